"""The tree of cases as a certificate has it: flat, with the witnesses of every leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.proofs.packing import Packing

if TYPE_CHECKING:
    from separatrix.proofs.branch_and_bound import Search

Codes = list[int]  # a row i as i, the row reversed (-z_i) as ~i
IMPOSSIBLE = 1 << 30  # the bound of a case that cannot occur


def flat_tree(tree: Any, lower: int) -> tuple[list[dict[str, Any]], list[Codes]]:
    """The part of the tree that proves ``lower``, as a list of nodes, and the witnesses that it uses."""
    cases, pool = tree.tree(), tree.witnesses
    nodes: list[dict[str, Any]] = [{}]
    used: dict[int, int] = {}
    stack = [(0, 0)]
    while stack:  # every node of the tree comes once
        at, place = stack.pop()
        bound, row, child, packed, weights, over = cases[at]
        if bound >= lower:
            if bound < IMPOSSIBLE and not weights:  # as many as are needed, those used elsewhere first
                packed = sorted(packed, key=lambda k: k not in used)[: lower - bound + len(packed)]
            nodes[place] = {"pack": [used.setdefault(k, len(used)) for k in packed]}
            if weights:
                nodes[place] |= {"weights": weights, "over": over}
            continue
        nodes[place] = {"split": row, "wrong": len(nodes), "right": len(nodes) + 1}
        stack += [(child, len(nodes)), (child + 1, len(nodes) + 1)]
        nodes += [{}, {}]
    return nodes, [pool[k] for k in used]


def proof(search: Search, lower: int) -> tuple[list[dict[str, Any]], list[Codes]]:
    """The shortest proof of ``lower`` at hand: disjoint witnesses, witnesses and blocks with weights, or the tree."""
    if lower <= len(search.packed):
        return [{"pack": list(range(lower))}], search.packed[:lower]
    if search.fraction is not None and lower <= search.fraction.bound:
        return packed_proof(search.fraction)
    return flat_tree(search.tree, lower)


def packed_proof(found: Packing) -> tuple[list[dict[str, Any]], list[Codes]]:
    """One node with the weights of witnesses and blocks; the trees of the blocks follow."""
    root: dict[str, Any] = {"pack": list(range(len(found.witnesses))), "weights": found.weights, "over": found.over}
    nodes, witnesses = [root], [*found.witnesses]
    if found.blocks:
        root["blocks"] = []
    for block, weight in zip(found.blocks, found.shares, strict=True):
        at, first = len(nodes), len(witnesses)
        root["blocks"].append({"rows": block.rows, "lower": block.lower, "node": at, "weight": weight})
        nodes += [_moved(node, at, first) for node in block.nodes]
        witnesses += block.witnesses
    return nodes, witnesses


def _moved(node: dict[str, Any], at: int, first: int) -> dict[str, Any]:
    """A node of a tree that begins at node ``at`` and with witness ``first``."""
    if "split" in node:
        return {**node, "wrong": node["wrong"] + at, "right": node["right"] + at}
    return {**node, "pack": [k + first for k in node["pack"]]}

"""The tree of cases: the rows that it takes, witnesses that need no tree, and its flat form in a certificate.

Without a tree are zero rows and contradictory pairs, in turn.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.proofs.exact.lifted_rows import LiftedRows

if TYPE_CHECKING:
    from separatrix.proofs.fewest_mistakes.branch_and_bound import Search
    from separatrix.proofs.fewest_mistakes.packing import Packing

Codes = list[int]  # a row i as i, the row reversed (-z_i) as ~i
IMPOSSIBLE = 1 << 30  # the bound of a case that cannot occur
FEW_COLUMNS = 6  # up to which the witnesses of a case share no row (native/separatrix/mistakes.hpp)


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


def leaner(nodes: list[dict[str, Any]], witnesses: list[Codes], lower: int) -> tuple[list[dict[str, Any]], list[Codes]]:
    """The same proof without witnesses that leaves can spare, those that few leaves have first."""
    top = nodes[0]
    stack = [(block["node"], 0, block["lower"]) for block in top.get("blocks", ())] or [(0, 0, lower)]
    leaves = []  # with what the weights add up to beyond what is needed
    while stack:
        at, wrong, least = stack.pop()
        node = nodes[at]
        if "split" in node:
            stack += [(node["wrong"], wrong + 1, least), (node["right"], wrong, least)]
            continue
        over = node.get("over", 1)
        leaves.append((at, sum(_weights(node)) + (wrong - least + 1) * over - 1))
    usual = Counter(k for at, _ in leaves for k in nodes[at]["pack"])
    used = set(top["pack"] if "blocks" in top else ())
    for at, spare in sorted(leaves, key=lambda leaf: len(nodes[leaf[0]]["pack"])):
        node = nodes[at]
        kept = dict(zip(node["pack"], _weights(node), strict=True))
        for k in sorted(kept, key=lambda k: (usual[k], kept[k])):
            if k not in used and kept[k] <= spare:  # never where one witness shows that the case cannot occur
                spare -= kept.pop(k)
        used |= kept.keys()
        nodes[at] = {**node, "pack": list(kept), **({"weights": list(kept.values())} if "weights" in node else {})}
    number = {k: place for place, k in enumerate(sorted(used))}
    nodes = [{**node, "pack": [number[k] for k in node["pack"]]} if "pack" in node else node for node in nodes]
    return nodes, [witnesses[k] for k in number]


def _weights(node: dict[str, Any]) -> list[int]:
    weights: list[int] = node.get("weights", [1] * len(node["pack"]))
    return weights


# -- rows as the tree takes them --


def first_witnesses(rows: LiftedRows) -> list[Codes]:
    """Rows of zeros are wrong for every w; equal rows with both labels cost one mistake a pair."""
    zeros = [] if rows.intercept else zero_rows(rows)
    return [*zeros, *opposite_pairs(rows, {i for codes in zeros for i in codes})]


def zero_rows(rows: LiftedRows) -> list[list[int]]:
    """Rows of zeros, each a witness by itself; for rows without an intercept."""
    X = rows.X
    empty = ~(X != 0).any(axis=1) if isinstance(X, np.ndarray) else np.ravel((X != 0).sum(axis=1)) == 0
    return [[int(i)] for i in np.flatnonzero(empty)]


def opposite_pairs(rows: LiftedRows, taken: set[int]) -> list[list[int]]:
    """Pairs of equal rows with different labels, each row at most once, none of those taken."""
    partner = rows.opposites()
    groups: dict[bytes, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for i in np.flatnonzero(partner >= 0).tolist():
        if i not in taken:
            row = rows.X[[i]]
            key = (row + 0.0).tobytes() if isinstance(row, np.ndarray) else _sparse_key(row)
            groups[key][int(rows.y[i] > 0)].append(i)
    return [[i, j] for minus, plus in groups.values() for i, j in zip(minus, plus, strict=False)]


def _sparse_key(row: Any) -> bytes:
    row = row.copy()
    row.sort_indices()
    row.eliminate_zeros()
    return bytes(row.indices.astype(np.int64).tobytes() + row.data.astype(np.float64).tobytes())


def witnesses_in_turn(
    rows: LiftedRows, ids: NDArray[np.int64], prove: Callable[[list[int]], list[int]], late: Callable[[], bool]
) -> Iterator[list[int]]:
    """Witnesses among these rows that share none of them, until the rest is separable."""
    alive = np.zeros(rows.n, dtype=bool)
    alive[ids] = True
    for seed in range(rows.n):  # each round takes rows out of those that are left
        if late() or not alive.any():
            return
        found = rows.search(np.flatnonzero(alive), seed=seed)
        if found.status == "separates" or not found.support:
            return
        heaviest = np.argsort(-found.weights, kind="stable")
        codes = prove([found.support[k] for k in heaviest])
        alive[codes or found.support] = False
        if codes:
            yield codes


def prepared(rows: LiftedRows) -> tuple[NDArray[np.float64], NDArray[np.float64], bool]:
    """The rows z with columns and rows times powers of two, the columns' factors, and whether that is exact."""
    Z = rows.dense(np.arange(rows.n))
    with np.errstate(all="ignore"):
        top = np.abs(Z).max(axis=0)
        shift = np.where(top > 0, -np.frexp(top)[1], 0)
        rms = np.sqrt(np.mean(np.ldexp(Z, shift) ** 2, axis=0))
        shift = shift - np.where(rms > 0, np.frexp(rms)[1], 0)
        scaled = np.ldexp(Z, shift)
        across = -np.frexp(np.abs(scaled).max(axis=1))[1]
        scaled = np.ldexp(scaled, across[:, None])
        back = np.ldexp(np.ldexp(scaled, -across[:, None]), -shift)
        columns = np.ldexp(1.0, shift)
    exact = type(rows) is LiftedRows and bool((back == Z).all()) and bool(np.isfinite(columns).all())
    if not np.isfinite(scaled).all():
        scaled = np.nan_to_num(scaled, nan=0.0, posinf=1.0, neginf=-1.0)
    return np.ascontiguousarray(scaled), columns, exact


def node_work(n: int, p: int) -> float:
    """What a node takes, in steps: some questions of all rows, each of some 2 p steps, and far more with weights."""
    return 5.0 * n * p * p + 8000.0 * p if p <= FEW_COLUMNS else 60.0 * n * p * p + 100_000.0 * p


def default_nodes(n: int, p: int) -> int:
    """Of the order of a minute."""
    return max(1, min(100_000, int(3e10 / node_work(n, p))))

"""Certificates that carry the rows they need, for someone who has no table.

The fingerprint of a table is the root of a tree of hashes over its rows. So a claim about few rows can be held against
it with these rows, the others of their leaves, and the hashes beside their ways up. What is then proved is proved of
the table with this fingerprint.
"""

from __future__ import annotations

from typing import Any

from separatrix import checker
from separatrix.errors import BugError, CertificateError
from separatrix.proofs.certificate.certificate import Certificate, CertifiedTable

SCOPE = ("format", "intercept", "data", "positive", "negative", "kesler")


def portable(certificate: Certificate, source: CertifiedTable) -> Certificate:
    """What the rows named prove by themselves, with these rows; a CertificateError where that is nothing."""
    content = about_few_rows(certificate.content)
    table, each = source.exact, checker.rows_of_leaf(source.table.d)
    opened = sorted({i // each for i in _numbers(content)})
    made = {
        **content,
        "rows": {str(leaf): _rows(table, leaf, each) for leaf in opened},
        "path": [node.hex() for node in _path(checker.leaves(table, range(len(source.classes))), opened)],
    }
    try:
        checker.check(made, None)
    except checker.Rejected as why:
        raise BugError(f"not proved: this is a bug: the checker refuses a portable certificate ({why}).") from None
    return Certificate(made)


def about_few_rows(content: dict[str, Any]) -> dict[str, Any]:
    """The part of a claim that few rows prove: that no hyperplane separates, or a lower bound of mistakes."""
    claim = content.get("claim")
    if claim == "overlap" and not content.get("null") and len(content["support"]) < content["data"]["n"]:
        return content
    shared = {name: content[name] for name in SCOPE if name in content}
    if claim == "min-errors" and content["lower"]:
        return {**shared, "claim": claim, **{name: content[name] for name in ("lower", "witnesses", "nodes")}}
    if claim in ("not-complete", "quasi", "overlap"):
        near = ("near", "null") if "near" in content else ()
        own = {name: content[name] for name in ("support", "lambda", *near) if name in content}
        return {**shared, "claim": "not-complete", **content.get("witness", own)}
    what = "a bundle of claims" if "certificates" in content else f"the claim {claim!r}"
    raise CertificateError(f"{what} is about all rows, and a portable certificate carries a few of them.")


def _numbers(content: dict[str, Any]) -> set[int]:
    """The numbers of the rows that a claim names."""
    lists = [content.get("support", []), content.get("witness", {}).get("support", [])]
    for entry in content.get("witnesses", []):
        codes = entry["support"] if isinstance(entry, dict) else entry
        lists.append([max(c, -1 - c) for c in codes])
    for node in content.get("nodes", []):
        lists += [[node["split"]] if "split" in node else []]
        lists += [block["rows"] for block in node.get("blocks", [])]
    return {row[0] if isinstance(row, list) else row for rows in lists for row in rows}


def _rows(table: checker.ExactTable, leaf: int, each: int) -> list[Any]:
    """The rows of a leaf: their classes, and their cells as text; of sparse ones those that are not zero."""
    rows: list[Any] = []
    for i in range(leaf * each, min(table.n, (leaf + 1) * each)):
        columns, values = table.row(i)
        if table.scales is None:
            texts = [repr(v).removesuffix(".0") for v in values]
        else:
            whole = [v for v in table.integers(i) if v]
            texts = [f"{v}e-{table.scales[j]}" for j, v in zip(columns, whole, strict=True)]
        cells: Any = dict(zip(map(str, columns), texts, strict=True))
        if 2 * len(columns) >= table.d:
            cells = [cells.get(str(j), "0") for j in range(table.d)]
        rows.append([table.code(i), cells])
    return rows


def _path(hashes: list[bytes], opened: list[int]) -> list[bytes]:
    """The hashes beside the ways from these leaves to the top, level by level, from left to right."""
    path, known, level = list[bytes](), opened, 1
    while len(hashes) > 1:
        above = sorted({k >> 1 for k in known})
        for k in above:
            pair = [side for side in (2 * k, 2 * k + 1) if side < len(hashes)]
            path += [hashes[side] for side in pair if side not in known]
        hashes, known, level = checker.parents(hashes, level), above, level + 1
    return path

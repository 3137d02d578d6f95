"""The fingerprint of a source in partitions: blocks are hashed where their rows are, as the stand-alone checker would.

Blocks are counted from the first row of the source, so that one may lie in several partitions: the rows at both ends of
a partition come to the driver, at most a block of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import checker
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.part_worker import HeldPart
from separatrix.proofs.certificate import block_digest, joined_fingerprint

Rows = tuple[Any, Any]  # X, class numbers


def part_digests(part: HeldPart) -> tuple[Rows, list[bytes], Rows] | None:
    """Rows before the first whole block, the digests of whole blocks, and the rows behind the last."""
    if not part.n:
        return None
    first = min(-part.first_row % checker.BLOCK, part.n)
    whole = (part.n - first) // checker.BLOCK
    last = first + whole * checker.BLOCK
    starts = range(first, last, checker.BLOCK)
    digests = [block_digest(part.X[s : s + checker.BLOCK], part.y[s : s + checker.BLOCK]) for s in starts]
    return (part.X[:first], part.y[:first]), digests, (part.X[last:], part.y[last:])


def stacked(parts: list[Any]) -> Any:
    """Rows of several partitions, one after the other."""
    if isinstance(parts[0], np.ndarray):
        return np.ascontiguousarray(np.concatenate(parts))
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(parts, format="csr"))


def source_fingerprint(source: EncodedSource) -> str:
    """The sha256 of all rows, as a certificate has it."""
    out: list[bytes] = []
    waiting: list[Rows] = []

    def close() -> None:
        if waiting:
            X, y = stacked([rows for rows, _ in waiting]), np.concatenate([codes for _, codes in waiting])
            out.append(block_digest(X, y))
            waiting.clear()

    for found in source.rounds.map("fingerprints", part_digests):
        if found is None:
            continue
        head, digests, tail = found
        if len(head[1]):
            waiting.append(head)
        if digests or len(tail[1]) or sum(len(codes) for _, codes in waiting) == checker.BLOCK:
            close()
        out += digests
        if len(tail[1]):
            waiting.append(tail)
    close()
    return joined_fingerprint(source.n, source.d, out)

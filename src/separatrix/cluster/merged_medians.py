"""Medians of columns whose rows lie in partitions.

They are exact, whatever the number of partitions: eight rounds, one byte of the answer each. Doubles are ordered as
unsigned integers are once their bits are arranged for it. A round counts, among the values that begin with the bytes
found so far, those with each next byte; the byte of the rank that is wanted follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.cluster.rounds import HeldPart, Rounds
from separatrix.features.column_encoders import SECONDS, finite

BYTES = 8
SIGN = np.uint64(1 << 63)


def ordered_bits(values: Floats) -> NDArray[np.uint64]:
    """Doubles as integers in the same order; both zeros are one."""
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & SIGN, ~bits, bits | SIGN)


def from_bits(bits: int) -> float:
    """The double of such an integer."""
    plain = bits ^ (1 << 63) if bits >> 63 else ~bits & (2**64 - 1)
    return float(np.array([plain], dtype=np.uint64).view(np.float64)[0])


def next_bytes(part: HeldPart, names: Sequence[str], prefixes: Sequence[tuple[int, ...]], place: int) -> Any:
    """For each column and prefix, how many values have each byte at ``place`` after the prefix."""
    out = np.zeros((len(names), 2, 256), dtype=np.int64)
    kept: dict[str, NDArray[np.uint64]] = part.memo.get("ordered bits", {}) if place else {}
    shift = np.uint64(8 * (BYTES - 1 - place))
    for j, (name, own) in enumerate(zip(names, prefixes, strict=True)):
        bits = kept.get(name)
        if bits is None:
            values = finite(part.table[name], part.table.source)
            values = values / SECONDS if part.table[name].kind == "date" else values
            bits = ordered_bits(values[~np.isnan(values)])
        if place:
            begins = bits >> (shift + np.uint64(8))
            bits = bits[np.isin(begins, np.array(own, dtype=np.uint64))]
        kept[name] = bits
        following = bits >> shift
        for k, prefix in enumerate(own):
            mine = following if not place else following[following >> np.uint64(8) == np.uint64(prefix)]
            out[j, k] = np.bincount((mine & np.uint64(255)).astype(np.intp), minlength=256)
    if place == BYTES - 1:
        part.memo.pop("ordered bits", None)
    else:
        part.memo["ordered bits"] = kept
    return out


def medians(rounds: Rounds, counts: dict[str, int]) -> dict[str, float]:
    """The median of each column, of which ``counts`` says how many values are present."""
    names = [name for name, count in counts.items() if count]
    ranks = np.array([[(counts[name] - 1) // 2, counts[name] // 2] for name in names], dtype=np.int64).reshape(-1, 2)
    prefixes = [(0, 0)] * len(names)
    for place in range(BYTES if names else 0):
        found = rounds.reduce("medians", next_bytes, names, prefixes, place, join=np.add)
        for j in range(len(names)):
            own = []
            for k in range(2):
                below = np.cumsum(found[j, k])
                byte = int(np.searchsorted(below, ranks[j, k], side="right"))
                ranks[j, k] -= int(below[byte - 1]) if byte else 0
                own.append(prefixes[j][k] << 8 | byte)
            prefixes[j] = (own[0], own[1])
    middle = {name: (from_bits(low), from_bits(high)) for name, (low, high) in zip(names, prefixes, strict=True)}
    with np.errstate(over="ignore"):  # as in a median of all values in one place; equal values have no sum
        return {name: float(np.median(sorted(set(middle[name])))) if name in middle else 0.0 for name in counts}

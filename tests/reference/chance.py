"""Our own chance: SplitMix64, bounded draws, the Fisher-Yates shuffle (native/separatrix/chance.hpp)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MASK = (1 << 64) - 1


def next_word(state: NDArray[np.uint64]) -> int:
    z = (int(state[0]) + 0x9E3779B97F4A7C15) & MASK
    state[0] = z
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def words(out: NDArray[np.uint64], state: NDArray[np.uint64]) -> None:
    for k in range(len(out)):
        out[k] = next_word(state)


def below(m: int, state: NDArray[np.uint64]) -> int:
    """Uniform on 0 .. m - 1, without bias (Lemire 2019)."""
    threshold = (1 << 64) % m
    wide = next_word(state) * m
    while wide & MASK < threshold:
        wide = next_word(state) * m
    return wide >> 64


def shuffle(order: NDArray[np.int64], state: NDArray[np.uint64]) -> None:
    for i in range(len(order) - 1, 0, -1):
        j = below(i + 1, state)
        order[i], order[j] = order[j], order[i]

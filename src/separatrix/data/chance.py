"""Random numbers that are the same on every machine and with every version of numpy."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats


class Chance:
    """Uniform numbers by splitmix64 (Steele, Lea & Flood 2014) and normal ones as sums of twelve of them."""

    def __init__(self, seed: int) -> None:
        self.word = seed

    def uniform(self, *shape: int) -> Floats:
        count = int(np.prod(shape))
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = np.uint64(self.word) + steps
        self.word = int(z[-1])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        return np.asarray((z >> np.uint64(11)).astype(np.float64) / 2.0**53).reshape(shape)

    def normal(self, *shape: int) -> Floats:
        """Mean 0, variance 1, bell-shaped: no logarithm, whose last digit differs from machine to machine."""
        return np.asarray(self.uniform(*shape, 12).sum(axis=-1) - 6.0)

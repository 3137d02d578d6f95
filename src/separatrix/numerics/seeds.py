"""Seeds and random starts, the same on every machine: the generator is part of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import ParameterError

Word = NDArray[np.uint64]


def seed_state(random_state: Any, wanted: bool = True) -> Word:
    """The generator's one word from what scikit-learn's users pass: None, an integer, or a numpy generator.

    Where no chance is ``wanted`` nothing is drawn for None, and numpy.random need not be loaded.
    """
    if random_state is None and not wanted:
        return np.zeros(1, dtype=np.uint64)
    if random_state is None:
        random_state = np.random.mtrand._rand
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ParameterError(f"random_state is {random_state}: it must not be negative.")
        seed = int(random_state) % 2**64
    elif isinstance(random_state, np.random.RandomState):
        seed = int(random_state.randint(0, 2**63 - 1, dtype=np.int64))
    elif isinstance(random_state, np.random.Generator):
        seed = int(random_state.integers(0, 2**63 - 1, dtype=np.int64))
    else:
        raise ParameterError(
            f"random_state is {random_state!r}: it can be None, an integer, a RandomState or a Generator."
        )
    return np.array([seed], dtype=np.uint64)


def standard_normals(state: Word, size: int) -> NDArray[np.float64]:
    """Independent standard normals by inversion (Wichura 1988, AS 241)."""
    from statistics import NormalDist

    quantile = NormalDist().inv_cdf
    words = np.empty(size, dtype=np.uint64)
    kernels.words(words, state)
    return np.array([quantile((word >> 12) * 2.0**-52 + 2.0**-53) for word in words.tolist()])

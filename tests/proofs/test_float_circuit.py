"""Circuits proved in floating point: what is claimed is true in integers, and what is not a circuit is not claimed."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.numerics.exact_signs import integer_row
from separatrix.proofs.exact.algebra import null_line
from separatrix.proofs.exact.float_circuit import is_circuit, leading_circuit


def in_integers(Z):
    """Whether weights > 0, unique up to a factor, add the rows up to zero."""
    return null_line([integer_row(row)[0] for row in Z.tolist()]) is not None


def near_circuits(seed):
    """Rows of which the last one nearly cancels the others, with columns of very different sizes."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 9))
    Z = rng.normal(size=(k + 1, k)) * 10.0 ** rng.integers(-6, 7, k)
    signs = np.where(rng.random(k) < 0.15, -1.0, 1.0)
    Z[-1] = -(rng.exponential(size=k) ** 4 * signs) @ Z[:-1]
    return Z


def test_what_is_claimed_is_true_in_integers():
    claimed = 0
    for seed in range(300):
        Z = near_circuits(seed)
        if is_circuit(Z):
            assert in_integers(Z), seed
            claimed += 1
    assert claimed > 100


def test_most_circuits_are_claimed():
    true = [Z for Z in map(near_circuits, range(300)) if in_integers(Z)]
    assert sum(map(is_circuit, true)) > 0.9 * len(true)


@pytest.mark.parametrize(
    "Z",
    [
        [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]],  # a weight would be negative
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]],  # a weight is zero
        [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]],  # the weights are not unique
        [[1.0], [1.0]],
        [[1.0, 2.0**-60], [-1.0, 0.0], [0.0, -(2.0**-1074)]],  # out of range
    ],
)
def test_what_is_not_a_circuit_is_not_claimed(Z):
    assert not is_circuit(np.array(Z))


def test_the_rows_of_rounding_errors_are_left_out():
    Z = np.zeros((5, 9))
    Z[:3, [2, 7]] = [[1, 0], [0, 3], [-2, -1]]
    Z[3], Z[4] = 1.0, -1.0
    assert leading_circuit(Z) == 3
    assert leading_circuit(Z[[0, 1]]) == 0
    assert leading_circuit(Z[:1]) == 0

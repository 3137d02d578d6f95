"""Step sizes as their formulas say, and the values they cannot take."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix.errors import ParameterError
from separatrix.numerics.schedules import Constant, Exponential, Inverse, Root, StepDecay, schedule_of


@pytest.mark.parametrize(
    ("schedule", "steps"),
    [
        (Constant(0.5), [0.5, 0.5, 0.5, 0.5]),
        (Inverse(0.6), [0.6, 0.3, 0.2, 0.15]),
        (Root(1.0), [1, 1 / np.sqrt(2), 1 / np.sqrt(3), 0.5]),
        (Exponential(2.0, 0.5), [2, 1, 0.5, 0.25]),
        (StepDecay(1.0, 0.1, every=2), [1, 1, 0.1, 0.1]),
    ],
)
def test_formulas(schedule, steps):
    assert np.allclose([schedule(k) for k in range(4)], steps)


def test_by_name_or_as_a_function():
    assert schedule_of("inverse", 3.0)(2) == 1.0
    assert schedule_of(lambda k: 7.0, 1.0)(5) == 7.0
    with pytest.raises(ParameterError, match="schedule is 'warmup'"):
        schedule_of("warmup", 1.0)


@pytest.mark.parametrize("make", [Constant, Inverse, Root, Exponential, StepDecay])
@pytest.mark.parametrize("a0", [0.0, -1.0, np.nan, np.inf])
def test_step_sizes_are_finite_and_positive(make, a0):
    with pytest.raises(ParameterError, match="a0 is"):
        make(a0)


def test_decay_lies_between_zero_and_one():
    with pytest.raises(ParameterError, match=r"r is 1\.5"):
        Exponential(1.0, 1.5)
    with pytest.raises(ParameterError, match="r is 0"):
        StepDecay(1.0, 0)
    with pytest.raises(ParameterError, match="every is 0"):
        StepDecay(1.0, 0.5, every=0)

"""Tests of two learners on the same folds or rows: corrected t, Holm's adjustment, McNemar's exact test."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.evaluation.estimate import Estimate


@dataclass(frozen=True)
class McNemar:
    """Rows that only the first, and only the second, got right; the exact two-sided p-value."""

    only_first: int
    only_second: int
    n: int
    p: float


def paired(differences: Floats, ratio: float, level: float) -> tuple[Estimate, float]:
    """The mean difference with its corrected t interval, and the two-sided p-value."""
    value, count = float(differences.mean()), len(differences)
    spread = float(differences.std(ddof=1))
    if math.isnan(value):
        return Estimate.undefined("undefined in a fold", level), 1.0
    if spread <= 1e-15 * max(1.0, abs(value)):
        return Estimate(value, level=level, reason="the same in every fold"), 1.0
    from scipy.special import stdtr, stdtrit  # scipy.stats takes half a second to import

    error = spread * math.sqrt(1 / count + ratio)
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error
    p = float(2 * stdtr(count - 1, -abs(value) / error))
    return Estimate(value, value - half, value + half, "corrected t (Nadeau & Bengio 2003)", level), p


def holm(p: list[float]) -> list[float]:
    """Holm's step-down adjustment (1979)."""
    order = np.argsort(p)
    steps = np.maximum.accumulate([(len(p) - k) * p[i] for k, i in enumerate(order)])
    out = np.empty(len(p))
    out[order] = np.minimum(steps, 1.0)
    return [float(v) for v in out]


def mcnemar(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> McNemar:
    """The exact test on the rows where just one of two classifiers is right."""
    b, c = int(np.count_nonzero(first & ~second)), int(np.count_nonzero(second & ~first))
    from scipy.special import bdtr

    p = min(1.0, 2 * float(bdtr(min(b, c), b + c, 0.5))) if b + c else 1.0
    return McNemar(b, c, len(first), p)

"""The bootstrap, all resamples at once.

A statistic of a confusion matrix needs no rows: n rows drawn with replacement fall into the cells as a
multinomial draw, so 2000 resamples are 2000 small matrices whatever n is. Statistics of sums over rows
(losses) draw rows in blocks and multiply; ranks are sorted once. Intervals are BCa (Efron 1987) where
the leave-one-out values are at hand, else percentiles. Every statistic takes an array of resamples
along its first axis, so that none is a Python loop. Beyond ``ROWS`` rows, drawing them is replaced by
the jackknife (Efron 1982), which is the same to first order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats

Statistic = Callable[[Floats], Floats]

BLOCK = 2**22  # draws held at once
BUDGET = 2 * 10**7  # draws in all: beyond it fewer resamples are made, and the method says how many
LEAST = 400
ROWS = 4000  # up to which rows are resampled
AGREE = 1e-12  # resamples closer than this are equal


def affordable(resamples: int, n: int) -> int:
    """How many resamples of n rows are made."""
    return min(resamples, max(LEAST, BUDGET // max(n, 1)))


def jackknife_variance(leave_one_out: Floats) -> float:
    """(n - 1)/n times the sum of squares around the mean (Tukey 1958)."""
    n = len(leave_one_out)
    return float((n - 1) * leave_one_out.var())


def cell_resamples(confusion: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Confusion matrices of resampled rows (unit weights)."""
    n = int(confusion.sum())
    draws = rng.multinomial(n, confusion.reshape(-1) / n, size=resamples)
    return draws.reshape(resamples, *confusion.shape).astype(np.float64)


def weighted_cell_resamples(
    cells: NDArray[np.intp], weights: Floats, k: int, resamples: int, rng: np.random.Generator
) -> Floats:
    """The same where rows have weights; cells are numbered actual * k + predicted."""
    out = np.empty((resamples, k, k))
    for begin, drawn in row_blocks(len(cells), resamples, rng):
        offset = np.arange(len(drawn))[:, None] * (k * k)
        flat = np.bincount((cells[drawn] + offset).ravel(), weights[drawn].ravel(), minlength=len(drawn) * k * k)
        out[begin : begin + len(drawn)] = flat.reshape(-1, k, k)
    return out


def row_blocks(n: int, resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Blocks of resamples: the number of the first, and the rows drawn for each."""
    step = max(1, BLOCK // n)
    for begin in range(0, resamples, step):
        yield begin, rng.integers(0, n, size=(min(step, resamples - begin), n))


def count_blocks(n: int, resamples: int, rng: np.random.Generator) -> Iterator[tuple[int, Floats]]:
    """Blocks of resamples: how often each row was drawn."""
    for begin, drawn in row_blocks(n, resamples, rng):
        offset = np.arange(len(drawn))[:, None] * n
        counts = np.bincount((drawn + offset).ravel(), minlength=len(drawn) * n)
        yield begin, counts.reshape(len(drawn), n).astype(np.float64)


def sum_resamples(terms: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Sums of the columns of ``terms`` over resampled rows."""
    out = np.empty((resamples, terms.shape[1]))
    for begin, counts in count_blocks(len(terms), resamples, rng):
        out[begin : begin + len(counts)] = counts @ terms
    return out


def percentile(replicates: Floats, level: float) -> tuple[float, float]:
    """The middle share of the replicates that are defined."""
    kept = replicates[~np.isnan(replicates)]
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bca(
    replicates: Floats, value: float, leave_one_out: Floats, multiplicity: Floats, level: float
) -> tuple[float, float]:
    """Bias-corrected and accelerated percentiles (Efron 1987); replicates equal to the value count one half."""
    kept = replicates[~np.isnan(replicates)]
    known = ~np.isnan(leave_one_out)
    normal = NormalDist()
    below = (np.count_nonzero(kept < value) + np.count_nonzero(kept == value) / 2) / len(kept)
    bias = normal.inv_cdf(float(np.clip(below, 1 / (len(kept) + 1), len(kept) / (len(kept) + 1))))
    times = multiplicity[known]
    centred = np.average(leave_one_out[known], weights=times) - leave_one_out[known]
    spread = float(times @ centred**2)
    acceleration = float(times @ centred**3) / (6 * spread**1.5) if spread > 0 else 0.0
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = bias + normal.inv_cdf(tail)
        ends.append(normal.cdf(bias + z / max(1 - acceleration * z, 1e-3)))
    low, high = np.quantile(kept, ends)
    return float(min(low, value)), float(max(high, value))


def cell_interval(
    confusion: Floats, replicates: Floats, statistic: Statistic, value: float, level: float
) -> tuple[float, float]:
    """BCa for a statistic of cells with unit weights: rows of a cell have the same leave-one-out value."""
    i, j = np.nonzero(confusion)
    without = np.repeat(confusion[None], len(i), axis=0)
    without[np.arange(len(i)), i, j] -= 1
    return bca(statistic(replicates), value, statistic(without), confusion[i, j], level)


def sum_interval(
    terms: Floats, replicates: Floats, statistic: Statistic, value: float, level: float
) -> tuple[float, float]:
    """BCa for a statistic of sums over rows."""
    without = statistic(terms.sum(axis=0) - terms)
    return bca(statistic(replicates), value, without, np.ones(len(terms)), level)

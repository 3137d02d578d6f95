"""Estimate the middle M of a sandwich covariance A^-1 M A^-1: from the scores of rows, of clusters, or over lags.

cluster  M = sum over clusters of (sum s_i)(sum s_i)'  (Liang and Zeger 1986)
HAC      M = G_0 + sum_l (1 - l/(L + 1)) (G_l + G_l'),  G_l = sum s_i s_i-l'  (Newey and West 1987)

HC0 to HC3 weigh the residuals of each model: models/least_squares/covariance.py, models/logistic/likelihood.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import InferenceError, ParameterError
from separatrix.validation import check_labels, check_lengths


def cluster_codes(groups: Any, n: int, counted: NDArray[Any] | None) -> NDArray[np.intp]:
    """The number of the cluster of each row that counts; ``counted`` says which rows of the n do."""
    labels = check_labels(groups, what="groups", ids=True)
    check_lengths(n, len(labels.codes), "groups")
    counted_codes = labels.codes if counted is None else labels.codes[counted]
    codes = np.unique(counted_codes, return_inverse=True)[1].astype(np.intp)
    if codes.max(initial=0) < 1:
        raise InferenceError("groups has one group only: a clustered covariance needs at least two.")
    return codes


def cluster_meat(scores: Floats, codes: NDArray[np.intp]) -> tuple[Floats, int]:
    """M of clusters, and how many there are."""
    sums = np.zeros((int(codes.max()) + 1, scores.shape[1]))
    np.add.at(sums, codes, scores)
    return np.asarray(sums.T @ sums), len(sums)


def clustered_note(count: int) -> str:
    """How many groups a clustered covariance has, as a note of a summary."""
    few = ": with so few, its errors tend to be too small" if count < 10 else ""
    return f"covariance of {count} groups{few}"


def need_lags(lags: Any, n: int) -> int:
    """The number of lags; by default 4 (n/100)^(2/9), rounded down (Newey and West 1994)."""
    if lags is None:
        return int(4.0 * (n / 100.0) ** (2.0 / 9.0))
    if isinstance(lags, bool) or not isinstance(lags, (int, np.integer)) or not 0 <= lags < n:
        raise ParameterError(f"lags is {lags!r}: it must be a whole number from 0 to {n - 1}, rows less one.")
    return int(lags)


def lagged_meat(scores: Floats, lags: int) -> Floats:
    """M of rows in the order of time, with Bartlett's weights."""
    out = scores.T @ scores  # Bartlett's weights keep the sum positive semidefinite; equal weights would not
    for lag in range(1, lags + 1):
        one = scores[lag:].T @ scores[:-lag]
        out = out + (1.0 - lag / (lags + 1.0)) * (one + one.T)
    return np.asarray(out)

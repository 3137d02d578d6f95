"""Estimates with their intervals: in closed form (proportions, areas under ROC curves, zero errors); paired tests.

(D)  DeLong, DeLong & Clarke-Pearson (1988): AUC is a mean over pairs of a positive and a negative row;
     its variance is that of the row means ("placements"), separately for the two classes
(L)  (D) on the logit scale (Pepe 2003), so that it stays inside (0, 1)
(Z)  no error in n independent trials: the error rate is at most 1 - (alpha/2)^(1/n) (Clopper & Pearson 1934)
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.statistics.distributions import quantile, two_sided, wilson


@dataclass(frozen=True, slots=True)
class Estimate:
    """``value`` in [``low``, ``high``] at ``level``, by ``method``; ``reason`` where one of them is undefined.

    Attributes
    ----------
    value : float
        The number; not a number where it is undefined.
    low, high : float
        Ends of the interval.
    method : str
        How the interval was made.
    level : float
        Its confidence level.
    reason : str or None
        Why there is no value or no interval.
    defined, has_interval : bool
        Whether there is a value, an interval.

    Examples
    --------
    >>> from separatrix import evaluate
    >>> accuracy = evaluate([0, 0, 1, 1, 1], [0, 1, 1, 1, 1]).accuracy
    >>> accuracy.value, round(accuracy.low, 2), round(accuracy.high, 2), 0.5 in accuracy
    (0.8, 0.38, 0.96, True)
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    method: str = ""
    level: float = 0.95
    reason: str | None = None

    @classmethod
    def undefined(cls, reason: str, level: float = 0.95) -> Estimate:
        """No value: a ratio 0/0, or something that was not given.

        Parameters
        ----------
        reason : str
            Why.
        level : float
            Confidence level of the interval that there would be.

        Returns
        -------
        Estimate

        Examples
        --------
        >>> from separatrix.evaluation import Estimate
        >>> Estimate.undefined("no positive row").defined
        False
        """
        return cls(math.nan, method="undefined", level=level, reason=reason)

    @property
    def defined(self) -> bool:
        return not math.isnan(self.value)

    @property
    def has_interval(self) -> bool:
        return not (math.isnan(self.low) or math.isnan(self.high))

    def __float__(self) -> float:
        return self.value

    def __contains__(self, value: float) -> bool:
        """Whether the interval holds a value."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if not self.defined:
            return f"undefined ({self.reason})"
        if not self.has_interval:
            return f"{self.value:.4g}" + (f" (no interval: {self.reason})" if self.reason else "")
        return f"{shown(self.value)} [{shown(self.low)}, {shown(self.high)}]"

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON: undefined numbers are None.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix.evaluation import Estimate
        >>> Estimate(0.5, 0.25, 0.75, "Wilson").to_dict()["low"]
        0.25
        """
        return asdict(self) | {name: _plain(getattr(self, name)) for name in ("value", "low", "high")}


def scaled(e: Estimate, by: float) -> Estimate:
    """The estimate of ``by`` times what was estimated."""
    value = by * e.value
    if math.isinf(value) or (not value and e.value):
        return Estimate.undefined("no floating-point number is as " + ("large" if value else "small"), e.level)
    return e if by == 1 else replace(e, value=value, low=by * e.low, high=by * e.high)


def shown(x: float) -> str:
    """Three decimals for shares; four digits for what is large or tiny."""
    if x != 0 and (abs(x) >= 10 or abs(x) < 0.001):
        return f"{x:.4g}"
    return f"{x:.3f}"


def _plain(x: float) -> float | str | None:
    if math.isnan(x):
        return None
    return x if math.isfinite(x) else ("inf" if x > 0 else "-inf")


def zero_errors(n: float, level: float = 0.95) -> float:
    """(Z): the greatest rate of an error that n independent rows did not show."""
    return float(1 - ((1 - level) / 2) ** (1 / n))


def effective_rows(weights: Floats) -> float:
    """Kish (1965): the number of equal rows that carry as much as these weighted ones."""
    return float(weights.sum() ** 2 / (weights @ weights))


def placements(positive: NDArray[np.bool_], scores: Floats, weights: Floats | None = None) -> tuple[float, Floats]:
    """AUC, and each row's mean over the rows of the other class (ties count one half)."""
    w = np.ones(len(scores)) if weights is None else weights
    distinct, at = np.unique(scores, return_inverse=True)
    plus = np.bincount(at, weights=w * positive, minlength=len(distinct))
    minus = np.bincount(at, weights=w * ~positive, minlength=len(distinct))
    below = (np.cumsum(minus) - minus / 2) / minus.sum()  # share of negatives under a score
    above = (plus.sum() - np.cumsum(plus) + plus / 2) / plus.sum()  # share of positives over it
    placed = np.where(positive, below[at], above[at])
    auc = float(np.average(placed[positive], weights=w[positive]))
    return min(max(auc, 0.0), 1.0), placed


def mean_variance(values: Floats, weights: Floats | None) -> float:
    """The variance of a (weighted) mean of independent rows; NaN for a single one."""
    n = len(values)
    if n < 2:
        return float("nan")
    if weights is None:
        return float(values.var(ddof=1) / n)
    share = weights / weights.sum()
    centred = values - share @ values
    return float((share * share) @ (centred * centred) * n / (n - 1))


def logit_interval(value: float, variance: float, level: float) -> tuple[float, float]:
    """(L): value and variance on the logit scale and back."""
    half = quantile(level) * np.sqrt(variance) / (value * (1 - value))
    centre = np.log(value / (1 - value))
    return float(1 / (1 + np.exp(half - centre))), float(1 / (1 + np.exp(-half - centre)))


def delong(
    positive: NDArray[np.bool_], scores: Floats, weights: Floats | None = None, level: float = 0.95
) -> tuple[float, float, float, str]:
    """AUC with (L); where its variance is zero or unknown, by m = min(n+, n-) independent pairs.

    m disjoint pairs are m independent trials with success rate AUC (a tie counts one half), so that
    Wilson's interval holds for them, and (Z) where the two classes do not overlap: both are wider than
    what the ranks of all pairs would allow, and neither collapses.
    """
    auc, placed = placements(positive, scores, weights)
    parts = []
    for side in (positive, ~positive):
        side_weights = None if weights is None else weights[side]
        parts.append(
            (
                mean_variance(placed[side], side_weights),
                float(side.sum()) if side_weights is None else effective_rows(side_weights),
            )
        )
    variance, pairs = parts[0][0] + parts[1][0], min(parts[0][1], parts[1][1])
    if variance > 0 and 0 < auc < 1:
        return (auc, *logit_interval(auc, variance, level), "DeLong, logit")
    return (auc, *independent_pairs(auc, pairs, level))


def independent_pairs(auc: float, pairs: float, level: float) -> tuple[float, float, str]:
    """The conservative rule of :func:`delong`."""
    if auc in (0.0, 1.0):
        gap = zero_errors(pairs, level)
        return (0.0, gap, "exact on independent pairs") if auc == 0 else (1 - gap, 1.0, "exact on independent pairs")
    low, high = wilson(auc * pairs, pairs, level)
    return float(low), float(high), "Wilson on independent pairs"


@dataclass(frozen=True)
class McNemar:
    """Rows that only the first, and only the second, classified correctly; the exact two-sided p-value."""

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
    error = spread * math.sqrt(1 / count + ratio)
    half = quantile(level, count - 1) * error
    p = float(two_sided(np.array(value / error), count - 1))
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

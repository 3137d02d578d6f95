"""A number with its interval, the name of the method that made it, and the reason where there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any


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
        >>> from separatrix import Estimate
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
        >>> from separatrix import Estimate
        >>> Estimate(0.5, 0.25, 0.75, "Wilson").to_dict()["low"]
        0.25
        """
        return {
            "value": _plain(self.value),
            "low": _plain(self.low),
            "high": _plain(self.high),
            "method": self.method,
            "level": self.level,
            "reason": self.reason,
        }


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

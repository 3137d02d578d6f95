"""What progressive evaluation found: totals and a window with intervals, mistakes against a bound, drift, a picture."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.evaluation.intervals import Estimate, mean_variance
from separatrix.statistics.distributions import quantile, wilson
from separatrix.stream.scorecard import Scorecard

NAMED = 20  # new categories that the text names


@dataclass(frozen=True)
class Progressive:
    """Predictions made before each row was learned, and how good they were.

    Attributes
    ----------
    rows, labelled : int
        Rows in all, and those whose label came.
    mistakes : int or None
        Wrong predictions; None for a regression.
    accuracy, recent : Estimate
        The share of right predictions among all labelled rows and among the last ``window`` (Wilson's interval); for a
        regression the mean squared error (normal interval). The intervals ignore that
        predictions share the model.
    window : int
        Rows of ``recent``, of a block of the drift test, and four times those of a point of the curve at first.
    curve : array
        Accuracy, or mean squared error, over blocks of ``span`` labelled rows.
    span : int
        Labelled rows of a point of the curve.
    drift_warnings : tuple of int
        Labelled rows seen when the rate of mistakes was found to have risen.
    drift_test : str
        The test in words, with the chance of a false warning.
    updates, bound : int or None
        Updates of the learner, and the most that it can ever make, where a bound was given.
    never_labelled : int
        Rows whose label had not come at the end, or was given up.
    block : int
        Rows that were learned at once; 1 is row by row.
    new_categories : tuple of str
        Features "name=text" that got a weight on the way, in order, where rows are dicts with texts.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import Perceptron, progressive
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 3))
    >>> found = progressive(Perceptron(), X, X[:, 0] > 0)
    >>> found.labelled, found.accuracy.value > 0.95
    (4000, True)
    """

    rows: int
    labelled: int
    mistakes: int | None
    accuracy: Estimate
    recent: Estimate
    window: int
    curve: Floats
    span: int
    drift_warnings: tuple[int, ...]
    drift_test: str
    updates: int | None
    bound: int | None
    never_labelled: int
    block: int
    new_categories: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows, {self.labelled:,} with a label, each predicted before it was learned"]
        if self.mistakes is None:
            lines.append(f"mean squared error {self.accuracy}; last {self.window:,} rows {self.recent}")
        else:
            lines.append(
                f"{self.mistakes:,} mistakes: accuracy {self.accuracy}; last {self.window:,} rows {self.recent}"
            )
        if self.bound is not None and self.updates is not None:
            within = "of at most" if self.updates <= self.bound else "more than the rows of the bound allow:"
            lines.append(f"updates: {self.updates:,} {within} {self.bound:,} (proved)")
        if self.mistakes is not None:
            found = ", ".join(f"{at:,}" for at in self.drift_warnings[:10])
            lines.append(
                f"drift: {f'warned after labelled rows {found}' if found else 'no warning'} ({self.drift_test})"
            )
        if self.never_labelled:
            lines.append(f"{self.never_labelled:,} rows whose label did not come were predicted only")
        if self.new_categories:
            more = f" and {len(self.new_categories) - NAMED:,} more" if len(self.new_categories) > NAMED else ""
            lines.append(f"new categories: {', '.join(self.new_categories[:NAMED])}{more}")
        if self.block > 1:
            lines.append(f"learned in blocks of {self.block:,} rows, counted from row 0")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import Perceptron, progressive
        >>> progressive(Perceptron(), [[1.0], [-1.0], [2.0]], [1, 0, 1]).to_dict()["mistakes"]
        1
        """
        plain = {**vars(self), "accuracy": self.accuracy.to_dict(), "recent": self.recent.to_dict()}
        return {
            **plain,
            "curve": self.curve.tolist(),
            "drift_warnings": list(self.drift_warnings),
            "new_categories": list(self.new_categories),
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw accuracy (or mean squared error) along the stream, with the warnings of drift.

        Parameters
        ----------
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from separatrix import Perceptron, progressive
        >>> ax = progressive(Perceptron(), [[1.0], [-1.0]] * 8, [1, 0] * 8, window=4).plot()
        >>> ax.get_xlabel()
        'labelled rows'
        """
        from separatrix.plotting.perceptron_runs import draw_stream

        return draw_stream(self, ax)


def result_of(
    card: Scorecard,
    level: float,
    bound: int | None,
    updates: int | None,
    never: int,
    block: int,
    categories: Iterable[str],
) -> Progressive:
    """The result of a scorecard."""
    if card.regression:
        accuracy = _mean(card.squares, card.judged, None, level)
        recent = _mean(float(card.recent.sum()), len(card.recent), card.recent, level)
        curve = card.curve.means()
    else:
        accuracy = _share(card.judged - card.mistakes, card.judged, level)
        recent = _share(int(len(card.recent) - card.recent.sum()), len(card.recent), level)
        curve = 1.0 - card.curve.means()
    mistakes, drift = None if card.regression else card.mistakes, card.drift
    found = (card.rows, card.labelled, mistakes, accuracy, recent, card.window, curve, card.curve.span)
    rest = (updates, bound, never, block, tuple(categories))
    return Progressive(*found, tuple(drift.warnings), drift.sentence, *rest)


def _share(right: int, n: int, level: float) -> Estimate:
    if not n:
        return Estimate.undefined("no row with a label was predicted", level)
    low, high = wilson(right, n, level)
    return Estimate(right / n, float(low), float(high), "Wilson", level)


def _mean(total: float, n: int, values: Floats | None, level: float) -> Estimate:
    if not n:
        return Estimate.undefined("no row with a label was predicted", level)
    if values is None or n < 2:
        return Estimate(total / n, method="mean", level=level, reason="squared errors of all rows are not kept")
    half = quantile(level) * float(np.sqrt(mean_variance(values, None)))
    return Estimate(total / n, total / n - half, total / n + half, "normal", level)

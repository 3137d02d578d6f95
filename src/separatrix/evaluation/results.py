"""What ``evaluate`` finds: every number with its interval, the curves behind it, and its forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.evaluation.bootstrap import NEEDS_SCORES
from separatrix.evaluation.classification import NEEDS_PROBABILITIES
from separatrix.evaluation.evaluation_text import (
    COLUMNS,
    WIDTH,
    as_html,
    metric_lines,
    percent,
    plain,
    rows,
    short,
    table,
)
from separatrix.evaluation.intervals import Estimate
from separatrix.evaluation.metrics import NUMBERS
from separatrix.printable import printable
from separatrix.validation import Outcomes

if TYPE_CHECKING:
    from separatrix.evaluation.curves import CalibrationCurve, PrecisionRecallCurve, RocCurve
    from separatrix.evaluation.ledger import Openings
    from separatrix.evaluation.thresholds import ThresholdChoice, ThresholdTable

SHOWN_CLASSES = 12  # a larger confusion matrix is not printed
CLASSIFICATION = (
    "accuracy",
    "balanced_accuracy",
    "precision",
    "recall",
    "specificity",
    "f1",
    "mcc",
    "log_loss",
    "brier",
    "roc_auc",
    "average_precision",
)


@dataclass(frozen=True)
class Evaluation(ABC):
    """Metrics of one set of rows; see :class:`ClassificationEvaluation` and :class:`RegressionEvaluation`.

    Attributes
    ----------
    n : int
        Rows.
    level : float
        Confidence level of the intervals.
    notes : tuple of str
        What a reader should know.
    openings : Openings or None
        How often the test rows were used.
    metrics : dict of Estimate
        Every metric by its name.

    Examples
    --------
    >>> from separatrix import evaluate
    >>> found = evaluate([1.0, 2.5, 3.0], [1.5, 2.5, 2.5])
    >>> round(found.metrics["mse"].value, 3)
    0.167
    """

    n: int
    level: float
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    openings: Openings | None = field(default=None, kw_only=True)

    @property
    @abstractmethod
    def metrics(self) -> dict[str, Estimate]:
        """Every metric by its name."""

    def _text(self, kind: str, *lines: str) -> str:
        """The evaluation on one screen: rows, these lines, and what a reader should know."""
        notes = [f"  note: {printable(note)}" for note in self.notes]
        notes += [] if self.openings is None else [f"  {self.openings}"]
        return "\n".join([f"{rows(self.n)}{kind}; {percent(self.level)} intervals", *lines, *notes])

    def _repr_html_(self) -> str:
        return as_html(str(self), self.metrics)


@dataclass(frozen=True, repr=False)
class ClassificationEvaluation(Evaluation):
    """The confusion matrix (rows actual, columns predicted) and the metrics made of it, of scores and probabilities."""

    classes: NDArray[Any]
    positive: Any
    average: str
    confusion: Floats
    majority: float
    accuracy: Estimate
    balanced_accuracy: Estimate
    precision: Estimate
    recall: Estimate
    specificity: Estimate
    f1: Estimate
    mcc: Estimate
    log_loss: Estimate
    brier: Estimate
    roc_auc: Estimate
    average_precision: Estimate
    per_class: dict[Any, dict[str, Estimate]]
    outcomes: Outcomes

    @property
    def metrics(self) -> dict[str, Estimate]:
        return {name: getattr(self, name) for name in CLASSIFICATION}

    @property
    def cells(self) -> dict[str, float]:
        """Rows (or their weights) by outcome: TP, FN, FP and TN; two classes only."""
        p = self.outcomes.positive
        if p is None:
            raise DataError(f"TP, FN, FP and TN are counts of two classes, and there are {len(self.classes)}.")
        c = self.confusion
        return {
            "TP": float(c[p, p]),
            "FN": float(c[p, 1 - p]),
            "FP": float(c[1 - p, p]),
            "TN": float(c[1 - p, 1 - p]),
        }

    def cell_names(self) -> list[list[str]]:
        """What each cell of the confusion matrix is called: TP, FN, FP, TN for two classes, nothing for more."""
        k = len(self.classes)
        p = self.outcomes.positive
        if p is None:
            return [[""] * k for _ in range(k)]
        return [[("T" if i == j else "F") + ("P" if j == p else "N") for j in range(2)] for i in range(2)]

    def shown_order(self) -> list[int]:
        """The order in which classes are shown: of two the positive one first, so that TP comes first as in texts."""
        k, p = len(self.classes), self.outcomes.positive
        return [p, 1 - p] if k == 2 and p is not None else list(range(k))

    def __str__(self) -> str:
        given = {k: v for k, v in self.metrics.items() if v.reason not in (NEEDS_PROBABILITIES, NEEDS_SCORES)}
        if self.positive is not None:
            kind = f", positive: {short(repr(self.positive), 24)}"
        else:
            several = len(self.classes) > 1
            kind = f", {len(self.classes)} classes, {self.average} averages" if several else ", 1 class"
        common = f"  always predicting the most common class: accuracy {self.majority:.3f}"
        return self._text(kind, *self._confusion_lines(), *metric_lines(given), common)

    def _confusion_lines(self) -> list[str]:
        k = len(self.classes)
        if k > SHOWN_CLASSES:
            return [f"  ({k} classes: to_dict and --json have the matrix and each class)"]
        order, names = self.shown_order(), self.cell_names()
        body = [
            [short(self.classes[i]), *(f"{plain(self.confusion[i][j])} {names[i][j]}".rstrip() for j in order)]
            for i in order
        ]
        for width in range(WIDTH, 2, -1):  # the longest labels with which the matrix fits
            lines = table([["actual \\ predicted", *(short(self.classes[j], width) for j in order)], *body])
            if max(map(len, lines)) <= COLUMNS:
                break
        return lines

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "task": "classification",
            "n": self.n,
            "level": self.level,
            "classes": self.classes.tolist(),
            "positive": self.positive,
            "average": self.average,
            "confusion": self.confusion.tolist(),
            "majority": self.majority,
            "metrics": {name: e.to_dict() for name, e in self.metrics.items()},
            "per_class": {
                str(label): {name: e.to_dict() for name, e in estimates.items()}
                for label, estimates in self.per_class.items()
            },
            "notes": list(self.notes),
            "openings": None if self.openings is None else self.openings.to_dict(),
        }

    def roc_curve(self) -> RocCurve:
        """True against false positive rate at every threshold, with a band."""
        from separatrix.evaluation.curves import RocCurve

        return RocCurve.of(self.outcomes, self.level, self.roc_auc)

    def precision_recall_curve(self) -> PrecisionRecallCurve:
        """Precision against recall at every threshold, with a band."""
        from separatrix.evaluation.curves import PrecisionRecallCurve

        return PrecisionRecallCurve.of(self.outcomes, self.level, self.average_precision)

    def calibration_curve(self, bins: int = 10, *, strategy: str = "uniform") -> CalibrationCurve:
        """How often what was said with probability p happened, with Wilson's intervals."""
        from separatrix.evaluation.curves import CalibrationCurve

        return CalibrationCurve.of(self.outcomes, self.level, bins, strategy)

    def threshold_table(self, at: Any = None) -> ThresholdTable:
        """Counts and rates at thresholds of the score (all distinct ones, or those given)."""
        from separatrix.evaluation.thresholds import threshold_table

        return threshold_table(self.outcomes, self.level, at)

    def threshold_by_cost(self, *, false_positive: float = 1.0, false_negative: float = 1.0) -> ThresholdChoice:
        """The threshold of least mean cost on these rows (optimistic: it was chosen on them)."""
        from separatrix.evaluation.thresholds import threshold_by_cost

        return threshold_by_cost(self.outcomes, self.level, false_positive, false_negative)

    def plot(self, fig: Any = None) -> Any:
        """A figure: the confusion matrix, the metrics with their intervals, and the curves that can be drawn."""
        from separatrix.evaluation.figures import evaluation_figure

        return evaluation_figure(self, fig)


@dataclass(frozen=True, repr=False)
class RegressionEvaluation(Evaluation):
    """Errors of real predictions."""

    mse: Estimate
    rmse: Estimate
    mae: Estimate
    r2: Estimate
    truth: Floats
    predicted: Floats

    @property
    def metrics(self) -> dict[str, Estimate]:
        return {name: getattr(self, name) for name in NUMBERS}

    def __str__(self) -> str:
        return self._text("", *metric_lines(self.metrics))

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "task": "regression",
            "n": self.n,
            "level": self.level,
            "metrics": {name: e.to_dict() for name, e in self.metrics.items()},
            "notes": list(self.notes),
            "openings": None if self.openings is None else self.openings.to_dict(),
        }

    def plot(self, fig: Any = None) -> Any:
        """A figure: predicted against true, and the residuals."""
        from separatrix.evaluation.figures import regression_figure

        return regression_figure(self, fig)

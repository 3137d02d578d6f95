"""The table as it was read, rows of it as they are shown, and the numbers behind the figures of the report."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.auditing.phrasing import EstimateFacts


@dataclass(frozen=True, slots=True)
class ClassCount:
    """A class as it is shown, and its number of rows."""

    label: str
    rows: int


@dataclass(frozen=True, slots=True)
class LeakFacts:
    """A column that may give the target away."""

    column: str
    evidence: str
    kind: str
    set_aside: bool


@dataclass(frozen=True, slots=True)
class SplitRuleFacts:
    """How rows are assigned to folds: at random (``by`` is None), "groups" or "copies" together, or in "time"."""

    by: str | None
    column: str | None
    values: int


@dataclass(frozen=True, slots=True)
class TableFacts:
    """The table as it was read. ``task`` is "binary", "multiclass" or "regression"."""

    source: str
    rows: int
    columns: int | None
    features: int
    target: str
    task: str
    classes: list[ClassCount]
    positive: str | None
    target_range: tuple[float, float] | None
    notes: list[str]
    leaks: list[LeakFacts]
    split_rule: SplitRuleFacts
    seed: int
    level: float
    budget: float

    @property
    def regression(self) -> bool:
        return self.task == "regression"

    @property
    def set_aside(self) -> list[str]:
        """The columns that were left out because they give the target away."""
        return [leak.column for leak in self.leaks if leak.set_aside]

    @property
    def most_common(self) -> ClassCount:
        return max(self.classes, key=lambda c: c.rows)


@dataclass(frozen=True, slots=True)
class ExcerptRow:
    """A row of the user's table by its number, with some of its cells."""

    row: int
    cells: list[str]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A few rows of the user's table, in the columns in which they differ most."""

    columns: list[str]
    rows: list[ExcerptRow]
    columns_not_shown: int = 0


@dataclass(frozen=True, slots=True)
class LabelledRow:
    row: int
    label: str


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Rows that are equal in every feature but not in the target; ``duplicates`` counts all repeated rows."""

    groups: int
    rows: int
    duplicates: int
    shown: list[list[LabelledRow]]


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A line coef . (x, y) + intercept = 0 of the picture, and half the width of the gap around it."""

    coef: tuple[float, float]
    intercept: float
    gap: float | None


@dataclass(frozen=True, slots=True)
class Projection:
    """Rows in two directions. ``kind`` is "columns", "normal" (distance from a hyperplane) or "fisher"."""

    x: list[float]
    y: list[float]
    rows: list[int]
    classes: list[int]
    of: int
    kind: str
    axes: tuple[str, str]
    units: str
    hyperplane: str | None
    line: DrawnLine | None
    witness: list[int]
    support: list[int]
    x_window: tuple[float, float]
    y_window: tuple[float, float]
    outside: int


@dataclass(frozen=True, slots=True)
class CoefficientRow:
    """A coefficient in the units of the table with its interval; ``spread`` is the deviation of its column."""

    name: str
    estimate: float
    low: float | None
    high: float | None
    spread: float
    fate: str | None

    @property
    def effect(self) -> float:
        """The effect of one standard deviation."""
        return self.estimate * self.spread


@dataclass(frozen=True, slots=True)
class CoefficientTable:
    """The coefficients of a learner, largest effect first; ``no_intervals`` says why there are none."""

    learner: str
    of: int
    intercept: float
    positive: str | None
    log_odds: bool
    intervals: str | None
    no_intervals: str | None
    features: list[CoefficientRow]


@dataclass(frozen=True, slots=True)
class LearningCurve:
    """Error on training and on validation rows as rows are added, with standard errors."""

    learner: str
    metric: str
    rows: list[int]
    train: list[float]
    validation: list[float]
    train_error: list[float]
    validation_error: list[float]


@dataclass(frozen=True, slots=True)
class Band:
    """A curve with a band around y."""

    x: list[float]
    y: list[float]
    low: list[float]
    high: list[float]
    estimate: EstimateFacts
    baseline: float


@dataclass(frozen=True, slots=True)
class CalibrationPicture:
    predicted: list[float]
    observed: list[float]
    low: list[float]
    high: list[float]
    counts: list[int]


@dataclass(frozen=True, slots=True)
class CostChoice:
    """The cheapest threshold for given costs of the two kinds of mistakes."""

    false_positive: float
    false_negative: float
    threshold: float
    precision: EstimateFacts
    recall: EstimateFacts


@dataclass(frozen=True, slots=True)
class ThresholdPicture:
    """``of`` is what is compared with the threshold: a probability or a score."""

    of: str
    choices: list[CostChoice]


@dataclass(frozen=True, slots=True)
class ScorePictures:
    """Curves of the chosen learner on ``where``: held-out rows, or rows judged in folds."""

    where: str
    classes: list[str]
    confusion: list[list[int]]
    roc: Band | None
    precision_recall: Band | None
    calibration: CalibrationPicture | None
    threshold: ThresholdPicture | None


@dataclass(frozen=True, slots=True)
class ScatterPicture:
    """Predicted against true values of ``of`` rows, or of a sample of them."""

    where: str
    truth: list[float]
    predicted: list[float]
    of: int


@dataclass(frozen=True, slots=True)
class QuantileCurve:
    label: str
    normal: list[float]
    observed: list[float]


@dataclass(frozen=True, slots=True)
class Pictures:
    """What the report draws."""

    projection: Projection | None
    coefficients: CoefficientTable | None
    learning_curve: LearningCurve | None
    scores: ScorePictures | None
    fitted: ScatterPicture | None
    predicted: ScatterPicture | None
    quantiles: list[QuantileCurve]

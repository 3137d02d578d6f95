"""Question 4: learners compared by cross-validation, the choice, and the held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class EstimateFacts:
    """A value with its interval; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class ComparedLearner:
    """A learner's estimates by cross-validation; ``folds`` are the values of the metric of comparison."""

    name: str
    estimates: dict[str, EstimateFacts]
    folds: list[float | None]
    methods: dict[str, int]
    chosen: bool


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """First minus second on the same folds, with Holm's adjusted p-value."""

    first: str
    second: str
    difference: EstimateFacts
    p: float | None
    holm: float | None


@dataclass(frozen=True, slots=True)
class NotCompared:
    learner: str
    reason: str


@dataclass(frozen=True, slots=True)
class SplitFacts:
    """Rows learned from, held out, and left out."""

    development: int
    held_out: int
    left_out: int


@dataclass(frozen=True, slots=True)
class TestFacts:
    """The chosen learner on the held-out rows; ``earlier_uses`` counts earlier looks at some of them."""

    rows: int
    estimates: dict[str, EstimateFacts]
    earlier_uses: int
    earlier_rows: int


@dataclass(frozen=True, slots=True)
class AlarmFacts:
    """How much of a rare class is found when a stated share of the alarms is right."""

    label: str
    precision: float
    found: int
    of: int
    recall: EstimateFacts


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Precision and recall of one class on held-out rows, or on rows judged in folds."""

    label: str
    rows: int
    precision: EstimateFacts
    recall: EstimateFacts


@dataclass(frozen=True, slots=True)
class ConfusedClasses:
    """Rows of one class that were predicted as another."""

    label: str
    as_label: str
    rows: int


@dataclass(frozen=True, slots=True)
class PredictionFacts:
    """Question 4: learners compared by cross-validation, the choice, and the held-out rows.

    ``baseline`` is the value of the metric for the best constant guess. ``no_estimate`` says why nothing was compared.
    """

    metric: str
    metric_class: str | None
    baseline: float
    majority: float | None
    folds: int = 0
    rows_compared: int = 0
    sampled: bool = False
    learners: list[ComparedLearner] = field(default_factory=list)
    not_compared: list[NotCompared] = field(default_factory=list)
    pairs: list[PairedDifference] = field(default_factory=list)
    chosen: str | None = None
    within_one_error: list[str] = field(default_factory=list)
    split: SplitFacts | None = None
    test: TestFacts | None = None
    alarms: AlarmFacts | None = None
    class_scores: list[ClassScore] = field(default_factory=list)
    confused: list[ConfusedClasses] = field(default_factory=list)
    better_than_guessing: bool | None = None
    no_estimate: str | None = None

    @property
    def greater_is_better(self) -> bool:
        return self.metric != "rmse"

    @property
    def not_above_guessing(self) -> bool:
        """Whether half the way from the estimate to the worse end of its interval reaches the best constant guess."""
        e = self.estimate
        if e is None or e.value is None:
            return True
        sign, end = (1, e.low) if self.greater_is_better else (-1, e.high)
        return sign * (e.value if end is None else (e.value + end) / 2) <= sign * self.baseline

    def learner(self, name: str) -> ComparedLearner:
        return next(learner for learner in self.learners if learner.name == name)

    @property
    def estimate(self) -> EstimateFacts | None:
        """The metric of the chosen learner."""
        return None if self.chosen is None else self.learner(self.chosen).estimates[self.metric]

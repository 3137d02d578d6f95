"""What commands print with ``--json``, as dataclasses: the schemas are derived from them (derived_schemas.py)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from separatrix.evaluation.intervals import McNemar
from separatrix.evaluation.ledger import Openings
from separatrix.features.leaks import Leak

Label = str | bool | int | float | None
Number = float | Literal["inf", "-inf"]  # null where it is undefined


@dataclass(frozen=True, kw_only=True)
class EstimateReport:
    """A number with its interval; null where it is undefined, for the reason given."""

    value: Number
    low: Number
    high: Number
    method: str
    level: float
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class ClassificationReport:
    """Metrics of predicted classes."""

    task: Literal["classification"]
    n: int
    level: float
    classes: list[Label]
    positive: Label
    average: str
    confusion: list[list[float]]
    majority: float
    metrics: dict[str, EstimateReport]
    per_class: dict[str, dict[str, EstimateReport]]
    notes: list[str]
    openings: Openings | None


@dataclass(frozen=True, kw_only=True)
class RegressionReport:
    """Metrics of predicted numbers."""

    task: Literal["regression"]
    n: int
    level: float
    metrics: dict[str, EstimateReport]
    notes: list[str]
    openings: Openings | None


@dataclass(frozen=True, kw_only=True)
class EvaluatedFile:
    """The model file, the source it was evaluated on, and what was warned of."""

    source: str
    model: str
    warnings: list[str]


@dataclass(frozen=True, kw_only=True)
class EvaluatedClasses(ClassificationReport, EvaluatedFile):
    """The evaluation of a classifier."""


@dataclass(frozen=True, kw_only=True)
class EvaluatedNumbers(RegressionReport, EvaluatedFile):
    """The evaluation of a regression."""


@dataclass(frozen=True, kw_only=True)
class EvaluatedSource(EvaluatedFile):
    """The evaluation of files in partitions: what follows from counts and sums; null where it does not apply."""

    n: int
    level: float
    classes: list[Label] | None
    confusion: list[list[float]] | None
    accuracy: float | None
    low: float | None
    high: float | None
    log_loss: float | None
    rmse: float | None
    mae: float | None
    r2: float | None


@dataclass(frozen=True, kw_only=True)
class TestRows:
    """How the held-out test rows were chosen."""

    rows: int
    how: str
    random_state: int | None


@dataclass(frozen=True, kw_only=True)
class TestedClasses(ClassificationReport, TestRows):
    """The evaluation of a classifier on held-out test rows."""


@dataclass(frozen=True, kw_only=True)
class TestedNumbers(RegressionReport, TestRows):
    """The evaluation of a regression on held-out test rows."""


@dataclass(frozen=True, kw_only=True)
class CrossValidationReport:
    """Metrics over folds."""

    learner: str
    n: int
    folds: int
    repeats: int
    how: str
    level: float
    random_state: int | None
    estimates: dict[str, EstimateReport]
    fold_values: dict[str, list[float]]
    methods: dict[str, int]
    statuses: dict[str, int]
    failures: list[str]
    caveat: str


@dataclass(frozen=True, kw_only=True)
class FitSeconds:
    """Time to read the source and to fit the model."""

    read: float
    fit: float


@dataclass(frozen=True, kw_only=True)
class FitReport:
    """A fitted model; null where a learner has no such number, or nothing was asked for."""

    source: str
    rows: int
    columns: int | None
    features: int
    target: str | None
    classes: list[Label] | None
    positive: Label
    guesses: list[str]
    leaks: list[Leak]
    learner: str
    warnings: list[str]
    n_iter: int | list[int] | None
    mistakes: int | None
    errors: int | None
    rank: int | None
    rss: float | None
    status: str | None
    status_text: str | None
    model: str
    cross_validation: CrossValidationReport | None
    holdout: TestedClasses | TestedNumbers | None
    seconds: FitSeconds


@dataclass(frozen=True, kw_only=True)
class PairReport:
    """Two learners compared on the same folds."""

    first: str
    second: str
    difference: EstimateReport
    p: float
    holm: float
    mcnemar: McNemar | None


@dataclass(frozen=True, kw_only=True)
class ComparisonReport:
    """Learners compared on the same folds; the winner is better than every other, or null."""

    metric: str
    level: float
    learners: dict[str, EstimateReport]
    pairs: list[PairReport]
    winner: str | None
    source: str
    target: str | None


@dataclass(frozen=True, kw_only=True)
class UnseenLevel:
    """Rows with a level that training did not have, and one such level."""

    rows: int
    such_as: str


@dataclass(frozen=True, kw_only=True)
class PredictionReport:
    """Predictions in a file: missing cells filled in, and unseen levels, by column."""

    model: str
    out: str
    format: Literal["csv", "jsonl", "parquet"]
    source: str
    rows: int
    missing: dict[str, int]
    unseen: dict[str, UnseenLevel]


@dataclass(frozen=True, kw_only=True)
class ExportReport:
    """An exported model: its file, or its text where there is no file."""

    model: str
    format: Literal["python", "sql", "onnx"]
    out: str | None
    bytes: int
    code: str | None


@dataclass(frozen=True, kw_only=True)
class ExampleReport:
    """A built-in data set and what it shows."""

    name: str
    rows: int
    features: int
    shows: str


@dataclass(frozen=True, kw_only=True)
class CoefficientsReport:
    """The largest coefficients of one score; the class it is for, where there are classes."""

    label: Label
    intercept: float
    largest: list[tuple[str, float]]
    nonzero: int


@dataclass(frozen=True, kw_only=True)
class ModelReport:
    """What a model file holds."""

    kind: Literal["model"]
    file: str
    learner: str
    target: str | None
    positive: Label
    classes: list[Label] | None
    features: int
    about: dict[str, Any]
    status: str | None
    certificate: str | None
    columns: list[dict[str, Any]]
    dropped: dict[str, str]
    leaks: list[Leak]
    coefficients: list[CoefficientsReport]


@dataclass(frozen=True, kw_only=True)
class ColumnReport:
    """A column of a source: numbers have a range, text an example; null where all is missing."""

    name: str
    kind: Literal["number", "integer", "boolean", "date", "text"]
    missing: int
    infinite: int = 0
    different: int | None = None
    such_as: str | None = None
    least: float | None = None
    mean: float | None = None
    greatest: float | None = None


@dataclass(frozen=True, kw_only=True)
class SourceReport:
    """What a source holds: columns, or rows of numbers without names."""

    kind: Literal["source"]
    name: str
    rows: int
    columns: list[ColumnReport]
    features: int | None = None
    entries: int | None = None
    sparse: bool | None = None
    labels: int | None = None
    label_counts: list[tuple[Label, int]] | None = None
    guesses: list[str] = field(default_factory=list)

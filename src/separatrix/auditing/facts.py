"""What an audit found: a frozen dataclass for each question, without a word of prose.

``audit.json`` is these facts as plain values, beside the sentences that :mod:`separatrix.auditing.sentences` makes of
them; the screen and the report are made from both and from nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

FORMAT = "separatrix-audit/2"


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
    """How rows are assigned to folds: at random (``by`` is None), by whole groups, or in time."""

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
    """A few rows of the user's table, in the columns that tell them apart."""

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
class NamedCoefficient:
    """A coefficient, and its effect: that of one standard deviation of the column."""

    name: str
    coefficient: float
    effect: float


@dataclass(frozen=True, slots=True)
class HyperplaneFacts:
    """The strongest coefficients of a hyperplane; ``nonzero`` counts all that are not zero."""

    features: list[NamedCoefficient]
    intercept: float
    nonzero: int


@dataclass(frozen=True, slots=True)
class ClassVerdict:
    """One class against the rest."""

    label: str
    rows: int
    verdict: str
    witness: list[int]
    strict_rows: int


@dataclass(frozen=True, slots=True)
class SeparationFacts:
    """Question 1: complete, quasi (quasi-complete), overlap or undecided, with the rows that decide it.

    ``jointly`` says that all of more than two classes were decided at once; ``strict_rows`` and ``tied_rows`` then
    count comparisons of a row's class with another. ``with_leaks`` is the verdict with the columns set aside.
    """

    verdict: str
    witness: list[int]
    witness_class: str | None
    excerpt: Excerpt
    strict_rows: int | None
    tied_rows: int | None
    hyperplane: HyperplaneFacts | None
    classes: list[ClassVerdict]
    jointly: bool
    contradictions: Contradictions
    with_leaks: str | None
    tried: list[str]

    @property
    def separable(self) -> bool:
        return self.verdict == "complete"


@dataclass(frozen=True, slots=True)
class ExactFitFacts:
    """Question 1 for a quantity: whether a hyperplane goes through every point."""

    exact: bool
    r2: float
    rank: int


@dataclass(frozen=True, slots=True)
class ProvedBracket:
    """Two proved bounds."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class MarginFacts:
    """The widest gap of separable classes (half its width), in the units of the columns and standardised."""

    lower: float
    upper: float
    standardised: ProvedBracket | None
    support: list[int]
    excerpt: Excerpt
    fragile: bool


@dataclass(frozen=True, slots=True)
class MistakeFacts:
    """The minimum number of mistakes lies between ``lower`` and ``upper``.

    ``rows`` are misclassified by the best hyperplane found. ``parts`` disjoint parts of the table were searched
    (1: the whole table). ``labelings`` counts different sets of misclassified rows of that size that were found.
    """

    lower: int
    upper: int
    rows: list[int]
    excerpt: Excerpt
    parts: int
    labelings: int
    seconds: float

    @property
    def exact(self) -> bool:
        return self.lower == self.upper


@dataclass(frozen=True, slots=True)
class InfiniteCoefficient:
    name: str
    sign: str


@dataclass(frozen=True, slots=True)
class CoefficientFates:
    """Whether the maximum-likelihood estimate of logistic regression exists (None: not decided), and where not why."""

    exists: bool | None
    counts: dict[str, int] = field(default_factory=dict)
    infinite: list[InfiniteCoefficient] = field(default_factory=list)
    fates: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClassMargin:
    label: str
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class BestFacts:
    """Question 2: the maximum margin of separable classes, or the minimum number of mistakes of others.

    ``not_computed`` says why neither is there.
    """

    margin: MarginFacts | None
    mistakes: MistakeFacts | None
    coefficients: CoefficientFates
    class_margins: list[ClassMargin]
    not_computed: str | None


@dataclass(frozen=True, slots=True)
class LeastSquaresFacts:
    """Question 2 for a quantity: the least-squares hyperplane, unique where no columns are dependent."""

    rank: int
    dependent: list[str]

    @property
    def unique(self) -> bool:
        return not self.dependent


@dataclass(frozen=True, slots=True)
class NovikoffBound:
    """(R/γ)²: the radius, the lifted margin between two proved bounds, and the bound on mistakes."""

    radius: float
    margin: ProvedBracket
    mistakes: float


@dataclass(frozen=True, slots=True)
class PerceptronRun:
    """A perceptron from zero in the order of the rows; ``curve`` has mistakes so far after some of the passes."""

    mistakes: int
    passes: int
    converged: bool
    errors: int
    curve_passes: list[int]
    curve_mistakes: list[int]
    bound: NovikoffBound | None


@dataclass(frozen=True, slots=True)
class EstimateFacts:
    """A value with its interval; None where it is undefined."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class NeighbourFacts:
    """What one nearest neighbour keeps and costs beside a linear model, and how well it predicts."""

    numbers_kept: int
    linear_numbers: int
    multiplications: int
    linear_multiplications: int
    seconds: float
    linear_seconds: float
    rows: int
    metric: str
    estimate: EstimateFacts | None
    linear_estimate: EstimateFacts | None


@dataclass(frozen=True, slots=True)
class AlgorithmFacts:
    """Question 3: seconds and training mistakes of each learner on all rows, the perceptron's run, a lazy method.

    ``linear`` names the learners that are linear in the columns of the table.
    """

    seconds: dict[str, float]
    training_mistakes: dict[str, int]
    linear: list[str]
    perceptron: PerceptronRun | None
    perceptron_standardised: PerceptronRun | None
    neighbour: NeighbourFacts | None


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
    better_than_guessing: bool | None = None
    no_estimate: str | None = None

    @property
    def greater_is_better(self) -> bool:
        return self.metric != "rmse"

    def learner(self, name: str) -> ComparedLearner:
        return next(learner for learner in self.learners if learner.name == name)

    @property
    def estimate(self) -> EstimateFacts | None:
        """The metric of the chosen learner."""
        return None if self.chosen is None else self.learner(self.chosen).estimates[self.metric]


@dataclass(frozen=True, slots=True)
class AssumptionLine:
    """One assumption: ``verdict`` is "holds", "fails", "look" (needs a look) or "unknown".

    ``name`` is for a list, ``assumption`` says it whole. ``threshold`` is the level of a test, where there is one.
    """

    name: str
    assumption: str
    needed_by: str
    evidence: str
    verdict: str
    advice: str
    p: float | None = None
    threshold: float | None = None


@dataclass(frozen=True, slots=True)
class SuspectRows:
    """Rows that every learner, fitted without them, puts firmly into another class."""

    rows: list[int]
    rejected_by_all: int
    learners: int
    excerpt: Excerpt | None


@dataclass(frozen=True, slots=True)
class AssumptionFacts:
    """Question 5."""

    lines: list[AssumptionLine]
    suspects: SuspectRows | None

    def count(self, verdict: str) -> int:
        return sum(line.verdict == verdict for line in self.lines)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to use (None: nothing), why, and what not to trust."""

    use: str
    learner: str | None
    why: str
    cautions: list[str]


@dataclass(frozen=True, slots=True)
class CertificateFacts:
    """What the certificate proves, and about which rows (None: all)."""

    claims: list[str]
    rows: list[int] | None
    bytes: int
    data: str


@dataclass(frozen=True, slots=True)
class Omission:
    """Something that was not done, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What depends on the day and the machine."""

    date: str
    version: str
    seconds: dict[str, float]
    test_use: str | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A question as printed, its answer in a few words, how it is known, and the sentences below it."""

    question: str
    answer: str
    badge: str
    lines: list[str]

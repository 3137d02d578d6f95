"""Questions 1 and 2: whether a hyperplane separates the classes or fits the rows, and which one is best."""

from __future__ import annotations

from dataclasses import dataclass, field

from separatrix.auditing.table_facts import Contradictions, Excerpt


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
    seconds: float


@dataclass(frozen=True, slots=True)
class MistakeFacts:
    """The minimum number of mistakes lies between ``lower`` and ``upper``.

    ``rows`` are misclassified by the best hyperplane found. ``parts`` disjoint parts of the table were searched
    (1: the whole table). ``labelings`` counts different sets of misclassified rows of that size that were found;
    ``unique`` says that there is proved to be no other.
    """

    lower: int
    upper: int
    rows: list[int]
    excerpt: Excerpt
    parts: int
    labelings: int
    seconds: float
    unique: bool = False

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
class CertificateFacts:
    """What the certificate proves, and about which rows (None: all)."""

    claims: list[str]
    rows: list[int] | None
    bytes: int
    data: str

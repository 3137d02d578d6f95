"""Questions 1 and 2: whether a hyperplane separates or fits, which is best; and the sentences made of these facts."""

from __future__ import annotations

from dataclasses import dataclass, field

from separatrix.auditing.facts import Contradictions, Excerpt, TableFacts
from separatrix.auditing.phrasing import Answer, count, named, nearly_one, number, numbered, plural, share


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

    ``rows`` are misclassified by the best hyperplane found. ``packed`` says that the table is too large for a search:
    the lower bound is that of disjoint sets of rows that cannot be separated. ``labelings`` counts different sets of
    misclassified rows of that size that were found; ``unique`` says that there is proved to be no other; ``swapped``
    that no set that differs from it in one row was left out of the search for others.
    """

    lower: int
    upper: int
    rows: list[int]
    excerpt: Excerpt
    packed: bool
    labelings: int
    seconds: float
    unique: bool = False
    swapped: bool = False

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


def separation(facts: SeparationFacts, table: TableFacts) -> Answer:
    """Question 1."""
    lines = _many_classes(facts, table) if facts.classes else [_two_classes(facts, table)]
    if facts.with_leaks is not None:
        would = "would be separable (proved)" if facts.with_leaks == "complete" else "would not be separable either"
        lines.append(f"With {named(table.set_aside)}, set aside as a leak, the table {would}.")
    lines += _contradictions(facts.contradictions)
    answer = {"complete": "Yes (proved)", "undecided": "Undecided"}.get(facts.verdict, "No (proved)")
    badge = "open" if facts.verdict == "undecided" else "proved"
    return Answer("Can a hyperplane separate the classes?", answer, badge, lines)


def _two_classes(facts: SeparationFacts, table: TableFacts) -> str:
    rows = plural(len(facts.witness), "row")
    if facts.verdict == "complete":
        return f"A hyperplane has all {count(table.rows)} rows strictly on their correct sides."
    if facts.verdict == "overlap":
        verb = "is" if len(facts.witness) == 1 else "are"
        return (
            f"{rows} {verb} enough to rule it out ({numbered(facts.witness)}): no hyperplane has all of them strictly "
            "on their correct sides."
        )
    if facts.verdict == "quasi":
        return (
            f"{rows} rule it out ({numbered(facts.witness)}), but some hyperplane has no row on the wrong side: "
            f"{count(facts.strict_rows or 0)} of {count(table.rows)} rows lie strictly on their correct sides, the "
            "others on the hyperplane (quasi-complete separation)."
        )
    return f"Neither could be proved; tried {'; '.join(facts.tried)}."


def _many_classes(facts: SeparationFacts, table: TableFacts) -> list[str]:
    apart = sum(part.verdict == "complete" for part in facts.classes)
    undecided = sum(part.verdict == "undecided" for part in facts.classes)
    left = f"; {plural(undecided, 'other class', 'other classes')} not decided" if undecided else ""
    decided = len(facts.classes) - undecided
    of = f"{apart} of {decided}" if decided < len(facts.classes) or apart < decided else f"all {decided}"
    classes = "class" if decided == 1 else "classes"
    one = f"One against the rest: {of} {classes} can be separated by one hyperplane (proved){left}."
    if not facts.jointly:
        return [one]
    k, tied = len(table.classes), facts.tied_rows or 0
    jointly = {
        "complete": f"One linear score for each of the {k} classes, largest wins, classifies every row correctly.",
        "quasi": (
            f"No linear scores for the {k} classes classify every row correctly: at best no row's own class has a "
            f"lower score than another, but {count(tied)} of {count(tied + (facts.strict_rows or 0))} comparisons of "
            "a row's class with another are ties (quasi-complete separation)."
        ),
        "overlap": f"No linear scores for the {k} classes classify every row correctly.",
        "undecided": "Whether linear scores can classify every row correctly was not decided.",
    }
    return [jointly[facts.verdict], one]


def _contradictions(found: Contradictions) -> list[str]:
    if not found.groups:
        return []
    first = found.shown[0]
    other = next((own for own in first if own.label != first[0].label), first[-1])
    pair = " and ".join(f"row {own.row} ({own.label})" for own in (first[0], other))
    return [
        f"{plural(found.rows, 'row')} are equal to a row of another class (for example {pair}): no function of these "
        "features classifies both correctly."
    ]


def exact_fit(facts: ExactFitFacts, table: TableFacts) -> Answer:
    """Question 1 for a quantity."""
    question = "Does a hyperplane fit every row?"
    if facts.exact:
        free = f"{count(table.rows)} rows and {count(facts.rank)} free coefficients"
        reason = f"there are {free}" if facts.rank >= table.rows else "R² is 1"
        line = f"Every row can be fitted, since {reason}: this is not evidence of a linear relation."
        return Answer(question, "Yes, within rounding", "computed", [line])
    left = share(1 - facts.r2)
    line = f"The best hyperplane leaves {left} of the variance unexplained (R² = {nearly_one(facts.r2)} on these rows)."
    return Answer(question, f"No: {left} of the variance is unexplained", "computed", [line])


def best(facts: BestFacts, table: TableFacts, separable: bool) -> Answer:
    """Question 2."""
    question = "What is the best hyperplane, and is it unique?"
    if facts.margin is not None:
        answer, lines = _margin(facts.margin)
        return Answer(question, answer, "proved", lines)
    if facts.mistakes is not None:
        answer, lines = _mistakes(facts.mistakes, table)
        return Answer(question, answer, "proved", lines + _infinite(facts))
    why = facts.not_computed or ""
    if separable:
        lines = ["Infinitely many hyperplanes separate the classes; the maximum margin would single one out."]
        answer = "Not unique: infinitely many separate the classes"
        if table.task == "multiclass":
            lines = ["Infinitely many sets of linear scores classify every row correctly."]
            answer = "Not unique: every row can be classified correctly"
        lines += [f"It was not computed: {why}."] if why else []
    else:
        answer, lines = "Not known", [f"{why[0].upper()}{why[1:]}; whether the best one is unique is not known."]
    if facts.class_margins:
        widest = sorted(facts.class_margins, key=lambda own: -own.lower)
        listed = ", ".join(f"'{own.label}' {number(own.lower)}" for own in widest[:4])
        more = f" and {len(widest) - 4} more" if len(widest) > 4 else ""
        lines.append(f"Margins of the classes that can be separated from the rest (proved): {listed}{more}.")
    return Answer(question, answer, "open", lines)


def _margin(margin: MarginFacts) -> tuple[str, list[str]]:
    low, high = number(margin.lower), number(margin.upper)
    width = low if low == high else f"between {low} and {high}"
    lines = [
        "Infinitely many hyperplanes separate the classes; the one with the maximum margin is unique, and "
        f"{plural(len(margin.support), 'row')} determine it."
    ]
    if margin.standardised is not None:
        wide = number(margin.standardised.lower)
        line = f"On standardised columns the margin is {wide} standard deviation{'' if wide == '1' else 's'}"
        lines.append(line + (": fragile, since rounding the data could close it." if margin.fragile else "."))
    return f"The maximum margin, {width} on each side; it is unique (proved)", lines


def _mistakes(found: MistakeFacts, table: TableFacts) -> tuple[str, list[str]]:
    low, high = count(found.lower), count(found.upper)
    rows = f"{high} of {count(table.rows)} rows ({share(found.upper / table.rows)})"
    if found.exact:
        answer = f"{plural(found.lower, 'mistake')} is the minimum (proved)"
        line = f"The best hyperplane misclassifies {rows}."
    else:
        answer = f"The minimum number of mistakes is between {low} and {high} (proved)"
        line = f"The best one found misclassifies {rows}."
    if found.upper == table.rows - table.most_common.rows:
        line += f" Always predicting '{table.most_common.label}' makes no more mistakes."
    lines = [f"{line} {_uniqueness(found)}"]
    if found.rows:
        rows = numbered(found.rows) if found.upper == 1 else f"these {high} rows ({numbered(found.rows)})"
        lines.append(f"Without {rows} the others can be separated.")
    return answer, lines


def _uniqueness(found: MistakeFacts) -> str:
    """Whether another set of as few rows could be the misclassified ones, and what was searched for it."""
    if not found.exact:
        return "Whether there is a better one is not known."
    if found.labelings > 1:
        sets = f"{count(found.labelings)} different sets of {plural(found.upper, 'mistake')}"
        return f"It is not unique: {sets} were found."
    if found.unique:
        return "Every hyperplane with one mistake misclassifies this row (proved); infinitely many do."
    if found.swapped:
        return "No set that differs from it in one row does as well (proved); whether another one does is not known."
    return "Whether it is unique is not known."


def _infinite(facts: BestFacts) -> list[str]:
    if facts.coefficients.exists is not False:
        return []
    if not facts.coefficients.infinite:
        return ["Logistic regression has no finite maximum-likelihood estimate here (proved)."]
    signs = {"+inf": "+∞", "-inf": "−∞"}
    infinite = facts.coefficients.infinite
    listed = ", ".join(f"'{own.name}' → {signs[own.sign]}" for own in infinite[:4])
    more = f" and {len(infinite) - 4} more" if len(infinite) > 4 else ""
    return [f"Logistic regression has no finite maximum-likelihood estimate: {listed}{more} (proved)."]


def least_squares(facts: LeastSquaresFacts) -> Answer:
    """Question 2 for a quantity."""
    line = (
        f"The rows determine all {plural(facts.rank, 'coefficient')}, the intercept included."
        if facts.unique
        else f"{named(facts.dependent)} are linearly dependent: of all minimisers the shortest is given."
    )
    answer = "Least squares; it is unique" if facts.unique else "Least squares; it is not unique"
    return Answer("What is the best hyperplane, and is it unique?", answer, "computed", [line])

"""Questions 4 and 5: how well new rows are predicted, and the assumptions of that; the sentences made of these facts.

Learners are compared by cross-validation, one is chosen, held-out rows judge it. Assumptions have a verdict each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from separatrix.auditing.facts import Excerpt, TableFacts
from separatrix.auditing.phrasing import (
    Answer,
    EstimateFacts,
    count,
    estimate,
    estimate_in_words,
    listing,
    metric_name,
    number,
    p_value,
    plural,
    share,
)
from separatrix.statistics.distributions import quantile

MARKS = {"fails": "✗", "look": "!", "unknown": "?", "holds": "✓"}
FEW_CLASSES = 6  # up to which the screen has all of them
HARDEST = 3
CHANCE = 1e-4  # that two estimates of one quantity are said to disagree although they do not
LOWER_IS_BETTER = ("rmse", "log_loss")
UNITS = {
    "accuracy": " correct",
    "balanced_accuracy": " balanced accuracy",
    "average_precision": " average precision",
}


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
    """First minus second on the same rows or folds, with Holm's adjusted p-value."""

    first: str
    second: str
    difference: EstimateFacts
    p: float
    holm: float


@dataclass(frozen=True, slots=True)
class AgainstConstant:
    """Whether a learner is shown to be better than the best constant prediction; ``holm`` is over all learners."""

    learner: str
    metric: str
    p: float
    holm: float
    better: bool


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A learner without an estimate; ``cut`` by the clock, or for the reason that its fit gave."""

    learner: str
    reason: str
    cut: bool


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

    ``baseline`` is the value of the metric for the best constant guess. ``by_metric`` and ``by_ranking`` compare every
    learner with it; ``chosen_by`` is the metric of the choice and of ``pairs``, one that ranks rows where no learner is
    shown to be better by the first. ``no_estimate`` says why nothing was compared.
    """

    metric: str
    metric_class: str | None
    baseline: float
    majority: float | None
    folds: int = 0
    rows_compared: int = 0
    rows_learned: int = 0
    learners: list[ComparedLearner] = field(default_factory=list)
    not_compared: list[NotCompared] = field(default_factory=list)
    pairs: list[PairedDifference] = field(default_factory=list)
    chosen: str | None = None
    chosen_by: str = ""
    within_one_error: list[str] = field(default_factory=list)
    split: SplitFacts | None = None
    test: TestFacts | None = None
    alarms: AlarmFacts | None = None
    class_scores: list[ClassScore] = field(default_factory=list)
    confused: list[ConfusedClasses] = field(default_factory=list)
    by_metric: list[AgainstConstant] = field(default_factory=list)
    by_ranking: list[AgainstConstant] = field(default_factory=list)
    no_estimate: str | None = None

    @property
    def greater_is_better(self) -> bool:
        """Of the metric of the choice."""
        return self.chosen_by not in LOWER_IS_BETTER

    @property
    def sampled(self) -> bool:
        """Whether learners saw a sample of the rows that they could have learned from."""
        return self.rows_learned < self.rows_compared

    @property
    def better(self) -> bool:
        """Whether a learner is shown to be better than the best constant prediction."""
        return any(test.better for test in self.by_metric)

    @property
    def ranks(self) -> bool:
        """Whether a learner is shown to rank rows."""
        return any(test.better for test in self.by_ranking)

    def disagree(self, level: float) -> bool:
        """Whether cross-validation and the held-out rows differ by more than chance does once in 10,000 tables.

        The variance of a difference is recovered from the ends of both intervals that face each other (Zou & Donner
        2008), so that intervals need not be symmetric.
        """
        e, other = self.estimate, None if self.test is None else self.test.estimates.get(self.metric)
        if e is None or other is None or e.value is None or other.value is None:
            return False
        lower, upper = (e, other) if e.value < other.value else (other, e)
        if lower.high is None or upper.low is None or lower.value is None or upper.value is None:
            return False
        spread = math.hypot(lower.high - lower.value, upper.value - upper.low) / quantile(level)
        return upper.value - lower.value > quantile(1 - CHANCE) * spread

    def learner(self, name: str) -> ComparedLearner:
        return next(learner for learner in self.learners if learner.name == name)

    @property
    def estimate(self) -> EstimateFacts | None:
        """The metric of the chosen learner."""
        return None if self.chosen is None else self.learner(self.chosen).estimates[self.metric]


def prediction(facts: PredictionFacts, table: TableFacts) -> Answer:
    """Question 4."""
    question = "How well does it predict new rows?"
    own = facts.estimate
    if facts.no_estimate is not None or own is None:
        return Answer(question, "Cannot be estimated", "open", [f"No estimate: {facts.no_estimate}."])
    lines = [_comparison(facts, table)]
    if facts.alarms is not None:
        lines.append(_alarms(facts.alarms))
    if facts.test is not None:
        lines.append(_test(facts.test, facts.metric) + (_disagreement(facts) if facts.disagree(table.level) else ""))
    if table.task == "multiclass":
        lines += _by_class(facts)
    if table.regression:
        answer = f"RMSE {estimate_in_words(own, table.level, False)}"
    else:
        as_share = facts.metric != "average_precision"
        of = f" for '{facts.metric_class}'" if facts.metric == "average_precision" else ""
        answer = estimate_in_words(own, table.level, as_share, UNITS[facts.metric] + of)
    if not facts.better and not facts.ranks:
        answer = f"Not shown to be better than guessing: {answer}"
    elif not facts.better and facts.metric != "average_precision":
        answer = f"It ranks rows, but is not shown to classify better than the most common class: {answer}"
    return Answer(question, answer, "estimated", lines)


def _comparison(facts: PredictionFacts, table: TableFacts) -> str:
    rule = table.split_rule
    how = {
        "groups": f", whole groups of '{rule.column}'",
        "copies": f", copies of a row in one fold ({count(rule.values)} different rows)",
        "time": f", in the order of '{rule.column}'",
    }
    sample = (
        f" of {count(facts.rows_compared)} rows, fitted on {count(facts.rows_learned)} of them" if facts.sampled else ""
    )
    text = f"{facts.folds}-fold cross-validation{how.get(rule.by or '', '')}{sample}, {facts.chosen}"
    others = [name for name in facts.within_one_error if name != facts.chosen]
    text += f"; within a standard error: {listing(others)}. " if others else ". "
    tested = "" if facts.better else f" {_tested(facts)}"
    if table.regression:
        return f"{text}Always predicting the mean: {number(facts.baseline)}.{tested}"
    common = f"Always predicting '{table.most_common.label}': {share(facts.majority)} correct"
    if facts.metric == "accuracy":
        return f"{text}{common}.{tested}"
    accuracy = facts.learner(facts.chosen or "").estimates["accuracy"]
    order = "a random order" if facts.metric == "average_precision" else "guessing"
    baseline = f"; {metric_name(facts.metric)} of {order}: {number(facts.baseline)}"
    return f"{text}{estimate(accuracy, True)} correct. {common}{baseline}.{tested}"


def _tested(facts: PredictionFacts) -> str:
    """How far from shown it is that the learners are better than a constant, and by what they rank rows."""
    p = p_value(min(test.holm for test in facts.by_metric))
    many = len(facts.by_metric)
    text = f"None of {many} learners is shown to be better (smallest {p}, Holm's correction)"
    text = text if many > 1 else f"It is not shown to be better ({p})"
    own = next((test for test in facts.by_ranking if test.learner == facts.chosen and test.better), None)
    if own is None:
        return f"{text}."
    value = estimate(facts.learner(own.learner).estimates[own.metric])
    than = "0.5" if own.metric == "roc_auc" else "that of the class shares"
    name = f"The {metric_name(own.metric)} of {own.learner}"
    return f"{text}. {name} is better than {than}: {value} ({p_value(own.holm)})."


def _alarms(own: AlarmFacts) -> str:
    if not own.found:
        return f"No threshold makes {share(own.precision)} of the alarms for '{own.label}' correct."
    rows = f"{count(own.found)} of {count(own.of)} such rows are found ({estimate(own.recall, True)})"
    return f"When {share(own.precision)} of the alarms for '{own.label}' are correct, {rows}."


def _by_class(facts: PredictionFacts) -> list[str]:
    """The share of each class that is found: of all of a few classes, of the hardest of many; and what is confused."""
    known = [own for own in facts.class_scores if own.recall.value is not None]
    if not known:
        return []
    ranked = sorted(known, key=lambda own: own.recall.value or 0.0)
    shown = known if len(known) <= FEW_CLASSES else ranked[:HARDEST]
    listed = ", ".join(f"'{own.label}' {share(own.recall.value)}" for own in shown)
    if len(known) > FEW_CLASSES:
        listed = f"from {listed} to '{ranked[-1].label}' {share(ranked[-1].recall.value)}"
    lines = [f"Recall by class: {listed}."]
    if facts.confused:
        pairs = (f"'{own.label}' predicted as '{own.as_label}' ({plural(own.rows, 'row')})" for own in facts.confused)
        lines[0] += f" Most often confused: {', '.join(pairs)}."
    return lines


def _test(test: TestFacts, metric: str) -> str:
    if metric == "rmse":
        figure = f"RMSE {estimate(test.estimates['rmse'])}"
    elif metric == "accuracy":
        figure = f"{estimate(test.estimates['accuracy'], True)} correct"
    else:
        figure = f"{metric_name(metric)} {estimate(test.estimates[metric])}"
    if not test.earlier_uses:
        return f"{count(test.rows)} held-out test rows, used once: {figure}."
    times = "once" if test.earlier_uses == 1 else f"{test.earlier_uses} times"
    which = "" if test.earlier_rows >= test.rows else f"{count(test.earlier_rows)} of them "
    return (
        f"{count(test.rows)} held-out test rows, {which}already used {times}, so this estimate may be optimistic: "
        f"{figure}."
    )


def _disagreement(facts: PredictionFacts) -> str:
    """What may be behind two estimates that chance does not explain."""
    text = " This differs from cross-validation by more than chance explains (p < 0.0001)"
    if facts.sampled:
        return f"{text}: learners were compared on a sample of the rows, and the one tested learned from more of them."
    return f"{text}: rows may be dependent, or may have changed along the table; rely on neither estimate alone."


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


def assumptions(facts: AssumptionFacts) -> Answer:
    """Question 5."""
    holds, fails, look, unknown = (facts.count(verdict) for verdict in ("holds", "fails", "look", "unknown"))
    parts = [
        f"{holds} hold{'s' * (holds == 1)}" if holds else "",
        f"{fails} fail{'s' * (fails == 1)}" if fails else "",
        f"{look} need{'s' * (look == 1)} a look" if look else "",
        f"{unknown} unknown" if unknown else "",
    ]
    listed = " · ".join(
        f"{mark} {', '.join(line.name for line in facts.lines if line.verdict == verdict)}"
        for verdict, mark in MARKS.items()
        if facts.count(verdict)
    )
    answer = ", ".join(part for part in parts if part)
    return Answer("Which assumptions does that need, and do they hold?", answer, "tested", [listed])

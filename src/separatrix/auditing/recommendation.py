"""The recommendation in words: which learner, why, and what not to trust.

The choice is made in ``learner_choice.py``; only learners that were compared are recommended.
"""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.auditing.candidate_learners import Candidate
from separatrix.auditing.efficiency_answer import NeighbourFacts
from separatrix.auditing.facts import TableFacts
from separatrix.auditing.hyperplane_answers import BestFacts, SeparationFacts
from separatrix.auditing.phrasing import EstimateFacts, count, estimate, listing, metric_name, named, share
from separatrix.auditing.prediction_answers import AssumptionFacts, ComparedLearner, PredictionFacts

COEFFICIENT_READERS = ("single coefficients", "intervals of least squares")
FEW_FOUND = 0.5  # share of a rare class below which labels are of little use
MAPS = {"poly:2": "squares and products", "splines": "splines of the columns"}
FAR_BETTER = 0.8  # of the error of the linear model, from which nearest neighbours are mentioned


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to use (None: nothing), why, and what not to trust."""

    use: str
    learner: str | None
    why: str
    cautions: list[str]


def recommend(
    table: TableFacts,
    prediction: PredictionFacts,
    chosen: Candidate | None,
    neighbour: NeighbourFacts | None,
    separation: SeparationFacts | None,
    best: BestFacts | None,
    assumptions: AssumptionFacts,
) -> Recommendation:
    """What to use, why, and what not to trust."""
    cautions = [
        *_about_comparison(prediction),
        *_about_neighbour(neighbour, prediction),
        *_about_table(table),
        *_about_hyperplane(separation, best),
        *_about_assumptions(assumptions),
    ]
    if chosen is None:
        use = "No learner is recommended: nothing can be estimated about new rows."
        return Recommendation(use, None, "", cautions)
    if not prediction.better and not prediction.ranks:
        use = f"No learner is recommended: none is shown to be better than {_guess(table)} ({_metric(prediction)})."
        return Recommendation(use, None, "", cautions)
    if not prediction.better and prediction.metric != "average_precision":
        use = f"Use {chosen.title} to rank rows: it is not shown to classify better than {_guess(table)}."
        return Recommendation(use, chosen.name, _why(prediction, chosen), cautions)
    return Recommendation(f"Use {chosen.title}.", chosen.name, _why(prediction, chosen), cautions)


def _metric(prediction: PredictionFacts) -> str:
    of = f" for '{prediction.metric_class}'" if prediction.metric == "average_precision" else ""
    return metric_name(prediction.metric) + of


def _metric_of_choice(prediction: PredictionFacts) -> str:
    return _metric(prediction) if prediction.chosen_by == prediction.metric else metric_name(prediction.chosen_by)


def _guess(table: TableFacts) -> str:
    return "always predicting the mean" if table.regression else "always predicting the most common class"


def _why(prediction: PredictionFacts, chosen: Candidate) -> str:
    """Why this one: its merit, and what is shown about its rivals, by which metric."""
    reason = f"{chosen.why[0].upper()}{chosen.why[1:]}"
    rivals = [learner.name for learner in prediction.learners if not learner.chosen]
    if not rivals:
        return f"{reason}. It is the safe choice, not the winner of a comparison: no other learner was compared."
    text = f"{reason}{_gain(prediction, chosen)}"
    against = {name: _shown(prediction, chosen.name, name) for name in rivals}
    close = [name for name in prediction.within_one_error if name != chosen.name]
    parts = {
        "better": [name for name in rivals if against[name] < 0],
        "within one standard error of the best": [name for name in close if not against[name]],
        "not shown to be worse": [name for name in rivals if not against[name] and name not in close],
        "worse": [name for name in rivals if against[name] > 0],
    }
    said = [f"{what}: {listing(names)}" for what, names in parts.items() if names]
    return f"{text}. Other learners by {_metric_of_choice(prediction)}: {'; '.join(said)}."


def _shown(prediction: PredictionFacts, chosen: str, rival: str) -> int:
    """1 where the interval of the difference shows the chosen learner to be better, -1 its rival, 0 neither."""
    pair = next((own for own in prediction.pairs if {own.first, own.second} == {chosen, rival}), None)
    gap = EstimateFacts(None, None, None) if pair is None else pair.difference
    if pair is None or not gap.value or gap.low is None or gap.high is None or gap.low <= 0 <= gap.high:
        return 0
    return 1 if (gap.value > 0) == ((pair.first == chosen) == prediction.greater_is_better) else -1


def _gain(prediction: PredictionFacts, chosen: Candidate) -> str:
    """What a feature map gains over the best learner that is linear in the columns, on the same folds."""
    linear = next((own.name for own in prediction.learners if " on " not in own.name), None)
    if chosen.linear or linear is None:
        return ""
    pair = next((own for own in prediction.pairs if {own.first, own.second} == {chosen.name, linear}), None)
    if pair is None:
        return ""
    gain, greater = pair.difference, prediction.greater_is_better
    if gain.value is None or gain.low is None or gain.high is None:
        return ""
    sign = 1.0 if (pair.first == chosen.name) == greater else -1.0
    as_share = prediction.chosen_by in ("accuracy", "balanced_accuracy")
    value, low, high = (sign * (100 if as_share else 1) * v for v in (gain.value, gain.low, gain.high))
    text = estimate(EstimateFacts(value, min(low, high), max(low, high)))
    unit = " percentage points" if as_share else ""
    return f" ({text}{unit} {'more' if greater else 'less'} than {linear} on the same folds)"


def _about_comparison(prediction: PredictionFacts) -> list[str]:
    out = []
    cut = [own.learner for own in prediction.not_compared if own.cut]
    if cut and prediction.chosen is not None:
        out.append(f"Cut by the clock, and not compared: {listing(cut)}. Raise --budget to compare them.")
    out += [f"{own.learner} was not compared: {own.reason}." for own in prediction.not_compared if not own.cut]
    own = next((learner for learner in prediction.learners if learner.chosen), None)
    if own is not None and prediction.metric != "accuracy" and "accuracy" in own.estimates:
        above = [learner for learner in prediction.learners if _clearly_above(learner, own)]
        if above:
            name = above[0].name
            out.append(
                f"{name[0].upper()}{name[1:]} has the higher accuracy ({estimate(above[0].estimates['accuracy'], True)}"
                f"); the choice is made by {_metric(prediction)}, since accuracy says little about imbalanced classes."
            )
    if own is not None and (prediction.better or prediction.ranks):
        out += _about_ranking(prediction, own)
    if prediction.test is not None and prediction.test.earlier_uses:
        times = "once" if prediction.test.earlier_uses == 1 else f"{prediction.test.earlier_uses} times"
        out.append(f"The held-out rows were already used {times}: their estimate may be optimistic.")
    return out


def _about_ranking(prediction: PredictionFacts, own: ComparedLearner) -> list[str]:
    """A learner of two classes that ranks rows well, though its labels are hardly better than a constant."""
    out = []
    auc = own.estimates.get("roc_auc")
    if auc is not None and prediction.metric == "average_precision" and not prediction.better:
        out.append(
            "Its average precision is not shown to be above that of a random order; it ranks rows better than chance "
            f"({metric_name('roc_auc')} {estimate(auc)})."
        )
    found = own.estimates["recall"].value if prediction.metric == "average_precision" else None
    if found is not None and found < FEW_FOUND:
        out.append(
            f"Use its scores, not its labels: those find {share(found)} of the rows of '{prediction.metric_class}'. "
            "Sort rows by the score and look at as many as you can check, or choose a threshold by what mistakes cost."
        )
    return out


def _clearly_above(learner: ComparedLearner, own: ComparedLearner) -> bool:
    low, high = learner.estimates["accuracy"].low, own.estimates["accuracy"].high
    return low is not None and high is not None and low > high


def _about_neighbour(neighbour: NeighbourFacts | None, prediction: PredictionFacts) -> list[str]:
    """Nearest neighbours that are far better than every learner that was compared."""
    if neighbour is None or neighbour.estimate is None or neighbour.linear_estimate is None:
        return []
    own, linear = neighbour.estimate, neighbour.linear_estimate
    if own.value is None or own.high is None or own.low is None:
        return []
    if linear.value is None or linear.high is None or linear.low is None:
        return []
    as_share = neighbour.metric != "rmse"
    if as_share:
        far = own.low > linear.high and 1 - own.value < FAR_BETTER * (1 - linear.value)
    else:
        far = own.high < linear.low and own.value < FAR_BETTER * linear.value
    if not far:
        return []
    figures = f"{estimate(own, as_share)} against {estimate(linear, as_share)}"
    compared = {name for learner in prediction.learners for name in MAPS if learner.name.endswith(f" on {name}")}
    enough = f", nor are {listing([MAPS[name] for name in MAPS if name in compared])} enough" if compared else ""
    missing = [name for name in MAPS if name not in compared]
    advice = "Use nearest neighbours, trees or another method that is not linear"
    if missing:
        flags = " or ".join(f"--map {name}" for name in missing)
        advice += f", or try {flags}, which {'was' if len(missing) == 1 else 'were'} not compared"
    return [
        f"The nearest neighbour is far better than every compared learner ({metric_name(neighbour.metric)} {figures}): "
        f"the relation is not linear{enough}. {advice}."
    ]


def _about_table(table: TableFacts) -> list[str]:
    out = []
    if table.set_aside:
        out.append(f"{named(table.set_aside)} gives the target away and was left out of every answer.")
    threshold = [leak.column for leak in table.leaks if leak.kind == "threshold"]
    if threshold:
        out.append(f"{named(threshold)} alone separates the classes: make sure it is known before the target is.")
    few = [c.label for c in table.classes if c.rows < 5]
    if few:
        out.append(f"Draw no conclusions about {named(few)}: fewer than five rows.")
    return out


def _about_hyperplane(separation: SeparationFacts | None, best: BestFacts | None) -> list[str]:
    out = []
    if separation is not None and separation.separable:
        out.append("Do not report odds ratios of an unpenalised fit: separable classes make them infinite.")
    elif best is not None and (slopes := [own.name for own in best.coefficients.infinite if own.name != "intercept"]):
        ratios, are = ("ratio", "its estimate is") if len(slopes) == 1 else ("ratios", "their estimates are")
        out.append(f"Do not report the odds {ratios} of {named(slopes)} as a number: {are} infinite.")
    if best is not None and best.margin is not None and best.margin.fragile:
        out.append("Separability is fragile here: the gap is so small that rounding the data could close it.")
    if separation is not None and separation.contradictions.groups:
        rows = count(separation.contradictions.rows)
        out.append(f"No model can classify every row correctly: {rows} rows equal a row of another class.")
    return out


def _about_assumptions(assumptions: AssumptionFacts) -> list[str]:
    return [
        f"{line.advice} ({line.evidence}.)"
        for line in assumptions.lines
        if line.verdict == "fails" and line.needed_by in COEFFICIENT_READERS
    ]

"""Question 3: what finding a hyperplane takes, beside the perceptron and nearest neighbours; and its sentences."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.auditing.hyperplane_answers import BestFacts, MistakeFacts, ProvedBracket
from separatrix.auditing.phrasing import Answer, EstimateFacts, bound, count, plural, seconds


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
    """Question 3: seconds and training mistakes of each learner on all rows, the perceptron's run, nearest neighbours.

    ``linear`` names the learners that are linear in the columns of the table.
    """

    seconds: dict[str, float]
    training_mistakes: dict[str, int]
    linear: list[str]
    perceptron: PerceptronRun | None
    perceptron_standardised: PerceptronRun | None
    neighbour: NeighbourFacts | None


CLOSE = 0.25  # of the fewest mistakes found: how many more a learner makes that is called good


def algorithm(facts: AlgorithmFacts, hyperplane: BestFacts | None, chosen: str | None) -> Answer:
    """Question 3: for the best hyperplane itself, for a good one, and for the perceptron."""
    lines = []
    answer, badge = "Not measured within the time budget", "open"
    if hyperplane is not None and hyperplane.mistakes is not None:
        found = hyperplane.mistakes
        state = "found and proved" if found.exact else "bracketed"
        answer = f"NP-hard in general; here {state} in {seconds(found.seconds)}"
        badge = "proved" if found.exact else "measured"
        lines += _good_one(facts, found, chosen)
    elif hyperplane is not None and hyperplane.margin is not None:
        took = seconds(hyperplane.margin.seconds)
        answer, badge = f"Yes: the maximum margin is a convex problem; it took {took}", "measured"
        lines += _fit_time(facts, chosen)
    elif chosen is not None and chosen in facts.seconds:
        answer, badge = f"Yes: {chosen} takes {seconds(facts.seconds[chosen])}", "measured"
    lines += _perceptron(facts, hyperplane)
    if facts.neighbour is not None:
        kept = facts.neighbour
        mapped = chosen is not None and chosen not in facts.linear
        model = f"{chosen[0].upper()}{chosen[1:]}" if chosen is not None and mapped else "A linear model"
        lines.append(
            f"{model} stores {plural(kept.linear_numbers, 'number')}; a nearest-neighbour rule stores "
            f"{count(kept.numbers_kept)} and compares every new row with all of them."
        )
    return Answer("Can it be found efficiently?", answer, badge, lines)


def _good_one(facts: AlgorithmFacts, found: MistakeFacts, chosen: str | None) -> list[str]:
    """How close a quick learner comes, and in what time: the chosen one, or the first with fewest mistakes.

    Times decide nothing here: the same table has the same sentences on every machine.
    """
    linear = {name: facts.training_mistakes[name] for name in facts.linear if name in facts.training_mistakes}
    if not linear:
        return []
    name = chosen if chosen in linear else min(linear, key=linear.__getitem__)
    made, more = plural(linear[name], "mistake"), linear[name] - found.upper
    close = f"{count(more)} more than the best found" if more > 0 else "as many as the best found"
    good = more <= max(1, CLOSE * found.upper)
    opening = (
        f"A good hyperplane is found quickly: {name}"
        if good
        else f"{name[0].upper()}{name[1:]} is fast but not close to the minimum: it"
    )
    return [f"{opening} makes {made}, {close}, in {seconds(facts.seconds[name])}."]


def _fit_time(facts: AlgorithmFacts, chosen: str | None) -> list[str]:
    if chosen is None or chosen not in facts.seconds:
        return []
    return [f"{chosen[0].upper()}{chosen[1:]} was fitted to all rows in {seconds(facts.seconds[chosen])}."]


def _perceptron(facts: AlgorithmFacts, hyperplane: BestFacts | None) -> list[str]:
    run, scaled = facts.perceptron, facts.perceptron_standardised
    if run is None:
        return []
    made = f"{plural(run.mistakes, 'mistake')} in {plural(run.passes, 'pass', 'passes')}"
    if run.bound is None:
        if hyperplane is not None and hyperplane.mistakes is not None:
            return [f"The perceptron does not converge here (stopped after {made})."]
        return [f"The perceptron {'converged' if run.converged else 'was stopped'} after {made}."]
    if run.converged:
        first = f"The perceptron converged after {made}; it makes at most {bound(run.bound.mistakes)} (proved)."
    else:
        first = f"The perceptron makes at most {bound(run.bound.mistakes)} mistakes (proved); stopped after {made}."
    if scaled is None or scaled.bound is None:
        return [first]
    ratio = run.bound.mistakes / max(scaled.bound.mistakes, 1.0)
    change = f"{'lowers' if ratio >= 1 else 'raises'} the bound to {bound(scaled.bound.mistakes)}"
    state = "converged after" if scaled.converged else "was stopped after"
    return [
        first,
        f"Standardising the columns {change}; that run {state} {plural(scaled.mistakes, 'mistake')}.",
    ]

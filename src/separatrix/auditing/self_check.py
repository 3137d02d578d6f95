"""Numbers of an audit that contradict each other: each pair that must agree is compared before anything is printed.

Pairs that hold exactly may never contradict. Two estimates of one quantity may differ by chance; where they differ by
more than chance does once in 10,000 audits, the answer says so (``disagree``).
"""

from __future__ import annotations

from collections.abc import Iterator

from separatrix.auditing.audit_facts import AuditFacts
from separatrix.auditing.efficiency_answer import PerceptronRun
from separatrix.auditing.hyperplane_answers import BestFacts, MistakeFacts, SeparationFacts
from separatrix.auditing.phrasing import EstimateFacts, count
from separatrix.auditing.prediction_answers import PredictionFacts
from separatrix.errors import BugError
from separatrix.proofs.certificate.certificate import Certificate

SHOWN = 3
VERDICTS = ("complete", "quasi", "overlap")
ROUNDED = 1e-9  # relative: what rounding may change between two ways to one number


def need_no_contradiction(facts: AuditFacts, certificate: Certificate | None) -> None:
    """Refuse to print an audit two numbers of which cannot both be true."""
    found = [*contradictions(facts), *([] if certificate is None else _of_certificate(facts, certificate))]
    if found:
        table, version = facts.table, facts.run.version
        raise BugError(
            f"this is a bug of separatrix {version}: {'; '.join(found[:SHOWN])}. These contradict each other, so the "
            f"audit is not printed. Please report this line and the table ({table.source}; seed {table.seed}, budget "
            f"{table.budget:g})."
        )


def contradictions(facts: AuditFacts) -> list[str]:
    """Each pair of facts that cannot both be true, in a sentence; an audit has none."""
    return [
        *_of_table(facts),
        *([] if facts.separation is None else _of_separation(facts, facts.separation)),
        *([] if facts.best is None else _of_best(facts, facts.best)),
        *_of_learners(facts),
        *_of_perceptron(facts),
        *_of_prediction(facts, facts.prediction),
        *_of_advice(facts),
        *_of_assumptions(facts),
        *_of_pictures(facts),
    ]


def _of_table(facts: AuditFacts) -> Iterator[str]:
    table = facts.table
    if not table.regression and sum(c.rows for c in table.classes) != table.rows:
        yield f"the classes do not add up to {count(table.rows)} rows"
    if (facts.separation is None) != table.regression or (facts.best is None) != table.regression:
        yield f"the answers are not about a task of the type {table.task}"


def _of_separation(facts: AuditFacts, found: SeparationFacts) -> Iterator[str]:
    rows = facts.table.rows
    apart = found.verdict == "complete"
    if apart == bool(found.witness) and found.verdict != "undecided" and facts.table.task == "binary":
        yield f"the verdict is '{found.verdict}' and {len(found.witness)} rows rule a hyperplane out"
    if any(not 0 <= i < rows for i in found.witness):
        yield f"a row that rules a hyperplane out is not one of the {count(rows)} rows"
    if apart and found.contradictions.groups:
        yield "the classes can be separated, although equal rows are in different classes"
    both = (found.strict_rows or 0) + (found.tied_rows or 0)
    if found.verdict == "quasi" and facts.table.task == "binary" and (both != rows or not found.strict_rows):
        strict = count(found.strict_rows or 0)
        yield f"{strict} rows are strictly on their side and {count(found.tied_rows or 0)} tied, of {count(rows)}"
    each = {part.verdict for part in found.classes}
    if each == {"complete"} and found.verdict != "complete":
        yield f"each class can be separated from the rest, and the verdict is '{found.verdict}'"
    exists = None if facts.best is None else facts.best.coefficients.exists
    if exists is not None and exists != (found.verdict == "overlap"):
        yield f"the verdict is '{found.verdict}', and a finite maximum-likelihood estimate {_exists(exists)}"


def _exists(so: bool) -> str:
    return "exists" if so else "does not exist"


def _of_best(facts: AuditFacts, best: BestFacts) -> Iterator[str]:
    apart = facts.separation is not None and facts.separation.separable
    if best.margin is not None and (not apart or best.margin.lower > best.margin.upper * (1 + ROUNDED)):
        yield f"the maximum margin lies between {best.margin.lower!r} and {best.margin.upper!r}, separable: {apart}"
    if best.mistakes is not None:
        yield from _of_mistakes(facts, best.mistakes, apart)


def _of_mistakes(facts: AuditFacts, found: MistakeFacts, apart: bool) -> Iterator[str]:
    table, separation = facts.table, facts.separation
    if not 0 < found.lower <= found.upper or apart:
        yield f"between {found.lower} and {found.upper} mistakes are the minimum, separable: {apart}"
    rest = table.rows - table.most_common.rows
    if found.upper > rest:
        yield f"the best hyperplane found makes {found.upper} mistakes, and a constant makes {rest}"
    if len(found.rows) > found.upper or len(set(found.rows)) < len(found.rows):
        yield f"{len(found.rows)} rows are listed as the {found.upper} mistakes of the best hyperplane found"
    if separation is None:
        return
    if separation.verdict == "quasi" and found.upper > (separation.tied_rows or 0):
        yield f"{found.upper} mistakes are the fewest found, and a hyperplane has {separation.tied_rows} rows on it"
    if found.upper < separation.contradictions.groups:
        yield (
            f"{found.upper} mistakes are possible, and {separation.contradictions.groups} groups of equal rows need "
            "one each"
        )
    if found.unique and not (found.exact and found.labelings == 1):
        yield f"the set of mistakes is unique, and {found.labelings} sets were found"


def _of_learners(facts: AuditFacts) -> Iterator[str]:
    """No linear learner makes fewer mistakes than the best hyperplane found, or than the proved minimum."""
    mistakes = None if facts.best is None else facts.best.mistakes
    for name in facts.algorithm.linear:
        made = facts.algorithm.training_mistakes.get(name)
        if made is None or mistakes is None:
            continue
        if made < mistakes.lower:
            yield f"{name} misclassifies {made} rows, and at least {mistakes.lower} is proved"
        elif made < mistakes.upper:
            yield f"{name} misclassifies {made} rows, fewer than the {mistakes.upper} of the best hyperplane found"


def _of_perceptron(facts: AuditFacts) -> Iterator[str]:
    apart = facts.separation is not None and facts.separation.separable
    for run in (facts.algorithm.perceptron, facts.algorithm.perceptron_standardised):
        if run is not None:
            yield from _of_run(run, apart)


def _of_run(run: PerceptronRun, apart: bool) -> Iterator[str]:
    if run.converged and not apart:
        yield "the perceptron converged on classes that cannot be separated"
    if run.bound is not None and run.mistakes > run.bound.mistakes:
        yield f"the perceptron made {run.mistakes} mistakes, and at most {run.bound.mistakes:g} is proved"


def _of_prediction(facts: AuditFacts, found: PredictionFacts) -> Iterator[str]:
    names = [learner.name for learner in found.learners]
    if found.chosen is not None and (found.chosen not in names or found.chosen not in found.within_one_error):
        yield f"{found.chosen} was chosen, and was not compared or is worse than another one"
    if twice := set(names) & {own.learner for own in found.not_compared}:
        yield f"{min(twice)} was compared and was not compared"
    for learner in found.learners:
        for metric, e in learner.estimates.items():
            yield from _of_estimate(e, f"the {metric} of {learner.name}")
    split = found.split
    if split is not None:
        parts = split.development + split.held_out + split.left_out
        if parts != facts.table.rows or found.rows_compared > split.development:
            yield f"{count(parts)} rows were learned from, held out or left out, of {count(facts.table.rows)}"
    if found.test is not None:
        if split is None or found.test.rows != split.held_out or found.test.earlier_rows > found.test.rows:
            yield f"{found.test.rows} held-out rows were predicted, and others were held out"
        for metric, e in found.test.estimates.items():
            yield from _of_estimate(e, f"the {metric} on held-out rows")
        scored = sum(own.rows for own in found.class_scores)
        if found.class_scores and scored != found.test.rows:
            yield f"the classes of {scored} rows were predicted, of {found.test.rows} held-out rows"


def _of_estimate(e: EstimateFacts, what: str) -> Iterator[str]:
    if e.value is None or e.low is None or e.high is None:
        return
    slack = ROUNDED * max(abs(e.low), abs(e.high), 1.0)
    if not e.low - slack <= e.value <= e.high + slack:
        yield f"{what} is {e.value!r}, outside its interval from {e.low!r} to {e.high!r}"


def _of_advice(facts: AuditFacts) -> Iterator[str]:
    told, found = facts.recommendation, facts.prediction
    if told.learner is not None and told.learner != found.chosen:
        yield f"{told.learner} is recommended, and {found.chosen} was chosen"
    neighbour = facts.algorithm.neighbour
    if neighbour is None or neighbour.linear_estimate is None or found.chosen is None:
        return
    if neighbour.linear_estimate != found.learner(found.chosen).estimates.get(neighbour.metric):
        yield f"the {neighbour.metric} of {found.chosen} beside the nearest neighbour is another than in question 4"


def _of_assumptions(facts: AuditFacts) -> Iterator[str]:
    lines = {line.name: line for line in facts.assumptions.lines}
    if len(lines) < len(facts.assumptions.lines):
        yield "an assumption has two verdicts"
    if facts.separation is not None and "separable classes" in lines:
        verdict = {"complete": "holds", "undecided": "unknown"}.get(facts.separation.verdict, "fails")
        if lines["separable classes"].verdict != verdict:
            yield f"'separable classes' {lines['separable classes'].verdict}, and the verdict is otherwise"
    unique = facts.least_squares is None or facts.least_squares.unique
    if not unique and "full rank" in lines and lines["full rank"].verdict == "holds":
        yield "columns are linearly dependent, and no column is a linear combination of the others"


def _of_pictures(facts: AuditFacts) -> Iterator[str]:
    drawn, found = facts.pictures, facts.prediction
    if drawn.scores is not None and found.test is not None:
        judged = sum(map(sum, drawn.scores.confusion))
        right = sum(row[k] for k, row in enumerate(drawn.scores.confusion))
        accuracy = found.test.estimates["accuracy"].value
        if judged != found.test.rows or (accuracy is not None and abs(right - accuracy * judged) > 0.5):
            yield f"{right} of {judged} rows lie on the diagonal of the confusion matrix, beside {accuracy!r} correct"
        for band, metric in ((drawn.scores.roc, "roc_auc"), (drawn.scores.precision_recall, "average_precision")):
            if band is not None and metric in found.test.estimates and band.estimate != found.test.estimates[metric]:
                yield f"the {metric} under its curve is another than on held-out rows"
    curve = drawn.learning_curve
    if curve is not None and found.chosen is not None and curve.learner != found.chosen:
        yield f"the learning curve is that of {curve.learner}, and {found.chosen} was chosen"


def _of_certificate(facts: AuditFacts, certificate: Certificate) -> Iterator[str]:
    """What is certified is what is printed."""
    verdict = None if facts.separation is None else facts.separation.verdict
    mistakes = None if facts.best is None else facts.best.mistakes
    whole = facts.certificate is not None and facts.certificate.rows is None
    for part in certificate.content.get("certificates", [certificate.content]):
        about_verdict = whole and facts.table.task == "binary" and part["claim"] in VERDICTS
        if about_verdict and part["claim"] != verdict:
            yield f"'{part['claim']}' is certified, and the verdict is '{verdict}'"
        if part["claim"] == "min-errors" and mistakes is not None:
            lower, upper = int(part["lower"]), int(part["upper"])
            if lower < mistakes.lower or (whole and upper != mistakes.upper):
                yield (
                    f"between {lower} and {upper} mistakes are certified, and between {mistakes.lower} and "
                    f"{mistakes.upper} are said to be proved"
                )

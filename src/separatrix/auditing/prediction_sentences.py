"""Question 4 in words: how well does it predict new rows?"""

from __future__ import annotations

from separatrix.auditing.conclusion_facts import Answer
from separatrix.auditing.phrasing import count, estimate, estimate_in_words, listing, metric_name, number, plural, share
from separatrix.auditing.prediction_facts import PredictionFacts
from separatrix.auditing.table_facts import TableFacts

FEW_CLASSES = 6  # up to which the screen has all of them
HARDEST = 3
UNITS = {
    "accuracy": " correct",
    "balanced_accuracy": " balanced accuracy",
    "average_precision": " average precision",
}


def prediction(facts: PredictionFacts, table: TableFacts) -> Answer:
    """Question 4."""
    question = "How well does it predict new rows?"
    own = facts.estimate
    if facts.no_estimate is not None or own is None:
        return Answer(question, "Cannot be estimated", "open", [f"No estimate: {facts.no_estimate}."])
    lines = [_comparison(facts, table)]
    if facts.alarms is not None:
        lines.append(_alarms(facts))
    if facts.test is not None:
        lines.append(_test(facts, table))
    if table.task == "multiclass":
        lines += _by_class(facts)
    if table.regression:
        answer = f"RMSE {estimate_in_words(own, table.level, False)}"
    else:
        as_share = facts.metric != "average_precision"
        of = f" for '{facts.metric_class}'" if facts.metric == "average_precision" else ""
        answer = estimate_in_words(own, table.level, as_share, UNITS[facts.metric] + of)
    if facts.better_than_guessing is False:
        answer = f"{'No' if facts.not_above_guessing else 'Not shown to be'} better than guessing: {answer}"
    return Answer(question, answer, "estimated", lines)


def _comparison(facts: PredictionFacts, table: TableFacts) -> str:
    rule = table.split_rule
    how = {"groups": f", whole groups of '{rule.column}'", "time": f", in the order of '{rule.column}'"}
    sample = f" on a sample of {count(facts.rows_compared)} rows" if facts.sampled else ""
    text = f"{facts.folds}-fold cross-validation{how.get(rule.by or '', '')}{sample}, {facts.chosen}"
    others = [name for name in facts.within_one_error if name != facts.chosen]
    text += f"; within a standard error: {listing(others)}. " if others else ". "
    if table.regression:
        return text + f"Always predicting the mean: {number(facts.baseline)}."
    common = f"Always predicting '{table.most_common.label}': {share(facts.majority)} correct"
    if facts.metric == "accuracy":
        return f"{text}{common}."
    accuracy = facts.learner(facts.chosen or "").estimates["accuracy"]
    baseline = f"; {metric_name(facts.metric)} of guessing: {number(facts.baseline)}"
    return f"{text}{estimate(accuracy, True)} correct. {common}{baseline}."


def _alarms(facts: PredictionFacts) -> str:
    assert facts.alarms is not None  # the caller has looked
    own = facts.alarms
    if not own.found:
        return f"No threshold makes {share(own.precision)} of the alarms for '{own.label}' correct."
    return (
        f"When {share(own.precision)} of the alarms for '{own.label}' are correct, {own.found} of {own.of} such rows "
        f"are found ({estimate(own.recall, True)})."
    )


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
    lines = [f"Found of each class: {listed}."]
    if facts.confused:
        pairs = (f"'{own.label}' predicted as '{own.as_label}' ({plural(own.rows, 'row')})" for own in facts.confused)
        lines[0] += f" Most often confused: {', '.join(pairs)}."
    return lines


def _test(facts: PredictionFacts, table: TableFacts) -> str:
    assert facts.test is not None  # the caller has looked
    test, metric = facts.test, facts.metric
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

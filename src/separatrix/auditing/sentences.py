"""Facts in words: for each question its answer in a few words, and the sentences below it."""

from __future__ import annotations

from separatrix.auditing.facts import (
    AlgorithmFacts,
    Answer,
    AssumptionFacts,
    BestFacts,
    Contradictions,
    ExactFitFacts,
    LeastSquaresFacts,
    MarginFacts,
    MistakeFacts,
    PerceptronRun,
    PredictionFacts,
    SeparationFacts,
    TableFacts,
)
from separatrix.auditing.phrasing import (
    bound,
    count,
    estimate,
    estimate_in_words,
    listing,
    metric_name,
    named,
    nearly_one,
    number,
    plural,
    seconds,
    share,
    some,
)

MARKS = {"fails": "✗", "look": "!", "unknown": "?", "holds": "✓"}
UNITS = {
    "accuracy": " correct",
    "balanced_accuracy": " balanced accuracy",
    "average_precision": " average precision",
}


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
            f"{rows} {verb} enough to rule it out (rows {some(facts.witness)}): no hyperplane has all of them strictly "
            "on their correct sides."
        )
    if facts.verdict == "quasi":
        return (
            f"{rows} rule it out (rows {some(facts.witness)}), but some hyperplane has no row on the wrong side: "
            f"{count(facts.strict_rows or 0)} of {count(table.rows)} rows lie strictly on their correct sides, the "
            "others on the hyperplane (quasi-complete separation)."
        )
    return f"Neither could be proved; tried {'; '.join(facts.tried)}."


def _many_classes(facts: SeparationFacts, table: TableFacts) -> list[str]:
    apart = sum(part.verdict == "complete" for part in facts.classes)
    one = f"One against the rest: {apart} of {len(facts.classes)} classes can be separated by one hyperplane (proved)."
    if not facts.jointly:
        return [one]
    k, tied = len(table.classes), facts.tied_rows or 0
    jointly = {
        "complete": f"One linear score for each of the {k} classes, largest wins, classifies every row correctly.",
        "quasi": (
            f"No linear scores for the {k} classes classify every row correctly; at best {count(tied)} of "
            f"{count(tied + (facts.strict_rows or 0))} comparisons of a row's class with another are tied."
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
        line = f"Every row can be fitted, since {reason}: that is no evidence of a linear law."
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
        answer, lines = "Not known", [f"{why[0].upper()}{why[1:]}; whether it is unique is not known either."]
    if facts.class_margins:
        widest = sorted(facts.class_margins, key=lambda own: -own.lower)
        listed = ", ".join(f"'{own.label}' {number(own.lower)}" for own in widest[:4])
        more = f" and {len(widest) - 4} more" if len(widest) > 4 else ""
        lines.append(f"Margins of the classes that can be separated from the rest (proved): {listed}{more}.")
    return Answer(question, answer, "open", lines)


def _margin(margin: MarginFacts) -> tuple[str, list[str]]:
    low, high = number(margin.lower), number(margin.upper)
    reach = f"{low} from the nearest row (proved to be the largest)" if low == high else f"between {low} and {high}"
    lines = [
        "Infinitely many hyperplanes separate the classes; the one with the maximum margin is unique. "
        f"{plural(len(margin.support), 'row')} determine it: {reach}."
    ]
    if margin.standardised is not None:
        line = f"On standardised columns the margin is {number(margin.standardised.lower)} standard deviations"
        lines.append(line + (": fragile, since rounding the data could close it." if margin.fragile else "."))
    return f"The maximum margin, {low} on each side; it is unique (proved)", lines


def _mistakes(found: MistakeFacts, table: TableFacts) -> tuple[str, list[str]]:
    low, high = count(found.lower), count(found.upper)
    rows = f"{high} of {count(table.rows)} rows ({share(found.upper / table.rows)})"
    if found.exact:
        answer = f"{plural(found.lower, 'mistake')} is the minimum (proved)"
        line = f"The best hyperplane misclassifies {rows}."
    else:
        answer = f"The minimum number of mistakes is between {low} and {high} (proved)"
        line = f"The best one found misclassifies {rows}."
    lines = [f"{line} {_uniqueness(found)}"]
    if found.rows:
        verb = "Without row" if len(found.rows) == 1 else "Without rows"
        lines.append(f"{verb} {some(found.rows)} the others can be separated.")
    return answer, lines


def _uniqueness(found: MistakeFacts) -> str:
    """Whether another set of as few rows could be the misclassified ones."""
    if found.parts > 1:
        return "Whether it is unique is not known."
    if found.labelings > 1:
        return f"It is not unique: {found.labelings} different sets of {count(found.upper)} mistakes were found."
    return "No other set of as few mistakes was found; whether there is one is not known."


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


def algorithm(facts: AlgorithmFacts, hyperplane: BestFacts | None, chosen: str | None) -> Answer:
    """Question 3: for the best hyperplane itself, for a good one, and for the perceptron."""
    lines = []
    answer, badge = "Yes", "measured"
    if hyperplane is not None and hyperplane.mistakes is not None:
        found = hyperplane.mistakes
        state = "found and proved" if found.exact else "bracketed"
        answer = f"NP-hard in general; here {state} in {seconds(found.seconds)}"
        badge = "proved" if found.exact else "measured"
        lines += _good_one(facts, found, chosen)
    elif hyperplane is not None and hyperplane.margin is not None:
        answer, badge = "Yes: the maximum margin is a convex problem", "proved"
        lines += _fit_time(facts, chosen)
    elif chosen is not None and chosen in facts.seconds:
        answer = f"Yes: {chosen} takes {seconds(facts.seconds[chosen])}"
    lines += _perceptron(facts, hyperplane)
    if facts.neighbour is not None:
        kept = facts.neighbour
        lines.append(
            f"A linear model keeps {plural(kept.linear_numbers, 'number')}; a nearest-neighbour rule keeps "
            f"{count(kept.numbers_kept)} and compares every new row with all of them."
        )
    return Answer("Can it be found efficiently?", answer, badge, lines)


def _good_one(facts: AlgorithmFacts, found: MistakeFacts, chosen: str | None) -> list[str]:
    """How close a quick linear learner comes, and in what time: the chosen one, or the one with fewest mistakes."""
    linear = {name: facts.training_mistakes[name] for name in facts.linear if name in facts.training_mistakes}
    if not linear:
        return []
    name = chosen if chosen in linear else min(linear, key=linear.__getitem__)
    made, more = plural(linear[name], "mistake"), linear[name] - found.upper
    close = f"{count(more)} more than the best found" if more >= 0 else "fewer than the best found"
    return [f"A good one is quick: {name} makes {made}, {close}, after {seconds(facts.seconds[name])}."]


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
    return [first] if scaled is None or scaled.bound is None else [first, _standardised(run, scaled)]


def _standardised(run: PerceptronRun, scaled: PerceptronRun) -> str:
    assert run.bound is not None  # both have bounds, or neither has
    assert scaled.bound is not None
    ratio = run.bound.mistakes / max(scaled.bound.mistakes, 1.0)
    change = f"{'lowers' if ratio >= 1 else 'raises'} the bound to {bound(scaled.bound.mistakes)}"
    state = "converged after" if scaled.converged else "was stopped after"
    return f"Standardising the columns {change}; that run {state} {plural(scaled.mistakes, 'mistake')}."


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
    if table.regression:
        answer = f"Off by {estimate_in_words(own, table.level, False)} (RMSE)"
    else:
        as_share = facts.metric != "average_precision"
        of = f" for '{facts.metric_class}'" if facts.metric == "average_precision" else ""
        answer = estimate_in_words(own, table.level, as_share, UNITS[facts.metric] + of)
    if facts.better_than_guessing is False:
        answer = f"No better than guessing: {answer[0].lower()}{answer[1:]}"
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

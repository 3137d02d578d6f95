"""Question 3: is there an efficient algorithm? The perceptron against its bound, learners against the clock."""

from __future__ import annotations

import math
import warnings
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.best import Best
from separatrix.auditing.budget import OutOfTime
from separatrix.auditing.existence import Existence
from separatrix.auditing.learners import Entrant, fitted_on
from separatrix.auditing.phrasing import bound as bound_told
from separatrix.auditing.phrasing import count, number, plural
from separatrix.auditing.study import Study
from separatrix.errors import SeparatrixError
from separatrix.numerics.status import Status
from separatrix.proofs.margin import Margin
from separatrix.proofs.novikoff import mistake_bound

QUESTION = "Is there an efficient algorithm?"
POINTS = 200  # of a curve
LOOKS = 2e9  # numbers that the perceptron looks at, in a minute's budget
WIDE = 10_000  # columns up to which the margin of (x, 1) is found by itself
ROUNDED = 1e-9  # more than rounding can have changed
LAZY_ROWS = 4000  # that the nearest neighbour keeps, and is judged on


def ask(
    study: Study, existence: Existence | None, best: Best | None, listed: list[Entrant], chosen: Entrant | None
) -> dict[str, Any]:
    """Times on this table, the perceptron's run with its bound, and the cost of a lazy method."""
    content: dict[str, Any] = {"question": QUESTION, "badge": "measured", "perceptron": None}
    times = fit_times(study, listed)
    content["seconds"] = times
    if existence is not None and study.binary:
        raw, scaled = (None, None) if best is None else (best.raw, best.margin)
        bounded = raw is not None and (study.plan.d > WIDE or not study.clock.late(0.7))
        if not bounded:
            raw = scaled = None
            if existence.exists:
                study.clock.leave_out("the perceptron's bound", "the widest gap, which it needs, would take too long")
        with study.clock.stage("perceptron"):
            content["perceptron"] = {"as_given": perceptron(study, study.rows, raw), "standardised": None}
            if not study.sparse:
                content["perceptron"]["standardised"] = perceptron(study, study.standardised, scaled)
        content["badge"] = "proved" if bounded else "measured"
    content["lazy"] = lazy(study)
    if chosen is not None:
        content["answer"] = f"yes: {chosen.name}"
    elif content["perceptron"] is not None and not content["perceptron"]["as_given"]["converged"]:
        content["answer"] = "yes, but not the perceptron"
    else:
        content["answer"] = "yes"
    content["lines"] = _lines(study, existence, content)
    return content


def fit_times(study: Study, listed: list[Entrant]) -> dict[str, float]:
    """Seconds that each learner takes on all rows."""
    out = {}
    with study.clock.stage("time learners"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entrant in listed:
            try:
                out[entrant.name] = fitted_on(study, entrant, np.arange(study.n))[1]
            except SeparatrixError:
                continue  # the comparison has said why
    return out


def perceptron(study: Study, X: Any, gap: Margin | None) -> dict[str, Any]:
    """The run from zero in the order of the rows: mistakes so far after each pass, against the bound."""
    from separatrix.models.perceptron.perceptron import Perceptron

    looks = LOOKS * min(1.0, study.clock.budget / 60)
    passes = int(np.clip(looks // max(study.plan.cells, 1), 20, 1000))
    model = Perceptron(max_epochs=passes).fit(X, study.signs)
    so_far = np.cumsum(model.epoch_mistakes_)
    at = np.unique(np.linspace(0, len(so_far) - 1, min(POINTS, len(so_far))).astype(int))
    return {
        "mistakes": int(model.mistakes_),
        "passes": int(model.n_iter_),
        "converged": model.status_ in (Status.CONVERGED, Status.SETTLED),
        "status": model.status_.value,
        "errors": int(model.errors_),
        "curve": {"passes": (at + 1).tolist(), "mistakes": so_far[at].tolist()},
        "bound": None if gap is None else _bound(study, X, gap),
    }


def _bound(study: Study, X: Any, gap: Margin) -> dict[str, Any]:
    """(R / margin)^2 in the space of (x, 1): its own margin, or with many columns the one that the gap implies.

    A hyperplane at least m away from every row, with |w| = 1, has the margin m / sqrt(1 + b^2) as (w, b) of length 1.
    """
    if study.plan.d <= WIDE:
        found = mistake_bound(X, study.signs)
        lower, upper, radius, most = *found.margin, found.radius, found.bound
    else:
        squares = X.multiply(X).sum(axis=1) if study.sparse else (X**2).sum(axis=1)
        radius = math.sqrt(1 + float(np.max(squares))) * (1 + ROUNDED)
        lower = gap.lower / math.hypot(1.0, gap.intercept or 0.0) * (1 - ROUNDED)
        upper, most = gap.upper, (radius / lower) ** 2 * (1 + ROUNDED)
    return {"radius": radius, "margin": {"lower": lower, "upper": upper}, "mistakes": most}


def lazy(study: Study) -> dict[str, Any]:
    """What one-nearest-neighbour keeps and costs, beside a vector of weights."""
    n, d = study.n, study.plan.d
    width = study.plan.cells / max(n, 1)
    out: dict[str, Any] = {
        "numbers_kept": study.plan.cells,
        "numbers_of_a_line": (d + 1) * study.plan.groups,
        "multiplications": int(n * width),
        "multiplications_of_a_line": int(width) * study.plan.groups,
        "seconds": {},
        "estimate": None,
        "rows": min(n, LAZY_ROWS),
    }
    rows = np.arange(n) if n <= LAZY_ROWS else np.sort(np.random.default_rng(study.seed).choice(n, LAZY_ROWS, False))
    with study.clock.stage("nearest neighbour"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if study.clock.late(0.9):
                raise OutOfTime("time ran out before it was judged")
            out["estimate"] = _judged(study, rows)
        except SeparatrixError as error:
            study.clock.leave_out("nearest neighbour", str(error)[:200])
        out["seconds"] = _one_prediction(study, rows)
    return out


def _neighbour(study: Study) -> Entrant:
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

    kind = KNeighborsRegressor if study.regression else KNeighborsClassifier
    how = "brute" if study.sparse else "auto"
    return Entrant("nearest neighbour", kind(n_neighbors=1, algorithm=how), "standard")


def _judged(study: Study, rows: NDArray[np.intp]) -> dict[str, Any] | None:
    """Cross-validated like the others, on a sample where rows are many."""
    from separatrix.auditing.learners import in_folds
    from separatrix.evaluation.cross_validation import cross_validate

    counts = np.array([study.n]) if study.regression else np.bincount(study.codes[rows], minlength=len(study.classes))
    folds = min(5, int(counts.min()))
    if folds < 2 or study.n < 10:
        return None
    learner, X = in_folds(study, _neighbour(study))
    y, ruled = study.task.y[rows], study.dealing.of(rows)
    found = cross_validate(learner, X[rows], y, folds=folds, random_state=study.seed, **ruled)
    return found["rmse" if study.regression else "accuracy"].to_dict()


def _one_prediction(study: Study, rows: NDArray[np.intp]) -> dict[str, float]:
    """Seconds for one row: the nearest of those kept, and one product."""
    X = study.standardised[rows] if not study.sparse else study.rows[rows]
    model = _neighbour(study).learner.fit(X, study.task.y[rows])
    asked = X[: min(200, len(rows))]
    start = perf_counter()
    model.predict(asked)
    nearest = (perf_counter() - start) / asked.shape[0]
    w = np.ones(X.shape[1])
    start = perf_counter()
    for _ in range(20):
        asked @ w
    return {"nearest": nearest, "line": (perf_counter() - start) / 20 / asked.shape[0]}


def _lines(study: Study, existence: Existence | None, content: dict[str, Any]) -> list[str]:
    lines = []
    run = content["perceptron"]
    if run is not None and run["as_given"]["bound"] is not None:
        lines += _against_bound(run)
    elif run is not None and existence is not None and existence.exists:
        own = run["as_given"]
        ended = "ended" if own["converged"] else "was stopped"
        lines.append(f"The perceptron {ended} after {count(own['mistakes'])} mistakes; its bound was not computed.")
    elif run is not None:
        own = run["as_given"]
        lines.append(
            f"The perceptron cannot come to an end here: {count(own['mistakes'])} mistakes in "
            f"{plural(own['passes'], 'pass', 'passes')}, and they would go on for ever."
        )
    kept = content["lazy"]
    lines.append(
        f"A linear rule keeps {plural(kept['numbers_of_a_line'], 'number')}; the nearest neighbour keeps "
        f"{count(kept['numbers_kept'])} and looks at all of them for every prediction."
    )
    return lines


def _against_bound(run: dict[str, Any]) -> list[str]:
    own, scaled = run["as_given"], run["standardised"]
    most = own["bound"]["mistakes"]
    if own["converged"]:
        made = plural(own["mistakes"], "mistake")
        text = f"The perceptron ended after {made}, of at most {bound_told(most)} (proved)."
    else:
        text = (
            f"The perceptron would end after at most {bound_told(most)} mistakes (proved); after "
            f"{count(own['mistakes'])} in {plural(own['passes'], 'pass', 'passes')} it was stopped."
        )
    if scaled is None:
        return [text]
    ratio = most / max(scaled["bound"]["mistakes"], 1.0)
    ends = (
        f"ended after {count(scaled['mistakes'])}"
        if scaled["converged"]
        else f"made {count(scaled['mistakes'])} so far"
    )
    verb = "lowers" if ratio >= 1 else "raises"
    return [
        text,
        f"Standardising the columns {verb} the bound to {bound_told(scaled['bound']['mistakes'])} "
        f"({number(max(ratio, 1 / ratio))} times {'less' if ratio >= 1 else 'more'}); that run {ends}.",
    ]

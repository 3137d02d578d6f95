"""Question 4: how does it do on rows that were not used for learning?

A fifth of the rows is sealed. On the others learners are compared by five folds; of those within one standard
error of the best the one listed first is taken (Breiman et al. 1984), fitted on all of them, and let in to the
sealed rows, once.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.budget import FOLDS, OutOfTime
from separatrix.auditing.learners import Entrant, fitted_on, in_folds
from separatrix.auditing.phrasing import count, interval, number, plural, share, short, with_interval
from separatrix.auditing.study import Study
from separatrix.errors import DataError, LedgerError, SeparatrixError
from separatrix.evaluation.candidates import worse_is_less
from separatrix.evaluation.comparison import holm, paired
from separatrix.evaluation.cross_validation import CrossValidation, cross_validate, folds_for
from separatrix.evaluation.estimate import Estimate
from separatrix.evaluation.seal import Holdout, holdout
from separatrix.validation.marks import value_marks

QUESTION = "How will it do on new rows?"
TEST = 0.2
FEWEST = 10  # rows from which some are judged
LEAST = 40  # rows from which some are sealed
RARE = 0.8  # share of the commonest class from which accuracy does not rank learners


@dataclass
class NewPoints:
    """The comparison, the choice, and the sealed test, live and as plain values."""

    content: dict[str, Any]
    chosen: Entrant | None = None
    model: Any = None  # fitted on the development rows, asked by row numbers
    runs: dict[str, CrossValidation] = field(default_factory=dict)
    judged: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    test: Any = None
    openings: dict[str, Any] | None = None


def metric_of(study: Study) -> str:
    """What learners are ranked by."""
    if study.regression:
        return "rmse"
    if study.counts.max() / study.n < RARE:
        return "accuracy"
    return "roc_auc" if study.binary else "balanced_accuracy"


def ask(study: Study, listed: list[Entrant], ledger: Any = None) -> NewPoints:
    """Compare, choose, and open the sealed rows once."""
    metric = metric_of(study)
    content: dict[str, Any] = {
        "question": QUESTION,
        "badge": "estimated",
        "metric": metric,
        "majority": None if study.regression else float(study.counts.max() / study.n),
    }
    rows, why_not = _judgeable(study)
    if why_not is not None:
        return NewPoints(content | _unanswered(why_not))
    sealed = _sealed(study, rows, ledger)
    learned = rows if sealed is None else rows[sealed.development[0][:, 0]]
    judged = _sample(study, learned)
    folds = _folds(study, judged)
    if folds is None:
        why = "a class has a single row among those that may be learned from"
        if study.dealing.by is not None:
            why = f"'{study.dealing.column}' leaves no two folds with every class to learn from"
        return NewPoints(content | _unanswered(why))
    runs = _compared(study, listed, judged, folds)
    if not runs:
        return NewPoints(content | _unanswered("no learner could be fitted on every fold"))
    chosen = _chosen(study, listed, runs, metric)
    with study.clock.stage("fit"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _ = fitted_on(study, chosen, learned)
    found = NewPoints(content, chosen, model, runs, judged)
    content |= _comparison(study, runs, metric, chosen, folds, judged, learned)
    content["split"] = {
        "learned_from": len(learned),
        "sealed": 0 if sealed is None else sealed.sizes["test"],
        "left_out": study.n - len(rows),
        "how": None if sealed is None else sealed.how,
    }
    if sealed is not None:
        _open(study, sealed, model, found)
    content.setdefault("test", None)
    content |= _answer(study, content)
    return found


def _unanswered(why: str) -> dict[str, Any]:
    return {
        "badge": "open",
        "answer": "cannot be estimated",
        "lines": [f"No estimate: {why}."],
        "learners": [],
        "pairs": [],
        "chosen": None,
        "test": None,
        "split": None,
    }


def _judgeable(study: Study) -> tuple[NDArray[np.intp], str | None]:
    """Rows whose class has at least two of them; and why that is not enough, if so."""
    everyone = np.arange(study.n)
    if study.n < FEWEST:
        return everyone, f"{plural(study.n, 'row')} are too few to deal into folds"
    if study.regression:
        return everyone, None
    lone = np.flatnonzero(study.counts < 2)
    if not len(lone):
        return everyone, None
    kept = np.flatnonzero(~np.isin(study.codes, lone))
    names = ", ".join(study.labels[k] for k in lone[:4].tolist())
    if len(study.classes) - len(lone) < 2:
        return kept, f"class {names} has a single row, which cannot be both learned and judged"
    study.clock.leave_out("rows of classes with a single row", f"{names}: it cannot be both learned and judged")
    return kept, None


def _sealed(study: Study, rows: NDArray[np.intp], ledger: Any) -> Holdout | None:
    """A fifth of the rows, sealed; None where there are too few."""
    codes = None if study.regression else study.codes[rows]
    least = len(rows) if codes is None else int(np.bincount(codes)[np.unique(codes)].min())
    if len(rows) < LEAST or least < 5:
        reason = f"{plural(len(rows), 'row')}" if len(rows) < LEAST else f"a class of {plural(least, 'row')}"
        study.clock.leave_out("sealed test rows", f"{reason}: too few to set any apart")
        return None
    ids = value_marks(study.rows)[rows].astype(np.float64)
    y = study.task.y[rows] if codes is None else codes
    index = np.arange(len(rows)).reshape(-1, 1)
    try:
        sealed = holdout(
            index,
            y,
            test=TEST,
            validation=0,
            stratify=not study.regression,
            ids=ids,
            random_state=study.seed,
            ledger=ledger,
            **study.dealing.of(rows),
        )
    except DataError as error:
        study.clock.leave_out("sealed test rows", short(str(error), 200))
        return None
    if codes is not None and len(np.unique(sealed.development[1])) < len(np.unique(codes)):
        study.clock.leave_out("sealed test rows", "a class would be in them alone")
        return None
    return sealed


def _sample(study: Study, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """The rows that learners are compared on: all, or a sample where the budget is short."""
    most = study.plan.learning_rows
    if len(rows) <= most:
        return rows
    study.clock.leave_out(
        "comparison on all rows", f"learners are compared on a sample of {count(most)} of {count(len(rows))} rows"
    )
    if study.regression:
        return np.sort(np.random.default_rng(study.seed).choice(rows, most, replace=False))
    from separatrix.evaluation.splits import random_parts
    from separatrix.validation import check_labels

    try:
        part = random_parts(len(rows), [most], check_labels(study.codes[rows]), np.random.default_rng(study.seed))[0]
    except DataError:  # a class too rare to be in every part
        part = np.sort(np.random.default_rng(study.seed).choice(len(rows), most, replace=False))
    return rows[part]


def _folds(study: Study, rows: NDArray[np.intp]) -> int | None:
    """Five folds, or as many as classes, groups and moments allow; None for less than two."""
    most = min(FOLDS, len(rows))
    if not study.regression:
        counts = np.bincount(study.codes[rows], minlength=len(study.classes))
        most = min(most, int(counts[counts > 0].min()))
    ruled = {"groups": None, "time": None} | study.dealing.of(rows)
    if study.dealing.by is None:
        return most if most >= 2 else None
    for folds in range(most, 1, -1):
        try:
            y = study.task.y[rows]
            folds_for(len(rows), folds, 1, y, True, ruled["groups"], ruled["time"], study.seed, study.regression)
        except DataError:
            continue
        return folds
    return None


def _compared(study: Study, listed: list[Entrant], rows: NDArray[np.intp], folds: int) -> dict[str, CrossValidation]:
    """Every learner on the same folds; one that fails is left out, with the reason."""
    runs: dict[str, CrossValidation] = {}
    y = study.task.y[rows]
    until = study.clock.spent + study.clock.part(0.5)
    for entrant in reversed(listed):  # those that take longest come last

        def in_time(done: int, total: int, may_end: bool = bool(runs)) -> None:  # there must be an answer
            if may_end and done < total and study.clock.spent > until:
                raise OutOfTime(f"time ran out after {done} of {total} folds")

        with study.clock.stage("compare learners"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner, X = in_folds(study, entrant)
            try:
                runs[entrant.name] = cross_validate(
                    learner,
                    X[rows],
                    y,
                    folds=folds,
                    positive=study.task.positive if study.binary else None,
                    level=study.level,
                    random_state=study.seed,
                    progress=in_time,
                    **study.dealing.of(rows),
                )
            except SeparatrixError as error:
                study.clock.leave_out(entrant.name, short(str(error), 300))
    return runs


def error_of(e: Estimate) -> float:
    """One standard error, read off the interval."""
    from separatrix.evaluation.intervals import quantile

    return (e.high - e.low) / (2 * quantile(e.level)) if e.has_interval else 0.0


def _chosen(study: Study, listed: list[Entrant], runs: dict[str, CrossValidation], metric: str) -> Entrant:
    sign = 1 if worse_is_less(metric) else -1
    known = [own for own in listed if own.name in runs and runs[own.name][metric].defined]
    if not known:
        return next(own for own in listed if own.name in runs)
    best = max(known, key=lambda own: sign * runs[own.name][metric].value)
    enough = sign * runs[best.name][metric].value - error_of(runs[best.name][metric])
    return next(own for own in known if sign * runs[own.name][metric].value >= enough)


def _comparison(
    study: Study,
    runs: dict[str, CrossValidation],
    metric: str,
    chosen: Entrant,
    folds: int,
    judged: NDArray[np.intp],
    learned: NDArray[np.intp],
) -> dict[str, Any]:
    sign = 1 if worse_is_less(metric) else -1
    ranked = sorted(runs, key=lambda name: -sign * runs[name][metric].value)
    pairs: list[dict[str, Any]] = []
    first = runs[ranked[0]]
    ratio = float(np.mean([len(fold.rows) / fold.learned_from for fold in first.results[: first.folds]]))
    for a, b in combinations(ranked, 2):
        gaps = runs[a].fold_values[metric] - runs[b].fold_values[metric]
        difference, p = paired(gaps, ratio, study.level)
        pairs.append({"first": a, "second": b, "difference": difference.to_dict(), "p": p})
    for pair, adjusted in zip(pairs, holm([pair["p"] for pair in pairs]), strict=True):
        pair["holm"] = adjusted
    return {
        "folds": folds,
        "rows_judged": len(judged),
        "sampled": len(judged) < len(learned),
        "learners": [
            {
                "name": name,
                "estimates": {key: e.to_dict() for key, e in runs[name].estimates.items()},
                "folds": runs[name].fold_values[metric].tolist(),
                "fits": dict(runs[name].methods),
                "chosen": name == chosen.name,
            }
            for name in ranked
        ],
        "pairs": pairs,
        "chosen": chosen.name,
        "why": chosen.why,
    }


def _open(study: Study, sealed: Holdout, model: Any, found: NewPoints) -> None:
    """Let the chosen model in to the sealed rows."""
    with study.clock.stage("open the test rows"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            asked = _InOrder(model, study)
            result = sealed.open_test(
                asked,
                positive=study.positive if study.binary else None,
                level=study.level,
                note=f"audit of {short(study.task.source.name, 60)}",
            )
        except LedgerError as error:
            study.clock.leave_out("sealed test rows", f"they stay closed: {short(str(error), 200)}")
            return
    found.test = result
    found.openings = result.openings.to_dict() | {"text": str(result.openings)}
    told = result.to_dict()
    told.pop("openings")
    if not study.regression:
        told["classes"] = [study.labels[k] for k in told["classes"]]
        told["positive"] = None if told["positive"] is None else study.labels[told["positive"]]
        told["per_class"] = {study.labels[int(k)]: own for k, own in told["per_class"].items()}
    found.content["test"] = told


class _InOrder:
    """A model asked by the numbers of judgeable rows; classes by number, as the seal holds them."""

    def __init__(self, model: Any, study: Study) -> None:
        self.model = model
        self.rows, _ = _judgeable(study)
        self.study = study
        if not study.regression:
            self.classes_ = np.searchsorted(study.classes, model.classes_)

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def predict(self, X: Any) -> NDArray[Any]:
        said = self.model.predict(self.rows[np.asarray(X)])
        return np.asarray(said if self.study.regression else np.searchsorted(self.study.classes, said))

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.model, name)
        return lambda X: call(self.rows[np.asarray(X)])


def _answer(study: Study, content: dict[str, Any]) -> dict[str, Any]:
    """One figure with its interval, and what it is to be compared with."""
    own = next(entry for entry in content["learners"] if entry["chosen"])
    e, metric = own["estimates"][content["metric"]], content["metric"]
    lines = [_beside(study, content, own)]
    if content["test"] is not None:
        lines.append(_test_line(study, content))
    if study.regression:
        answer = f"off by {_figure(e, metric)} (RMSE)"
    elif metric == "accuracy":
        answer = _figure(e, metric, " right")
    else:
        what = {"roc_auc": " of pairs ranked right", "balanced_accuracy": " right, classes counted alike"}[metric]
        answer = _figure(e, metric, what)
    return {"answer": answer, "lines": lines, "estimate": e}


def _figure(e: dict[str, Any], metric: str, what: str = "") -> str:
    if e["value"] is None:
        return "undefined"
    if metric == "rmse":
        return with_interval(e["value"], e["low"], e["high"])
    return f"{share(e['value'])}{what} {interval(e['low'], e['high'], True)}".strip()


def _beside(study: Study, content: dict[str, Any], own: dict[str, Any]) -> str:
    metric = content["metric"]
    sign = 1 if worse_is_less(metric) else -1
    value = own["estimates"][metric]
    groups: dict[str, list[str]] = {"about as good": [], "better": [], "worse": []}
    for entry in content["learners"]:
        if entry is not own:
            other = entry["estimates"][metric]["value"]
            inside = value["low"] is not None and other is not None and value["low"] <= other <= value["high"]
            better = other is not None and value["value"] is not None and sign * (other - value["value"]) > 0
            groups["about as good" if inside else "better" if better else "worse"].append(entry["name"])
    told = [f"{sense}: {', '.join(names)}" for sense, names in groups.items() if names]
    beside = f"; {'; '.join(told)}" if told else ""
    sample = " of a sample" if content["sampled"] else ""
    text = f"{plural(content['folds'], 'fold')}{study.dealing.told}{sample}, {own['name']}{beside}."
    if study.regression:
        return f"{text} Guessing the mean is off by {number(float(study.task.y.std()))}."
    guess = f" Guessing the commonest class is right in {share(content['majority'])}."
    if metric != "accuracy":
        accuracy = own["estimates"]["accuracy"]
        guess = (
            f" Right in {_figure(accuracy, 'accuracy')}; guessing the commonest class in {share(content['majority'])}."
        )
    return text + guess


def _test_line(study: Study, content: dict[str, Any]) -> str:
    test = content["test"]
    name = "rmse" if study.regression else "accuracy"
    figure = _figure(test["metrics"][name], name)
    what = "off by" if study.regression else "right in"
    return f"{count(test['n'])} sealed rows, opened once: {what} {figure}."

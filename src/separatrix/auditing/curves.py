"""Curves of the fourth answer: more rows, every threshold, and what was said against what happened."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.auditing.budget import OutOfTime
from separatrix.auditing.learners import Entrant, in_folds
from separatrix.auditing.new_points import NewPoints
from separatrix.auditing.study import Study
from separatrix.errors import SeparatrixError
from separatrix.evaluation.results import ClassificationEvaluation

POINTS = 160
STEPS = 6
GROWN = 20_000  # rows that a learning curve grows to at most


def growth(study: Study, entrant: Entrant, listed: list[Entrant], found: NewPoints) -> dict[str, Any] | None:
    """Error on learned and on judged rows as rows are added."""
    from separatrix.evaluation.growth import learning_curve

    rows = found.judged
    if entrant.name.startswith("logistic"):  # few rows are separable, and proving it each time takes long
        entrant = next(own for own in listed if own.name == "ridge logistic")
    if len(rows) > GROWN:
        rows = np.sort(np.random.default_rng(study.seed).choice(rows, GROWN, replace=False))
    if study.clock.left < 0.25 * study.clock.budget:
        study.clock.leave_out("learning curve", "the time budget was nearly used up")
        return None
    y = study.task.y[rows]
    learner, X = in_folds(study, entrant)
    folds = int(found.content["folds"])
    until = study.clock.spent + study.clock.part(0.3)

    def in_time(done: int, total: int) -> None:
        if done < total and study.clock.spent > until:
            raise OutOfTime(f"time ran out after {done} of {total} folds")

    metric = "rmse" if study.regression else "error"
    with study.clock.stage("learning curve"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for least in (0.1, 0.3, 0.6):
            sizes = np.unique(np.geomspace(least, 1.0, STEPS))
            try:
                curve = learning_curve(
                    learner,
                    X[rows],
                    y,
                    sizes=sizes,
                    metric=metric,
                    folds=folds,
                    random_state=study.seed,
                    progress=in_time,
                    **study.dealing.of(rows),
                )
            except OutOfTime as error:
                reason = str(error)
                break
            except SeparatrixError as error:
                reason = str(error)
                continue
            told = curve.to_dict()
            deviation = [np.std(np.array(told[k]), axis=0, ddof=1) / np.sqrt(folds) for k in ("train", "validation")]
            return {
                "learner": entrant.name,
                "metric": metric,
                "rows": told["steps"],
                "learned": np.mean(told["train"], axis=0).tolist(),
                "judged": np.mean(told["validation"], axis=0).tolist(),
                "learned_error": deviation[0].tolist(),
                "judged_error": deviation[1].tolist(),
                "sampled": len(rows) < len(found.judged),
            }
    study.clock.leave_out("learning curve", reason[:200])
    return None


def of_test(study: Study, found: NewPoints) -> dict[str, Any] | None:
    """ROC, precision against recall, calibration and thresholds on the sealed rows, or on judged rows without any."""
    result, where = found.test, "the sealed rows"
    if result is None and found.runs:
        result, where = found.runs[found.content["chosen"]].pooled, "rows judged in folds"
    if study.regression:
        return None if result is None else {"where": where, **_scatter(result, study.seed)}
    if not isinstance(result, ClassificationEvaluation):
        return None
    out: dict[str, Any] = {
        "where": where,
        "confusion": result.confusion.tolist(),
        "classes": [_label(study, c, found.test is not None) for c in result.classes.tolist()],
        "roc": None,
        "precision_recall": None,
        "calibration": None,
        "threshold": None,
    }
    if not study.binary or not result.roc_auc.defined:
        return out
    roc = result.roc_curve()
    at = _thin(len(roc.fpr))
    names = ("fpr", "tpr", "low", "high")
    out["roc"] = {name: getattr(roc, name)[at].tolist() for name in names} | {"auc": result.roc_auc.to_dict()}
    pr = result.precision_recall_curve()
    at = _thin(len(pr.recall))
    out["precision_recall"] = {name: getattr(pr, name)[at].tolist() for name in ("recall", "precision", "low", "high")}
    out["precision_recall"] |= {"average_precision": result.average_precision.to_dict(), "prevalence": pr.prevalence}
    if result.outcomes.probabilities is not None:
        c = result.calibration_curve()
        out["calibration"] = {k: getattr(c, k).tolist() for k in ("said", "happened", "low", "high", "counts")}
    out["threshold"] = _threshold(study, found)
    return out


def _label(study: Study, label: Any, by_number: bool) -> str:
    if by_number:
        return study.labels[int(label)]
    return study.labels[int(np.flatnonzero(study.classes == label)[0])]


def _thin(n: int) -> Any:
    return np.unique(np.linspace(0, n - 1, min(n, POINTS)).astype(int))


def _threshold(study: Study, found: NewPoints) -> dict[str, Any] | None:
    """The cheapest cut for equal and for unequal costs, chosen on judged rows (not on the sealed ones)."""
    from separatrix.evaluation.thresholds import threshold_by_cost

    pooled = found.runs[found.content["chosen"]].pooled
    if not isinstance(pooled, ClassificationEvaluation) or not pooled.roc_auc.defined:
        return None
    outcomes = pooled.outcomes
    if outcomes.probabilities is not None:
        outcomes = replace(outcomes, scores=None)  # cut the probability, which people can read
    out = []
    for false_positive, false_negative in ((1.0, 1.0), (1.0, 5.0), (5.0, 1.0)):
        choice = threshold_by_cost(outcomes, study.level, false_positive, false_negative)
        out.append(
            {
                "false_positive": false_positive,
                "false_negative": false_negative,
                "threshold": choice.threshold,
                "cost": choice.cost,
                "default_cost": choice.default_cost,
                "precision": choice.precision.to_dict(),
                "recall": choice.recall.to_dict(),
            }
        )
    kind = "probability" if pooled.outcomes.probabilities is not None else "score"
    return {"of": kind, "choices": out}


def _scatter(result: Any, seed: int) -> dict[str, Any]:
    at = np.arange(result.n)
    if result.n > 1000:
        at = np.sort(np.random.default_rng(seed).choice(result.n, 1000, replace=False))
    return {"truth": result.truth[at].tolist(), "predicted": result.predicted[at].tolist(), "of": result.n}

"""``cross_validate``: every row judged by a model that did not learn from it; see ``judging`` for the intervals."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from separatrix.errors import FoldWarning, ParameterError
from separatrix.evaluation.cross_validation_result import CrossValidation, pooled_evaluation
from separatrix.evaluation.fold_assignment import dealt_anew, first_repeat, folds_for
from separatrix.evaluation.folds import (
    Scorer,
    keep_freed_blocks,
    make_tasks,
    need_learner,
    run_fold,
    stop_at_failure,
)
from separatrix.evaluation.intervals import check_level
from separatrix.evaluation.judging import corrected_t, judge_classes, judge_numbers
from separatrix.evaluation.predictions import is_regressor
from separatrix.evaluation.shared_moments import is_partition, share_work
from separatrix.evaluation.splits import seed_of
from separatrix.evaluation.workers import executor_of, spread
from separatrix.validation import (
    check_labels,
    check_lengths,
    check_weights,
    count_rows,
)
from separatrix.validation.targets import need_same_index


def cross_validate(
    learner: Any,
    X: Any,
    y: Any,
    *,
    folds: Any = 5,
    repeats: int = 1,
    stratify: bool = True,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    positive: Any = None,
    scorers: dict[str, Scorer] | None = None,
    executor: Any = None,
    n_jobs: int | None = None,
    progress: Any = None,
    on_failure: str = "raise",
    share: bool = True,
    level: float = 0.95,
    random_state: Any = None,
    fit_with: dict[str, Any] | None = None,
) -> CrossValidation:
    """Estimate how a learner does on new rows.

    Parameters
    ----------
    learner : any estimator or pipeline of scikit-learn's protocol; it is cloned, never fitted
    X, y : rows and labels (or targets) in any form the learner takes
    folds : number of folds, pairs (training rows, judged rows), or a splitter of scikit-learn's
    repeats : how often the folds are drawn
    stratify : whether folds keep the shares of the classes
    groups : one label a row; groups are kept together
    time : one moment a row; each fold learns from the past of the rows it judges
    sample_weight : weights, for learning and for judging
    positive : the positive one of two classes, default: the second
    scorers : further metrics by name, functions of (fitted learner, X, y)
    executor : None, a number of threads, or anything with ``submit`` (processes, a cluster)
    n_jobs : the number of threads in scikit-learn's way (-1: all processors), instead of ``executor``
    progress : True for a line on a terminal, or a function of (done, total)
    on_failure : {"raise", "report"}
        Whether a fold that fails stops everything, or is reported while the rest stands.
    share : whether least squares and discriminants may be fitted from moments that folds share
    level, random_state : of the intervals; of the folds and of learners whose own was left open
    fit_with : further arguments of the learner's ``fit`` by name, one entry a row: each fold passes its own

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> print(cross_validate(LinearDiscriminant(), X, y, random_state=0)["accuracy"])
    0.980 [0.943, 0.993]
    """
    level, seed = check_level(level), seed_of(random_state)
    if on_failure not in ("raise", "report"):
        raise ParameterError(f"on_failure is {on_failure!r}: it can be 'raise' or 'report'.")
    need_learner(learner)
    keep_freed_blocks()
    n = count_rows(X)
    check_lengths(n, count_rows(y, what="y"), "y")
    need_same_index(X, y)
    regression = is_regressor(learner)
    weights = check_weights(sample_weight, n)
    made, how = folds_for(n, folds, repeats, y, stratify, groups, time, seed, regression)
    _check_named(scorers, "scorers", "functions of (fitted learner, X, y)")
    _check_named(fit_with, "fit_with", "arrays with one entry a row")
    for name, values in (fit_with or {}).items():
        check_lengths(n, count_rows(values, what=name), name)
    tasks = make_tasks(learner, X, y, made, weights, regression, seed, scorers, fit_with)
    partition = dealt_anew(folds, time) or (time is None and is_partition(tasks))
    tasks, shared = share_work(tasks) if share and partition and repeats == 1 else (tasks, None)
    results = spread(run_fold, tasks, executor_of(executor, n_jobs), progress)
    if any(r.error is not None for r in results):
        _blame_rows(learner, X)
    failures = stop_at_failure(results, learner, on_failure)
    for failure in failures:
        warnings.warn(f"left out: {failure}", FoldWarning, stacklevel=2)
    judge = judge_numbers if regression else judge_classes
    clusters = None if groups is None else check_labels(groups, what="groups", ids=True).codes
    estimates, values = judge(results, y, weights, positive, level, partition, clusters)
    for name in scorers or {}:
        if name in values:
            raise ParameterError(f"scorers has {name!r}, which is a metric already: choose another name.")
        values[name] = np.array([r.scores.get(name, np.nan) for r in results])
        estimates[name] = corrected_t(values[name], results, level)
    count = len(made) // repeats
    return CrossValidation(
        learner=named(learner),
        n=n,
        folds=count,
        repeats=repeats,
        how=how,
        level=level,
        random_state=seed,
        estimates=estimates,
        fold_values=values,
        results=tuple(results),
        _pool=partial(pooled_evaluation, results[: first_repeat(made)], y, weights, positive, level),
        failures=failures,
        shared=shared,
    )


def _check_named(given: Any, what: str, of: str) -> None:
    if given is not None and not (isinstance(given, Mapping) and all(isinstance(name, str) for name in given)):
        raise ParameterError(f"{what} must be a dict from names to {of}.")


def _blame_rows(learner: Any, X: Any) -> None:
    """Raise what is wrong with all the rows, by their own numbers, where a learner of ours cannot take them."""
    if type(learner).__module__.startswith("separatrix.models."):
        learner._fit_table(X)


def named(learner: Any) -> str:
    """A learner on one line."""
    text = " ".join(repr(learner).split())
    return text if len(text) <= 100 else text[:99] + "…"

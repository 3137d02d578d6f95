"""Learners fitted and evaluated fold by fold: in order, in threads, or by the executor that is passed.

A task says everything about one fold, so that it runs the same anywhere: results are collected in the
order of the folds, every fold has its own clone with its own seed, and nothing depends on how many
workers there are. Whatever a pipeline learns (scales, selected features) is learned inside the fold.

Where a learner's folds can share work, the learner says so and does it (``_fold_path`` of an estimator).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, FoldError, ParameterError
from separatrix.evaluation.predictions import Said, predictions_of, scores_by_model
from separatrix.evaluation.splits import Fold
from separatrix.protocol import Estimator, FoldPath, FoldRows, unfitted_copy
from separatrix.validation import count_rows, take_rows

GOES_ON = "on_failure='report' goes on without such folds"
Scorer = Callable[[Any, Any, Any], float]


@dataclass(frozen=True)
class FoldTask:
    """One fit and what it is judged on."""

    number: int
    learner: Any
    X: Any
    y: Any
    fold: Fold
    weights: NDArray[np.float64] | None
    regression: bool
    scorers: dict[str, Scorer] = field(default_factory=dict)
    beside: dict[str, Any] = field(default_factory=dict)  # what else fit takes, one entry a row
    fitted: bool = False  # already, from work that folds share ...
    own_scores: NDArray[np.float64] | None = None  # ... and perhaps the scores of the rows it is judged on

    @property
    def train(self) -> NDArray[np.intp]:
        """Rows to learn from."""
        return self.fold.train

    @property
    def test(self) -> NDArray[np.intp]:
        """Rows to judge."""
        return self.fold.test


@dataclass(frozen=True)
class FoldResult:
    """What a fold's learner said about the rows it had not seen, or the error that ended it."""

    number: int
    rows: NDArray[np.intp]
    learned_from: int
    said: Said | None
    seconds: float
    method: str | None = None
    status: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    error: str | None = None


def run_fold(task: FoldTask) -> FoldResult:
    """Fit on the training rows, predict the others; an error is a result too."""
    start = perf_counter()
    # A learner of its own, which ends with the fold: models keep the rows of their fit, and tasks live until the last.
    learner = task.learner if task.fitted else unfitted_copy(task.learner)
    try:
        if not task.fitted:
            beside = {name: take_rows(values, task.train) for name, values in task.beside.items()}
            fit(learner, take_rows(task.X, task.train), take_rows(task.y, task.train), _taken(task), **beside)
        X_test = take_rows(task.X, task.test) if task.scorers or task.own_scores is None else None
        said = predictions_of(learner, X_test, task.regression, task.own_scores)
        scores = {}
        if task.scorers:
            y_test = take_rows(task.y, task.test)
            scores = {name: float(scorer(learner, X_test, y_test)) for name, scorer in task.scorers.items()}
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        return FoldResult(task.number, task.test, task.fold.learned_from, None, perf_counter() - start, error=message)
    last = final_step(learner)
    status = getattr(last, "status_", None)
    return FoldResult(
        task.number,
        task.test,
        task.fold.learned_from,
        said,
        perf_counter() - start,
        method=getattr(last, "method_", None),
        status=getattr(status, "name", None),
        scores=scores,
    )


def _taken(task: FoldTask) -> NDArray[np.float64] | None:
    return None if task.weights is None else task.weights[task.train]


def fit(learner: Any, X: Any, y: Any, weights: NDArray[np.float64] | None, **beside: Any) -> Any:
    """Fit with weights where there are any; in a pipeline they belong to the last step."""
    if weights is None:
        return learner.fit(X, y, **beside)
    steps = getattr(learner, "steps", None)
    name = "sample_weight" if steps is None else f"{steps[-1][0]}__sample_weight"
    return learner.fit(X, y, **{name: weights}, **beside)


def final_step(learner: Any) -> Any:
    """The learner at the end of a pipeline."""
    steps = getattr(learner, "steps", None)
    return learner if not steps else final_step(steps[-1][1])


def need_learner(learner: Any) -> None:
    """A learner is an object with parameters, not a class and not anything else."""
    if isinstance(learner, type) or not hasattr(learner, "get_params"):
        raise ParameterError(f"learner is {learner!r}: pass an estimator, such as Perceptron() with its parentheses.")


def seeded_clone(learner: Any, seed: int) -> Any:
    """An unfitted copy; random states that were left open get this seed, so that a fold repeats anywhere."""
    need_learner(learner)
    copy = unfitted_copy(learner)
    params = copy.get_params(deep=not getattr(copy, "_seeds_candidates", False))
    is_open = [k for k in params if (k == "random_state" or k.endswith("__random_state")) and params[k] is None]
    return copy.set_params(**dict.fromkeys(sorted(is_open), seed)) if is_open else copy


def seeds_of_folds(seed: int, count: int) -> list[int]:
    """One seed a fold."""
    return [int(s) for s in np.random.SeedSequence(seed).generate_state(count) % 2**31]


def make_tasks(
    learner: Any,
    X: Any,
    y: Any,
    folds: Sequence[Fold],
    weights: NDArray[np.float64] | None,
    regression: bool,
    seed: int,
    scorers: dict[str, Scorer] | None = None,
    beside: dict[str, Any] | None = None,
) -> list[FoldTask]:
    """One task a fold, each with its own clone."""
    need_judged_rows(folds, weights)
    return [
        FoldTask(k, seeded_clone(learner, s), X, y, fold, weights, regression, scorers or {}, beside or {})
        for k, (fold, s) in enumerate(zip(folds, seeds_of_folds(seed, len(folds)), strict=True))
    ]


def need_judged_rows(folds: Sequence[Fold], weights: NDArray[np.float64] | None) -> None:
    """Refuse folds whose rows all have a weight of zero: there is nothing to judge them by."""
    for k, fold in enumerate(folds):
        if weights is not None and not weights[fold.test].any():
            raise DataError(
                f"sample_weight is zero in every row of fold {k}, so that nothing judges it: make fewer folds, or "
                "leave rows of weight zero out."
            )


def stop_at_failure(results: Sequence[FoldResult], learner: Any, on_failure: str) -> tuple[str, ...]:
    """The failures as text; or an error, if one is enough to stop or none is left."""
    failed = [r for r in results if r.error is not None]
    if not failed:
        return ()
    failures = [f"fold {r.number}, learned from {r.learned_from} rows: {r.error}" for r in failed]
    last = final_step(learner)
    name = type(getattr(last, "learner", last)).__name__  # the one that an encoder or a selector holds
    if on_failure == "raise":
        raise FoldError(f"{name} failed in {failures[0]} ({GOES_ON})")
    if len(failed) == len(results):
        raise FoldError(f"{name} failed in every fold; the first: {failures[0]}")
    return tuple(failures)


# -- work that folds share --


def share_work(tasks: list[FoldTask]) -> tuple[list[FoldTask], str | None]:
    """Tasks of a partition whose learners are fitted already, and how; or the tasks as they are."""
    path = path_of(tasks[0].learner, tasks, [{}])
    if path is None:
        return tasks, None
    fitted = [path.fit(task.learner, k) for k, task in enumerate(tasks)]
    scores = scores_by_model([task.learner for task in tasks], path.X, folds_of(tasks)) if all(fitted) else None
    return [
        replace(task, fitted=done, own_scores=None if scores is None else scores[task.test])
        for task, done in zip(tasks, fitted, strict=True)
    ], path.how


def path_of(learner: Any, tasks: Sequence[Any], grid: Sequence[dict[str, Any]]) -> FoldPath | None:
    """What the folds of a partition share of the fits with every set of options; None for nothing."""
    if not isinstance(learner, Estimator):
        return None
    first = tasks[0]
    return learner._fold_path(FoldRows(first.X, first.y, first.weights, folds_of(tasks), len(tasks)), grid)


def folds_of(tasks: Sequence[Any]) -> NDArray[np.int64]:
    """The number of the fold that judges each row, of a partition."""
    fold = np.empty(count_rows(tasks[0].X), dtype=np.int64)
    for k, task in enumerate(tasks):
        fold[task.fold.test] = k
    return fold


def judges_once(tasks: Sequence[Any]) -> bool:
    """Whether every row is judged by one fold."""
    return _once_each(count_rows(tasks[0].X), [task.fold.test for task in tasks])


def is_partition(tasks: Sequence[Any]) -> bool:
    """Whether every fold learns from exactly the rows that the others judge."""
    n = count_rows(tasks[0].X)
    return judges_once(tasks) and all(
        task.fold.given is None or _once_each(n, [task.fold.train, task.fold.test]) for task in tasks
    )


def _once_each(n: int, parts: Sequence[NDArray[np.intp]]) -> bool:
    """Whether the parts have every row once: as many entries as rows, and no row without one."""
    seen = np.zeros(n, dtype=np.bool_)
    for rows in parts:
        seen[rows] = True
    return sum(map(len, parts)) == n and bool(seen.all())

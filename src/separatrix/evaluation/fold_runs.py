"""Learners fitted and evaluated fold by fold: in order, in threads, or by the executor that is passed.

A task says everything about one fold, so that it runs the same anywhere: results are collected in the
order of the folds, every fold has its own clone with its own seed, and nothing depends on how many
workers there are. Whatever a pipeline learns (scales, selected features) is learned inside the fold.

Folds share work where they can: a learner that needs only moments of its rows is not fitted fold by fold. The moments
of all folds are taken in one pass over the rows where they lie; those of a fold's training rows are the merged moments
of the other folds, so that k folds cost one pass instead of k - 1, and no copy. The numbers are those of separate fits
up to the rounding of the merge; where the condition says that this could show, the fold is fitted as usual. Everything
else (pipelines, other learners, penalties that need the rows) is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, FoldError, ParameterError
from separatrix.evaluation.predictions import Said, predictions_of, scores_by_model
from separatrix.evaluation.splits import Fold
from separatrix.protocol import unfitted_copy
from separatrix.validation import Table, check_labels, check_table, check_targets, count_rows, take_rows

if TYPE_CHECKING:
    from separatrix.numerics.moments import Moments
    from separatrix.numerics.normal_equations import NormalEquations

GOES_ON = "on_failure='report' goes on without such folds"
Scorer = Callable[[Any, Any, Any], float]
MOST_NUMBERS = 2**24  # in the scatters of all folds together
ALIKE = 100.0  # ratio of the lengths of columns up to which eigenvalues of their products serve all of them
MOMENTS = "moments of the folds, merged"


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
    told = [f"fold {r.number}, learned from {r.learned_from} rows: {r.error}" for r in failed]
    last = final_step(learner)
    name = type(getattr(last, "learner", last)).__name__  # the one that an encoder or a selector holds
    if on_failure == "raise":
        raise FoldError(f"{name} failed in {told[0]} ({GOES_ON})")
    if len(failed) == len(results):
        raise FoldError(f"{name} failed in every fold; the first: {told[0]}")
    return tuple(told)


# -- work that folds share --


def share_work(tasks: list[FoldTask]) -> tuple[list[FoldTask], str | None]:
    """Tasks of a partition whose learners are fitted already, and how; or the tasks as they are."""
    made = fold_moments(tasks)
    if made is None:
        return tasks, None
    states, table, fold = made
    fitted = [task.learner._fit_moments(merged_without(states, k), table) for k, task in enumerate(tasks)]
    scores = scores_by_model([task.learner for task in tasks], table.X, fold) if all(fitted) else None
    return [
        replace(task, fitted=done, own_scores=None if scores is None else scores[task.test])
        for task, done in zip(tasks, fitted, strict=True)
    ], MOMENTS


def moments_needed(learner: Any) -> str | None:
    """What moments a learner can be fitted from, if any."""
    asked = getattr(learner, "_moments_needed", None)
    return None if asked is None else asked()


def judges_once(tasks: Sequence[FoldTask]) -> bool:
    """Whether every row is judged by one fold."""
    return _once_each(count_rows(tasks[0].X), [task.test for task in tasks])


def is_partition(tasks: Sequence[FoldTask]) -> bool:
    """Whether every fold learns from exactly the rows that the others judge."""
    n = count_rows(tasks[0].X)
    return judges_once(tasks) and all(
        task.fold.given is None or _once_each(n, [task.train, task.test]) for task in tasks
    )


def _once_each(n: int, parts: Sequence[NDArray[np.intp]]) -> bool:
    """Whether the parts have every row once: as many entries as rows, and no row without one."""
    seen = np.zeros(n, dtype=np.bool_)
    for rows in parts:
        seen[rows] = True
    return sum(map(len, parts)) == n and bool(seen.all())


def fold_moments(tasks: Sequence[FoldTask]) -> tuple[list[Moments], Table, NDArray[np.int64]] | None:
    """The moments of each fold's rows, the checked rows and their folds; None where moments do not suffice."""
    needed = moments_needed(tasks[0].learner)
    if needed is None or getattr(tasks[0].learner, "categorical", None) is not None:  # levels are those of a fold
        return None
    fold = np.empty(count_rows(tasks[0].X), dtype=np.int64)
    for k, task in enumerate(tasks):
        fold[task.test] = k
    try:
        table = check_table(tasks[0].X, finite=tasks[0].weights is not None)
        states = (target_moments if needed == "targets" else class_moments)(tasks[0], table, fold, len(tasks))
    except ValueError:  # bad rows: the folds themselves say it better
        return None
    if states is None or not all(np.isfinite(state.mean).all() for state in states):  # so is any NaN in rows that count
        return None
    return states, table, fold


def merged_without(states: Sequence[Moments], k: int) -> Moments:
    """The moments of all folds but one."""
    from separatrix.numerics.moments import merge

    return merge(*(state for j, state in enumerate(states) if j != k))


def target_moments(task: FoldTask, table: Table, fold: NDArray[np.int64], folds: int) -> list[Moments] | None:
    """Moments of features and target, fold by fold, in one pass over the rows where they lie."""
    from separatrix.numerics.moments import Moments

    if folds * (table.d + 1) ** 2 > MOST_NUMBERS:
        return None
    y = check_targets(task.y).reshape(-1, 1)
    every = Moments(table.d, 1, labels=range(folds), pooled=False)
    every.add(table.X, y, fold, task.weights)
    return every.split(folds, None, pooled=True)


def class_moments(task: FoldTask, table: Table, fold: NDArray[np.int64], folds: int) -> list[Moments] | None:
    """Moments of the features, class by class and fold by fold, in one pass over the rows where they lie."""
    from separatrix.numerics.moments import Moments

    labels = check_labels(task.y)
    count = len(labels.classes)
    if folds * count * table.d**2 > MOST_NUMBERS:
        return None
    every = Moments(table.d, labels=range(folds * count), pooled=False)
    every.add(table.X, None, fold * count + labels.codes, task.weights)
    return every.split(folds, labels.classes.tolist(), pooled=bool(getattr(task.learner, "_pooled", True)))


@dataclass(frozen=True)
class RidgePath:
    """Mean squared errors (alphas, folds) of least squares, and what one penalty needs to be fitted to all rows."""

    errors: Floats
    states: list[Moments]
    table: Table

    def finish(self, learner: Any) -> bool:
        """Fit a learner to all rows from their moments; False where the rows themselves are needed."""
        from separatrix.numerics.moments import merge

        done: bool = learner._fit_moments(merge(*self.states), self.table)
        return done


def ridge_errors(tasks: Sequence[FoldTask], alphas: Sequence[float]) -> RidgePath | None:
    """Least squares with every penalty, judged on the rows of each fold, from moments alone.

    With centred moments (W, m, S) of a fold's rows z = (x, y), a model w, b has on them
        sum c (y - w.x - b)^2 = S_yy - 2 w.S_xy + w'S_xx w + W (m_y - w.m_x - b)^2.
    None where a fold is not to be trusted to moments.
    """
    from separatrix.models.least_squares.penalised_squares import moments_suffice

    made = fold_moments(tasks)
    if made is None:
        return None
    states, table, _ = made
    out = np.empty((len(alphas), len(tasks)))
    for k, (task, judged) in enumerate(zip(tasks, states, strict=True)):
        moments = merged_without(states, k)
        rows = int(moments.counts.sum())
        least = task.learner._normal_of(moments.totals(), moments.features, min(alphas))
        if not moments_suffice(least, rows, task.learner.solver):
            return None
        totals = judged.totals()
        d, mean, S, weight = judged.features, totals.mean[0], totals.scatter, float(totals.weight[0])
        for i, lifted in enumerate(ridge_path(least, alphas)):
            w, b = lifted[:d], lifted[-1]
            inside = S[d, d] - 2 * w @ S[:d, d] + w @ S[:d, :d] @ w
            out[i, k] = (inside + weight * (mean[d] - w @ mean[:d] - b) ** 2) / weight
    return RidgePath(out, states, table)


def ridge_path(least: NormalEquations, alphas: Sequence[float]) -> list[Floats]:
    """Lifted weights for every penalty, by one eigendecomposition A = Q L Q' (b free): w = Q (L + alpha)^-1 Q'c.

    Small eigenvalues of columns in very different units have no digits: there, and where b is not free, each penalty
    is solved for by itself, with columns of length 1.
    """
    lengths = np.sqrt(np.diagonal(least.A))
    if not least.free or not float(lengths.max(initial=0.0)) <= ALIKE * float(lengths.min(initial=np.inf)):
        return [least.penalised(float(a)).solve()[0] for a in alphas]
    values, Q = np.linalg.eigh(least.A)
    c = Q.T @ least.c[:, 0]
    out = []
    for a in alphas:
        w = Q @ (c / (values + float(a)))
        out.append(np.append(w, least.y_mean[0] - least.x_mean @ w))
    return out

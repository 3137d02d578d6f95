"""Work that folds share: a learner that needs only moments of its rows is not fitted fold by fold.

The moments of each fold are taken once; those of its training rows are the merged moments of the other
folds, so that k folds cost one pass over the rows instead of k - 1. The numbers are those of separate
fits up to the rounding of the merge; where the condition says that this could show, the fold is fitted
as usual. Everything else (pipelines, other learners, penalties that need the rows) is left as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.evaluation.folds import FoldTask
from separatrix.validation import check_labels, check_table, check_targets, take_rows

if TYPE_CHECKING:
    from separatrix.maths.moments import Moments
    from separatrix.maths.normal_equations import NormalEquations

Floats = NDArray[np.float64]
SHARED_CONDITION = 1e8  # squared condition up to which moments alone keep eight digits
MOMENTS = "moments of the folds, merged"


def share_work(tasks: list[FoldTask], repeats: int) -> tuple[list[FoldTask], str | None]:
    """Tasks whose learners are fitted already, and how; or the tasks as they are."""
    fit = _fit_of(tasks[0].learner)
    if fit is None or repeats != 1 or not is_partition(tasks):
        return tasks, None
    make, finish = fit
    states = fold_moments(tasks, make)
    if states is None:
        return tasks, None
    out = []
    for k, task in enumerate(tasks):
        done = finish(task.learner, merged_without(states, k), check_table(take_rows(task.X, task.test[:1])))
        out.append(replace(task, fitted=done))
    return out, MOMENTS


def is_partition(tasks: Sequence[FoldTask]) -> bool:
    """Whether every fold learns from exactly the rows that the others judge."""
    total = sum(len(task.test) for task in tasks)
    return all(len(task.train) + len(task.test) == total for task in tasks) and total == len(
        np.unique(np.concatenate([task.test for task in tasks]))
    )


def fold_moments(tasks: Sequence[FoldTask], make: Callable[[FoldTask], Moments]) -> list[Moments] | None:
    """The moments of each fold's rows; None where a fold's rows are not what moments can be made of."""
    try:
        return [make(task) for task in tasks]
    except ValueError:  # bad rows: the folds themselves say it better
        return None


def merged_without(states: Sequence[Moments], k: int) -> Moments:
    """The moments of all folds but one."""
    from separatrix.maths.moments import merge

    return merge(*(state for j, state in enumerate(states) if j != k))


Make = Callable[[FoldTask], "Moments"]
Finish = Callable[[Any, "Moments", Any], bool]


def _fit_of(learner: Any) -> tuple[Make, Finish] | None:
    """How a learner is fitted from moments, if it can be."""
    name, home = type(learner).__name__, type(learner).__module__
    if not home.startswith("separatrix.learners."):
        return None
    if name == "LeastSquares" and learner.solver in ("auto", "moments"):
        return target_moments, finish_least_squares
    if name in ("LinearDiscriminant", "QuadraticDiscriminant") and learner.shrinkage != "ledoit-wolf":
        return class_moments, finish_discriminant
    return None


def _weights(task: FoldTask) -> Floats | None:
    return None if task.weights is None else task.weights[task.test]


def target_moments(task: FoldTask) -> Moments:
    """Moments of features and target."""
    from separatrix.maths.moments import Moments

    table = check_table(take_rows(task.X, task.test))
    y = check_targets(take_rows(task.y, task.test)).reshape(-1, 1)
    return Moments(table.d, 1).add(table.X, y, None, _weights(task))


def class_moments(task: FoldTask) -> Moments:
    """Moments of the features, class by class."""
    from separatrix.maths.moments import Moments

    table, labels = check_table(take_rows(task.X, task.test)), check_labels(take_rows(task.y, task.test))
    pooled = bool(task.learner._pooled)
    state = Moments(table.d, labels=labels.classes.tolist(), pooled=pooled)
    return state.add(table.X, None, labels.codes.astype(np.int64), _weights(task))


def normal_of(learner: Any, moments: Moments, alpha: float) -> NormalEquations:
    """The normal equations of least squares with this penalty."""
    from separatrix.maths.normal_equations import NormalEquations

    free = bool(learner.fit_intercept and not learner.penalize_intercept)
    return NormalEquations(moments.totals(), moments.features, alpha, bool(learner.fit_intercept), free)


def trusted(normal: NormalEquations, rows: int, solver: str) -> bool:
    """Whether moments alone give what a fit would, to eight digits."""
    if solver == "moments":
        return True
    enough = rows > normal.p and normal.squared_condition <= SHARED_CONDITION
    return enough and not normal.loses_bias(normal.solve())


def finish_least_squares(learner: Any, moments: Moments, table: Any) -> bool:
    """Solve from the merged moments; False where the rows themselves are needed."""
    from separatrix.maths.least_squares import from_moments

    learner._check_parameters()
    normal, rows = normal_of(learner, moments, float(learner.alpha)), int(moments.rows.sum())
    if not trusted(normal, rows, learner.solver):
        return False
    learner._moments = moments
    learner._remember_features(table)
    learner._store(from_moments(normal), table, rows)
    return True


def finish_discriminant(learner: Any, moments: Moments, table: Any) -> bool:
    """Solve from the merged moments of the classes; an error is left to the fold to raise."""
    fresh = dict(learner.__dict__)
    try:
        learner._check_parameters()
        learner._moments, learner.classes_ = moments, np.array(moments.labels)
        learner._remember_features(table)
        learner._solve(moments.totals(), table.names, None)
    except Exception:
        learner.__dict__.clear()
        learner.__dict__.update(fresh)
        return False
    return math.isfinite(float(np.sum(learner.means_)))


def ridge_errors(tasks: Sequence[FoldTask], alphas: Sequence[float]) -> Floats | None:
    """Mean squared errors (alphas, folds) of least squares, judged rows included, from moments alone.

    With centred moments (W, m, S) of a fold's rows z = (x, y), a model w, b has on them
        sum c (y - w.x - b)^2 = S_yy - 2 w.S_xy + w'S_xx w + W (m_y - w.m_x - b)^2.
    None where a fold is not to be trusted to moments.
    """
    states = fold_moments(tasks, target_moments)
    if states is None:
        return None
    out = np.empty((len(alphas), len(tasks)))
    for k, (task, judged) in enumerate(zip(tasks, states, strict=True)):
        moments = merged_without(states, k)
        rows = int(moments.rows.sum())
        least = normal_of(task.learner, moments, float(min(alphas)))
        if not trusted(least, rows, task.learner.solver):
            return None
        totals = judged.totals()
        d, mean, S, weight = judged.features, totals.mean[0], totals.scatter, float(totals.weight[0])
        for i, lifted in enumerate(ridge_path(least, alphas)):
            w, b = lifted[:d], lifted[-1]
            inside = S[d, d] - 2 * w @ S[:d, d] + w @ S[:d, :d] @ w
            out[i, k] = (inside + weight * (mean[d] - w @ mean[:d] - b) ** 2) / weight
    return out


def ridge_path(least: NormalEquations, alphas: Sequence[float]) -> list[Floats]:
    """Lifted weights for every penalty, by one eigendecomposition A = Q L Q' (b free): w = Q (L + alpha)^-1 Q'c."""
    if not least.free:
        return [_penalised(least, float(a)) for a in alphas]
    values, Q = np.linalg.eigh(least.A)
    c = Q.T @ least.c[:, 0]
    out = []
    for a in alphas:
        w = Q @ (c / (values + float(a)))
        out.append(np.append(w, least.y_mean[0] - least.x_mean @ w))
    return out


def _penalised(normal: NormalEquations, alpha: float) -> Floats:
    """Lifted weights where the bias is penalised, or is not there."""
    w = np.linalg.solve(normal.A + alpha * np.eye(len(normal.A)), normal.c[:, 0])
    return np.asarray(w if normal.lift else np.append(w, 0.0), dtype=np.float64)

"""The candidates of a grid, or the steps of a curve, on one fold, so that what they share is done once.

Logistic regressions that differ in C only, also at the end of a pipeline, are one path of fits by ascending C. For
other options that allow it a fit begins at the one before it (warm start), in the order of the grid. The result does
not depend on how folds are spread over workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, DataTypeError, FoldError, ParameterError, SeparatrixError
from separatrix.evaluation.cross_validation import named
from separatrix.evaluation.fold_runs import final_step, fit, need_learner, seeded_clone
from separatrix.evaluation.metrics import numbers_value, point_values
from separatrix.evaluation.predictions import is_regressor, outcomes_of, predictions_of
from separatrix.evaluation.splits import Fold
from separatrix.validation import check_targets, take_rows

LOSSES = frozenset({"error", "log_loss", "brier", "mse", "rmse", "mae"})
BAD_INPUT = (DataError, DataTypeError, ParameterError)  # raised as they are, like the learner's own errors


@dataclass(frozen=True)
class Configuration:
    """A learner with some of its options set."""

    label: str
    learner: Any
    params: dict[str, Any]


@dataclass(frozen=True)
class CandidateTask:
    """One fold and the candidate learners that are fitted on it."""

    number: int
    candidates: Sequence[Configuration]
    X: Any
    y: Any
    fold: Fold
    weights: Floats | None
    regression: bool
    metric: str | Callable[..., float]
    seed: int


def greater_is_better(metric: Any) -> bool:
    """Whether greater values are better."""
    return metric not in LOSSES


def judge_candidates(task: CandidateTask) -> Floats:
    """The metric of every candidate on the rows of this fold."""
    train, test = task.fold
    X, y = take_rows(task.X, train), take_rows(task.y, train)
    X_test, y_test = take_rows(task.X, test), take_rows(task.y, test)
    weights = None if task.weights is None else task.weights[train]
    judged = None if task.weights is None else task.weights[test]
    values, paths = np.empty(len(task.candidates)), penalty_paths(task.candidates)
    rest = [k for k in range(len(values)) if not any(k in numbers for numbers in paths)]
    for numbers, fits in [(p, _along_path) for p in paths] + [(rest, _one_by_one)]:
        learners = fits(task, numbers, X, y, weights)
        for k in numbers:
            candidate = task.candidates[k]
            try:
                values[k] = value_of(task.metric, next(learners), X_test, y_test, judged, task.regression)
            except Exception as error:
                message = f"{candidate.label} failed in fold {task.number}: {type(error).__name__}: {error}"
                raise (type(error) if isinstance(error, BAD_INPUT) else FoldError)(message) from error
    return values


def penalty_paths(candidates: Sequence[Configuration]) -> list[list[int]]:
    """Numbers of the candidates that differ in a finite C only, by ascending C, where their learner fits such paths."""
    paths: list[list[int]] = []
    for k, candidate in enumerate(candidates):
        name = _penalty(candidate.learner)
        C = candidate.params.get(name)
        if not (isinstance(C, (int, float)) and not isinstance(C, bool) and 0 < C < np.inf):
            continue
        for numbers in paths:
            first = candidates[numbers[0]]
            if first.learner is candidate.learner and _changed(first, candidate) in (set(), {name}):
                numbers.append(k)
                break
        else:
            paths.append([k])
    return [sorted(p, key=lambda k: candidates[k].params[_penalty(candidates[k].learner)]) for p in paths if len(p) > 1]


def _penalty(learner: Any) -> str:
    """The name of the penalty that a learner, or the last step of a pipeline, fits paths over; "" for none."""
    if hasattr(learner, "_fit_path"):
        return "C"
    steps: Any = getattr(learner, "steps", None)
    if not steps or not hasattr(learner, "__getitem__") or getattr(learner, "memory", 0) is not None:
        return ""
    return f"{steps[-1][0]}__C" if hasattr(steps[-1][1], "_fit_path") else ""


def _along_path(task: CandidateTask, numbers: list[int], X: Any, y: Any, weights: Floats | None) -> Iterator[Any]:
    """The learner fitted with one penalty after the other, each fit begun at the one before."""
    first = task.candidates[numbers[0]]
    name = _penalty(first.learner)
    Cs = [float(task.candidates[k].params[name]) for k in numbers]
    learner = seeded_clone(first.learner, task.seed).set_params(**first.params)
    if len(getattr(learner, "steps", ())) > 1:
        X = learner[:-1].fit_transform(X, y)  # what comes before the last step is the same for all
    for _ in final_step(learner)._fit_path(X, y, Cs, weights):
        yield learner


def _one_by_one(task: CandidateTask, numbers: list[int], X: Any, y: Any, weights: Floats | None) -> Iterator[Any]:
    last, before = None, None
    for k in numbers:
        candidate = task.candidates[k]
        learner = _warm(last, before, candidate)
        if learner is None:
            learner = seeded_clone(candidate.learner, task.seed)
        learner.set_params(**candidate.params)
        yield fit(learner, X, y, weights)
        last, before = learner, candidate


def _warm(last: Any, before: Configuration | None, candidate: Configuration) -> Any:
    """The learner of the candidate before, to go on from, where it can begin at the fit before."""
    if last is None or before is None or before.learner is not candidate.learner:
        return None
    end = final_step(last)
    changed, allowed = _changed(before, candidate), getattr(end, "_warm_over", ())
    if changed is None or not allowed or not all(name.rpartition("__")[2] in allowed for name in changed):
        return None
    end.set_params(warm_start=True)
    return last


def _changed(one: Configuration, other: Configuration) -> set[str] | None:
    """Options with different values; None where one has options that the other does not have."""
    if set(one.params) != set(other.params):
        return None
    changed = {name for name in one.params if one.params[name] is not other.params[name]}
    return {name for name in changed if one.params[name] != other.params[name]}


def value_of(metric: Any, learner: Any, X: Any, y: Any, weights: Floats | None, regression: bool) -> float:
    """One metric of a fitted learner."""
    if callable(metric):
        return float(metric(learner, X, y))
    said = predictions_of(learner, X, regression)
    if regression:
        return numbers_value(metric, check_targets(y), said.labels, weights)
    outcomes, _ = outcomes_of(y, said, None, weights)
    values = point_values(outcomes, wanted=metric)
    if metric not in values:
        raise ParameterError(f"metric is {metric!r}, which this learner does not give: there are {', '.join(values)}.")
    return values[metric]


def candidates_of(learner: Any, grid: Any) -> list[Configuration]:
    """Every combination, in the order of the grid: the first value of each option is taken for the simplest."""
    if isinstance(learner, Mapping):
        if not learner:
            raise ParameterError("learner is an empty dict: pass at least one estimator by name.")
        if grid is not None and not isinstance(grid, Mapping):
            raise ParameterError("the grid of several learners must be a dict of grids by the learner's name.")
        if len({is_regressor(one) for one in learner.values()}) > 1:
            raise ParameterError("learners mix classifiers and regressions: choose among them separately.")
        grids = grid or {}
        unknown = [name for name in grids if name not in learner]
        if unknown:
            raise ParameterError(f"the grid names {unknown[0]!r}, which is none of the learners {list(learner)}.")
        return [
            Configuration(f"{name}: {c.label}" if c.params else str(name), c.learner, c.params)
            for name, one in learner.items()
            for c in candidates_of(one, grids.get(name))
        ]
    need_learner(learner)
    if grid is None or grid == {}:
        return [Configuration(named(learner), learner, {})]
    out, options = [], learner.get_params(deep=True)
    parts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, Mapping) for part in parts):
        raise ParameterError("grid must be a dict from option names to lists of values, or a list of such dicts.")
    for part in parts:
        for name, values in part.items():
            if name not in options:
                ends = [o for o in options if o.endswith(f"__{name}")]
                there_are = f"did you mean {ends[0]!r}?" if ends else f"there are {', '.join(sorted(options))}."
                raise ParameterError(f"the grid names {name!r}, which {named(learner)} does not have: {there_are}")
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ParameterError(f"the grid's {name!r} is {values!r}: pass a list of values.")
        for values in product(*(list(v) for v in part.values())):
            params = dict(zip(part, values, strict=True))
            label = ", ".join(f"{k}={_short(v)}" for k, v in params.items())
            out.append(Configuration(label, learner, params))
    if not out:
        raise ParameterError("the grid has no combination: one of its lists is empty.")
    return out


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:39] + "…"


@dataclass(frozen=True)
class GrowthTask:
    """One fold of a curve: for each step a learner and the rows it learns from."""

    learner: Any
    settings: Sequence[dict[str, Any]]
    rows: Sequence[NDArray[np.intp]]
    X: Any
    y: Any
    test: NDArray[np.intp]
    regression: bool
    metric: str
    seed: int


def grow(task: GrowthTask) -> Floats:
    """The metric on learned and judged rows, step by step."""
    out = np.empty((2, len(task.rows)))
    X_test, y_test = take_rows(task.X, task.test), take_rows(task.y, task.test)
    for k, (params, rows) in enumerate(zip(task.settings, task.rows, strict=True)):
        X, y = take_rows(task.X, rows), take_rows(task.y, rows)
        try:
            learner = seeded_clone(task.learner, task.seed).set_params(**params)
            fit(learner, X, y, None)
            out[0, k] = _value(task.metric, learner, X, y, task.regression)
            out[1, k] = _value(task.metric, learner, X_test, y_test, task.regression)
        except SeparatrixError:
            raise
        except Exception as error:
            setting = ", ".join(f"{name}={value!r}" for name, value in params.items()) or f"{len(rows)} rows"
            name = type(final_step(task.learner)).__name__
            raise FoldError(f"{name} failed with {setting}: {type(error).__name__}: {error}") from error
    return out


def _value(metric: str, learner: Any, X: Any, y: Any, regression: bool) -> float:
    if metric == "error":
        return 1 - value_of("accuracy", learner, X, y, None, regression)
    return value_of(metric, learner, X, y, None, regression)

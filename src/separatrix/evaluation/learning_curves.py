"""Error curves: with more rows, larger models, or more passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, FoldError, ParameterError, SeparatrixError, held_warnings
from separatrix.evaluation.cross_validation import named
from separatrix.evaluation.curves import Drawn
from separatrix.evaluation.estimate import shown
from separatrix.evaluation.evaluation_text import table
from separatrix.evaluation.fold_assignment import folds_for
from separatrix.evaluation.fold_runs import final_step, fit, need_learner, seeded_clone, seeds_of_folds
from separatrix.evaluation.grid_candidates import greater_is_better, value_of
from separatrix.evaluation.predictions import is_regressor
from separatrix.evaluation.splits import (
    Fold,
    chosen_sizes,
    need_all_classes,
    rows_of_all_classes,
    seed_of,
    spread_classes,
)
from separatrix.evaluation.workers import spread
from separatrix.validation import check_labels, check_lengths, count_rows, plain_value, take_rows
from separatrix.validation.targets import need_same_index


@dataclass
class GrowthCurve(Drawn):
    """A metric on the rows learned from and on those judged, one column a step, one row a fold."""

    learner: str
    what: str
    steps: tuple[Any, ...]
    metric: str
    train: Floats = field(repr=False)
    validation: Floats = field(repr=False)

    @property
    def best(self) -> int:
        """The number of the step whose mean on judged rows is best."""
        means = self.validation.mean(axis=0)
        return int(np.nanargmax(means) if greater_is_better(self.metric) else np.nanargmin(means))

    def __str__(self) -> str:
        rows = [[self.what, f"{self.metric}, learned from", "judged", "± s.e.", ""]]
        errors = _standard_errors(self.validation)
        for k, step in enumerate(self.steps):
            mark = "best" if k == self.best else ""
            means = (self.train[:, k].mean(), self.validation[:, k].mean(), errors[k])
            rows.append([str(step), *(shown(float(v)) for v in means), mark])
        return "\n".join([f"{self.learner}: {len(self.train)} folds", *table(rows)])

    def plot(self, ax: Any = None, *, name: str | None = None, log: bool = False) -> Self:
        """Means over the folds with bands of one standard error."""
        ax = self._axes(ax)
        numeric = all(isinstance(s, (int, float, np.number)) and not isinstance(s, bool) for s in self.steps)
        x = np.asarray(self.steps if numeric else range(len(self.steps)), dtype=np.float64)
        for values, label, colour in ((self.train, "learned from", "C0"), (self.validation, "judged", "C1")):
            mean, error = values.mean(axis=0), _standard_errors(values)
            ax.plot(x, mean, "o-", markersize=4, color=colour, label=label)
            ax.fill_between(x, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
        ax.axvline(x[self.best], color="0.6", linestyle=":", linewidth=1)
        if not numeric:
            ax.set_xticks(x, [str(s) for s in self.steps])
        elif all(float(s).is_integer() for s in self.steps):
            ax.xaxis.get_major_locator().set_params(integer=True)
        if log:
            ax.set_yscale("log")
        ax.set(xlabel=self.what, ylabel=self.metric.replace("_", " "), title=name or "")
        ax.legend(frameon=False)
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "learner": self.learner,
            "what": self.what,
            "steps": [plain_value(s) for s in self.steps],
            "metric": self.metric,
            "train": self.train.tolist(),
            "validation": self.validation.tolist(),
        }


def _standard_errors(values: Floats) -> Floats:
    return np.asarray(values.std(axis=0, ddof=1) / np.sqrt(len(values)))


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
            told = ", ".join(f"{name}={value!r}" for name, value in params.items()) or f"{len(rows)} rows"
            name = type(final_step(task.learner)).__name__
            raise FoldError(f"{name} failed with {told}: {type(error).__name__}: {error}") from error
    return out


def _value(metric: str, learner: Any, X: Any, y: Any, regression: bool) -> float:
    if metric == "error":
        return 1 - value_of("accuracy", learner, X, y, None, regression)
    return value_of(metric, learner, X, y, None, regression)


def learning_curve(
    learner: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = 8,
    metric: str | None = None,
    folds: Any = 5,
    stratify: bool = True,
    groups: Any = None,
    time: Any = None,
    executor: Any = None,
    progress: Any = None,
    random_state: Any = None,
) -> GrowthCurve:
    """Training and validation error as the number of training rows grows.

    ``sizes`` are numbers of rows, shares of a fold's training rows, or how many steps to take from a tenth to
    all of them. The rows of a smaller step are among those of a larger one, in the shares of the classes.

    Parameters
    ----------
    learner : estimator
        Cloned for each fit.
    X : array, sparse matrix or frame
        The rows.
    y : array
        One label a row.
    sizes : int, or array of numbers or shares
        Steps.
    metric : str or None
        Default: accuracy, or mse for regressions.
    folds, stratify, groups, time, executor, progress, random_state : as in :func:`cross_validate`

    Returns
    -------
    GrowthCurve
        With ``plot`` and ``to_dict``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve(LinearDiscriminant(), X, y, sizes=[30, 60, 120], random_state=0)
    >>> curve.validation.mean(axis=0).round(2)
    array([0.03, 0.01, 0.02])
    """
    made, seed, regression = _set_up(learner, X, y, folds, stratify, groups, time, random_state)
    least = min(fold.learned_from for fold in made)
    codes = None if regression else check_labels(y).codes
    tasks, seeds = [], seeds_of_folds(seed, len(made))
    orders = [
        fold.train if time is not None else spread_classes(fold.train, codes, np.random.default_rng(own))
        for fold, own in zip(made, seeds, strict=True)
    ]
    late = -1 if time is not None else 1
    first = 2 if codes is None else max(rows_of_all_classes(order[::late], codes) for order in orders)
    counts = chosen_sizes(sizes, first, least)
    for fold, order, own in zip(made, orders, seeds, strict=True):
        rows = [order[-m:] if time is not None else order[:m] for m in counts]
        if codes is not None:
            need_all_classes(rows[0], codes, counts[0])
        settings: list[dict[str, Any]] = [{}] * len(rows)
        chosen = metric or ("mse" if regression else "error")
        tasks.append(GrowthTask(learner, settings, rows, X, y, fold.test, regression, chosen, own))
    return _curve(learner, "training rows", tuple(counts), tasks, executor, progress)


def overfitting_curve(
    learner: Any,
    X: Any,
    y: Any,
    parameter: str,
    values: Sequence[Any],
    *,
    metric: str | None = None,
    folds: Any = 5,
    stratify: bool = True,
    groups: Any = None,
    time: Any = None,
    executor: Any = None,
    progress: Any = None,
    random_state: Any = None,
) -> GrowthCurve:
    """Training and validation error as a model grows: the degree of a polynomial, the size of a feature map.

    ``parameter`` is the name of the option that sets the size (``polynomialmap__degree`` in a pipeline),
    ``values`` its values from the smallest model to the largest.

    Parameters
    ----------
    learner : estimator
        Cloned for each fit.
    X : array, sparse matrix or frame
        The rows.
    y : array
        One label a row.
    parameter : str
        The option that sets the size of the model.
    values : sequence
        Its values, from the smallest model to the largest.
    metric : str or None
        Default: accuracy, or mse for regressions.
    folds, stratify, groups, time, executor, progress, random_state : as in :func:`cross_validate`

    Returns
    -------
    GrowthCurve
        With ``plot`` and ``to_dict``.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LeastSquares, PolynomialMap, overfitting_curve
    >>> from separatrix.data.examples import load_example
    >>> table = load_example("curve")
    >>> learner = make_pipeline(PolynomialMap(), LeastSquares())
    >>> curve = overfitting_curve(learner, table.X, table.y, "polynomialmap__degree", [1, 3, 9], random_state=0)
    >>> [1, 3, 9][curve.best]
    3
    """
    made, seed, regression = _set_up(learner, X, y, folds, stratify, groups, time, random_state)
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise ParameterError(f"values is {values!r}: pass a list of sizes of the model from small to large.")
    steps = list(values)
    if not steps:
        raise ParameterError("values is empty: pass sizes of the model from small to large.")
    if parameter not in learner.get_params(deep=True):
        raise ParameterError(f"parameter is {parameter!r}, which {named(learner)} does not have.")
    chosen = metric or ("mse" if regression else "error")
    tasks = [
        GrowthTask(learner, [{parameter: v} for v in steps], [train] * len(steps), X, y, test, regression, chosen, own)
        for (train, test), own in zip(made, seeds_of_folds(seed, len(made)), strict=True)
    ]
    return _curve(learner, parameter.rpartition("__")[2], tuple(steps), tasks, executor, progress)


def _set_up(
    learner: Any, X: Any, y: Any, folds: Any, stratify: bool, groups: Any, time: Any, random_state: Any
) -> tuple[list[Fold], int, bool]:
    need_learner(learner)
    seed, n, regression = seed_of(random_state), count_rows(X), is_regressor(learner)
    check_lengths(n, count_rows(y, what="y"), "y")
    need_same_index(X, y)
    made, _ = folds_for(n, folds, 1, y, stratify, groups, time, seed, regression)
    return made, seed, regression


def _curve(
    learner: Any, what: str, steps: tuple[Any, ...], tasks: list[GrowthTask], executor: Any, progress: Any
) -> GrowthCurve:
    with held_warnings():  # how a run ends is what the curve shows
        found = np.array(spread(grow, tasks, executor, progress))
    return GrowthCurve(named(learner), what, steps, tasks[0].metric, found[:, 0], found[:, 1])


@dataclass
class MistakesCurve(Drawn):
    """Mistakes made in each pass of a perceptron."""

    mistakes: NDArray[np.int64]
    status: str

    def __str__(self) -> str:
        shown_of = ", ".join(str(m) for m in self.mistakes[:20])
        more = f", … ({len(self.mistakes)} passes)" if len(self.mistakes) > 20 else ""
        return f"mistakes in each pass: {shown_of}{more}; {self.status}"

    def plot(self, ax: Any = None, *, name: str | None = None) -> Self:
        """Mistakes against passes."""
        ax = self._axes(ax)
        passes = np.arange(1, len(self.mistakes) + 1)
        ax.plot(passes, self.mistakes, "o-" if len(passes) <= 60 else "-", markersize=4, label=name)
        ax.set(xlabel="pass", ylabel="mistakes", title=fill(self.status.partition(";")[0], 56))
        ax.title.set_fontsize(9)
        ax.set_ylim(bottom=0)
        if name:
            ax.legend(frameon=False)
        return self


def mistakes_curve(model: Any) -> MistakesCurve:
    """The mistakes of each pass of a fitted mistake-driven learner (the last step, for a pipeline).

    Parameters
    ----------
    model : a fitted mistake-driven learner, or a pipeline that ends in one

    Returns
    -------
    MistakesCurve
        With ``plot``.

    Examples
    --------
    >>> from separatrix import Perceptron, mistakes_curve
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> mistakes_curve(Perceptron().fit(X, y)).mistakes
    array([2, 2, 2, 1, 1, 0])
    """
    last = final_step(model)
    counts = getattr(last, "epoch_mistakes_", None)
    if counts is None:
        raise DataError(f"{type(last).__name__} does not count mistakes per pass: fit a perceptron first.")
    status = getattr(last, "status_", None)
    return MistakesCurve(np.asarray(counts), getattr(status, "value", ""))

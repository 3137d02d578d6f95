"""Error curves: with more rows, larger models, or more passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError, held_warnings
from separatrix.evaluation.cross_validation import named
from separatrix.evaluation.curves import Drawn
from separatrix.evaluation.evaluation_text import table
from separatrix.evaluation.fold_assignment import folds_for
from separatrix.evaluation.fold_runs import final_step, need_learner, seeds_of_folds
from separatrix.evaluation.grid_candidates import GrowthTask, greater_is_better, grow
from separatrix.evaluation.intervals import shown
from separatrix.evaluation.predictions import is_regressor
from separatrix.evaluation.splits import Fold, labelled_rows, seed_of
from separatrix.evaluation.workers import spread
from separatrix.validation import check_labels, plain_value


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
    >>> from separatrix import LinearDiscriminant
    >>> from separatrix.evaluation import learning_curve
    >>> X, y = load_iris(return_X_y=True)
    >>> curve = learning_curve(LinearDiscriminant(), X, y, sizes=[30, 60, 120], random_state=0)
    >>> curve.validation.mean(axis=0).round(2)
    array([0.03, 0.01, 0.02])
    """
    fold_list, seed, regression = _set_up(learner, X, y, folds, stratify, groups, time, random_state)
    least = min(fold.learned_from for fold in fold_list)
    codes = None if regression else check_labels(y).codes
    tasks, seeds = [], seeds_of_folds(seed, len(fold_list))
    orders = [
        fold.train if time is not None else _spread_classes(fold.train, codes, np.random.default_rng(fold_seed))
        for fold, fold_seed in zip(fold_list, seeds, strict=True)
    ]
    late = -1 if time is not None else 1
    first = 2 if codes is None else max(_rows_of_all_classes(order[::late], codes) for order in orders)
    counts = _chosen_sizes(sizes, first, least)
    for fold, order, fold_seed in zip(fold_list, orders, seeds, strict=True):
        rows = [order[-m:] if time is not None else order[:m] for m in counts]
        if codes is not None:
            _need_all_classes(rows[0], codes, counts[0])
        settings: list[dict[str, Any]] = [{}] * len(rows)
        chosen = metric or ("mse" if regression else "error")
        tasks.append(GrowthTask(learner, settings, rows, X, y, fold.test, regression, chosen, fold_seed))
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
    >>> from separatrix import LeastSquares, PolynomialMap
    >>> from separatrix.evaluation import overfitting_curve
    >>> from separatrix.data.examples import load_example
    >>> table = load_example("curve")
    >>> learner = make_pipeline(PolynomialMap(), LeastSquares())
    >>> curve = overfitting_curve(learner, table.X, table.y, "polynomialmap__degree", [1, 3, 9], random_state=0)
    >>> [1, 3, 9][curve.best]
    3
    """
    fold_list, seed, regression = _set_up(learner, X, y, folds, stratify, groups, time, random_state)
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise ParameterError(f"values is {values!r}: pass a list of sizes of the model from small to large.")
    steps = list(values)
    if not steps:
        raise ParameterError("values is empty: pass sizes of the model from small to large.")
    if parameter not in learner.get_params(deep=True):
        raise ParameterError(f"parameter is {parameter!r}, which {named(learner)} does not have.")
    chosen = metric or ("mse" if regression else "error")
    tasks = [
        GrowthTask(
            learner, [{parameter: v} for v in steps], [train] * len(steps), X, y, test, regression, chosen, fold_seed
        )
        for (train, test), fold_seed in zip(fold_list, seeds_of_folds(seed, len(fold_list)), strict=True)
    ]
    return _curve(learner, parameter.rpartition("__")[2], tuple(steps), tasks, executor, progress)


def _rows_of_all_classes(order: NDArray[np.intp], codes: NDArray[np.intp]) -> int:
    """How many rows, from the first on, hold every class."""
    _, first = np.unique(codes[order], return_index=True)
    return int(first.max()) + 1


def _chosen_sizes(sizes: Any, first: int, least: int) -> list[int]:
    if isinstance(sizes, (int, np.integer)) and not isinstance(sizes, bool):
        if sizes < 1:
            raise ParameterError(f"sizes is {sizes}: take at least one step.")
        given = np.geomspace(max(2, first, least / 10), least, int(sizes)).round()
    else:
        try:
            array = np.asarray(sizes)
        except ValueError:  # a ragged list
            array = np.empty(0)
        counts = array.dtype.kind in "iu"
        given = array.astype(np.float64) if array.dtype.kind in "iuf" else np.empty(0)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or given.min() <= 0:
            raise ParameterError("sizes must be numbers of rows, shares of them, or a number of steps.")
        if not counts and given.max() <= 1:
            given = np.maximum((given * least).round(), 1)
        if (given != np.floor(given)).any():
            raise ParameterError("sizes mixes shares with numbers of rows: use one of them.")
    if given.max() > least:
        raise DataError(f"sizes asks for {given.max():.0f} rows, and a fold learns from {least}: use at most that.")
    return sorted({int(v) for v in given})


def _spread_classes(train: NDArray[np.intp], codes: Any, rng: np.random.Generator) -> NDArray[np.intp]:
    """Rows shuffled so that any first m of them hold the classes in their shares."""
    order = rng.permutation(train)
    if codes is None:
        return order
    rank = np.empty(len(order))
    for k in np.unique(codes[order]):
        of_class = np.flatnonzero(codes[order] == k)
        rank[of_class] = (np.arange(len(of_class)) + 0.5) / len(of_class)
    return np.asarray(order[np.argsort(rank, kind="stable")])


def _need_all_classes(rows: NDArray[np.intp], codes: NDArray[np.intp], count: int) -> None:
    if len(np.unique(codes[rows])) < len(np.unique(codes)):
        raise DataError(f"{count} training rows do not hold every class: begin with more rows.")


def _set_up(
    learner: Any, X: Any, y: Any, folds: Any, stratify: bool, groups: Any, time: Any, random_state: Any
) -> tuple[list[Fold], int, bool]:
    need_learner(learner)
    seed, n, regression = seed_of(random_state), labelled_rows(X, y), is_regressor(learner)
    fold_list, _ = folds_for(n, folds, 1, y, stratify, groups, time, seed, regression)
    return fold_list, seed, regression


def _curve(
    learner: Any, what: str, steps: tuple[Any, ...], tasks: list[GrowthTask], executor: Any, progress: Any
) -> GrowthCurve:
    with held_warnings():  # how a run ends is what the curve shows
        scores = np.array(spread(grow, tasks, executor, progress))
    return GrowthCurve(named(learner), what, steps, tasks[0].metric, scores[:, 0], scores[:, 1])


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
    >>> from separatrix import Perceptron
    >>> from separatrix.evaluation import mistakes_curve
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> mistakes_curve(Perceptron().fit(X, y)).mistakes
    array([3, 1, 0])
    """
    last = final_step(model)
    counts = getattr(last, "epoch_mistakes_", None)
    if counts is None:
        raise DataError(f"{type(last).__name__} does not count mistakes per pass: fit a perceptron first.")
    status = getattr(last, "status_", None)
    return MistakesCurve(np.asarray(counts), getattr(status, "value", ""))

"""``cross_validate``: every row predicted by a model that was fitted without it, and the result."""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, keep_freed_blocks
from separatrix.errors import FoldWarning, ParameterError
from separatrix.evaluation.evaluation import evaluate_numbers, evaluate_outcomes
from separatrix.evaluation.evaluation_text import as_html, percent
from separatrix.evaluation.fold_assignment import dealt_anew, first_repeat, folds_for
from separatrix.evaluation.fold_estimates import corrected_t, judge_classes, judge_numbers
from separatrix.evaluation.fold_runs import (
    FoldResult,
    Scorer,
    is_partition,
    judges_once,
    make_tasks,
    need_learner,
    run_fold,
    share_work,
    stop_at_failure,
)
from separatrix.evaluation.intervals import Estimate, shown
from separatrix.evaluation.predictions import Said, is_regressor, outcomes_of
from separatrix.evaluation.splits import labelled_rows, seed_of
from separatrix.evaluation.workers import executor_of, spread
from separatrix.protocol import Estimator
from separatrix.statistics.distributions import need_level
from separatrix.validation import check_labels, check_lengths, check_targets, check_weights, count_rows, take_rows

CAVEAT = (
    "intervals are approximate: no unbiased estimate of a cross-validation's variance exists (Bengio & Grandvalet 2004)"
)


@dataclass(frozen=True)
class CrossValidation:
    """Estimates for new rows, the folds behind them, and the test rows of all folds together (``pooled``).

    Attributes
    ----------
    estimates : dict of Estimate
        Every metric; ``cv["accuracy"]`` is one of them.
    fold_values : dict of arrays
        The metric of each fold.
    results : tuple
        What happened in each fold.
    pooled : Evaluation
        The test rows of all folds as one evaluation.
    learner, n, folds, repeats, how, level, random_state : what was done
    failures : tuple of str
        Folds that failed.
    methods, statuses : Counter
        How the fits ended.
    seconds : float
        Time of all folds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, cross_validate
    >>> X, y = load_iris(return_X_y=True)
    >>> cv = cross_validate(LinearDiscriminant(), X, y, folds=3, random_state=0)
    >>> cv.fold_values["accuracy"]
    array([1.  , 0.96, 0.98])
    """

    learner: str
    n: int
    folds: int
    repeats: int
    how: str
    level: float
    random_state: int
    estimates: dict[str, Estimate]
    fold_values: dict[str, Floats] = field(repr=False)
    results: tuple[FoldResult, ...] = field(repr=False)
    _pool: Callable[[], Any] = field(repr=False)
    failures: tuple[str, ...] = ()
    shared: str | None = None

    def __getitem__(self, name: str) -> Estimate:
        """The estimate of one metric."""
        if name not in self.estimates:
            raise ParameterError(f"there is no metric {name!r}: there are {', '.join(self.estimates)}.")
        return self.estimates[name]

    @cached_property
    def pooled(self) -> Any:
        """All judged rows (of the first repeat) as one evaluation; scores of different fits are mixed in it."""
        return self._pool()

    @property
    def methods(self) -> Counter[str]:
        """How many fits ended by which method (a learner may change it, for example under separation)."""
        return Counter(r.method for r in self.results if r.method is not None)

    @property
    def statuses(self) -> Counter[str]:
        """How many fits ended with which status."""
        return Counter(r.status for r in self.results if r.status is not None)

    @property
    def seconds(self) -> float:
        """Time of all folds, added up."""
        return sum(r.seconds for r in self.results)

    def predictions(self) -> NDArray[Any]:
        """What was predicted for each row by the model that had not seen it (the first repeat); None elsewhere.

        Returns
        -------
        array of shape (n,)

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, cross_validate
        >>> X, y = load_iris(return_X_y=True)
        >>> cv = cross_validate(LinearDiscriminant(), X, y, random_state=0)
        >>> int((cv.predictions() != y).sum())
        3
        """
        out = np.full(self.n, None, dtype=object)
        for r in self.results[: self.folds]:
            if r.said is not None:
                out[r.rows] = r.said.labels
        return out

    def __str__(self) -> str:
        times = f", {self.repeats} times" if self.repeats > 1 else ""
        lines = [
            f"{self.folds}-fold cross-validation{times} of {self.learner}",
            f"  {self.n:,} rows, {self.how}; {percent(self.level)} intervals",
        ]
        for name, e in self.estimates.items():
            values = self.fold_values[name]
            known = values[~np.isnan(values)]
            spread_of = f"folds {shown(known.min())} … {shown(known.max())}" if len(known) else ""
            lines.append(
                f"  {name.replace('_', ' '):<18} {e!s:<24} {e.method if e.has_interval else '':<46} {spread_of}"
            )
        for counted, word in ((self.methods, "method"), (self.statuses, "status")):
            if counted:
                statuses = ", ".join(f"{name} {m}" for name, m in counted.most_common())
                lines.append(f"  fits by {word}: {statuses}")
        lines += [f"  failed: {failure}" for failure in self.failures]
        return "\n".join(line.rstrip() for line in [*lines, f"  {CAVEAT}"])

    def plot(self, metric: str | None = None, ax: Any = None) -> Any:
        """The folds of the first repeat: the part of the rows that each judges, and its metric.

        Parameters
        ----------
        metric : str, optional
            One of ``estimates``; the first by default.
        ax : matplotlib Axes, optional

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, cross_validate
        >>> X, y = load_iris(return_X_y=True)
        >>> cv = cross_validate(LinearDiscriminant(), X, y, random_state=0)
        >>> ax = cv.plot()
        >>> ax.get_title()
        'accuracy 0.980 [0.943, 0.993]'
        """
        from separatrix.evaluation.figures import draw_folds

        name = metric or next(iter(self.estimates))
        title = f"{name.replace('_', ' ')} {self[name]!s}"
        sizes = [len(r.rows) for r in self.results[: self.folds]]
        return draw_folds(sizes, [shown(v) for v in self.fold_values[name][: self.folds]], title, ax)

    def _repr_html_(self) -> str:
        return as_html(str(self), self.estimates)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, cross_validate
        >>> X, y = load_iris(return_X_y=True)
        >>> cross_validate(LinearDiscriminant(), X, y, folds=3, random_state=0).to_dict()["folds"]
        3
        """
        return {
            "learner": self.learner,
            "n": self.n,
            "folds": self.folds,
            "repeats": self.repeats,
            "how": self.how,
            "level": self.level,
            "random_state": self.random_state,
            "estimates": {name: e.to_dict() for name, e in self.estimates.items()},
            "fold_values": {
                name: [None if math.isnan(v) else v for v in values.tolist()]
                for name, values in self.fold_values.items()
            },
            "methods": dict(self.methods),
            "statuses": dict(self.statuses),
            "failures": list(self.failures),
            "caveat": CAVEAT,
        }


def pooled_evaluation(results: list[FoldResult], y: Any, weights: Floats | None, positive: Any, level: float) -> Any:
    """All rows that were judged, as one evaluation of the procedure (scores of different fits are mixed)."""
    done = [r for r in results if r.said is not None]
    rows = np.concatenate([r.rows for r in done])
    w = None if weights is None else weights[rows]
    said = [r.said for r in done if r.said is not None]
    labels = np.concatenate([s.labels for s in said])
    if said[0].numbers:
        return evaluate_numbers(check_targets(take_rows(y, rows)), labels, w, level)
    first = said[0].classes
    same = first is not None and all(s.classes is not None and np.array_equal(s.classes, first) for s in said)

    def stacked(name: str) -> Floats | None:
        parts = [getattr(s, name) for s in said]
        return np.concatenate(parts) if same and all(p is not None for p in parts) else None

    together = Said(labels, stacked("scores"), stacked("probabilities"), first if same else None)
    outcomes, notes = outcomes_of(take_rows(y, rows), together, positive, w)
    return evaluate_outcomes(outcomes, level, notes=notes)


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
    """Estimate how well a learner predicts new rows.

    Parameters
    ----------
    learner : any estimator or pipeline of scikit-learn's protocol; it is cloned, never fitted
    X, y : rows and labels (or targets) in any form the learner takes
    folds : number of folds, pairs (training rows, test rows), or a splitter of scikit-learn's
    repeats : how often the folds are drawn
    stratify : whether folds keep the shares of the classes
    groups : one label a row; groups are kept together, in the folds of a :class:`Selector` too
    time : one moment a row; each fold is fitted on rows earlier than its test rows, those of a Selector too
    sample_weight : weights of the rows, for the fits and for the metrics
    positive : the positive one of two classes, default: the second
    scorers : further metrics by name, functions of (fitted learner, X, y)
    executor : None, a number of threads, or anything with ``submit`` (processes, a cluster)
    n_jobs : the number of threads in scikit-learn's way (-1: all processors), instead of ``executor``
    progress : True for a line on a terminal, or a function of (done, total)
    on_failure : {"raise", "report"}
        Whether a fold that fails is an error, or is reported beside the results of the others.
    share : whether least squares and discriminants may be fitted from moments that folds share
    level, random_state : of the intervals; of the folds, and of learners that have none of their own
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
    level, seed = need_level(level), seed_of(random_state)
    if on_failure not in ("raise", "report"):
        raise ParameterError(f"on_failure is {on_failure!r}: it can be 'raise' or 'report'.")
    need_learner(learner)
    keep_freed_blocks()
    n = labelled_rows(X, y)
    regression = is_regressor(learner)
    weights = check_weights(sample_weight, n)
    fold_list, how = folds_for(n, folds, repeats, y, stratify, groups, time, seed, regression)
    _check_named(scorers, "scorers", "functions of (fitted learner, X, y)")
    _check_named(fit_with, "fit_with", "arrays with one entry a row")
    routed = learner._routed.get("fit", ()) if isinstance(learner, Estimator) else ()
    inner = {name: values for name, values in (("groups", groups), ("time", time)) if name in routed}
    fit_with = {name: values for name, values in inner.items() if values is not None} | (fit_with or {})
    for name, values in fit_with.items():
        check_lengths(n, count_rows(values, what=name), name)
    tasks = make_tasks(learner, X, y, fold_list, weights, regression, seed, scorers, fit_with)
    once = dealt_anew(folds, time) or (time is None and judges_once(tasks))
    sharing = share and once and repeats == 1 and not fit_with and is_partition(tasks)
    tasks, shared = share_work(tasks) if sharing else (tasks, None)
    results = spread(run_fold, tasks, executor_of(executor, n_jobs), progress)
    if any(r.error is not None for r in results):
        _blame_rows(learner, X)
    failures = stop_at_failure(results, learner, on_failure)
    for failure in failures:
        warnings.warn(f"left out: {failure}", FoldWarning, stacklevel=2)
    judge = judge_numbers if regression else judge_classes
    clusters = None if groups is None else check_labels(groups, what="groups", ids=True).codes
    estimates, values = judge(results, y, weights, positive, level, once, clusters)
    for name in scorers or {}:
        if name in values:
            raise ParameterError(f"scorers has {name!r}, which is a metric already: choose another name.")
        values[name] = np.array([r.scores.get(name, np.nan) for r in results])
        estimates[name] = corrected_t(values[name], results, level)
    count = len(fold_list) // repeats
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
        _pool=partial(pooled_evaluation, results[: first_repeat(fold_list)], y, weights, positive, level),
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

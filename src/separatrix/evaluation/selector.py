"""``Selector``: a learner that chooses among candidates by cross-validation each time it is fitted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import FoldError, ParameterError
from separatrix.evaluation.fold_assignment import folds_for
from separatrix.evaluation.fold_runs import (
    fit,
    is_partition,
    need_judged_rows,
    path_of,
    seeded_clone,
    seeds_of_folds,
)
from separatrix.evaluation.grid_candidates import (
    CandidateTask,
    Configuration,
    candidates_of,
    greater_is_better,
    judge_candidates,
)
from separatrix.evaluation.predictions import is_regressor
from separatrix.evaluation.selection import RULES, Selection, metric_name
from separatrix.evaluation.splits import labelled_rows, seed_of
from separatrix.evaluation.workers import executor_of, spread
from separatrix.protocol import Estimator, FoldPath
from separatrix.validation import check_weights

NESTED = "learner__"


class Delegated:
    """A method or attribute of the chosen learner; before ``fit`` it is there if the learners have it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.__doc__ = f"``{name}`` of the chosen learner."

    def __get__(self, selector: Selector | None, owner: type) -> Any:
        if selector is None:
            return self
        if selector.__sklearn_is_fitted__():
            return getattr(selector.best_estimator_, self.name)
        for learner in selector._learners():
            getattr(learner, self.name)  # AttributeError of the learner that has none
        if self.name.endswith("_"):
            raise AttributeError(f"{type(selector).__name__} has no {self.name!r} before it is fitted")
        return lambda *_, **__: selector._check_fitted()


class Selector(Estimator):
    """A learner that chooses among candidates by cross-validation each time it is fitted.

    ``fit`` runs the folds on the rows it is given and refits the chosen candidate on all of them, so that
    a pipeline, ``cross_validate`` or ``holdout`` around it judges the choice as well: a nested cross-validation is
    ``cross_validate(Selector(...), X, y)``.

    Parameters
    ----------
    learner : an estimator or pipeline, or a dict of them by name
    grid : dict from option names to lists of values (simplest first), a list of such dicts, or None; for
        several learners a dict of those by the learner's name
    folds, repeats, stratify : of the inner cross-validation
    metric : name of a metric, or a function of (fitted learner, X, y) whose greater values are better
    rule : {"best", "one-standard-error"}
    complexity : function from a candidate's options to a number, for the second rule; default: the order of
        the grid
    share : whether candidates may be judged from work that folds share, where their learner offers it
    executor, n_jobs, progress, random_state : as in :func:`cross_validate`

    Attributes
    ----------
    best_estimator_ : the chosen candidate, fitted on all rows
    best_params_, best_index_, best_score_ : its options, its number, and its mean score over the folds
    cv_results_ : the table of the candidates, as scikit-learn's searches have it
    selection_ : the same as a text and as arrays, a :class:`~separatrix.evaluation.Selection`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, Selector
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.5]}, random_state=0)
    >>> model.fit(X, y).predict(X[:2])
    array([0, 0])
    """

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight", "groups", "time"),
        "score": ("sample_weight",),
    }
    _seeds_candidates: ClassVar[bool] = True
    predict = Delegated()
    predict_proba = Delegated()
    predict_log_proba = Delegated()
    decision_function = Delegated()
    transform = Delegated()
    inverse_transform = Delegated()
    classes_ = Delegated()
    n_features_in_ = Delegated()
    feature_names_in_ = Delegated()

    def __init__(
        self,
        learner: Any,
        grid: Any = None,
        *,
        folds: Any = 5,
        repeats: int = 1,
        stratify: bool = True,
        metric: str | Callable[..., float] | None = None,
        rule: str = "best",
        complexity: Callable[[dict[str, Any]], float] | None = None,
        executor: Any = None,
        n_jobs: int | None = None,
        progress: Any = None,
        share: bool = True,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.grid = grid
        self.folds = folds
        self.repeats = repeats
        self.stratify = stratify
        self.metric = metric
        self.rule = rule
        self.complexity = complexity
        self.executor = executor
        self.n_jobs = n_jobs
        self.progress = progress
        self.share = share
        self.random_state = random_state

    def _learners(self) -> list[Any]:
        return list(self.learner.values()) if isinstance(self.learner, Mapping) else [self.learner]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; ``deep`` also those of the learner, as ``learner__C``.

        Parameters
        ----------
        deep : bool
            Whether to list those of the learner too.

        Returns
        -------
        dict

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, Selector
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.5]}, random_state=0)
        >>> model.get_params()["learner"]
        LinearDiscriminant()
        """
        known = super().get_params()
        if deep and hasattr(self.learner, "get_params") and not isinstance(self.learner, type):
            known.update({f"{NESTED}{name}": value for name, value in self.learner.get_params(deep=True).items()})
        return known

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name, those of the learner as ``learner__C``.

        Parameters
        ----------
        **params : keyword arguments
            Parameters and their new values.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, Selector
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.5]}, random_state=0)
        >>> model.set_params(learner__shrinkage=0.25).learner
        LinearDiscriminant(shrinkage=0.25)
        """
        nested = {name.removeprefix(NESTED): value for name, value in params.items() if name.startswith(NESTED)}
        plain = {name: value for name, value in params.items() if not name.startswith(NESTED)}
        super().set_params(**plain)
        if nested and not hasattr(self.learner, "set_params"):
            raise ParameterError(f"{NESTED}{next(iter(nested))} needs one learner, not a dict of them.")
        if nested:
            self.learner.set_params(**nested)
        return self

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # here it depends on the learner
        return "regressor" if is_regressor(self._learners()[0]) else "classifier"

    def __sklearn_tags__(self) -> Any:
        tags = self._learners()[0].__sklearn_tags__()
        tags.target_tags.multi_output = False  # folds are scored by metrics of one target
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "best_estimator_")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
        """Choose by the folds of these rows, then learn from all of them.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.
        groups, time : array or None
            As in :func:`cross_validate`.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, Selector
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.5]}, random_state=0)
        >>> model.fit(X, y).score(X, y)
        0.98
        """
        if self.rule not in RULES:
            raise ParameterError(f"rule is {self.rule!r}: it can be {', '.join(map(repr, RULES))}.")
        if self.complexity is not None and not callable(self.complexity):
            raise ParameterError(f"complexity is {self.complexity!r}: it must be a function of a candidate's options.")
        seed, n = seed_of(self.random_state), labelled_rows(X, y)
        candidates = candidates_of(self.learner, self.grid)
        regression = is_regressor(self._learners()[0])
        metric = self.metric or ("mse" if regression else "accuracy")
        weights = check_weights(sample_weight, n)
        fold_list, _ = folds_for(n, self.folds, self.repeats, y, self.stratify, groups, time, seed, regression)
        need_judged_rows(fold_list, weights)
        seeds = seeds_of_folds(seed, len(fold_list) + 1)
        tasks = [
            CandidateTask(k, candidates, X, y, fold, weights, regression, metric, s)
            for k, (fold, s) in enumerate(zip(fold_list, seeds, strict=False))
        ]
        shared = self._shared(tasks) if self.share and self.repeats == 1 else None
        if shared is not None:
            values = shared[1] if metric == "mse" else np.sqrt(shared[1])
        else:
            values = np.column_stack(
                spread(judge_candidates, tasks, executor_of(self.executor, self.n_jobs), self.progress)
            )
        best, chosen = self._choose(values, candidates, metric)
        self.best_estimator_ = seeded_clone(candidates[chosen].learner, seeds[-1]).set_params(
            **candidates[chosen].params
        )
        if shared is None or not shared[0].finish(self.best_estimator_):
            fit(self.best_estimator_, X, y, weights)
        self.selection_ = Selection(
            metric=metric_name(metric),
            rule=self.rule,
            labels=tuple(c.label for c in candidates),
            params=tuple(c.params for c in candidates),
            fold_values=values,
            best=best,
            chosen=chosen,
            shared=None if shared is None else shared[0].how,
        )
        self.cv_results_ = self.selection_.cv_results()
        self.best_index_ = chosen
        self.best_params_ = candidates[chosen].params
        self.best_score_ = float(self.cv_results_["mean_test_score"][chosen])
        return self

    def _shared(self, tasks: list[CandidateTask]) -> tuple[FoldPath, Floats] | None:
        """What the folds share, and the mean squared errors of the candidates, where no fit is needed for them."""
        first = tasks[0].candidates[0].learner
        same = all(candidate.learner is first for candidate in tasks[0].candidates)
        if not (same and tasks[0].metric in ("mse", "rmse") and is_partition(tasks)):
            return None
        path = path_of(first, tasks, [candidate.params for candidate in tasks[0].candidates])
        errors = None if path is None else path.errors()
        return None if path is None or errors is None else (path, errors)

    def _choose(self, values: Floats, candidates: Sequence[Configuration], metric: Any) -> tuple[int, int]:
        """The number of the best candidate, and of the one chosen by the rule."""
        means = values.mean(axis=1) * (1 if greater_is_better(metric) else -1)
        if np.isnan(means).all():
            raise FoldError(f"every candidate is undefined by {metric}: choose another metric.")
        best = int(np.nanargmax(means))
        if self.rule == "best":
            return best, best
        error = float(values[best].std(ddof=1) / np.sqrt(values.shape[1]))
        near = np.flatnonzero(means >= means[best] - error).tolist()
        cost = self.complexity or (lambda params: 0.0)
        return best, int(min(near, key=lambda i: (cost(candidates[i].params), i)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The chosen learner's own score: accuracy or R^2.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        float

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, Selector
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.5]}, random_state=0)
        >>> model.fit(X, y).score(X, y)
        0.98
        """
        self._check_fitted()
        return float(self.best_estimator_.score(X, y, sample_weight=sample_weight))

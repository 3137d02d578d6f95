"""``select``: hyperparameters, features and learners chosen inside the folds, by rows they did not learn from.

The choice is by the mean over the folds, or by the one-standard-error rule (Breiman, Friedman, Olshen &
Stone 1984): the simplest candidate whose mean is within one standard error of the best. The value of the
chosen one is then too good, for it was chosen by it; ``nested=True`` therefore cross-validates the whole
procedure, choice included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import FoldError, ParameterError
from separatrix.evaluation.candidates import Candidate, CandidateTask, judge_candidates, worse_is_less
from separatrix.evaluation.cross_validation import CrossValidation, cross_validate, folds_for, named
from separatrix.evaluation.estimate import shown
from separatrix.evaluation.folds import FoldTask, fit, need_learner, seeded_clone, seeds_of_folds, spread
from separatrix.evaluation.predictions import is_regressor
from separatrix.evaluation.render import table
from separatrix.evaluation.results import CLASSIFICATION, REGRESSION
from separatrix.evaluation.shared import MOMENTS, RidgePath, is_partition, ridge_errors
from separatrix.evaluation.splits import seed_of
from separatrix.protocol import Estimator
from separatrix.validation import check_lengths, check_weights, count_rows

RULES = ("best", "one-standard-error")
SHOWN = 20


def candidates_of(learner: Any, grid: Any) -> list[Candidate]:
    """Every combination, in the order of the grid: the first value of each option is taken for the simplest."""
    if isinstance(learner, Mapping):
        if not learner:
            raise ParameterError("learner is an empty dict: pass at least one estimator by name.")
        if grid is not None and not isinstance(grid, Mapping):
            raise ParameterError("the grid of several learners must be a dict of grids by the learner's name.")
        if len({is_regressor(own) for own in learner.values()}) > 1:
            raise ParameterError("learners mix classifiers and regressions: choose among them apart.")
        grids = grid or {}
        unknown = [name for name in grids if name not in learner]
        if unknown:
            raise ParameterError(f"the grid names {unknown[0]!r}, which is none of the learners {list(learner)}.")
        return [
            Candidate(f"{name}: {c.label}" if c.params else str(name), c.learner, c.params)
            for name, own in learner.items()
            for c in candidates_of(own, grids.get(name))
        ]
    need_learner(learner)
    if grid is None or grid == {}:
        return [Candidate(named(learner), learner, {})]
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
            out.append(Candidate(label, learner, params))
    if not out:
        raise ParameterError("the grid has no combination: one of its lists is empty.")
    return out


def _metric_name(metric: Any) -> str:
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
    return (
        "metric" if name == "<lambda>" or (callable(metric) and name in (*CLASSIFICATION, *REGRESSION)) else str(name)
    )


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:39] + "…"


@dataclass(frozen=True)
class Selection:
    """The chosen candidate, fitted on all rows (``estimator``), and the table it was chosen from."""

    metric: str
    rule: str
    labels: tuple[str, ...]
    params: tuple[dict[str, Any], ...]
    fold_values: Floats = field(repr=False)
    best: int
    chosen: int
    estimator: Any = field(repr=False)
    nested: CrossValidation | None = None
    shared: str | None = None

    @property
    def best_params(self) -> dict[str, Any]:
        """The options of the chosen candidate."""
        return self.params[self.chosen]

    @property
    def means(self) -> Floats:
        """The mean of the metric over the folds, one a candidate."""
        return np.asarray(self.fold_values.mean(axis=1))

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of those means, as if folds were independent (the rule's convention)."""
        return np.asarray(self.fold_values.std(axis=1, ddof=1) / np.sqrt(self.fold_values.shape[1]))

    def __str__(self) -> str:
        by = "one-standard-error rule" if self.rule != "best" else "best mean"
        lines = [f"{self.labels[self.chosen]}: chosen of {len(self.labels)} by {self.metric}, {by}"]
        order = np.argsort(-self.means if worse_is_less(self.metric) else self.means, kind="stable")
        rows = [["candidate", self.metric, "± s.e.", ""]]
        for i in order[:SHOWN]:
            mark = "chosen" if i == self.chosen else "best" if i == self.best else ""
            rows.append([self.labels[i], shown(self.means[i]), shown(self.standard_errors[i]), mark])
        lines += table(rows)
        if len(order) > SHOWN:
            lines.append(f"  and {len(order) - SHOWN} more")
        if self.nested is None:
            lines.append("  the chosen mean is optimistic; nested=True, or fresh rows, estimate it honestly")
        else:
            lines.append(f"  choice included, nested: {self.metric.replace('_', ' ')} {self.nested[self.metric]}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "metric": self.metric,
            "rule": self.rule,
            "chosen": self.labels[self.chosen],
            "candidates": [
                {"label": label, "mean": float(m), "standard_error": float(s)}
                for label, m, s in zip(self.labels, self.means, self.standard_errors, strict=True)
            ],
            "nested": None if self.nested is None else self.nested.to_dict(),
        }


class Selector(Estimator):
    """A learner that chooses among candidates by cross-validation each time it is fitted.

    ``fit`` runs the folds on the rows it is given and refits the chosen candidate on all of them, so that
    a pipeline, ``cross_validate`` or ``holdout`` around it judges the choice as well.

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
    share : whether penalties of least squares may be judged from moments that folds share
    executor, progress, random_state : as in :func:`cross_validate`
    """

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
        self.progress = progress
        self.share = share
        self.random_state = random_state

    def _any_learner(self) -> Any:
        return next(iter(self.learner.values())) if isinstance(self.learner, Mapping) else self.learner

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # here it depends on the learner
        return "regressor" if is_regressor(self._any_learner()) else "classifier"

    def __sklearn_tags__(self) -> Any:
        tags = self._any_learner().__sklearn_tags__()
        tags.target_tags.multi_output = False  # folds are scored by metrics of one target
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, time: Any = None) -> Self:
        """Choose by the folds of these rows, then learn from all of them."""
        if self.rule not in RULES:
            raise ParameterError(f"rule is {self.rule!r}: it can be {', '.join(map(repr, RULES))}.")
        if self.complexity is not None and not callable(self.complexity):
            raise ParameterError(f"complexity is {self.complexity!r}: it must be a function of a candidate's options.")
        seed, n = seed_of(self.random_state), count_rows(X)
        check_lengths(n, count_rows(y, what="y"), "y")
        candidates = candidates_of(self.learner, self.grid)
        regression = is_regressor(self._any_learner())
        metric = self.metric or ("mse" if regression else "accuracy")
        weights = check_weights(sample_weight, n)
        made, _ = folds_for(n, self.folds, self.repeats, y, self.stratify, groups, time, seed, regression)
        seeds = seeds_of_folds(seed, len(made) + 1)
        tasks = [
            CandidateTask(k, candidates, X, y, fold, weights, regression, metric, s)
            for k, (fold, s) in enumerate(zip(made, seeds, strict=False))
        ]
        path = self._from_moments(tasks) if self.share and self.repeats == 1 else None
        shared = None if path is None else MOMENTS
        if path is not None:
            values = path.errors if metric == "mse" else np.sqrt(path.errors)
        else:
            values = np.column_stack(spread(judge_candidates, tasks, self.executor, self.progress))
        best, chosen = self._choose(values, candidates, metric)
        self.estimator_ = seeded_clone(candidates[chosen].learner, seeds[-1]).set_params(**candidates[chosen].params)
        if path is None or not path.finish(self.estimator_):
            fit(self.estimator_, X, y, weights)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        self.n_features_in_ = getattr(self.estimator_, "n_features_in_", 0)
        self.selection_ = Selection(
            metric=_metric_name(metric),
            rule=self.rule,
            labels=tuple(c.label for c in candidates),
            params=tuple(c.params for c in candidates),
            fold_values=values,
            best=best,
            chosen=chosen,
            estimator=self.estimator_,
            shared=shared,
        )
        return self

    def _from_moments(self, tasks: list[CandidateTask]) -> RidgePath | None:
        """Penalties of least squares judged by their squared error, without a fit; None for anything else."""
        first, metric = tasks[0].candidates[0].learner, tasks[0].metric
        alphas: list[Any] = [c.params.get("alpha") for c in tasks[0].candidates if set(c.params) == {"alpha"}]
        ours = type(first).__name__ == "LeastSquares" and type(first).__module__.startswith("separatrix.")
        same = all(c.learner is first for c in tasks[0].candidates)
        numbers = all(isinstance(a, (int, float)) and not isinstance(a, bool) and 0 <= a < np.inf for a in alphas)
        if not (ours and same and numbers and metric in ("mse", "rmse")) or len(alphas) != len(tasks[0].candidates):
            return None
        if first.solver not in ("auto", "moments"):
            return None
        folds = [FoldTask(t.number, first, t.X, t.y, t.fold, t.weights, True) for t in tasks]
        return ridge_errors(folds, [float(a) for a in alphas]) if is_partition(folds) else None

    def _choose(self, values: Floats, candidates: Sequence[Candidate], metric: Any) -> tuple[int, int]:
        """The number of the best candidate, and of the one chosen by the rule."""
        means = values.mean(axis=1) * (1 if worse_is_less(metric) else -1)
        if np.isnan(means).all():
            raise FoldError(f"every candidate is undefined by {metric}: choose another metric.")
        best = int(np.nanargmax(means))
        if self.rule == "best":
            return best, best
        error = float(values[best].std(ddof=1) / np.sqrt(values.shape[1]))
        near = np.flatnonzero(means >= means[best] - error).tolist()
        cost = self.complexity or (lambda params: 0.0)
        return best, int(min(near, key=lambda i: (cost(candidates[i].params), i)))

    def predict(self, X: Any) -> NDArray[Any]:
        """What the chosen learner says."""
        self._check_fitted()
        return np.asarray(self.estimator_.predict(X))

    def __getattr__(self, name: str) -> Any:
        if name in ("predict_proba", "decision_function") and "estimator_" in self.__dict__:
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The chosen learner's own score: accuracy or R^2."""
        self._check_fitted()
        return float(self.estimator_.score(X, y, sample_weight=sample_weight))


def select(
    learner: Any,
    grid: Any,
    X: Any,
    y: Any,
    *,
    nested: bool | int = False,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    **options: Any,
) -> Selection:
    """Choose among candidates by cross-validation; see :class:`Selector` for the options.

    With ``nested`` (True for 5 outer folds, or a number of them) the whole procedure is cross-validated, so
    that ``.nested`` estimates the chosen learner honestly.
    """
    selector = Selector(learner, grid, **options)
    selector.fit(X, y, sample_weight=sample_weight, groups=groups, time=time)
    chosen = selector.selection_
    if not nested:
        return chosen
    beside = {name: values for name, values in (("groups", groups), ("time", time)) if values is not None}
    outer = cross_validate(
        Selector(learner, grid, **{**options, "executor": None, "progress": None}),
        X,
        y,
        folds=5 if nested is True else nested,
        groups=groups,
        time=time,
        fit_with=beside,
        sample_weight=sample_weight,
        executor=options.get("executor"),
        progress=options.get("progress"),
        random_state=options.get("random_state"),
        scorers={chosen.metric: options["metric"]} if callable(options.get("metric")) else None,
    )
    return replace(chosen, nested=outer)

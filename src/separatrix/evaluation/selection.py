"""``select``: hyperparameters, features and learners chosen inside the folds, by rows they did not learn from.

The choice is by the mean over the folds, or by the one-standard-error rule (Breiman, Friedman, Olshen &
Stone 1984): the simplest candidate whose mean is within one standard error of the best. The value of the
chosen one is then optimistic, because it was chosen by it; ``nested=True`` therefore cross-validates the whole
procedure, choice included.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.evaluation.cross_validation import CrossValidation, cross_validate
from separatrix.evaluation.evaluation_text import table
from separatrix.evaluation.grid_candidates import greater_is_better
from separatrix.evaluation.intervals import shown
from separatrix.evaluation.metrics import NUMBERS
from separatrix.evaluation.results import CLASSIFICATION

RULES = ("best", "one-standard-error")
SHOWN = 20


@dataclass(frozen=True)
class Selection:
    """The chosen candidate, fitted on all rows (``estimator``), and the table it was chosen from.

    Attributes
    ----------
    estimator : estimator
        The chosen candidate, fitted on all rows.
    best, chosen : int
        The candidate with the best mean, and the one that the rule chose.
    best_params : dict
        Parameters of the chosen one.
    params, labels : tuples
        All candidates.
    fold_values, means, standard_errors : arrays
        The metric by candidate and fold, and what follows.
    metric, rule : str
        What was compared, and the rule of choice.
    nested : CrossValidation or None
        The estimate for the whole procedure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, select
    >>> X, y = load_iris(return_X_y=True)
    >>> found = select(LinearDiscriminant(), {"shrinkage": [0.0, 0.1, 0.5]}, X, y, random_state=0)
    >>> len(found.params), found.rule
    (3, 'best')
    """

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
        order = np.argsort(-self.means if greater_is_better(self.metric) else self.means, kind="stable")
        rows = [["candidate", self.metric, "± s.e.", ""]]
        for i in order[:SHOWN]:
            mark = "chosen" if i == self.chosen else "best" if i == self.best else ""
            rows.append([self.labels[i], shown(self.means[i]), shown(self.standard_errors[i]), mark])
        lines += table(rows)
        if len(order) > SHOWN:
            lines.append(f"  and {len(order) - SHOWN} more")
        if self.nested is None:
            lines.append(
                "  the mean of the chosen candidate is optimistic; nested=True or new rows give an honest estimate"
            )
        else:
            lines.append(f"  nested, choice included: {self.metric.replace('_', ' ')} {self.nested[self.metric]}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, select
        >>> X, y = load_iris(return_X_y=True)
        >>> found = select(LinearDiscriminant(), {"shrinkage": [0.0, 0.1, 0.5]}, X, y, random_state=0)
        >>> found.to_dict()["metric"]
        'accuracy'
        """
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


def metric_name(metric: Any) -> str:
    """The name of a metric in a report; a function that has the name of another metric is just "metric"."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
    taken = callable(metric) and name in (*CLASSIFICATION, *NUMBERS)
    return "metric" if name == "<lambda>" or taken else str(name)


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

    Parameters
    ----------
    learner : estimator
        Cloned for each candidate.
    grid : dict of lists, or list of them
        Values to try by parameter.
    X : array, sparse matrix or frame
        The rows.
    y : array
        One label a row.
    nested : bool or int
        Whether, and in how many folds, to cross-validate the whole choice.
    groups, time, sample_weight : array or None
        As in :func:`cross_validate`.
    **options : keyword arguments
        Those of :class:`Selector`.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, select
    >>> X, y = load_iris(return_X_y=True)
    >>> found = select(LinearDiscriminant(), {"shrinkage": [0.0, 0.1, 0.5]}, X, y, random_state=0)
    >>> found.best_params, found.means.round(3)
    ({'shrinkage': 0.0}, array([0.98 , 0.98 , 0.953]))
    """
    from separatrix.evaluation.selector import Selector

    selector = Selector(learner, grid, **options)
    selector.fit(X, y, sample_weight=sample_weight, groups=groups, time=time)
    chosen = selector.selection_
    if not nested:
        return chosen
    beside = {name: values for name, values in (("groups", groups), ("time", time)) if values is not None}
    outer = cross_validate(
        Selector(learner, grid, **{**options, "executor": None, "n_jobs": None, "progress": None}),
        X,
        y,
        folds=5 if nested is True else nested,
        groups=groups,
        time=time,
        fit_with=beside,
        sample_weight=sample_weight,
        executor=options.get("executor"),
        n_jobs=options.get("n_jobs"),
        progress=options.get("progress"),
        random_state=options.get("random_state"),
        scorers={chosen.metric: options["metric"]} if callable(options.get("metric")) else None,
    )
    return replace(chosen, nested=outer)

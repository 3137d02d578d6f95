"""The table that a choice among candidates was made from: what ``Selector`` finds in its folds.

The choice is by the mean over the folds, or by the one-standard-error rule (Breiman, Friedman, Olshen &
Stone 1984): the simplest candidate whose mean is within one standard error of the best. The value of the
chosen one is then optimistic, because it was chosen by it; ``cross_validate(Selector(...), X, y)`` estimates the whole
procedure, choice included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.evaluation.evaluation_text import table
from separatrix.evaluation.grid_candidates import greater_is_better
from separatrix.evaluation.intervals import shown
from separatrix.evaluation.metrics import NUMBERS
from separatrix.evaluation.results import CLASSIFICATION

RULES = ("best", "one-standard-error")
SHOWN = 20


@dataclass(frozen=True)
class Selection:
    """The candidates, the metric of each in each fold, and the one that was chosen: ``selection_`` of a Selector.

    Attributes
    ----------
    best, chosen : int
        The candidate with the best mean, and the one that the rule chose.
    params, labels : tuples
        All candidates.
    fold_values, means, standard_errors : arrays
        The metric by candidate and fold, and what follows.
    metric, rule : str
        What was compared, and the rule of choice.
    shared : str or None
        How the folds shared their work, if they did.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from separatrix import LinearDiscriminant, Selector
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.1, 0.5]}, random_state=0).fit(X, y)
    >>> model.selection_.means.round(3), model.selection_.rule
    (array([0.98 , 0.98 , 0.953]), 'best')
    """

    metric: str
    rule: str
    labels: tuple[str, ...]
    params: tuple[dict[str, Any], ...]
    fold_values: Floats = field(repr=False)
    best: int
    chosen: int
    shared: str | None = None

    @property
    def means(self) -> Floats:
        """The mean of the metric over the folds, one a candidate."""
        return np.asarray(self.fold_values.mean(axis=1))

    @property
    def standard_errors(self) -> Floats:
        """Standard errors of those means, as if folds were independent (the rule's convention)."""
        return np.asarray(self.fold_values.std(axis=1, ddof=1) / np.sqrt(self.fold_values.shape[1]))

    def cv_results(self) -> dict[str, Any]:
        """The table as scikit-learn's searches have it: a score is the metric, or minus a metric that should be small.

        Returns
        -------
        dict
            Arrays with one entry a candidate: ``params``, ``split0_test_score`` ..., ``mean_test_score``,
            ``std_test_score``, ``rank_test_score``, and ``param_NAME`` for every option.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from separatrix import LinearDiscriminant, Selector
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.1, 0.5]}, random_state=0).fit(X, y)
        >>> model.cv_results_["rank_test_score"]
        array([1, 1, 3], dtype=int32)
        """
        scores = self.fold_values if greater_is_better(self.metric) else -self.fold_values
        means = scores.mean(axis=1)
        order = np.where(np.isnan(means), -np.inf, means)
        table: dict[str, Any] = {}
        for name in dict.fromkeys(name for params in self.params for name in params):
            column = np.ma.MaskedArray(np.empty(len(self.params), dtype=object), mask=True)
            for k, params in enumerate(self.params):
                if name in params:
                    column[k] = params[name]
            table[f"param_{name}"] = column
        table["params"] = list(self.params)
        table |= {f"split{k}_test_score": scores[:, k] for k in range(scores.shape[1])}
        table["mean_test_score"], table["std_test_score"] = means, scores.std(axis=1)
        table["rank_test_score"] = (1 + (order[None] > order[:, None]).sum(axis=1)).astype(np.int32)
        return table

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
        lines.append("  the mean of the chosen candidate is optimistic; cross-validate the Selector, or use new rows")
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
        >>> from separatrix import LinearDiscriminant, Selector
        >>> X, y = load_iris(return_X_y=True)
        >>> model = Selector(LinearDiscriminant(), {"shrinkage": [0.0, 0.1, 0.5]}, random_state=0).fit(X, y)
        >>> model.selection_.to_dict()["metric"]
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
        }


def metric_name(metric: Any) -> str:
    """The name of a metric in a report; a function that has the name of another metric is just "metric"."""
    name = metric if isinstance(metric, str) else getattr(metric, "__name__", "metric")
    taken = callable(metric) and name in (*CLASSIFICATION, *NUMBERS)
    return "metric" if name == "<lambda>" or taken else str(name)

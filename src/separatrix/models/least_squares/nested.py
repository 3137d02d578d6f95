"""Nested least-squares models of the same rows, compared by F tests."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from separatrix.errors import DataError, InferenceError, ParameterError
from separatrix.models.least_squares.aliased import has_aliased
from separatrix.models.least_squares.covariance import need_inference
from separatrix.models.least_squares.orthogonal_factors import dense
from separatrix.statistics.anova import model_names, spans
from separatrix.statistics.distributions import f_tail
from separatrix.statistics.result_table import ResultTable


def compared(models: list[Any]) -> ResultTable:
    """Each model with the next larger one; the residual variance is that of the largest, as in R."""
    parts = sorted((_part(model) for model in models), key=lambda part: part[0].rank_)
    for (small, X, y, c), (large, more, other, weights) in pairwise(parts):
        if len(y) != len(other) or not np.array_equal(y, other) or not np.array_equal(c, weights):
            raise DataError("the models are of different rows, weights or offsets: fit them to the same ones.")
        if small.rank_ == large.rank_ or not spans(more, X):
            raise DataError("the models are not nested: the columns of each must be combinations of those of the next.")
    found = [part[0] for part in parts]
    left = np.array([float(model.n_rows_ - model.rank_) for model in found])
    rss = np.array([model.rss_ for model in found])
    df, gain = -np.diff(left), -np.diff(rss)
    F = gain / df / (rss[-1] / left[-1])
    p = [f_tail(f, k, left[-1]) for f, k in zip(F.tolist(), df.tolist(), strict=True)]
    columns = {"df_resid": left, "rss": rss, "df": df, "sum_sq": gain, "stat": F, "p": np.array(p)}
    filled = {k: v if len(v) == len(found) else np.concatenate([[np.nan], v]) for k, v in columns.items()}
    return ResultTable("Comparison of nested models", model_names(found), filled, (), (), {"stat": "F"})


def _part(model: Any) -> tuple[Any, Any, Any, Any]:
    if not hasattr(model, "n_rows_"):
        raise ParameterError(f"anova compares fitted LeastSquares models, and one is a {type(model).__name__}.")
    if not has_aliased(model):
        need_inference(model)
    if model._rows is None:
        raise InferenceError("a model from a file, a pickle or partial_fit has no rows: fit it again to compare it.")
    table, y, weights = model._rows
    X = dense(table.X)
    lifted = np.column_stack([X, np.ones(len(X))]) if model.fit_intercept else X
    return model, lifted, y, np.ones(len(X)) if weights is None else weights

"""Intervals for predictions: of the mean at x, and of one more observation there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.models.least_squares.aliased import determined
from separatrix.models.least_squares.covariance import need_inference, scores_in_basis
from separatrix.statistics.distributions import need_level

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares


def predict_interval(
    model: LeastSquares, X: Any, *, level: float = 0.95, kind: str = "prediction"
) -> tuple[Floats, Floats]:
    """Lower and upper ends of an interval for each row, for normal noise of one variance.

    ``kind="mean"`` covers w.x + b itself: s(x) -/+ t sqrt(s^2 x'(X'X)^-1 x); ``kind="prediction"`` a new
    observation of weight 1 there, whose own variance s^2 is added.
    """
    from scipy.special import stdtrit

    model, X = determined(model, X)
    factor = need_inference(model)
    need_level(level)
    if kind not in ("mean", "prediction"):
        raise ParameterError(f"kind is {kind!r}: it can be 'mean' or 'prediction'.")
    table = model._check_rows(X)
    spread = (scores_in_basis(factor.basis, table.X, np.ones(table.n)) ** 2).sum(axis=1)
    variance = model.sigma2_ * (spread + (1.0 if kind == "prediction" else 0.0))
    half = float(stdtrit(model.n_rows_ - model.rank_, 0.5 + level / 2)) * np.sqrt(variance)
    middle = model.predict(X)
    return middle - half, middle + half

"""Influence of single rows and columns: leverage, Cook's distance, variance inflation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.least_squares.covariance import basis_of, need_inference, root, rows_again, scores_in_basis

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares

ALONE = 1e-12  # a leverage nearer to 1 than this is 1


@dataclass(frozen=True, slots=True)
class Influence:
    """Row by row; NaN for rows of weight zero.

    A row of leverage 1 determines a coefficient by itself: the fit passes through it, its studentized residuals are
    0/0 (NaN), and without it the coefficients are not unique (its Cook's distance is infinite).

    leverage            h_i, how far the fit at i follows y_i; between 0 and 1, their sum is the rank
    studentized         residuals over s sqrt(1 - h_i)
    studentized_outside the same with s estimated without row i
    cooks_distance      how far all predictions move without row i, in units of p s^2 (Cook 1977)
    """

    leverage: Floats
    studentized: Floats
    studentized_outside: Floats
    cooks_distance: Floats


def influence(model: LeastSquares, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> Influence:
    """Leverage and influence of every row of the fit, which is passed again."""
    need_inference(model)
    rows = rows_again(model, X, y, sample_weight)
    Z = scores_in_basis(basis_of(model, rows)[0], rows.X, rows.weights)
    h = (Z * Z).sum(axis=1)
    alone = 1 - h < ALONE
    h[alone] = 1.0
    e = np.sqrt(rows.weights) * rows.residuals
    e[alone] = 0.0
    n, p = model.n_rows_, model.rank_
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = e / np.sqrt(model.sigma2_ * (1 - h))
        outside = inside * np.sqrt((n - p - 1) / (n - p - inside**2)) if n > p + 1 else np.full(len(e), np.nan)
        cook = np.where(alone, np.inf, inside**2 * h / ((1 - h) * p))
    found = (h, inside, outside, cook)
    full = [np.full(len(rows.counted), np.nan) for _ in found]
    for out, values in zip(full, found, strict=True):
        out[rows.counted] = values
    return Influence(*full)


def variance_inflation(model: LeastSquares) -> Floats:
    """1/(1 - R_j^2) of each column regressed on the others: by how much they inflate its coefficient's variance."""
    factor = need_inference(model)
    B = root(model, factor.basis)
    return np.asarray(factor.squares * (B[: len(factor.squares)] ** 2).sum(axis=1))


def standardised_changes(model: LeastSquares, X: Any, y: Any, sample_weight: Any, found: Influence) -> Floats:
    """DFBETAS: the change of each coefficient without the row, in standard errors with s estimated without it."""
    rows = rows_again(model, X, y, sample_weight)
    basis, _ = basis_of(model, rows)
    B, Z = root(model, basis), scores_in_basis(basis, rows.X, rows.weights)
    out = np.full((len(rows.counted), len(B)), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = found.studentized_outside / np.sqrt(1 - found.leverage)
        out[rows.counted] = (Z @ B.T) * away[rows.counted, None] / np.sqrt((B * B).sum(axis=1))
    return out

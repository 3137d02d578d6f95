"""Covariances of least-squares coefficients: of the model, robust to unequal variances, clusters and time.

With H the lifted rows times the roots of their weights, e the residuals times the same, B B' = (H'H)^-1 and
h_i the leverages:
    model       s^2 (H'H)^-1,  s^2 = e'e/(n - p)
    HC0 .. HC3  (H'H)^-1 [sum g_i e_i^2 H_i H_i'] (H'H)^-1 with g = 1, n/(n - p), 1/(1 - h), 1/(1 - h)^2
                (Eicker 1967, Huber 1967, White 1980; MacKinnon and White 1985)
    cluster     (H'H)^-1 [sum over clusters of (sum e_i H_i)(sum e_i H_i)'] (H'H)^-1, times
                G/(G - 1) (n - 1)/(n - p) for G clusters (Liang and Zeger 1986)
    HAC         for rows in the order of time, with Bartlett's weights (Newey and West 1987)

With them come intervals for predictions: of the mean at x, and of one more observation there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, InferenceError, ParameterError
from separatrix.models.least_squares.aliased import determined
from separatrix.models.least_squares.choose import LIMITS
from separatrix.models.least_squares.normal_factor import MOST_COLUMNS, NormalFactor
from separatrix.models.least_squares.orthogonal_factors import OrthogonalFactors, dense
from separatrix.numerics.linear_scores import dense_chunks
from separatrix.numerics.normal_equations import Basis
from separatrix.statistics.distributions import need_level
from separatrix.statistics.sandwich import cluster_codes, cluster_meat, lagged_meat, need_lags
from separatrix.validation import check_lengths, check_targets, check_weights

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares

ROBUST = ("HC0", "HC1", "HC2", "HC3")
KINDS = ("model", *ROBUST, "cluster", "HAC")


@dataclass(frozen=True, slots=True)
class FittedRows:
    """The rows of the fit again: features, residuals and weights, those of weight zero left out."""

    X: Any
    residuals: Floats
    weights: Floats
    counted: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Covariance:
    """The covariance of (w, b), or of w where there is no b, and the degrees of freedom of its t and F."""

    matrix: Floats
    freedom: float
    note: str | None = None


def need_inference(model: LeastSquares) -> NormalFactor:
    """The factor of an unpenalised fit with unique coefficients and rows to spare; otherwise the reason why not."""
    model._check_fitted()
    if model.coef_.ndim == 2:
        raise InferenceError(f"y had {len(model.coef_)} columns: fit each target by itself to have its inference.")
    if model.alpha != 0:
        raise InferenceError(
            f"the fit is penalised (alpha={model.alpha:g}): its coefficients are biased, and these intervals "
            "would not cover them; fit with alpha=0."
        )
    if model.positive:
        raise InferenceError("positive=True bounds the coefficients, and these intervals do not: fit without it.")
    factor = model._normal_factor()
    if factor is None and model.rank_ == len(model.coef_) + bool(model.fit_intercept):
        if model.solver_ in ("moments", "refined", "qr"):
            raise InferenceError(
                f"the model file carried no factor of the normal matrix (none of more than {MOST_COLUMNS} columns is "
                "saved, nor by earlier versions): fit again."
            )
        raise InferenceError(f"solver_={model.solver_!r} keeps no factor of the normal matrix: fit with solver='auto'.")
    if factor is None:
        raise InferenceError(
            f"the coefficients are not unique (rank {model.rank_}, solved by {model.solver_!r}): drop dependent "
            "columns, or add rows."
        )
    if model.n_rows_ <= model.rank_:
        raise InferenceError(
            f"{model.n_rows_} rows determine {model.rank_} coefficients and leave nothing to estimate the noise: "
            "add rows."
        )
    return factor


def rows_again(model: LeastSquares, X: Any, y: Any, sample_weight: Any) -> FittedRows:
    """The rows of the fit, given again or kept by reference; they must be the same: their residual sum is compared."""
    if X is not None:
        table, targets = model._check_rows(X), check_targets(y, rows=X)
        check_lengths(table.n, len(targets), "y")
        weights = check_weights(sample_weight, table.n, rows=X)
    elif model._rows is not None:
        table, targets, weights = model._rows
    else:
        raise InferenceError("a model from a file, a pickle or partial_fit has no rows: pass X and y.")
    c = np.ones(table.n) if weights is None else weights
    counted = c > 0
    residuals, lifted = np.empty(table.n), np.append(model.coef_, model.intercept_)
    g, none = np.empty_like(lifted), np.zeros_like(lifted)  # columns far from zero leave residuals no digits in double
    kernels.residual_gradient(kernels.rows(table.X), targets, weights, lifted, none, g, g.copy(), residuals)
    rss = float(c @ (residuals * residuals))
    size = float(c @ (targets * targets))
    if int(counted.sum()) != model.n_rows_ or abs(rss - model.rss_) > 1e-6 * model.rss_ + 1e-10 * size:
        raise DataError("X, y and sample_weight are not those of the fit: pass the same rows.")
    X = table.X if counted.all() else table.X[counted]
    return FittedRows(X, residuals[counted], c[counted], counted)


def basis_of(model: LeastSquares, rows: FittedRows | None) -> tuple[Basis, str | None]:
    """The factor of an inference, from orthogonal factors where the condition is large and the rows are given."""
    basis = need_inference(model).basis
    if model.solver_ == "qr" or model.condition_**2 <= 10 * LIMITS.trusted:
        return basis, None
    if rows is None:
        kept = max(0, int(15 - 2 * np.log10(model.condition_)))
        lost = f"standard errors keep about {kept} digits (condition {model.condition_:.1e}); pass X and y for more"
        return basis, lost
    factors = OrthogonalFactors(dense(rows.X), rows.weights, 0.0, bool(model.fit_intercept), model._free)
    return factors.basis(), None


def root(model: LeastSquares, basis: Basis) -> Floats:
    """B with B B' = (H'H)^-1."""
    B = basis.root()
    return B if model.fit_intercept else B[:-1]


def scores_in_basis(basis: Basis, X: Any, weights: Floats) -> Floats:
    """H B, row by row: its squared lengths are the leverages."""
    out = np.empty((X.shape[0], len(basis.triangle)))
    for begin, part in dense_chunks(X):
        out[begin : begin + len(part)] = basis.scores(part)
    out *= np.sqrt(weights)[:, None]
    return out


def coefficient_covariance(
    model: LeastSquares,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    kind: str = "model",
    groups: Any = None,
    lags: int | None = None,
) -> Covariance:
    """The covariance of the coefficients, b last; all kinds but "model" need the rows of the fit.

    A model keeps its rows by reference, and they must not have changed; one from a file or a pickle needs them again.
    """
    need_inference(model)
    if kind not in KINDS:
        raise ParameterError(f"covariance is {kind!r}: it can be {', '.join(map(repr, KINDS))}.")
    if (groups is None) == (kind == "cluster"):
        raise ParameterError("groups, one label per row, go with covariance='cluster' and with no other.")
    if (X is None) != (y is None):
        raise ParameterError("X and y go together: pass both, or none.")
    rows = rows_again(model, X, y, sample_weight) if X is not None or kind != "model" else None
    basis, note = basis_of(model, rows)
    B = root(model, basis)
    n, p = model.n_rows_, model.rank_
    if rows is None or kind == "model":
        return Covariance(model.sigma2_ * (B @ B.T), n - p, note)
    Z = scores_in_basis(basis, rows.X, rows.weights)
    e = np.sqrt(rows.weights) * rows.residuals
    if kind == "cluster":
        codes = cluster_codes(groups, len(rows.counted), rows.counted)
        meat, count = cluster_meat(e[:, None] * Z, codes)
        factor = count / (count - 1) * (n - 1) / (n - p)
        return Covariance(B @ meat @ B.T * factor, count - 1, note)
    if kind == "HAC":
        return Covariance(B @ lagged_meat(e[:, None] * Z, need_lags(lags, n)) @ B.T, n - p, note)
    left = 1.0 - (Z * Z).sum(axis=1)
    if kind in ("HC2", "HC3") and left.min() < 1e-12:
        row = int(np.flatnonzero(rows.counted)[int(left.argmin())])
        raise InferenceError(f"row {row} has leverage 1, which {kind} divides by: use HC0 or HC1, or drop the row.")
    factor = n / (n - p) if kind == "HC1" else left ** {"HC0": 0, "HC2": -1, "HC3": -2}[kind]
    weighted = Z * np.sqrt(factor * e * e)[:, None]
    return Covariance(B @ (weighted.T @ weighted) @ B.T, n - p, note)


# -- predictions --


def predict_interval(
    model: LeastSquares, X: Any, *, level: float = 0.95, kind: str = "prediction", offset: Any = None
) -> tuple[Floats, Floats]:
    """Lower and upper ends of an interval for each row, for normal noise of one variance.

    ``kind="mean"`` covers w.x + b itself: s(x) -/+ t sqrt(s^2 x'(X'X)^-1 x); ``kind="prediction"`` a new
    observation of weight 1 there, whose own variance s^2 is added. The offset moves both ends.
    """
    from scipy.special import stdtrit

    middle = model.predict(X, offset=offset)
    model, X = determined(model, X)
    factor = need_inference(model)
    need_level(level)
    if kind not in ("mean", "prediction"):
        raise ParameterError(f"kind is {kind!r}: it can be 'mean' or 'prediction'.")
    table = model._check_rows(X)
    spread = (scores_in_basis(factor.basis, table.X, np.ones(table.n)) ** 2).sum(axis=1)
    variance = model.sigma2_ * (spread + (1.0 if kind == "prediction" else 0.0))
    half = float(stdtrit(model.n_rows_ - model.rank_, 0.5 + level / 2)) * np.sqrt(variance)
    return middle - half, middle + half

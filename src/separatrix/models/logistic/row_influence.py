"""The influence of single rows on a logistic fit: leverage, residuals, and the change of the estimate without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.grouped import GroupedOutcomes
from separatrix.models.logistic.likelihood import FittedLikelihood
from separatrix.statistics.summary import ResultTable, row_names


class LogisticInfluence(ResultTable):
    """One row of the table for each row that counts; the columns are also attributes.

    Columns are leverage, pearson and deviance residuals, studentized (Pearson's over sqrt(1 - leverage)),
    cooks_distance, and dfbetas:NAME, the change of a coefficient without the row in standard errors.
    ``dfbeta`` (n, coefficients) are these changes themselves. They and Cook's distance are one step of Newton's method
    without the row (Pregibon 1981; Lesaffre and Albert 1989 for more than two classes). Residuals of two
    classes have the sign of y - p; of more they are lengths, and leverages are traces: their sum is the number of
    coefficients.
    """

    dfbeta: Floats

    @property
    def leverage(self) -> Floats:
        return self.columns["leverage"]

    @property
    def pearson(self) -> Floats:
        return self.columns["pearson"]

    @property
    def deviance(self) -> Floats:
        return self.columns["deviance"]

    @property
    def cooks(self) -> Floats:
        return self.columns["cooks_distance"]


def influence_of(
    fitted: FittedLikelihood,
    names: Sequence[str],
    grouped: GroupedOutcomes | None,
    row_index: Callable[[int], Any],
) -> LogisticInfluence:
    """The influence of each row; coefficients in the order of the summary."""
    found = _of_rows(fitted) if grouped is None else _of_groups(fitted, grouped)
    leverage, pearson, deviance, dfbeta, cooks = found
    errors = np.sqrt(np.diagonal(fitted.covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        studentized = pearson / np.sqrt(1.0 - leverage)
    columns = {"leverage": leverage, "pearson": pearson, "deviance": deviance, "studentized": studentized}
    columns["cooks_distance"] = cooks
    columns |= {f"dfbetas:{name}": dfbeta[:, j] / errors[j] for j, name in enumerate(names)}
    index = row_index(len(leverage))
    made = LogisticInfluence("Influence of rows", row_names(index), columns, index=index)
    object.__setattr__(made, "dfbeta", dfbeta)
    return made


def _of_rows(fitted: FittedLikelihood) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """With r = y - p against the first class, W = diag(p) - p p', V the covariance and M_kl = x'V_kl x of a row of
    weight c, its deletion moves the estimate by  V (I (x) x) (1 - c W M)^-1 c r.
    """
    free, p = fitted.estimate.shape
    n, c, L = fitted.problem.n, fitted.counts, fitted.lifted
    P = fitted.probabilities[:, 1:]
    V = fitted.covariance.reshape(free, p, free, p)
    own = fitted.probabilities[np.arange(n), fitted.problem.codes]
    r = fitted.residuals
    W = np.einsum("ik,kl->ikl", P, np.eye(free)) - P[:, :, None] * P[:, None, :]
    left = np.einsum("ij,kjlm->iklm", L, V, optimize=True)  # x'V_kl of each row
    M = np.einsum("iklm,im->ikl", left, L, optimize=True)
    hat = c[:, None, None] * (W @ M)
    solved = np.linalg.solve(np.eye(free) - hat, (c[:, None] * r)[:, :, None])[:, :, 0]
    dfbeta = np.einsum("iklm,ik->ilm", left, solved, optimize=True).reshape(n, -1)
    cooks = np.einsum("ik,ikl,il->i", solved, M, solved, optimize=True) / fitted.estimate.size
    # W^-1 r = (1[y = k]/p_k - 1[y = 0]/p_0) over the classes but the first, so that r'W^-1 r = 1/p_y - 1
    size = np.sqrt(c * (1.0 - own) / own)
    deviance = np.sqrt(-2.0 * c * np.log(own))
    sign = np.where(fitted.problem.codes == 1, 1.0, -1.0) if free == 1 else np.ones(n)
    return np.einsum("ikk->i", hat), sign * size, sign * deviance, dfbeta, cooks


def _of_groups(fitted: FittedLikelihood, grouped: GroupedOutcomes) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Of s successes in n trials: residual s - n p, weight n p (1 - p); NaN for rows without a trial."""
    s, n = grouped.successes, grouped.trials
    p, L = np.full(len(n), np.nan), np.full((len(n), fitted.estimate.size), np.nan)
    p[grouped.units], L[grouped.units] = fitted.probabilities[:, 1], fitted.lifted
    V, r, w = fitted.covariance, s - n * p, n * p * (1.0 - p)
    left = L @ V
    h = w * np.einsum("ij,ij->i", left, L)
    with np.errstate(divide="ignore", invalid="ignore"):
        pearson = r / np.sqrt(w)
        hit = np.where(s > 0, s * np.log(s / (n * p)), 0.0)
        miss = np.where(n > s, (n - s) * np.log((n - s) / (n * (1.0 - p))), 0.0)
    deviance = np.sign(r) * np.sqrt(np.maximum(0.0, 2.0 * (hit + miss)))
    dfbeta = left * (r / (1.0 - h))[:, None]
    return h, pearson, deviance, dfbeta, pearson**2 * h / (1.0 - h) ** 2 / fitted.estimate.size

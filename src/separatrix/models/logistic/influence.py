"""The influence of each row on a logistic fit, for any number of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.likelihood import FittedLikelihood


@dataclass(frozen=True, slots=True)
class Influence:
    """How much each row says: leverage, residuals, and the change of the estimate without it.

    ``dfbeta`` (n, coefficients) and ``cooks`` are one step of Newton's method without the row (Pregibon 1981;
    Lesaffre and Albert 1989 for more than two classes). Residuals of two classes have the sign of y - p; of
    more they are lengths, and leverages are traces, so that they add up to the number of coefficients.
    """

    leverage: Floats
    pearson: Floats
    deviance: Floats
    dfbeta: Floats
    cooks: Floats


def influence_of(fitted: FittedLikelihood) -> Influence:
    """The influence of each row; coefficients in the order of the summary.

    With r = y - p against the first class, W = diag(p) - p p', V the covariance and M_kl = x'V_kl x of a row of
    weight c, its deletion moves the estimate by  V (I (x) x) (1 - c W M)^-1 c r.
    """
    free, p = fitted.estimate.shape
    n, c, L = fitted.task.n, fitted.counts, fitted.lifted
    P = fitted.probabilities[:, 1:]
    V = fitted.covariance.reshape(free, p, free, p)
    own = fitted.probabilities[np.arange(n), fitted.task.codes]
    r = -P
    has = np.flatnonzero(fitted.task.codes > 0)
    r[has, fitted.task.codes[has] - 1] += 1.0
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
    sign = np.where(fitted.task.codes == 1, 1.0, -1.0) if free == 1 else np.ones(n)
    return Influence(np.einsum("ikk->i", hat), sign * size, sign * deviance, dfbeta, cooks)

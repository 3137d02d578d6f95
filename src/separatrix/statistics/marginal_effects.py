"""Marginal effects of a logistic model of two classes: how a probability changes with a column, by the delta method.

For a column j the effect at a row is p (1 - p) w_j; with ``dummy`` the effect of a column of zeros and ones is
p(x with 1) - p(x with 0). Averages over rows, or the effect at the means, have the variance J V J', J the derivative
of the effect in the coefficients.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.statistics.distributions import quantile, two_sided
from separatrix.statistics.result_table import ResultTable

AT = ("overall", "mean", "median", "zero")


def logistic(s: Floats) -> Floats:
    """1/(1 + e^-s), without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -s)))


def effects(
    X: Floats,
    weights: Floats,
    beta: Floats,
    V: Floats,
    names: list[str],
    *,
    at: Any,
    dummy: bool,
    level: float,
    lift: bool,
) -> ResultTable:
    """The effects of all columns; ``beta`` and ``V`` have the intercept last, if there is one."""
    if at not in AT:
        raise ParameterError(f"at is {at!r}: it can be {', '.join(map(repr, AT))}.")
    d = X.shape[1]
    L = np.column_stack([X, np.ones(len(X))]) if lift else X
    rows, c = L, weights / weights.sum()
    if at != "overall":
        middle = {"mean": c @ L, "median": np.median(L, axis=0), "zero": np.zeros(L.shape[1])}[at]
        if lift:
            middle[-1] = 1.0
        rows, c = middle[None], np.ones(1)
    p = logistic(rows @ beta)
    w = p * (1.0 - p)
    bend = w * (1.0 - 2.0 * p)
    out, J = np.empty(d), np.empty((d, len(beta)))
    for j in range(d):
        if dummy and np.isin(X[:, j], (0.0, 1.0)).all() and X[:, j].any() and not X[:, j].all():
            one, zero = rows.copy(), rows.copy()
            one[:, j], zero[:, j] = 1.0, 0.0
            high, low = logistic(one @ beta), logistic(zero @ beta)
            out[j] = c @ (high - low)
            J[j] = (c * high * (1.0 - high)) @ one - (c * low * (1.0 - low)) @ zero
            continue
        out[j] = beta[j] * (c @ w)
        J[j] = beta[j] * ((c * bend) @ rows)
        J[j, j] += c @ w
    errors = np.sqrt(np.einsum("ij,jk,ik->i", J, V, J))
    with np.errstate(divide="ignore", invalid="ignore"):
        stat = out / errors
    half = quantile(level, math.inf) * errors
    columns = {"effect": out, "std_err": errors, "stat": stat, "p": two_sided(stat, math.inf)}
    columns |= {"low": out - half, "high": out + half}
    share = f"{100 * level:g}%"
    labels = {"effect": "dP/dx", "stat": "z", "low": f"{share} low", "high": f"{share} high"}
    title = "Average marginal effects" if at == "overall" else f"Marginal effects at the {at}"
    return ResultTable(title, tuple(names), columns, (), (), labels)

"""Probabilities of a logistic model and marginal effects of its columns, with errors by the delta method.

With coefficients B_k of class k against the first (B_0 = 0) and m = sum P_l B_l, the effect of column j on P_k at a row
is P_k (B_kj - m_j); with ``dummy`` that of a column of zeros and ones is P_k(x with 1) - P_k(x with 0), of a level of
a factor P_k(x with that level) - P_k(x with the reference): its other columns are zero in both. Averages over rows, or
effects at the means, have the variance J V J', J the derivative in the coefficients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.statistics.distributions import quantile, tested
from separatrix.statistics.summary import ResultTable, row_names

AT = ("overall", "mean", "median", "zero")
ALONE = "columns of interactions and powers are moved alone: effects are those of columns, not of variables"


def logistic(s: Floats) -> Floats:
    """1/(1 + e^-s), without overflow."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -s)))


@dataclass(frozen=True)
class ClassModel:
    """Coefficients ``B`` (K - 1, p) against the first of the ``classes``, with their covariance; lifted or not."""

    B: Floats
    V: Floats
    classes: tuple[str, ...]
    lift: bool

    def lifted(self, X: Floats) -> Floats:
        return np.column_stack([X, np.ones(len(X))]) if self.lift else X

    def probabilities(self, L: Floats, offset: Floats | None) -> Floats:
        """P (n, K) of lifted rows."""
        s = np.column_stack([np.zeros(len(L)), L @ self.B.T])
        s = s if offset is None else s + offset
        s = s - s.max(axis=1, keepdims=True)  # the same P, and no overflow
        P = np.exp(s)
        return np.asarray(P / P.sum(axis=1, keepdims=True))

    @property
    def shown(self) -> range:
        """The classes that tables have: the second of two, or all."""
        return range(1, 2) if len(self.classes) == 2 else range(len(self.classes))

    def named(self, k: int, name: str) -> str:
        return name if len(self.classes) == 2 else f"{self.classes[k]}:{name}"


def effects(
    model: ClassModel,
    X: Floats,
    weights: Floats,
    offset: Floats | None,
    names: Sequence[str],
    *,
    at: Any,
    dummy: bool,
    level: float,
    terms: Sequence[Sequence[int]] = (),
    notes: tuple[str, ...] = (),
) -> ResultTable:
    """The effects of all columns on the probabilities of the shown classes; ``terms`` has columns that go together."""
    if at not in AT:
        raise ParameterError(f"at is {at!r}: it can be {', '.join(map(repr, AT))}.")
    L, c = model.lifted(X), weights / weights.sum()
    if at != "overall":
        L, offset = _middle(L, c, at, model.lift), None if offset is None else _middle(offset, c, at, False)
        c = np.ones(1)
    P = model.probabilities(L, offset)
    # a column of one value has no difference between 1 and 0 in these rows, and gets its slope
    two_valued = [bool(np.isin(x, (0.0, 1.0)).all() and x.any() and not x.all()) for x in X.T]
    levels = {j: list(members) for members in terms if _is_factor(X[:, list(members)]) for j in members}
    values, jacobian, rows = list[float](), list[Floats](), list[str]()
    for k in model.shown:
        for j, name in enumerate(names):
            if dummy and two_valued[j]:
                effect, slope = _switch(model, L, c, offset, k, j, levels.get(j, [j]))
            else:
                effect, slope = _slope(model, L, c, P, k, j)
            values.append(effect)
            jacobian.append(slope)
            rows.append(model.named(k, name))
    J = np.array(jacobian)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", J, model.V, J))  # the square roots of the diagonal of J V J'
    columns, labels = tested("effect", np.array(values), errors, level, math.inf)
    title = "Average marginal effects" if at == "overall" else f"Marginal effects at the {at}"
    head = (f"on the probability of {model.classes[1]}",) if len(model.classes) == 2 else ()
    return ResultTable(title, tuple(rows), columns, head, notes, labels | {"effect": "dP/dx"})


def _is_factor(X: Floats) -> bool:
    """Whether columns are levels of which a row has at most one."""
    return bool(np.isin(X, (0.0, 1.0)).all() and (X.sum(axis=1) <= 1.0).all())


def _median(x: Floats, c: Floats) -> float:
    """The middle of sorted values with shares ``c``, that of two values where half of the rows are below."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(c[order])
    # shares are rounded: the half that whole weights reach exactly may lie an ulp to either side of 0.5
    at = [int(np.searchsorted(below, half)) for half in (0.5 - 1e-12, 0.5 + 1e-12)]
    return float(x[order[at]].mean())


def _middle(values: Floats, c: Floats, at: str, lift: bool) -> Floats:
    if at == "median":
        middle = np.array([_median(x, c) for x in values.T])
    else:
        middle = c @ values if at == "mean" else np.zeros(values.shape[1])
    if lift:
        middle[-1] = 1.0
    return np.asarray(middle[None])


def _moves(P: Floats, k: int, a: int) -> Floats:
    """dP_k over the score of class a, row by row."""
    return np.asarray(P[:, k] * (float(k == a) - P[:, a]))


def _slope(model: ClassModel, L: Floats, c: Floats, P: Floats, k: int, j: int) -> tuple[float, Floats]:
    slopes = np.concatenate([[0.0], model.B[:, j]])
    away = slopes[None] - (P @ slopes)[:, None]  # B_lj - m_j
    J = np.empty(model.B.shape)
    for a in range(1, len(model.classes)):
        move = _moves(P, k, a)
        J[a - 1] = (c * (move * away[:, k] - P[:, k] * P[:, a] * away[:, a])) @ L
        J[a - 1, j] += c @ move
    return float(c @ (P[:, k] * away[:, k])), J.reshape(-1)


def _switch(
    model: ClassModel, L: Floats, c: Floats, offset: Floats | None, k: int, j: int, levels: list[int]
) -> tuple[float, Floats]:
    effect, J = 0.0, np.zeros(model.B.shape)
    for value, sign in ((1.0, 1.0), (0.0, -1.0)):
        rows = L.copy()
        rows[:, levels] = 0.0
        rows[:, j] = value
        P = model.probabilities(rows, offset)
        effect += sign * float(c @ P[:, k])
        for a in range(1, len(model.classes)):
            J[a - 1] += sign * (c * _moves(P, k, a)) @ rows
    return effect, J.reshape(-1)


def probability_table(
    model: ClassModel, X: Floats, offset: Floats | None, level: float, index: Any = None
) -> ResultTable:
    """The probabilities of rows, named by ``index``; intervals are Wald's on the scale of the log-odds of the class."""
    L = model.lifted(X)
    P = model.probabilities(L, offset)
    z, n = quantile(level, math.inf), len(L)
    parts: dict[str, list[Floats]] = {name: [] for name in ("mean", "std_err", "low", "high")}
    for k in model.shown:
        J = np.concatenate([_moves(P, k, a)[:, None] * L for a in range(1, len(model.classes))], axis=1)
        error = np.sqrt(np.einsum("ij,jk,ik->i", J, model.V, J, optimize=True))
        p = P[:, k]
        with np.errstate(divide="ignore", invalid="ignore"):
            score, half = np.log(p) - np.log1p(-p), z * error / (p * (1.0 - p))
        for name, values in zip(parts, (p, error, logistic(score - half), logistic(score + half)), strict=True):
            parts[name].append(values)
    rows = row_names(np.arange(n) if index is None else index)
    names = tuple(model.named(k, row) for k in model.shown for row in rows)
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    head = (f"of {model.classes[1]}",) if len(model.classes) == 2 else ()
    once = index if len(model.shown) == 1 else None  # several classes repeat the rows: these names tell them apart
    return ResultTable("Predicted probabilities", names, columns, head, index=once)

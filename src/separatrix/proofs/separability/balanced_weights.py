"""Weights that cancel a few rows for each column, in floating point, where the classes overlap widely.

At the least squared hinge loss, sum max(0, 1 - z_i.s)^2, the weights q_i = max(0, 1 - z_i.s) have sum q_i z_i = 0; all
of them are zero only if s separates the rows. A few rows for each column are enough, if a rough hyperplane has as many
of them on its wrong side as on the correct one: they are then no more separable than rows with random labels, which
seldom are when there are more than two for each column (Cover 1965).

Weights > 0 that cancel the rows cancel each column, so they are zero on the rows that are not zero in a column in which
no row is negative, or none positive. Without those rows other columns may be of one sign: they are peeled, layer by
layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats, Indices
from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.exact.ill_conditioned import orthogonal
from separatrix.proofs.exact.lifted_rows import LiftedRows

ROUGH, EACH, LOOKED_AT = 3, 2.5, 20  # rows for each column: to fit the rough hyperplane, to weigh, and to choose from
FEW_OF = 50  # times as many rows as are looked at: from there on the others need not be numbered
ROUNDS = 30  # of Newton's method: some 6 are enough
CANCELLED = 1e-6  # the share of a sum of squares, at most, from which on it is computed anew
SMALLEST = 1e-6  # weights, beside the largest, that are left out: rounding to integers changes the others by more


def balanced_weights(
    rows: LiftedRows, also: Indices | None = None, whitened: bool = False, null: dict[int, Row] | None = None
) -> tuple[Indices, Floats] | None:
    """Rows and weights q > 0 that nearly cancel them; None where a few rows for each column do not show any.

    ``also``: rows to weigh beside those that are chosen. ``whitened``: in coordinates in which the columns are
    orthogonal, which takes longer and copes with columns that are nearly dependent. ``null``: vectors that
    are to vanish on the rows, each by a column that no other has, which is left out then.
    """
    rng, most = np.random.default_rng(0), LOOKED_AT * rows.p
    ids = rng.choice(rows.n, most, replace=False) if rows.n > FEW_OF * most else rng.permutation(rows.n)[:most]
    with np.errstate(all="ignore"):  # what is not finite ends in weights that prove nothing
        found = _weighed(rows, ids, also, whitened, null or {})
        if found is None:  # perhaps since many of the rows that were chosen cannot bear weight
            bears = np.ones(len(ids), dtype=bool)
            for _, gone in layers(rows.table(ids)):
                bears[gone] = False
            found = None if bears.all() else _weighed(rows, ids[bears], also, whitened, null or {})
    return found


def _weighed(
    rows: LiftedRows, ids: Indices, also: Indices | None, whitened: bool, null: dict[int, Row]
) -> tuple[Indices, Floats] | None:
    """The same for some of these rows."""
    chosen = _both_sides(rows, ids) if len(ids) else None
    if chosen is None or not len(chosen):  # margins beyond the doubles are on neither side
        return None
    if also is not None:
        chosen = np.union1d(chosen, also)
    for v in null.values():
        chosen = chosen[rows.signs(v, chosen) == 0]
    if not len(chosen) or len(null) == rows.p:
        return None
    Z = _scaled(rows.dense(chosen))
    if whitened:
        Z = orthogonal(np.delete(Z, [*null], axis=1)) * np.sqrt(len(Z))
    q = hinge_weights(Z)
    if q is None:
        return None
    kept = np.flatnonzero(q > SMALLEST * q.max())
    return (chosen[kept], q[kept]) if len(kept) else None


def _scaled(Z: Floats) -> Floats:
    """Columns times powers of two that bring them near root mean square 1."""
    size = np.sqrt(np.mean(Z * Z, axis=0))
    return np.asarray(np.ldexp(Z, -np.round(np.log2(np.where(size > 0, size, 1.0))).astype(np.int64)))


def _both_sides(rows: LiftedRows, ids: Indices) -> Indices | None:
    """Rows that a rough hyperplane has on its wrong side, and as many on the correct one, or more where they are few.

    Those on the correct side are then the nearest ones.
    """
    p, half = rows.p, int(EACH * rows.p / 2) + 4
    few = rows.dense(ids[: ROUGH * p])
    rough = _solved(few.T @ few, few.sum(axis=0))
    if rough is None:
        return None
    margin = few @ rough
    while len(margin) < len(ids) and int(np.sum(margin <= 0)) < half:
        more = rows.table(ids[len(margin) : len(margin) + ROUGH * p])
        margin = np.concatenate([margin, np.asarray(more @ rough)])
    wrong, right = np.flatnonzero(margin <= 0), np.flatnonzero(margin > 0)
    if len(wrong) < half:
        right = right[np.argsort(margin[right], kind="stable")]
    wrong = wrong[:half]
    return np.asarray(np.sort(ids[np.concatenate([wrong, right[: 2 * half - len(wrong)]])]))


def _solved(G: Floats, target: Floats) -> Floats | None:
    """The solution of G x = target for a matrix that may be singular."""
    size = np.sqrt(np.maximum(np.diag(G), 1e-300))
    G = G / size[:, None] / size
    G[np.diag_indices(len(G))] += 1e-12
    try:
        return np.asarray(np.linalg.solve(G, target / size)) / size
    except np.linalg.LinAlgError:
        return None


def hinge_weights(Z: Floats) -> Floats | None:
    """q = max(0, 1 - Z s) at the least squared hinge loss, by Newton's method; the Gram matrix is kept up to date."""
    m, p = Z.shape
    q, s = np.ones(m), np.zeros(p)
    on = np.ones(m, dtype=bool)
    G, target = Z.T @ Z, Z.sum(axis=0)  # of the rows that are on
    loss = float(m)
    for _ in range(ROUNDS):
        step = _solved(G, target - G @ s)
        if step is None or not np.isfinite(step).all():
            return None
        move, share, score = Z @ step, 1.0, Z @ s
        while float(np.sum(np.maximum(0.0, 1 - score - share * move) ** 2)) > loss * (1 + 1e-12) and share > 1e-6:
            share /= 2
        s = s + share * step
        q = 1 - Z @ s
        loss = float(np.sum(np.maximum(0.0, q) ** 2))
        now = q > 0
        if not now.any() or loss < 1e-12 * m:
            return None  # s separates these rows
        if share == 1.0 and (now == on).all():
            return np.maximum(0.0, q)
        came, left, before = Z[now & ~on], Z[on & ~now], np.diag(G)
        G = G + came.T @ came - left.T @ left
        target = target + came.sum(axis=0) - left.sum(axis=0)
        if (np.diag(G) < CANCELLED * before).any():  # what is left of a column may be rounding alone
            G, target = Z[now].T @ Z[now], Z[now].sum(axis=0)
        on = now
    return None


# -- columns of one sign --


def layers(Z: Any, free: NDArray[np.bool_] | None = None) -> Iterator[tuple[Floats, Indices]]:
    """The signs of the columns of one sign, 0 for the others, and the rows that are not zero there; then the next.

    Z may be sparse. ``free``: the columns that count.
    """
    sign = np.sign(Z) if isinstance(Z, np.ndarray) else Z.sign()
    left = np.arange(Z.shape[0])
    while len(left):  # each round but the last takes rows away
        total, size = (np.asarray(v.sum(axis=0)).ravel() for v in (sign, abs(sign)))
        pure = np.where((size > 0) & (abs(total) == size), np.sign(total), 0.0)
        if free is not None:
            pure[~free] = 0.0
        gone = sign @ pure > 0
        if not gone.any():
            break
        yield pure, left[gone]
        sign, left = sign[~gone], left[~gone]

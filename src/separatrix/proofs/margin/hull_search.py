"""The margin as a distance between hulls, searched in floating point.

    half-width (with an intercept)    half the distance between the hulls of the two classes
    lifted, or without an intercept   the distance between the origin and the hull of the y_i (x_i, 1), or y_i x_i

In each case rows a_i in one or two groups are given, and min |sum x_i a_i| is wanted over weights x >= 0 that sum
to 1 in each group. A small working set is solved (native/separatrix/hull.hpp), its direction is priced on all rows,
and those that lie below their group's level join it. Nothing here is believed: ``theory.corral`` proves.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.numerics.exact_signs import expansion, integer_row
from separatrix.proofs.exact.algebra import Row, combination

Solved = tuple[int, Indices, Floats, Floats]
ORIGIN = 1


@dataclass(frozen=True)
class Found:
    """A support with weights (1 in each group) and the direction v; ``origin``: |v| could not be told from 0."""

    support: list[int]
    weights: Floats
    v: Floats
    origin: bool
    rounds: int


class Hulls:
    """Rows a_i = y_i x_i, or y_i (x_i, 1) when lifted; two groups are the classes, one group is all rows."""

    def __init__(self, X: Any, y: NDArray[np.int8], *, lifted: bool, groups: int, reading: str = "binary64") -> None:
        self.X, self.y, self.lifted, self.groups, self.reading = X, y, lifted, groups, reading
        self.n, self.d = X.shape
        self.q = self.d + int(lifted)
        self.view = kernels.rows(X)

    @cached_property
    def group(self) -> NDArray[np.int8]:
        """0 and 1 for the classes, or 0 for all rows."""
        return (self.y < 0).view(np.int8) if self.groups == 2 else np.zeros(self.n, dtype=np.int8)

    @cached_property
    def size(self) -> int:
        """The exponent of the largest number, such that doubles hold its inverse."""
        values = self.X if isinstance(self.X, np.ndarray) else self.X.data
        top = max(float(values.max(initial=0)), -float(values.min(initial=0)), 1.0 if self.lifted else 0.0)
        return max(math.frexp(top)[1], -1000)

    @cached_property
    def faint(self) -> bool:
        """Whether a number is so small that its double need not be within 2**-53 of the decimal that it stands for."""
        values = np.abs(self.X if isinstance(self.X, np.ndarray) else self.X.data)
        return self.reading == "decimal" and bool(((values > 0) & (values < 1e-300)).any())

    # -- rows ------------------------------------------------------------------------------------

    def plain(self, ids: Sequence[int] | Indices) -> Floats:
        """Rows (x_i, 1) or x_i as doubles, without their signs."""
        ids = np.asarray(ids, dtype=np.int64)
        part = self.X[ids]
        part = np.asarray(part if isinstance(part, np.ndarray) else part.toarray(), dtype=np.float64)
        return np.column_stack([part, np.ones(len(ids))]) if self.lifted else part

    def exact(self, ids: Sequence[int]) -> list[tuple[Row, int]]:
        """Rows a_i times m as integers, and m."""
        signs = self.y[np.asarray(ids, dtype=np.int64)].tolist()
        return [self._whole(row, sign) for row, sign in zip(self.plain(ids).tolist(), signs, strict=True)]

    def scores(self, w: Floats, out: Floats) -> Floats:
        """a_i . w for every row, rounded."""
        kernels.scores(self.view, w if self.lifted else np.append(w, 0.0), out)
        out *= self.y
        return out

    def bounds(self, w: Floats) -> tuple[Floats, Floats]:
        """a_i . w for every row, and how far that may be from the truth."""
        score, bound = np.zeros(self.n), np.full(self.n, np.inf)
        if not np.isfinite(w).all() or self.faint:
            return score, bound
        kernels.bounded_scores(self.view, w if self.lifted else np.append(w, 0.0), score, bound)
        score *= self.y
        return score, bound

    # -- exact sums --------------------------------------------------------------------------------

    def _entries(self, ids: Sequence[int]) -> Iterator[tuple[list[int], Row, int]]:
        """For each row the columns of its non-zeros, their values times m as integers with the row's sign, and m."""
        if isinstance(self.X, np.ndarray):
            every = list(range(self.q))
            yield from ((every, row, m) for row, m in self.exact(ids))
            return
        for i in ids:
            part = slice(self.X.indptr[i], self.X.indptr[i + 1])
            columns, values = self.X.indices[part].tolist(), self.X.data[part].astype(np.float64).tolist()
            if self.lifted:
                columns, values = [*columns, self.d], [*values, 1.0]
            yield columns, *self._whole(values, int(self.y[i]))

    def _whole(self, values: list[float], sign: int) -> tuple[Row, int]:
        if self.reading == "decimal":
            numbers = [Fraction(repr(v)) if v else Fraction(0) for v in values]
            m = math.lcm(*(q.denominator for q in numbers))
            whole = [q.numerator * (m // q.denominator) for q in numbers]
        else:
            whole, m = integer_row(values)
        return (whole if sign > 0 else [-v for v in whole]), m

    def inner(self, ids: Sequence[int], w: Row) -> Iterator[Fraction]:
        """a_i . w, exactly."""
        for columns, row, m in self._entries(ids):
            yield Fraction(sum(v * w[j] for j, v in zip(columns, row, strict=True) if v), m)

    def under(self, ids: Indices, w: Row, level: Fraction) -> Indices:
        """Those of the rows with a_i . w < level, exactly; thousands of ties are handled."""
        out = []
        for sign in (1, -1):
            own = ids[self.y[ids] == sign]
            vector = [v * level.denominator for v in w]
            constant = (vector.pop() if self.lifted else 0) - sign * level.numerator
            parts = None if self.reading == "decimal" else expansion([*vector, constant])
            if parts is not None:
                signs = np.empty(len(own), dtype=np.int8)
                kernels.exact_signs(self.view, self.y, True, parts, own, signs)
                out.append(own[signs < 0])
            else:
                out.append(own[[score < level for score in self.inner(own.tolist(), w)]] if len(own) else own)
        return np.concatenate(out)

    def combined(self, weights: Sequence[Fraction], ids: Sequence[int]) -> tuple[dict[int, int], int]:
        """(v, m) with m sum weights_i a_i = v, in integers; columns that are not named are zero."""
        rows = list(self._entries(ids))
        shares = [q / m for q, (_, _, m) in zip(weights, rows, strict=True)]
        common = math.lcm(*(q.denominator for q in shares))
        factors = [q.numerator * (common // q.denominator) for q in shares]
        if isinstance(self.X, np.ndarray):
            return dict(enumerate(combination([row for _, row, _ in rows], factors))), common
        total: dict[int, int] = {}
        for factor, (columns, row, _) in zip(factors, rows, strict=True):
            for j, v in zip(columns, row, strict=True):
                total[j] = total.get(j, 0) + factor * v
        return total, common

    # -- the search ------------------------------------------------------------------------------

    @property
    def wide(self) -> bool:
        """So many columns that rows are better known by their inner products."""
        return bool(self.q > 1000 and (2 * self.q > self.n or self.q > 4000))

    def search(self, rounds: int = 500, seed: int = 0) -> Found:
        """Rows and weights whose v no row contradicts, as far as rounding lets one see."""
        working = self._first(seed)
        scale = math.ldexp(1.0, -self.size)
        solver: _Coordinates | _Products = _Products(self, scale) if self.wide else _Coordinates(self, scale, working)
        solver.take(working)
        most, batch = (4000 if self.wide else 3 * max(len(working), 400)), max(min(4 * self.q, 1000), 100)
        start, x, c = np.empty(0, dtype=np.int64), np.empty(0), 1.0
        scores = np.empty(self.n)
        for count in range(1, rounds + 1):
            status, start, x, v = solver.solve(self.group[working], start, x, c)
            length = float(np.linalg.norm(v))
            chosen = working[start]
            if status == ORIGIN or not length > 0:
                return Found(chosen.tolist(), x, v, True, count)
            c = min(1.0, max(1e-7, length))
            fresh = self._below(v / length, chosen, x, scores, working, batch)
            if not len(fresh):
                break
            kept = self._kept(scores, working, start, most)
            if kept is not None:
                working, start = working[kept], np.searchsorted(kept, start)
                solver.keep(kept)
            working = np.concatenate([working, fresh])
            solver.take(fresh)
        return Found(chosen.tolist(), x, v, False, count)

    def _first(self, seed: int) -> Indices:
        """The rows to begin with: all, or a sample with both classes in it."""
        size = 2000 if self.wide else max(400, min(10 * self.q, 2**24 // self.q))
        if self.n <= size:
            return np.arange(self.n)
        chance = np.random.default_rng(seed)
        sides = [np.flatnonzero(self.y == sign) for sign in (1, -1)]
        parts = [side if len(side) <= size // 2 else chance.choice(side, size // 2, replace=False) for side in sides]
        return np.sort(np.concatenate(parts))

    def _below(self, w: Floats, support: Indices, x: Floats, scores: Floats, working: Indices, batch: int) -> Indices:
        """The rows farthest below the level of their group that are not yet in the working set."""
        unit = w * math.ldexp(1.0, -self.size)
        with np.errstate(all="ignore"):
            self.scores(unit, scores)
            level = np.zeros(self.groups)
            for g in range(self.groups):
                own = self.group[support] == g
                level[g] = np.average(scores[support[own]], weights=x[own])
            reach = 1e-13 * abs(level.sum()) + 2e-16 * float(np.abs(scores[support]).max())
            below = (level[self.group] - scores) if self.groups == 2 else level[0] - scores
            wrong = np.flatnonzero(~(below <= reach))
            wrong = np.setdiff1d(wrong, working)
            if len(wrong) > batch:
                wrong = wrong[np.argpartition(-below[wrong], batch)[:batch]]
        return wrong

    def _kept(self, scores: Floats, working: Indices, support: Indices, most: int) -> Indices | None:
        """Which of too many working rows to keep: the support and the rows nearest to their level; None for all."""
        if len(working) <= most:
            return None
        slack = scores[working]
        for g in range(self.groups):
            own = self.group[working] == g
            slack[own] -= slack[own].min()
        slack[support] = -np.inf
        keep = max(most // 2, len(support))
        return np.sort(np.argpartition(slack, keep - 1)[:keep])


class _Coordinates:
    """The working rows written out; with two groups, moved to a centre, which changes no difference."""

    def __init__(self, hulls: Hulls, scale: float, first: Indices) -> None:
        self.hulls, self.scale = hulls, scale
        self.centre = (hulls.plain(first) * scale).mean(axis=0) if hulls.groups == 2 else np.zeros(hulls.q)
        self.A = np.empty((0, hulls.q))

    def take(self, ids: Indices) -> None:
        fresh = (self.hulls.plain(ids) * self.scale - self.centre) * self.hulls.y[ids][:, None]
        self.A = np.concatenate([self.A, fresh])

    def keep(self, kept: Indices) -> None:
        self.A = np.ascontiguousarray(self.A[kept])

    def solve(self, group: NDArray[np.int8], start: Indices, x: Floats, c: float) -> Solved:
        k = self.hulls.q + self.hulls.groups
        support, weights, v = np.empty(k, dtype=np.int64), np.empty(k), np.empty(self.hulls.q)
        steps = 100 * self.hulls.q + 10_000
        status, k, _ = kernels.nearest_hulls(self.A, group, start, x, c, 1e-15, steps, support, weights, v)
        return status, support[:k].copy(), weights[:k].copy(), v


class _Products:
    """The inner products of the working rows."""

    def __init__(self, hulls: Hulls, scale: float) -> None:
        self.hulls, self.scale = hulls, scale
        self.ids: Indices = np.empty(0, dtype=np.int64)
        self.K = np.empty((0, 0))

    def _rows(self, ids: Indices) -> Any:
        signs = self.scale * self.hulls.y[ids].astype(np.float64)
        part = self.hulls.X[ids].astype(np.float64)
        if isinstance(part, np.ndarray):
            return part * signs[:, None]
        from scipy import sparse

        return sparse.diags_array(signs) @ sparse.csr_array(part)

    def take(self, ids: Indices) -> None:
        old, self.ids = self.ids, np.concatenate([self.ids, ids])
        block = self._rows(ids) @ self._rows(self.ids).T
        block = np.asarray(block if isinstance(block, np.ndarray) else block.toarray())
        if self.hulls.lifted:
            block += self.scale**2 * np.outer(self.hulls.y[ids], self.hulls.y[self.ids])
        K = np.empty((len(self.ids), len(self.ids)))
        K[: len(old), : len(old)] = self.K
        K[len(old) :] = block
        K[: len(old), len(old) :] = block[:, : len(old)].T
        self.K = K

    def keep(self, kept: Indices) -> None:
        self.ids, self.K = self.ids[kept], np.ascontiguousarray(self.K[np.ix_(kept, kept)])

    def solve(self, group: NDArray[np.int8], start: Indices, x: Floats, c: float) -> Solved:
        support, weights = np.empty(len(self.ids), dtype=np.int64), np.empty(len(self.ids))
        steps = 20 * len(self.ids) + 10_000
        status, k, _ = kernels.nearest_products(self.K, group, start, x, c, 1e-12, steps, support, weights)
        support, weights = support[:k].copy(), weights[:k].copy()
        v = weights @ self._rows(self.ids[support])
        if self.hulls.lifted:
            v = np.append(v, self.scale * (weights @ self.hulls.y[self.ids[support]]))
        return status, support, weights, np.asarray(v)

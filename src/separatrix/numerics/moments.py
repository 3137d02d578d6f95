"""Moments: how many rows, their means and their scatter, of each class or of all, in one pass.

    W_k = sum c_i     m_k = sum c_i z_i / W_k     S_k = sum c_i (z_i - m_k)(z_i - m_k)'

over the rows i of class k with weights c_i, where z = (x, t) is a row of features followed by targets.
Least squares, discriminants and Fisher's directions need nothing else of the data. Rows are added in
blocks that are counted from the first row of each class, and a block that is not full waits in the
state, so that the bits do not depend on the chunks. States of different rows merge exactly
in the mathematics, and up to rounding in the numbers (Chan, Golub and LeVeque 1983).
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.numerics.twofold import twofold_sum
from separatrix.validation import check_labels, check_lengths, check_table, check_targets, check_weights

PANEL = 8  # the scatter is padded to whole panels of columns
ARRAYS = ("rows", "fill", "weight", "mean", "scatter", "block", "block_weight")  # what a state is made of
SLICE = 2**23  # numbers processed between two chances to interrupt


@dataclass(frozen=True, slots=True)
class Totals:
    """Finished moments: ``rows`` and ``weight`` of each class, ``mean`` (K, q) with the part that its rounding
    left over in ``rest``, and ``scatter``, (q, q) if pooled and (K, q, q) if not."""

    rows: NDArray[np.int64]
    weight: Floats
    mean: Floats
    rest: Floats
    scatter: Floats

    def columns(self, kept: NDArray[np.intp]) -> Totals:
        """The moments of some columns (of features and targets), of pooled classes."""
        square = self.scatter[np.ix_(kept, kept)]
        return Totals(self.rows, self.weight, self.mean[:, kept], self.rest[:, kept], square)

    def all_rows(self) -> Totals:
        """The moments of all rows together, whatever their class."""
        total = float(self.weight.sum())
        share = (self.weight / total)[:, None]
        origin = self.mean[0]
        from_origin = (self.mean - origin) + self.rest
        offset = (share * from_origin).sum(axis=0)
        mean, rest = twofold_sum(origin, offset)
        away = np.sqrt(self.weight)[:, None] * (from_origin - offset)
        within = self.scatter if self.scatter.ndim == 2 else self.scatter.sum(axis=0)
        scatter = within + away.T @ away
        return Totals(self.rows.sum(keepdims=True), np.array([total]), mean[None], rest[None], scatter)


class Moments:
    """The state of a pass: what was added, and the blocks that are not full yet.

    Parameters
    ----------
    features : how many columns the rows have
    targets : how many target columns follow them
    labels : the classes, sorted, or None where rows have none
    pooled : whether all classes share one scatter, each about its own mean
    """

    def __init__(
        self, features: int, targets: int = 0, labels: Sequence[Any] | None = None, pooled: bool = True
    ) -> None:
        self.features = features
        self.targets = targets
        self.labels = None if labels is None else list(labels)
        self.pooled = pooled
        count = 1 if labels is None else len(labels)
        columns = features + targets
        side = -(-columns // PANEL) * PANEL
        self.rows = np.zeros(count, dtype=np.int64)
        self.fill = np.zeros(count, dtype=np.int64)
        self.weight = np.zeros(count)
        self.mean = np.zeros((2, count, columns))
        self.scatter = np.zeros((1 if pooled else count, side, side))
        self.block = np.zeros((count, kernels.block_rows, columns))
        self.block_weight = np.zeros((count, kernels.block_rows))

    def _arrays(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in ARRAYS)

    def copy(self) -> Moments:
        """A copy, so that a chunk that fails leaves this state unchanged."""
        other = copy(self)
        other.labels = None if self.labels is None else list(self.labels)
        for name in ARRAYS:
            setattr(other, name, getattr(self, name).copy())
        return other

    def add(
        self,
        X: Any,
        targets: Floats | None = None,
        codes: NDArray[np.int64] | None = None,
        weights: Floats | None = None,
    ) -> Self:
        """Add checked rows, with their targets (n, t), classes by number, and weights."""
        rows = kernels.rows(X)
        step = max(1024, SLICE // max(1, self.features))
        for begin in range(0, rows.n, step):
            end = min(begin + step, rows.n)
            kernels.moments_add(rows, targets, codes, weights, begin, end, *self._arrays())
        return self

    def know(self, labels: Sequence[Any]) -> Self:
        """Make room for classes that appear late; ``labels`` stay sorted."""
        if self.labels is None:
            raise DataError("these moments are of rows without classes: begin new ones with labels.")
        for label in sorted(set(labels) - set(self.labels)):
            at = sum(known < label for known in self.labels)
            self.labels.insert(at, label)
            self.rows, self.fill = np.insert(self.rows, at, 0), np.insert(self.fill, at, 0)
            self.weight = np.insert(self.weight, at, 0.0)
            self.mean = np.ascontiguousarray(np.insert(self.mean, at, 0.0, axis=1))
            self.block = np.insert(self.block, at, 0.0, axis=0)
            self.block_weight = np.insert(self.block_weight, at, 0.0, axis=0)
            if not self.pooled:
                self.scatter = np.insert(self.scatter, at, 0.0, axis=0)
        return self

    def split(self, parts: int, labels: Sequence[Any] | None, pooled: bool) -> list[Moments]:
        """States apart, of scatters that were kept apart: part p has the p-th run of classes, as ``labels``."""
        done, count = self.flushed(), 1 if labels is None else len(labels)
        out = []
        for p in range(parts):
            own = slice(p * count, (p + 1) * count)
            part = Moments(self.features, self.targets, labels, pooled)
            part.rows, part.weight, part.mean = done.rows[own].copy(), done.weight[own].copy(), done.mean[:, own].copy()
            scatter = done.scatter[own]
            part.scatter = scatter.sum(axis=0, keepdims=True) if pooled else scatter.copy()
            out.append(part)
        return out

    @property
    def waits(self) -> bool:
        """Whether rows wait in blocks that are not full."""
        return bool(self.fill.any())

    def flushed(self) -> Moments:
        """A copy in which the waiting blocks are added."""
        other = self.copy()
        kernels.moments_flush(*other._arrays())
        return other

    def totals(self, last: bool = False) -> Totals:
        """The moments of all rows so far, waiting blocks included; this state goes on as it was unless ``last``."""
        done = self if last or not self.waits else self.flushed()
        if done.waits:
            kernels.moments_flush(*done._arrays())
        columns = self.features + self.targets
        upper = done.scatter[:, :columns, :columns]
        half, own = np.triu(upper), np.arange(columns)
        scatter = half + np.swapaxes(half, 1, 2)
        scatter[:, own, own] = half[:, own, own]
        if not (np.isfinite(scatter).all() and np.isfinite(done.mean).all()):
            raise DataError("the squares of the numbers in X or y overflow: scale the columns.")
        return Totals(done.rows, done.weight, done.mean[0], done.mean[1], scatter[0] if self.pooled else scatter)


def partial_moments(
    X: Any,
    y: Any = None,
    *,
    targets: Any = None,
    sample_weight: Any = None,
    pooled: bool = True,
    into: Moments | None = None,
) -> Moments:
    """Moments of rows, to be continued (``into``) or merged.

    Parameters
    ----------
    X : rows, dense or sparse
    y : class labels, or None for moments of all rows together
    targets : numbers that stand beside the features, one for every row, or None
    sample_weight : weights of the rows
    pooled : one scatter for all classes, each about its own mean, or one per class
    into : a state to which the rows are added; it is changed and returned
    """
    table = check_table(X)
    weights = check_weights(sample_weight, table.n)
    beside = None if targets is None else check_targets(targets, what="targets").reshape(-1, 1)
    if beside is not None:
        check_lengths(table.n, len(beside), "targets")
    labels = None if y is None else check_labels(y)
    if labels is not None:
        check_lengths(table.n, len(labels.codes), "y")
    names = None if labels is None else labels.classes.tolist()
    count = 0 if beside is None else 1
    state = Moments(table.d, count, names, pooled) if into is None else into
    if (state.features, state.targets, state.labels is None) != (table.d, count, names is None):
        raise DataError(
            f"these moments are of {state.features} features, {state.targets} targets and "
            f"{'no classes' if state.labels is None else 'classes'}: pass rows of the same kind."
        )
    codes = None
    if labels is not None and names is not None and state.labels is not None:
        state.know(names)
        codes = np.array([state.labels.index(name) for name in names], dtype=np.int64)[labels.codes]
    return state.add(table.X, beside, codes, weights)


def merge(*states: Moments) -> Moments:
    """One state for the rows of several; the states are not changed."""
    if not states:
        raise DataError("merge got no moments: pass at least one state.")
    first = states[0].flushed()
    for other in states[1:]:
        if (other.features, other.targets, other.pooled) != (first.features, first.targets, first.pooled):
            raise DataError("moments of different columns, or pooled and apart, cannot be merged.")
        if (other.labels is None) != (first.labels is None):
            raise DataError("moments with and without classes cannot be merged.")
        settled = not other.waits and other.labels == first.labels  # nothing to be changed in it
        _merge_into(first, other if settled else other.flushed())
    return first


def _merge_into(one: Moments, two: Moments) -> None:
    if one.labels is not None and two.labels is not None:
        one.know(two.labels)
        two.know(one.labels)
    columns = one.features + one.targets
    away = (two.mean[0] - one.mean[0]) + (two.mean[1] - one.mean[1])
    weight = one.weight + two.weight
    share = np.divide(two.weight, weight, out=np.zeros_like(weight), where=weight > 0)
    away[one.weight == 0] = 0.0
    root = np.sqrt(one.weight * share)[:, None] * away
    one.scatter += two.scatter
    for k, row in enumerate(root):
        one.scatter[0 if one.pooled else k, :columns, :columns] += np.outer(row, row)
    high, low = twofold_sum(one.mean[0], one.mean[1] + share[:, None] * away)
    empty = one.weight == 0
    one.mean[0] = np.where(empty[:, None], two.mean[0], high)
    one.mean[1] = np.where(empty[:, None], two.mean[1], low)
    one.weight = weight
    one.rows += two.rows

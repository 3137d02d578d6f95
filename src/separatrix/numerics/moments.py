"""Moments: how many rows, their means and their scatter, of each class or of all, in one pass.

    W_k = sum c_i     m_k = sum c_i z_i / W_k     S_k = sum c_i (z_i - m_k)(z_i - m_k)'

over the rows i of class k with weights c_i, where z = (x, t) is a row of features followed by targets.
Least squares, discriminants and Fisher's directions need nothing else of the data. Rows are added in
blocks that are counted from the first row of each class, and blocks in leaves of a fixed number of rows; what is not
full waits in the state, so that the bits depend neither on the chunks nor on the threads that added the leaves.
States of different rows merge exactly in the mathematics, and up to rounding in the numbers (Chan, Golub and
LeVeque 1983).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from operator import attrgetter
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
arrays_of = attrgetter(*ARRAYS)
LEAF = 2**19  # numbers of a leaf, at least
SHORT = 16  # leaves of one size; then as many of twice the size, since each costs some calls of its own
DOUBLED = 2  # how often that happens: threads should end at about the same time
TALL = 4  # rows of a leaf for each column, at least: joining scatters takes a few per cent of adding the rows then
WAITING = 4  # leaves for each thread that may wait to be joined, and more while all have
KEPT = 2**25  # bytes of them, more than that only where a few leaves for each thread need it


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
        self.earlier: Moments | None = None  # the leaves that are full, joined
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

    def copy(self) -> Moments:
        """A copy, so that a chunk that fails leaves this state unchanged."""
        other = copy(self)
        other.labels = None if self.labels is None else list(self.labels)
        other.earlier = None if self.earlier is None else self.earlier.copy()
        for name in ARRAYS:
            setattr(other, name, getattr(self, name).copy())
        return other

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many rows of each class were added, those of weight zero not counted."""
        return self.rows if self.earlier is None else self.rows + self.earlier.rows

    def leaf_rows(self, before: int) -> int:
        """Rows of the leaf that begins after so many rows: whole blocks, by the number of columns alone."""
        columns = self.features + self.targets
        rows = max(LEAF // max(1, columns), TALL * columns)
        rows += -rows % kernels.block_rows
        for _ in range(DOUBLED):
            if before < SHORT * rows:
                break
            before -= SHORT * rows
            rows *= 2
        return rows

    def add(
        self,
        X: Any,
        targets: Floats | None = None,
        codes: NDArray[Any] | None = None,
        weights: Floats | None = None,
    ) -> Self:
        """Add checked rows, with their targets (n, t), classes by number (integers of any size), and weights."""
        rows = kernels.rows(X)
        begin = 0
        if self.rows.sum() >= self.leaf_rows(self._before):  # states that were merged
            self._close()
        leaves = list(self._leaves(rows.n, weights))
        if leaves and self.rows.any():  # the first one is open
            begin = leaves.pop(0)[1]
            self._read(rows, targets, codes, weights, 0, begin)
            self._close()

        rest = leaves[-1][1] if leaves else begin

        def part(k: int) -> Moments:
            if k == len(leaves):  # what stays open
                return self._read(rows, targets, codes, weights, rest, rows.n)
            return self._empty()._read(rows, targets, codes, weights, *leaves[k])._flush()

        most = max(WAITING * kernels.thread_count(), KEPT // max(1, self.scatter.nbytes + self.block.nbytes))
        count = len(leaves) + 1
        at_once = -(-count // max(1, round(count / most)))  # about so many: the last ones should not be few
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            made = kernels.each_part(part, range(last - 1, first - 1, -1))[::-1]  # the short ones last
            for full in made[: len(leaves) - first]:
                self._join(full)
        return self

    def _empty(self) -> Moments:
        return Moments(self.features, self.targets, self.labels, self.pooled)

    @property
    def _before(self) -> int:
        """Rows before the open leaf."""
        return 0 if self.earlier is None else int(self.earlier.rows.sum())

    def _leaves(self, n: int, weights: Floats | None) -> Iterator[tuple[int, int]]:
        """Where leaves begin and end among n more rows, those of weight zero not counted."""
        before, ahead = self._before, int(self.rows.sum())
        full = self.leaf_rows(before) - ahead
        if n < full:
            return
        counted = None if weights is None or weights.all() else np.flatnonzero(weights)
        most, begin = n if counted is None else len(counted), 0
        while full <= most:
            end = full if counted is None else int(counted[full - 1]) + 1
            yield begin, end
            begin = end
            full += self.leaf_rows(before + ahead + full)

    def _read(self, rows: kernels.Rows, targets: Any, codes: Any, weights: Floats | None, begin: int, end: int) -> Self:
        if begin < end:
            if codes is not None and codes.dtype != np.int64:  # all at once they would be a table of their own
                own = slice(begin, end)
                rows, codes = rows.part(begin, end), codes[own].astype(np.int64)
                targets, weights = None if targets is None else targets[own], None if weights is None else weights[own]
                begin, end = 0, end - begin
            kernels.moments_add(rows, targets, codes, weights, begin, end, *arrays_of(self))
        return self

    def _flush(self) -> Self:
        kernels.moments_flush(*arrays_of(self))
        return self

    def _join(self, leaf: Moments) -> None:
        """A full leaf joins the earlier ones."""
        if self.earlier is None:
            self.earlier = leaf
        else:
            _merge_into(self.earlier, leaf)

    def _close(self) -> None:
        """The open leaf is full: it joins the earlier ones, and the next one is empty."""
        leaf = copy(self)._flush()
        leaf.earlier = None
        self._join(leaf)
        fresh = self._empty()
        for name in ARRAYS:
            setattr(self, name, getattr(fresh, name))

    def know(self, labels: Sequence[Any]) -> Self:
        """Make room for classes that appear late; ``labels`` stay sorted."""
        if self.labels is None:
            raise DataError("these moments are of rows without classes: begin new ones with labels.")
        if self.earlier is not None:
            self.earlier.know(labels)
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
        """Whether rows wait in blocks or leaves that are not joined."""
        return self.earlier is not None or bool(self.fill.any())

    def flushed(self) -> Moments:
        """A copy in which everything that waits is joined."""
        other = self.copy()._flush()
        if other.earlier is None:
            return other
        whole = other.earlier
        if other.rows.any():
            other.earlier = None
            _merge_into(whole, other)
        return whole

    def totals(self, last: bool = False) -> Totals:
        """The moments of all rows so far, those that wait included; this state goes on as it was unless ``last``."""
        if last and self.earlier is None:
            done = self._flush()
        else:
            done = self.flushed() if self.waits else self
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
    weights = check_weights(sample_weight, table.n, rows=X)
    beside = None if targets is None else check_targets(targets, what="targets").reshape(-1, 1)
    if beside is not None:
        check_lengths(table.n, len(beside), "targets")
    labels = None if y is None else check_labels(y, rows=X, n=table.n)
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
    kernels.moments_merge(two.rows, two.weight, two.mean, two.scatter, *arrays_of(one))

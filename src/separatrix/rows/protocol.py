"""Rows, leaves and passes: the one place that knows where numbers live.

A *place* (memory, chunks of a file, partitions on workers) gives its rows as leaves. A *leaf* is a block of rows whose
size the number of columns alone decides, with class numbers or targets, weights and offset. A *pass* computes something
of each leaf, and joins it in a fixed binary tree over the leaves. Everything that learns from rows is a pass, written
once for a leaf; a place is written once for all passes:

    class Mine(Rows):
        def leaves(self): ...            # or reduce() and gather(), where the leaves are elsewhere

**Bits.** Leaves and their tree do not depend on chunks, threads or workers: a place that numbers its rows gives the
same sums, bit for bit, as rows in memory. Partitions are leaves of their own sizes: the same bits for any number of
workers. Within a leaf, native kernels and BLAS use all cores by blocks that its size decides.

**Memory.** What a pass computes of single rows (probabilities, say) it may keep in ``leaf.memo``. A place may forget it
between passes: a pass makes it again from its arguments, to the same bits.

A kernel that fuses a pass for one kind of rows is looked up inside the pass; there is always a plain form.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats

LEAF = 2**22  # numbers of a leaf, at least: all cores share one, and a pass over one costs milliseconds
TALL = 4  # rows of a leaf for each column, at least: sums of squares of columns cost as much as joining them then
NARROW = 64  # columns that sparse rows are counted as at most: few of their numbers are stored


def leaf_rows(d: int, sparse: bool = False) -> int:
    """Rows of a leaf of d columns."""
    rows = max(LEAF // max(1, min(d, NARROW) if sparse else d), TALL * d)
    return rows + -rows % kernels.block_rows


@dataclass(slots=True)
class Leaf:
    """Rows ``first`` and following of a place.

    ``X`` is a C-order float array or a CSR matrix; the others are None where the rows have none. ``codes`` are class
    numbers, ``targets`` (n,) or (n, t), ``offset`` (n,) or (n, K) is added to scores. Nothing is written to.
    """

    X: Any
    first: int = 0
    codes: Any = None
    targets: Any = None
    weights: Floats | None = None
    offset: Floats | None = None
    memo: Memo = field(init=False)
    rows: kernels.Rows = field(init=False)
    n: int = field(init=False)
    d: int = field(init=False)

    def __post_init__(self) -> None:
        self.memo, self.rows = Memo(), kernels.rows(self.X)
        self.n, self.d = self.rows.n, self.rows.d

    def __reduce__(self) -> tuple[Any, ...]:
        """The rows alone travel between processes: the native view of them is made anew, the memo stays behind."""
        return Leaf, (self.X, self.first, *self.beside)

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    @property
    def counts(self) -> Floats:
        """Weights of the rows, 1 where none are given."""
        return np.ones(self.n) if self.weights is None else self.weights

    def part(self, own: Any) -> Leaf:
        """Some of these rows, by a slice or by numbers."""
        X = self.X[own]
        X = X.tocsr() if self.sparse else np.ascontiguousarray(X)
        beside = (None if v is None else np.ascontiguousarray(v[own]) for v in self.beside)
        return Leaf(X, self.first, *beside)

    @property
    def beside(self) -> tuple[Any, ...]:
        """What stands beside the columns."""
        return self.codes, self.targets, self.weights, self.offset


class Memo:
    """What passes keep of a leaf between them: things by name, and the values of the rows at the latest points."""

    __slots__ = ("named", "points", "spare")
    POINTS = 4  # the current one, the one before, one that is tried, and one whose Hessian is kept

    def __init__(self) -> None:
        self.named: dict[Hashable, Any] = {}
        self.points: dict[int, Any] = {}
        self.spare: Any = None

    def named_or(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """The thing of this name, made where it is not there."""
        if name not in self.named:
            self.named[name] = make()
        return self.named[name]

    def keep(self, key: int, values: Any) -> None:
        """Keep the values of a point; those of the oldest one are spare memory for the next."""
        if len(self.points) == self.POINTS:
            self.spare = self.points.pop(next(iter(self.points)))
        self.points[key] = values

    def taken(self) -> Any:
        """Memory of a point that was let go, or None: new memory costs a third of a pass."""
        spare, self.spare = self.spare, None
        return spare


@dataclass(frozen=True, slots=True)
class Pass:
    """What is computed of a leaf, ``of(leaf, *given)``, and how two results are joined; both can be pickled."""

    of: Callable[..., Any]
    join: Callable[[Any, Any], Any]
    name: str = "pass"  # what progress calls it


def added(left: Any, right: Any) -> Any:
    """The sum of two results, entry by entry of tuples."""
    if isinstance(left, tuple):
        return tuple(added(a, b) for a, b in zip(left, right, strict=True))
    return left + right


def joined(values: Iterable[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Values joined in the fixed tree: neighbours first, as digits carry in a binary count."""
    waiting = list[tuple[int, Any]]()  # runs of 2^level leaves
    for value in values:
        level = 0
        while waiting and waiting[-1][0] == level:
            value, level = join(waiting.pop()[1], value), level + 1
        waiting.append((level, value))
    if not waiting:
        raise ValueError("there are no rows to join")
    while len(waiting) > 1:
        (_, last), (level, before) = waiting.pop(), waiting.pop()
        waiting.append((level, join(before, last)))
    return waiting[0][1]


class Rows:
    """Rows of one place: their number, their columns, their classes, and how leaves are had.

    ``weighted`` and ``shifted`` say whether rows have weights and offsets, ``filled`` which share of the numbers of
    sparse rows is stored, ``keeps`` whether memos of leaves outlive a pass. ``reread`` is what reading all rows once
    more costs, in passes over rows that are in memory: what solvers weigh making a Hessian against.
    """

    n: int
    d: int
    classes: int = 0
    sparse: bool = False
    weighted: bool = False
    shifted: bool = False
    filled: float = 1.0
    keeps: bool = True
    reread: float = 1.0

    def leaves(self) -> Iterable[Leaf]:
        """The leaves, in order."""
        raise NotImplementedError(f"{type(self).__name__} has neither leaves nor reduce and gather")

    def reduce(self, work: Pass, *given: Any) -> Any:
        """What a pass gives for all rows."""
        return joined((work.of(leaf, *given) for leaf in self.leaves()), work.join)

    def gather(self, of: Callable[..., Any], *given: Any) -> Iterator[Any]:
        """What a function gives of each leaf, in order: a little of each, that memory here holds."""
        return (of(leaf, *given) for leaf in self.leaves())

    def view(self, view: View) -> Rows:
        """The same rows seen otherwise, where they are."""
        return Viewed(self, view)

    def take(self, stride: int) -> Leaf:
        """Every so-manieth row, here in memory."""
        return stacked(list(self.gather(every, stride)))


@dataclass(frozen=True, slots=True)
class View:
    """Columns (by number), of them moved by ``shift`` and divided by ``scale``; one class ``against`` all others.

    ``class_weights`` multiply the weights of the rows of each class. A view is applied leaf by leaf.
    """

    columns: tuple[int, ...] | None = None
    shift: tuple[float, ...] | None = None
    scale: tuple[float, ...] | None = None
    against: int | None = None
    class_weights: tuple[float, ...] | None = None

    def of(self, leaf: Leaf) -> Leaf:
        X, codes, weights = leaf.X, leaf.codes, leaf.weights
        if self.columns is not None:
            X = X[:, list(self.columns)]
        if self.shift is not None:
            X = X - np.array(self.shift)
        if self.scale is not None:
            unit = 1.0 / np.array(self.scale)
            X = X.multiply(unit).tocsr() if leaf.sparse else X * unit
        if self.class_weights is not None:
            weights = leaf.counts * np.array(self.class_weights)[codes]
        if self.against is not None:
            codes = (codes == self.against).astype(np.intp)
        X = X.tocsr() if leaf.sparse else np.ascontiguousarray(X)
        return Leaf(X, leaf.first, codes, leaf.targets, weights, leaf.offset)


def seen(leaf: Leaf, view: View, of: Callable[..., Any], *given: Any) -> Any:
    """A function of the leaf as a view has it."""
    return of(leaf.memo.named_or(view, lambda: view.of(leaf)), *given)


class Viewed(Rows):
    """Rows of another place, through a view that travels to the leaves."""

    def __init__(self, rows: Rows, view: View) -> None:
        self.inner, self.seen = rows, view
        self.n, self.d, self.reread, self.sparse, self.keeps = rows.n, rows.d, rows.reread, rows.sparse, rows.keeps
        self.filled, self.shifted = rows.filled, rows.shifted
        self.d = self.d if view.columns is None else len(view.columns)
        self.classes = rows.classes if view.against is None else 2
        self.weighted = rows.weighted or view.class_weights is not None

    def reduce(self, work: Pass, *given: Any) -> Any:
        return self.inner.reduce(Pass(seen, work.join, work.name), self.seen, work.of, *given)

    def gather(self, of: Callable[..., Any], *given: Any) -> Iterator[Any]:
        return self.inner.gather(seen, self.seen, of, *given)


# -- a little of each leaf --


def every(leaf: Leaf, stride: int) -> Leaf | None:
    """The rows of a leaf among every so-manieth of all."""
    own = slice(-leaf.first % stride, None, stride)
    return leaf.part(own) if own.start < leaf.n else None


def stacked(parts: list[Leaf | None]) -> Leaf:
    """Rows of several leaves as one."""
    found = [part for part in parts if part is not None]
    if len(found) == 1:
        return found[0]
    if found[0].sparse:
        from scipy.sparse import vstack

        X = vstack([part.X for part in found], format="csr")
    else:
        X = np.concatenate([part.X for part in found])
    beside = zip(*(part.beside for part in found), strict=True)
    return Leaf(X, 0, *(None if own[0] is None else np.concatenate(own) for own in beside))


def regrouped(pieces: Iterable[Leaf], rows: int) -> Iterator[Leaf]:
    """Pieces of any sizes cut anew into leaves of so many rows."""
    waiting, held, first = list[Leaf | None](), 0, 0
    for piece in pieces:
        begin = 0
        while begin < piece.n:
            end = min(piece.n, begin + rows - held)
            waiting.append(piece if (begin, end) == (0, piece.n) else piece.part(slice(begin, end)))
            held, begin = held + end - begin, end
            if held == rows:
                yield numbered(stacked(waiting), first)
                waiting, held, first = [], 0, first + rows
    if waiting:
        yield numbered(stacked(waiting), first)


def numbered(leaf: Leaf, first: int) -> Leaf:
    """The leaf as one that begins at this row."""
    return Leaf(leaf.X, first, *leaf.beside)

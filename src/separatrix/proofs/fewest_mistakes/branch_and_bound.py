"""How few rows any hyperplane gets wrong: a bracket whose two ends are proved at every moment.

From above: a hyperplane, with the exact sign of every row. From below: a tree of cases (native/separatrix/
mistakes.hpp), each with witnesses that together force mistakes; every witness is a circuit proved exactly.
The problem is NP-hard (Johnson & Preparata 1978), so a run may end with its two ends apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.numerics.exact_signs import integer_row
from separatrix.proofs.exact.algebra import Row, null_line, transpose
from separatrix.proofs.exact.face import Face
from separatrix.proofs.exact.float_circuit import leading_circuit
from separatrix.proofs.exact.gordan import Circuit, Positive, Stage
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.simplex import Patience, alternative
from separatrix.proofs.fewest_mistakes.case_tree import (
    Codes,
    first_witnesses,
    flat_tree,
    node_work,
    prepared,
    witnesses_in_turn,
)
from separatrix.proofs.fewest_mistakes.line_search import Lines
from separatrix.proofs.fewest_mistakes.packing import Packing, packed_fractionally
from separatrix.proofs.fewest_mistakes.small_tables import disjoint_circuits, separating_the_rest
from separatrix.proofs.fewest_mistakes.witness_entries import ProofCost

Progress = Callable[[int, int, int], object]
Blocks = Callable[["Search", int], None]

RESTARTS = 20  # of the first search for a good hyperplane
AGAIN, AGAIN_WORK = 100, 1e10  # logistic regressions near the best hyperplane before blocks of rows, and their steps
SLICE = 1e8  # steps between two looks at the clock
SMALL = 300_000  # numbers of a table that is worth a tree; larger ones are packed once
TINY = 2_000  # up to which what floating point leaves open is decided exactly
INTEGERS = 40  # columns up to which doubtful rows are decided in integers: it takes long with more
INTEGERS_WORK = 3_000_000  # words worked out for a doubtful witness, of the order of half a second
NARROW = 30  # columns up to which the tree of all rows begins before blocks of rows are tried
EARLY, DOUBTS = 3e9, 1000  # steps of that beginning, of some 3e10 in a minute, and witnesses decided in integers
SOON = 2e8  # steps after which that beginning ends where the lower bound is below half of the upper one


@dataclass
class Incumbent:
    """The best hyperplane so far, and the rows it does not get strictly right."""

    w: Row
    wrong: NDArray[np.int64]


class Search:
    """One run: what is known, and the means to know more."""

    def __init__(
        self, rows: LiftedRows, deadline: float, progress: Progress | None, blocks: Blocks | None = None
    ) -> None:
        self.rows, self.deadline, self.progress = rows, deadline, progress
        self.blocks = blocks  # what looks for bounds of blocks of rows; None in the search of such a block
        self.incumbent = self._constant()
        self.labelings = {self.incumbent.wrong.tobytes()}  # sets of wrong rows as small as the incumbent's
        self.packed: list[Codes] = []  # disjoint witnesses of forward rows
        self.fraction: Packing | None = None
        self.tree: Any = None
        self.deepest = 0  # the bound of the tree, as far as a checker takes its proof
        self.cost = ProofCost(rows)
        self.stopped = ""
        self.stuck = False
        self.long = False  # whether a bound was found of which a checker would not take the proof

    # -- what is known -----------------------------------------------------------------------------

    @property
    def upper(self) -> int:
        return len(self.incumbent.wrong)

    @property
    def lower(self) -> int:
        fraction = 0 if self.fraction is None else self.fraction.bound
        return min(self.upper, max(len(self.packed), self.deepest, fraction))

    @property
    def nodes(self) -> int:
        return 0 if self.tree is None else int(self.tree.nodes)

    def run(self, max_nodes: int, gap: int, lines: bool = True) -> None:
        """``lines``: whether a better hyperplane is looked for where witnesses have been found."""
        divide: tuple[Callable[[], None], ...] = ()
        if max_nodes:
            n, p = self.rows.n, self.rows.p
            early = min(max_nodes, int(EARLY / node_work(n, p))) if p <= NARROW and n * p <= SMALL else 0
            if (blocks := self.blocks) is not None:  # between the beginning of the tree and the rest of it
                divide = (
                    lambda: self._divide(early, gap, DOUBTS),
                    lambda: self._leap(max_nodes),
                    lambda: self._by_blocks(blocks, max_nodes),
                )
            divide = (*divide, lambda: self._divide(max_nodes, gap), self._by_integers)
        for step in (self._first, self._pack, self._hyperplane, *divide):
            if self.lower + gap >= self.upper or self.late():
                break
            if lines or not self.packed or step != self._hyperplane:
                step()
        if self.lower + gap >= self.upper:
            self.stopped = "proved" if self.lower == self.upper else "gap"
        self.stopped = self.stopped or ("open" if self.stuck else "proof" if self.long else "nodes")

    def late(self) -> bool:
        if not self.stopped and self.progress and self.progress(self.lower, self.upper, self.nodes) is False:
            self.stopped = "progress"
        if not self.stopped and perf_counter() > self.deadline:
            self.stopped = "time"
        return bool(self.stopped)

    # -- from above --------------------------------------------------------------------------------

    def _wrong(self, w: Row) -> NDArray[np.int64]:
        return np.flatnonzero(self.rows.signs(w) <= 0)

    def _constant(self) -> Incumbent:
        """Everything on the larger side; without an intercept, the better side of one row's direction."""
        rows = self.rows
        if rows.intercept:
            w = [0] * rows.d + [1 if 2 * int((rows.y > 0).sum()) >= rows.n else -1]
        else:
            w = next((z for z in (rows.integers([i])[0][0] for i in range(rows.n)) if any(z)), [1] + [0] * (rows.p - 1))
        return min((Incumbent(v, self._wrong(v)) for v in (w, [-t for t in w])), key=lambda c: len(c.wrong))

    def consider(self, w: NDArray[np.float64]) -> bool:
        """Take w if it is proved to be no worse; True if it is better."""
        if not (np.isfinite(w).all() and w.any()):
            return False
        return self.adopt(integer_row(w.tolist())[0])

    def adopt(self, w: Row) -> bool:
        wrong, before = self._wrong(w), self.upper
        if len(wrong) < before:
            self.labelings.clear()
        if len(wrong) <= before:
            self.incumbent = Incumbent(w, wrong)
            self.labelings.add(wrong.tobytes())
        return len(wrong) < before

    def _descend(self, w: NDArray[np.float64], restarts: int) -> bool:
        return self.consider(self.lines.improve(w, restarts))

    def _hyperplane(self) -> None:
        """One that makes no mistake, if there is one; else lines from where least squares points."""
        rows = self.rows
        if not self.packed:
            answer = Stage(rows, Face.whole(rows.p)).decide()
            if isinstance(answer, Positive):
                self.adopt(answer.w)
            elif isinstance(answer, Circuit):
                self.packed.append(list(answer.weights))
            if self.lower >= self.upper:
                return
        self.lines = Lines(rows)
        self._descend(self.lines.start(self._floats()), 0)
        while self.lines.unfinished and not self.late():  # each round has fewer mistakes than the last
            if not self._descend(self._floats(), 0):
                break
        if self.blocks is not None and (start := self.lines.smooth()) is not None:
            self._descend(start, 0)
        for _ in range(1 if self.blocks is None else RESTARTS // 10 if rows.n * rows.p < SMALL else 0):
            if self.lower >= self.upper or self.late():
                return
            self._descend(self._floats(), 2 if self.blocks is None else 10)

    def _leap(self, most: int) -> None:
        """Lines from where logistic regressions lead that weigh the rows at random."""
        n, p = self.rows.n, self.rows.p
        for _ in range(min(most, AGAIN, int(AGAIN_WORK / (64 * n * p * p)))):
            if self.stuck or n * p > SMALL or self.lower >= self.upper or self.late():
                return
            self._descend(self.lines.smooth_again(self._floats()), 0)

    def _floats(self) -> NDArray[np.float64]:
        top = max(abs(t).bit_length() for t in self.incumbent.w)
        return np.array([v / (1 << top) for v in self.incumbent.w])

    # -- from below --------------------------------------------------------------------------------

    def prove(self, codes: Codes) -> Codes:
        """A circuit among these rows, the heaviest first; none when there is none or none is found."""
        if len(codes) > self.rows.p + 1:
            return self._settle(codes) if self.rows.p <= INTEGERS else []
        if type(self.rows) is LiftedRows:
            signs = np.array([1.0 if c >= 0 else -1.0 for c in codes])
            if size := leading_circuit(self.rows.dense([max(c, ~c) for c in codes]) * signs[:, None]):
                return codes[:size]
        whole = [row if c >= 0 else [-v for v in row] for c, row in zip(codes, self._whole(codes), strict=True)]
        whole = transpose([column for column in transpose(whole) if any(column)]) or [[0]] * len(codes)
        for size in range(len(codes), max(0, len(codes) - 4), -1):
            if null_line(whole[:size]) is not None:
                return codes[:size]
        weights, _ = alternative(whole, Patience(INTEGERS_WORK))
        fewer = sorted(weights or ())
        return [codes[k] for k in fewer] if fewer and null_line([whole[k] for k in fewer]) is not None else []

    def _settle(self, codes: Codes) -> Codes:
        """Decide rows as separability does; a hyperplane that separates them is considered."""
        rows = self.rows
        ids = np.array([c if c >= 0 else ~c for c in codes])
        y = np.where(np.array(codes) >= 0, rows.y[ids], -rows.y[ids])
        answer = Stage(type(rows)(rows.X[ids], y, rows.intercept), Face.whole(rows.p)).decide()
        if isinstance(answer, Circuit):
            return [codes[k] for k in answer.weights]
        if isinstance(answer, Positive):
            self.adopt(answer.w)
        return []

    def _whole(self, codes: Iterable[int]) -> list[Row]:
        return self.rows.integers([c if c >= 0 else ~c for c in codes])[0]

    def _first(self) -> None:
        self.packed.extend(first_witnesses(self.rows))
        self._shorten()

    def _shorten(self) -> None:
        """Witnesses for which a checker has no time are not claimed."""
        while not self.cost.allows(self.packed):
            del self.packed[len(self.packed) * 9 // 10 :]
            self.long = True

    def know(self, codes: Codes) -> None:
        """Rows that are known to rule a hyperplane out cost a mistake, where nothing better was found in time."""
        if codes and (proved := self.prove(codes)):
            self.packed = [proved]

    def _pack(self) -> None:
        """Disjoint witnesses in turn, the cheapest bound; half of the time is for what is searched for afterwards."""
        if not self.rows.wide:
            taken, half = [c for codes in self.packed for c in codes], (perf_counter() + self.deadline) / 2
            left = np.setdiff1d(np.arange(self.rows.n), taken)
            for codes in witnesses_in_turn(self.rows, left, self.prove, lambda: perf_counter() > half):
                self.packed.append(codes)
                if len(self.packed) % 1000 == 0:
                    self._shorten()
                if len(self.packed) >= self.upper or self.long:
                    break
            self._shorten()

    def disjoint(self, ids: NDArray[np.int64]) -> Iterator[Codes]:
        """Witnesses among these rows that share none of them, until the rest is separable."""
        return witnesses_in_turn(self.rows, ids, self.prove, self.late)

    def _by_blocks(self, blocks: Blocks, max_nodes: int) -> None:
        """Bounds of blocks of rows, unless the tree of all rows does well."""
        if 2 * self.lower < self.upper:
            blocks(self, max_nodes)

    def _divide(self, max_nodes: int, gap: int, doubts: float = np.inf) -> None:
        """The tree, a few nodes at a time."""
        rows = self.rows
        if max_nodes < 1 or self.stuck or self.long:
            return
        if rows.n * rows.p > SMALL or rows.p > 2000:
            self.stopped = "size"
            return
        if self.tree is None:
            Z, self.columns, exact = prepared(rows)
            tree = kernels.MistakeTree(Z, exact)
            tree.offer(self.upper, self._floats() / self.columns)
            tree.start(self.packed, self.prove, self.late)
            self.tree = tree
        tree, columns = self.tree, self.columns
        some = max(2, int(SLICE / node_work(rows.n, rows.p)))
        turn = 0
        while True:  # each round divides a case, at most max_nodes of them
            self._take(columns)
            if self.upper < tree.best:
                tree.offer(self.upper, self._floats() / columns)
            self._deepen()
            far = 2 * self.lower < self.upper and tree.nodes * node_work(rows.n, rows.p) > SOON
            early = self.long or (doubts < np.inf and (tree.doubtful >= doubts or far))
            if self.lower + gap >= self.upper or tree.nodes >= max_nodes or early or self.late():
                return
            turn += 1
            if rows.n * rows.p < SMALL:  # now and then a longer series of lines, which leads farther away
                series = 100 if turn >= 4 and turn & (turn - 1) == 0 else 5
                self._descend(self._floats(), 1 if self.blocks is None else series)
                if self.blocks is not None and turn > 1:
                    self._descend(self.lines.smooth_again(self._floats()), 0)
            before = tree.nodes
            tree.run(min(some, max_nodes - before), gap, self.prove, self.late)
            if tree.nodes == before and not self.stopped:  # what is left cannot be divided in floating point
                self.stuck = True
                return

    def _deepen(self) -> None:
        """Take the bound of the tree, if it is more than is known and its proof is not too long for a checker."""
        top = min(self.upper, int(self.tree.lower))
        if top <= self.lower:
            return
        if self.cost.surely_allows(len(self.tree.witnesses), self.tree.nodes, top):
            self.deepest = top
            return
        for bound in range(top, self.lower, -1):
            nodes, witnesses = flat_tree(self.tree, bound)
            if self.cost.allows(witnesses, nodes):
                self.deepest = bound
                return
            self.long = True

    def _by_integers(self) -> None:
        """What floating point has left open of a small table, in exact arithmetic."""
        rows = self.rows
        if not self.stuck or rows.n * rows.p > TINY:
            return
        packed = disjoint_circuits(rows, [codes[0] for codes in self.packed if len(codes) == 1])  # rows of zeros
        self.packed = max(self.packed, packed, key=len)
        met = [*self.packed]
        for w in separating_the_rest(rows, lambda: self.upper, met):
            self.adopt(w)
            if self.lower >= self.upper or self.late():
                return
        if met and (packing := packed_fractionally(met, rows.n)).bound > self.lower:
            self.fraction = packing

    def _take(self, columns: NDArray[np.float64]) -> None:
        """A hyperplane that the tree came across: improved, proved, and given back."""
        w = np.array(self.tree.take())
        with np.errstate(all="ignore"):
            w = w * columns if w.size else w
        if self.consider(w):
            self._descend(self._floats(), 2)

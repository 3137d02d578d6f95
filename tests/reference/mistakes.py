"""A tree of cases for the fewest mistakes (native/separatrix/mistakes.hpp), without its shortcuts.

Every witness is given to the caller to be proved, and a case takes its witnesses afresh: the bounds are proved all
the same, and where both searches end they agree.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from reference.nnls import nearest_point
from separatrix.arrays import Floats

Codes = list[int]  # a row i as i, the row reversed as ~i
Prove = Callable[[Codes], Codes]
Late = Callable[[], bool]  # whether the caller wants an end
IMPOSSIBLE = 1 << 30


class MistakeTree:
    """Cases: of each row on the way it is known whether it is right or wrong."""

    def __init__(self, z: Floats, exact: bool) -> None:
        lengths = np.linalg.norm(z, axis=1)
        self.A = z / np.where(lengths > 0, lengths, 1.0)[:, None]
        self.zero = lengths == 0
        self.best = len(z)
        self.nodes = self.questions = self.doubtful = 0
        self.margin = np.zeros(len(z))
        self.witnesses: list[Codes] = []
        self.cases: list[tuple[dict[int, bool], int, int, int, list[int]]] = []  # decided, bound, row, child, packed
        self.open: list[tuple[int, int, int]] = []
        self.stuck = IMPOSSIBLE
        self.found: list[float] = []

    @property
    def lower(self) -> int:
        return min(self.best, self.stuck, self.open[0][0] if self.open else self.best)

    def offer(self, mistakes: int, w: Floats) -> None:
        self.best = min(self.best, mistakes)
        self.margin = self.A @ w

    def take(self) -> list[float]:
        found, self.found = self.found, []
        return found

    def tree(self) -> list[tuple[int, int, int, list[int], list[int], int]]:
        return [(bound, row, child, packed, [], 1) for _, bound, row, child, packed in self.cases]

    def start(self, witnesses: list[Codes], prove: Prove, late: Late | None = None) -> None:
        self.prove = prove
        self._bound({}, 0, witnesses)

    def run(self, more: int, gap: int, prove: Prove, late: Late | None = None) -> None:
        self.prove = prove
        end = self.nodes + more
        while self.nodes < end and not self.found and self.open and self.lower + gap < self.best:
            if late is not None and late():
                return
            reached, _, at = entry = heapq.heappop(self.open)
            size = len(self.cases)
            try:
                self._divide(reached, at)
            except BaseException:  # the case is as it was
                del self.cases[size:]
                self.cases[at] = (*self.cases[at][:2], -1, -1, self.cases[at][4])
                self.open = [other for other in self.open if other[2] < size]
                heapq.heapify(self.open)
                heapq.heappush(self.open, entry)
                raise

    def _divide(self, reached: int, at: int) -> None:
        decided, bound, _, _, packed = self.cases[at]
        row = self._candidate(decided, packed)
        if row is None:
            self.stuck = min(self.stuck, reached)
            return
        self.cases[at] = (decided, bound, row, len(self.cases), packed)
        for right in (False, True):
            self._bound({**decided, row: right}, reached, [])

    def _candidate(self, decided: dict[int, bool], packed: list[int]) -> int | None:
        """Of the smallest part of a witness, the row that the best w gets most wrong."""
        parts = [self._part(self.witnesses[k], decided) for k in packed]
        rows = min((part for part in parts if len(part) > 1), key=len, default=[])
        rows = rows or [i for i in range(len(self.A)) if i not in decided and not self.zero[i]]
        return min(rows, key=lambda i: (self.margin[i], i), default=None)

    def _part(self, witness: Codes, decided: dict[int, bool]) -> list[int]:
        return [c for c in witness if c >= 0 and c not in decided]

    def _bound(self, decided: dict[int, bool], reached: int, known: list[Codes]) -> None:
        """A new case, with as many disjoint witnesses as are found among its rows."""
        self.nodes += 1
        base = [i if right else ~i for i, right in decided.items()]
        bound, packed = sum(not right for right in decided.values()), []
        free = [i for i in range(len(self.A)) if i not in decided]
        for witness in known:
            packed.append(self._enlist(witness))
            bound += 1
            free = [i for i in free if i not in witness]
        while bound < self.best and (base or free):
            found = self._ask(base + free)
            if found is None:
                break
            part = self._part(found, decided)
            packed = [*packed, self._enlist(found)] if part else [self._enlist(found)]
            bound = bound + 1 if part else IMPOSSIBLE
            free = [i for i in free if i not in part]
        self.cases.append((decided, bound, -1, -1, packed))
        if max(bound, reached) < self.best:
            heapq.heappush(self.open, (max(bound, reached), -len(decided), len(self.cases) - 1))

    def _enlist(self, witness: Codes) -> int:
        self.witnesses.append(witness)
        return len(self.witnesses) - 1

    def _ask(self, codes: Codes) -> Codes | None:
        """A proved witness among these rows; or None, and a good w is kept."""
        self.questions += 1
        for c in codes:
            if c >= 0 and self.zero[c]:
                return [c]
        W = np.array([self.A[c] if c >= 0 else -self.A[~c] for c in codes])
        support, x, origin = nearest_point(W, 1.0, [], 1e-13, 40 * W.shape[1] + 2000)
        if origin:
            self.doubtful += 1
            proved = self.prove([codes[support[k]] for k in np.argsort(-x, kind="stable")])
            if proved:
                return proved
        v = x @ W[support]
        if not (W @ v > 0).all():  # too close for rounding: the caller decides about all rows
            self.doubtful += 1
            return self.prove(codes) or None
        if int((~(self.A @ v > 0)).sum()) < self.best:
            self.found = v.tolist()
        return None

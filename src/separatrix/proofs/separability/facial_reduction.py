"""Complete, quasi-complete or overlap: facial reduction, a constructive proof of Tucker's theorem.

K = {w : z_i.w >= 0 for all i}. Tucker (1956): the rows split, in one way only, into S, where some w of K is
positive, and T, where some weights lambda >= 0 with sum lambda_i z_i = 0 are. Two kinds of facts lead there:

- weights that sum to zero: K vanishes on their rows, so the search goes on in the face of vectors that do;
- a w of the face that is negative on no row: the rows where it is positive are of S, and the search goes on without
  them, since a vector for the others plus a large multiple of w serves them all.

It ends when no row is left.

    S all rows: complete      T all rows: overlap      else: quasi-complete (Albert & Anderson 1984)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Indices
from separatrix.numerics.exact_signs import integer_row
from separatrix.proofs.exact.algebra import Row, Weights, lowest_terms, ratio
from separatrix.proofs.exact.face import Face
from separatrix.proofs.exact.gordan import Circuit, Fact, Positive, Stage
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.exact.short_proof import FEWEST, ShortProof, short_proof
from separatrix.proofs.exact.short_proof import MOST as MOST_OF_SHORT
from separatrix.proofs.separability.balanced_weights import balanced_weights, layers
from separatrix.proofs.separability.circulation import Circulation, moving, not_vanishing
from separatrix.proofs.separability.newton_partition import PartitionSearch
from separatrix.proofs.separability.small_null_vectors import face_of, small_null_vectors

FEW = 10  # dimensions that are left to be taken one circuit at a time
MOST = 1500  # columns up to which Newton's method is tried
TRIES, A_FEW = 3, 8  # short proofs that are tried, and rows that each vector adds to the next one


@dataclass
class Reduction:
    """What is proved, and all that proves it. Weights are of the rows z themselves."""

    rows: LiftedRows
    verdict: str = "undecided"
    w: Row | None = None  # in the relative interior of K
    witness: Weights = field(default_factory=dict)  # a circuit: not complete
    circulation: Weights = field(default_factory=dict)  # weights > 0; its rows span those of T
    face: Face | None = None  # where the rows of T vanish
    strict: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    stages: int = 0
    tried: list[str] = field(default_factory=list)
    short: ShortProof | None = None  # then the weights of witness and circulation cancel the rows only nearly


def reduce(rows: LiftedRows, minimal: bool = False) -> Reduction:
    """The verdict on the rows, proved; ``minimal``: a witness is a circuit, however many columns there are."""
    return FacialReduction(rows, minimal).run()


class FacialReduction:
    """One run: the circulation, the rows that are left, and the vectors that took others away."""

    def __init__(self, rows: LiftedRows, minimal: bool = False) -> None:
        self.rows, self.out = rows, Reduction(rows)
        self.shorten = not minimal and FEWEST < rows.p <= MOST_OF_SHORT and rows.p < rows.n
        self.tied = Circulation(rows)
        self.positive: list[tuple[Row, Indices]] = []  # vectors of the face, and the rows of S that they have shown
        self.active: Indices | None = None  # rows that move on the face and are not known to be of S; None: all
        self.nothing_to_chance = False

    def run(self) -> Reduction:
        if self.rows.wide and self._contradicted():  # these rows are the likely witnesses, and cheap
            return self.out
        if self.shorten and self._shortly_proved():
            return self.out
        while self._left() or self._overlooked():
            # At most p + n rounds: each lowers the dimension of the face, or takes a row away.
            self.out.stages += 1
            advanced = self._advance()
            if self.out.short is not None:
                return self.out
            if not advanced:
                self.out.face, self.out.circulation = self.face, self.tied.weights
                return self.out
        return self._finish()

    @property
    def face(self) -> Face:
        return self.tied.face

    @property
    def _ids(self) -> Indices:
        return kernels.row_numbers(self.rows.n) if self.active is None else self.active

    def _left(self) -> bool:
        return self.face.dimension > 0 and (self.active is None or len(self.active) > 0)

    def _advance(self) -> bool:
        """One more fact, proved; False when no way leads to one."""
        first = self.active is None and not self.face.bound
        stage = Stage(self.rows, self.face, self.active, shorten=self.shorten and first)
        fact = next((fact for fact in self._ways(stage) if fact is not None), None)
        if isinstance(fact, Positive):
            ids = self._ids
            self.positive.append((fact.w, ids))
            self.active = ids[:0]
        elif isinstance(fact, ShortProof):
            self._verdict_by(fact)
        elif isinstance(fact, Circuit):
            if not (self.out.witness or self.face.bound):  # rows that cancel on a face may not do so in all columns
                self.out.witness = self.tied.own_weights(fact.weights)
            self.tied.add(fact)
            self._restrict()
            self._vanish_on_opposites()
        self.out.tried += [f"stage {self.out.stages}, {line}" for line in stage.tried]
        return fact is not None

    def _ways(self, stage: Stage) -> Iterator[Fact | bool | None]:
        """Facts to go on with, the likely ones first; True for facts that have been taken already."""
        many = self.face.dimension > FEW and self.rows.p <= MOST and not self.rows.wide
        searched = stage.searched()
        if not many or self.out.stages == 1:
            yield next(searched, None)
        if many:
            yield self._partition(stage)
        yield self._columns_of_one_sign(stage)
        yield from searched
        yield stage.last_resort()

    def _shortly_proved(self) -> bool:
        """Whether weights that nearly cancel some rows prove the verdict."""
        also: Indices | None = None
        for _ in range(TRIES):
            short = self._weighed(also)
            if short is None or self._verdict_by(short):
                break
            also = self._moved_both_ways(short.null)
            if not len(also):
                break
        return self.out.short is not None

    def _weighed(self, also: Indices | None) -> ShortProof | None:
        """A short proof about the rows that are weighed, and about these."""
        weights = balanced_weights(self.rows, also)
        if weights is None:
            return None
        short, null = short_proof(self.rows, *weights), dict[int, Row]()
        if short is None and (null := small_null_vectors(self.rows, weights[0])):
            short = short_proof(self.rows, *weights, null)
        if short is None and (weights := balanced_weights(self.rows, also, True, null)) is not None:
            short = short_proof(self.rows, *weights, null, hidden=True)
        self.out.tried.append(f"weights that nearly cancel: {'' if short else 'not '}proved")
        return short

    def _moved_both_ways(self, null: dict[int, Row]) -> Indices:
        """A few rows on either side of each vector that vanishes on the rows of a proof: they may cancel too."""
        ids = not_vanishing(self.rows, face_of(null, self.rows.p), np.arange(self.rows.n))
        signs = [self.rows.signs(v, ids) for v in null.values()]
        some = [ids[s * side > 0][:A_FEW] for s in signs for side in (1, -1) if (s > 0).any() and (s < 0).any()]
        return np.unique(np.concatenate([*some, ids[:0]]))

    def _verdict_by(self, short: ShortProof) -> bool:
        """The verdict that a short proof leads to, if any: its rows are of T, and their null space is known."""
        rows, out = self.rows, self.out
        face = face_of(short.null, rows.p) if short.null else Face.zero(rows.p)
        if (left := not_vanishing(rows, face, np.arange(rows.n))).size:
            fact = next(Stage(rows, face, left).searched())
            if not isinstance(fact, Positive):
                return False
            out.w, out.strict = fact.w, left
        out.verdict, out.short, out.face = "quasi" if left.size else "overlap", short, face
        out.witness = out.circulation = dict(zip(short.ids, short.weights, strict=True))
        return True

    # -- rows of T ---------------------------------------------------------------------------------

    def _restrict(self) -> None:
        """Go on with the rows that do not vanish on the face."""
        self.active = (not_vanishing if self.nothing_to_chance else moving)(self.rows, self.face, self._ids)

    def _overlooked(self) -> bool:
        """Whether rows thought to vanish on the face do not: none, unless they were chosen against the draw.

        Vectors that were found without these rows may be negative on them, so the search for S begins again.
        """
        if not len(not_vanishing(self.rows, self.face, self._not_of_S())):
            return False
        self.nothing_to_chance, self.positive, self.active = True, [], None
        self._restrict()
        return True

    def _not_of_S(self) -> Indices:
        """The rows that no vector has been found for."""
        if any(len(ids) == self.rows.n for _, ids in self.positive):
            return np.empty(0, dtype=np.int64)
        left = np.ones(self.rows.n, dtype=bool)
        for _, ids in self.positive:
            left[ids] = False
        return np.flatnonzero(left)

    @cached_property
    def _partner(self) -> Indices:
        return self.rows.opposites()

    def _contradicted(self) -> bool:
        """Equal rows with both labels; True, and the verdict, when all rows are such."""
        both = np.flatnonzero(self._partner >= 0)
        if not len(both):
            return False
        self.out.witness = {int(both[0]): 1, int(self._partner[both[0]]): 1}
        if len(both) == self.rows.n:
            number, count = np.unique(np.concatenate([both, self._partner]), return_counts=True)
            self.out.circulation = dict(zip(number.tolist(), count.tolist(), strict=True))
            self.out.verdict = "overlap"
            return True
        self._vanish_on_opposites()
        return False

    def _vanish_on_opposites(self) -> None:
        """Pairs of equal rows with both labels join the circulation."""
        while self._left() and (both := self._ids[self._partner[self._ids] >= 0]).size:
            # none of these rows vanishes on the face, so that each round lowers its dimension: at most p rounds
            self.tied.pair_off(both, self._partner)
            self._restrict()

    def _partition(self, stage: Stage) -> bool | None:
        """All rows of T at once, and a vector for those of S, as Newton's method has them; True if either is proved."""
        search = PartitionSearch(self.rows, self._not_of_S())
        guess = search.partition()
        before = self.face.dimension
        if guess is not None and (weights := search.circulation(guess.tied)) is not None:
            self.tied.take(weights)
        proved = self.face.dimension < before
        if proved:
            self._restrict()
        if guess is not None and self._left():
            proved |= self._strip(self.face.lift(integer_row(short(guess.direction[self.face.free]))[0]), self._ids)
        stage.tried.append(f"partition by Newton's method: {'proved' if proved else 'not proved'}")
        return proved or None

    # -- rows of S ---------------------------------------------------------------------------------

    def _strip(self, w: Row, ids: Indices) -> bool:
        """Take the rows away on which w is positive, if it is negative on none."""
        signs = self.rows.signs(w, ids)
        if (signs < 0).any() or not signs.any():
            return False
        self.positive.append((w, ids[signs > 0]))
        self.active = ids[signs == 0]
        return True

    def _columns_of_one_sign(self, stage: Stage) -> bool | None:
        """Take the rows away that are not zero in a column where no row is negative, or none positive; and again."""
        ids, alive = self._ids, np.ones(len(self._ids), dtype=bool)
        for pure, gone in layers(self.rows.table(ids), self.face.unit_vectors()):
            self.positive.append(([int(v) for v in pure], ids[gone]))
            alive[gone] = False
        proved = not alive.all()
        self.active = ids[alive] if proved else self.active
        stage.tried.append(f"columns of one sign: {'proved' if proved else 'none'}")
        return proved or None

    def _finish(self) -> Reduction:
        """The verdict; w is the sum of all vectors, each so much smaller than the last that it takes nothing back."""
        out = self.out
        out.face, out.circulation = self.face, self.tied.weights
        out.verdict = ("quasi" if out.circulation else "complete") if self.positive else "overlap"
        if out.circulation and not out.witness:
            out.witness = self._circuit()
        for w, ids in reversed(self.positive):
            out.w = w if out.w is None else outweighed(self.rows, w, out.w, ids)
            out.strict = ids if not len(out.strict) else np.sort(np.concatenate([out.strict, ids]))
        return out

    def _circuit(self) -> Weights:
        """Two contradicting rows, or rows of the circulation; all of it, should no fewer be proved."""
        rows, weights = self.rows, self.out.circulation
        pair = next((i for i in weights if self._partner[i] >= 0), None)
        if pair is not None:
            return {pair: 1, int(self._partner[pair]): 1}
        fact = Stage(rows, Face.whole(rows.p), np.array(sorted(weights), dtype=np.int64)).decide()
        if not isinstance(fact, Circuit):
            return weights
        return lowest_terms({i: t * rows.integers([i])[1][0] for i, t in fact.weights.items()})


def outweighed(rows: LiftedRows, large: Row, small: Row, ids: Indices) -> Row:
    """2**k large + small, positive on the rows named as large is; k as small as rounding lets one see."""
    sizes = [max(map(abs, v)).bit_length() for v in (large, small)]
    heads = [[ratio(t, 1 << size) for t in v] for v, size in zip((large, small), sizes, strict=True)]
    with np.errstate(all="ignore"):
        ahead, behind = (rows.table(ids) @ np.array(head) for head in heads)
        most = np.nan_to_num(np.max(-behind / ahead), nan=0.0, posinf=1e300, neginf=0.0)
    shift = max(0, sizes[1] - sizes[0] + (int(np.ceil(np.log2(most))) if most > 0 else -sizes[1]))
    more = 1
    while True:  # ends when 2**shift exceeds all ratios of -z.small to z.large, after about log2 shift rounds
        w = [(a << shift) + b for a, b in zip(large, small, strict=True)]
        if bool((rows.signs(w, ids) > 0).all()):
            return w
        shift, more = shift + more, 2 * more


def short(values: NDArray[np.float64], bits: int = 24) -> list[float]:
    """Numbers rounded to so many bits each."""
    head, power = np.frexp(values)
    return [float(v) for v in np.ldexp(np.rint(np.ldexp(head, bits)), power - bits)]

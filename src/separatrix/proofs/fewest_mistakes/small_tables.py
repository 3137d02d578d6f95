"""Fewest mistakes of small tables in exact arithmetic, where the columns differ too much in size for doubles."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.exact.face import Face
from separatrix.proofs.exact.gordan import Circuit, Positive, Stage
from separatrix.proofs.exact.lifted_rows import LiftedRows

DECISIONS = 500  # of parts of a table, at most


def decide(rows: LiftedRows, some: list[int]) -> object:
    """Whether some of the rows can be separated: a hyperplane, a circuit, or something in between."""
    return Stage(type(rows)(rows.X[some], rows.y[some], rows.intercept), Face.whole(rows.p)).decide()


def disjoint_circuits(rows: LiftedRows, zeros: list[int]) -> list[list[int]]:
    """Circuits that share no row, each of which forces a mistake; rows of zeros are circuits by themselves."""
    packed = [[i] for i in zeros]
    alive = [i for i in range(rows.n) if i not in zeros]
    while alive:  # each round takes rows out of those that are left
        answer = decide(rows, alive)
        if not isinstance(answer, Circuit):
            break
        codes = [alive[t] for t in answer.weights]
        packed.append(codes)
        alive = [i for i in alive if i not in codes]
    return packed


def separating_the_rest(rows: LiftedRows, upper: Callable[[], int], met: list[list[int]]) -> Iterator[Row]:
    """Hyperplanes for what is left when one row of a circuit is left out, then one of the next, and so on.

    The fewest rows are left out first, and always fewer than ``upper()``. Circuits on the way are added to ``met``.
    """
    waiting = [(list(range(rows.n)), 0)]  # rows that are kept, and how many are left out
    for _ in range(DECISIONS):
        if not waiting:
            return
        kept, out = waiting.pop(0)
        answer = decide(rows, kept)
        if isinstance(answer, Positive):
            yield answer.w
        elif isinstance(answer, Circuit):
            met.append([kept[t] for t in answer.weights])
            if out + 1 < upper():
                waiting += [([i for i in kept if i != kept[t]], out + 1) for t in answer.weights]

"""The voted perceptron with a bound on what is kept (native/separatrix/voted.hpp).

``account`` holds the votes of the current vector, how many are kept, how many came before the current
one, and the votes that were forgotten.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reference.perceptron import PerceptronVector
from reference.rows import Rows
from separatrix.arrays import Floats, Indices

ALIVE, USED, COUNT, FORGOTTEN = range(4)


def voted_pass(
    X: Rows,
    y: NDArray[np.int8],
    step: Floats | None,
    order: Indices | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    kept: Floats,
    votes: Indices,
    born: Indices,
    account: Indices,
    begin: int,
    end: int,
    limit: int,
) -> tuple[int, int, int]:
    """One pass; each vector that ends is kept, and the one with the fewest votes forgotten where room ends."""
    p, last, t = PerceptronVector(X, y, step, lifted, bias, zero_is_mistake, None), -1, begin
    while t < end and p.updates < limit:
        i = t if order is None else int(order[t])
        if y[i] != 0:
            if p.is_mistake(i):
                _keep(lifted, kept, votes, born, account)
                p.move(i)
                account[ALIVE], last = 1, t
            else:
                account[ALIVE] += 1
        t += 1
    return p.updates, t - begin, last


def _keep(lifted: Floats, kept: Floats, votes: Indices, born: Indices, account: Indices) -> None:
    which = int(account[COUNT])
    account[COUNT] += 1
    if account[ALIVE] == 0:
        return
    if account[USED] < len(kept):
        slot = int(account[USED])
        account[USED] += 1
    else:
        slot = min(range(len(kept)), key=lambda s: (int(votes[s]), int(born[s])), default=-1)
        if slot < 0 or account[ALIVE] < votes[slot]:
            account[FORGOTTEN] += account[ALIVE]
            return
        account[FORGOTTEN] += votes[slot]
    kept[slot], votes[slot], born[slot] = lifted, account[ALIVE], which


def votes(X: Rows, vectors: Floats, counts: Indices, out: Any) -> None:
    """Votes for +1 less those for -1; a score of zero votes +1."""
    for i in range(X.n):
        signs = [1 if X.dot(i, w) + float(w[X.d]) >= 0 else -1 for w in vectors]
        out[i] = sum(sign * int(c) for sign, c in zip(signs, counts, strict=True))

"""The pocket algorithm with ratchet (native/separatrix/pocket.hpp).

``account`` holds the present run, the run of the pocket, the rows visited, the counts made and the
rows that the counts looked at.
"""

from __future__ import annotations

from reference.perceptron import PerceptronVector
from reference.rows import Rows
from separatrix.arrays import Floats, Indices, Labels

RUN, BEST_RUN, VISITS, COUNTS, COUNT_VISITS = range(5)


def pocket_count(
    X: Rows,
    y: Labels,
    lifted: Floats,
    zero_is_mistake: bool,
    pocket: Floats,
    error: Floats,
    weight: Floats | None,
    account: Indices,
) -> bool:
    """Count the errors of the weights until they reach those of the pocket; with fewer they replace it."""
    p, wrong, i = PerceptronVector(X, y, None, lifted, False, zero_is_mistake, None), 0.0, 0
    while i < X.n and wrong < error[0]:
        if p.is_mistake(i):
            wrong += 1.0 if weight is None else float(weight[i])
        i += 1
    account[COUNTS] += 1
    account[COUNT_VISITS] += i
    if not wrong < error[0]:
        return False
    pocket[:] = lifted
    error[0] = wrong
    account[BEST_RUN] = account[RUN]
    return True


def pocket_pass(
    X: Rows,
    y: Labels,
    step: Floats | None,
    order: Indices | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    pocket: Floats,
    error: Floats,
    weight: Floats | None,
    account: Indices,
    share: float,
    begin: int,
    end: int,
    limit: int,
) -> tuple[int, int, int]:
    """One pass; it ends early when the pocket has no error left."""
    p, last, t = PerceptronVector(X, y, step, lifted, bias, zero_is_mistake, None), -1, begin
    while t < end and p.updates < limit:
        i = t if order is None else int(order[t])
        account[VISITS] += 1
        if y[i] != 0:
            if p.is_mistake(i):
                if account[RUN] > account[BEST_RUN] and account[COUNT_VISITS] <= share * account[VISITS]:
                    pocket_count(X, y, lifted, zero_is_mistake, pocket, error, weight, account)
                if error[0] == 0:
                    break
                p.move(i)
                account[RUN], last = 0, t
            else:
                account[RUN] += 1
        t += 1
    return p.updates, t - begin, last

"""The pocket algorithm with ratchet (native/separatrix/pocket.hpp).

``account`` holds the present run, the run of the pocket, the rows visited, the counts made and the
rows that the counts looked at.
"""

from __future__ import annotations

from separatrix.arrays import Floats, Indices, Labels
from separatrix.kernels.reference.linear import is_wrong
from separatrix.kernels.reference.rows import Rows

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
    wrong, i = 0.0, 0
    while i < X.n and wrong < error[0]:
        if y[i] != 0 and is_wrong(int(y[i]), X.dot(i, lifted) + float(lifted[X.d]), zero_is_mistake):
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
    updates, last, t = 0, -1, begin
    while t < end and updates < limit:
        i = t if order is None else int(order[t])
        account[VISITS] += 1
        if y[i] != 0:
            if is_wrong(int(y[i]), X.dot(i, lifted) + float(lifted[X.d]), zero_is_mistake):
                if account[RUN] > account[BEST_RUN] and account[COUNT_VISITS] <= share * account[VISITS]:
                    pocket_count(X, y, lifted, zero_is_mistake, pocket, error, weight, account)
                if error[0] == 0:
                    break
                a = float(y[i]) * (1.0 if step is None else float(step[i]))
                X.axpy(a, i, lifted)
                if bias:
                    lifted[X.d] += a
                account[RUN] = 0
                updates, last = updates + 1, t
            else:
                account[RUN] += 1
        t += 1
    return updates, t - begin, last

"""The perceptron's update in every order of rows (native/separatrix/perceptron.hpp).

A row is a mistake (P1) when y s < 0 with s = w . x + b, or when s = 0 and the tie rule says so (a score
that is not a number is always one); then (P2) w += c y x and, with a bias, b += c y. Each function
returns (updates, visits, last).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference.chance import below
from reference.linear import is_wrong
from reference.rows import Rows
from separatrix.arrays import Floats, Indices, Labels


@dataclass
class PerceptronVector:
    """Weights, and the rows that move them."""

    X: Rows
    y: Labels
    step: Floats | None
    w: Floats
    bias: bool
    zero_is_mistake: bool
    log: Indices | None
    updates: int = 0

    def score(self, i: int) -> float:
        return self.X.dot(i, self.w) + float(self.w[self.X.d])

    def is_mistake(self, i: int) -> bool:  # (P1)
        return bool(self.y[i] != 0) and is_wrong(int(self.y[i]), self.score(i), self.zero_is_mistake)

    def move(self, i: int) -> None:  # (P2)
        a = float(self.y[i]) * (1.0 if self.step is None else float(self.step[i]))
        self.X.axpy(a, i, self.w)
        if self.bias:
            self.w[self.X.d] += a
        if self.log is not None:
            self.log[self.updates] = i
        self.updates += 1


def _room(log: Indices | None, limit: int) -> int:
    return limit if log is None else min(limit, len(log))


class Lookahead:
    """Helpers that judge rows ahead of a pass; the readable passes do without."""

    def __init__(self, helpers: int, alone: int, block: int) -> None:
        if min(helpers, alone, block) < 1:
            raise ValueError("a lookahead needs positive numbers")
        self.rounds = self.passed_over = 0

    def help(self, number: int) -> None:
        """What a helper does until the pass is over: here nothing."""

    def close(self) -> None:
        """The pass is over."""


def perceptron_pass(
    X: Rows,
    y: Labels,
    step: Floats | None,
    order: Indices | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    begin: int,
    end: int,
    limit: int,
    habit: Labels | None = None,
    ahead: Lookahead | None = None,
) -> tuple[int, int, int]:
    """One pass over positions begin .. end of ``order``, at most ``limit`` updates.

    ``habit`` is 1 where the last look at a row found a mistake; here it is only kept, for a pass that makes use of it.
    ``ahead`` is of no use here: every row is looked at.
    """
    p = PerceptronVector(X, y, step, lifted, bias, zero_is_mistake, log)
    limit = _room(log, limit)
    last = -1
    t = begin
    while t < end and p.updates < limit:
        i = t if order is None else int(order[t])
        wrong = p.is_mistake(i)
        if wrong:
            p.move(i)
            last = t
        if habit is not None:
            habit[i] = wrong
        t += 1
    return p.updates, t - begin, last


def perceptron_restart(
    X: Rows,
    y: Labels,
    step: Floats | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    begin: int,
    limit: int,
    budget: int,
) -> tuple[int, int, int]:
    """Back to row 0 after every update; ``last`` is where to go on, n when no mistake is left."""
    p = PerceptronVector(X, y, step, lifted, bias, zero_is_mistake, log)
    limit = _room(log, limit)
    visits, t = 0, begin
    while t < X.n and p.updates < limit and visits < budget:
        visits += 1
        if p.is_mistake(t):
            p.move(t)
            t = 0
        else:
            t += 1
    return p.updates, visits, t


def perceptron_worst(
    X: Rows,
    y: Labels,
    step: Floats | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    norm: Floats | None,
    limit: int,
    budget: int,
) -> tuple[int, int, int]:
    """The violator with the least y s each time, the first of equals; ``last`` is n when none is left."""
    p = PerceptronVector(X, y, step, lifted, bias, zero_is_mistake, log)
    limit = _room(log, limit)
    visits = 0
    while p.updates < limit and visits < budget:
        violators = [i for i in range(X.n) if p.is_mistake(i)]
        visits += X.n
        if not violators:
            return p.updates, visits, X.n

        def margin(i: int) -> float:
            m = float(y[i]) * p.score(i)
            return m if norm is None else m / float(norm[i])

        p.move(min(violators, key=margin))
    return p.updates, visits, -1


def perceptron_any(
    X: Rows,
    y: Labels,
    step: Floats | None,
    lifted: Floats,
    bias: bool,
    zero_is_mistake: bool,
    log: Indices | None,
    state: NDArray[np.uint64],
    found: Indices,
    limit: int,
    budget: int,
) -> tuple[int, int, int]:
    """Any violator with the same chance: rows are drawn; after n draws in vain all are looked at."""
    p = PerceptronVector(X, y, step, lifted, bias, zero_is_mistake, log)
    limit = _room(log, limit)
    visits = 0
    while p.updates < limit and visits < budget:
        for _ in range(X.n):
            i = below(X.n, state)
            visits += 1
            if p.is_mistake(i):
                break
        else:
            violators = [i for i in range(X.n) if p.is_mistake(i)]
            visits += X.n
            if not violators:
                return p.updates, visits, X.n
            found[: len(violators)] = violators
            i = violators[below(len(violators), state)]
        p.move(i)
    return p.updates, visits, -1

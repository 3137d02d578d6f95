"""Why a run ended, as a named value; and the rules that end it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Protocol


class Status(Enum):
    """How a run ended; the value says it to people.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.numerics import Status
    >>> Perceptron().fit([[0.0], [1.0]], [0, 1]).status_ is Status.CONVERGED
    True
    >>> Status.CONVERGED.value
    'a whole pass without a mistake: the weights separate all rows'
    """

    CONVERGED = "a whole pass without a mistake: the weights separate all rows"
    SETTLED = "a whole pass without an update, but the model combines earlier weights too and misclassifies rows"
    SEPARATED = "stopped at a limit, and the weights separate all rows"
    TOLERATED = "a pass with no more mistakes than max_mistakes allows"
    PLATEAU = "the mistakes of a pass no longer fall: more passes are not expected to help"
    STATIONARY = "converged: the gradient, or the last step, is no longer than the tolerance"
    STREAMED = "learned in arrival order, one look at each row"
    OPTIMAL = "optimal to the requested tolerance"
    LEAST_SLACK = "no hyperplane separates the classes: the least total slack first, then the largest margin"
    BRACKETED = "stopped at a limit: the optimum lies between two proved bounds; raise max_nodes or time_limit"
    NO_MAXIMUM = "no finite maximum of the likelihood exists: the classes are separated, completely or in part"
    ILL_CONDITIONED = "no step improves any more, before the tolerance: few digits of the result may be right"
    MAX_ITERATIONS = "stopped at the limit of iterations, before it converged; raise max_iter or scale the columns"
    MAX_UPDATES = (
        "stopped at the limit of updates, with rows on the wrong side: raise max_updates, or no hyperplane may exist"
    )
    STALLED = "no step lowers the objective any more, before the gradient is within the tolerance"
    UNDEFINED = "the objective or its gradient is not a number at the next point; the last good point is kept"
    FAILED = "the objective raised an error; the last good point is kept"
    DIVERGED = "diverged: the objective and its gradient are greater than at the start; take a smaller step size"
    NONFINITE = "weights overflowed; scale the features"
    INTERRUPTED = "interrupted; the weights are those of that moment"


_RANK = {status: k for k, status in enumerate(Status)}


def last_of(statuses: Sequence[Status]) -> Status:
    """One status for several runs: the one that is named last above."""
    return max(statuses, key=_RANK.__getitem__)


def raise_interruption(status: Status) -> None:
    """Raise KeyboardInterrupt again for a run that it ended, now that the estimator has stored what was reached."""
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt("interrupted; the model holds what had been reached")


class Measured(Protocol):
    """What a pass reports of itself."""

    @property
    def mistakes(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def finite(self) -> bool: ...


Stop = Callable[[Sequence[Measured]], Status | None]


def stop_perceptron(max_mistakes: float, max_iter: float, max_updates: float, patience: float = math.inf) -> Stop:
    """A clean pass, a tolerated one, ``patience`` passes without a new minimum, or a limit; NaN is no convergence."""
    fewest, best = math.inf, 0  # mistakes, and the pass that had them

    def stop(passes: Sequence[Measured]) -> Status | None:
        nonlocal fewest, best
        last = passes[-1]
        if not last.finite:
            return Status.NONFINITE
        if last.mistakes == 0:
            return Status.CONVERGED
        if last.updates >= max_updates:  # the pass may not have ended
            return Status.MAX_UPDATES
        if last.mistakes <= max_mistakes:
            return Status.TOLERATED
        if last.mistakes < fewest:
            fewest, best = last.mistakes, len(passes)
        if len(passes) - best >= patience:
            return Status.PLATEAU
        if len(passes) >= max_iter:
            return Status.MAX_ITERATIONS
        return None

    return stop

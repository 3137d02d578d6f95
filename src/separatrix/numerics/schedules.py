"""Step sizes alpha(k) for k = 0, 1, 2, ...

constant      a0
inverse       a0/(k + 1)
root          a0/sqrt(k + 1)
exponential   a0 r^k
step          a0 r^floor(k/every)
line-search   what lowers J enough, tried from a0 and then from twice the last (Armijo 1966)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from separatrix.errors import ParameterError

Schedule = Callable[[int], float]


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ParameterError(f"{name} is {value}: it must be a finite number above zero.")


@dataclass(frozen=True, slots=True)
class Constant:
    a0: float

    def __post_init__(self) -> None:
        _positive("a0", self.a0)

    def __call__(self, k: int) -> float:
        return self.a0


@dataclass(frozen=True, slots=True)
class Inverse:
    a0: float

    def __post_init__(self) -> None:
        _positive("a0", self.a0)

    def __call__(self, k: int) -> float:
        return self.a0 / (k + 1)


@dataclass(frozen=True, slots=True)
class Root:
    a0: float

    def __post_init__(self) -> None:
        _positive("a0", self.a0)

    def __call__(self, k: int) -> float:
        return self.a0 / math.sqrt(k + 1)


@dataclass(frozen=True, slots=True)
class Exponential:
    a0: float
    r: float = 0.99

    def __post_init__(self) -> None:
        _positive("a0", self.a0)
        if not 0 < self.r <= 1:
            raise ParameterError(f"r is {self.r}: it must lie in (0, 1].")

    def __call__(self, k: int) -> float:
        return self.a0 * self.r**k


@dataclass(frozen=True, slots=True)
class StepDecay:
    a0: float
    r: float = 0.5
    every: int = 10

    def __post_init__(self) -> None:
        _positive("a0", self.a0)
        if not 0 < self.r <= 1:
            raise ParameterError(f"r is {self.r}: it must lie in (0, 1].")
        if self.every < 1:
            raise ParameterError(f"every is {self.every}: it must be at least 1.")

    def __call__(self, k: int) -> float:
        return self.a0 * self.r ** (k // self.every)


@dataclass(frozen=True, slots=True)
class LineSearch:
    """Not a function of k alone: the descent itself shrinks a step by ``shrink`` until J falls by ``slope`` of
    what the gradient promises."""

    a0: float
    shrink: float = 0.5
    slope: float = 1e-4

    def __post_init__(self) -> None:
        _positive("a0", self.a0)
        if not (0 < self.shrink < 1 and 0 < self.slope < 1):
            raise ParameterError(f"shrink is {self.shrink} and slope {self.slope}: both must lie in (0, 1).")

    def __call__(self, k: int) -> float:
        return self.a0


NAMED: dict[str, Callable[[float], Schedule]] = {
    "constant": Constant,
    "inverse": Inverse,
    "root": Root,
    "exponential": Exponential,
    "step": StepDecay,
    "line-search": LineSearch,
}


def schedule_of(schedule: str | Schedule, a0: float) -> Schedule:
    """A schedule by name, or the callable that was given."""
    if callable(schedule):
        return schedule
    if schedule not in NAMED:
        raise ParameterError(f"schedule is {schedule!r}: it can be {', '.join(NAMED)} or a function of k.")
    return NAMED[schedule](a0)

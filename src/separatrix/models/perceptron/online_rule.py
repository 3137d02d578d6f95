"""Rules that look at one row at a time, and the vectors that they move.

A rule names the arrays that it carries beside its vectors and hands both to a kernel; the kernel moves
them in place. The same vectors serve a fit (one vector or, by Kesler's construction, all classes at
once), a stream (one vector per class) and a single row. Each learner defines its own rule.

Learning starts at zeros, ones, normals, or vectors that were given (and are copied).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError
from separatrix.numerics.seeds import seed_state, standard_normals
from separatrix.validation import Row, check_finite_vector, check_labels

Arrays = dict[str, NDArray[Any]]


@dataclass(slots=True)
class Vectors:
    """Lifted vectors, the account of each, and the arrays that a rule carries beside them.

    The first axis of every array numbers the vectors. ``seen`` marks those that compete by Kesler's
    rule; without it each vector is learned against the rest.
    """

    lifted: Floats
    beside: Arrays = field(default_factory=dict)
    seen: NDArray[np.int8] | None = None
    updates: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    visits: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        if len(self.updates) != len(self.lifted):
            self.updates = np.zeros(len(self.lifted), dtype=np.int64)
            self.visits = np.zeros(len(self.lifted), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.lifted)

    def copy(self) -> Vectors:
        """A copy of all arrays."""
        return self._each(lambda a: a.copy())

    def take(self, rows: list[int]) -> Vectors:
        """These vectors, in this order."""
        return self._each(lambda a: a[rows])

    def join(self, other: Vectors) -> Vectors:
        """These vectors and then the others."""
        beside = {name: _joined(a, other.beside[name]) for name, a in self.beside.items()}
        seen = None if self.seen is None or other.seen is None else _joined(self.seen, other.seen)
        counts = _joined(self.updates, other.updates), _joined(self.visits, other.visits)
        return Vectors(_joined(self.lifted, other.lifted), beside, seen, *counts)

    def widen(self, d: int, fill: dict[str, float]) -> None:
        """Give every vector d weights: new ones are 0, and what is carried beside them as ``fill`` says."""
        old = self.lifted.shape[1] - 1
        if d > old:
            self.lifted = _widened(self.lifted, d - old, 0.0)
            for name, value in fill.items():
                self.beside[name] = _widened(self.beside[name], d - old, value)

    def _each(self, change: Any) -> Vectors:
        beside = {name: change(a) for name, a in self.beside.items()}
        seen = None if self.seen is None else change(self.seen)
        return Vectors(change(self.lifted), beside, seen, change(self.updates), change(self.visits))


def _joined(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """One behind the other; where one has more room than the other, both get it."""
    if a.ndim > 1 and a.shape[1] != b.shape[1]:
        room = max(a.shape[1], b.shape[1])
        a, b = (np.pad(c, [(0, 0), (0, room - c.shape[1])] + [(0, 0)] * (c.ndim - 2)) for c in (a, b))
    return np.concatenate([a, b])


def _widened(array: Floats, more: int, value: float) -> Floats:
    """More columns before the last one, that of the bias."""
    new = np.full((len(array), more), value)
    return np.ascontiguousarray(np.concatenate([array[:, :-1], new, array[:, -1:]], axis=1))


# Rules bound to their arrays, with the same methods (kernels, online)
OnlineKernel: TypeAlias = (
    kernels.PlainRule
    | kernels.AveragedRule
    | kernels.MarginRule
    | kernels.PassiveAggressiveRule
    | kernels.ArowDiagonalRule
    | kernels.ArowFullRule
)


@dataclass(frozen=True, slots=True)
class OnlineRule:
    """What moves vectors, row by row; abstract."""

    fill: ClassVar[dict[str, float]] = {}  # arrays shaped like the vectors, and what they start from
    widens: ClassVar[bool] = True  # whether features may be added while it learns
    averages: ClassVar[bool] = False  # whether it predicts with an average of its vectors, kept in the arrays beside
    bias: bool

    def beside(self, lifted: Floats) -> Arrays:
        """The arrays that the rule carries beside fresh vectors."""
        return {name: kernels.aligned(np.full(lifted.shape, value)) for name, value in self.fill.items()}

    def fresh(self, lifted: Floats, kesler: bool) -> Vectors:
        """Vectors that have seen no row; those given are used, not copied."""
        seen = np.zeros(len(lifted), dtype=np.int8) if kesler else None
        return Vectors(lifted, self.beside(lifted), seen)

    def late(self, v: Vectors, start: Floats) -> Vectors:
        """One vector that joins these to compete with them."""
        return self.fresh(start[None].copy(), kesler=True)

    def kernel(self, v: Vectors) -> Any:
        """The rule bound to these vectors, which it moves in place."""
        raise NotImplementedError("a rule names its kernel")

    def final(self, v: Vectors) -> Floats:
        """The lifted weights that the model predicts with."""
        return v.lifted


@dataclass(frozen=True, slots=True)
class PlainUpdates(OnlineRule):
    """On a mistake: w += c y x (Rosenblatt 1958)."""

    zero_is_mistake: bool

    def kernel(self, v: Vectors) -> OnlineKernel:
        return kernels.PlainRule(v.lifted, v.updates, v.visits, v.seen, self.bias, self.zero_is_mistake)


# -- where learning starts --


def first_vector(start: str | ArrayLike, d: int, bias: bool, chance: kernels.Word) -> Floats:
    """The lifted start by its name or from an array of d numbers, or d + 1 with the bias."""
    first = np.zeros(d + 1)
    free = d + 1 if bias else d
    if isinstance(start, str):
        if start == "ones":
            first[:free] = 1.0
        elif start == "random":
            first[:free] = standard_normals(chance, free)
        return first
    given = check_finite_vector(start, what="start")
    if len(given) not in (d, free):
        raise DataError(f"start has {len(given)} entries and needs {d}{f', or {d + 1} with the bias' if bias else ''}.")
    first[: len(given)] = given
    return first


def given_starts(first: Floats, count: int, coef_init: Any, intercept_init: Any, bias: bool) -> list[Floats]:
    """One lifted start per vector: the first one, with weights or bias as given."""
    starts = [first.copy() for _ in range(count)]
    d = len(first) - 1
    if coef_init is not None:
        coef = check_finite_vector(np.ravel(coef_init), what="coef_init")
        if len(coef) != count * d:
            each = f"{d} features" if count == 1 else f"{d} features in each of {count} classes"
            raise DataError(f"coef_init has {len(coef)} entries and needs {count * d}: one for each of {each}.")
        for lifted, w in zip(starts, coef.reshape(count, d), strict=True):
            lifted[:-1] = w
            lifted[-1] = 0.0
    if intercept_init is not None:
        given = check_finite_vector(np.ravel(intercept_init), what="intercept_init")
        if len(given) != count:
            raise DataError(f"intercept_init has {len(given)} entries and needs {count}.")
        for lifted, b in zip(starts, given, strict=True):
            lifted[-1] = b if bias else 0.0
    return starts


def first_guess(model: Any, row: Row, classes: Any) -> Any:
    """The predicted class of a checked row where the classes are known, None where they are not.

    From a zero start every score is 0, which predicts the second of two classes by the rule sign(0) = +1 (or what
    ``boundary`` says), and the first of more, whose scores are equal.
    """
    if classes is None:
        return None
    names = check_labels(classes, what="classes").classes.tolist()
    if len(names) != 2:
        return names[0]
    score = _start_score(model, row)
    if score == 0 and model.boundary == "undefined":
        return None
    return names[score > 0 or (score == 0 and model.boundary != "negative")]


def _start_score(model: Any, row: Row) -> float:
    start = getattr(model, "start", "zeros")
    if isinstance(start, str) and start == "zeros":
        return 0.0
    lifted = first_vector(start, row.d, model.fit_intercept, seed_state(deepcopy(model.random_state)))
    weights = lifted[:-1] if row.columns is None else lifted[np.asarray(row.columns)]
    return float(weights @ row.values + lifted[-1])

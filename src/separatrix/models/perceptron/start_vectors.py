"""Where learning starts: zeros, ones, normals, or vectors that were given (and are copied); the first prediction."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.numerics.seeds import seed_state, standard_normals
from separatrix.validation import Row, check_finite_vector, check_labels


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

"""What a learner predicts before its first row: the class of the score of its start, by the boundary's rule."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from separatrix.models.perceptron.start_vectors import first_vector
from separatrix.numerics.seeds import seed_state
from separatrix.validation import Row, check_labels


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

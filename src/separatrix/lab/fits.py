"""Up to three learners fitted on the points: their boundaries, scores and confusion matrices, side by side."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import SeparatrixError
from separatrix.evaluation.splits import random_parts
from separatrix.lab.feature_columns import FeatureColumn, columns_of, mapped_rows
from separatrix.lab.learners import MADE, PROBABILITIES, made_learner
from separatrix.lab.reading import SceneError
from separatrix.lab.scene import Scene, SceneChoices
from separatrix.validation import check_labels

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class ConfusionCounts:
    """Points by class and prediction; a score of 0 predicts plus."""

    true_plus: int
    false_minus: int
    false_plus: int
    true_minus: int


@dataclass(frozen=True, slots=True)
class LearnerFit:
    """A fitted learner: its score is w·(columns) + b; ``problem`` says why there is none."""

    name: str
    title: str
    probability: bool
    w: list[float]
    b: float
    scores: list[float]
    train: ConfusionCounts | None
    held: ConfusionCounts | None
    problem: str | None


@dataclass(frozen=True, slots=True)
class SceneFits:
    """The learners of the scene, fitted on the points that are not held out."""

    columns: list[FeatureColumn]
    held: list[int]
    fits: list[LearnerFit]


def split_of(scene: Scene) -> tuple[Rows, Rows]:
    """Rows to learn from, and rows held out, each class in proportion."""
    n = len(scene.points)
    count = round(scene.study.share * n)
    if count == 0:
        return np.arange(n), np.empty(0, dtype=np.intp)
    try:
        rng = np.random.default_rng(scene.study.seed)
        held, train = random_parts(n, [count], check_labels(scene.labels), rng)
    except SeparatrixError as error:
        raise SceneError(str(error)) from None
    if len(set(scene.labels[train].tolist())) < 2:
        raise SceneError("the points that are not held out are of one class: hold out fewer.")
    return train, held


def fits_of(scene: Scene) -> SceneFits:
    """Fit each learner of the scene on its training points."""
    scene.need_classes()
    columns = columns_of(scene)
    Z, y = mapped_rows(scene, columns), scene.labels
    train, held = split_of(scene)
    fits = [fitted(name, scene.choices, Z, y, train, held) for name in scene.learners]
    return SceneFits(columns, held.tolist(), fits)


def fitted(name: str, choices: SceneChoices, Z: Floats, y: Any, train: Rows, held: Rows) -> LearnerFit:
    """One learner on its training rows, with scores of all rows."""
    title, probability = MADE[name][0], name in PROBABILITIES
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # counts and lines show what came of it
            found = made_learner(name, choices).fit(Z[train], y[train])
    except (SeparatrixError, np.linalg.LinAlgError) as error:
        return LearnerFit(name, title, probability, [], 0.0, [], None, None, str(error))
    scores = np.asarray(found.decision_function(Z), dtype=np.float64)
    w, b = np.asarray(found.coef_).ravel(), float(np.asarray(found.intercept_).ravel()[0])
    if not (np.isfinite(scores).all() and np.isfinite(w).all() and np.isfinite(b)):
        return LearnerFit(name, title, probability, [], 0.0, [], None, None, "the weights are not finite.")
    right = counts_of(scores[train], y[train])
    judged = counts_of(scores[held], y[held]) if len(held) else None
    return LearnerFit(name, title, probability, w.tolist(), b, scores.tolist(), right, judged, None)


def counts_of(scores: Floats, y: Any) -> ConfusionCounts:
    """The confusion matrix at a threshold of 0."""
    said, plus = scores >= 0, y > 0
    return ConfusionCounts(
        *(int(np.sum(a & b)) for a, b in ((said, plus), (~said, plus), (said, ~plus), (~said, ~plus)))
    )

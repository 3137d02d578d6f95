"""Up to three learners fitted on the points: their boundaries, scores and confusion matrices, side by side."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

import separatrix
from separatrix.arrays import Floats
from separatrix.errors import SeparatrixError
from separatrix.evaluation.splits import random_parts
from separatrix.lab.request_reading import SceneError
from separatrix.lab.scene import FeatureColumn, LearnerName, Scene, SceneChoices, columns_of, mapped_rows
from separatrix.validation import check_labels

SECONDS = 2.0  # for the fewest mistakes
SEEDED = {"random_state": 0}
MADE: dict[str, tuple[str, str, dict[str, Any]]] = {  # title, class, parameters
    "perceptron": ("Perceptron", "Perceptron", {}),
    "averaged": ("Averaged perceptron", "AveragedPerceptron", SEEDED),
    "pocket": ("Pocket perceptron", "PocketPerceptron", SEEDED),
    "margin-perceptron": ("Margin perceptron", "MarginPerceptron", SEEDED),
    "passive-aggressive": ("Passive-aggressive", "PassiveAggressive", SEEDED),
    "arow": ("AROW", "AROW", SEEDED),
    "lda": ("LDA", "LinearDiscriminant", {}),
    "least-squares": ("Least squares", "LeastSquaresClassifier", {}),
    "logistic": ("Logistic", "LogisticRegression", {}),
    "ridge-logistic": ("Logistic, ridge C = 1", "LogisticRegression", {"C": 1.0}),
    "max-margin": ("Maximum margin", "MaxMargin", {}),
    "soft-margin": ("Soft margin, C = 1", "MaxMargin", {"C": 1.0}),
    "fewest-mistakes": ("Fewest mistakes", "FewestMistakes", {"time_limit": SECONDS}),
}
PROBABILITIES = ("lda", "logistic", "ridge-logistic")  # whose score is the log of the odds
assert set(MADE) == set(get_args(LearnerName))


def made_learner(name: str, choices: SceneChoices) -> Any:
    """An unfitted learner; the perceptron with its choices."""
    _, kind, parameters = MADE[name]
    own = asdict(choices) if name == "perceptron" else parameters
    return getattr(separatrix, kind)(**own)


def learner_titles() -> list[dict[str, Any]]:
    """What the page offers: name, title, class and parameters of each learner."""
    return [
        {"name": name, "title": title, "kind": kind, "parameters": parameters, "probability": name in PROBABILITIES}
        for name, (title, kind, parameters) in MADE.items()
    ]


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

"""Training and validation error as the degree grows, five folds, and the ROC curve of the first learner."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix import evaluate
from separatrix.errors import SeparatrixError
from separatrix.evaluation.fold_assignment import make_folds
from separatrix.lab.fits import Rows, fitted, split_of
from separatrix.lab.request_reading import SceneError
from separatrix.lab.scene import MOST_DEGREE, Scene, columns_of, mapped_rows
from separatrix.validation import check_labels

FOLDS = 5


@dataclass(frozen=True, slots=True)
class ErrorsByDegree:
    """Shares of points that are misclassified, one a degree, where points are held out; null where no fit exists."""

    train: list[float | None]
    held: list[float | None]


@dataclass(frozen=True, slots=True)
class FoldErrors:
    """Which fold judges each point, and the errors of each degree: one row a fold, and their means."""

    fold: list[int]
    train: list[list[float | None]]
    validation: list[list[float | None]]
    mean_train: list[float | None]
    mean_validation: list[float | None]


@dataclass(frozen=True, slots=True)
class RocPoints:
    """True against false positive rate from the strictest threshold to the loosest, and the area with its interval."""

    fpr: list[float]
    tpr: list[float]
    thresholds: list[float | None]
    auc: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SceneStudyResult:
    """What the first learner of the scene does on points that it was not fitted on."""

    learner: str
    degrees: list[int]
    held: list[int]
    holdout: ErrorsByDegree | None
    folds: FoldErrors | None
    judged: list[int]
    roc: RocPoints | None
    problem: str | None


def study_of(scene: Scene) -> SceneStudyResult:
    """Hold points out, grow the degree, and rank the judged points."""
    scene.need_classes()
    if not scene.learners:
        raise SceneError("choose a learner to study.")
    train, held = split_of(scene)
    degrees = list(range(1, MOST_DEGREE + 1))
    folds = None
    if np.bincount(scene.labels + 1)[[0, 2]].min() >= FOLDS:
        folds = _folds(scene, degrees)
    holdout = ErrorsByDegree(*_curve(scene, degrees, train, held)) if len(held) else None
    judged = held if len(held) else train
    columns = columns_of(scene)
    found = fitted(scene.learners[0], scene.choices, mapped_rows(scene, columns), scene.labels, train, held)
    roc = None if found.problem else _roc(scene.labels[judged], np.array(found.scores)[judged])
    return SceneStudyResult(found.title, degrees, held.tolist(), holdout, folds, judged.tolist(), roc, found.problem)


def _curve(scene: Scene, degrees: list[int], train: Rows, held: Rows) -> tuple[list[float | None], list[float | None]]:
    """Errors on training and held-out rows at each degree."""
    errors: tuple[list[float | None], list[float | None]] = ([], [])
    for degree in degrees:
        own = replace(scene, features=replace(scene.features, degree=degree))
        Z = mapped_rows(own, columns_of(own))
        found = fitted(scene.learners[0], scene.choices, Z, scene.labels, train, held)
        wrong = None if found.problem else (np.array(found.scores) >= 0) != (scene.labels > 0)
        for kept, rows in zip(errors, (train, held), strict=True):
            kept.append(None if wrong is None else float(wrong[rows].mean()))
    return errors


def _folds(scene: Scene, degrees: list[int]) -> FoldErrors:
    labels = check_labels(scene.labels)
    made = make_folds(len(scene.points), FOLDS, 1, labels, None, None, scene.study.seed)
    part = np.zeros(len(scene.points), dtype=int)
    for k, fold in enumerate(made):
        part[fold.test] = k
    train, validation = zip(*(_curve(scene, degrees, fold.train, fold.test) for fold in made), strict=True)
    return FoldErrors(part.tolist(), [*train], [*validation], _means(train), _means(validation))


def _means(rows: Any) -> list[float | None]:
    return [None if None in column else float(np.mean(column)) for column in zip(*rows, strict=True)]


def _roc(y: Any, scores: Any) -> RocPoints | None:
    """The curve of the library; None where one class has no judged point."""
    if len(set(y.tolist())) < 2:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows precision and recall beside accuracy
            found = evaluate(y, scores=scores, positive=1, resamples=200)
            curve = found.roc_curve()
    except SeparatrixError:
        return None
    thresholds = [value if math.isfinite(value) else None for value in curve.thresholds.tolist()]
    auc = found.roc_auc
    return RocPoints(curve.fpr.tolist(), curve.tpr.tolist(), thresholds, auc.value, auc.low, auc.high)

"""What the lab answers about a scene: the run of the perceptron, and what is proved of the points."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import asdict, dataclass
from io import StringIO

import numpy as np

from separatrix.errors import SeparatrixError
from separatrix.lab.scene import Scene, SceneError
from separatrix.models.perceptron.perceptron import Perceptron
from separatrix.models.perceptron.step_trace import step_trace
from separatrix.persistence.checkable_rows import put_csv
from separatrix.proofs.fewest_mistakes import fewest_mistakes
from separatrix.proofs.margin import margin
from separatrix.proofs.novikoff import mistake_bound
from separatrix.proofs.separability import separability

MOST_STEPS = 5000
SECONDS = 2.0  # for the fewest mistakes
COLUMNS, TARGET = ("x", "y"), "label"


@dataclass(frozen=True, slots=True)
class Run:
    """The looks of a perceptron in order; w and b stand before the first look and after each."""

    row: list[int]
    epoch: list[int]
    score: list[float]
    mistake: list[bool]
    w: list[list[float]]
    b: list[float]
    looks: int
    complete: bool
    ended: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line w·x + b = 0."""

    w: list[float]
    b: float


@dataclass(frozen=True, slots=True)
class Gap:
    """The maximum margin: half its width, proved between two bounds, its line and the rows on its edges."""

    lower: float
    upper: float
    line: Line
    support: list[int]


@dataclass(frozen=True, slots=True)
class Bound:
    """Novikoff's bound on the mistakes of a perceptron that starts at zero: (R / margin)², for lifted rows."""

    radius: float
    margin: float
    most: int


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The fewest rows that any line gets wrong, proved between two bounds, and the rows that a best line gets wrong."""

    lower: int
    upper: int
    rows: list[int]
    line: Line


@dataclass(frozen=True, slots=True)
class SceneProof:
    """What is proved of the points, with the certificate of it and the points as the file that it refers to."""

    verdict: str
    witness: list[int]
    gap: Gap | None
    bound: Bound | None
    mistakes: Mistakes | None
    coefficients: dict[str, str]
    certificates: list[str]
    table: str


def run_of(scene: Scene) -> Run:
    """The perceptron's run, look by look, by the learner of the package."""
    _need_classes(scene)
    learner = Perceptron(**asdict(scene.choices))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the page shows how the run ended
            steps = step_trace(learner, scene.rows, scene.labels, positive=1, max_steps=MOST_STEPS)
    except SeparatrixError as error:
        raise SceneError(str(error)) from None
    return Run(
        steps.row.tolist(),
        steps.epoch.tolist(),
        _plain(steps.score),
        steps.mistake.tolist(),
        [_plain(steps.start[:2]), *(_plain(w) for w in steps.coef)],
        [_plain(steps.start[2:])[0] if len(steps.start) > 2 else 0.0, *_plain(steps.intercept)],
        int(steps.visits),
        bool(steps.complete),
        str(steps).splitlines()[-1],
    )


def proof_of(scene: Scene) -> SceneProof:
    """Verdict, margin, bound and fewest mistakes of the points, each with its certificate."""
    _need_classes(scene)
    X, y, intercept = scene.rows, scene.labels, scene.choices.fit_intercept
    found = separability(X, y, intercept=intercept)
    certificates = [found.certificate]
    gap = bound = mistakes = None
    if found.verdict == "complete":
        wide = margin(X, y, intercept=intercept)
        assert wide.coef is not None  # the rows are separable
        assert wide.intercept is not None
        gap = Gap(wide.lower, wide.upper, _line(wide.coef, wide.intercept), wide.support.tolist())
        limit = mistake_bound(X, y, intercept=intercept)
        assert limit.most is not None
        bound = Bound(float(limit.radius), float(limit.margin[0]), int(limit.most))
        certificates += [wide.certificate, limit.certificate]
    else:
        few = fewest_mistakes(X, y, intercept=intercept, time_limit=SECONDS)
        line = _line(few.coef, few.intercept)
        mistakes = Mistakes(int(few.lower), int(few.upper), few.wrong.tolist(), line)
        certificates.append(few.certificate)
    fates = dict(zip(("x", "y", "intercept"), map(str, found.coefficients.values()), strict=False))
    file = StringIO()
    put_csv(file, COLUMNS, X, TARGET, [str(label) for label in y.tolist()])
    texts = [json.dumps(own.to_dict()) for own in certificates]
    return SceneProof(found.verdict, found.witness.tolist(), gap, bound, mistakes, fates, texts, file.getvalue())


def _need_classes(scene: Scene) -> None:
    if not scene.both_classes:
        raise SceneError("there must be points of both classes.")


def _line(coef: np.ndarray, intercept: float) -> Line:
    return Line(_plain(coef), float(intercept))


def _plain(values: np.ndarray) -> list[float]:
    """Numbers for JSON, which has neither infinities nor NaN."""
    return [float(v) if math.isfinite(v) else 0.0 for v in np.asarray(values, dtype=float).tolist()]

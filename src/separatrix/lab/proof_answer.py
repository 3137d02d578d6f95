"""What is proved of the points of a scene, in the columns that its features give them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO

import numpy as np

from separatrix import fewest_mistakes, margin, mistake_bound, separability
from separatrix.lab.fits import SECONDS
from separatrix.lab.scene import FeatureColumn, Scene, columns_of, mapped_rows
from separatrix.proofs.certificate.checkable_rows import put_csv

TARGET = "label"
EDGE = 1e-9  # of the margin: how much farther a row that counts as one on the edge may lie


@dataclass(frozen=True, slots=True)
class Line:
    """The boundary w·(columns) + b = 0."""

    w: list[float]
    b: float


@dataclass(frozen=True, slots=True)
class Gap:
    """The maximum margin: half its width, proved between two bounds, its line and all rows on its edges."""

    lower: float
    upper: float
    line: Line
    edges: list[int]


@dataclass(frozen=True, slots=True)
class Bound:
    """Novikoff's bound on the mistakes of a perceptron that starts at zero: (R / margin)², for lifted rows."""

    radius: float
    margin: float
    most: int


@dataclass(frozen=True, slots=True)
class Mistakes:
    """The fewest rows that any line misclassifies, proved between two bounds, and the rows of a best line."""

    lower: int
    upper: int
    rows: list[int]
    line: Line


@dataclass(frozen=True, slots=True)
class SceneProof:
    """What is proved of the points, with the certificate of it and the points as the file that it refers to."""

    columns: list[FeatureColumn]
    verdict: str
    witness: list[int]
    gap: Gap | None
    bound: Bound | None
    mistakes: Mistakes | None
    coefficients: dict[str, str]
    certificates: list[str]
    table: str


def proof_of(scene: Scene) -> SceneProof:
    """Verdict, margin, bound and fewest mistakes of the points, each with its certificate."""
    scene.need_classes()
    columns = columns_of(scene)
    X, y, intercept = mapped_rows(scene, columns), scene.labels, scene.choices.fit_intercept
    found = separability(X, y, fit_intercept=intercept)
    certificates = [found.certificate]
    gap = bound = mistakes = None
    if found.verdict == "complete":
        wide = margin(X, y, fit_intercept=intercept)
        assert wide.coef is not None  # the rows are separable
        assert wide.intercept is not None
        distances = y * (X @ wide.coef + wide.intercept)
        edges = np.flatnonzero(distances <= wide.lower * (1 + EDGE)).tolist()
        gap = Gap(wide.lower, wide.upper, _line(wide.coef, wide.intercept), edges)
        limit = mistake_bound(X, y, fit_intercept=intercept)
        assert limit.most is not None
        bound = Bound(float(limit.radius), float(limit.margin[0]), int(limit.most))
        certificates += [wide.certificate, limit.certificate]
    else:
        few = fewest_mistakes(X, y, fit_intercept=intercept, time_limit=SECONDS)
        line = _line(few.coef, few.intercept)
        mistakes = Mistakes(int(few.lower), int(few.upper), few.wrong.tolist(), line)
        certificates.append(few.certificate)
    names = [column.name for column in columns]
    fates = dict(zip([*names, "intercept"], map(str, found.coefficients.values()), strict=False))
    file = StringIO()
    put_csv(file, names, X, TARGET, [str(label) for label in y.tolist()])
    texts = [json.dumps(own.to_dict()) for own in certificates]
    return SceneProof(
        columns, found.verdict, found.witness.tolist(), gap, bound, mistakes, fates, texts, file.getvalue()
    )


def _line(coef: np.ndarray, intercept: float) -> Line:
    return Line(coef.tolist(), float(intercept))

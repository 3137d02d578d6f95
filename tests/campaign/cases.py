"""A case of the campaign: a small labelled set and how it is asked about, a function of a seed alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy as np
from families import LABELLED, PLAIN, halved
from scipy import sparse

NAMES = [[0, 1, 2, 3], [-1, 1, 2, 5], ["no", "yes", "zz", "é"], [-1.0, 2.0, 3.0, 1e6], ["1", "10", "2", "a b"]]


@dataclass
class Case:
    """A labelled set, and how it is asked about."""

    family: str
    X: list[list[float]]
    y: list[int]  # class numbers
    classes: int = 2
    intercept: bool = True
    reading: str = "binary64"
    form: str = "dense"
    weights: list[float] | None = None
    names: list = field(default_factory=lambda: NAMES[0])

    @property
    def table(self):
        """X as the package is given it."""
        X = np.array(self.X, dtype=np.float32 if self.form == "float32" else np.float64)
        if self.form == "fortran":
            return np.asfortranarray(X)
        if self.form == "csr":
            return sparse.csr_array(X)
        if self.form == "zeros":  # stored zeros, unsorted columns
            n, d = X.shape
            columns = np.tile(np.arange(d)[::-1], n)
            return sparse.csr_matrix((X[:, ::-1].ravel(), columns, np.arange(0, n * d + 1, d)), shape=(n, d))
        return X

    @property
    def labels(self):
        return np.array([self.names[k] for k in self.y])

    @property
    def used(self):
        """The rows that count."""
        return [i for i in range(len(self.y)) if self.weights is None or self.weights[i] != 0]

    @property
    def constructions(self):
        """Those for many classes that the oracle can follow: in many columns Kesler's cone has too many rays."""
        width = (self.classes - 1) * (len(self.X[0]) + self.intercept)
        return ["ovr", "pairs", "kesler"] if width <= 9 else ["ovr", "pairs"]

    def options(self):
        return {"fit_intercept": self.intercept, "reading": self.reading}


def make(seed, classes=2):
    """The case of a seed: a family, its labels, and how it is asked."""
    rng = Random(seed)
    build = rng.choice(PLAIN + LABELLED * 2)
    X, y = build(rng), None
    if build in LABELLED:
        X, y = X
    elif rng.random() < 0.6:
        X, y = halved(rng, X)
    else:
        y = [rng.randrange(2) for _ in X]
    if classes > 2:
        y = [rng.randrange(classes) if rng.random() < 0.5 else t for t in y]
        for k in range(classes):  # every class has a row
            if k not in y:
                X, y = [*X, list(rng.choice(X))], [*y, k]
    elif len(set(y)) < 2:
        y[rng.randrange(len(y))] ^= 1
    case = Case(build.__name__, X, y, classes, rng.random() < 0.7, names=rng.choice(NAMES))
    case.form = rng.choice(["dense", "dense", "fortran", "csr", "csr", "zeros", "float32"])
    with np.errstate(over="ignore"):
        narrow = np.array(X, dtype=np.float32)
    if case.form == "float32" and not np.isfinite(narrow).all():
        case.form = "dense"
    elif case.form == "float32":
        case.X = narrow.tolist()
    if case.form != "float32" and rng.random() < (0.7 if "decimals" in case.family else 0.2):
        case.reading = "decimal"
    if rng.random() < 0.15:
        weights = [rng.choice([0.0, 1.0, 1.0, 2.5]) for _ in y]
        if {t for t, w in zip(y, weights, strict=True) if w} == set(y):
            case.weights = weights
    return case

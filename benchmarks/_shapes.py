"""Tables of everyday shapes, drawn from a seed: X, labels and a number to predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Shape:
    """A table with a name: K classes, drawn by ``kind``."""

    name: str
    n: int
    d: int
    K: int = 2
    kind: str = "plain"

    def draw(self) -> tuple[Any, Any, Any]:
        """X, labels 0 .. K - 1 and numbers to predict."""
        rng = np.random.default_rng(self.n + self.d + self.K)
        X = KINDS[self.kind](self.n, self.d, rng)
        W = rng.standard_normal((self.d, self.K))
        S = np.asarray(X @ W)
        S /= S.std() or 1.0
        y = S[:, 0] + 0.5 * rng.standard_normal(self.n)
        noise = 0.0 if self.kind == "separated" else 0.7
        labels = np.argmax(S + noise * rng.standard_normal(S.shape), axis=1)
        labels[: self.K] = np.arange(self.K)  # every class has a row
        return X, labels, y


def _plain(n, d, rng):
    return rng.standard_normal((n, d))


def _single(n, d, rng):
    return rng.standard_normal((n, d)).astype(np.float32)


def _correlated(n, d, rng):
    """Columns that share a factor: correlations of 0.9."""
    return np.sqrt(0.1) * rng.standard_normal((n, d)) + np.sqrt(0.9) * rng.standard_normal((n, 1))


def _scaled(n, d, rng):
    """Columns of units from 1e-2 to 1e2 with offsets."""
    return (rng.standard_normal((n, d)) + rng.uniform(-3, 3, d)) * 10 ** rng.uniform(-2, 2, d)


def _text(n, d, rng):
    """Rows of length 1 with up to 60 words, rare ones rarely."""
    often = 1 / np.arange(1, d + 1) ** 0.8
    words = rng.choice(d, size=60 * n, p=often / often.sum())
    X = sparse.csr_array((np.ones(60 * n), (np.repeat(np.arange(n), 60), words)), shape=(n, d))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.diff(X.indptr))
    return sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=(n, d))


def _one_hot(n, d, rng):
    """Five categories of d/5 values each, as sparse columns of 0 and 1."""
    values = d // 5
    columns = rng.integers(0, values, (n, 5)) + values * np.arange(5)
    start = np.arange(0, 5 * n + 1, 5, dtype=np.int32)
    return sparse.csr_array((np.ones(5 * n), columns.ravel().astype(np.int32), start), shape=(n, d))


KINDS = {
    "plain": _plain,
    "separated": _plain,
    "float32": _single,
    "correlated": _correlated,
    "scaled": _scaled,
    "text": _text,
    "one-hot": _one_hot,
}

SHORT = [
    Shape("tiny 150 x 4, K=3", 150, 4, 3),
    Shape("small 2,000 x 20", 2000, 20),
    Shape("small, K=10", 2000, 20, 10),
    Shape("middle 5,000 x 50", 5000, 50),
    Shape("middle, float32", 5000, 50, 2, "float32"),
    Shape("middle, correlated", 5000, 50, 2, "correlated"),
    Shape("tall 50,000 x 20", 50_000, 20),
    Shape("square 400 x 400", 400, 400),
    Shape("wide 200 x 2,000", 200, 2000),
    Shape("separated 500 x 50", 500, 50, 2, "separated"),
    Shape("text 2,000 x 5,000", 2000, 5000, 2, "text"),
    Shape("one-hot 5,000 x 100", 5000, 100, 2, "one-hot"),
]

LONG = [
    Shape("tiny 150 x 4, K=3", 150, 4, 3),
    Shape("small 2,000 x 20", 2000, 20),
    Shape("middle 20,000 x 50", 20_000, 50),
    Shape("middle, K=3", 20_000, 50, 3),
    Shape("middle, K=10", 20_000, 50, 10),
    Shape("middle, K=20", 20_000, 50, 20),
    Shape("small, K=100", 5000, 20, 100),
    Shape("middle, float32", 20_000, 50, 2, "float32"),
    Shape("middle, correlated", 20_000, 50, 2, "correlated"),
    Shape("tall 1,000,000 x 20", 10**6, 20),
    Shape("square 2,000 x 2,000", 2000, 2000),
    Shape("wide 500 x 10,000", 500, 10_000),
    Shape("separated 500 x 800", 500, 800, 2, "separated"),
    Shape("text 20,000 x 30,000", 20_000, 30_000, 2, "text"),
    Shape("one-hot 50,000 x 300", 50_000, 300, 2, "one-hot"),
]


def random_shapes(count: int, seed: int = 0) -> list[Shape]:
    """Shapes with sizes, classes, density and conditioning drawn at random: 100 to 30,000 rows, 2 to 1,000 columns."""
    rng = np.random.default_rng(seed)
    kinds = ["plain", "float32", "correlated", "separated", "scaled", "one-hot", "text"]
    shapes: list[Shape] = []
    while len(shapes) < count:
        kind = str(rng.choice(kinds, p=[0.3, 0.1, 0.15, 0.05, 0.2, 0.1, 0.1]))
        n, d = int(10 ** rng.uniform(2, 4.5)), int(10 ** rng.uniform(0.3, 3))
        d = d - d % 5 + 5 if kind == "one-hot" else d
        K = int(rng.choice([2, 2, 2, 3, 5, 10]))
        if n * d * K <= 10**7 and n >= 20 * K:
            shapes.append(Shape(f"{len(shapes) + 1}: {kind} {n:,} x {d:,}, K={K}", n, d, K, kind))
    return shapes

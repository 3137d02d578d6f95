"""Fits whose results are stored: options, weights, shapes, units and dependent columns, by seed.

``python tests/models/least_squares/stored_least_squares.py`` writes the results anew; do so only where a change of
results is meant, and say why. A result is three sums of the lifted weights with fixed factors, times the sizes of their
columns, the residual sum of squares where there is one, and the rank.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from separatrix import LeastSquares, LeastSquaresClassifier, LinearDiscriminant, QuadraticDiscriminant

STORED = Path(__file__).with_suffix(".json")
ALPHAS = (0.0, 1e-6, 1.0, 300.0)
# Relative to the largest weight in units of its column: what the solvers promise for a kind of rows.
TOLERANCE = {"tall": 1e-11, "units": 1e-9, "dependent": 1e-9, "wide": 1e-10, "sparse": 1e-9, "classes": 1e-9}


def table(rng: np.random.Generator, kind: str) -> Any:
    """Rows of a kind: X, dense or sparse."""
    if kind == "tall" or kind == "classes":
        X = rng.normal(size=(int(rng.integers(20, 200)), int(rng.integers(1, 9))))
        return X @ rng.normal(size=(X.shape[1],) * 2) if rng.random() < 0.5 else X
    if kind == "units":
        X = rng.normal(size=(int(rng.integers(40, 120)), int(rng.integers(2, 7))))
        return (X + 10.0 ** rng.integers(0, 5, X.shape[1])) * 10.0 ** rng.integers(-5, 6, X.shape[1])
    if kind == "dependent":
        X = rng.integers(-3, 4, size=(int(rng.integers(12, 60)), int(rng.integers(3, 7)))).astype(np.float64)
        X[:, -1] = (X[:, 0] - 2 * X[:, 1], np.full(len(X), 3.0), np.zeros(len(X)))[int(rng.integers(3))]
        return X
    if kind == "wide":
        return rng.normal(size=(int(rng.integers(5, 70)), int(rng.integers(70, 220)))) + rng.integers(0, 3)
    from scipy import sparse

    n, d = ((300, 40), (90, 4200), (520, 4200))[int(rng.integers(3))]
    return sparse.random_array((n, d), density=8 / d + 0.002, format="csr", rng=rng, data_sampler=rng.normal)


def cases() -> Iterator[tuple[str, str, Any, tuple[Any, ...]]]:
    """Name, kind, unfitted model, and what ``fit`` takes."""
    for kind, count in (("tall", 40), ("units", 24), ("dependent", 24), ("wide", 24), ("sparse", 24)):
        for k in range(count):
            rng = np.random.default_rng([len(kind), ord(kind[0]), k])
            X = table(rng, kind)
            n = X.shape[0]
            w = rng.normal(size=X.shape[1])
            y = X @ w + rng.normal(size=n) * 10.0 ** rng.integers(-3, 2) * max(1e-300, float(np.std(X @ w))) + 5.0
            y = np.column_stack([y, rng.normal(size=n)]) if k % 7 == 6 else y
            weights = rng.integers(0, 4, n) + rng.random(n) * (k % 2) if k % 3 == 2 else None
            options: dict[str, Any] = {"alpha": ALPHAS[k % 4], "fit_intercept": k % 5 != 4}
            options |= {"penalize_intercept": True} if k % 8 in (2, 7) else {}
            if kind == "tall" and k % 6 == 5 and y.ndim == 1:
                options |= {"positive": True}
            elif kind != "sparse":
                options |= {"solver": ("auto", "auto", "qr", "svd")[k // 2 % 4]}
            yield f"{kind} {k}", kind, LeastSquares(**options), (X, y, weights)
    for k in range(24):
        rng = np.random.default_rng([7, k])
        X = table(rng, "classes")
        y = rng.integers(0, 2 + k % 3, len(X))
        X = X + 0.5 * y[:, None]
        weights = rng.random(len(X)) + 0.1 if k % 3 == 1 else None
        model: Any = LeastSquaresClassifier(alpha=ALPHAS[k % 4], class_weight=("balanced", None)[k % 2])
        if k % 4 == 3:
            model = LinearDiscriminant()
        elif k % 8 == 6:
            model, X = QuadraticDiscriminant(), X[:, :3]
        yield f"classes {k}", "classes", model, (X, y, weights)


def result(model: Any, given: tuple[Any, ...]) -> dict[str, Any]:
    """What is stored of a fit."""
    X, y, weights = given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=weights)
    if not hasattr(model, "coef_"):
        return {"values": model.decision_function(X[:3]).ravel().tolist(), "size": 1.0}
    counted = slice(None) if weights is None else weights > 0
    square = X[counted].multiply(X[counted]).sum(axis=0) if hasattr(X, "multiply") else (X[counted] ** 2).sum(axis=0)
    lifted = np.column_stack([np.atleast_2d(model.coef_) * np.sqrt(np.ravel(square)), np.atleast_1d(model.intercept_)])
    factors = np.random.default_rng(0).choice([-1.0, 0.5, 1.0], size=(3, lifted.shape[1]))
    found = {"values": (lifted @ factors.T).ravel().tolist(), "size": float(np.abs(lifted).max())}
    if hasattr(model, "rss_"):
        found |= {"rss": np.atleast_1d(model.rss_).tolist()}
    return found | ({"rank": int(model.rank_)} if hasattr(model, "rank_") else {})


if __name__ == "__main__":
    lines = [f" {json.dumps(name)}: {json.dumps(result(model, given))}" for name, _, model, given in cases()]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")

"""Labelled sets that are hard on rounding: ties, duplicates, collinear columns, offsets, scales, tiny margins."""

from __future__ import annotations

import numpy as np

from separatrix import checker
from separatrix.proofs.certificate import sparse_rows


def table_of(X, y, **more):
    """Data as the checker takes them."""
    rows = zip(map(checker.label_name, y.tolist()), sparse_rows(X), strict=True)
    return checker.Table(list(rows), X.shape[1], **more)


def sealed(content, X, y):
    """Put the fingerprint of a forged or changed certificate right."""
    number = {name: k for k, name in enumerate(content["data"]["classes"])}
    rows = [(number[label], row) for label, row in table_of(X, y).rows]
    content["data"]["sha256"] = checker.fingerprint(rows, X.shape[1])
    return content


def small(rng):
    """A set that brute force can judge: at most 14 rows, 4 lifted columns, and both classes."""
    n, d = int(rng.integers(2, 13)), int(rng.integers(1, 4))
    kind = rng.integers(0, 8)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if kind == 1:
        X = np.round(rng.standard_normal((n, d)) * 4) / 4
    elif kind == 2:
        X = rng.standard_normal((n, d))
    elif kind == 3:
        X = X * 10.0 ** rng.integers(-6, 7, d)
    elif kind == 4:
        X = X + 10.0 ** rng.integers(3, 8)
    elif kind == 5:
        X = rng.integers(0, 10, (n, d)) / 10
    elif kind == 6 and d > 1:
        X[:, -1] = X[:, 0] * rng.integers(-2, 3) + rng.integers(-1, 2)
    elif kind == 7:
        X = rng.integers(0, 2, (n, d)).astype(float)
    w, b = rng.standard_normal(d), rng.standard_normal()
    how = rng.integers(0, 4)
    y = np.where((X - X.mean(0)) @ (w / np.maximum(X.std(0), 1e-12)) + b >= 0, 1, -1)
    if how == 1:
        y[rng.integers(n)] *= -1
    elif how == 2:
        y = rng.choice([-1, 1], n)
    if how == 3 and n > 2:
        i, j = rng.integers(n, size=2)
        X[i] = X[j]
    if abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y


def nasty(rng):
    """A larger set near the edge of double precision; its verdict is known only by its certificate."""
    n, d = int(rng.integers(20, 400)), int(rng.integers(1, 12))
    kind = rng.integers(0, 8)
    X = rng.standard_normal((n, d))
    if kind == 1:
        X = X * 10.0 ** rng.uniform(-6, 6, d)
    elif kind == 2:
        X = X @ (rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-4, 0, d))
    elif kind == 3:
        X = rng.standard_cauchy((n, d))
    elif kind == 4:
        X = np.exp(2 * X)
    elif kind == 5:
        X = X + 10.0 ** rng.uniform(0, 7) * rng.standard_normal(d)
    elif kind == 6:
        X = np.round(X * 4) / 4
    elif kind == 7:
        X = (X > 0.5).astype(float)
    sd = np.where(X.std(0) > 0, X.std(0), 1.0)
    w = rng.standard_normal(d) / sd
    s = X @ w - X.mean(0) @ w + 0.3 * rng.standard_normal()
    y = np.where(s >= 0, 1, -1)
    if rng.random() < 0.5:
        X = X + np.outer(y * 10.0 ** rng.uniform(-9, -1) * s.std(), w / (w @ w))
    q = rng.random()
    if q < 0.3:
        y[np.argsort(np.abs(s))[rng.integers(0, max(1, n // 20))]] *= -1
    elif q < 0.5:
        y[rng.random(n) < rng.choice([0.002, 0.02, 0.1])] *= -1
    if abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y


def noisy(n, d, share, seed=0):
    """Standard normal rows, labels by a hyperplane, a share of them flipped."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    y[rng.choice(n, round(share * n), replace=False)] *= -1
    return X, y


def extreme(rng):
    """A few rows whose numbers are as large, or as small, as doubles get."""
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    powers = [308, 307.9] if rng.random() < 0.5 else [308, 300, 200, 0, -200, -300, -308, -320]
    X = np.clip(rng.standard_normal((n, d)), -1.79, 1.79) * 10.0 ** rng.choice(powers, (n, d))
    y = rng.integers(0, 2, n)
    y[0], y[-1] = 0, 1
    return X, y

"""Small tables drawn at random: two classes, several, or a quantity; ties, copies, collinear and missing cells."""

from __future__ import annotations

import numpy as np

KINDS = ("normal", "tenths", "signs", "halves", "collinear", "copies", "words", "missing", "flipped")


def random_table(seed):
    """A dict of columns with the target y."""
    rng = np.random.default_rng(seed)
    n, d, kind = int(rng.integers(6, 90)), int(rng.integers(1, 6)), rng.choice(KINDS)
    X = rng.normal(size=(n, d))
    if kind == "collinear":
        X[:, -1] = 2 * X[:, 0] + 1
    if kind == "copies":
        X = X[rng.integers(0, n, n)]
    X = {"tenths": X.round(1), "signs": np.sign(X), "halves": np.floor(2 * X) / 2}.get(kind, X)
    score = X @ rng.normal(size=d) + rng.choice([0.0, 0.3, 1.0, 5.0]) * rng.normal(size=n)
    columns = {f"c{j}": X[:, j] for j in range(d)}
    if kind == "words":
        columns["word"] = rng.choice(["red", "green", "blue"], n)
    if kind == "missing":
        columns["part"] = np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n))
    task = rng.choice(["two", "two", "two", "many", "quantity"])
    if task == "quantity":
        return columns | {"y": score.round(3)}
    if task == "many":
        return columns | {"y": np.array(list("abc"))[np.digitize(score, np.quantile(score, [0.3, 0.6]))]}
    above = score > np.quantile(score, rng.choice([0.1, 0.3, 0.5, 0.8]))
    if kind == "flipped":
        above ^= rng.random(n) < 0.1
    return columns | {"y": np.where(above, "yes", "no")}

"""Built-in sets that are made by a rule: the same numbers on every machine, because the generator is our own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.examples import Example


class Chance:
    """Uniform numbers by splitmix64 (Steele, Lea & Flood 2014) and normal ones as sums of twelve of them."""

    def __init__(self, seed: int) -> None:
        self.word = seed

    def uniform(self, *shape: int) -> Floats:
        count = int(np.prod(shape))
        steps = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = np.uint64(self.word) + steps
        self.word = int(z[-1])
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        return np.asarray((z >> np.uint64(11)).astype(np.float64) / 2.0**53).reshape(shape)

    def normal(self, *shape: int) -> Floats:
        """Mean 0, variance 1, bell-shaped: no logarithm, whose last digit differs from machine to machine."""
        return np.asarray(self.uniform(*shape, 12).sum(axis=-1) - 6.0)


def _two_clouds(seed: int, n: int, apart: float) -> tuple[Floats, NDArray[np.int64]]:
    chance = Chance(seed)
    y = np.arange(n) % 2
    X = chance.normal(n, 2)
    X[:, 0] += np.where(y == 1, apart, -apart)
    return np.round(X, 4), y


def separable() -> Example:
    chance = Chance(1)
    X = chance.uniform(400, 2) * 2 - 1
    side = X[:, 0] - 2 * X[:, 1] + 0.25
    kept = np.abs(side) > 0.2 * np.sqrt(5.0)
    X, side = np.round(X[kept][:200], 4), side[kept][:200]
    return Example("separable", "two classes with a gap of at least 0.4 between them", X, (side > 0) * 1, ("x0", "x1"))


def tiny_margin() -> Example:
    X = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-30], [-1.0, -1.0], [-1.0, -1.0 + 2.0**-30]])
    shows = "separable, by a margin near 1e-9: solvers with a tolerance call it overlapping"
    return Example("tiny-margin", shows, X, np.array([0, 1, 0, 1]), ("x0", "x1"))


def overlap() -> Example:
    X, y = _two_clouds(2, 200, 1.0)
    return Example("overlap", "two clouds that overlap: no hyperplane separates them", X, y, ("x0", "x1"))


def quasi() -> Example:
    chance = Chance(3)
    x = np.round(chance.normal(60), 3)
    y = (x + chance.normal(60) > 0) * 1
    marker = ((np.arange(60) % 5 == 0) & (y == 1)) * 1.0
    shows = "quasi-complete separation: marker is 1 in class 1 only, and its logistic estimate is infinite"
    return Example("quasi", shows, np.column_stack([x, marker]), y, ("x", "marker"))


def noise() -> Example:
    made, chance = separable(), Chance(8)
    flipped = np.argsort(chance.uniform(len(made.y)))[:20]
    y = made.y.copy()
    y[flipped] = 1 - y[flipped]
    shows = "label noise: 200 rows that a hyperplane separates, 20 of them with the wrong label"
    return Example("noise", shows, made.X, y, made.names)


def random_labels() -> Example:
    chance = Chance(4)
    y = (chance.uniform(200) < 0.5) * 1
    shows = "labels that are independent of the features: there is nothing to learn"
    return Example("random-labels", shows, np.round(chance.normal(200, 5), 4), y, tuple(f"x{j}" for j in range(5)))


def gaussians() -> Example:
    chance = Chance(5)
    y = np.arange(300) % 3
    centres = np.array([[0.0, 0.0], [2.5, 0.0], [0.0, 2.5]])
    X = np.round(chance.normal(300, 2) + centres[y], 4)
    shows = "three normal classes with a common covariance: the linear discriminant is optimal"
    return Example("gaussians", shows, X, y, ("x0", "x1"))


def curve() -> Example:
    chance = Chance(6)
    x = np.arange(40) / 39 * 2 - 1
    y = np.round(x**3 - 0.6 * x + 0.05 * chance.normal(40), 4)
    shows = "a cubic with noise, for regression: a line underfits, degree 20 overfits"
    return Example("curve", shows, x[:, None], y, ("x",), target="y")


def spam() -> Example:
    """Messages as four features: links in the text, sender known, share of misspelt words, length in words."""
    chance = Chance(7)
    n = 400
    is_spam = chance.uniform(n) < 0.4
    links = np.where(is_spam, np.floor(chance.uniform(n) * 5), np.floor(chance.uniform(n) * 1.6))
    known = np.where(is_spam, chance.uniform(n) < 0.05, chance.uniform(n) < 0.7)
    misspelt = np.round(np.where(is_spam, 0.05 + 0.3 * chance.uniform(n), 0.12 * chance.uniform(n)), 3)
    words = np.floor(np.where(is_spam, 20 + 60 * chance.uniform(n), 3 + 90 * chance.uniform(n)))
    X = np.column_stack([links, known, misspelt, words]).astype(np.float64)
    y = np.where(is_spam, "spam", "ham").astype(object)
    names = ("hyperlinks", "in_contacts", "misspelt", "words")
    return Example("spam", "generated messages, spam or ham, by four features", X, y, names, target="kind")

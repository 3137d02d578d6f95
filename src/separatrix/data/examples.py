"""Built-in sets that come without a download; ``example:NAME`` names them on the command line.

Most are made by a rule: the same numbers on every machine, because the generator is our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.chance import Chance
from separatrix.data.frame import Column, Frame, label_column
from separatrix.data.visits import visit_columns
from separatrix.errors import DataError
from separatrix.extras import need


@dataclass(frozen=True, slots=True)
class Example:
    """A small labelled table: rows, names, labels, and what it is there to show.

    ``names`` are those of all columns but the target; ``words`` are the columns of text, X has the others in order.
    """

    name: str
    shows: str
    X: NDArray[np.float64]
    y: NDArray[Any]
    names: tuple[str, ...]
    target: str = "label"
    separator: tuple[tuple[float, ...], float] | None = None  # a best (w, b) where it is known
    words: dict[str, NDArray[Any]] = field(default_factory=dict)

    def frame(self) -> Frame:
        """The table with its target, as any other source is read."""
        numbers = iter(self.X.T.astype(np.float64))
        columns = [
            Column(name, "text", self.words[name]) if name in self.words else Column(name, "number", next(numbers))
            for name in self.names
        ]
        return Frame((*columns, label_column(self.target, self.y)), len(self.y), f"example:{self.name}")


def six_points() -> Example:
    X = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=np.float64)
    y = np.array([-1, 1, 1, -1, -1, 1])
    shows = "the perceptron's worked example: four mistakes with an intercept, at most six by the bound"
    return Example("six-points", shows, X, y, ("x0", "x1"), separator=((1.0, 0.0), 0.0))


def xor() -> Example:
    X = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=np.float64)
    return Example(
        "xor", "no hyperplane separates it; the product of the features would", X, np.array([0, 1, 1, 0]), ("x0", "x1")
    )


def bias() -> Example:
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    shows = "separable only with an intercept"
    return Example("bias", shows, X, np.array([0, 0, 1, 1]), ("x",), separator=((1.0,), -2.5))


SHOWN = {
    "iris": "three species by four lengths (Fisher 1936)",
    "wine": "three growers, each separable from the others",
    "breast-cancer": "separable, but by a tiny margin",
    "digits": "ten digits of 64 pixels, three of them constant",
}


def _scikit_learn(name: str, target: str) -> Callable[[], Example]:
    def make() -> Example:
        need("sklearn")
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name.replace('-', '_')}")()
        names = tuple(str(n).replace(" (cm)", "").replace(" ", "_") for n in bunch.feature_names)
        labels = (
            bunch.target if name in ("digits", "wine") else np.array(bunch.target_names, dtype=object)[bunch.target]
        )
        return Example(name, SHOWN[name], np.ascontiguousarray(bunch.data, dtype=np.float64), labels, names, target)

    return make


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


def visits() -> Example:
    columns = visit_columns()
    y = columns.pop("relapse")
    words = {name: values for name, values in columns.items() if values.dtype == object}
    X = np.column_stack([values for name, values in columns.items() if name not in words])
    shows = "712 generated hospital visits with words, missing ages and a marker that only relapses have"
    return Example("visits", shows, X, y, tuple(columns), target="relapse", words=words)


EXAMPLES: dict[str, Callable[[], Example]] = {
    "visits": visits,
    "six-points": six_points,
    "xor": xor,
    "bias": bias,
    "spam": spam,
    "separable": separable,
    "tiny-margin": tiny_margin,
    "overlap": overlap,
    "quasi": quasi,
    "noise": noise,
    "random-labels": random_labels,
    "gaussians": gaussians,
    "curve": curve,
    "iris": _scikit_learn("iris", "species"),
    "wine": _scikit_learn("wine", "class"),
    "breast-cancer": _scikit_learn("breast-cancer", "diagnosis"),
    "digits": _scikit_learn("digits", "digit"),
}


SHAPES = {"iris": (150, 4), "wine": (178, 13), "breast-cancer": (569, 30), "digits": (1797, 64)}


def listing() -> list[dict[str, Any]]:
    """Name, rows, features and purpose of every set, without loading scikit-learn for those that it has."""
    out = []
    for name, make in EXAMPLES.items():
        if name in SHAPES:
            (rows, features), shows = SHAPES[name], SHOWN[name]
        else:
            example = make()
            rows, features, shows = len(example.y), len(example.names), example.shows
        out.append({"name": name, "rows": rows, "features": features, "shows": shows})
    return out


def load_example(name: str) -> Example:
    """A table that comes with the package, or is drawn from a rule that is known.

    Parameters
    ----------
    name : str
        As ``separatrix examples`` lists them.

    Returns
    -------
    Example
        With ``X``, ``y``, the names of the columns and what it shows.

    Examples
    --------
    >>> from separatrix.data import load_example
    >>> example = load_example("bias")
    >>> example.X.tolist(), example.y.tolist()
    ([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    """
    if name not in EXAMPLES:
        raise DataError(f"there is no example {name!r}: choose one of {', '.join(EXAMPLES)}.")
    return EXAMPLES[name]()

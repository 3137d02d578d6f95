"""Feature maps of an encoded table as plain data: products and hinge functions of its columns.

Each new column is a product of factors, and a factor is x_j or max(0, x_j - knot). Squares and products (``poly:2``)
and piecewise linear splines (``splines``) are both of this form, so that a model file needs only the list of terms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError

Factor = tuple[int, float | None]  # column, knot
KNOTS = 4  # of each column, at quantiles
MOST = 20_000  # columns that a map may make
WANTED = re.compile(r"poly:([2-5])|splines")


@dataclass(frozen=True, slots=True)
class TableMap:
    """``kind`` as the user wrote it, the number of columns it takes, and one list of factors a new column."""

    kind: str
    inputs: int
    terms: tuple[tuple[Factor, ...], ...]

    @classmethod
    def fitted(cls, kind: str, X: Any) -> TableMap:
        """The terms for these rows; powers of two-valued columns are left out, since they repeat the column."""
        check_map(kind)
        if not isinstance(X, np.ndarray):
            raise DataError(f"feature_map={kind!r} needs number or category columns; leave out free text (drop=).")
        values = [np.unique(X[:, j]) for j in range(X.shape[1])]
        terms = _splines(X, values) if kind == "splines" else _monomials(int(kind[-1]), values)
        return cls(kind, X.shape[1], terms)

    def names(self, inputs: list[str]) -> list[str]:
        """The new columns by the names of the old ones."""
        return [_name(term, inputs) for term in self.terms]

    def apply(self, X: Floats) -> Floats:
        """The new columns of encoded rows."""
        out = np.empty((len(X), len(self.terms)))
        for k, term in enumerate(self.terms):
            out[:, k] = 1.0
            for j, knot in term:
                out[:, k] *= X[:, j] if knot is None else np.maximum(X[:, j] - knot, 0.0)
        return out

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "inputs": self.inputs, "terms": [[list(f) for f in term] for term in self.terms]}

    @classmethod
    def from_dict(cls, node: Any) -> TableMap:
        """A map from plain values; ValueError or TypeError where they are not one."""
        kind, inputs, terms = node["kind"], node["inputs"], node["terms"]
        if set(node) != {"kind", "inputs", "terms"} or not isinstance(kind, str) or not WANTED.fullmatch(kind):
            raise ValueError("an unknown feature map")
        if type(inputs) is not int or not 1 <= inputs <= MOST or not 1 <= len(terms) <= MOST:
            raise ValueError("a feature map of the wrong size")
        made = tuple(tuple(_factor(own, inputs) for own in term) for term in terms)
        if any(not 1 <= len(term) <= 5 for term in made):
            raise ValueError("a term of a feature map")
        return cls(kind, inputs, made)


def check_map(kind: str) -> None:
    """Refuse anything but the maps that there are."""
    if not WANTED.fullmatch(kind):
        raise ParameterError(f"feature_map is {kind!r}: it can be poly:2, poly:3, … poly:5, or splines.")


def _monomials(degree: int, values: list[Any]) -> tuple[tuple[Factor, ...], ...]:
    d = len(values)
    if comb(d + degree, degree) > MOST:
        raise DataError(f"poly:{degree} of {d} columns makes {comb(d + degree, degree):,} columns: lower the degree.")
    two_valued = {j for j, own in enumerate(values) if len(own) <= 2}
    chosen = (own for size in range(1, degree + 1) for own in combinations_with_replacement(range(d), size))
    kept = (own for own in chosen if not any(own.count(j) > 1 for j in two_valued))
    return tuple(tuple((j, None) for j in own) for own in kept)


def _splines(X: Floats, values: list[Any]) -> tuple[tuple[Factor, ...], ...]:
    """The column itself, and a hinge at each inner quantile that leaves rows on both sides."""
    shares = np.arange(1, KNOTS + 1) / (KNOTS + 1)
    out: list[tuple[Factor, ...]] = []
    for j, own in enumerate(values):
        out.append(((j, None),))
        if len(own) > KNOTS + 1:
            knots = np.unique(np.quantile(X[:, j], shares))
            out += [((j, float(knot)),) for knot in knots if own[0] < knot < own[-1]]
    return tuple(out)


def _name(term: tuple[Factor, ...], inputs: list[str]) -> str:
    parts = []
    for j in dict.fromkeys(j for j, _ in term):
        own = [(column, knot) for column, knot in term if column == j]
        name = inputs[j] if own[0][1] is None else _hinge(inputs[j], own[0][1])
        parts.append(name if len(own) == 1 else f"{name}^{len(own)}")
    return " × ".join(parts)


def _hinge(name: str, knot: float) -> str:
    return f"max(0, {name} {'+' if knot < 0 else '−'} {abs(knot):.4g})"


def _factor(own: Any, inputs: int) -> Factor:
    j, knot = own
    if type(j) is not int or not 0 <= j < inputs:
        raise ValueError("a column of a feature map")
    if knot is not None and not (isinstance(knot, (int, float)) and np.isfinite(knot)):
        raise ValueError("a knot of a feature map")
    return j, None if knot is None else float(knot)

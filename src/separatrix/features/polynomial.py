"""Products and powers of features: what makes XOR separable."""

from __future__ import annotations

from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError
from separatrix.features.transform import FeatureMap, need_count
from separatrix.validation import Table, need_flag

MOST = 2 * 10**7  # columns beyond which a map is surely a mistake
NEAR = 2**18  # numbers of a block of new rows: enough for numpy, few enough for the caches


class PolynomialMap(FeatureMap):
    """All monomials of the features up to a degree, or only products of different ones (interactions).

    A hyperplane over (x1, x2, x1 x2) separates XOR, which none does over (x1, x2). The constant is left to the
    learner's bias.

    Parameters
    ----------
    degree : int, default=2
    interactions_only : bool, default=False
        Products of different features only: x1 x2, but no x1^2.

    Examples
    --------
    >>> from separatrix import PolynomialMap
    >>> PolynomialMap(2).fit_transform([[2.0, 3.0]])
    array([[2., 3., 4., 6., 9.]])
    """

    _takes_sparse: ClassVar[bool] = True

    def __init__(self, degree: int = 2, *, interactions_only: bool = False) -> None:
        self.degree = degree
        self.interactions_only = interactions_only

    def _check_parameters(self) -> None:
        need_count("degree", self.degree, 1)
        need_flag("interactions_only", self.interactions_only)

    def _build(self, table: Table) -> Any:
        from sklearn.preprocessing import PolynomialFeatures

        d, k = table.d, int(self.degree)
        columns = sum(comb(d, j) for j in range(1, k + 1)) if self.interactions_only else comb(d + k, k) - 1
        if columns > MOST:
            raise DataError(f"degree {k} of {d} features makes {columns:,} columns: lower the degree.")
        return PolynomialFeatures(k, interaction_only=bool(self.interactions_only), include_bias=False)

    def _make(self, X: Any) -> Any:
        if not isinstance(X, np.ndarray):
            return self._map.transform(X)
        return monomials(X, int(self.degree), bool(self.interactions_only))


def monomials(X: NDArray[Any], degree: int, interactions_only: bool) -> NDArray[Any]:
    """All monomials of the columns, by degree and then by their features, some rows at a time."""
    products = products_of(X.shape[1], degree, interactions_only)
    width = products[-1][2].stop if products else X.shape[1]
    out = np.empty((len(X), width), X.dtype)
    step = max(1, NEAR // max(1, width))
    for begin in range(0, len(X), step):
        x, made = X[begin : begin + step], out[begin : begin + step]
        made[:, : X.shape[1]] = x
        for j, lower, place in products:
            # numpy copies what may overlap its output: products of two features are made from the rows given
            left = x if lower.stop <= X.shape[1] else made
            np.multiply(left[:, lower], x[:, j : j + 1], out=made[:, place])
    return out


def products_of(d: int, degree: int, interactions_only: bool) -> list[tuple[int, slice, slice]]:
    """(j, lower, place): feature j times the columns ``lower``, of one degree less, gives the columns ``place``.

    Monomials of a degree are ordered by their first feature: those of feature j or later begin at first[j].
    """
    products, first = [], list(range(d + 1))
    for _ in range(1, degree):
        end = at = first[-1]
        following = []
        for j in range(d):
            following.append(at)
            lower = slice(first[j + 1] if interactions_only else first[j], end)
            if lower.stop > lower.start:
                products.append((j, lower, slice(at, at + lower.stop - lower.start)))
                at = products[-1][2].stop
        first = [*following, at]
    return products

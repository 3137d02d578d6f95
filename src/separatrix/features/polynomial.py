"""Products and powers of features: what makes XOR separable."""

from __future__ import annotations

from math import comb
from typing import Any, ClassVar

from separatrix.errors import DataError
from separatrix.features.transform import FeatureMap, need_count
from separatrix.validation import Table, need_flag

MOST = 2 * 10**7  # columns beyond which a map is surely a mistake


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

"""Smooth curves of single features: piecewise polynomials."""

from __future__ import annotations

from typing import Any

from separatrix.errors import DataError
from separatrix.features.transformer import FeatureMap, need_count
from separatrix.protocol import need_choice
from separatrix.validation import Table


class SplineMap(FeatureMap):
    """B-splines of each feature (Eilers & Marx 1996): a linear model over them is additive and smooth.

    Parameters
    ----------
    knots : int, default=5
        How many knots each feature gets, the two at its ends included.
    degree : int, default=3
    place : {"quantile", "uniform"}, default="quantile"
        Knots at quantiles of the rows, or evenly from the least to the greatest value.
    beyond : {"constant", "linear", "continue", "periodic"}, default="linear"
        How the curve goes on outside the knots.

    Examples
    --------
    >>> from separatrix import SplineMap
    >>> SplineMap().fit_transform([[0.0], [0.5], [1.0]]).shape
    (3, 6)
    """

    def __init__(self, knots: int = 5, *, degree: int = 3, place: str = "quantile", beyond: str = "linear") -> None:
        self.knots = knots
        self.degree = degree
        self.place = place
        self.beyond = beyond

    def _check_parameters(self) -> None:
        need_count("knots", self.knots, 2)
        need_count("degree", self.degree, 0)
        need_choice("place", self.place, ("quantile", "uniform"))
        need_choice("beyond", self.beyond, ("constant", "linear", "continue", "periodic"))

    def _build(self, table: Table) -> Any:
        from sklearn.preprocessing import SplineTransformer

        if table.n < 2:
            raise DataError("X has 1 row (n_samples=1): knots need at least 2 rows.")
        # Each feature's splines sum to one, which is the bias again: the last is left out.
        return SplineTransformer(
            n_knots=int(self.knots),
            degree=int(self.degree),
            knots=self.place,
            extrapolation=self.beyond,
            include_bias=False,
        )

"""Feature maps: products and powers (what makes XOR separable), splines, and random Fourier features."""

from __future__ import annotations

from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.errors import DataError, ParameterError
from separatrix.features.transformer import FeatureMap, need_count
from separatrix.protocol import need_choice
from separatrix.validation import Table, need_flag

MOST_STORED = np.iinfo(np.int32).max
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

    def _learn(self, table: Table) -> None:
        d, k = table.d, int(self.degree)
        columns = sum(comb(d, j) for j in range(1, k + 1)) if self.interactions_only else comb(d + k, k) - 1
        if columns > MOST:
            raise DataError(f"degree {k} of {d} features makes {columns:,} columns: lower the degree.")
        self._products = products_of(d, k, bool(self.interactions_only))

    def _make(self, X: Any) -> Any:
        if isinstance(X, np.ndarray):
            return monomials(X, self._products)
        if int(self.degree) == 2 and (made := sparse_pairs(X, self._products)) is not None:
            return made
        from sklearn.preprocessing import PolynomialFeatures

        made = PolynomialFeatures(
            int(self.degree), interaction_only=bool(self.interactions_only), include_bias=False
        ).fit(X[:1])
        return made.transform(X)

    def _names_out(self, names: list[str]) -> NDArray[Any]:
        factors: list[tuple[str, ...]] = [(name,) for name in names]
        for j, lower, length, _ in self._products.tolist():
            factors += [(names[j], *others) for others in factors[lower : lower + length]]
        return np.array([" ".join(map(_power, *_counted(each))) for each in factors], dtype=object)


def _counted(names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Different names in their order, and how often each occurs: equal ones stand side by side."""
    different = tuple(dict.fromkeys(names))
    return different, tuple(map(names.count, different))


def _power(name: str, times: int) -> str:
    return name if times == 1 else f"{name}^{times}"


def monomials(X: NDArray[Any], products: NDArray[np.int64]) -> NDArray[Any]:
    """All monomials of the columns, by degree and then by their features."""
    width = X.shape[1] + int(products[:, 2].sum())
    out = np.empty((len(X), width), X.dtype)

    def part(block: tuple[int, int]) -> None:
        kernels.monomials(X[slice(*block)], products, out[slice(*block)])

    kernels.each_part(part, kernels.row_blocks(len(X), out.size))
    return out


def sparse_pairs(X: Any, products: NDArray[np.int64]) -> Any:
    """Sparse rows beside their products of two features; None where those need numbers of more than 32 bits."""
    d, stored = X.shape[1], np.diff(X.indptr).astype(np.int64)
    offset = np.zeros(d, dtype=np.int64)
    offset[products[:, 0]] = products[:, 3] - products[:, 1]
    squares = bool(len(products) and products[0, 1] == 0)
    start = np.zeros(len(stored) + 1, dtype=np.int64)
    np.cumsum(stored + stored * (stored + (1 if squares else -1)) // 2, out=start[1:])
    width = d + int(products[:, 2].sum())
    if max(width, int(start[-1])) > MOST_STORED:
        return None
    column, value = np.empty(start[-1], np.int32), np.empty(start[-1], X.dtype)
    kernels.pair_products(kernels.rows(X), offset, squares, column, value)
    made = type(X)((value, column, start.astype(np.int32)), shape=(len(stored), width))
    made.has_canonical_format = True
    return made


def products_of(d: int, degree: int, interactions_only: bool) -> NDArray[np.int64]:
    """Rows (j, lower, length, place): feature j times that many columns from ``lower`` on, of one degree less, gives
    the columns from ``place`` on.

    Monomials of a degree are ordered by their first feature: those of feature j or later begin at first[j].
    """
    products, first = [], list(range(d + 1))
    for _ in range(1, degree):
        end = at = first[-1]
        following = []
        for j in range(d):
            following.append(at)
            lower = first[j + 1] if interactions_only else first[j]
            if end > lower:
                products.append((j, lower, end - lower, at))
                at += end - lower
        first = [*following, at]
    return np.array(products, dtype=np.int64).reshape(-1, 4)


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


class FourierMap(FeatureMap):
    """sqrt(2/m) cos(v.x + c) for m random directions v and phases c (Rahimi & Recht 2007).

    Inner products of the new rows approximate exp(-gamma |x - z|^2), with an error of order 1/sqrt(m).

    Parameters
    ----------
    features : int, default=200
        How many random features are made.
    gamma : float or "scale", default="scale"
        Of the kernel; "scale" is 1/(d var X), which suits standardised columns.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> from separatrix import FourierMap
    >>> FourierMap(5, random_state=0).fit_transform([[1.0, 2.0], [3.0, 4.0]]).shape
    (2, 5)
    """

    _takes_sparse: ClassVar[bool] = True

    def __init__(self, features: int = 200, *, gamma: float | str = "scale", random_state: Any = None) -> None:
        self.features = features
        self.gamma = gamma
        self.random_state = random_state

    def _check_parameters(self) -> None:
        need_count("features", self.features, 1)
        real = isinstance(self.gamma, (int, float, np.number)) and not isinstance(self.gamma, bool)
        if not (self.gamma == "scale" or (real and 0 < float(self.gamma) < np.inf)):
            raise ParameterError(f"gamma is {self.gamma!r}: it can be 'scale' or a positive number.")

    def _build(self, table: Table) -> Any:
        from sklearn.kernel_approximation import RBFSampler

        gamma = self.gamma
        if gamma == "scale":
            X = table.X
            mean = float(X.mean())
            square = float(X.multiply(X).mean()) if table.sparse else float(np.mean(np.square(X, dtype=np.float64)))
            spread = square - mean * mean
            gamma = 1 / (table.d * spread) if spread > 0 else 1.0
        state = self.random_state
        if isinstance(state, np.random.Generator):
            state = int(state.integers(2**31))
        return RBFSampler(gamma=float(gamma), n_components=int(self.features), random_state=state)

    def _names_out(self, names: list[str]) -> NDArray[Any]:
        return np.array([f"fourier{j}" for j in range(int(self.features))], dtype=object)

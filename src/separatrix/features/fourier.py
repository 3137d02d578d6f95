"""Random Fourier features: inner products that approximate a Gaussian kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import ParameterError
from separatrix.features.transformer import FeatureMap, need_count
from separatrix.validation import Table


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

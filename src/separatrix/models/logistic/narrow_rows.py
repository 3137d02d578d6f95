"""Products with the Hessian of several classes in single precision, on standardised columns.

Conjugate gradients need the Hessian to a few digits only: the gradient that they solve for is computed in double
precision, and Newton's next step corrects what this one has missed. Half the memory is twice the speed. Columns are
standardised first, so that neither an offset nor a unit costs a digit.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import Floats


class NarrowRows:
    """Rows x as ((x - mean)/scale, 1) in float32."""

    def __init__(self, X: Floats, chunks: list[slice]) -> None:
        n, d = X.shape
        self.narrow = np.ones((n, d + 1), dtype=np.float32)
        with np.errstate(all="ignore"):
            self.mean = sum(X[part].sum(axis=0, dtype=np.float64) for part in chunks) / n
            squares = sum(np.square(X[part] - self.mean).sum(axis=0) for part in chunks)
            scale = np.sqrt(squares / n)
            self.scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
            for part in chunks:
                self.narrow[part, :-1] = (X[part] - self.mean) / self.scale

    @cached_property
    def usable(self) -> bool:
        """Whether all numbers are finite: squares of columns may overflow."""
        return bool(np.isfinite(self.narrow).all() and np.isfinite(self.mean).all())

    def moved(self, V: Floats) -> tuple[Any, float]:
        """Lifted vectors (K, d + 1) for the standardised rows, in float32, and their unit."""
        out = np.empty_like(V)
        with np.errstate(over="ignore", invalid="ignore"):
            np.multiply(V[:, :-1], self.scale, out=out[:, :-1])
            np.add(V[:, -1], V[:, :-1] @ self.mean, out=out[:, -1])
            unit = float(np.abs(out).max())
            unit = unit if 0 < unit < np.inf else 1.0
            return (out / unit).astype(np.float32), unit

    def add(self, part: slice, P: Any, c: Any, V: Any, out: Floats) -> None:
        """Add sum c_i (diag p_i - p_i p_i') V (x_i, 1) (x_i, 1)' over rows; P (K, n), c (n,) or None, V in float32."""
        X, p = self.narrow[part], P[:, part]
        s = V @ X.T
        s *= p
        s -= p * s.sum(axis=0)
        if c is not None:
            s *= c[part]
        out += s @ X

    def back(self, out: Floats, unit: float) -> Floats:
        """Sums over the standardised rows as sums over the rows."""
        with np.errstate(over="ignore"):
            out[:, :-1] = (out[:, :-1] * self.scale + out[:, -1:] * self.mean) * unit
            out[:, -1] *= unit
        return out

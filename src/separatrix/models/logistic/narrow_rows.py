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
    """Rows x as (x - mean)/scale in float32."""

    def __init__(self, X: Floats, chunks: list[slice]) -> None:
        n = len(X)
        self.narrow = np.empty(X.shape, dtype=np.float32)
        with np.errstate(all="ignore"):
            self.mean = sum(X[part].sum(axis=0, dtype=np.float64) for part in chunks) / n
            squares = sum(np.square(X[part] - self.mean).sum(axis=0) for part in chunks)
            scale = np.sqrt(squares / n)
            self.scale = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
            for part in chunks:
                self.narrow[part] = (X[part] - self.mean) / self.scale

    @cached_property
    def usable(self) -> bool:
        """Whether all numbers are finite: squares of columns may overflow."""
        return bool(np.isfinite(self.narrow).all() and np.isfinite(self.mean).all())

    def moved(self, V: Floats) -> tuple[Any, Any, float]:
        """Lifted vectors (K, d + 1) for the standardised rows: weights and intercepts in float32, and their unit."""
        with np.errstate(over="ignore", invalid="ignore"):
            weights, intercepts = V[:, :-1] * self.scale, V[:, -1:] + (V[:, :-1] @ self.mean)[:, None]
            unit = max(float(np.abs(weights).max(initial=0.0)), float(np.abs(intercepts).max()))
        unit = unit if 0 < unit < np.inf else 1.0
        with np.errstate(over="ignore"):
            return (weights / unit).astype(np.float32), (intercepts / unit).astype(np.float32), unit

    def add(self, part: slice, P: Any, c: Any, moved: tuple[Any, Any, float], out: Floats) -> None:
        """Add sum c_i (diag p_i - p_i p_i') V (x_i, 1) (x_i, 1)' over rows; P (K, n) and c (n,) or None in float32."""
        X, p = self.narrow[part], P[:, part]
        s = moved[0] @ X.T
        s += moved[1]
        s *= p
        s -= p * s.sum(axis=0)
        if c is not None:
            s *= c[part]
        out[:, :-1] += s @ X
        out[:, -1] += s.sum(axis=1)

    def back(self, out: Floats, unit: float) -> Floats:
        """Sums over the standardised rows as sums over the rows."""
        with np.errstate(over="ignore"):
            out[:, :-1] = (out[:, :-1] * self.scale + out[:, -1:] * self.mean) * unit
            out[:, -1] *= unit
        return out

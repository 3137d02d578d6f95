"""The part of a fit that inference needs: a factor of the normal matrix, sums of squares of columns and target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.least_squares_problem import Basis
from separatrix.numerics.moments import Totals

MOST_COLUMNS = 1024  # of a factor that a model file carries


@dataclass(frozen=True, slots=True)
class NormalFactor:
    """The basis in which the covariance is known; sums of squares of the columns and of the target.

    Sums are about the mean where there is a bias.
    """

    basis: Basis
    squares: Floats
    spread: float

    @staticmethod
    def of(basis: Basis, totals: Totals) -> NormalFactor:
        """From the moments of the columns and one target."""
        sums = np.diagonal(totals.scatter).copy()
        if not basis.lift:
            sums += totals.weight[0] * totals.mean[0] ** 2
        return NormalFactor(basis, sums[:-1], float(sums[-1]))

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a model file; nothing where the factor would be large."""
        if len(self.squares) > MOST_COLUMNS:
            return {}
        basis = self.basis
        plain = {"triangle": basis.triangle, "scale": basis.scale, "squares": self.squares, "spread": self.spread}
        return plain if basis.shift is None else {**plain, "shift": basis.shift}

    @staticmethod
    def from_dict(kept: dict[str, Any], d: int, lift: bool) -> NormalFactor:
        """Back from plain values; ValueError for what does not fit."""
        p = d + (1 if lift else 0)
        shapes = {"triangle": (p, p), "scale": (p,), "squares": (d,), **({"shift": (d,)} if "shift" in kept else {})}
        if set(kept) != {*shapes, "spread"} or not isinstance(kept["spread"], float):
            raise ValueError("other keys than those of a factor")
        for name, shape in shapes.items():
            array = kept[name]
            if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} has another type or shape")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} is not finite")
        if not (kept["triangle"].diagonal().all() and kept["scale"].all() and np.isfinite(kept["spread"])):
            raise ValueError("a factor that is singular")
        basis = Basis(kept["triangle"], kept["scale"], kept.get("shift"), lift)
        return NormalFactor(basis, kept["squares"], kept["spread"])

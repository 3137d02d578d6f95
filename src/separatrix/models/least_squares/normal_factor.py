"""The part of a fit that inference needs: a factor of the normal matrix, sums of squares of columns and target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.moments import Totals
from separatrix.numerics.normal_equations import Basis, NormalEquations

MOST_COLUMNS = 300  # of a factor that a model file or a pickle carries: 0.7 MB


@dataclass(frozen=True, slots=True)
class NormalFactor:
    """The basis in which the covariance is known; sums of squares of the columns and of the target.

    Sums are about the mean where there is a bias. ``centred`` is the target's sum about its mean where the columns
    contain a constant of their own, and ``log_weight`` the sum of the logarithms of the weights.
    """

    basis: Basis
    squares: Floats
    spread: float
    centred: float | None = None
    log_weight: float = 0.0

    @staticmethod
    def of(basis: Basis, totals: Totals, log_weight: float) -> NormalFactor:
        """From the moments of the columns and one target."""
        sums, centred = np.diagonal(totals.scatter).copy(), None
        if not basis.lift:
            d = len(sums) - 1
            if NormalEquations(totals, d, 0.0, True, True).solve_by_rank()[1] == d:  # and not d + 1
                centred = float(sums[-1])
            sums += totals.weight[0] * totals.mean[0] ** 2
        return NormalFactor(basis, sums[:-1], float(sums[-1]), centred, log_weight)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for a model file; nothing where the factor would be large."""
        if len(self.squares) > MOST_COLUMNS:
            return {}
        basis = self.basis
        plain = {"triangle": basis.triangle, "scale": basis.scale, "squares": self.squares, "spread": self.spread}
        plain |= {"centred": self.centred} if self.centred is not None else {}
        plain |= {"log_weight": self.log_weight} if self.log_weight else {}
        return plain if basis.shift is None else {**plain, "shift": basis.shift}

    @staticmethod
    def from_dict(kept: dict[str, Any], d: int, lift: bool) -> NormalFactor:
        """Back from plain values; ValueError for what does not fit."""
        p = d + (1 if lift else 0)
        shapes = {"triangle": (p, p), "scale": (p,), "squares": (d,), **({"shift": (d,)} if "shift" in kept else {})}
        numbers = {"spread", *({"centred", "log_weight"} & set(kept))}
        if set(kept) != {*shapes, *numbers} or not all(isinstance(kept[name], float) for name in numbers):
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
        return NormalFactor(basis, kept["squares"], kept["spread"], kept.get("centred"), kept.get("log_weight", 0.0))

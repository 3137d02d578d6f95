"""Covariances of classes and their inverses, with the rank that the data give them.

A covariance S = D C D has the standard deviations on D and correlations in C = V L V'. Eigenvalues of C at or
below 8 d eps of the largest count as zero: along those directions no row varies. A = D^-1 V_r L_r^-1/2
whitens the rest: A'SA = I, and A A' is an inverse of S on the range of S.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.arrays import Floats
from separatrix.numerics.gram_matrix import rank_limit


@dataclass(frozen=True, slots=True)
class Whitening:
    """``axes`` (d, r) with axes'S axes = I; the logarithm of det S; combinations of columns without variance."""

    axes: Floats
    log_determinant: float
    condition: float
    null: Floats

    @property
    def rank(self) -> int:
        return int(self.axes.shape[1])

    def dependent_columns(self) -> tuple[int, ...]:
        """Columns with a share in a combination that does not vary, constant ones included."""
        share = np.linalg.norm(self.null, axis=1)
        return tuple(int(j) for j in np.flatnonzero(share > 1e-6))


def whitening(covariance: Floats) -> Whitening:
    """Axes, rank and determinant of a covariance; ``null`` is scaled to the columns' standard deviations."""
    d = len(covariance)
    varies = np.diagonal(covariance) > 0
    scale = np.sqrt(np.diagonal(covariance)[varies])
    values, vectors = np.linalg.eigh(covariance[np.ix_(varies, varies)] / scale / scale[:, None])
    kept = values > rank_limit(d) * max(float(values.max(initial=0.0)), 0.0)
    axes = np.zeros((d, int(kept.sum())))
    axes[varies] = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    null = np.zeros((d, d - axes.shape[1]))
    null[varies, : int((~kept).sum())] = vectors[:, ~kept]
    null[np.flatnonzero(~varies), np.arange(int((~kept).sum()), null.shape[1])] = 1.0
    full = axes.shape[1] == d
    determinant = float(np.log(values).sum() + 2 * np.log(scale).sum()) if full else -np.inf
    condition = float(np.sqrt(values[-1] / values[0])) if full else np.inf
    return Whitening(axes, determinant, condition, null)


def restricted(scatter: Floats, divisor: float, kind: str) -> Floats:
    """The covariance from scatter: full or pooled as it is, diagonal, or spherical with the mean variance."""
    covariance = scatter / divisor
    if kind == "diagonal":
        return np.diag(np.diagonal(covariance))
    if kind == "spherical":
        return np.asarray(np.eye(len(covariance)) * (np.trace(covariance) / len(covariance)))
    return np.asarray(covariance)


def shrunk(covariance: Floats, share: float) -> Floats:
    """(1 - share) S + share tr(S)/d I"""
    d = len(covariance)
    return np.asarray((1 - share) * covariance + share * (np.trace(covariance) / d) * np.eye(d))


def ledoit_wolf(scatter: Floats, weight: float, fourth: float) -> float:
    """The shrinkage towards tr(S)/d I with the least expected squared error (Ledoit and Wolf 2004).

    ``fourth`` is the weighted sum of |z|^4 over the centred rows z whose scatter is given.
    """
    d = len(scatter)
    if weight <= 0:
        return 0.0
    S = scatter / weight
    squares = float((S * S).sum())
    mean = float(np.trace(S)) / d
    spread = (squares - d * mean**2) / d
    error = min((fourth / weight - squares) / (d * weight), spread)
    return error / spread if error > 0 else 0.0

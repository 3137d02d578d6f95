"""Normal classes as ellipses of one and two standard deviations."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.plotting.planes import Plane
from separatrix.plotting.style import colour_of

DEVIATIONS = (1.0, 2.0)


def draw_gaussians(ax: Any, model: Any, plane: Plane) -> None:
    """The class densities of a discriminant, projected on the plane."""
    means = np.asarray(model.means_)
    found = getattr(model, "covariances_", getattr(model, "covariance_", None))
    if found is None or means.ndim != 2 or means.shape[1] != plane.directions.shape[1]:
        return
    covariances = np.broadcast_to(np.asarray(found), (len(means), means.shape[1], means.shape[1]))
    for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        centre = plane.points(mean[None])[0]
        flat = plane.directions @ covariance @ plane.directions.T
        for deviations in DEVIATIONS:
            ring = centre + deviations * ellipse(flat)
            label = "1 and 2 standard deviations" if k == 0 and deviations == 1.0 else None
            ax.plot(*ring.T, color=colour_of(k), linewidth=1.1, zorder=2, label=label)
        ax.plot(*centre, "+", color=colour_of(k), markersize=9, markeredgewidth=1.6, zorder=4)


def ellipse(covariance: Floats) -> Floats:
    """Points u with u' covariance^-1 u = 1."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 120)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(circle * np.sqrt(np.maximum(values, 0)) @ vectors.T)

"""A hyperplane in three dimensions, with its normal and the rows on both sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.plotting.model_view import ModelView
from separatrix.plotting.planes import column_names, plane_of_columns
from separatrix.plotting.row_points import draw_classes, ring, window
from separatrix.plotting.style import BAD, INK, MUTED, PALETTE, axes_for, explain, legible, name_axes


def draw_space(
    view: ModelView,
    rows: Floats,
    codes: NDArray[Any],
    names: list[Any],
    at: list[int],
    wrong: NDArray[np.bool_],
    ax: Any,
) -> Any:
    """The plane w.x + b = 0 within the box of the rows, and the unit normal at the foot of their mean."""
    if view.hyperplane is None:
        raise ParameterError(
            f"{type(view.model).__name__} has no single hyperplane in these columns: draw two of them, with columns=."
        )
    ax = axes_for(ax, three=True)
    plane = plane_of_columns(rows, at, column_names(view.table))
    points = plane.points(rows)
    w, b = plane.line(*view.hyperplane)
    low, high = window(points)
    cut = slice_of_box(w, b, low, high)
    if len(cut):
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        ax.add_collection3d(Poly3DCollection([cut], facecolor=MUTED, alpha=0.25, edgecolor=INK, label="hyperplane"))
        foot = cut.mean(axis=0)
        tip = foot + w / np.linalg.norm(w) * 0.25 * float(np.linalg.norm(high - low))
        ax.plot(*np.array([foot, tip]).T, color=INK, linewidth=1.8, label="normal w")
    draw_classes(ax, points, codes, names, legend=len(names) <= len(PALETTE))
    ring(ax, points[wrong], f"misclassified ({int(wrong.sum()):,})", BAD)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    ax.view_init(elev=18, azim=float(np.degrees(np.arctan2(w[1], w[0]))) + 70)  # nearly along the plane
    name_axes(ax, *plane.names)
    explain(ax, [legible(name) for name in names])
    return ax


def slice_of_box(w: Floats, b: float, low: Floats, high: Floats) -> Floats:
    """The corners, in order, of the polygon in which w.x + b = 0 cuts a box; none where it does not."""
    corners = []
    for axis in range(3):
        if w[axis] == 0:
            continue
        others = [j for j in range(3) if j != axis]
        for first in (low, high):
            for second in (low, high):
                p = np.empty(3)
                p[others] = first[others[0]], second[others[1]]
                p[axis] = -(b + w[others] @ p[others]) / w[axis]
                if low[axis] <= p[axis] <= high[axis]:
                    corners.append(p)
    if len(corners) < 3:
        return np.empty((0, 3))
    found = np.unique(np.array(corners), axis=0)
    middle = found.mean(axis=0)
    side = np.linalg.svd(w[None])[2][1:]  # two directions within the plane
    angle = np.arctan2(*((found - middle) @ side.T).T)
    return np.asarray(found[np.argsort(angle)])

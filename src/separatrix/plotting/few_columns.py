"""Models of one column (regions on a line, or a curve), of two (contours of a regressor) and of three (a space)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.plotting.model_view import ModelView
from separatrix.plotting.planes import column_names, plane_of_columns
from separatrix.plotting.row_points import draw_classes, drawn_rows, ring, window
from separatrix.plotting.style import BAD, INK, MUTED, PALETTE, axes_for, colour_of, finished, name_axes
from separatrix.validation import check_lengths

POINTS = 600


def draw_one_column(
    view: ModelView,
    rows: Floats,
    codes: NDArray[Any],
    names: list[Any],
    column: int,
    wrong: NDArray[np.bool_],
    ax: Any,
) -> Any:
    """Rows on a line, each class at a height of its own, over the regions of the classes."""
    ax = axes_for(ax)
    plane = plane_of_columns(rows, [column], column_names(view.table))
    x = plane.points(rows)
    points = np.column_stack([x[:, 0], codes.astype(np.float64)])
    low, high = window(points)
    grid = np.linspace(low[0], high[0], POINTS)
    best = view.leads(plane, grid[:, None]).argmax(axis=1)
    edges = np.flatnonzero(np.diff(best))
    cuts = (grid[edges] + grid[edges + 1]) / 2
    if view.hyperplane is not None and len(edges) == 1:
        coef, intercept = plane.line(*view.hyperplane)
        cuts = np.array([-intercept / coef[0]])
    ends = [low[0], *cuts.tolist(), high[0]]
    for k, begin, end in zip(best[[0, *(edges + 1)]].tolist(), ends[:-1], ends[1:], strict=True):
        ax.axvspan(begin, end, color=colour_of(k), alpha=0.16, linewidth=0, zorder=0)
    for j, cut in enumerate(cuts.tolist()):
        ax.axvline(cut, color=INK, linewidth=1.4, zorder=1, label=f"boundary at {cut:.4g}" if j == 0 else None)
    draw_classes(ax, points, codes, names, legend=len(names) <= len(PALETTE))
    ring(ax, points[wrong], f"misclassified ({int(wrong.sum()):,})", BAD)
    ax.set(xlim=(low[0], high[0]), ylim=(-0.6, len(names) - 0.4))
    few = len(names) <= 30
    ax.set_yticks(range(len(names)) if few else [], [str(name) for name in names] if few else [], parse_math=False)
    return finished(ax, plane.names[0], "class", first=names)


def draw_regression(view: ModelView, X: Floats, y: Floats | None, picked: list[int] | None, ax: Any) -> Any:
    """The fitted curve over one column, or contours of the prediction over two."""
    names = column_names(view.table)
    at = picked if picked is not None else list(range(X.shape[1]))
    if len(at) > 2:
        raise DataError(
            f"{type(view.model).__name__} is a regressor of {X.shape[1]} columns: choose one or two of them with "
            "columns=, the others are held at their means."
        )
    if y is not None:
        check_lengths(len(X), len(y), "y")
    ax = axes_for(ax)
    plane = plane_of_columns(X, at, names)
    points = plane.points(X)
    low, high = window(points)
    drawn = drawn_rows(len(X))
    if len(at) == 1:
        grid = np.linspace(low[0], high[0], POINTS)
        ax.plot(grid, view.predict(plane.rows(grid[:, None])).ravel(), color=INK, linewidth=1.5, label="prediction")
        if y is not None:
            ax.scatter(points[drawn, 0], y[drawn], s=16, color=PALETTE[0], linewidths=0, zorder=3, label="rows")
        return finished(ax, plane.names[0], "y")
    x0, x1 = np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120)
    grid = np.column_stack([c.ravel() for c in np.meshgrid(x0, x1)])
    values = view.predict(plane.rows(grid)).reshape(len(x1), len(x0))
    if np.ptp(values) > 0:
        filled = ax.contourf(x0, x1, values, levels=12, cmap="Blues", alpha=0.7)
        ax.figure.colorbar(filled, ax=ax, label="prediction")
    colours = PALETTE[1] if y is None else y[drawn]
    ax.scatter(*points[drawn].T, s=18, c=colours, cmap=None if y is None else "Blues", edgecolors=INK, linewidths=0.5)
    name_axes(ax, *plane.names)
    return ax


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
    return finished(ax, *plane.names, first=names)


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

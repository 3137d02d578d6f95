"""Models of one column: regions on a line, or a fitted curve; regressors of two columns as contours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.plotting.model_view import ModelView
from separatrix.plotting.planes import column_names, plane_of_columns
from separatrix.plotting.row_points import draw_classes, drawn_rows, ring, window
from separatrix.plotting.style import BAD, INK, PALETTE, axes_for, colour_of, explain, legible, name_axes
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
    name_axes(ax, plane.names[0], "class")
    explain(ax, [legible(name) for name in names])
    return ax


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
        name_axes(ax, plane.names[0], "y")
        explain(ax)
        return ax
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

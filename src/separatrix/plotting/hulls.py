"""The convex hulls of two classes: the gap between them, or the rows that prove that they meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.plotting.planes import Plane, plane_along_normal, plane_between_classes, plane_of_columns
from separatrix.plotting.row_points import draw_classes, draw_line, drawn_rows, framed, ring
from separatrix.plotting.style import BAD, INK, axes_for, colour_of, explain, legible, name_axes


def plot_hulls(
    X: Floats,
    signs: NDArray[Any],
    names: tuple[Any, Any],
    columns: tuple[str, ...],
    *,
    hyperplane: tuple[Floats, float] | None = None,
    gap: float | None = None,
    support: NDArray[np.int64] | None = None,
    witness: NDArray[np.int64] | None = None,
    nearest: Floats | None = None,
    meeting: Floats | None = None,
    title: str = "",
    ax: Any = None,
) -> Any:
    """Draw two classes with their convex hulls, and what was proved about them.

    Parameters
    ----------
    X, signs : dense rows and their sides, -1 and +1
    names : the class of the negative and of the positive side
    columns : names of the columns
    hyperplane, gap : w, b and the half-width of the gap around it
    support : rows that hold the margin; witness : rows that prove that the hulls meet
    nearest : the two nearest points of the hulls, one in a row; meeting : a point of both hulls
    title : the finding in words
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes
    """
    ax = axes_for(ax)
    if X.shape[1] == 1:
        X = np.column_stack([X[:, 0], np.zeros(len(X))])
        columns = (columns[0], "")
        hyperplane = None if hyperplane is None else (np.append(hyperplane[0], 0.0), hyperplane[1])
        nearest = None if nearest is None else np.column_stack([nearest[:, 0], np.zeros(len(nearest))])
        meeting = None if meeting is None else np.append(meeting, 0.0)
    codes = (np.asarray(signs) > 0).astype(np.intp)
    plane = _plane(X, codes, columns, hyperplane)
    points = plane.points(X)
    framed(ax, points)
    for k in (0, 1):
        corners = hull(points[codes == k])
        ax.fill(*corners.T, facecolor=colour_of(k, 2), edgecolor=colour_of(k, 2), alpha=0.18, linewidth=1.2, zorder=1)
        ax.plot(*np.vstack([corners, corners[:1]]).T, color=colour_of(k, 2), linewidth=1.2, zorder=2)
    if hyperplane is not None:
        draw_line(ax, *plane.line(*hyperplane), points, gap, band=None if gap is None else f"half-width {gap:.4g}")
    at = drawn_rows(len(X), [] if witness is None else witness.tolist())
    draw_classes(ax, points[at], codes[at], names)
    if support is not None:
        ring(ax, points[support], f"support rows ({len(support)})")
    if witness is not None:
        ring(ax, points[witness], f"rows that rule a hyperplane out ({len(witness)})", BAD)
        _meeting(ax, points[witness], codes[witness])
    if nearest is not None:
        ends = plane.points(nearest)
        ax.plot(*ends.T, ":", color=INK, linewidth=1.4, marker="D", markersize=4, zorder=5, label="nearest points")
    if meeting is not None:
        ax.plot(*plane.points(meeting[None]).T, "X", color=BAD, markersize=9, zorder=6, label="a point of both hulls")
    ax.set_title(title, fontsize=9)
    name_axes(ax, *plane.names)
    if X.shape[1] == 2 and not X[:, 1].any() and columns[1] == "":
        ax.set_yticks([])
    explain(ax, [legible(name) for name in names])
    return ax


def _plane(X: Floats, codes: NDArray[Any], columns: tuple[str, ...], hyperplane: tuple[Floats, float] | None) -> Plane:
    if X.shape[1] == 2:
        return plane_of_columns(X, [0, 1], columns)
    return plane_between_classes(X, codes) if hyperplane is None else plane_along_normal(X, *hyperplane)


def _meeting(ax: Any, points: Floats, codes: NDArray[Any]) -> None:
    """The hulls of the witness alone, dashed."""
    for k in (0, 1):
        corners = hull(points[codes == k])
        ax.plot(*np.vstack([corners, corners[:1]]).T, "--", color=BAD, linewidth=1.1, zorder=4)


def hull(points: Floats) -> Floats:
    """The corners of the convex hull in order (Andrew 1979); of points on a line its two ends."""
    ordered = np.unique(points, axis=0)
    if len(ordered) < 3:
        return ordered

    def chain(along: Floats) -> list[Floats]:
        out: list[Floats] = []
        for p in along:
            while len(out) > 1 and _turn(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out

    lower, upper = chain(ordered), chain(ordered[::-1])
    return np.array(lower[:-1] + upper[:-1])


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

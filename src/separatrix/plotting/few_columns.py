"""Models of one, two or three columns: regions on a line, curves, contours, a space; and a model that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.plotting.model_view import ModelView, labels_of
from separatrix.plotting.planes import column_names, dense, plane_of_columns
from separatrix.plotting.row_points import draw_classes, drawn_rows, framed, ring, window
from separatrix.plotting.style import BAD, INK, MUTED, PALETTE, axes_for, colour_of, finished, legible, name_axes
from separatrix.validation import check_lengths, check_table, check_targets

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
        ax.axvspan(begin, end, color=colour_of(k, len(names)), alpha=0.16, linewidth=0, zorder=0)
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


STYLES = ("-", "--", ":", "-.")


def plot_overfitting(learner: Any, X: Any, y: Any, parameter: str, values: Sequence[Any], *, ax: Any = None) -> Any:
    """Draw what a learner makes of the same rows at several sizes: curves over one column, boundaries over two.

    Parameters
    ----------
    learner : estimator or pipeline
        It is not changed; a copy is fitted for each value.
    X : one column for a regressor, two for a classifier
    y : targets or labels
    parameter : str
        The option that sets the size, for instance ``"polynomialmap__degree"``, as in ``overfitting_curve``.
    values : sequence
        Its values, from the smallest model to the largest.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LeastSquares, PolynomialMap
    >>> from separatrix.plotting import plot_overfitting
    >>> X, y = [[-1.0], [-0.5], [0.0], [0.5], [1.0]], [-0.4, 0.2, 0.0, -0.2, 0.4]
    >>> learner = make_pipeline(PolynomialMap(), LeastSquares())
    >>> ax = plot_overfitting(learner, X, y, "polynomialmap__degree", [1, 4])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['rows', 'degree 1', 'degree 4']
    """
    from sklearn.base import clone, is_regressor

    table = check_table(X)
    if not hasattr(learner, "fit") or isinstance(learner, type):
        raise ParameterError(f"learner is {learner!r}: pass an estimator or a pipeline.")
    if isinstance(values, str) or not len(values := list(values)):
        raise ParameterError("values is empty or a word: pass sizes of the model from small to large.")
    if parameter not in learner.get_params(deep=True):
        raise ParameterError(f"parameter is {parameter!r}, which {type(learner).__name__} does not have.")
    regression = is_regressor(learner)
    if table.d != (1 if regression else 2):
        wanted = "one column for a regressor" if regression else "two columns for a classifier"
        raise DataError(f"X has {table.d} columns, and the picture needs {wanted}: choose them first.")
    views = [ModelView(clone(learner).set_params(**{parameter: v}).fit(X, y), X, table) for v in values]
    said = [f"{parameter.rpartition('__')[2]} {v}" for v in values]
    if not regression and len(views[0].classes or []) != 2:
        raise DataError(f"y has {len(views[0].classes or [])} classes: boundaries by size are drawn for two.")
    ax = axes_for(ax)
    rows, drawn = dense(table), drawn_rows(table.n)
    if regression:
        targets = check_targets(y)
        check_lengths(table.n, len(targets), "y")
        grid = np.linspace(float(rows.min()), float(rows.max()), 600)
        ax.plot(rows[drawn, 0], targets[drawn], ".", color=INK, markersize=6, label="rows")
        for k, (view, name) in enumerate(zip(views, said, strict=True)):
            ax.plot(
                grid, view.predict(grid[:, None]).ravel(), STYLES[k % 4], color=PALETTE[k % 10], label=legible(name)
            )
        low, high = window(targets[:, None])
        ax.set_ylim(low[0] - (high[0] - low[0]) * 0.1, high[0] + (high[0] - low[0]) * 0.1)
        return finished(ax, column_names(table)[0], "y")
    codes, names = labels_of(y, table.n, views[0].classes)
    plane = plane_of_columns(rows, [0, 1], column_names(table))
    low, high = framed(ax, rows)
    x, z = np.linspace(low[0], high[0], 240), np.linspace(low[1], high[1], 240)
    grid = np.column_stack([c.ravel() for c in np.meshgrid(x, z)])
    draw_classes(ax, rows[drawn], codes[drawn], names)
    for k, (view, name) in enumerate(zip(views, said, strict=True)):
        lead = view.leads(plane, grid)[:, 1].reshape(len(z), len(x))
        look = {"colors": [PALETTE[(k + 2) % 10]], "linestyles": [STYLES[k % 4]]}
        ax.contour(x, z, lead, levels=[0.0], linewidths=1.5, **look)
        ax.plot([], [], STYLES[k % 4], color=PALETTE[(k + 2) % 10], label=legible(name))
    return finished(ax, *column_names(table), first=names)

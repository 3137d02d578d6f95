"""What a fitted model predicts where: regions, hyperplane, margin, support rows, mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.plotting.few_columns import draw_one_column, draw_regression, draw_space
from separatrix.plotting.model_view import ModelView, labels_of
from separatrix.plotting.planes import (
    Plane,
    chosen_columns,
    column_names,
    dense,
    plane_along_normal,
    plane_between_classes,
    plane_of_columns,
)
from separatrix.plotting.row_points import arrow, draw_classes, draw_gaussians, draw_line, drawn_rows, framed, ring
from separatrix.plotting.style import BAD, INK, MUTED, PALETTE, axes_for, colour_of, finished
from separatrix.validation import Table, check_table, check_targets, take_rows

RESOLUTION = 240  # points of the grid along each axis
FADED = 5  # earlier lines that are drawn at most


def plot_boundary(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[int | str] | None = None,
    regions: bool = True,
    margin: bool = True,
    feet: Sequence[int] = (),
    support: bool = True,
    mistakes: bool = True,
    contours: bool = True,
    updates: int = 0,
    ax: Any = None,
) -> Any:
    """Draw what a fitted model predicts, with its hyperplane and the rows.

    Parameters
    ----------
    model : fitted estimator
        Any with ``predict``: of this package, of scikit-learn, or a pipeline. A regressor is drawn as a curve over
        one column, or as contours over two.
    X : array, sparse matrix or frame
        Two columns are drawn as they are, one as a line. Of more, a hyperplane between two classes is drawn by
        the signed distance from it and the direction of greatest spread along it; other models in the plane
        through the mean of the rows in which the class means differ most. Of more than 2,000 rows a sample is drawn.
    y : labels or targets, optional
        Colours the rows and marks those that are misclassified.
    columns : two columns by number or name, optional
        Draw these with the others at their means; three of them (or 3-D axes) give the hyperplane in space, one
        gives a line.
    regions : bool, default=True
        Shade the regions of the classes.
    margin : bool, default=True
        The band that reaches to the nearest row, where a hyperplane has all rows on their correct sides.
    feet : row numbers, optional
        Rows that are joined to their foot points on the hyperplane.
    support : bool, default=True
        Rings around the rows of ``model.support_``.
    mistakes : bool, default=True
        Rings around misclassified rows.
    contours : bool, default=True
        For discriminants, the ellipses of one and two standard deviations of each class.
    updates : int, default=0
        The last updates of a perceptron fitted with ``trace=True`` on these rows, as arrows y·x from the rows that
        caused them, with the hyperplanes before them.
    ax : matplotlib Axes, optional
        Where to draw; new axes without it.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix import MaxMargin
    >>> from separatrix.plotting import plot_boundary
    >>> X = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> ax = plot_boundary(MaxMargin().fit(X, y), X, y, feet=[1])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['-1', '1', 'hyperplane', 'margin: half-width 1', 'support rows (2)', 'foot points']
    """
    table = check_table(X)
    view = ModelView(model, X, table)
    picked = None if columns is None else chosen_columns(columns, column_names(table))
    three = (picked is not None and len(picked) == 3) or (hasattr(ax, "get_zlim") and table.d == 3 and picked is None)
    predicted = np.asarray(model.predict(X))  # an unfitted model says so before anything is drawn
    if view.classes is None:
        return draw_regression(view, dense(table), None if y is None else check_targets(y), picked, ax)
    codes, names = labels_of(y, table.n, view.classes)
    stood = _checked_feet(feet, table.n)
    marked = [*stood, *(_support(view) if support else [])]
    at = drawn_rows(table.n, marked)
    shown = Table(take_rows(table.X, at), table.names) if len(at) < table.n else table
    rows, own = dense(shown), codes[at]
    failed = _wrong(predicted, codes, names) if y is not None else np.zeros(table.n, dtype=bool)
    wrong = failed[at] if mistakes else np.zeros(len(at), dtype=bool)
    if three:
        return draw_space(view, rows, own, names, picked or [0, 1, 2], wrong, ax)
    if table.d == 1 or (picked is not None and len(picked) == 1):
        return draw_one_column(view, rows, own, names, picked[0] if picked else 0, wrong, ax)
    if stood and view.hyperplane is None:
        raise ParameterError(f"{type(model).__name__} has no hyperplane in these columns: leave feet out.")
    replay = _replay(view, X, y, updates) if updates else None
    ax = axes_for(ax)
    plane = _plane(view, rows, own, picked)
    points = plane.points(rows)
    low, high = framed(ax, points)
    flat = _flat_line(view, plane)
    if regions:
        _regions(ax, view, plane, low, high, flat)
    if flat is not None:
        gap = _gap(view, plane, codes, names) if margin and y is not None else None
        band = None if gap is None else f"margin: half-width {gap:.4g}"
        draw_line(ax, *flat, points, gap, band=band)
    draw_classes(ax, points, own, names, legend=len(names) <= len(PALETTE))
    place = {int(row): k for k, row in enumerate(at)}
    if support and (held := [place[i] for i in _support(view) if i in place]):
        ring(ax, points[held], f"support rows ({len(held)})", MUTED)
    ring(ax, points[wrong], f"misclassified ({int(failed.sum()):,})", BAD)
    if stood:
        _feet(ax, view, plane, rows, [place[i] for i in stood])
    if contours and hasattr(model, "means_"):
        draw_gaussians(ax, model, plane)
    if replay is not None:
        _updates(ax, plane, replay, updates, points)
    if plane.note is not None and regions and flat is None:
        ax.set_title(plane.note, fontsize=9)
    if len(at) < table.n:
        ax.set_title(f"{len(at):,} of {table.n:,} rows drawn", fontsize=9)
    return finished(ax, *plane.names, first=names)


def _plane(view: ModelView, rows: Floats, codes: NDArray[Any], picked: list[int] | None) -> Plane:
    names = column_names(view.table)
    if picked is not None or rows.shape[1] == 2:
        return plane_of_columns(rows, picked or [0, 1], names)
    if view.hyperplane is not None:
        return plane_along_normal(rows, *view.hyperplane)
    return plane_between_classes(rows, codes)


def _flat_line(view: ModelView, plane: Plane) -> tuple[Floats, float] | None:
    """The hyperplane in the plane, where the model is one and crosses it."""
    if view.hyperplane is None:
        return None
    coef, intercept = plane.line(*view.hyperplane)
    return (coef, intercept) if coef.any() else None


def _regions(
    ax: Any, view: ModelView, plane: Plane, low: Floats, high: Floats, flat: tuple[Floats, float] | None
) -> None:
    """Shades of the classes by their leads, and the lines between them where no hyperplane is one."""
    x, y = np.linspace(low[0], high[0], RESOLUTION), np.linspace(low[1], high[1], RESOLUTION)
    grid = np.column_stack([c.ravel() for c in np.meshgrid(x, y)])
    if flat is None:
        leads = view.leads(plane, grid)
    else:
        score = grid @ flat[0] + flat[1]
        leads = np.column_stack([-score, score])
    for k in range(leads.shape[1]):
        field = leads[:, k].reshape(len(y), len(x))
        if field.max() > 0:
            ax.contourf(
                x,
                y,
                field,
                levels=[0.0, float(field.max()) * 2],
                colors=[colour_of(k, leads.shape[1])],
                alpha=0.16,
                zorder=0,
            )
        if flat is None and field.min() < 0 < field.max() and (k > 0 or leads.shape[1] > 2):
            ax.contour(x, y, field, levels=[0.0], colors=[INK], linewidths=1.2, zorder=1)


def _wrong(predicted: NDArray[Any], codes: NDArray[Any], names: list[Any]) -> NDArray[np.bool_]:
    """Which rows of the table, as it was given, are misclassified."""
    return np.array([said != names[k] for said, k in zip(predicted.tolist(), codes.tolist(), strict=True)])


def _gap(view: ModelView, plane: Plane, codes: NDArray[Any], names: list[Any]) -> float | None:
    """The distance of the nearest row, where all lie on their correct sides and the picture keeps distances."""
    assert view.hyperplane is not None
    assert view.classes is not None
    w, b = view.hyperplane
    if not np.isclose(np.linalg.norm(plane.directions @ w), np.linalg.norm(w)):
        return None
    signs = np.array([1.0 if name == view.classes[1] else -1.0 for name in names])[codes]
    away = signs * (view.table.X @ w + b) / float(np.linalg.norm(w))
    return float(away.min()) if away.min() > 0 else None


def _support(view: ModelView) -> list[int]:
    """Row numbers of the fit that hold the model, where these can be rows of this table."""
    rows = np.asarray(getattr(view.model, "support_", ()))
    whole = rows.ndim == 1 and rows.dtype.kind in "iu" and len(rows) and rows.max() < view.table.n
    return rows.tolist() if whole else []


def _checked_feet(feet: Sequence[int], n: int) -> list[int]:
    for i in feet:
        if isinstance(i, bool) or not isinstance(i, (int, np.integer)) or not 0 <= i < n:
            raise ParameterError(f"feet names row {i!r}, and X has the rows 0 to {n - 1}.")
    return [int(i) for i in feet]


def _feet(ax: Any, view: ModelView, plane: Plane, rows: Floats, at: list[int]) -> None:
    assert view.hyperplane is not None  # the caller has looked
    w, b = view.hyperplane
    own = rows[at]
    ground = own - np.outer(own @ w + b, w / float(w @ w))
    points, below = plane.points(own), plane.points(ground)
    for k, (p, q) in enumerate(zip(points, below, strict=True)):
        ax.plot(*np.array([p, q]).T, ":", color=INK, linewidth=1.1, zorder=2, label="foot points" if k == 0 else None)
    ax.plot(*below.T, ".", color=INK, markersize=6, zorder=4)


def _replay(view: ModelView, X: Any, y: Any, count: int) -> Any:
    """The updates of the run again."""
    trace = getattr(view.model, "trace_", None)
    if trace is None or not hasattr(trace, "replay"):
        raise ParameterError(
            f"updates={count} needs the trace of a run between two classes: fit the perceptron with trace=True."
        )
    if y is None:
        raise DataError(f"updates={count} needs the labels of the fit: pass y.")
    return trace.replay(X, y)


def _updates(ax: Any, plane: Plane, replay: Any, count: int, points: Floats) -> None:
    """Arrows of the last updates, and the hyperplanes before them, the older the fainter."""
    first = max(0, len(replay) - count)
    size = 0.16 * float(np.ptp(points, axis=0).max())
    for k, w in enumerate(replay.walk()):
        if k < first or k == len(replay):
            continue
        age = len(replay) - k
        if age <= FADED and w[:-1].any():
            coef, intercept = plane.line(w[:-1], float(w[-1]))
            label = "before the last updates" if age == 1 else None
            draw_line(
                ax,
                coef,
                intercept,
                points,
                color=MUTED,
                linestyle="--",
                linewidth=1.0,
                alpha=1.15 / (age + 0.15),
                label=label,
            )
        i = int(replay.trace.rows[k])
        move = plane.directions @ replay.move(i)[:-1]
        at = plane.points(
            np.asarray(replay.lifted_row(i)[:-1] * (1.0 if replay.norm is None else replay.norm[i]))[None]
        )[0]
        reach = float(np.linalg.norm(move))
        if reach > 0:
            arrow(ax, at, at + move / reach * size, BAD, str(k + 1), "updates y·x" if age == 1 else None)

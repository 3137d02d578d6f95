"""A perceptron's run: the path of its weights, its mistakes, and the inequalities that bound them; a stream's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.plotting.row_points import arrow, draw_classes, draw_line, framed, window
from separatrix.plotting.style import BAD, GOOD, INK, MUTED, PALETTE, axes_for, finished, name_axes
from separatrix.validation import check_finite_vector, check_table

NUMBERED = 30  # updates up to which every point carries its number


def plot_weight_path(
    weights: ArrayLike, *, columns: tuple[int, int] = (0, 1), names: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """Draw the weights w_0, w_1, ..., w_k of a run as a path in two of their coordinates.

    Parameters
    ----------
    weights : array of k + 1 rows
        The weights at the start and after each update, as ``trace_.replay(X, y).weights`` has them.
    columns : two column numbers, default=(0, 1)
    names : names of the coordinates, optional
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.plotting import plot_weight_path
    >>> X = [(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> model = Perceptron.recipe("online", trace=True).fit(X, y)
    >>> ax = plot_weight_path(model.trace_.replay(X, y).weights)
    >>> ax.lines[0].get_xydata().tolist()
    [[0.0, 0.0], [1.0, -2.0], [2.0, -1.0], [3.0, 1.0]]
    """
    path = np.asarray(check_table(weights, what="weights").X, dtype=np.float64)
    d = path.shape[1]
    if d < 2:
        raise DataError("weights has one column, and a path is drawn in two: keep the bias as the second.")
    if len(columns) != 2 or columns[0] == columns[1] or not all(0 <= j < d for j in columns):
        raise ParameterError(f"columns is {columns!r}: pass two different numbers from 0 to {d - 1}.")
    ax = axes_for(ax)
    points = path[:, list(columns)]
    ax.plot(*points.T, "-", color=MUTED, linewidth=1.0, zorder=1)
    many = len(points) > NUMBERED
    ax.scatter(*points.T, c=np.arange(len(points)), cmap="viridis_r", s=12 if many else 34, zorder=2)
    if not many:
        seen: dict[tuple[float, float], list[int]] = {}
        for k, at in enumerate(points.tolist()):
            seen.setdefault((at[0], at[1]), []).append(k)
        for place, steps in seen.items():
            ax.annotate(", ".join(map(str, steps)), place, (5, 5), "data", "offset points", fontsize=8)
    ax.plot(*points[0], "o", markerfacecolor="none", color=INK, markersize=10, label="start w₀")
    ax.plot(*points[-1], "*", color=BAD, markersize=13, label=f"w after {len(points) - 1:,} updates", zorder=3)
    low, high = window(points)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    names = names or [f"w{j}" for j in columns]
    return finished(ax, *names)


def plot_mistakes(rows: ArrayLike, n: int, *, ax: Any = None) -> Any:
    """Draw which row each update of a run came from.

    Parameters
    ----------
    rows : row numbers in the order of the updates, as ``trace_.rows`` has them
    n : how many rows there are
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix.plotting import plot_mistakes
    >>> ax = plot_mistakes([0, 2, 4], 6)
    >>> ax.get_title()
    '3 mistakes on 3 of 6 rows'
    """
    at = np.asarray(rows)
    if at.ndim != 1 or (len(at) and (at.dtype.kind not in "iu" or at.min() < 0 or at.max() >= n)):
        raise DataError(f"rows must be row numbers from 0 to {n - 1}, one for each update.")
    ax = axes_for(ax, (6.4, 3.2))
    ax.plot(np.arange(1, len(at) + 1), at, ".", color=PALETTE[1], markersize=8 if len(at) < 200 else 3)
    ax.set(ylim=(-0.5, n - 0.5), xlim=(0.5, max(len(at), 1) + 0.5))
    ax.set_title(f"{len(at):,} mistakes on {len(np.unique(at)):,} of {n:,} rows", fontsize=10)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    name_axes(ax, "update k", "row")
    return ax


def plot_proof(
    inner: Floats, inner_bound: Floats, norms2: Floats, norms2_bound: Floats, length: float, bound: float, ax: Any
) -> Any:
    """Both sides of both inequalities of Novikoff's proof: they must meet by the bound.

    Mistakes are on the axis; w*.w_k lies above its line, |w_k| |w*| below its curve.
    """
    ax = axes_for(ax, (6.4, 4.0))
    k = np.arange(len(inner))
    ax.plot(k, np.sqrt(norms2_bound) * length, "--", color="C1", label="√(|w₀|² + k R²)·|w*|")
    ax.plot(k, np.sqrt(norms2) * length, "-", color="C1", label="|w_k|·|w*|")
    ax.plot(k, inner, "-", color="C0", label="w*·w_k")
    ax.plot(k, inner_bound, "--", color="C0", label="w*·w₀ + k γ")
    ax.set(xlabel="updates k", title=f"{len(k) - 1} mistakes, bound {bound:,.6g}")
    ax.legend(frameon=False)
    return ax


def draw_stream(found: Any, ax: Any = None) -> Any:
    """Accuracy, or mean squared error, of blocks of labelled rows; ``found`` is the result of ``progressive``."""
    ax = axes_for(ax, (6.4, 3.6))
    at = found.span * np.arange(1, len(found.curve) + 1)
    what = "accuracy" if found.mistakes is not None else "mean squared error"
    ax.plot(at, found.curve, "o-" if len(at) <= 30 else "-", color=PALETTE[0], markersize=4, linewidth=1.4)
    ax.lines[-1].set_label(f"each {found.span:,} labelled rows")
    if found.accuracy.defined:
        ax.axhline(found.accuracy.value, color=INK, linewidth=0.8, linestyle=":", label="all rows")
    for k, warned in enumerate(found.drift_warnings):
        ax.axvline(warned, color=BAD, linewidth=1.2, linestyle="--", label="drift warning" if not k else None)
    return finished(ax, "labelled rows", what)


def plot_update(
    w: ArrayLike,
    x: ArrayLike,
    y: int,
    b: float = 0.0,
    *,
    fit_intercept: bool = True,
    step: float = 1.0,
    X: Any = None,
    signs: Any = None,
    ax: Any = None,
) -> Any:
    """Draw one update w + y·x, b + y of a perceptron in two columns: the line before and after, and the arrows.

    The score of the row moves by y(‖x‖² + 1), by y‖x‖² without a bias: in the direction of its label.

    Parameters
    ----------
    w : two numbers
        The weights before the update.
    x : two numbers
        The row that causes it.
    y : -1 or +1
        Its label.
    b : float, default=0.0
        The bias before the update.
    fit_intercept : bool, default=True
        Whether the bias moves too.
    step : float, default=1.0
        The size of the update.
    X, signs : rows of two columns and their labels -1 and +1, optional
        Drawn behind the update.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix.plotting import plot_update
    >>> ax = plot_update([1, -2], [1, 1], +1, fit_intercept=False)
    >>> ax.get_title()
    'y s(x) from −1 to 1 (‖x‖² = 2)'
    """
    old, row = check_finite_vector(w, what="w"), check_finite_vector(x, what="x")
    if len(old) != 2 or len(row) != 2:
        raise DataError(f"w has {len(old)} entries and x has {len(row)}: the picture is drawn for two columns.")
    if y not in (-1, 1):
        raise ParameterError(f"y is {y!r}: it must be -1 or +1.")
    move = step * y * row
    new, shift = old + move, step * y if fit_intercept else 0.0
    shown = [np.zeros(2), old, new, row]
    points = None
    if X is not None:
        table = check_table(X)
        points = np.asarray(table.X.toarray() if table.sparse else table.X, dtype=np.float64)
        if points.shape[1] != 2:
            raise DataError(f"X has {points.shape[1]} columns: the picture is drawn for two.")
        shown.extend(points)
    ax = axes_for(ax)
    near = np.array(shown)
    framed(ax, near)
    if points is not None and signs is not None:
        draw_classes(ax, points, (check_finite_vector(signs, what="signs") > 0).astype(np.intp), ("−1", "+1"))
    draw_line(ax, old, b, near, color=MUTED, linestyle="--", label="line before")
    draw_line(ax, new, b + shift, near, label="line after")
    colour = PALETTE[1] if y > 0 else PALETTE[0]
    ax.plot(*row, "o" if y < 0 else "s", color=colour, markersize=9, markeredgecolor=BAD, markeredgewidth=2, zorder=6)
    origin: Floats = np.zeros(2)
    if old.any():
        arrow(ax, origin, old, MUTED, "w", "w before")
    arrow(ax, old, new, BAD, None, "y·x")
    ax.annotate("y·x", (old + new) / 2, (5, -9), "data", "offset points", color=BAD, fontsize=9, zorder=6)
    if new.any():
        arrow(ax, origin, new, INK, "w′", "w after")
    before = y * float(old @ row + b) + 0.0  # no negative zero
    after = y * float(new @ row + b + shift) + 0.0
    length2 = float(row @ row)
    said = f"‖x‖² = {length2:.4g}" + (", plus 1 for the bias" if fit_intercept else "")
    ax.set_title(f"y s(x) from {before:.4g} to {after:.4g} ({said})".replace("-", "−"), fontsize=10)
    ax.title.set_color(GOOD if after > 0 else INK)
    return finished(ax, "x0, w0", "x1, w1")

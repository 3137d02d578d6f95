"""One update of the perceptron: how y·x turns the line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.plotting.row_points import arrow, draw_classes, draw_line, same_scale, window
from separatrix.plotting.style import BAD, GOOD, INK, MUTED, PALETTE, axes_for, explain, name_axes
from separatrix.validation import check_finite_vector, check_table


def plot_update(
    w: ArrayLike,
    x: ArrayLike,
    y: int,
    b: float = 0.0,
    *,
    bias: bool = True,
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
    bias : bool, default=True
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
    >>> from separatrix import plot_update
    >>> ax = plot_update([1, -2], [1, 1], +1, bias=False)
    >>> ax.get_title()
    'y s(x) from −1 to 1 (‖x‖² = 2)'
    """
    old, row = check_finite_vector(w, what="w"), check_finite_vector(x, what="x")
    if len(old) != 2 or len(row) != 2:
        raise DataError(f"w has {len(old)} entries and x has {len(row)}: the picture is drawn for two columns.")
    if y not in (-1, 1):
        raise ParameterError(f"y is {y!r}: it must be -1 or +1.")
    move = step * y * row
    new, shift = old + move, step * y if bias else 0.0
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
    low, high = window(near)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    same_scale(ax, low, high)
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
    said = f"‖x‖² = {length2:.4g}" + (", plus 1 for the bias" if bias else "")
    ax.set_title(f"y s(x) from {before:.4g} to {after:.4g} ({said})".replace("-", "−"), fontsize=10)
    ax.title.set_color(GOOD if after > 0 else INK)
    name_axes(ax, "x0, w0", "x1, w1")
    explain(ax)
    return ax

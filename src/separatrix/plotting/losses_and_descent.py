"""Losses against the margin; gradient descent: the path of theta over contours of J, and J step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.numerics.losses import loss_of
from separatrix.plotting.row_points import window
from separatrix.plotting.style import BAD, INK, MUTED, PALETTE, axes_for, explain, finished, name_axes
from separatrix.validation import check_finite_vector, check_table

KINKS = {"perceptron": 0.0, "hinge": 1.0}
FORMULAS = {
    "zero_one": "0-1: 1 where the prediction is wrong",
    "squared": "squared: (1 − m)²",
    "logistic": "logistic: log(1 + e⁻ᵐ)",
    "hinge": "hinge: max(0, 1 − m)",
    "perceptron": "perceptron: max(0, −m)",
}


def plot_losses(
    losses: Sequence[str] = ("zero_one", "squared", "logistic", "hinge"),
    *,
    slope: bool = False,
    interval: tuple[float, float] = (-2.5, 2.5),
    ax: Any = None,
) -> Any:
    """Draw losses as functions of the margin m = y s(x), or their derivatives.

    Parameters
    ----------
    losses : names, default=("zero_one", "squared", "logistic", "hinge")
        Of "zero_one", "squared", "logistic", "hinge" and "perceptron". The 0-1 loss has no useful slope.
    slope : bool, default=False
        Draw the derivative with respect to m instead of the loss. The gradient of a row's loss with respect to w
        is this number times y x.
    interval : two numbers, default=(-2.5, 2.5)
        Margins that are drawn.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix.plotting import plot_losses
    >>> ax = plot_losses(["logistic", "hinge"], slope=True)
    >>> ax.get_xlabel(), ax.get_ylabel(), len(ax.lines)
    ('margin m = y s(x)', 'derivative of the loss', 3)
    """
    names = [losses] if isinstance(losses, str) else list(losses)
    for name in names:
        if name not in FORMULAS:
            raise ParameterError(f"losses names {name!r}: it can be {', '.join(FORMULAS)}.")
    low, high = interval
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ParameterError(f"interval is {interval!r}: pass two finite numbers, the smaller first.")
    ax = axes_for(ax, (5.6, 4.0))
    m = np.linspace(low, high, 801)
    for name in names:
        look = {"color": PALETTE[list(FORMULAS).index(name)], "linewidth": 1.7, "label": FORMULAS[name]}
        if name == "zero_one":
            if not slope:
                ax.plot(m, (m < 0) * 1.0, drawstyle="steps-mid", **look)
        elif slope and name in KINKS:
            split = np.where(np.isclose(m, KINKS[name], atol=(high - low) / 1600), np.nan, loss_of(name).slope(m))
            ax.plot(m, split, **look)
        else:
            ax.plot(m, loss_of(name).slope(m) if slope else loss_of(name).value(m), **look)
    ax.axvline(0, color=MUTED, linewidth=0.8, linestyle=":", zorder=0)
    if not slope:
        ax.set_ylim(-0.15, min(4.2, max(1.3, float(max((1 - low) ** 2, 1)))))
    return finished(ax, "margin m = y s(x)", "derivative of the loss" if slope else "loss")


LEVELS = 18


def plot_descent(
    objective: Callable[[Floats], float],
    path: ArrayLike,
    *,
    columns: tuple[int, int] = (0, 1),
    resolution: int = 80,
    ax: Any = None,
) -> Any:
    """Draw the points theta_0, theta_1, ... of a descent over contours of J.

    Parameters
    ----------
    objective : function
        J, from an array of numbers to a number.
    path : array with one point a row
        As ``gradient_descent(...).path`` has it.
    columns : two coordinate numbers, default=(0, 1)
        Drawn coordinates; the others are held where the path ends.
    resolution : int, default=80
        Points of the grid along each axis: J is computed at resolution² points.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix.models.descent import gradient_descent
    >>> from separatrix.plotting import plot_descent
    >>> J = lambda t: t[0] ** 2 + 4 * t[1] ** 2
    >>> found = gradient_descent(J, [2.0, 1.0], step=0.1)
    >>> ax = plot_descent(J, found.path)
    >>> ax.lines[0].get_xydata()[0].tolist()
    [2.0, 1.0]
    """
    points = np.asarray(check_table(path, what="path").X, dtype=np.float64)
    d = points.shape[1]
    if d < 2:
        raise DataError("path has one coordinate, and contours are drawn over two: plot J against k instead.")
    if len(columns) != 2 or columns[0] == columns[1] or not all(0 <= j < d for j in columns):
        raise ParameterError(f"columns is {columns!r}: pass two different numbers from 0 to {d - 1}.")
    if not callable(objective):
        raise ParameterError(f"objective is a {type(objective).__name__}: pass the function that was minimised.")
    ax = axes_for(ax)
    i, j = columns
    flat = points[:, [i, j]]
    low, high = window(flat)
    pad = 0.35 * (high - low)
    low, high = low - pad, high + pad
    x, y = np.linspace(low[0], high[0], resolution), np.linspace(low[1], high[1], resolution)
    values = np.empty((resolution, resolution))
    at = points[-1].copy()
    with np.errstate(all="ignore"):
        for a, first in enumerate(x):
            for b, second in enumerate(y):
                at[i], at[j] = first, second
                values[b, a] = float(objective(at.copy()))
    finite = values[np.isfinite(values)]
    if len(finite) and np.ptp(finite) > 0:
        levels = np.unique(np.quantile(finite, np.linspace(0.0, 1.0, LEVELS) ** 1.5))
        field = np.ma.masked_invalid(values)
        ax.contour(x, y, field, levels=levels, cmap="Blues_r", linewidths=0.9, zorder=0)
    ax.plot(*flat.T, ".-", color=PALETTE[1], linewidth=1.2, markersize=5, label="θ_k")
    ax.plot(*flat[0], "o", markerfacecolor="none", color=INK, markersize=9, label="start")
    ax.plot(*flat[-1], "*", color=BAD, markersize=12, label=f"after {len(flat) - 1:,} steps")
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    return finished(ax, f"θ{i}", f"θ{j}")


def plot_convergence(values: ArrayLike, *, gradient_norm: ArrayLike | None = None, ax: Any = None) -> Any:
    """Draw J against the step k, and the length of its gradient where that is given.

    Parameters
    ----------
    values : J at theta_0, theta_1, ...
    gradient_norm : |grad J| at the same points, optional
        On an axis of its own, logarithmic.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from separatrix.models.descent import gradient_descent
    >>> from separatrix.plotting import plot_convergence
    >>> found = gradient_descent(lambda t: float(t @ t), [1.0, 2.0])
    >>> ax = plot_convergence(found.trace.value, gradient_norm=found.trace.gradient_norm)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('step k', 'J')
    """
    J = check_finite_vector(values, what="values")
    g = None if gradient_norm is None else check_finite_vector(gradient_norm, what="gradient_norm")
    if g is not None and len(g) != len(J):
        raise DataError(f"gradient_norm has {len(g)} entries and values has {len(J)}: they must agree.")
    ax = axes_for(ax, (5.6, 3.6))
    ax.plot(np.arange(len(J)), J, ".-" if len(J) <= 60 else "-", color=PALETTE[0], label="J")
    name_axes(ax, "step k", "J")
    if g is not None:
        beside = ax.twinx()
        beside.plot(np.arange(len(g)), np.where(g > 0, g, np.nan), "--", color=PALETTE[1])
        ax.plot([], [], "--", color=PALETTE[1], label="‖∇J‖ (right)")
        if (g > 0).any():
            beside.set_yscale("log")
        beside.set_ylabel("‖∇J‖")
    ax.xaxis.get_major_locator().set_params(integer=True)
    explain(ax)
    return ax

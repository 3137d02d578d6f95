"""Losses against the margin, and their slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.errors import ParameterError
from separatrix.numerics.losses import loss_of
from separatrix.plotting.style import MUTED, PALETTE, axes_for, explain, name_axes

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
    >>> from separatrix import plot_losses
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
    name_axes(ax, "margin m = y s(x)", "derivative of the loss" if slope else "loss")
    explain(ax)
    return ax

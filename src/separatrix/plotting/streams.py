"""A stream as it was learned: accuracy along the rows, and where its drift was noticed."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.plotting.style import BAD, INK, PALETTE, axes_for, explain, name_axes


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
    name_axes(ax, "labelled rows", what)
    explain(ax)
    return ax

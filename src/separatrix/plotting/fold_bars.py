"""Cross-validation as a picture: a line for each fold, its part of the rows marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.plotting.style import GRID, MUTED, PALETTE, axes_for, explain, name_axes

NUMBERED = 10  # folds up to which parts are wide enough to carry their size


def draw_folds(sizes: Sequence[int], values: Sequence[str], title: str, ax: Any = None) -> Any:
    """Folds that judge parts of these sizes, one below the other, each with what it found at the end of its line."""
    ax = axes_for(ax, (6.4, 0.9 + 0.32 * len(sizes)))
    begins = [sum(sizes[:k]) for k in range(len(sizes))]
    total = sum(sizes)
    for fold, value in enumerate(values):
        for part, (begin, size) in enumerate(zip(begins, sizes, strict=True)):
            judged = part == fold
            label = ("judged" if judged else "learned from") if (fold, part) in ((0, 0), (0, 1)) else None
            ax.barh(
                fold,
                size,
                left=begin,
                height=0.8,
                color=PALETTE[0] if judged else GRID,
                edgecolor="white",
                hatch="///" if judged else None,
                label=label,
            )
            if judged and len(sizes) <= NUMBERED:
                box = {"facecolor": PALETTE[0], "edgecolor": "none", "pad": 1.0}
                ax.text(
                    begin + size / 2, fold, f"{size:,}", color="white", ha="center", va="center", fontsize=8, bbox=box
                )
        ax.text(total * 1.01, fold, value, va="center", fontsize=9, color=MUTED)
    ax.set(xlim=(0, total), ylim=(len(sizes) - 0.5, -0.5), title=title)
    ax.set_yticks(range(len(sizes)), [f"fold {k + 1}" for k in range(len(sizes))])
    ax.title.set_fontsize(9)
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    name_axes(ax, "rows, part by part")
    explain(ax, ["judged"])
    return ax

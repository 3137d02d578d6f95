"""What a picture says: its legend, the points of a class, and that it can be rendered."""

from __future__ import annotations

import io

import numpy as np


def legend(ax):
    """The texts of the legend."""
    return [text.get_text() for text in ax.get_legend().get_texts()]


def scattered(ax, label):
    """The points drawn under a label."""
    (found,) = [c for c in ax.collections if c.get_label() == label]
    return np.asarray(found.get_offsets())


def line(ax, label):
    """The ends of a line drawn under a label."""
    (found,) = [drawn for drawn in ax.lines if drawn.get_label() == label]
    return found.get_xydata()


def rendered(ax):
    """The picture as PNG bytes: every artist is drawn."""
    out = io.BytesIO()
    ax.figure.savefig(out, format="png", dpi=40)
    return out.getvalue()

"""What all pictures share: colours, markers, axes, and text that is not parsed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.errors import ParameterError
from separatrix.extras import need

INK, MUTED, GRID, PAPER = "#1c2127", "#66707c", "#dfe3e8", "#fffffe"
PALETTE = (
    "#1f6fb4",
    "#b3471a",
    "#2c8a57",
    "#8a4fb0",
    "#a8842c",
    "#0f8a96",
    "#b8406e",
    "#5e6b2f",
    "#7a5a48",
    "#4c5bb5",
)
GOOD, BAD, AMBER = "#2c7a4b", "#b3261e", "#a8842d"
MARKERS = "osD^vP*X<>"


def axes_for(ax: Any, size: tuple[float, float] = (5.6, 4.4), three: bool = False) -> Any:
    """The axes to draw into: those given, if they have the right number of dimensions, or new ones."""
    if ax is None:
        need("matplotlib")
        import matplotlib.pyplot as plt

        return plt.figure(figsize=size, layout="constrained").add_subplot(projection="3d" if three else None)
    if not hasattr(ax, "scatter") or not hasattr(ax, "figure"):
        raise ParameterError(f"ax is a {type(ax).__name__}: pass one matplotlib Axes, or None for new ones.")
    if hasattr(ax, "get_zlim") != three:
        found, wanted = ("a flat figure", "3-D axes (projection='3d')") if three else ("a 3-D figure", "flat axes")
        raise ParameterError(f"ax belongs to {found} and this picture needs {wanted}: pass those, or leave ax out.")
    return ax


def place_of(k: int, count: int) -> int:
    """The place of class k in palette and markers: of two classes the second, the positive one, comes first."""
    return 1 - k if count == 2 else k


def colour_of(k: int, count: int) -> Any:
    """The colour of class k of ``count``: the palette, then lighter rounds of it."""
    from matplotlib.colors import to_rgb

    k = place_of(k, count)
    share = 0.32 * (k // len(PALETTE) % 3)
    red, green, blue = to_rgb(PALETTE[k % len(PALETTE)])
    return (red + (1 - red) * share, green + (1 - green) * share, blue + (1 - blue) * share)


def legible(label: Any, width: int = 24) -> str:
    """A label of the data in a legend: short, and not hidden because it begins with an underscore."""
    text = str(label)
    text = text if len(text) <= width else text[: width - 1] + "…"
    return f" {text}" if text.startswith("_") else text


def name_axes(ax: Any, *names: str) -> None:
    """Names of the axes, taken as they are: a dollar sign begins no formula."""
    for set_name, name in zip((ax.set_xlabel, ax.set_ylabel, getattr(ax, "set_zlabel", None)), names, strict=False):
        if set_name is not None:
            set_name(legible(name, 46), parse_math=False)


def explain(ax: Any, first: Sequence[str] = (), letters: int = 56) -> None:
    """A legend below the axes, those ``first`` in their order, in as few lines as hold it; labels as they are."""
    shown = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if not shown:
        return
    labels = sorted(shown, key=lambda label: first.index(label) if label in first else len(first))
    columns = len(labels)
    while columns > 1 and _width(labels, columns) > letters:
        columns -= 1
    made = ax.legend(
        [shown[label] for label in labels],
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        borderaxespad=4.9,  # of the font's size: below the numbers and the name of the axis, however flat the axes are
        ncols=columns,
        handletextpad=0.2,
        columnspacing=1.0,
        handlelength=1.4,
        fontsize=8,
        frameon=False,
    )
    for text in made.get_texts():
        text.set_parse_math(False)


def finished(ax: Any, *names: str, first: Sequence[Any] = ()) -> Any:
    """The axes, named, with their legend; the labels ``first`` come first in it."""
    name_axes(ax, *names)
    explain(ax, [legible(label) for label in first])
    return ax


def _width(labels: list[str], columns: int) -> int:
    """Letters of the longest line of a legend, which is filled column by column."""
    rows = -(-len(labels) // columns)
    return sum(4 + max(map(len, labels[k : k + rows])) for k in range(0, len(labels), rows))

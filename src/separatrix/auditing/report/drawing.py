"""Matplotlib figures as SVG in the colours and fonts of the page, light or dark.

Colours are drawn as fixed values and become variables of the page's style. Text stays text; nothing from the data is
parsed as mathematics, and matplotlib escapes it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from html import escape
from typing import Any, Literal

from separatrix.plotting.style import AMBER, BAD, GOOD, GRID, INK, MUTED, PALETTE, PAPER

VARIABLES = {
    INK: "--ink",
    MUTED: "--muted",
    GRID: "--grid",
    PAPER: "--paper",
    GOOD: "--good",
    BAD: "--bad",
    AMBER: "--c4",
} | {colour: f"--c{k}" for k, colour in enumerate(PALETTE)}
STYLE: Any = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "separatrix",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
}


def draw(
    alt: str,
    paint: Callable[[Any], None],
    size: tuple[float, float] = (4.3, 3.1),
    layout: Literal["constrained"] | None = "constrained",
) -> str:
    """A figure with one pair of axes as SVG; ``alt`` says in words what it shows; no layout: ``paint`` places them."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout=layout)
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        paint(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return follow_page(out.getvalue(), alt)


def follow_page(svg: str, alt: str) -> str:
    """Without prologue, fixed sizes, names of groups and fonts; with the page's colours and a description."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[a-zA-Z_]+[0-9]*">', "<g>", svg)
    svg = re.sub(r"font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r"font: ([0-9.]+px) [^;\"]*;?", r"font-size: \1;", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    svg = re.sub(r"\s*\n\s*", "\n", svg)
    head = re.match(r'<svg[^>]*viewBox="([^"]*)"[^>]*>', svg)
    assert head is not None
    start = f'<svg viewBox="{head.group(1)}" role="img" aria-label="{escape(alt, quote=True)}">'
    return start + svg[head.end() :]

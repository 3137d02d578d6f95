"""Matplotlib figures as SVG in the colours and fonts of the page, light or dark, and the small ones on top.

Colours are drawn as fixed values and become variables of the page's style. Text stays text; nothing from the data is
parsed as mathematics, and matplotlib escapes it.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, Literal

import numpy as np

from separatrix.auditing.audit_facts import AuditFacts
from separatrix.auditing.hyperplane_answers import MistakeFacts
from separatrix.auditing.phrasing import number
from separatrix.extras import need
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


@contextmanager
def axes(
    size: tuple[float, float] = (4.3, 3.1), layout: Literal["constrained"] | None = "constrained"
) -> Iterator[Any]:
    """The axes of a new figure, to be drawn on in the style of the page; no layout: the caller places them."""
    need("matplotlib", "a report", "audit")
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout=layout)
        FigureCanvasSVG(figure)
        yield figure.add_subplot()


def svg(ax: Any, alt: str) -> str:
    """The figure of these axes as SVG; ``alt`` says in words what it shows."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph ")  # the page draws letters in fonts of its own
        ax.figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
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


def plain_ticks(axis: Any) -> None:
    """At most five ticks, fewer where they are long, each written out: no offset above the axis, no collisions."""
    from matplotlib.ticker import MaxNLocator

    longest = max(len(number(float(end), 2)) for end in axis.get_view_interval())
    axis.set_major_locator(MaxNLocator(5 if longest <= 5 or axis.axis_name == "y" else 4 if longest <= 7 else 3))
    axis.set_major_formatter(lambda v, _: number(v))


def log_ticks(axis: Any) -> None:
    """Ticks of a logarithmic axis at powers of ten, with twos and fives where it is short."""
    from matplotlib.ticker import LogLocator

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0,) if high > 50 * max(low, 1e-9) else (1.0, 2.0, 5.0)))
    axis.set_major_formatter(lambda v, _: number(v).removeprefix("1.00 × "))
    axis.set_minor_formatter(lambda v, _: "")


SIZE = (2.5, 0.8)
VERDICTS = {"complete": GOOD, "quasi": AMBER, "overlap": BAD}
ASSUMPTIONS = {"fails": BAD, "look": AMBER, "unknown": MUTED, "holds": GOOD}


def spark(key: str, facts: AuditFacts) -> str | None:
    """The picture of one answer; None where there is nothing to draw."""
    return {
        "separation": _separation,
        "best": _best,
        "algorithm": _algorithm,
        "prediction": _prediction,
        "assumptions": _assumptions,
    }[key](facts)


@contextmanager
def bare_axes() -> Iterator[Any]:
    """Small axes without frame and ticks, which fill their figure."""
    with axes(SIZE, layout=None) as ax:
        yield ax
        ax.axis("off")
        ax.set_position((0.02, 0.04, 0.96, 0.92))


def _separation(facts: AuditFacts) -> str | None:
    """The rows in two directions, or the share of variance explained."""
    own = facts.pictures.projection
    if own is None:
        return None if facts.exact_fit is None else _bar(facts.exact_fit.r2, "share of the variance explained")
    x, y, classes = (np.array(v) for v in (own.x, own.y, own.classes))
    keep = np.unique(np.linspace(0, len(x) - 1, min(len(x), 220)).astype(int))
    spans = [np.quantile(v, [0.02, 0.98]) for v in (x, y)]

    with bare_axes() as ax:
        if own.line is not None and own.kind == "normal":
            ax.axvline(0, color=INK, linewidth=1)
        colours = [PALETTE[c % len(PALETTE)] for c in classes[keep].tolist()]
        size = 5 if len(keep) > 30 else 22  # few rows are seen too
        ax.scatter(x[keep], y[keep], s=size, c=colours, alpha=0.75, linewidths=0)
        for set_window, (low, high) in zip((ax.set_xlim, ax.set_ylim), spans, strict=True):
            size = max(abs(low), abs(high), 1.0)
            pad = (0.05 if len(keep) > 30 else 0.15) * (high - low) if high - low > 1e-9 * size else size
            set_window(low - pad, high + pad)

    return svg(ax, "the rows in two directions, coloured by class")


def _bar(value: float, alt: str) -> str:
    with bare_axes() as ax:
        ax.barh(0, 1, color=GRID, height=0.3)
        ax.barh(0, max(0.0, min(1.0, value)), color=PALETTE[0], height=0.3)
        ax.set(ylim=(-0.6, 0.6))

    return svg(ax, alt)


def _best(facts: AuditFacts) -> str | None:
    """A bracket of mistakes, a gap, the classes that can be separated, or the largest coefficients."""
    if facts.best is not None and facts.best.mistakes is not None:
        return _bracket(facts.best.mistakes)
    if facts.best is not None and facts.best.margin is not None:
        return _gap()
    if facts.separation is not None and facts.separation.classes:
        verdicts = [part.verdict for part in facts.separation.classes]
        alt = "classes that one hyperplane separates from the rest: green yes, amber only weakly, red no"
        return _squares([VERDICTS.get(verdict, MUTED) for verdict in verdicts], alt)
    return _effects(facts)


def _bracket(found: MistakeFacts) -> str:
    with bare_axes() as ax:
        ax.plot([0, max(2.0 * found.upper, 1.0)], [0, 0], color=GRID, linewidth=4, solid_capstyle="round")
        ax.plot([found.lower, found.upper], [0, 0], color=PALETTE[1], linewidth=4)
        ax.plot([found.lower, found.upper], [0, 0], "|", color=PALETTE[1], markersize=16, markeredgewidth=2)
        ax.set(ylim=(-1, 1))

    return svg(ax, "bracket of the minimum number of mistakes")


def _gap() -> str:
    with bare_axes() as ax:
        ax.axvspan(-1, 1, color=GRID, linewidth=0)
        ax.axvline(0, color=INK, linewidth=1)
        ax.scatter([-1, -2.2, -3.2, -1.7], [0.8, 0.1, -0.6, -0.8], s=14, color=PALETTE[0], linewidths=0)
        ax.scatter([1, 2.1, 3.3, 2.7], [-0.4, 0.4, 0.8, -0.6], s=14, color=PALETTE[1], linewidths=0)
        ax.set(xlim=(-4, 4), ylim=(-1.1, 1.1))

    return svg(ax, "two classes with a gap between them")


def _squares(colours: list[str], alt: str) -> str:
    """One square for each, in rows of eight or more."""
    columns = max(8, math.ceil(len(colours) / 2))

    with bare_axes() as ax:
        at = [(k % columns, -(k // columns)) for k in range(len(colours))]
        size = 48 if columns == 8 else 48 * (8 / columns) ** 2
        ax.scatter([x for x, _ in at], [y for _, y in at], s=size, c=colours, marker="s", linewidths=0)
        ax.set(xlim=(-0.6, columns - 0.4), ylim=(-1.7, 0.7))

    return svg(ax, alt)


def _effects(facts: AuditFacts) -> str | None:
    """The largest coefficients, by the effect of a standard deviation."""
    own = facts.pictures.coefficients
    if own is None or not own.features:
        return None
    effects = [row.effect for row in own.features[:6]][::-1]

    with bare_axes() as ax:
        ax.barh(range(len(effects)), effects, color=[PALETTE[0] if e >= 0 else PALETTE[1] for e in effects])
        ax.axvline(0, color=MUTED, linewidth=0.8)

    return svg(ax, "the largest coefficients, by the effect of a standard deviation")


def _algorithm(facts: AuditFacts) -> str | None:
    """Learners by their times, on a logarithmic scale."""
    ranked = sorted(facts.algorithm.seconds.items(), key=lambda own: own[1])[:5][::-1]
    if not ranked:
        return None
    low = math.log10(ranked[-1][1]) - 0.3

    with bare_axes() as ax:
        colours = [PALETTE[0] if name == facts.prediction.chosen else MUTED for name, _ in ranked]
        ax.barh(range(len(ranked)), [math.log10(t) - low for _, t in ranked], color=colours, height=0.65)
        ax.set_ylim(-0.6, max(len(ranked), 3) - 0.4)

    return svg(ax, "times of the learners, fastest first; the chosen one stands out")


def _prediction(facts: AuditFacts) -> str | None:
    """The estimate with its interval, and guessing."""
    own, e = facts.prediction, facts.prediction.estimate
    if e is None or e.value is None:
        return None
    value, low, high = e.value, e.low, e.high
    top = 1.0 if own.greater_is_better else 1.3 * max(v for v in (value, high, own.baseline) if v is not None)

    with bare_axes() as ax:
        ax.plot([0, top], [0, 0], color=GRID, linewidth=4, solid_capstyle="round")
        ax.plot([own.baseline] * 2, [-0.5, 0.5], ":", color=BAD, linewidth=1.6)
        if low is not None and high is not None:
            ax.plot([low, high], [0, 0], color=PALETTE[0], linewidth=4)
        ax.plot([value], [0], "o", color=PALETTE[0], markersize=6)
        ax.set(ylim=(-1, 1))

    return svg(ax, "the estimate with its interval; dotted: guessing")


def _assumptions(facts: AuditFacts) -> str:
    """One square an assumption."""
    colours = [ASSUMPTIONS[line.verdict] for line in facts.assumptions.lines]
    return _squares(colours, "assumptions: red fail, amber need a look, grey unknown, green hold")

"""Small pictures for the cards of the first screen, by hand: numbers in, SVG out, no text from the data."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

WIDTH, HEIGHT = 200, 64


def _svg(body: str, alt: str) -> str:
    return f'<svg class="spark" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{alt}">{body}</svg>'


def _colour(k: int) -> str:
    return f"var(--c{k % 10})"


def existence(content: dict[str, Any]) -> str:
    """The rows in two directions, very small."""
    own = content["pictures"]["projection"]
    if own is None:
        return _fit(content)
    x, y, classes = (np.array(own[key]) for key in ("x", "y", "classes"))
    keep = np.unique(np.linspace(0, len(x) - 1, min(len(x), 220)).astype(int))
    spans = [np.quantile(v, [0.02, 0.98]) for v in (x, y)]
    px, py = (
        np.clip((v[keep] - low) / (high - low or 1.0), -0.03, 1.03)
        for v, (low, high) in zip((x, y), spans, strict=True)
    )
    dots = [
        f'<circle cx="{8 + 184 * a:.1f}" cy="{57 - 50 * b:.1f}" r="2.3" fill="{_colour(int(c))}" opacity="0.75"/>'
        for a, b, c in zip(px, py, classes[keep], strict=True)
    ]
    line = ""
    if own["line"] is not None and own["kind"] == "normal":
        low, high = spans[0]
        at = 8 + 184 * (0 - low) / (high - low or 1.0)
        line = f'<line x1="{at:.1f}" x2="{at:.1f}" y1="3" y2="61" stroke="var(--ink)" stroke-width="1.5"/>'
    return _svg(line + "".join(dots), "the rows in two directions, coloured by class")


def _fit(content: dict[str, Any]) -> str:
    r2 = content["answers"]["existence"].get("r2")
    if r2 is None:
        return ""
    width = 184 * max(0.0, min(1.0, r2))
    body = (
        '<rect x="8" y="24" width="184" height="16" rx="3" fill="var(--grid)"/>'
        f'<rect x="8" y="24" width="{width:.1f}" height="16" rx="3" fill="var(--c0)"/>'
    )
    return _svg(body, f"share of the variance explained: {100 * r2:.0f} per cent")


def best(content: dict[str, Any]) -> str:
    """A bracket of mistakes, a gap, the classes that can be cut off, or the largest coefficients."""
    own = content["answers"]["best"]
    found = own.get("mistakes")
    if found is not None:
        top = max(2.0 * found["upper"], 1.0)
        a, b = 8 + 184 * found["lower"] / top, 8 + 184 * found["upper"] / top
        body = (
            '<line x1="8" x2="192" y1="32" y2="32" stroke="var(--grid)" stroke-width="6" stroke-linecap="round"/>'
            f'<line x1="{a:.1f}" x2="{b:.1f}" y1="32" y2="32" stroke="var(--c1)" stroke-width="6"/>'
            f'<line x1="{a:.1f}" x2="{a:.1f}" y1="20" y2="44" stroke="var(--c1)" stroke-width="3"/>'
            f'<line x1="{b:.1f}" x2="{b:.1f}" y1="20" y2="44" stroke="var(--c1)" stroke-width="3"/>'
        )
        return _svg(body, "bracket of the fewest mistakes")
    if own.get("margin") is not None:
        body = (
            '<rect x="78" y="4" width="44" height="56" fill="var(--grid)"/>'
            '<line x1="100" x2="100" y1="4" y2="60" stroke="var(--ink)" stroke-width="1.5"/>'
            + "".join(
                f'<circle cx="{x}" cy="{y}" r="4" fill="var(--c0)"/>'
                for x, y in ((78, 18), (52, 34), (30, 50), (64, 52))
            )
            + "".join(
                f'<circle cx="{x}" cy="{y}" r="4" fill="var(--c1)"/>'
                for x, y in ((122, 44), (146, 26), (172, 14), (158, 48))
            )
        )
        return _svg(body, "two classes with a gap between them")
    parts = content["answers"]["existence"].get("parts")
    return _classes(parts) if parts else _effects(content["pictures"]["coefficients"])


def _classes(parts: list[dict[str, Any]]) -> str:
    """One square a class."""
    kinds = {"complete": "var(--good)", "quasi": "var(--c4)", "overlap": "var(--bad)"}
    squares = "".join(
        f'<rect x="{8 + 24 * (k % 8)}" y="{8 + 26 * (k // 8)}" width="18" height="18" rx="3" '
        f'fill="{kinds.get(part["verdict"], "var(--muted)")}"/>'
        for k, part in enumerate(parts[:16])
    )
    return _svg(squares, "classes that one hyperplane cuts off: green yes, amber only with rows on it, red no")


def _effects(own: dict[str, Any] | None) -> str:
    """The largest coefficients, by the effect of a standard deviation, to the left and right of zero."""
    if not own or not own["features"][0]["effect"]:
        return ""
    rows, top = own["features"][:6], own["features"][0]["effect"]
    bars = ['<line x1="100" x2="100" y1="2" y2="62" stroke="var(--muted)" stroke-width="1"/>']
    for k, row in enumerate(rows):
        width = 90 * row["effect"] / top
        x, colour = (100.0, "var(--c0)") if row["sign"] >= 0 else (100 - width, "var(--c1)")
        bars.append(f'<rect x="{x:.1f}" y="{3 + 10 * k}" width="{width:.1f}" height="7" rx="1" fill="{colour}"/>')
    return _svg("".join(bars), "the largest coefficients, by the effect of a standard deviation")


def algorithm(content: dict[str, Any]) -> str:
    """Learners by their times, on a logarithmic scale."""
    seconds = content["answers"]["algorithm"]["seconds"]
    if not seconds:
        return ""
    named = sorted(seconds.items(), key=lambda own: own[1])
    chosen = content["answers"]["new_points"]["chosen"]
    low, high = math.log10(named[0][1]) - 0.3, math.log10(named[-1][1]) + 0.3
    bars = []
    for k, (name, t) in enumerate(named[:5]):
        width = max(4.0, 184 * (math.log10(t) - low) / (high - low))
        colour, fade = ("var(--c0)", 1) if name == chosen else ("var(--c9)", 0.45)
        box = f'x="8" y="{4 + 12 * k}" width="{width:.1f}" height="8" rx="2"'
        bars.append(f'<rect {box} fill="{colour}" opacity="{fade}"/>')
    return _svg("".join(bars), "times of the learners, fastest first; the chosen one stands out")


def new_points(content: dict[str, Any]) -> str:
    """The estimate with its interval, and the guess."""
    own = content["answers"]["new_points"]
    e = own.get("estimate")
    if e is None or e["value"] is None:
        return ""
    guess = own["majority"] if own["metric"] == "accuracy" else 0.5 if own["metric"] == "roc_auc" else None
    values = [v for v in (e["value"], e["low"], e["high"], guess) if v is not None]
    low, high = (0.0, 1.0) if own["metric"] != "rmse" else (0.0, 1.3 * max(values))

    def at(v: float) -> float:
        return 8 + 184 * (v - low) / (high - low)

    def line(a: float, b: float, y: str, style: str) -> str:
        return f'<line x1="{a:.1f}" x2="{b:.1f}" {y} {style}/>'

    flat = 'y1="36" y2="36"'
    body = line(8, 192, flat, 'stroke="var(--grid)" stroke-width="6" stroke-linecap="round"')
    if guess is not None:
        style = 'stroke="var(--bad)" stroke-width="2" stroke-dasharray="3 2"'
        body += line(at(guess), at(guess), 'y1="22" y2="50"', style)
    if e["low"] is not None:
        body += line(at(e["low"]), at(e["high"]), flat, 'stroke="var(--c0)" stroke-width="6"')
    body += f'<circle cx="{at(e["value"]):.1f}" cy="36" r="6" fill="var(--c0)"/>'
    return _svg(body, "the estimate with its interval; dashed: guessing")


def assumptions(content: dict[str, Any]) -> str:
    """One square an assumption."""
    counts = content["answers"]["assumptions"]["counts"]
    kinds = [("fails", "var(--bad)"), ("look", "var(--c4)"), ("unknown", "var(--muted)"), ("holds", "var(--good)")]
    squares, k = [], 0
    for kind, colour in kinds:
        for _ in range(counts[kind]):
            squares.append(
                f'<rect x="{8 + 24 * (k % 8)}" y="{8 + 26 * (k // 8)}" width="18" height="18" rx="3" fill="{colour}"/>'
            )
            k += 1
    return _svg("".join(squares[:16]), "assumptions: red fail, amber to look at, grey not known, green hold")

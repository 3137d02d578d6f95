"""Tables and metrics as text for a terminal and as HTML for a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from separatrix.evaluation.intervals import Estimate
from separatrix.printable import printable

WIDTH = 14
COLUMNS = 80  # of a screen


def percent(level: float) -> str:
    return f"{100 * level:g}%"


def rows(n: int) -> str:
    """A number of rows in words."""
    return f"{n:,} row" + ("" if n == 1 else "s")


def short(label: Any, width: int = WIDTH) -> str:
    """A label on one line, cut where it is long."""
    text = printable(" ".join(str(label).split()))
    return text if len(text) <= width else text[: width - 1] + "…"


def plain(value: float) -> str:
    """Counts as counts, sums of weights with a few digits."""
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:,.4g}"


def table(lines: Sequence[Sequence[str]], indent: int = 2, left: int = 1) -> list[str]:
    """Columns aligned: the first ``left`` to the left, the others to the right."""
    widths = [max(len(row[j]) for row in lines) for j in range(len(lines[0]))]
    out = []
    for row in lines:
        cells = [t.ljust(w) if j < left else t.rjust(w) for j, (t, w) in enumerate(zip(row, widths, strict=True))]
        out.append(" " * indent + "  ".join(cells).rstrip())
    return out


def named_rows(lines: Sequence[Sequence[str]]) -> list[str]:
    """A table; where it is wider than a screen, the first cell of each row stands on a line of its own above it."""
    rows = table(lines)
    if max(map(len, rows)) <= COLUMNS:
        return rows
    below = table([line[1:] for line in lines], indent=4, left=0)
    return [
        below[0],
        *(
            text
            for line, cells_below in zip(lines[1:], below[1:], strict=True)
            for text in (f"  {line[0]}", cells_below)
        ),
    ]


def metric_lines(metrics: Mapping[str, Estimate]) -> list[str]:
    """One line a metric: name, value, interval and method."""
    lines = []
    for name, e in metrics.items():
        text_of_value = str(e) if e.defined else f"undefined: {e.reason}"
        method = e.method if e.has_interval else ""
        lines.append(f"  {name.replace('_', ' '):<18} {text_of_value:<24} {method}".rstrip())
    return lines


def as_html(text: str, metrics: Mapping[str, Estimate]) -> str:
    """A table with one row a metric; everything from the data is escaped."""
    head, *rest = text.split("\n")
    body = "".join(
        f"<tr><td style='text-align:left'>{escape(name.replace('_', ' '))}</td>"
        + (
            f"<td>{_number(e.value)}</td><td>[{_number(e.low)}, {_number(e.high)}]</td><td>{escape(e.method)}</td>"
            if e.has_interval
            else f"<td>{_number(e.value)}</td><td colspan='2'>{escape(e.reason or '')}</td>"
        )
        + "</tr>"
        for name, e in metrics.items()
    )
    names = {name.replace("_", " ") for name in metrics}
    other = [line for line in rest if not any(line.strip().startswith(name + " ") for name in names)]
    return (
        f"<div><p><strong>{escape(head)}</strong></p><pre>{escape(chr(10).join(other))}</pre>"
        "<table><thead><tr><th style='text-align:left'>metric</th><th>value</th><th>interval</th><th>method</th></tr>"
        f"</thead><tbody>{body}</tbody></table></div>"
    )


def _number(x: float) -> str:
    return "undefined" if np.isnan(x) else f"{x:.4g}"

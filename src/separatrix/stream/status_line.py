"""One line that says how a stream is doing, with a small curve of its accuracy in braille dots."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence

import numpy as np

from separatrix.stream.scorecard import Scorecard

EVERY = 0.25  # seconds
CELLS = 16  # of the curve
LEFT, RIGHT = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)  # dots of a braille cell from below


def braille(values: Sequence[float], cells: int) -> str:
    """The last values, two in a cell, as dots of four heights between their least and greatest."""
    shown = list(values)[-2 * cells :]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    heights = [3 if high == low else round(3 * (v - low) / (high - low)) for v in shown]
    heights += [-1] * (len(heights) % 2)
    out = []
    for left, right in zip(heights[::2], heights[1::2], strict=True):
        out.append(chr(0x2800 + LEFT[left] + (RIGHT[right] if right >= 0 else 0)))
    return "".join(out)


def percent(share: float) -> str:
    """A share as a percentage that never rounds to 0% or 100% what is not."""
    text = f"{100 * share:.1f}%"
    if share < 1 and text == "100.0%":
        return ">99.9%"
    return "<0.1%" if share > 0 and text == "0.0%" else text


def rate(rows_per_second: float) -> str:
    if rows_per_second >= 1e6:
        return f"{rows_per_second / 1e6:.1f} M rows/s"
    return f"{rows_per_second / 1e3:.1f} k rows/s" if rows_per_second >= 1e3 else f"{rows_per_second:.0f} rows/s"


def describe(card: Scorecard, rows_per_second: float, rejected: int) -> str:
    """The line itself."""
    parts = [f"{card.rows:,} rows", rate(rows_per_second)]
    if card.regression:
        if len(card.recent):
            parts.append(f"last {len(card.recent):,}: rms error {np.sqrt(card.recent.mean()):.4g}")
    else:
        parts.append(f"{card.mistakes:,} mistakes")
        if len(card.recent):
            parts.append(f"last {len(card.recent):,}: {percent(1 - card.recent.mean())}")
            parts.append(braille((1 - card.curve.means()).tolist(), CELLS))
        if card.drift.count:
            parts.append(f"{card.drift.count} drift warning{'s' if card.drift.count > 1 else ''}")
    if rejected:
        parts.append(f"{rejected:,} rejected")
    return "  ".join(part for part in parts if part)


class StatusLine:
    """The line on a terminal, written over a few times a second; nothing elsewhere."""

    def __init__(self, quiet: bool) -> None:
        self.on = not quiet and sys.stderr.isatty()
        self._shown = 0.0
        self._rows, self._since = 0, time.monotonic()
        self._rate = 0.0

    def show(self, card: Scorecard, rejected: int) -> None:
        now = time.monotonic()
        if not self.on or now - self._shown < EVERY:
            return
        if now > self._since:
            self._rate = (card.rows - self._rows) / (now - self._since)
        self._rows, self._since, self._shown = card.rows, now, now
        width = shutil.get_terminal_size((80, 24)).columns
        sys.stderr.write(f"\r{describe(card, self._rate, rejected)[: width - 1]}\x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        if self.on and self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

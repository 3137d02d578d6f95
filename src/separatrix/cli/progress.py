"""Progress with the time that has passed and the time left, on standard error, where that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Self

from separatrix.printable import printable

PATIENCE = 0.5  # seconds before anything is shown


class Progress:
    """A bar that says how far some work is; nothing where standard error is no terminal, or all is done at once."""

    def __init__(self, what: str, quiet: bool = False) -> None:
        self.what = printable(what)
        self.silent = quiet or not sys.stderr.isatty()
        self.started = time.monotonic()
        self.share: float | None = None  # done, from 0 to 1
        self.reported = self.started  # when the share was
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._bar is None:
            return
        if kind is None and self.share is not None:
            self._show(1.0)
        self._bar.stop()

    def start(self) -> None:
        """Show that something is going on, for work that cannot say how far it is."""
        if not self.silent:
            self._show(None)

    def at(self, share: Callable[[], float | None], note: str = "") -> None:
        """So much is done, from 0 to 1; None where that is not known."""
        if not self.silent and (self._bar is not None or time.monotonic() - self.started >= PATIENCE):
            self._show(share(), note)

    def _show(self, share: float | None, note: str = "") -> None:
        if self._bar is None:
            self._bar = _bar(self.times)
            self._task = self._bar.add_task(self.what, total=None, note="")
        self.share, self.reported = share, time.monotonic()
        total, done = (None, 0.0) if share is None else (1.0, share)
        self._bar.update(self._task, total=total, completed=done, note=printable(note), refresh=share == 1.0)

    def times(self) -> str:
        """The share, the time since the work began, and the time left at the pace so far."""
        now = time.monotonic()
        if self.share is None:
            return f"{clock(now - self.started)} elapsed"
        left = ""
        if 0 < self.share < 1:
            whole = (self.reported - self.started) / self.share
            left = f", {clock(max(0.0, whole - (now - self.started)))} left"
        return f"{100 * self.share:3.0f}%  {clock(now - self.started)} elapsed{left}"


def clock(seconds: float) -> str:
    """Minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _bar(times: Callable[[], str]) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, TextColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Times(ProgressColumn):
        def render(self, task: Any) -> Text:
            return Text(times())

    bars = Bars(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        Times(),
        TextColumn("{task.fields[note]}", markup=False),
        transient=True,
        console=Console(stderr=True),
    )
    bars.start()
    return bars

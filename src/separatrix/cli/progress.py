"""Progress with the time left, on standard error, and only where that is a terminal."""

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
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self) -> None:
        """Show that something is going on, for work that cannot say how far it is."""
        if not self.silent:
            self.started = float("-inf")
            self.at(lambda: None)

    def at(self, share: Callable[[], float | None], note: str = "") -> None:
        """So much is done, from 0 to 1; None where that is not known."""
        if self.silent or (self._bar is None and time.monotonic() - self.started < PATIENCE):
            return
        if self._bar is None:
            self._bar = _bar()
            self._task = self._bar.add_task(self.what, total=None, note="")
        found = share()
        total, done = (None, 0.0) if found is None else (1.0, found)
        self._bar.update(self._task, total=total, completed=done, note=printable(note))


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    bars = Bars(
        *columns,
        TextColumn("left"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        transient=True,
        console=Console(stderr=True),
    )
    bars.start()
    return bars

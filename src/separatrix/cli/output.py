"""How commands print: text for people, JSON for programs (``--json``), data as it is, errors in one line, progress."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from shutil import get_terminal_size
from typing import Any, Self

import click

from separatrix.errors import ParameterError
from separatrix.printable import HIDDEN, printable

BOLD = ("\ue000", "\ue001")  # marks around bold text, which have no other meaning


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--json`` and ``--quiet``, which every command has."""
    command = click.option("--quiet", "-q", is_flag=True, help="Print only the result and errors.")(command)
    as_json = click.option("--json", "json_", is_flag=True, help="Print one line of JSON (see separatrix schema).")
    return as_json(command)


def need_place(out: Path | None, *sources: str | Path | None) -> None:
    """A place for the output file that is none of the input files, before any work is done for it."""
    if out is None:
        return
    if not out.parent.is_dir():
        what = "is not a folder" if out.parent.exists() else "does not exist"
        raise ParameterError(f"--out is {out}, but {out.parent} {what}.")
    for file in _files(sources):
        if out.is_file() and os.path.samestat(os.stat(out), os.stat(file)):
            name = "standard input" if file == 0 else f"the input {file}"
            raise ParameterError(f"--out is {out}, which is {name}: choose another file.")


def _files(sources: Iterable[str | Path | None]) -> list[str | int]:
    """The input files; standard input by its number."""
    from separatrix.data.sources import files_of

    listed: list[str | int] = []
    for source in sources:
        listed += [] if source is None else [0] if source == "-" else files_of(str(source))
    return listed


def bold(text: str) -> str:
    """Text that ``say`` prints in bold on a terminal."""
    return f"{BOLD[0]}{text}{BOLD[1]}"


def say(lines: Iterable[str], fold: bool = True) -> None:
    """Print text for people on standard output: hidden characters escaped, long lines folded, warnings in colour on a
    terminal."""
    terminal, width = sys.stdout.isatty(), get_terminal_size((80, 24)).columns
    for line in (printable(line) for text in lines for line in text.split("\n")):
        alarming = terminal and line.startswith(("warning:", "suspected leak"))
        styled = [click.style("", bold=True, reset=False), click.style("")] if terminal else ["", ""]
        for part in folded(line, width) if fold else [line]:
            text = part.replace(BOLD[0], styled[0]).replace(BOLD[1], styled[1])
            click.echo(click.style(text, fg="yellow") if alarming else text)


def folded(line: str, width: int) -> list[str]:
    """A line as lines of at most so many characters, broken at spaces; words that are longer stay whole."""
    if len(line) <= width or BOLD[0] in line:  # text with bold marks is folded where it is made
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    parts = textwrap.wrap(line, width, subsequent_indent=indent + "  ", break_long_words=False, break_on_hyphens=False)
    return parts or [line]


def complain(text: object) -> None:
    """Print on standard error, hidden characters escaped.

    Warnings are folded, and on a terminal everything; an error that a program reads stays one line.
    """
    line = printable(text)
    fold = sys.stderr.isatty() or line.startswith("warning:")
    for part in folded(line, get_terminal_size((80, 24)).columns) if fold else [line]:
        click.echo(part, err=True)


def say_json(value: Any) -> None:
    """Print one line of JSON: numpy's numbers as numbers, what is not finite as null, hidden characters escaped."""
    from separatrix.persistence.json_values import plain

    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    click.echo(HIDDEN.sub(lambda found: json.dumps(found[0])[1:-1], text))


def write_text(text: str) -> None:
    """Write data to standard output: byte by byte, except on a terminal, where hidden characters are escaped."""
    if sys.stdout.isatty():
        text = "".join(letter if letter in "\n\t" else printable(letter) for letter in text)
    sys.stdout.write(text)


def size(n: int) -> str:
    """Bytes for people."""
    return f"{n:,} B" if n < 1000 else f"{n / 1000:.1f} kB" if n < 1_000_000 else f"{n / 1e6:.1f} MB"


def plural(n: int, what: str) -> str:
    """1 row, 2 rows."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


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

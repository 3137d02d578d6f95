"""How commands speak: to people, to programs (``--json``), or not at all (``--quiet``)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from separatrix.errors import ParameterError


def saying_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--json`` and ``--quiet``, which every command has."""
    command = click.option("--quiet", "-q", is_flag=True, help="Print the result and errors, and nothing else.")(
        command
    )
    return click.option("--json", "json_", is_flag=True, help="Say it in one line of JSON (separatrix schema).")(
        command
    )


def need_folder(out: Path | None) -> None:
    """A place for the file to be written, before any work is done for it."""
    if out is not None and not out.parent.is_dir():
        what = "is no folder" if out.parent.exists() else "does not exist"
        raise ParameterError(f"--out is {out}, but {out.parent} {what}.")


def say(lines: list[str]) -> None:
    """Lines for people: with numbers and names set off by colour on a terminal, plain elsewhere."""
    import sys

    if not sys.stdout.isatty():
        click.echo("\n".join(lines))
        return
    from rich.console import Console

    console = Console(soft_wrap=True)
    for line in lines:
        alarming = line.startswith(("warning:", "suspected leak"))
        console.print(line, markup=False, style="yellow" if alarming else None)


def as_json(value: Any) -> str:
    """One line of JSON; numpy's numbers as numbers, what is not finite as null."""
    from separatrix.persistence.json_values import plain

    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def size(n: int) -> str:
    """Bytes for people."""
    return f"{n:,} B" if n < 1000 else f"{n / 1000:.1f} kB" if n < 1_000_000 else f"{n / 1e6:.1f} MB"

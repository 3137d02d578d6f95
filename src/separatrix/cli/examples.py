"""``separatrix examples``: the built-in sets, and one of them as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from separatrix.cli import output
from separatrix.cli.completion import EXAMPLE
from separatrix.errors import ParameterError

SUFFIXES = ("", ".csv", ".txt")


@click.command()
@click.argument("name", required=False, type=EXAMPLE)
@click.option(
    "--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write NAME as CSV (default: standard output)."
)
@output.output_options
def command(name: str | None, out: Path | None, json_: bool, quiet: bool) -> None:
    """List the built-in data sets, or write NAME as CSV; example:NAME names it as a SOURCE."""
    from separatrix.data.examples import listing

    if name is None:
        if out is not None:
            raise ParameterError("--out writes one data set: name it, as in separatrix examples visits -o visits.csv.")
        _list(listing(), json_, quiet)
        return
    _write(name, out, json_, quiet)


def _list(report: list[dict[str, Any]], json_: bool, quiet: bool) -> None:
    if json_:
        output.say_json(report)
        return
    for entry in report:
        if quiet:
            output.say([f"example:{entry['name']}"])
            continue
        size = f"{entry['rows']:,} × {entry['features']}"
        output.say([f"example:{entry['name']:<14} {size:>10}"])
        output.say([f"  {entry['shows']}"])


def _write(name: str, out: Path | None, json_: bool, quiet: bool) -> None:
    from separatrix.atomic_write import write_whole
    from separatrix.data.examples import listing
    from separatrix.data.frame import csv_lines
    from separatrix.data.sources import open_source

    if out is not None and out.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"--out is {out}: examples are written as CSV; name a file that ends in .csv.")
    output.need_place(out)
    source = open_source(f"example:{name.removeprefix('example:')}")
    names = [column for column, _ in source.columns]
    lines = csv_lines([[column] for column in names])
    rows = 0
    for frame, cells in source.frames(originals="cells"):
        lines += csv_lines(cells)
        rows += frame.n
    text = "".join(f"{line}\n" for line in lines)
    if out is not None:
        write_whole(out, text.encode())
    if json_:
        output.say_json([entry for entry in listing() if f"example:{entry['name']}" == source.name])
    elif out is None:
        output.write_text(text)
    elif not quiet:
        output.say([f"{out}   {output.plural(rows, 'row')}, {output.plural(len(names), 'column')}"])

"""``separatrix audit``: a table in, five answers out, on one screen and in a folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.completion import SOURCE
from separatrix.cli.output import Progress
from separatrix.cli.process import began
from separatrix.errors import ParameterError
from separatrix.extras import need

FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("source", type=SOURCE)
@table_options.reading_options
@click.option(
    "--task", type=click.Choice(["classification", "regression"]), help="Task type (default: from the target's values)."
)
@click.option(
    "--budget", type=float, default=60.0, show_default=True, help="Seconds for everything, from start to exit."
)
@click.option("--out", "-o", type=FOLDER, default=Path("audit"), show_default=True, help="Folder of the results.")
@table_options.drop_option
@click.option("--keep", multiple=True, help="A column to use although it looks like a leak, or counts the rows.")
@table_options.type_options
@click.option("--map", "feature_map", metavar="MAP", help=table_options.MAP_HELP)
@click.option("--groups", help="Column that identifies groups of rows, which are kept together.")
@click.option("--time", help="Column of dates or times: later rows are predicted from earlier ones.")
@click.option("--rows/--no-rows", default=True, help="Whether report.html may contain rows of the table.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of splits and samples.")
@table_options.level_option
@output.output_options
def command(source: str, out: Path, **options: Any) -> None:
    """Answer five questions about SOURCE (a file, a glob, -, example:NAME, or SQL over files).

    Can a hyperplane separate the classes? What is the best hyperplane, and is it unique? Can it be found efficiently?
    How well does it predict new rows? Which assumptions does that need, and do they hold? Prints a summary, and writes
    report.html, audit.json, certificate.json with the matrix that it refers to, and model.sepx.
    """
    from separatrix.auditing.audit import audit, need_place
    from separatrix.data.sources import files_of

    need_place(out)
    for file in files_of(source):
        if out.resolve() in Path(file).resolve().parents:
            raise ParameterError(f"--out is {out}, which holds the input {file}: choose another folder.")
    opened = table_options.open_table(source, options)
    chosen = ["target", "positive", "task", "budget", "drop", "keep", "text", "category", "number", "level"]
    chosen += ["groups", "time", "feature_map"]
    with Progress(f"auditing {source[:40]}", options["quiet"] or options["json_"]) as progress:
        progress.start()

        for package in ("matplotlib", "jinja2"):  # missed before the work, not after it
            need(package, "an audit", "audit")

        def tell(stage: str) -> None:
            progress.at(lambda: None, stage)

        found = audit(
            opened,
            **{name: options[name] for name in chosen},
            random_state=options["seed"],
            progress=tell,
            began=began(),
        )
        tell("write the report")
        found.save(out, options["rows"])
    if options["json_"]:
        output.say_json(found.to_dict())
    elif not options["quiet"]:
        output.say(screen_lines(found, out))


def screen_lines(found: Any, out: Path) -> list[str]:
    """The screen, and where everything is."""
    from separatrix.auditing.audit_facts import screen

    width = get_terminal_size((80, 24)).columns
    lines = [*screen(found.facts, output.bold, width), "", f"report: {out}/report.html"]
    if found.certified is not None:
        lines.append(f"check the proof: separatrix verify {shlex.quote(str(out))}")
    return lines

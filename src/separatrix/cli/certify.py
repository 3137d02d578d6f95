"""``separatrix certify``: is the table separable, and by how much? The answer, and the certificate that proves it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.certifiable_table import Certifiable, certifiable
from separatrix.cli.completion import SOURCE
from separatrix.cli.table_options import SIZE
from separatrix.errors import DataError, ParameterError
from separatrix.printable import printable

FILE = click.Path(dir_okay=False)


@click.command()
@click.argument("source", type=SOURCE)
@click.option("--target", "-t", help="Column of the labels (default: the one named target, label, class or y).")
@table_options.drop_option
@table_options.keep_option
@click.option("--skip-missing-target", is_flag=True, help="Leave out rows whose label is missing, instead of an error.")
@table_options.kind_options
@table_options.file_options
@click.option("--out", "-o", type=FILE, default="certificate.json", show_default=True, help="Certificate file.")
@click.option("--positive", help="The positive class; all others count as negative.")
@click.option(
    "--multiclass",
    type=click.Choice(["ovr", "pairs", "kesler"]),
    help="More than two classes: each against the rest, in pairs, or all at once (Kesler).",
)
@click.option("--no-intercept", is_flag=True, help="Only hyperplanes through the origin.")
@table_options.choice(
    "--reading", "binary64", "decimal", help="How a decimal such as 0.1 is read: as the nearest double, or as 1/10."
)
@table_options.choice(
    "--claim",
    *("separability", "margin", "margin-lifted", "min-errors"),
    help="What to prove: the verdict, the largest half-width, the lifted margin of the mistake bound, or the fewest "
    "mistakes of any hyperplane.",
)
@click.option(
    "--max-nodes", type=click.IntRange(min=0), help="Maximum number of cases in the search for the fewest mistakes."
)
@click.option("--time-limit", type=click.FloatRange(min=0), help="Time limit of that search in seconds.")
@click.option("--exact", is_flag=True, help="The margin as a rational number, not a bracket.")
@click.option(
    "--portable",
    is_flag=True,
    help="Put the rows that the proof needs into the certificate, so that it is checked without the table: of what few "
    "rows prove, which is that no hyperplane separates, or a lower bound of mistakes.",
)
@click.option(
    "--memory", type=SIZE, metavar="SIZE", help="Memory for reading, such as 256MB; the rows are then kept on disk."
)
@table_options.cache_option
@click.option(
    "--expect", type=click.Choice(["complete", "quasi", "overlap"]), help="Exit with status 1 on any other verdict."
)
@output.output_options
def command(source: str, out: str, **options: Any) -> None:
    """Decide whether a hyperplane separates the classes of SOURCE, with proof.

    SOURCE is a file, a pattern, -, example:NAME or SQL over files. The checker reads CSV of plain numbers and
    svmlight; rows of any other source are written beside the certificate, words, dates and missing values as fit
    encodes them.
    """
    claim, expect, quiet = options["claim"], options["expect"], options["quiet"]
    if claim != "separability" and options["multiclass"] is not None:
        raise ParameterError(f"--claim {claim} is about two groups: name one with --positive, not --multiclass.")
    if claim == "min-errors" and expect is not None:
        raise ParameterError("--expect is about verdicts, and --claim min-errors is about a number: leave one out.")
    from separatrix.atomic_write import write_whole

    output.need_place(Path(out), source)
    how = ["na", "header", "sep", "decimal", "encoding", "skip_missing_target", "memory", "cache"]
    how += ["category", "number", "keep"]
    table, guesses = certifiable(source, options["target"], options["drop"], {name: options[name] for name in how})
    for name in options["keep"]:
        if table.names is None or name not in table.names:
            raise DataError(f"--keep names {name!r}, which is not a column of {source}.")
    if options["memory"] is None:
        from separatrix.cli.exact_text import need_exact_text

        need_exact_text(table, options["reading"])
    found = decide(table, options)
    if options["portable"] and claim not in ("separability", "min-errors"):
        raise ParameterError(f"--claim {claim} is about all rows: leave --portable out.")
    if options["portable"] and options["multiclass"] is not None:
        raise ParameterError("--portable is about one claim: name a class with --positive, or leave --multiclass out.")
    certificate = found.portable if options["portable"] else found.certificate
    rows = None if options["portable"] else table.write(Path(out), source)
    write_whole(Path(out), f"{certificate.text}\n".encode())
    if options["json_"]:
        output.say_json({**found.to_dict(), "certificate": out, "data": rows or out})
    elif not quiet:
        output.say([*([printable("guessed: " + " · ".join(guesses))] if guesses else []), str(found)])
        command = shlex.join(["separatrix", "verify", out, *([rows] if rows else [])])
        output.say([f"{out}   {certificate.size / 1000:.1f} kB (check it: {command})"])
    if expect is not None and found.verdict != expect:
        if not quiet:
            output.complain(f"expected {expect}, proved {found.verdict}")
        sys.exit(1)


def decide(rows: Certifiable, options: dict[str, Any]) -> Any:
    """The answer to the question that was asked, with its certificate."""
    from separatrix.proofs.certificate.checkable_rows import class_names
    from separatrix.proofs.fewest_mistakes.bracket import bracket
    from separatrix.proofs.margin.margin import margin_between
    from separatrix.proofs.margin.novikoff import bound_between
    from separatrix.proofs.separability.multiclass import multiclass_separability
    from separatrix.proofs.separability.verdict import Given, counted, separability

    names = None if rows.names is None else tuple(rows.names)
    table, classes, origin, source = counted(rows.X, rows.labels, rows.weights, names, rows.target, options["reading"])
    given = Given(table, classes, origin, source, not options["no_intercept"], options["reading"])
    if options["multiclass"] is not None:
        return multiclass_separability(given, options["multiclass"])
    found, positive, claim = class_names(classes.classes), options["positive"], options["claim"]
    if positive is not None:
        from separatrix.checker import label_name

        if label_name(positive) not in found:
            raise ParameterError(f"--positive is {positive!r}, which is not a class; classes: {', '.join(found[:10])}.")
        groups: tuple[list[int], list[int] | None] = [found.index(label_name(positive))], None
    else:
        if len(found) > 2:
            separability(rows.X, rows.labels)  # says what to do
        groups = [1], [0]
    if claim == "margin":
        return margin_between(given, *groups, options["exact"])
    if claim == "margin-lifted":
        return bound_between(given, *groups, exact=options["exact"])
    if claim == "min-errors":
        return bracket(given, *groups, max_nodes=options["max_nodes"], time_limit=options["time_limit"])
    return given.two_groups(*groups)

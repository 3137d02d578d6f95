"""``separatrix certify``: is the table separable, and by how much? The answer, and the certificate that proves it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from separatrix.cli import saying
from separatrix.errors import DataError, ParameterError

SUFFIXES = (".svm", ".svmlight", ".libsvm")


@click.command()
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.option("--target", help="The column of the labels (CSV).")
@click.option(
    "--out",
    type=click.Path(dir_okay=False),
    default="certificate.json",
    show_default=True,
    help="Where the certificate goes.",
)
@click.option("--positive", help="The class that counts as +1, against all others.")
@click.option("--multiclass", type=click.Choice(["ovr", "pairs", "kesler"]), help="For more than two classes.")
@click.option("--no-intercept", is_flag=True, help="Only hyperplanes through the origin.")
@click.option("--reading", type=click.Choice(["binary64", "decimal"]), default="binary64", show_default=True)
@click.option(
    "--claim",
    type=click.Choice(["separability", "margin", "margin-lifted", "min-errors"]),
    default="separability",
    show_default=True,
    help="What to prove: the verdict, the largest half-width, the lifted margin of the mistake bound, or the fewest "
    "mistakes of any hyperplane.",
)
@click.option("--max-nodes", type=click.IntRange(min=0), help="Cases that the search for the fewest mistakes may take.")
@click.option("--time-limit", type=click.FloatRange(min=0), help="Seconds that it may take.")
@click.option("--exact", is_flag=True, help="The margin as a rational number, not a bracket.")
@click.option("--expect", type=click.Choice(["complete", "quasi", "overlap"]), help="Exit with 1 on another verdict.")
@saying.saying_options
def command(
    source: str,
    target: str | None,
    out: str,
    positive: str | None,
    multiclass: str | None,
    no_intercept: bool,
    reading: str,
    claim: str,
    max_nodes: int | None,
    time_limit: float | None,
    exact: bool,
    expect: str | None,
    json_: bool,
    quiet: bool,
) -> None:
    """Decide whether a hyperplane separates the classes of SOURCE (CSV with a header, or svmlight), with proof."""
    if claim != "separability" and multiclass is not None:
        raise ParameterError(f"--claim {claim} is about two groups: name one with --positive, not --multiclass.")
    if claim == "min-errors" and expect is not None:
        raise ParameterError("--expect is about verdicts, and --claim min-errors is about a number: leave one out.")
    saying.need_folder(Path(out))
    X, labels = read(source, target)
    limits = {"max_nodes": max_nodes, "time_limit": time_limit}
    found = decide(X, labels, positive, multiclass, not no_intercept, reading, claim, exact, limits)
    certificate = found.certificate
    for part in certificate.content.get("certificates", [certificate.content]):
        part["data"]["target"] = target
    if Path(out).exists() and not Path(out).is_file():
        certificate.save(out)
    else:
        from separatrix.persist.whole import write_whole

        write_whole(Path(out), f"{certificate.text}\n".encode())
    if json_:
        click.echo(saying.as_json({**found.to_dict(), "certificate": out}))
    elif not quiet:
        click.echo(str(found))
        column = "" if source.endswith(SUFFIXES) else f" --target {target}"
        click.echo(f"{out}   {certificate.size / 1000:.1f} kB (check it: separatrix verify {out} {source}{column})")
    if expect is not None and found.verdict != expect:
        if not quiet:
            click.echo(f"expected {expect}, proved {found.verdict}", err=True)
        sys.exit(1)


def read(source: str, target: str | None) -> tuple[Any, Any]:
    """Rows, with the names of their columns where the file has them, and labels."""
    if source.endswith(SUFFIXES):
        from separatrix.data.libsvm import read_libsvm

        return read_libsvm(source, zero_based=False)
    import numpy as np

    from separatrix.data.delimited import missing_column, read_delimited
    from separatrix.data.plain import plain_file, read_plain

    plain = plain_file(source)
    if plain is not None and target not in plain.names:
        raise DataError(missing_column(Path(source).name, target, plain.names))
    numbers = None if plain is None else read_plain(source, target)
    if numbers is not None and np.isfinite(numbers[0]).all() and np.isfinite(np.asarray(numbers[1])).all():
        return (numbers[0], numbers[2]), numbers[1]
    X, labels, names = read_delimited(source, target)  # labels are words, or a cell is not a number: it says which
    return (X, names), labels


def decide(
    X: Any,
    labels: Any,
    positive: str | None,
    multiclass: str | None,
    intercept: bool,
    reading: str,
    claim: str = "separability",
    exact: bool = False,
    limits: dict[str, Any] | None = None,
) -> Any:
    """The answer to the question that was asked, with its certificate."""
    from separatrix.theory.certificate import class_names
    from separatrix.theory.fewest import bracket
    from separatrix.theory.margin import margin_between
    from separatrix.theory.mistakes import bound_between
    from separatrix.theory.multiclass import multiclass_separability
    from separatrix.theory.separability import Given, counted, separability
    from separatrix.validation import Table

    X, names = X if isinstance(X, tuple) else (X, None)
    table, classes, origin, dropped = counted(X, labels, None)
    given = Given(Table(table.X, None if names is None else tuple(names)), classes, origin, dropped, intercept, reading)
    if multiclass is not None:
        return multiclass_separability(given, multiclass)
    found = class_names(classes.classes)
    if positive is not None:
        from separatrix.checker import label_name

        if label_name(positive) not in found:
            raise ParameterError(f"--positive is {positive!r}, which is no class; classes: {', '.join(found[:10])}.")
        groups: tuple[list[int], list[int] | None] = [found.index(label_name(positive))], None
    else:
        if len(found) > 2:
            separability(X, labels)  # says what to do
        groups = [1], [0]
    if claim == "margin":
        return margin_between(given, *groups, exact)
    if claim == "margin-lifted":
        return bound_between(given, *groups, exact=exact)
    if claim == "min-errors":
        return bracket(given, *groups, **(limits or {}))
    return given.two_groups(*groups)

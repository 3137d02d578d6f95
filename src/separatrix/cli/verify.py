"""``separatrix verify``: the stand-alone checker as a command; it believes neither the file nor this package."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

import click

from separatrix import checker
from separatrix.cli import output as saying
from separatrix.errors import DataError


@click.command()
@click.argument("certificate", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.option("--target", help="The column of the labels (CSV), if the certificate does not name it.")
@saying.saying_options
def command(certificate: str, source: str, target: str | None, json_: bool, quiet: bool) -> None:
    """Check CERTIFICATE against the data in SOURCE; exit with 0 when proved, 1 when not, 2 on unreadable files."""
    arguments = [certificate, source, *(["--target", target] if target else [])]
    said, wrong = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(wrong):
        code = checker.main(arguments)
    if code == 2:
        raise DataError(f"{certificate} cannot be held against {source}: {reason(wrong.getvalue())}.{hint(source)}")
    if json_:
        click.echo(saying.as_json({"proved": code == 0, "says": said.getvalue().splitlines()}))
    elif not quiet:
        click.echo(said.getvalue(), nl=False)
    sys.exit(code)


def reason(said: str) -> str:
    """What the checker could not read, in words: a key that is not there is said by its name alone."""
    text = " ".join(said.removeprefix("cannot read:").split()).rstrip(".")
    return f"it lacks {text}, so that it is no certificate" if re.fullmatch(r"'[^']*'", text) else text


def hint(source: str) -> str:
    """What to hold it against where the checker does not read such files."""
    from separatrix.data.dialect import kind_of

    if not source.endswith((".gz", ".tsv", ".tab")) and kind_of(Path(source)) in ("csv", "svmlight"):
        return ""
    return " The checker reads CSV and svmlight: name the file of rows that certify wrote beside the certificate."

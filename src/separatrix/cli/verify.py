"""``separatrix verify``: the stand-alone checker as a command; it believes neither the file nor this package."""

from __future__ import annotations

import contextlib
import io
import sys

import click

from separatrix import checker
from separatrix.cli import saying


@click.command()
@click.argument("certificate", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.option("--target", help="The column of the labels (CSV), if the certificate does not name it.")
@saying.saying_options
def command(certificate: str, source: str, target: str | None, json_: bool, quiet: bool) -> None:
    """Check CERTIFICATE against the data in SOURCE; exit with 0 when proved, 1 when not, 2 on unreadable files."""
    arguments = [certificate, source, *(["--target", target] if target else [])]
    if not json_ and not quiet:
        sys.exit(checker.main(arguments))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = checker.main(arguments)
    if json_ and code < 2:
        click.echo(saying.as_json({"proved": code == 0, "says": said.getvalue().splitlines()}))
    sys.exit(code)

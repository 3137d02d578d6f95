"""``separatrix verify``: the stand-alone checker as a command; it believes neither the file nor this package."""

from __future__ import annotations

import contextlib
import io
import json
import sys

import click

from separatrix import checker


@click.command()
@click.argument("certificate", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.option("--target", help="The column of the labels (CSV), if the certificate does not name it.")
@click.option("--json", "json_", is_flag=True, help="Say it as JSON.")
def command(certificate: str, source: str, target: str | None, json_: bool) -> None:
    """Check CERTIFICATE against the data in SOURCE; exit with 0 when proved, 1 when not, 2 on unreadable files."""
    arguments = [certificate, source, *(["--target", target] if target else [])]
    if not json_:
        sys.exit(checker.main(arguments))
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        code = checker.main(arguments)
    if code < 2:
        click.echo(json.dumps({"proved": code == 0, "says": said.getvalue().splitlines()}))
    sys.exit(code)

"""``separatrix verify``: the stand-alone checker as a command; it believes neither the file nor this package."""

from __future__ import annotations

import sys

import click

from separatrix import checker


@click.command()
@click.argument("certificate", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@click.option("--target", help="The column of the labels (CSV), if the certificate does not name it.")
def command(certificate: str, source: str, target: str | None) -> None:
    """Check CERTIFICATE against the data in SOURCE; exit with 0 when proved, 1 when not, 2 on unreadable files."""
    sys.exit(checker.main([certificate, source, *(["--target", target] if target else [])]))

"""``separatrix verify``: the stand-alone checker as a command; it trusts neither the file nor this package."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import click

from separatrix import checker
from separatrix.cli import output
from separatrix.errors import DataError


@click.command()
@click.argument("certificate", type=click.Path(exists=True))
@click.argument("source", type=click.Path(exists=True, dir_okay=False), required=False)
@click.option("--target", help="The column of the labels (CSV), if the certificate does not name it.")
@click.option("--plain", is_flag=True, help="Check row by row with the standard library alone, without numpy.")
@output.output_options
def command(certificate: str, source: str | None, target: str | None, plain: bool, json_: bool, quiet: bool) -> None:
    """Check CERTIFICATE against the data in SOURCE; exit with 0 when proved, 1 when not, 2 on unreadable files.

    CERTIFICATE may also be the folder of an audit, which holds both, or a portable certificate, which carries the rows
    that it needs; the claim is then about the table with the fingerprint that is printed.
    """
    certificate, source = files_of(certificate, source)
    how = "the rows in the certificate"
    try:
        content, table = checker.read(certificate, source, target, plain)
        if table is not None:
            how = "all rows, by columns with numpy" if table.fast else "all rows, one by one"
        proved, lines = True, [f"proved: {sentence}" for sentence in checker.check(content, table)]
    except checker.Rejected as why:
        proved, lines = False, [f"not proved: {why}"]
    except (OSError, ValueError, csv.Error) as error:
        reason = " ".join(str(error)[:300].split()).rstrip(".")
        if source is None:
            raise DataError(f"{certificate} cannot be checked without its table: {reason}.") from None
        raise DataError(f"{certificate} cannot be checked against {source}: {reason}.{hint(source)}") from None
    if json_:
        output.say_json({"proved": proved, "says": lines, "checked": how})
    elif not quiet:
        output.say([*lines, f"checked: {how}"])
    sys.exit(0 if proved else 1)


def files_of(certificate: str, source: str | None) -> tuple[str, str | None]:
    """The certificate and its rows; those of an audit's folder where that is named."""
    place = Path(certificate)
    if not place.is_dir():
        return certificate, source
    if source is not None:
        raise DataError(f"{certificate} is a folder: name the certificate in it, or the folder alone.")
    rows = next((place / name for name in ("certified.csv", "certified.svm") if (place / name).is_file()), None)
    if rows is None or not (place / "certificate.json").is_file():
        if (place / "audit.json").is_file() and (place / "report.html").is_file():
            raise DataError(f"{certificate} is an audit without a certificate: nothing in it is marked as proved.")
        raise DataError(f"{certificate} holds no certificate.json with certified.csv or .svm: it is not an audit's.")
    return str(place / "certificate.json"), str(rows)


def hint(source: str) -> str:
    """What to check it against where the checker does not read such files."""
    from separatrix.data.file_kinds import kind_of

    if not source.endswith((".gz", ".tsv", ".tab")) and kind_of(Path(source)) in ("csv", "svmlight"):
        return ""
    return " The checker reads CSV and svmlight: name the file of rows that certify wrote beside the certificate."

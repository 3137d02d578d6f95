"""``separatrix lab``: the plane, the perceptron and the proofs in a browser, served on this machine alone."""

from __future__ import annotations

import secrets
import socket
import warnings
import webbrowser
from pathlib import Path
from typing import Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.completion import SOURCE
from separatrix.errors import DataError, ParameterError
from separatrix.extras import need
from separatrix.printable import printable

HOST = "127.0.0.1"


@click.command()
@click.argument("source", type=SOURCE, required=False)
@click.option("--target", "-t", help="Column of the classes, of which there must be two.")
@click.option("--columns", nargs=2, help="The two columns to show first (default: the first two of numbers).")
@click.option(
    "--directions",
    is_flag=True,
    help="Begin with the discriminant direction and the direction of largest variance orthogonal to it.",
)
@click.option("--drop", multiple=True, help="A column to leave out, for instance one of words; may be repeated.")
@table_options.file_options
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port (default: a free one).")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write the page into this folder instead, to open or to put on a web server; it works without Python, "
    "except for validation, features of high degree and your own table.",
)
def command(
    source: str | None, columns: Any, directions: bool, port: int, browser: bool, out: Path | None, **options: Any
) -> None:
    """Serve the lab: points to drag, the perceptron step by step, and what is proved of them.

    With SOURCE the page begins with two columns of that table, or with the two directions that show its classes
    best. Needs the extra [lab], except with --out. Ctrl-C ends it.
    """
    if out is not None:
        _write(out, source)
        return
    uvicorn, _ = need("uvicorn"), need("starlette")
    from separatrix.lab.api import application

    if columns and directions:
        raise ParameterError("--columns and --directions cannot both say what to show first: choose one.")
    own, table = (None, None) if source is None else _table(source, columns, directions, **options)
    with socket.socket() as listening:
        try:
            listening.bind((HOST, port))
        except OSError as error:
            raise DataError(f"port {port} cannot be used: {error.strerror}; choose another --port.") from None
        number = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        hosts = {f"{HOST}:{number}", f"localhost:{number}"}
        address = f"http://{HOST}:{number}/#token={token}"
        config = uvicorn.Config(application(token, hosts, own, table), log_level="warning", access_log=False)
        output.say([f"the lab: {address}", "Ctrl-C ends it."])
        warnings.simplefilter("ignore")  # answers say how a run ended; filters set by threads at once would race
        if browser:
            webbrowser.open(address)
        uvicorn.Server(config).run(sockets=[listening])


def _write(folder: Path, source: str | None) -> None:
    from separatrix.lab.static_files import write_lab

    if source is not None:
        raise ParameterError("--out writes the page alone: leave the table out, or serve the lab without --out.")
    names = write_lab(folder)
    output.say([f"the lab: {len(names)} files in {folder}; open index.html there, or put them on a web server."])


def _table(
    source: str, columns: Any, directions: bool, target: str | None, drop: tuple[str, ...], **options: Any
) -> Any:
    """What the page shows first, and the columns that it can choose from."""
    from separatrix.cli.certifiable_table import certifiable
    from separatrix.lab.presets import DIRECTIONS, preset_of_table, table_columns

    found, guesses = certifiable(
        source, target, drop, {**options, "memory": None, "cache": None, "keep": columns or ()}
    )
    if guesses:
        output.say([printable("guessed: " + " · ".join(guesses))])
    if found.names is None:
        raise DataError(f"{source} has no column names; the lab needs a table with a header.")
    table = table_columns(found.X, found.names, found.labels, source)
    if directions and DIRECTIONS[0] not in table.names:
        raise DataError(f"{source} has no directions beside its columns: --directions needs three columns of numbers.")
    return preset_of_table(table, DIRECTIONS if directions else columns), table

"""``separatrix export``: a model file as a Python function, a SQL expression or an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from separatrix.cli import output
from separatrix.errors import ParameterError
from separatrix.printable import printable

FORMATS = {".py": "python", ".sql": "sql", ".onnx": "onnx"}


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Output file (default: standard output)."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["python", "sql", "onnx"]),
    help="Output format (default: from the suffix of --out).",
)
@output.output_options
def command(model: str, out: Path | None, format_: str | None, json_: bool, quiet: bool) -> None:
    """Write the linear model of MODEL, with its encoder, as code that does not need separatrix."""
    from separatrix.atomic_write import write_whole
    from separatrix.cli.json_reports import ExportReport
    from separatrix.export import to_onnx, to_python, to_sql
    from separatrix.persistence import load

    chosen: Any = format_ or (None if out is None else FORMATS.get(out.suffix.lower()))
    if chosen is None:
        raise ParameterError(
            "the output format is not known: pass --format, or --out FILE ending in .py, .sql or .onnx."
        )
    if chosen == "onnx" and out is None:
        raise ParameterError("ONNX is a binary format; give --out FILE.")
    output.need_place(out, model)
    loaded = load(model)
    content = to_onnx(loaded) if chosen == "onnx" else (to_python if chosen == "python" else to_sql)(loaded).encode()
    if out is not None:
        write_whole(out, content)
    if json_:
        code = content.decode() if out is None else None
        file = None if out is None else str(out)
        output.say_json(ExportReport(model=model, format=chosen, out=file, bytes=len(content), code=code))
    elif out is None:
        output.write_text(content.decode())
    elif not quiet:
        output.say([f"{out}   {output.size(len(content))}", *_expects(loaded, chosen)])


def _expects(model: Any, chosen: str) -> list[str]:
    """What SQL and ONNX must be given where the training table wrote its numbers in another way."""
    columns = [] if chosen == "python" or getattr(model, "encoder", None) is None else model.encoder.columns
    written = [column.name for column in columns if getattr(column, "writing", None) is not None]
    dates = [column.name for column in columns if getattr(column, "source", None) == "date"]
    days = "days since 1970" if chosen == "onnx" else "dates or timestamps"
    said = [f"it takes plain numbers for {_listed(written)}, which the training table has as text"] * bool(written)
    return [printable(text) for text in [*said, *[f"it takes {days} for {_listed(dates)}"] * bool(dates)]]


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))

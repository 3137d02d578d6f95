"""``separatrix predict``: rows in, the same rows with predictions out, in order, a batch at a time."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import tables
from separatrix.errors import DataError, ParameterError

if TYPE_CHECKING:
    from separatrix.data.sources import Source
    from separatrix.features.table_model import TableModel

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
MATRIX_BATCH = 65536


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("source")
@click.option(
    "--out", "-o", type=click.Path(dir_okay=False, path_type=Path), help="File to write; standard output else."
)
@click.option(
    "--format", "format_", type=click.Choice(["csv", "jsonl", "parquet"]), help="Format, if --out does not say."
)
@click.option("--only", is_flag=True, help="Write the predictions alone, without the columns of SOURCE.")
@click.option("--strict", is_flag=True, help="Refuse categories that training did not have.")
@click.option("--na", multiple=True, help="A word that means a missing value; may be repeated.")
@click.option("--header/--no-header", default=None, help="Whether the first line names the columns.")
@click.option("--quiet", "-q", is_flag=True, help="Say nothing on standard error.")
def command(
    model: str,
    source: str,
    out: Path | None,
    format_: str | None,
    only: bool,
    strict: bool,
    na: tuple[str, ...],
    header: bool | None,
    quiet: bool,
) -> None:
    """Add the predictions of MODEL to the rows of SOURCE, in their order."""
    from separatrix.features.table_model import TableModel
    from separatrix.persist import load

    loaded = load(model)
    if not isinstance(loaded, TableModel):
        loaded = TableModel(loaded)
    chosen = format_ or (FORMATS.get(out.suffix.lower(), "csv") if out is not None else "csv")
    if chosen == "parquet" and out is None:
        raise ParameterError("--format parquet needs --out: Parquet cannot be written to a pipe.")
    wordy = () if loaded.encoder is None else tuple(c.name for c in loaded.encoder.columns if c.KIND == "text")
    opened = tables.open_table(source, na, header, wordy)
    tally = Tally()
    batches = predictions(loaded, opened, only, strict, tally)
    if chosen == "parquet" and out is not None:
        write_parquet(out, batches)
    elif out is None or (out.exists() and not out.is_file()):
        write_text(out, batches, chosen)
    else:
        write_beside(out, batches, chosen)
    if not quiet:
        for line in tally.lines(opened.name):
            click.echo(line, err=True)


class Tally:
    """What happened to cells on the way, over all batches."""

    def __init__(self) -> None:
        self.rows = 0
        self.missing: dict[str, int] = {}
        self.unseen: dict[str, tuple[int, str]] = {}

    def add(self, rows: int, noted: dict[str, Any]) -> None:
        for name, own in noted.items():
            if own.missing:
                self.missing[name] = self.missing.get(name, 0) + own.missing
            if own.first_unseen is not None:
                count, first = self.unseen.get(name, (0, own.first_unseen[1]))
                self.unseen[name] = (count + own.unseen, first)
        self.rows += rows

    def lines(self, source: str) -> list[str]:
        said = [
            f"{source}: {count:,} missing in {name!r}, filled in as in training" for name, count in self.missing.items()
        ]
        return said + [
            f"{source}: {count:,} rows have a level of {name!r} that training did not have (such as {first!r}); "
            "they are scored as unseen (--strict refuses)"
            for name, (count, first) in self.unseen.items()
        ]


Batch = tuple[list[str], list[str], list[list[Any]]]  # names, kinds, columns of cells


def predictions(model: TableModel, source: Source, only: bool, strict: bool, tally: Tally) -> Iterator[Batch]:
    """Batches of columns: those of the source as they are written, then the predictions."""
    if source.matrix is not None:
        yield from _matrix_predictions(model, source, tally)
        return
    names, kinds = ([], []) if only else map(list, zip(*source.columns, strict=True))
    inputs = [] if model.encoder is None else model.encoder.inputs
    for frame, written in source.frames(inputs, originals=not only):
        X, noted = model.rows(frame, strict)
        if not frame.n:
            continue
        tally.add(frame.n, noted)
        added = model.predict(X)
        fresh = [_fresh(name, names) for name in added]
        yield [*names, *fresh], [*kinds, *map(_kind, added.values())], [*written, *(v.tolist() for v in added.values())]
    if not tally.rows:
        raise DataError(f"{source.name} has no rows below its header: nothing to predict.")


def _matrix_predictions(model: TableModel, source: Source, tally: Tally) -> Iterator[Batch]:
    assert source.matrix is not None
    X, _ = model.rows(source.matrix)
    for begin in range(0, source.matrix.n, MATRIX_BATCH):
        added = model.predict(X[begin : begin + MATRIX_BATCH])
        tally.rows += len(added["prediction"])
        yield list(added), [_kind(v) for v in added.values()], [v.tolist() for v in added.values()]


def _kind(values: Any) -> str:
    return {"f": "number", "i": "integer", "b": "boolean"}.get(values.dtype.kind, "text")


def _fresh(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name


def write_beside(out: Path, batches: Iterator[Batch], chosen: str) -> None:
    """To a file beside its place, moved there when it is whole."""
    import contextlib
    import os
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{out.name}.", dir=out.parent)
    os.close(handle)
    try:
        write_text(Path(name), batches, chosen)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, out)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def write_text(out: Path | None, batches: Iterator[Batch], chosen: str) -> None:
    """As CSV or JSON lines."""
    file = sys.stdout if out is None else out.open("w", encoding="utf-8", newline="")
    try:
        first = True
        for names, kinds, columns in batches:
            file.write(_as_csv(names, columns, first) if chosen == "csv" else _as_json_lines(names, kinds, columns))
            first = False
        file.flush()
    finally:
        if out is not None:
            file.close()


def _as_csv(names: list[str], columns: list[list[Any]], header: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(names)
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def _as_json_lines(names: list[str], kinds: list[str], columns: list[list[Any]]) -> str:
    lines = []
    for cells in zip(*columns, strict=True):
        row = {name: _json_cell(kind, cell) for name, kind, cell in zip(names, kinds, cells, strict=True)}
        lines.append(json.dumps(row, ensure_ascii=False, allow_nan=False))
    return "\n".join(lines) + "\n"


def _json_cell(kind: str, cell: Any) -> Any:
    """A cell as it is written, as the JSON value of its kind."""
    if cell is None or not isinstance(cell, str) or kind in ("text", "date"):
        return cell if not isinstance(cell, float) or abs(cell) < float("inf") else None
    if kind == "boolean":
        return cell == "true"
    number = float(cell)
    whole = kind == "integer" and cell.lstrip("+-").isdigit()
    return int(cell) if whole else number if abs(number) < float("inf") else None


def write_parquet(out: Path, batches: Iterator[Batch]) -> None:
    """Through JSON lines in a temporary file, which DuckDB turns into Parquet with the types of the columns."""
    import os
    import tempfile

    from separatrix.data.duck import connect, identifier, quoted

    types = {"number": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN", "date": "TIMESTAMP", "text": "VARCHAR"}
    with tempfile.TemporaryDirectory(prefix=".separatrix-", dir=out.parent) as folder:
        lines = Path(folder) / "rows.jsonl"
        shape: list[tuple[str, str]] = []
        with lines.open("w", encoding="utf-8") as file:
            for names, kinds, columns in batches:
                shape = list(zip(names, kinds, strict=True))
                file.write(_as_json_lines(names, kinds, columns))
        listed = ", ".join(f"{identifier(name)}: {quoted(types[kind])}" for name, kind in shape)
        done = Path(folder) / "rows.parquet"
        with connect() as con:
            read = f"read_json({quoted(str(lines))}, format='newline_delimited', columns={{{listed}}})"
            con.execute(f"COPY (SELECT * FROM {read}) TO {quoted(str(done))} (FORMAT parquet)")
        os.replace(done, out)

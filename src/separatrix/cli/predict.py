"""``separatrix predict``: rows in, the same rows with predictions out, in order, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.completion import SOURCE
from separatrix.cli.on_cluster import predict_on_cluster
from separatrix.cli.output import Progress
from separatrix.data.number_writing import plain_number
from separatrix.errors import DataError, ParameterError

if TYPE_CHECKING:
    from separatrix.data.sources import Source
    from separatrix.features.table_model import TableModel


import csv
import io
import json
import sys
from dataclasses import dataclass

from separatrix.atomic_write import is_special, special_file, unnamed_file, whole_file

FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", type=SOURCE)
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path),
    help="Output file (default: standard output); with --cluster a folder, for one file of predictions a partition.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["csv", "jsonl", "parquet"]),
    help="Output format (default: from the suffix of --out).",
)
@click.option("--only", is_flag=True, help="Write the predictions alone, without the columns of SOURCE.")
@click.option("--strict", is_flag=True, help="Refuse categories that did not occur in training.")
@table_options.file_options
@table_options.cluster_options
@output.output_options
def command(model: str, source: str, out: Path | None, format_: str | None, **options: Any) -> None:
    """Add the predictions of MODEL to the rows of SOURCE, in their order."""
    from separatrix.features.table_model import TableModel
    from separatrix.persistence import load

    json_, quiet, strict = options["json_"], options["quiet"], options["strict"]
    loaded = load(model)
    loaded = loaded if isinstance(loaded, TableModel) else TableModel(loaded)
    chosen: Any = format_ or (FORMATS.get(out.suffix.lower(), "csv") if out is not None else "csv")
    if chosen == "parquet" and out is None:
        raise ParameterError("--format parquet needs --out: Parquet cannot be written to a pipe.")
    if json_ and out is None:
        raise ParameterError(
            "--json needs --out: without it, rows go to standard output (--format jsonl prints them as JSON)."
        )
    if options["cluster"] is not None:
        if chosen != "csv":
            raise ParameterError("--cluster writes CSV: leave --format out.")
        parts = predict_on_cluster(loaded, source, out, strict, quiet or json_, options)
        tally = Tally()
        for part in parts:
            tally.add(part.rows, part.noted)
        report_of(tally, model, out, chosen, source, json_, quiet)
        if not quiet and not json_:
            output.complain(f"{tally.rows:,} rows predicted, in {len(parts):,} file{'s' * (len(parts) != 1)} in {out}")
        return
    if out is not None and out.is_dir():
        raise ParameterError(f"--out is {out}, a folder: name a file.")
    output.need_place(out, model, source)
    opened = table_options.open_table(source, options, loaded)
    tally = Tally()
    with Progress(f"predicting {opened.name}", quiet or json_) as progress:
        batches = predictions(loaded, opened, chosen, options["only"], strict, tally)
        write(out, watched(batches, opened, tally, progress), chosen)
    report_of(tally, model, out, chosen, opened.name, json_, quiet)
    for line in [] if quiet or json_ else opened.broken:
        output.complain(f"{opened.name}: {line}")


def report_of(tally: Tally, model: str, out: Path | None, chosen: Any, source: str, json_: bool, quiet: bool) -> None:
    """What happened to cells, as JSON or for people."""
    if json_:
        from separatrix.cli.json_reports import PredictionReport

        output.say_json(PredictionReport(model=model, out=str(out), format=chosen, **tally.to_dict(source)))
    elif not quiet:
        for line in tally.lines(source):
            output.complain(line)


def watched(batches: Iterator[Batch], source: Source, tally: Tally, progress: Progress) -> Iterator[Batch]:
    """The same batches, while progress is shown."""
    for batch in batches:
        progress.at(lambda: source.share, f"{tally.rows:,} rows")
        yield batch


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

    def to_dict(self, source: str) -> dict[str, Any]:
        unseen = {name: {"rows": count, "such_as": first} for name, (count, first) in self.unseen.items()}
        return {"source": source, "rows": self.rows, "missing": self.missing, "unseen": unseen}

    def lines(self, source: str) -> list[str]:
        said = [
            f"{source}: {count:,} missing in {name!r}, filled in as in training" for name, count in self.missing.items()
        ]
        return said + [
            f"{source}: {count:,} rows have a category of {name!r} that did not occur in training (such as {first!r}); "
            "they are scored as unseen (--strict refuses them)"
            for name, (count, first) in self.unseen.items()
        ]


def predictions(
    model: TableModel, source: Source, form: str, only: bool, strict: bool, tally: Tally
) -> Iterator[Batch]:
    """Batches of columns: those of the source as they are written, then the predictions."""
    if source.rows is not None:
        yield from _of_rows(model, source, tally)
    else:
        originals = "" if only else "lines" if form == "csv" else "cells"
        yield from _of_columns(model, source, originals, strict, tally, form == "parquet" and not only)
    if not tally.rows:
        raise DataError(f"{source.name} has no rows: nothing to predict.")


def _of_columns(
    model: TableModel, source: Source, originals: str, strict: bool, tally: Tally, whole: bool
) -> Iterator[Batch]:
    """``whole`` says that columns of whole numbers are to be stored as such: a look at all rows finds them."""
    from separatrix.data.delimited_table import DelimitedTable
    from separatrix.data.frame import fresh_name

    inputs = [] if model.encoder is None else model.encoder.inputs
    names, kinds = map(list, zip(*source.columns, strict=True)) if originals else ([], [])
    if originals == "cells" and isinstance(source.table, DelimitedTable):
        kinds = source.table.stored(whole)
    for frame, written in source.frames(inputs, originals):
        X, noted = model.rows(frame, strict)
        if not frame.n:
            continue
        tally.add(frame.n, noted)
        added = model.predict(X)
        fresh = [fresh_name(name, names) for name in added]
        columns, own = [values.tolist() for values in added.values()], list(map(_kind, added.values()))
        if originals == "lines":
            yield Batch([*names, *fresh], own, columns, written[0])
        else:
            yield Batch([*names, *fresh], [*kinds, *own], [*written, *columns])


def _of_rows(model: TableModel, source: Source, tally: Tally) -> Iterator[Batch]:
    for matrix in source.matrices(model.learner.n_features_in_):
        X, _ = model.rows(matrix)
        added = model.predict(X)
        tally.rows += matrix.n
        yield Batch(list(added), [_kind(v) for v in added.values()], [v.tolist() for v in added.values()])


def _kind(values: Any) -> str:
    return {"f": "number", "i": "integer", "b": "boolean"}.get(values.dtype.kind, "text")


SQL_TYPES = {"number": "DOUBLE", "integer": "BIGINT", "boolean": "BOOLEAN", "date": "TIMESTAMP", "text": "VARCHAR"}


@dataclass(frozen=True, slots=True)
class Batch:
    """Columns of a few rows, with their kinds; the columns of the source may be lines as they stand in its file."""

    names: list[str]
    kinds: list[str]
    columns: list[list[Any]]
    lines: list[Any] | None = None  # those of the source, instead of its columns


def write(out: Path | None, batches: Iterator[Batch], form: str) -> None:
    """All batches; a regular file is written atomically."""
    if out is None:
        for text in _texts(batches, form):
            output.write_text(text)
        sys.stdout.flush()
    elif form == "parquet" and is_special(out):
        raise ParameterError(f"--out is {out}, which is not a regular file; Parquet needs one.")
    elif form == "parquet":
        _write_parquet(out, batches)
    elif is_special(out):
        with special_file(out) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
            file.writelines(_texts(batches, form))
    else:
        with whole_file(out) as beside, beside.open("w", encoding="utf-8", newline="") as file:
            file.writelines(_texts(batches, form))


def _texts(batches: Iterator[Batch], form: str) -> Iterator[str]:
    for k, batch in enumerate(batches):
        yield _as_csv(batch, header=k == 0) if form == "csv" else _as_json_lines(batch)


def _as_csv(batch: Batch, header: bool) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if header:
        writer.writerow(batch.names)
    if batch.lines is None:
        writer.writerows(zip(*batch.columns, strict=True))
        return text.getvalue()
    ends = [_csv_cells(column) for column in batch.columns]
    return text.getvalue() + "".join([",".join(row) + "\n" for row in zip(batch.lines, *ends, strict=True)])


def _csv_cells(column: list[Any]) -> list[str]:
    """The cells of a column as ``csv`` writes them."""
    if not any(isinstance(cell, str) or cell is None for cell in column[:1]):
        return list(map(repr, column))
    known: dict[Any, str] = {}
    for cell in set(column):
        text = io.StringIO()
        csv.writer(text, lineterminator="").writerow(["", cell])  # two, for an empty one alone would be quoted
        known[cell] = text.getvalue()[1:]
    return [known[cell] for cell in column]


def _as_json_lines(batch: Batch) -> str:
    columns = [
        [_json_cell(kind, cell) for cell in column] for kind, column in zip(batch.kinds, batch.columns, strict=True)
    ]
    lines = [
        json.dumps(dict(zip(batch.names, cells, strict=True)), ensure_ascii=False, allow_nan=False)
        for cells in zip(*columns, strict=True)
    ]
    return "\n".join(lines) + "\n"


def _json_cell(kind: str, cell: Any) -> Any:
    """A cell as it is written, as the JSON value of its kind."""
    if cell is None or not isinstance(cell, str) or kind in ("text", "date"):
        return cell if not isinstance(cell, float) or abs(cell) < float("inf") else None
    if kind == "boolean":
        return cell == "true"
    if cell.lstrip("+-").isdigit():
        return int(cell)
    return plain_number(cell)


def _write_parquet(out: Path, batches: Iterator[Batch]) -> None:
    """Through JSON lines in a temporary file, which DuckDB turns into Parquet with the types of the columns."""
    from separatrix.data.duckdb_reader import connect, identifier, quoted

    shape: list[tuple[str, str]] = []
    with whole_file(out) as beside, unnamed_file(out.parent) as lines:
        with lines.open("w", encoding="utf-8") as file:
            for batch in batches:
                shape = list(zip(batch.names, batch.kinds, strict=True))
                file.write(_as_json_lines(batch))
        listed = ", ".join(f"{identifier(name)}: {quoted(SQL_TYPES[kind])}" for name, kind in shape)
        with connect() as con:
            con.execute("SET threads = 1; SET memory_limit = '150MB'")
            read = f"read_json({quoted(str(lines))}, format='newline_delimited', columns={{{listed}}})"
            group = max(2048, min(65536, (1 << 20) // max(1, len(shape))))
            how = f"FORMAT parquet, ROW_GROUP_SIZE {group}, USE_TMP_FILE false"
            con.execute(f"COPY (SELECT * FROM {read}) TO {quoted(str(beside))} ({how})")

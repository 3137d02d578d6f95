"""A table that can be certified: rows of numbers and labels, and the file in which the checker finds them.

Comma-separated text and svmlight are certified as they stand, for the stand-alone checker reads them. What
comes from anywhere else is read as every command reads it, and written beside the certificate. Tables with words, dates
or missing values are encoded as ``fit`` encodes them first.
"""

from __future__ import annotations

import csv
import io
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.errors import DataError, ParameterError

if TYPE_CHECKING:
    from separatrix.data.frame import Frame
    from separatrix.data.row_files import Matrix
    from separatrix.features.encoder import Choices

SUFFIXES = (".svm", ".svmlight", ".libsvm")


@dataclass(frozen=True, slots=True)
class Certifiable:
    """Rows, the names of their columns where they have any, labels, and the file that holds them, if one does."""

    X: Any
    names: list[str] | None
    labels: Any
    target: str | None
    weights: Any = None
    file: str | None = None

    def only(self, names: list[str]) -> Certifiable:
        """The same rows with these columns."""
        if self.names is None or len(names) == len(self.names):
            return self
        return replace(self, X=self.X[:, [self.names.index(name) for name in names]], names=names)

    def write(self, out: Path, source: str) -> str:
        """The file of the rows: the source itself, or one written beside the certificate."""
        if self.file is not None:
            return self.file
        from separatrix.atomic_write import is_special, whole_file
        from separatrix.cli.output import need_place
        from separatrix.proofs.certificate.checkable_rows import put_csv, put_svmlight

        if is_special(out):
            raise ParameterError(f"--out is {out}, which is not a file: the rows are to be written beside it.")
        path = out.with_name(f"{out.stem}-rows{'.svm' if self.names is None else '.csv'}")
        need_place(path, source)
        labels = [str(label) for label in self.labels.tolist()]
        with whole_file(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
            if self.names is None:
                put_svmlight(file, self.X, labels)
            else:
                put_csv(file, self.names, self.X, str(self.target), labels)
        return str(path)


def certifiable(
    source: str, target: str | None, drop: tuple[str, ...], options: dict[str, Any]
) -> tuple[Certifiable, list[str]]:
    """The table, and what was guessed about it; ``options`` say how the file is written, and what columns are."""
    guesses: list[str] = []
    memory, folder, keep = options.pop("memory"), options.pop("cache"), options.pop("keep", ())
    named = (*keep, *options.get("category", ()), *options.get("number", ()))
    if memory is None:
        found = _in_memory(source, target, drop, guesses, options)
        return found.only(_but_counters(found, named, guesses)), guesses
    found = _from_disk(source, target, drop, options, memory, folder)
    used = _but_counters(found, named, guesses)
    left = [name for name in found.names or () if name not in used]
    return _from_disk(source, target, (*drop, *left), options, memory, folder) if left else found, guesses


def _in_memory(
    source: str, target: str | None, drop: tuple[str, ...], guesses: list[str], options: dict[str, Any]
) -> Certifiable:
    if os.path.isfile(source) and not any(value not in (None, (), False) for value in options.values()):
        if source.endswith(SUFFIXES):
            return _svmlight(source, target, drop)
        header = comma_header(Path(source))
        if header is not None:
            found = _delimited(source, header, target, drop, guesses)
            if found is not None:
                return found
            guesses.clear()
    return _from_source(source, target, drop, guesses, options)


def _but_counters(found: Certifiable, named: tuple[str, ...], guesses: list[str]) -> list[str]:
    """The columns that do not count the rows, or were named; all of them where no other is left."""
    import numpy as np

    from separatrix.features.counters import counts_rows, reason

    names = found.names or []
    if not isinstance(found.X, np.ndarray):
        return names
    counting = {name: found.X[:, j] for j, name in enumerate(names) if name not in named and counts_rows(found.X[:, j])}
    if len(counting) == len(names):
        return names
    guesses += [f"{name!r} dropped: it {reason(own.min(), own.max(), name)}" for name, own in counting.items()]
    return [name for name in names if name not in counting]


def comma_header(path: Path) -> list[str] | None:
    """The names in the first record of comma-separated text; None where a file is something else."""
    from separatrix.data.delimited_table import DelimitedTable
    from separatrix.data.file_kinds import first_bytes, kind_of
    from separatrix.data.file_pieces import UTF16, gzipped
    from separatrix.data.reading_plan import Reading

    if gzipped(path) or kind_of(path) != "csv":
        return None
    start = first_bytes(path)
    if (
        start.startswith(UTF16)
        or b"\0" in start
        or DelimitedTable([path], path.name, Reading()).plan.delimiter not in ","
    ):
        return None
    text = start.decode("utf-8-sig", errors="replace")  # a quoted name may have line breaks
    return next(csv.reader(io.StringIO(text, newline="")), [])


def _svmlight(source: str, target: str | None, drop: tuple[str, ...]) -> Certifiable:
    from separatrix.data.sparse_text import read_libsvm

    _need_no_names(Path(source).name, target, drop)
    X, labels = read_libsvm(source, zero_based=False)
    return Certifiable(X, None, labels, None, file=source)


def _from_disk(
    source: str, target: str | None, drop: tuple[str, ...], options: dict[str, Any], memory: int, folder: Path | None
) -> Certifiable:
    """Rows on disk, mapped into memory, of a file that may be larger than memory."""
    from separatrix.cli.table_options import need_files, reading_of
    from separatrix.cluster.fit_from_disk import cached_source
    from separatrix.data.reading_plan import Reading
    from separatrix.features.column_encoders import NumberColumn
    from separatrix.features.encoder import Choices

    need_files(source)
    for flag in ("skip_missing_target", "category", "number"):
        if options[flag]:
            raise ParameterError(f"--{flag.replace('_', '-')} holds all rows in memory: leave it or --memory out.")
    reading = reading_of(options, Reading())
    found = cached_source(source, target, False, memory, folder, False, Choices(drop=drop), reading, None, True)
    rows, plain = found.rows, reading == Reading() and os.path.isfile(source)
    if found.encoder is None:
        return Certifiable(rows.X, None, found.y, None, rows.weights, source if plain and svmlight_of(source) else None)
    columns = [column for column in found.encoder.columns if isinstance(column, NumberColumn)]
    plain = plain and all(column.writing is None for column in columns) and comma_header(Path(source)) is not None
    names = [column.name for column in columns]
    return Certifiable(rows.X, names, found.y, found.target, rows.weights, source if plain else None)


def svmlight_of(source: str) -> bool:
    """Whether the checker reads a file as svmlight: by its name, with features counted from 1."""
    from separatrix.data.sparse_text import counts_from_zero

    return source.endswith(SUFFIXES) and not counts_from_zero(source)


def _need_no_names(name: str, target: str | None, drop: tuple[str, ...]) -> None:
    for option in ["--target"] * (target is not None) + ["--drop"] * bool(drop):
        raise DataError(f"{name} has no column names: leave {option} out.")


def _need_target(target: str | None, drop: tuple[str, ...]) -> None:
    if target in drop:
        raise ParameterError(f"--drop names {target!r}, which is the target: choose another --target, or keep it.")


def _delimited(
    source: str, header: list[str], target: str | None, drop: tuple[str, ...], guesses: list[str]
) -> Certifiable | None:
    """The rows of a file that the checker reads as every command does; None where it would not."""
    import numpy as np

    from separatrix.data.delimited_table import DelimitedTable
    from separatrix.data.frame import unknown_column
    from separatrix.data.number_writing import MISSING
    from separatrix.data.reading_plan import PLAIN, TEXT, Reading
    from separatrix.data.tasks import guess_target

    lower = [name.lower() for name in header]
    if len(set(lower)) < len(lower):
        return None
    path = Path(source)
    if target is None and header:
        target = guess_target(header, path.name, guesses)
    _need_target(target, drop)
    for name in (target or "", *drop):
        if name not in header:
            raise DataError(unknown_column(name, header, path.name))
    names = [name for name in header if name not in (target, *drop)]
    if not names:
        raise DataError(f"{path.name} has no column but the target {target!r}: there is nothing to learn from.")
    found = DelimitedTable([path], path.name, Reading(header=True, sep=","))
    numbers = found.plan.columns[header.index(str(target))] == PLAIN
    kinds = tuple(PLAIN if name in names or (name == target and numbers) else TEXT for name in found.plan.names)
    plan = replace(found.plan, columns=kinds, missing=(), missing_numbers=())
    try:
        frame = DelimitedTable([path], path.name, Reading(), plan).read([*names, str(target)])
    except DataError:
        return None  # a cell that is not a plain number: the table is encoded
    if frame is None:
        raise DataError(f"{path.name} has a header and no rows.")
    *inputs, column = frame.columns
    X = np.column_stack([own.values for own in inputs])
    if not np.isfinite(X).all() or column.missing.any() or set(column.values.tolist()) & {"", *MISSING}:
        return None
    labels = column.values if numbers else column.values.astype(str)
    return Certifiable(X, names, labels, target, file=source)


def _from_source(
    source: str, target: str | None, drop: tuple[str, ...], guesses: list[str], options: dict[str, Any]
) -> Certifiable:
    from separatrix.cli.table_options import open_table
    from separatrix.data.row_files import Matrix
    from separatrix.data.tasks import target_column, task_for
    from separatrix.features.encoder import Choices

    opened = open_table(source, options)
    if opened.rows is not None:
        _need_no_names(opened.name, target, drop)
    rest, column = target_column(opened, target, guesses)
    _need_target(column.name, drop)
    task = task_for(opened, rest, column, None, False, [])
    if isinstance(rest, Matrix):
        return _of_matrix(rest, task.y)
    chosen = Choices(category=options.get("category", ()), number=options.get("number", ()))
    X, names = numbers_of(rest.without(drop), guesses, chosen)
    return Certifiable(X, names, task.y, column.name)


def _of_matrix(matrix: Matrix, labels: Any) -> Certifiable:
    import numpy as np
    from scipy import sparse

    if sparse.issparse(matrix.X):
        X = sparse.csr_array(matrix.X)
        X.sort_indices()
        return Certifiable(X, None, labels, None, matrix.weights)
    names = [f"x{j}" for j in range(1, matrix.X.shape[1] + 1)]
    X = np.ascontiguousarray(matrix.X, dtype=np.float64)
    _need_finite(X, names, matrix.source)
    return Certifiable(X, names, labels, "label", matrix.weights)


def numbers_of(frame: Frame, guesses: list[str], chosen: Choices) -> tuple[Any, list[str]]:
    """The columns as an array and their names: as they are, or encoded where they are not all numbers and present."""
    import numpy as np

    from separatrix.features.encoder import WORDY_COLUMNS, Choices, Encoder, summary

    if not frame.columns:
        raise DataError(f"{frame.source} has no column but the target: there is nothing to learn from.")
    if chosen == Choices() and not any(own.kind in ("text", "date") or own.missing.any() for own in frame.columns):
        X = np.column_stack([column.values for column in frame.columns])
        _need_finite(X, frame.names, frame.source)
        return X, frame.names
    encoder = Encoder.fitted(frame, chosen)
    free = next((column.name for column in encoder.columns if isinstance(column, WORDY_COLUMNS)), None)
    if free is not None:
        raise DataError(
            f"column {free!r} of {frame.source} holds free text: leave it out (--drop), take its cells as levels "
            "(--category), or let separatrix audit encode it and certify the result."
        )
    X, noted = encoder.encode(frame)
    guesses += summary(encoder, noted)
    return np.ascontiguousarray(X if isinstance(X, np.ndarray) else X.toarray()), encoder.feature_names()


def _need_finite(X: Any, names: list[str], source: str) -> None:
    import numpy as np

    odd = np.argwhere(~np.isfinite(X))
    if len(odd):
        i, j = odd[0].tolist()
        what = "missing" if np.isnan(X[i, j]) else "infinite"
        raise DataError(
            f"column {names[j]!r} of {source} is {what} in row {i} (counted from 0): drop such rows or the "
            "column (--drop), or let separatrix audit fill it in and certify the result."
        )

"""The one place where a delimited text is guessed at: its delimiter, its header, and what each column is.

The first rows decide, with what the user or a model says. Columns of plain numbers are recognised by the native reader;
of the others the different cells are looked at.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.data.column_guesses import WHOLE, Guess, guess, settled
from separatrix.data.file_pieces import Bytes
from separatrix.data.number_writing import NO_VALUE
from separatrix.data.reading_plan import TEXT, Reading, TablePlan
from separatrix.errors import DataError

WINDOW = 1 << 20  # bytes that decide
DELIMITERS = ",;\t|"
ALIKE = 0.9  # share of lines with as many cells as the first, from which a delimiter is one
LINES = 2000  # that decide about the delimiter
CODE = re.compile(rb'(?:^|[,;\t|"\n]) ?0[0-9]')  # digits with a zero in front


def table_plan(start: bytes, whole: bool, name: str, reading: Reading) -> TablePlan:
    """The plan of a delimited text in UTF-8 that begins so; ``whole`` says that nothing follows."""
    start = start.removeprefix(b"\xef\xbb\xbf")
    _check_bytes(start, name)
    if not whole:
        start = start[: start.rfind(b"\n") + 1] or start
    lines = [line for line in start.decode("utf-8", "replace").split("\n", LINES)[:LINES] if line.strip()]
    delimiter = reading.sep or delimiter_of(lines) or ""
    quotes = not (delimiter == "\t" and _quotes_are_letters(lines))
    probe = TablePlan((), (), delimiter, quotes, missing=reading.missing)
    raw = np.frombuffer(start, dtype=np.uint8)
    first, behind = _first_row(raw, probe.reader())
    names = names_of(first)
    probe = replace(probe, names=tuple(names), columns=(TEXT,) * len(first))
    guesses = _guesses(probe, raw[behind:], reading)
    header = reading.header
    if header is None:
        given = {cell.strip() for cell in first}
        header = bool({*reading.known, *reading.named} & given) or _is_header(first, guesses, raw[behind:], probe)
    if not header:
        names = [f"column{j:0{len(str(len(first) - 1))}}" for j in range(len(first))]
        probe = replace(probe, names=tuple(names))
        guesses = _guesses(probe, raw, reading)
    columns, notes = settled(guesses, reading, delimiter)
    return replace(
        probe,
        columns=tuple(columns[own] for own in names),
        header=header,
        missing_numbers=tuple(reading.missing_numbers),
        broken=reading.broken,
        given=tuple(name for name, own in reading.columns if own.decided and reading.fitted),
        notes=(*(_name_notes(first, names) if header else ()), *notes),
        repeated=tuple(_repeated(first)) if header else (),
    )


def header_of(start: bytes, plan: TablePlan) -> int:
    """How many bytes of a text of this plan come before its first row."""
    mark = 3 if start.startswith(b"\xef\xbb\xbf") else 0
    if not plan.header:
        return mark
    return (
        mark + _first_row(np.frombuffer(start[mark:], dtype=np.uint8), replace(plan, names=(), columns=()).reader())[1]
    )


def _check_bytes(start: bytes, name: str) -> None:
    if not start.strip():
        raise DataError(f"{name} is empty: nothing to learn from.")
    if b"\0" in start:
        line = start[: start.index(b"\0")].count(b"\n") + 1
        raise DataError(f"{name} line {line} holds a NUL byte: it is damaged, or not text.")


def delimiter_of(lines: list[str]) -> str | None:
    """The delimiter that makes the most cells of the first line, and as many of all other lines or nearly all."""
    best, most = None, 1
    for mark in DELIMITERS:
        try:
            counts = [len(row) for row in csv.reader(lines, delimiter=mark)]
        except csv.Error:
            counts = [line.count(mark) + 1 for line in lines]
        if counts and counts[0] > most:
            alike = counts.count(counts[0])
            if alike >= ALIKE * len(counts) or alike >= len(counts) - 1:
                best, most = mark, counts[0]
    return best


def _quotes_are_letters(lines: list[str]) -> bool:
    """Whether lines of tab-separated text hold quote characters that do not pair up at the ends of cells."""
    return any(
        '"' in cell and not (cell.startswith('"') and cell.endswith('"') and len(cell) > 1)
        for line in lines
        if '"' in line
        for cell in line.rstrip("\r").split("\t")
    )


def _first_row(raw: Bytes, reader: Any) -> tuple[list[str], int]:
    """The cells of the first row, and where the second begins."""
    text, end = raw.tobytes(), 0
    while True:
        end = text.find(b"\n", end) + 1 or len(text)
        rows = reader.cells(raw[:end])
        if rows and (end == len(text) or reader.complete(raw[:end], 0) == end):
            return rows[0], end


def names_of(cells: Sequence[str]) -> list[str]:
    """A name of its own for every column: invented where a cell is empty, with a number behind it where it repeats."""
    given = [cell.strip().lower() for cell in cells]
    names, taken, before = [], {name for name in given if name}, set[str]()
    for j, cell in enumerate(cells):
        name = cell.strip()
        if not given[j] or given[j] in before:
            stem, k = name or f"column{j:0{len(str(len(cells) - 1))}}", 0
            name = stem
            while name.lower() in taken:
                k += 1
                name = f"{stem}_{k}"
            taken.add(name.lower())
        before.add(given[j])
        names.append(name)
    return names


def _repeated(cells: Sequence[str]) -> list[str]:
    before, out = set[str](), []
    for cell in map(str.strip, cells):
        out += [cell] if cell and cell.lower() in before else []
        before.add(cell.lower())
    return out


def _name_notes(cells: Sequence[str], names: Sequence[str]) -> list[str]:
    notes = [f"another column named {name!r} got a number behind its name" for name in _repeated(cells)]
    unnamed = [name for cell, name in zip(cells, names, strict=True) if not cell.strip()]
    if unnamed:
        listed, more = ", ".join(map(repr, unnamed[:5])), ", …" if len(unnamed) > 5 else ""
        several = "columns without a name are" if len(unnamed) > 1 else "a column without a name is"
        notes.append(f"{several} called {listed}{more}")
    return notes


def _is_header(first: list[str], guesses: Mapping[str, Guess], rest: Bytes, probe: TablePlan) -> bool:
    """Whether the first line names the columns: a cell of it does not fit the numbers or dates below it.

    In a table of text alone it is a row if one of its cells turns up again below.
    """
    if not len(rest):
        return not all(guess([cell]).kind == "number" for cell in first)
    typed = [(cell, own) for cell, own in zip(first, guesses.values(), strict=True) if own.kind in ("number", "date")]
    shown = [(cell, own) for cell, own in typed if cell.strip() and cell.strip() not in (*probe.missing, *NO_VALUE)]
    if shown:
        return any(guess([cell]).kind != own.kind and not guess([cell]).code for cell, own in shown)
    if typed:
        return True
    read = probe.reader().read(rest, 0, True)
    return not any(cell in levels for cell, levels in zip(first, read[2], strict=True))


def _guesses(probe: TablePlan, rows: Bytes, reading: Reading) -> dict[str, Guess]:
    """What the cells of each column are: plain numbers by the native reader, others by their different cells."""
    known = reading.known
    looked = [name for name in probe.names if name not in known or not known[name].decided]
    if not looked or not len(rows):
        return dict.fromkeys(probe.names, Guess("empty" if len(rows) == 0 else "text"))
    words = [word.encode() for word in probe.missing]
    plain = [(1 if name in set(looked) else 0, ".", "", "", "", words) for name in probe.names]
    read = kernels.TableText(probe.delimiter, probe.quotes, True, plain, list(reading.missing_numbers)).read(
        rows, 0, True
    )
    values, broken = read[0], dict(zip(probe.names, read[6], strict=True))
    codes = CODE.search(rows.tobytes()) is not None
    found = dict.fromkeys(probe.names, Guess("text"))
    cells: list[str] = []
    for k, name in enumerate(looked):
        column = values[:, k]
        there = ~np.isnan(column)
        if broken[name] or (codes and there.any()):
            cells.append(name)
        elif not there.any():
            found[name] = Guess("empty")
        else:
            point = bool(np.any(column[there] != np.floor(column[there])))
            found[name] = Guess("number", {".": WHOLE["."]} if point else WHOLE, point=point)
    if cells:
        read = probe.reader(cells).read(rows, 0, True)
        for j, name in enumerate(name for name in probe.names if name in set(cells)):
            codes, levels = read[1][:, j], read[2][j]
            counts = np.bincount(codes[codes >= 0], minlength=len(levels))
            found[name] = guess(levels, kind=known[name].kind if name in known else None, counts=counts.tolist())
    return found

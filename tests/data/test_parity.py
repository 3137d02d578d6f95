"""The same file means the same everywhere: at once, in partitions, as a stream, to a model, as Parquet and JSON.

Each messy table is read in every way; columns, kinds, missing cells and values are the same, or the sentence is.
"""

from __future__ import annotations

import gzip
import json
import re

import duckdb
import numpy as np
import pytest

from separatrix.cluster.partition_reading import loaded
from separatrix.cluster.partitions import partitions_of
from separatrix.cluster.rounds import LocalRounds
from separatrix.data.file_kinds import kind_of
from separatrix.data.frame import Frame, join
from separatrix.data.number_writing import MISSING, plain_number
from separatrix.data.reading_plan import ColumnPlan, Reading
from separatrix.data.sources import open_source
from separatrix.errors import DataError
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.least_squares.least_squares import LeastSquares
from separatrix.stream.table_formats import Columns, Csv, JsonLines

N = 40
AGES = [20 + 7 * i % 50 + (i % 4) / 4 for i in range(N)]
TOWNS = [("Köln", "Ulm", "Bonn", "Trier")[i * i % 4] for i in range(N)]
LABELS = [("yes", "no")[i * 7 % 3 % 2] for i in range(N)]


def table(columns, mark=",", end="\n", header=True):
    def quoted(cell):
        cell = str(cell)
        return '"' + cell.replace('"', '""') + '"' if {mark, '"', "\n"} & set(cell) else cell

    rows = zip(*columns.values(), strict=True)
    lines = [mark.join(map(quoted, columns))] * header + [mark.join(map(quoted, row)) for row in rows]
    return "".join(line + end for line in lines)


def usual(**more):
    return {"age": AGES, "town": TOWNS, **more, "y": LABELS}


def german(value, digits=2):
    return f"{value:,.{digits}f}".translate(str.maketrans(",.", ".,"))


DAYS = range(1, 29)
MANY = {f"c{j}": [j % 7 + i % 3 for i in range(4)] for j in range(5000)}
TABLES: dict[str, str | bytes] = {
    "plain": table(usual()),
    "semicolons": table(usual(), ";"),
    "tabs": table(usual(), "\t"),
    "bars": table(usual(), "|"),
    "decimal commas": table({"age": [german(v) for v in AGES], "n": range(N), "y": LABELS}, ";"),
    "decimal commas in quotes": table(usual(v=[german(v) for v in AGES])),
    "thousands": table(usual(v=[f"{1000 * v:,.2f}" for v in AGES])),
    "thousands points": table(usual(v=[german(1000 * v) for v in AGES]), ";"),
    "thousands spaces": table(usual(v=[f"{1000 * v:,.0f}".replace(",", "\u202f") for v in AGES])),
    "three digits": table(usual(v=[f"{1 + i % 7},{100 + i}" for i in range(N)])),
    "per cent": table(usual(v=[f"{v:.1f}%" for v in AGES])),
    "euros": table(usual(v=[f"{german(v)} €" for v in AGES]), ";"),
    "dollars": table(usual(v=[f"${1000 * v:,.2f}" for v in AGES])),
    "codes of currencies": table(usual(v=[f"CHF {v:.2f}" for v in AGES])),
    "two currencies": table(usual(v=[f"{'€$'[i % 2]}{v:.2f}" for i, v in enumerate(AGES)])),
    "byte order mark": b"\xef\xbb\xbf" + table(usual()).encode(),
    "latin-1": table(usual()).encode("latin-1"),
    "cp1252": table(usual(t=["“a”", "b"] * (N // 2))).encode("cp1252"),
    "utf-16": table(usual()).encode("utf-16"),
    "crlf": table(usual(), end="\r\n"),
    "mixed line ends": table(usual()).replace("\n", "\r\n", 5).replace("\r\n", "\n", 2),
    "no last line end": table(usual()).rstrip("\n"),
    "empty lines": table(usual()).replace("\n", "\n\n", 9),
    "quoted line ends": table(usual(t=["two\nlines" if i % 5 == 0 else 'a "b"' for i in range(N)])),
    "missing words": table(
        usual(v=[("NA", "N/A", "-", "?", "", "null", "None", "NaN", "#N/A", f"{i}.5")[i % 10] for i in range(N)])
    ),
    "a word among numbers": table(usual(v=["unknown" if i == 7 else i for i in range(N)])),
    "a word among dates": table(usual(v=["soon" if i == 7 else f"2020-01-{i % 28 + 1:02}" for i in range(N)])),
    "sentinels": table(usual(v=[-999 if i % 3 == 0 else i for i in range(N)])),
    "dates": table(usual(d=[f"2020-{i % 12 + 1:02}-{i % 28 + 1:02}" for i in range(N)])),
    "dates with points": table(usual(d=[f"{i % 28 + 1}.{i % 12 + 1}.2020" for i in range(N)])),
    "dates with the month first": table(usual(d=[f"{i % 12 + 1:02}/{i % 28 + 1:02}/2020 12:00 AM" for i in range(N)])),
    "dates with names": table(usual(d=[f"{i % 28 + 1} {('May', 'Jun', 'Jul')[i % 3]} 2020" for i in range(N)])),
    "dates with names first": table(usual(d=[f"{('May', 'Jun')[i % 2]} {i % 28 + 1}, 2020" for i in range(N)])),
    "dates of two digits": table(usual(d=[f"{i % 28 + 1:02}.{i % 12 + 1:02}.20" for i in range(N)])),
    "moments": table(usual(d=[f"2020-01-{i % 28 + 1:02}T{i % 24:02}:30:00+02:00" for i in range(N)])),
    "moments of fractions": table(usual(d=[f"2020-01-{i % 28 + 1:02} 10:00:{i % 60:02}.25" for i in range(N)])),
    "times": table(usual(d=[f"{i % 24:02}:{i % 60:02}" for i in range(N)])),
    "zeros in front": table(usual(zip=[f"0{1000 + i % 9}" for i in range(N)])),
    "row numbers": table(usual(id=range(1, N + 1))),
    "constants": table(usual(c=["same"] * N, k=[7] * N)),
    "an empty column": table(usual(gone=[""] * N)),
    "repeated and empty names": table(usual()).replace("age,town", "town,", 1),
    "no header": "".join(f"{i},{i / 3:.2f},{LABELS[i]}\n" for i in range(N)),
    "one row": "a,b,y\n1,x,yes\n",
    "no row": "a,b,y\n",
    "one class": table({"v": AGES, "y": ["yes"] * N}),
    "500 classes": table({"v": range(1000), "y": [f"c{i % 500}" for i in range(1000)]}),
    "one in a thousand": table({"v": range(2000), "y": ["yes" if i % 1000 == 7 else "no" for i in range(2000)]}),
    "free text": table(usual(t=[f"the {i}th word of many words, {i * i}" for i in range(N)])),
    "dirty labels": table({"v": AGES, "y": [("Yes", "YES", "Yes ", "no")[i % 4] for i in range(N)]}),
    "truth values": table(usual(flag=[("true", "false")[i % 2] for i in range(N)], t=["t", "f"] * (N // 2))),
    "5,000 columns": table({**MANY, "y": LABELS[:4]}),
    "a short row": table(usual()).replace("\n", "\n1\n", 3),
    "an open quote": table(usual()) + '1,"Ulm,no\n',
}


def parse(text):
    return text if isinstance(text, bytes) else text.encode()


def looks(frame: Frame):
    """Names, kinds and values, by which two readings are compared."""
    kinds = {"integer": "number"}
    return {
        c.name: (kinds.get(c.kind, c.kind), ["" if v is None or v != v else v for v in c.values.tolist()])
        for c in frame.columns
    }


def said(read, *words):
    """What comes of reading: the columns, or the sentence without its place."""
    try:
        return read(*words)
    except DataError as error:
        return re.sub(r"^.*?( line [\d,]+( of these)?:? | row \d+ \(counted from 0\): | has no rows.*)", "", str(error))


def at_once(path, reading):
    return looks(open_source(str(path), reading).read())


def in_partitions(path, reading, size):
    with LocalRounds(partitions_of(path, reading, size)) as rounds:
        loaded(rounds, reading, path.name)
        held = [part.table for _, part in sorted(rounds.worker.parts.items()) if part.table is not None]
    return looks(join(held))


def as_stream(path, reading, step):
    """As ``separatrix stream`` reads: a head that decides, and pieces of whole rows."""
    text = utf8(path)
    columns = Columns(target_of(path), reading=reading)
    kind = JsonLines if kind_of(path) == "json" else Csv
    made, at = kind.begun(text[: 1 << 20], True, path.name, columns)
    frames: dict[str, list] = {}
    while at < len(text):
        end = text.find(b"\n", min(len(text), at + step)) + 1 or len(text)
        piece = np.frombuffer(text[at:end], dtype=np.uint8)
        if kind is Csv and end < len(text):
            cut = made.complete(piece, len(text) - end)
            while not cut and end < len(text):
                end = text.find(b"\n", end) + 1 or len(text)
                piece = np.frombuffer(text[at:end], dtype=np.uint8)
                cut = made.complete(piece, len(text) - end) if end < len(text) else len(piece)
            piece = piece[:cut]
        at += len(piece)
        rows = made.parse(piece)
        if rows.rejects:
            raise DataError(f"x line 1: {rows.rejects[0].reason.removeprefix('the line ')}.")
        own = cells_of(rows, made)
        for name, values in own.items():
            frames.setdefault(name, []).extend(values)
    if not any(frames.values()):
        raise DataError(f"{path.name} has no rows.")
    return {name: (made.plans[name].kind, frames[name]) for name in made.plans if name in frames}


def cells_of(rows, made):
    target = made.columns.target
    labels = ["" if gone else v for v, gone in zip(rows.labels.tolist(), ~np.asarray(
        np.ones(rows.n, bool) if rows.labelled is None else rows.labelled), strict=True)]  # fmt: skip
    scale = {name: 86400.0 if made.plans[name].kind == "date" else 1.0 for name in made.plans}
    own = {target: labels}
    if rows.cells is not None:
        for name in made.plans:
            if name != target:
                own[name] = [
                    "" if (v := row.get(name)) is None else v * scale[name] if scale[name] > 1 else v
                    for row in rows.cells
                ]
        return own
    for j, name in enumerate(rows.numeric):
        own[name] = ["" if v != v else v for v in (rows.numbers[:, j] * scale[name]).tolist()]
    for j, name in enumerate(rows.words):
        own[name] = ["" if code < 0 else rows.levels[j][code] for code in rows.codes[:, j].tolist()]
    return own


def utf8(path):
    from separatrix.data.file_pieces import as_utf8, encoding_of, opened

    found = encoding_of(path, path.name)
    with opened(path if found is None else as_utf8(path, path.name, found)) as file:
        return file.read()


def target_of(path):
    return open_source(str(path)).columns[-1][0]


def by_a_model(path, reading):
    """As predict and evaluate read: by what the model keeps of the table that it was fitted on."""
    frame = open_source(str(path), reading).read()
    kept = [c.name for c in frame.columns if not c.missing.all()]
    encoder = Encoder.fitted(
        Frame(tuple(frame[name] for name in kept), frame.n, frame.source),
        Choices(keep=tuple(kept), category=tuple(c.name for c in frame.columns if c.name in kept and c.kind == "text")),
    )
    model = TableModel(LeastSquares(), encoder, None, None, {"na": list(reading.na)})
    again = join([own for own, _ in open_source(str(path), model.reading).frames(encoder.inputs)])
    return looks(again), {name: looks(frame)[name] for name in encoder.inputs}


def same(one, other):
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert list(one) == list(other)
    for name, (kind, values) in one.items():
        assert other[name][0] == kind, name
        close = kind == "date"
        assert other[name][1] == (pytest.approx(values, abs=1e-6) if close and "" not in values else values), name


LARGE = ("5,000 columns", "500 classes", "one in a thousand")
READINGS = {"sentinels": Reading(na=("-999",))}


@pytest.mark.parametrize("name", TABLES)
def test_a_messy_table_means_the_same_everywhere(name, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(parse(TABLES[name]))
    reading = READINGS.get(name, Reading())
    whole = said(at_once, path, reading)
    same(whole, said(in_partitions, path, reading, 1 << 26))
    if name not in ("utf-16", *LARGE):  # characters of two bytes are not cut
        same(whole, said(in_partitions, path, reading, 700))
    for step in (1 << 20, *((90,) if name not in LARGE else ())):
        streamed = said(as_stream, path, reading, step)
        if isinstance(streamed, dict):
            streamed = {own: streamed[own] for own in whole}
            labels = list(whole)[-1]
            kind, values = streamed[labels]
            assert values == whole[labels][1]
            streamed[labels] = whole[labels] if kind == whole[labels][0] else streamed[labels]
        same(whole, streamed)
    if isinstance(whole, dict) and name not in ("5,000 columns", "one row"):
        again, once = by_a_model(path, reading)
        same(once, again)
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    same(whole, said(at_once, packed, reading))


UNTYPED = ("5,000 columns", "no row", "a short row", "an open quote", "latin-1", "cp1252", "utf-16", "no header",
           "repeated and empty names", "a word among numbers", "a word among dates", "two currencies",
           "an empty column")  # fmt: skip
TYPED = [name for name in TABLES if name not in UNTYPED]


@pytest.mark.parametrize("name", TYPED)
def test_parquet_and_json_lines_mean_what_the_text_means(name, tmp_path):
    """Plain numbers have their type there; other cells are stored as they are written."""
    path = tmp_path / "t.csv"
    path.write_bytes(parse(TABLES[name]))
    reading = READINGS.get(name, Reading())
    source = open_source(str(path), reading)
    whole, plan = looks(source.read()), source.table.plan
    cells = next(iter(source.table.frames([], "cells")))[1]
    stored = {
        own: [None if v is None or v.strip() in (*reading.missing,) else float(v) for v in column]
        if plain(column, kind) else column
        for own, kind, column in zip(plan.names, plan.columns, cells, strict=True)
    }  # fmt: skip
    rows = [dict(zip(stored, row, strict=True)) for row in zip(*stored.values(), strict=True)]
    lines = tmp_path / "t.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    types = {
        own: "DOUBLE" if any(isinstance(v, float) for v in column) else "VARCHAR" for own, column in stored.items()
    }
    listed = ", ".join(f"'{own}': '{kind}'" for own, kind in types.items())
    read = f"read_json('{lines}', format='newline_delimited', columns={{{listed}}})"
    duckdb.sql(f"COPY (SELECT * FROM {read}) TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    same(whole, at_once(tmp_path / "t.parquet", reading))
    if name not in ("dates", "moments", "moments of fractions", "times"):  # DuckDB knows these in JSON by itself
        same(whole, at_once(lines, reading))
    streamed = as_stream(lines, reading, 1 << 20)
    for own, (kind, values) in whole.items():
        if own in streamed:
            assert streamed[own][0] == kind, own
            assert streamed[own][1] == (pytest.approx(values, abs=1e-6) if kind == "date" else values), own


def plain(cells, kind: ColumnPlan):
    return kind.kind == "number" and all(v is None or v in MISSING or plain_number(v) is not None for v in cells)

"""Check a certificate against the table that it is about, in exact arithmetic.

    python checker.py certificate.json table.csv [--target NAME] [--plain]
    python checker.py certificate.json               # one that carries its rows

This file needs nothing but Python: copy it anywhere. Where numpy can be imported, signs and fingerprints of all rows
are worked out by columns; with --plain row by row, with the same result. It trusts neither the certificate nor the
program that wrote it. It prints "proved: ..." and exits with 0; or "not proved: ...", with the first thing that is
wrong, and exits with 1; or says on standard error what could not be read or written, and exits with 2.

[L1] to [L20] are the lemmas of docs/certificates.md, [S] and [C] its rules on scope and cost. A mark stands beside
the line that checks a hypothesis of that lemma.

Notation: row i of the table is x_i. Between two groups of classes, z_i = y_i (x_i, 1), y_i = +1 or -1, without the
1 where there is no intercept. In Kesler's construction [L14] a row of class c gives for each other class k a row z
with (x_i, 1) in block c and -(x_i, 1) in block k; the last class has no block. p is the length of z.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import os
import re
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, compress, islice, pairwise
from operator import mul
from typing import Any

numpy: Any = None
with suppress(ImportError):  # it is quicker with numpy, and does without
    import numpy

FORMAT = "separability-certificate/3"
BLOCK = 4096  # rows that a node of the fingerprint stands for, where parts of a table are hashed apart
AT_ONCE = 1 << 15  # cells that numpy works on at once: they stay near the processor
TOGETHER = 1024  # lines of a file that are read together
MOST_DIGITS = 1100  # of a decimal, and its largest exponent
ZERO, POSITIVE, NEGATIVE, UNUSED, OPEN = range(5)  # signs of rows, in bytes
ALL_OPEN = bytes([OPEN, OPEN, OPEN, UNUSED, OPEN, *range(5, 256)])
INDEX_ONLY = 40  # a witness of more rows must carry its weights
MOST_COLUMNS = 1 << 31
ROUNDED_TO = 20, 44, 100, 1000  # bits of the entries of vectors whose rank is looked for
TRIM = 48  # columns after which packed rows lose those that are done
MOST_BITS = 4096  # of the integers of a short circulation, and the largest exponent [C5]
MOST_WORK = 1 << 33  # steps of about a nanosecond
PER_NUMBER, PER_CHARACTER = 1 << 11, 1 << 10  # more steps for each number of the table and character of a proof
ROW_TEXT = 1 << 6  # characters that a row of a witness counts as, beside those of its weight
PER_CUBE, MOST_FACTORED = 8, 2500  # more steps for each column cubed, of a table of so many columns and rows
MOST_FOR_TEXT = 1 << 33  # more steps for the characters of a proof, however many there are
MOST_TEXT = 1 << 27  # characters of a file
MOST_NESTING = 200  # objects and lists inside each other
STEP, WORD, HELD = 1 << 7, 4, 1 << 7  # steps of an operation, of a product of words of 64 bits, of a word that is kept
STRICTLY = "strictly on their correct sides", "strictly on its correct side"
DIGITS, HASH = re.compile("0|[1-9][0-9]{0,18}"), re.compile("[0-9a-f]{64}")
MOST_WORDS = 128  # of 64 bits, of a decimal times a power of ten
DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
NUMBER = re.compile(r"(-?)0x([0-9a-f]+)(?:/0x([0-9a-f]+)|(?:\.([0-9a-f]+))?p([+-]?[0-9]{1,4}))?")

Key = int | tuple[int, int]  # of a row z: its row number; with Kesler's construction also the other class
Sparse = dict[int, int]  # a vector of integers


class Rejected(Exception):
    """The certificate does not prove its claim."""


class NotShown(Rejected):
    """A factorisation does not show that eigenvalues are above a bound."""


def need(condition: bool, why: str) -> None:
    if not condition:
        raise Rejected(why)


# ---- The table --------------------------------------------------------------------------------------------------


@dataclass
class ExactTable:
    """Rows by their classes and cells: dense, or sparse with ``starts`` and ``places``.

    ``codes`` are positions in ``labels``. ``values`` are the doubles: n lists of d cells, one after the other, or the
    cells that are stored. In the decimal reading ``whole`` are the same cells as integers, 10^places times the decimal,
    with the ``places`` of each column in ``scales``. Arrays of numpy are checked by whole columns, others row by row.
    """

    d: int
    labels: list[str]
    codes: Any
    values: Any
    starts: Any = None
    places: Any = None
    scales: list[int] | None = None
    whole: Any = None
    columns: list[str] | None = None
    target: str | None = None
    name: str = "given"
    unused: tuple[str, ...] = ()  # other columns of the file
    complete: bool = True  # whether all rows are there

    @property
    def n(self) -> int:
        return len(self.codes)

    @property
    def fast(self) -> bool:
        return numpy is not None and isinstance(self.values, numpy.ndarray)

    def code(self, i: int) -> int:
        return int(self.codes[i])

    def span(self, i: int) -> tuple[int, int]:
        return (i * self.d, i * self.d + self.d) if self.starts is None else (self.starts[i], self.starts[i + 1])

    def cells(self, i: int) -> list[float]:
        """The cells of a row that are stored, as doubles."""
        if self.fast and self.starts is None:
            return list(self.values[i].tolist())
        return list(self.values[slice(*self.span(i))].tolist())

    def row(self, i: int) -> tuple[list[int], list[float]]:
        """The columns and the values of the non-zeros of a row."""
        start, end = self.span(i)
        every = range(self.d) if self.starts is None else self.places[start:end].tolist()
        cells = self.cells(i)
        keep = cells if self.scales is None else self.integers(i)
        return list(compress(every, keep)), list(compress(cells, keep))

    def integers(self, i: int) -> list[int]:
        """The cells of a row that are stored, times the powers of ten of their columns."""
        return list(map(int, self.whole[slice(*self.span(i))]))

    def stored(self) -> int:
        """How many cells are stored."""
        return self.n * self.d if self.starts is None else len(self.values)

    def spread(self) -> list[int]:
        """The least and the greatest binary exponent of the non-zeros and 1."""
        low = high = 1.0
        for part in self.blocks() if self.fast else ():
            sizes = numpy.abs(part)
            high = max(high, float(sizes.max(initial=0.0)))
            least = float(sizes.min(initial=1.0))
            low = min(low, least or float(sizes[sizes > 0].min(initial=1.0)))
        for start in range(0, 0 if self.fast else len(self.values), BLOCK):
            some = list(filter(None, map(abs, self.values[start : start + BLOCK])))
            low, high = min([low, *some]), max([high, *some])
        return [math.frexp(low)[1], math.frexp(high)[1]]

    def blocks(self) -> Iterator[Any]:
        """Arrays of doubles that hold all cells stored."""
        step = max(1, AT_ONCE // max(1, self.d)) if self.starts is None else AT_ONCE
        for start in range(0, len(self.values), step):
            yield numpy.asarray(self.values[start : start + step], dtype=numpy.float64)

    def column_words(self) -> list[list[int]] | None:
        """For each column of decimals its places, and the words of 64 bits that hold its integers."""
        if self.scales is None:
            return None
        if self.fast and not isinstance(self.whole, list):
            return [[k, 1] for k in self.scales]
        longest = [0] * self.d
        for i in range(self.n):
            start, end = self.span(i)
            every = range(self.d) if self.starts is None else self.places[start:end]
            for j, v in zip(every, self.whole[start:end], strict=True):
                longest[j] = max(longest[j], v.bit_length())
        return [[k, bits // 64 + 1] for k, bits in zip(self.scales, longest, strict=True)]


def label_name(text: object) -> str:
    """Name a class: '+1', '1' and '1.0' are the same one."""
    name = str(text).strip()
    if not DECIMAL.fullmatch(name):
        return name
    value = float(name)
    if abs(value) >= 2**53:
        raise ValueError(f"the label {name[:40]} is not below 2^53, where different numbers read as one: use text")
    return repr(value or 0.0).removesuffix(".0")


def finite_numbers(texts: list[str]) -> list[float]:
    values, together = list(map(float, texts)), "".join(texts)
    if not (together.isascii() and "_" not in together and all(map(math.isfinite, values))):
        wrong = next(t for t in texts if not t.isascii() or "_" in t or not math.isfinite(float(t)))
        raise ValueError(f"{wrong[:40]!r} is not a finite number")
    return values


def decimal_cell(text: str) -> tuple[int, int]:
    """The integer m and the exponent e of a decimal m 10^e, m no multiple of ten, of a finite number's text."""
    mantissa, _, power = text.strip().lower().partition("e")
    before, _, fraction = mantissa.partition(".")
    if len(mantissa) > MOST_DIGITS or len(power) > 5 or abs(int(power or "0")) > MOST_DIGITS:
        raise ValueError(f"{text[:40]!r} has more than {MOST_DIGITS} digits")
    digits = (before + fraction).rstrip("0")
    if digits in ("", "+", "-") or not int(digits):
        return 0, 0
    return int(digits), int(power or "0") - len(fraction) + len(before + fraction) - len(digits)


class Gathered:
    """Rows on their way into a table; numbers in the order of their columns."""

    def __init__(self, exact: bool) -> None:
        self.exact = exact
        self.values, self.codes, self.labels = array("d"), array("Q"), dict[str, int]()
        self.texts: list[tuple[int, int]] = []  # decimals
        self.names = dict[str, int]()  # of classes as they are written

    def add(self, labels: list[str], cells: list[str], values: list[float]) -> None:
        for label in set(labels) - self.names.keys():
            self.names[label] = self.labels.setdefault(label_name(label), len(self.labels))
        self.codes.extend(map(self.names.__getitem__, labels))
        self.values.extend(values)
        if self.exact:
            self.texts.extend(map(decimal_cell, cells))

    def table(self, d: int, plain: bool, starts: Any = None, places: Any = None, **more: Any) -> ExactTable:
        codes: Any = self.codes
        values: Any = self.values
        if not plain and numpy is not None:
            codes = numpy.array(codes, dtype=numpy.int64)
            values = numpy.array(values, dtype=numpy.float64)
            if starts is None:
                values = values.reshape(-1, d)
            else:
                starts, places = numpy.array(starts, dtype=numpy.int64), numpy.array(places, dtype=numpy.int64)
        scales = whole = None
        if self.exact:
            at = list(range(d)) * len(codes) if starts is None else places
            scales, whole = scaled_decimals(self.texts, at, d)
        return ExactTable(d, list(self.labels), codes, values, starts, places, scales, whole, **more)


def scaled_decimals(cells: Sequence[tuple[int, int]], columns: Iterable[int], d: int) -> tuple[list[int], list[int]]:
    """The places of each column, and each decimal times the power of ten of its column."""
    columns, scales = list(columns), [0] * d
    for j, (_, e) in zip(columns, cells, strict=True):
        scales[j] = max(scales[j], -e)
    return scales, [m * 10 ** (e + scales[j]) for j, (m, e) in zip(columns, cells, strict=True)]


def read_table(
    path: str, target: str | None, columns: list[str] | None, reading: str = "binary64", plain: bool = False
) -> ExactTable:
    """Read svmlight or, by any other name, comma-separated text with a header."""
    gathered = Gathered(reading == "decimal")
    with open(path, newline="", encoding="utf-8-sig") as file:
        if path.endswith((".svm", ".svmlight", ".libsvm")):
            return read_svmlight(path, file, gathered, plain)
        return read_csv(path, file, target, columns, gathered, plain)


def column_number(text: str) -> int:
    value = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= value <= MOST_COLUMNS:
        raise ValueError(f"{text[:40]!r} is not the number of a column, 1 to {MOST_COLUMNS}")
    return value


def read_svmlight(path: str, lines: Iterable[str], gathered: Gathered, plain: bool) -> ExactTable:
    starts, places, d = array("Q", [0]), array("Q"), 0
    for number, line in enumerate(lines, 1):
        if words := line.partition("#")[0].split():
            try:
                pairs = [word.split(":") for word in words[1:]]
                columns = array("Q", [column_number(column) - 1 for column, _ in pairs])
                if not all(a < b for a, b in pairwise(columns)):
                    raise ValueError("the columns do not ascend")
                cells = [value for _, value in pairs]
                gathered.add([words[0]], cells, finite_numbers(cells))
            except ValueError as error:
                raise ValueError(f"{path} line {number}: {error}") from None
            places.extend(columns)
            starts.append(len(places))
            d = max([d, *(column + 1 for column in columns[-1:])])
    return gathered.table(d, plain, starts, places, name=path)


def csv_records(lines: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    """The records of comma-separated text, each with the number of its last line; empty lines give none."""
    number, most = 0, csv.field_size_limit()
    for line in lines:
        if '"' not in line and len(line) <= most:
            text, number = line.rstrip("\r\n"), number + 1
            cells = text.split(",") if text else []
        else:  # from the first cell with a quotation mark on, cells may have commas and line breaks
            start = line.rfind(",", 0, line.index('"')) + 1 if len(line) <= most else 0
            reader = csv.reader(chain([line[start:]], lines))
            cells = line[:start].split(",")[:-1] + next(reader)
            number += reader.line_num
        if cells:
            yield number, cells


def read_csv(
    path: str, lines: Iterator[str], target: str | None, columns: list[str] | None, gathered: Gathered, plain: bool
) -> ExactTable:
    before, header = next(csv_records(lines), (0, []))
    if len(set(header)) < len(header):
        raise ValueError(f"{path}: a column name occurs twice in the header")
    if target is None:
        raise ValueError(f"{path}: the certificate does not name the target: use --target")
    columns = [name for name in header if name != target] if columns is None else columns
    for name in [target, *columns]:
        if name not in header:
            raise ValueError(f"{path} has no column {shown(name)}")
    chosen, label = [header.index(name) for name in columns], header.index(target)
    while some := list(islice(lines, TOGETHER)):
        text = "".join(some)
        if '"' in text:  # a cell may go on in later lines
            some, text = [*some, *lines], ""
        if text and plain_lines(some, text, len(header), chosen, label, gathered):
            before += len(some)
            continue
        for number, cells in csv_records(iter(some)):
            try:
                if len(cells) != len(header):
                    raise ValueError(f"it has {len(cells)} cells, the header {len(header)}")
                numbers = [cells[k] for k in chosen]
                gathered.add([cells[label]], numbers, finite_numbers(numbers))
            except ValueError as error:
                raise ValueError(f"{path} line {before + number}: {error}") from None
        before += len(some)
    unused = tuple(name for name in header if name != target and name not in set(columns))
    return gathered.table(len(columns), plain, columns=columns, target=target, name=path, unused=unused)


def plain_lines(lines: list[str], text: str, width: int, chosen: list[int], label: int, gathered: Gathered) -> bool:
    """Take lines without quotation marks together, if nothing is wrong with them; else each is looked at."""
    if not text.isascii() or "_" in text or any(line.count(",") != width - 1 for line in lines):
        return False
    cells = text.replace("\r\n", ",").replace("\n", ",").replace("\r", ",").split(",")
    if len(cells) == width * len(lines) + 1:
        del cells[-1]
    if len(cells) != width * len(lines):
        return False
    labels = cells[label::width]
    if chosen == [k for k in range(width) if k != label]:
        del cells[label::width]
    else:
        cells = [cells[at + k] for at in range(0, len(cells), width) for k in chosen]
    try:
        values = list(map(float, cells))
        if math.isfinite(sum(values)) and max(map(len, cells), default=0) <= csv.field_size_limit():
            gathered.add(labels, cells, values)
            return True
    except ValueError:
        pass
    return False


# ---- Fingerprints: a tree of hashes over the rows [S4] ------------------------------------------------------------


def rows_of_leaf(d: int) -> int:
    """How many rows a leaf has: a power of two, 8 where they are short."""
    return int(max(1, min(8, 256 >> (d + 1).bit_length())))


def row_bytes(table: ExactTable, i: int, number: Sequence[int], words: list[list[int]] | None) -> bytes:
    """The class, the number of non-zeros k, and the cells: all of them if 2k >= d, else the non-zeros by column."""
    columns, values = table.row(i)
    k, head = len(columns), struct.pack("<QQ", number[table.code(i)], len(columns))
    if words is None:
        if 2 * k < table.d:
            return head + b"".join(struct.pack("<Qd", j, v) for j, v in zip(columns, values, strict=True))
        cells = values if k == table.d else [0.0] * table.d
        if k < table.d:
            for j, v in zip(columns, values, strict=True):
                cells[j] = v
        return head + struct.pack(f"<{table.d}d", *cells)
    whole = [v for v in table.integers(i) if v]
    if 2 * k < table.d:
        pairs = zip(columns, whole, strict=True)
        return head + b"".join(
            struct.pack("<Q", j) + v.to_bytes(8 * words[j][1], "little", signed=True) for j, v in pairs
        )
    place = dict(zip(columns, whole, strict=True))
    return head + b"".join(place.get(j, 0).to_bytes(8 * words[j][1], "little", signed=True) for j in range(table.d))


def leaves(table: ExactTable, number: Sequence[int], first: int = 0) -> list[bytes]:
    """The hashes of the leaves of a table, or of a part that begins at the row `first` of a table."""
    words, each = table.column_words(), rows_of_leaf(table.d)
    if table.fast and (words is None or not isinstance(table.whole, list)):
        return fast_leaves(table, number, first)
    hashes = []
    for start in range(0, table.n, each):
        rows = [row_bytes(table, i, number, words) for i in range(start, min(start + each, table.n))]
        hashes.append(leaf_hash((first + start) // each, rows))
    return hashes


def leaf_hash(leaf: int, rows: list[bytes]) -> bytes:
    return hashlib.sha256(struct.pack("<Q", leaf) + b"".join(rows)).digest()


def fast_leaves(table: ExactTable, number: Sequence[int], first: int) -> list[bytes]:
    """The same for arrays of numpy, many rows at once."""
    d, each = table.d, rows_of_leaf(table.d)
    hashes: list[bytes] = []
    codes = numpy.asarray(number, dtype="<u8")[numpy.asarray(table.codes, dtype=numpy.intp)]
    step = max(each, AT_ONCE // (d + 2) // each * each)
    for start in range(0, table.n, step):
        end = min(start + step, table.n)
        if table.starts is None:
            X = table.values[start:end] if table.scales is None else table.whole.reshape(-1, d)[start:end]
            X = numpy.asarray(X, dtype="<f8") + 0.0 if table.scales is None else numpy.asarray(X, dtype="<i8")
            held = X != 0
            count = held.sum(axis=1)
            if (2 * count >= d).all() and not (end - start) % each:  # leaves of the same length
                words = numpy.empty(((end - start) // each, 1 + each * (d + 2)), dtype="<u8")
                words[:, 0] = numpy.arange((first + start) // each, (first + end) // each)
                lines = numpy.empty((end - start, d + 2), dtype="<u8")
                lines[:, 0], lines[:, 1], lines[:, 2:] = codes[start:end], count, X.view("<u8")
                words[:, 1:] = lines.reshape(len(words), -1)
                view, size = memoryview(words).cast("B"), 8 * words.shape[1]
                hashes += [hashlib.sha256(view[k : k + size]).digest() for k in range(0, len(view), size)]
                continue
            at, columns = numpy.nonzero(held)
            cells = X[at, columns].view("<u8")
        else:
            low, high = int(table.starts[start]), int(table.starts[end])
            cells = table.values[low:high] if table.scales is None else table.whole[low:high]
            cells = numpy.asarray(cells, dtype="<f8" if table.scales is None else "<i8")
            lengths = numpy.diff(numpy.asarray(table.starts[start : end + 1], dtype=numpy.int64))
            at, columns = numpy.repeat(numpy.arange(end - start), lengths), numpy.asarray(table.places[low:high])
            held = cells != 0
            at, columns, cells = at[held], columns[held], cells[held].view("<u8")
            count = numpy.bincount(at, minlength=end - start)
        full = 2 * count >= d
        sizes = 2 + numpy.where(full, d, 2 * count)
        heads = numpy.arange(end - start) % each == 0
        ends = numpy.cumsum(sizes + heads)
        begin = ends - sizes
        words = numpy.zeros(int(ends[-1]), dtype="<u8")
        words[begin[heads] - 1] = numpy.arange((first + start) // each, (first + start) // each + int(heads.sum()))
        words[begin], words[begin + 1] = codes[start:end], count
        rank = numpy.arange(len(at)) - numpy.repeat(numpy.cumsum(count) - count, count)
        dense = full[at]
        words[(begin[at] + 2 + columns.astype(numpy.int64))[dense]] = cells[dense]
        pairs = (begin[at] + 2 + 2 * rank)[~dense]
        words[pairs], words[pairs + 1] = columns[~dense], cells[~dense]
        view, bounds = memoryview(words).cast("B"), [*(8 * (begin[heads] - 1)).tolist(), 8 * int(ends[-1])]
        hashes += [hashlib.sha256(view[a:b]).digest() for a, b in pairwise(bounds)]
    return hashes


def parents(hashes: list[bytes], level: int, first: int = 0) -> list[bytes]:
    """The nodes above; the last one goes up as it is where it has no neighbour."""
    pairs = zip(hashes[::2], hashes[1::2], strict=False)
    above = [
        hashlib.sha256(struct.pack("<Q", level << 56 | k) + a + b).digest() for k, (a, b) in enumerate(pairs, first)
    ]
    return above + hashes[len(hashes) // 2 * 2 :]


def block_digest(table: ExactTable, number: Sequence[int], first: int) -> bytes:
    """The node above the rows of a part that begins at row `first`, a multiple of BLOCK, and has at most BLOCK rows."""
    each, hashes = rows_of_leaf(table.d), leaves(table, number, first)
    for level in range(1, (BLOCK // each).bit_length()):
        hashes = parents(hashes, level, first // each >> level)
    return hashes[0]


def top_node(hashes: list[bytes], level: int = 1) -> bytes:
    """The top of the tree above these nodes, which are all those of the level before."""
    while len(hashes) > 1:
        hashes, level = parents(hashes, level), level + 1
    return hashes[0]


def joined_fingerprint(told: dict[str, Any], digests: list[bytes]) -> str:
    """The fingerprint of a table whose blocks of rows were hashed apart."""
    return fingerprint(told, top_node(digests, (BLOCK // rows_of_leaf(told["d"])).bit_length()))


def fingerprint(told: dict[str, Any], top: bytes) -> str:
    """Hash the description of the table with the top of the tree of its rows [S4]."""
    names = "n", "d", "columns", "target", "classes", "reading", "exponents", "decimals"
    text = json.dumps([told.get(name) for name in names], ensure_ascii=True, separators=(",", ":"))
    head = hashlib.sha256(text.encode("ascii")).digest()
    return hashlib.sha256(struct.pack("<Q", 255 << 56) + head + top).hexdigest()


@dataclass
class CarriedRows(ExactTable):
    """The rows that a certificate carries; ``at`` gives their positions among them."""

    at: dict[int, int] | None = None
    complete: bool = False

    def position(self, i: int) -> int:
        need(self.at is not None and i in self.at, f"row {i} is not among those that the certificate carries")  # [S6]
        return (self.at or {})[i]

    def code(self, i: int) -> int:
        return super().code(self.position(i))

    def span(self, i: int) -> tuple[int, int]:
        return super().span(self.position(i))


def carried_rows(content: dict[str, Any]) -> CarriedRows:
    """The rows of a portable certificate, all of them under its fingerprint [S6].

    ``rows`` are the leaves opened, each by its number with its rows: a class number, and the cells as text, those that
    are not zero by their column. ``path`` are the hashes of their neighbours, level by level, from the left.
    """
    told, given, path = content["data"], content["rows"], content["path"]
    need(type(told) is dict and type(told["n"]) is int and type(told["d"]) is int, "the size of the table is missing")
    n, d, decimal = told["n"], told["d"], told["reading"] == "decimal"
    need(0 < n < 1 << 48 and 0 < d <= MOST_COLUMNS, "the size of the table is impossible")
    classes = distinct_names(told["classes"], "classes")
    each = rows_of_leaf(d)
    count = -(-n // each)
    need(type(given) is dict and len(given) > 0, "it carries no rows")
    need(type(path) is list and all(type(text) is str and HASH.fullmatch(text) for text in path), "a hash is malformed")
    numbers = sorted((int(text), text) for text in given if DIGITS.fullmatch(text))
    need(len(numbers) == len(given) and numbers[-1][0] < count, "a leaf does not exist")
    gathered, at = Gathered(decimal), dict[int, int]()
    starts, places = array("Q", [0]), array("Q")
    for leaf, text in numbers:
        rows = given[text]
        need(type(rows) is list and len(rows) == min(each, n - leaf * each), "a leaf lacks rows, or has too many")
        for k, (code, cells) in enumerate(rows):
            need(type(code) is int and 0 <= code < len(classes), "the class of a row does not exist")
            if type(cells) is list:
                need(len(cells) == d, "a row lacks cells, or has too many")
                columns, texts = list(range(d)), cells
            else:
                need(all(map(DIGITS.fullmatch, cells)), "a column is not a number")
                columns, texts = list(map(int, cells)), list(cells.values())
                need(all(a < b for a, b in pairwise([-1, *columns, d])), "the columns of a row do not ascend")
            need(all(type(cell) is str and DECIMAL.fullmatch(cell) for cell in texts), "a cell is not a number")
            gathered.codes.append(code)
            gathered.values.extend(finite_numbers(texts))
            gathered.texts.extend(map(decimal_cell, texts) if decimal else ())
            places.extend(columns)
            starts.append(len(places))
            at[leaf * each + k] = len(at)
    table = CarriedRows(d, classes, gathered.codes, gathered.values, starts, places, at=at)
    table.columns, table.target, table.name = told["columns"], told.get("target"), ""
    words = None
    if decimal:
        words = told["decimals"]
        need(type(words) is list and len(words) == d, "the places of the decimals are missing")
        need(all(0 <= k <= 2 * MOST_DIGITS and 1 <= v <= MOST_WORDS for k, v in words), "the places are impossible")
        table.scales = [k for k, _ in words]
        pairs = list(zip(places, gathered.texts, strict=True))
        need(all(e + table.scales[j] >= 0 for j, (_, e) in pairs), "a decimal has more places than its column")
        table.whole = [m * 10 ** (e + table.scales[j]) for j, (m, e) in pairs]
    hashes = {}
    for leaf, _ in numbers:
        rows_of = range(leaf * each, min(n, (leaf + 1) * each))
        hashes[leaf] = leaf_hash(leaf, [row_bytes(table, i, range(len(classes)), words) for i in rows_of])
    top = top_from(hashes, count, [bytes.fromhex(text) for text in path])
    need(told["sha256"] == fingerprint(told, top), "the rows are not those of the table with its fingerprint")  # [S6]
    return table


def top_from(hashes: dict[int, bytes], count: int, path: list[bytes]) -> bytes:
    """The top of a tree of so many leaves, from some of them and the hashes beside their ways up [S6]."""
    level, rest = 1, iter(path)
    while count > 1:
        above: dict[int, bytes] = {}
        for k in sorted(hashes):
            if k >> 1 in above:
                continue
            left, right = k & ~1, k | 1
            if right == count:  # without a neighbour
                above[k >> 1] = hashes[k]
                continue
            pair = [hashes.get(side) or next(rest, b"") for side in (left, right)]
            above[k >> 1] = hashlib.sha256(struct.pack("<Q", level << 56 | k >> 1) + pair[0] + pair[1]).digest()
        hashes, count, level = above, (count + 1) // 2, level + 1
    need(next(rest, None) is None, "there are more hashes than needed")
    return hashes[0]


# ---- Scope: what a claim is about [S] ---------------------------------------------------------------------------


def shown(value: object) -> str:
    """Quote a name from a file, without control characters and not at full length."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(names: list[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + more


def plural(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def distinct_names(value: Any, what: str) -> list[str]:
    need(type(value) is list and len(value) > 0, f"the list of {what} is missing or empty")
    need(all(type(name) is str for name in value), f"one of the {what} is not text")
    need(len(set(value)) == len(value), f"one of the {what} is named twice")
    return list(value)


class Meter:
    """Work allowed for one file; it is counted before it is done [C]."""

    def __init__(self) -> None:
        self.left, self.for_text = MOST_WORK, MOST_FOR_TEXT

    def read(self, characters: int) -> None:
        """More work for a longer proof, up to a limit: a file of any size ends soon."""
        more = min(PER_CHARACTER * characters, self.for_text)
        self.left, self.for_text = self.left + more, self.for_text - more

    def hold(self, bits: int) -> None:
        """Count the words of numbers that are kept."""
        self.left -= HELD * (bits // 64)

    def allow(self, table: ExactTable) -> None:
        """More work for a larger table: some passes for each class or comparison, and factorisations [L17]."""
        self.left += PER_CUBE * min(table.d, table.n, MOST_FACTORED) ** 3
        self.left += PER_NUMBER * (table.stored() + table.n) * min(max(1, 2 * (len(table.labels) - 2)), 80)

    def charge(self, operations: int, bits: int = 0, by: int = 0) -> None:
        """Count products of numbers of so many bits."""
        self.left -= operations * (STEP + WORD * (bits // 64) * (by // 64 + 1))
        need(self.left >= 0, "checking it would take far more work than such a claim about such a table needs")


def integers_of(value: Any, what: str) -> list[int]:
    need(type(value) is list and all(type(v) is int for v in value), f"the {what} are not a list of integers")
    return list(value)


class Scope:
    """The table, as the certificate describes it: columns, target, rows dropped, reading, and all classes.

    ``sealed``: hold the fingerprint against the rows. The writer of a certificate, whose rows these are, has no need.
    """

    def __init__(self, told: Any, table: ExactTable, sealed: bool = True) -> None:
        need(type(told) is dict, "it does not say what it is about")
        self.table, self.told, d = table, told, told["d"]
        need(type(d) is int and d >= 1, "the number of columns is not a positive integer")  # [S1]
        need(d == table.d, f"it is about {d} columns, and the table has {table.d}")  # [S1]
        self.columns, self.target = table.columns, table.target
        if told["columns"] is not None:
            self.columns = distinct_names(told["columns"], "columns")
            need(len(self.columns) == d, f"it names {len(self.columns)} columns of {d}")  # [S1]
            need(table.columns in (None, self.columns), "it is about other data: the columns differ")  # [S1]
        if (target := told.get("target")) is not None:
            need(type(target) is str, "the target is not a name")
            need(table.target in (None, target), f"it is about the target {shown(target)}, not {shown(table.target)}")
            self.target = target
        need(self.target is None or self.target not in (self.columns or []), "the target is one of the columns")  # [S2]
        need(told["reading"] in ("binary64", "decimal"), "the reading of numbers is neither binary64 nor decimal")
        self.decimal: bool = told["reading"] == "decimal"
        need(self.decimal == (table.scales is not None), "the table was read in the other reading of numbers")
        self.n: int = told["n"]
        same = type(self.n) is int and (self.n == table.n or not table.complete)
        need(same, f"it is about other data: {shown(told['n'])} rows, not {table.n}")
        dropped = integers_of(told["dropped"], "rows dropped")
        self.dropped = set(dropped)
        need(len(self.dropped) == len(dropped), "a row is repeated among those dropped")  # [S3]
        need(all(0 <= i < self.n for i in dropped), "a row that is dropped does not exist")  # [S3]
        self.classes = distinct_names(told["classes"], "classes")
        self.exponents = integers_of(told["exponents"], "exponents of the cells")
        need(len(self.exponents) == 2, "the exponents of the cells are not two")
        if table.complete:
            present = sorted(table.labels)
            need(present == sorted(self.classes), f"it is about other data: the classes are {listed(present)}")  # [S3]
            need(not sealed or self.exponents == table.spread(), f"it is about other data, not these {table.n} rows")
            if sealed:
                need(told.get("decimals") == table.column_words(), f"it is about other data, not these {table.n} rows")
                number = [self.classes.index(name) for name in table.labels]
                top = top_node(leaves(table, number))
                need(
                    told["sha256"] == fingerprint(told, top), f"it is about other data, not these {table.n} rows"
                )  # [S4]
        else:
            all_near = all(-1100 < e < 1100 for e in self.exponents)
            need(all_near and self.exponents[0] <= 1 <= self.exponents[1], "the exponents of the cells are impossible")


class Data:
    """The rows z of one claim."""

    def __init__(self, cert: dict[str, Any], scope: Scope, meter: Meter) -> None:
        need(type(cert["intercept"]) is bool, "it does not say whether there is an intercept")
        self.scope, self.table, self.meter, self.d = scope, scope.table, meter, scope.table.d
        self.intercept: bool = cert["intercept"]
        self.decimal = scope.decimal
        names = cert.get("kesler")
        self.kesler = None if names is None else distinct_names(names, "classes")
        self.rule, self.unit = "linear machine", "comparison"
        if self.kesler is None:
            self.rule, self.unit = "hyperplane", "row"
            self.positive = distinct_names(cert["positive"], "positive classes")
            others = cert["negative"]
            self.negative = None if others is None else distinct_names(others, "negative classes")
            need(not set(self.positive) & set(self.negative or []), "a class is on both sides")  # [S3]
            side = dict.fromkeys(self.negative or [], -1) | dict.fromkeys(self.positive, 1)
            rest = -1 if self.negative is None else None  # null: all other classes
        else:
            need(len(self.kesler) >= 2, "there is one class only")  # [S3]
            need("positive" not in cert and "negative" not in cert, "it is about two sides and about all classes")
            side, rest = {name: k for k, name in enumerate(self.kesler)}, None
        self.sides = [side.get(name, rest) for name in self.table.labels]  # of the classes of the table
        meter.charge(8 * self.table.n)
        self.present, self.used = self.present_classes()
        for name in side:
            need(name in self.present, f"class {shown(name)} has no rows")  # [S3]
        two = {self.sides[self.table.labels.index(name)] for name in self.present} == {1, -1}
        need(self.kesler is not None or two, "a side has no rows")  # [S3]
        self.block = self.d + self.intercept
        self.last = 1 if self.kesler is None else len(self.kesler) - 1
        self.p = self.block * self.last
        self.n = self.used * self.last  # rows z
        meter.charge(2 * (self.used + self.table.stored()))
        self.kept: dict[Key, tuple[Sparse, int]] = {}

    def present_classes(self) -> tuple[set[str], int]:
        """The classes on a side that have rows in use, and the number of these rows."""
        table, scope = self.table, self.scope
        if not table.complete:
            need(None not in self.sides, "without the table a claim is about the rows of all classes")
            return set(table.labels), scope.n - len(scope.dropped)
        number = len(table.labels)
        if table.fast:
            counts = numpy.bincount(numpy.asarray(table.codes, dtype=numpy.intp), minlength=number).tolist()
        else:
            counts = [table.codes.count(k) for k in range(number)]
        for i in scope.dropped:
            counts[table.code(i)] -= 1
        chosen = [k for k in range(number) if self.sides[k] is not None and counts[k]]
        return {table.labels[k] for k in chosen}, sum(counts[k] for k in chosen)

    @property
    def size(self) -> int:
        """Bits of a cell, with room."""
        low, high = self.scope.exponents
        return high - low + 128

    @property
    def bits(self) -> int:
        """Bits of a number in a proof: Cramer, Hadamard, and room [C1]."""
        return int(4096 + 16 * (self.p + 2) * self.size)

    # -- the rows z

    def side(self, i: int) -> int | None:
        """The side or the class of a row; None where it is not in use or does not exist."""
        if not 0 <= i < self.scope.n or i in self.scope.dropped:
            return None
        return self.sides[self.table.code(i)]

    def blocks(self, side: int, other: int) -> tuple[tuple[int, int], ...]:
        """Where the row stands in z, and with which sign [L14]."""
        if self.kesler is None:
            return ((0, side),)
        return tuple((c * self.block, s) for c, s in ((side, 1), (other, -1)) if c < self.last)

    def has(self, key: Key) -> bool:
        i, other = (key, 0) if isinstance(key, int) else key
        side = self.side(i)
        if self.kesler is None or isinstance(key, int):
            return self.kesler is None and isinstance(key, int) and side is not None
        return side is not None and 0 <= other <= self.last and other != side

    def keys(self, value: Any) -> list[Key]:
        """Rows z that exist, none of them twice."""
        need(type(value) is list, "a list of rows is missing")
        keys = [tuple(entry) if type(entry) is list else entry for entry in value]
        for key in keys:
            parts = key if type(key) is tuple and len(key) == 2 else (key,)
            need(all(type(part) is int for part in parts), "a row is not a number")
        need(len(set(keys)) == len(keys) and all(map(self.has, keys)), "a row is repeated or does not exist")
        return keys

    def place(self, key: Key) -> int:
        """Where the sign of a row z stands among those of all."""
        return key if isinstance(key, int) else key[0] * (self.last + 1) + key[1]

    def first(self, signs: bytes, *kinds: int) -> Key | None:
        """The first row with one of these signs."""
        places = [place for place in map(signs.find, kinds) if place >= 0]
        return self.key_at(min(places)) if places else None

    def key_at(self, place: int) -> Key:
        return place if self.kesler is None else divmod(place, self.last + 1)

    def scaled(self, i: int, other: int, moved: set[int] | None = None) -> tuple[Sparse, int]:
        """Multiply a row z by a positive integer m that makes it integral: (m z, m); of its columns those moved."""
        columns, values = self.table.row(i)
        self.meter.charge((64 if self.decimal else 8) * (len(columns) + 1), self.size)
        ratios: list[tuple[int, tuple[int, int]]]
        if self.table.scales is None:
            ratios = [(j, v.as_integer_ratio()) for j, v in zip(columns, values, strict=True)]
        else:
            whole, scales = filter(None, self.table.integers(i)), self.table.scales
            ratios = [(j, (v, 10 ** scales[j])) for j, v in zip(columns, whole, strict=True)]
        ratios = [(j, ratio) for j, ratio in ratios if moved is None or j in moved]
        ratios += [(self.d, (1, 1))] * self.intercept
        m = math.lcm(*(under for _, (_, under) in ratios))
        blocks = self.blocks(self.sides[self.table.code(i)] or 0, other)
        return {at + j: s * over * (m // under) for at, s in blocks for j, (over, under) in ratios}, m

    def z(self, key: Key) -> tuple[Sparse, int]:
        """The row z times a positive integer m that makes it integral, and m; kept, since witnesses share rows."""
        if key not in self.kept:
            self.kept[key] = self.scaled(*((key, 0) if isinstance(key, int) else key))
            self.meter.hold(self.size * len(self.kept[key][0]))
        return self.kept[key]

    # -- numbers of a proof

    def number(self, text: Any) -> tuple[int, int]:
        """Read a hexadecimal integer, quotient or float, exactly: numerator and positive denominator."""
        need(type(text) is str and len(text) <= self.bits // 2, "a number is missing or far too long")  # [C1]
        self.meter.read(len(text))
        match = NUMBER.fullmatch(text)
        if match is None:
            raise Rejected(f"{shown(text)} is not a number")
        minus, whole, under, fraction, power = match.groups()
        over = int(minus + whole + (fraction or ""), 16)
        if power is None:
            need(under is None or int(under, 16) > 0, "a denominator is zero")
            return over, int(under or "1", 16)
        shift = int(power) - 4 * len(fraction or "")
        return (over << shift, 1) if shift >= 0 else (over, 1 << -shift)

    def numbers(self, value: Any, count: int) -> tuple[list[int], int]:
        """Read numbers as integers over one positive denominator."""
        need(type(value) is list and len(value) == count, f"a list of {count} numbers is missing")
        ratios = [self.number(text) for text in value]
        common = 1
        for _, under in ratios:
            if under > 1:
                self.meter.charge(4, common.bit_length(), under.bit_length())
                common = math.lcm(common, under)
                few = common.bit_length() <= self.bits
                need(few, f"the denominators have no common multiple of at most {self.bits} bits")  # [C2]
        longest = max((max(over.bit_length(), under.bit_length()) for over, under in ratios), default=0)
        self.meter.hold(count * (common.bit_length() + longest))
        self.meter.charge(2 * count, common.bit_length(), longest)
        return [over * (common // under) for over, under in ratios], common

    # -- exact sums and signs

    def combination(self, rows: list[Key], weights: list[int]) -> tuple[Sparse, int]:
        """Add up the rows z with integer weights: the non-zeros of m times the sum, and the positive integer m."""
        parts = [self.z(key) for key in rows]
        m = math.lcm(*(scale for _, scale in parts))
        longest = max((weight.bit_length() for weight in weights), default=0)
        self.meter.charge(sum(len(z) for z, _ in parts), longest + m.bit_length(), self.size)
        total: Sparse = {}
        for (z, scale), weight in zip(parts, weights, strict=True):
            factor = weight * (m // scale)
            for j, v in z.items():
                total[j] = total.get(j, 0) + factor * v
        return {j: v for j, v in total.items() if v}, m

    def signs(self, w: list[int], level: int = 0) -> bytes:
        """The sign of z.w - level for every row z, by floating point only where its error is bounded [L1].

        A byte for each row, or in Kesler's construction for each row and class: POSITIVE, ZERO, NEGATIVE, or UNUSED.
        """
        need(any(w), "a vector is zero")
        need(self.table.complete, "that is a claim about all rows: check it against the table")
        top = max(map(abs, [*w, level]))
        self.meter.charge(self.p, top.bit_length())
        *rounded, shift = [v / top for v in [*w, level]]  # each quotient is rounded once
        safe = all(v == 0 or abs(f) > 1e-200 for v, f in zip([*w, level], [*rounded, shift], strict=True))
        moved = {j % self.block for j, v in enumerate(w) if v}  # where w is zero, columns of the table do not count
        self.meter.charge(4 * (1 + (self.kesler is not None)) * self.last * (self.table.stored() + 2 * self.table.n))
        signs = (self.fast_signs if self.table.fast else self.plain_signs)(rounded, shift, moved)
        if not safe:
            signs = signs.translate(ALL_OPEN)
        place = signs.find(OPEN)
        while place >= 0:
            key = self.key_at(place)
            z, m = self.scaled(*((key, 0) if isinstance(key, int) else key), moved)
            self.meter.charge(2 * len(z) + 2, top.bit_length(), self.size)
            exact = sum(w[j] * v for j, v in z.items()) - level * m
            signs[place] = POSITIVE if exact > 0 else NEGATIVE if exact else ZERO
            place = signs.find(OPEN, place)
        return bytes(signs)

    def plain_signs(self, rounded: list[float], shift: float, moved: set[int]) -> bytearray:
        """The signs that are certain, row by row; OPEN where rounding could change one."""
        table, signs = self.table, bytearray([UNUSED]) * (self.table.n * (1 if self.kesler is None else self.last + 1))
        for i in range(table.n):
            side = self.side(i)
            if side is None:
                continue
            columns, values = table.row(i)
            some = [(j, v) for j, v in zip(columns, values, strict=True) if j in moved]
            cells = [v for _, v in some] + [1.0] * self.intercept
            at = [j for j, _ in some] + [self.d] * self.intercept
            for other in (0,) if self.kesler is None else range(self.last + 1):
                if self.kesler is not None and other == side:
                    continue
                total, size = -shift, abs(shift)
                blocks = self.blocks(side, other)
                for first, s in blocks:
                    terms = list(map(mul, [rounded[first + j] for j in at], cells))
                    total, size = total + s * sum(terms), size + sum(map(abs, terms))
                bound = (9 + len(blocks) * len(at)) * 2.0**-51 * size + 1e-290
                known = size < 1e290 and abs(total) > bound
                place = i if self.kesler is None else i * (self.last + 1) + other
                signs[place] = (POSITIVE if total > 0 else NEGATIVE) if known else OPEN
        return signs

    def fast_signs(self, rounded: list[float], shift: float, moved: set[int]) -> bytearray:
        """The same for arrays of numpy: products of matrices add up in any order, which the bound allows for [L1]."""
        table, d, K = self.table, self.d, 1 if self.kesler is None else self.last + 1
        W = numpy.zeros((K, d + 1))
        for c in range(self.last):
            W[c, : self.block] = rounded[c * self.block : (c + 1) * self.block]
        sides = numpy.array([0 if side is None else side for side in self.sides])
        unused = numpy.array([side is None for side in self.sides])
        columns = sorted(moved - {d})
        every, V, b = len(columns) == d, W[:, columns].T.copy(), W[:, d]
        out = numpy.full((table.n, K), UNUSED, dtype=numpy.uint8)
        longest = len(columns) if table.starts is None else numpy.diff(table.starts).max(initial=0)
        bound = (9 + 2 * (float(longest) + 1)) * 2.0**-51
        step = max(1, AT_ONCE // (d if table.starts is None else 1))
        for start in range(0, table.n, step):
            end = min(start + step, table.n)
            codes = numpy.asarray(table.codes[start:end], dtype=numpy.intp)
            with numpy.errstate(all="ignore"):  # what overflows is left open
                if table.starts is None:
                    X = numpy.asarray(table.values[start:end], dtype=numpy.float64)
                    X = X if every else X[:, columns]
                    S, A = X @ V + b, numpy.abs(X) @ numpy.abs(V) + numpy.abs(b)
                else:
                    S, A = sparse_scores(table, start, end, W)
                side = sides[codes]
                if self.kesler is None:
                    S, A = S * side[:, None] - shift, A + abs(shift)
                else:
                    rows = numpy.arange(len(codes))
                    S, A = S[rows, side][:, None] - S - shift, A[rows, side][:, None] + A + abs(shift)
                known = (numpy.abs(S) > bound * A + 1e-290) & (A < 1e290)
            some = numpy.where(known, numpy.where(S > 0, POSITIVE, NEGATIVE), OPEN).astype(numpy.uint8)
            if self.kesler is not None:
                some[rows, side] = UNUSED
            some[unused[codes]] = UNUSED
            out[start:end] = some
        out[sorted(self.scope.dropped)] = UNUSED
        return bytearray(out.tobytes())


def sparse_scores(table: ExactTable, start: int, end: int, W: Any) -> tuple[Any, Any]:
    """x.w + b of some sparse rows for each vector, and the sums of absolute values."""
    low, high = int(table.starts[start]), int(table.starts[end])
    places, cells = table.places[low:high], table.values[low:high]
    begin = numpy.asarray(table.starts[start:end], dtype=numpy.int64) - low
    filled = numpy.diff(numpy.asarray(table.starts[start : end + 1], dtype=numpy.int64)) > 0
    S = numpy.tile(W[:, -1], (end - start, 1))
    A = numpy.abs(S)
    for k, w in enumerate(W):
        weights = w[places]
        terms = numpy.where(weights != 0, weights * cells, 0.0)  # where w is zero, columns do not count
        if len(terms):
            S[filled, k] += numpy.add.reduceat(terms, begin[filled])
            A[filled, k] += numpy.add.reduceat(numpy.abs(terms), begin[filled])
    return S, A


# ---- Linear algebra ---------------------------------------------------------------------------------------------


def echelon(a: list[list[int]], width: int, meter: Meter) -> list[int]:
    """Bring a matrix into echelon form in place, without fractions (Bareiss 1968); give the columns of its pivots."""
    pivots: list[int] = []
    value = 1
    for c in range(width):
        k = len(pivots)
        q = next((i for i in range(k, len(a)) if a[i][c]), None)
        if q is not None:
            bits = max(v.bit_length() for row in a[k:] for v in row)
            meter.charge(4 * (width - c) * (len(a) - k), bits, bits)
            a[k], a[q] = a[q], a[k]
            top = a[k]
            for i in range(k + 1, len(a)):
                factor, row = a[i][c], zip(a[i][c + 1 :], top[c + 1 :], strict=True)
                a[i] = [0] * (c + 1) + [(top[c] * u - factor * v) // value for u, v in row]
            value = top[c]
            pivots.append(c)
    return pivots


def spans(vectors: list[Sparse], p: int, bits: int, meter: Meter) -> bool:
    """Whether the vectors, rounded to so many bits, are shown to have rank p [L5, L17].

    Rows and columns are multiplied by powers of two that bring the largest entries near 2^bits: that changes no rank.
    """
    meter.charge(4 * len(vectors) * p)
    lengths = [max((abs(v).bit_length() for v in vector.values()), default=0) for vector in vectors]
    sizes = [-(1 << 20)] * p  # of columns, beside the largest entries of the rows
    for vector, length in zip(vectors, lengths, strict=True):
        for j, v in vector.items():
            sizes[j] = max(sizes[j], abs(v).bit_length() - length) if v else sizes[j]
    if not all(size > -MOST_BITS for size in sizes):
        return False
    meter.charge(len(vectors) * p, max(lengths) + MOST_BITS)
    a = []
    for vector, length in zip(vectors, lengths, strict=True):
        line = [0] * p
        for j, v in vector.items():
            down = length + sizes[j] - bits  # the entry is divided by 2^down, and rounded to the nearest integer
            line[j] = v + (1 << down - 1) >> down if down > 0 else v << -down
        a.append(line)
    enough = Fraction(math.isqrt(len(a) * p) + 1, 2) ** 2  # the square of a bound on the norm of what rounding changed
    try:
        upper, top = gram(a, meter)
        floor = math.ceil(2 * enough) + 2 * p
        return eigenvalues_above(upper, top, floor, math.floor(floor - enough), meter) > enough  # [L17]
    except NotShown:
        return False


def have_rank(vectors: list[Sparse], p: int, meter: Meter) -> bool:
    """Whether vectors of length p have rank p: by a least singular value, to ever more digits, or in integers [L5]."""
    if len(vectors) < p:
        return False
    if any(spans(vectors, p, bits, meter) for bits in ROUNDED_TO):
        return True
    meter.charge(p * len(vectors))
    return len(echelon([[vector.get(j, 0) for j in range(p)] for vector in vectors], p, meter)) == p


# ---- Least eigenvalues [L17] --------------------------------------------------------------------------------------


class PackedRows:
    """Rows v of integers as long integers, sum_j (v_j + h) 2^(8 width j) with h = 2^(8 width - 1).

    Sums of multiples of the rows are those of the long integers, and their entries can be read off wherever their
    absolute values are below h. Since no slot is negative, a shift leaves out the first columns.
    """

    def __init__(self, bound: int, columns: int) -> None:
        """The narrowest slots in use for entries up to a bound in absolute value."""
        bits = bound.bit_length() + 1
        self.width, self.columns = 4 if bits <= 32 else 8 * -(-bits // 64), columns
        self.zero = int.from_bytes((bytes(self.width - 1) + b"\x80") * columns, "little")  # a row of zeros
        self.rows: list[int] = []

    def append(self, row: list[int]) -> None:
        if self.width > 8:
            slots = b"".join(v.to_bytes(self.width, "little", signed=True) for v in row)
        else:
            slots = struct.pack(f"<{len(row)}{'i' if self.width == 4 else 'q'}", *row)
        self.rows.append(int.from_bytes(slots, "little") ^ self.zero)  # with its sign bit reversed, v is v + h

    def drop(self, columns: int) -> None:
        """Leave out the first of the columns."""
        bits = 8 * self.width * columns
        self.rows, self.zero, self.columns = [v >> bits for v in self.rows], self.zero >> bits, self.columns - columns

    def combination(self, factors: Sequence[int]) -> list[int]:
        """The sum of the rows, each times its factor; the caller has bounded its entries."""
        number = sum(map(mul, factors, self.rows)) - (sum(factors) - 1) * self.zero
        slots = (number ^ self.zero).to_bytes(self.width * self.columns, "little")
        if self.width > 8:
            parts = range(0, len(slots), self.width)
            return [int.from_bytes(slots[k : k + self.width], "little", signed=True) for k in parts]
        return list(struct.unpack(f"<{self.columns}{'i' if self.width == 4 else 'q'}", slots))


def longest_of(lines: list[list[int]]) -> int:
    """The most bits of an entry."""
    return max(max(map(max, lines)), -min(map(min, lines))).bit_length()


def gram(a: list[list[int]], meter: Meter) -> tuple[list[list[int]], int]:
    """The rows of A'A from the diagonal on, and a bound on the absolute value of its entries."""
    columns = list(zip(*a, strict=True))
    c, longest = len(columns), longest_of(a)
    meter.charge(len(a) * c, longest, longest)
    top = max(sum(map(mul, column, column)) for column in columns)  # |(A'A)_ij|^2 <= (A'A)_ii (A'A)_jj
    rows = PackedRows(top, c)
    meter.charge(len(a) * c, 4 * rows.width * c, longest)
    for line in a:
        rows.append(line)
    upper: list[list[int]] = []
    for i, column in enumerate(columns):
        if i % TRIM == 0 < i:
            rows.drop(TRIM)
        upper.append(rows.combination(column)[i % TRIM :])
    return upper, top


def eigenvalues_above(upper: list[list[int]], top: int, shift: int, slack: int, meter: Meter) -> Fraction:
    """A number that no eigenvalue of the symmetric matrix M is below, close to the shift [L17].

    M has the rows `upper` from the diagonal on, with entries of at most `top`. N = M - shift I is factored row by row:
    u_ij = N_ij - sum_{k<i} l_ik u_kj for j >= i, rounded to integers, where l_ik = u_ki / u_kk is rounded to t bits.
    `slack` is what rounding may cost: any number is sound.
    """
    c = len(upper)
    t = max(8, (2 * c * (math.isqrt(c) + 1) * top // slack).bit_length())
    half = 1 << t - 1
    rows = PackedRows(top << t + 2, c)  # u_k
    pivots: list[int] = []  # u_kk
    columns: list[list[int]] = [[] for _ in range(c)]  # u_kj for k < j
    squares = [0] * c  # at least sum_k u_kj^2 / u_kk
    for i, line in enumerate(upper):
        meter.charge(8 * (c - i))
        if i % TRIM == 0 < i:
            meter.charge(i, 8 * rows.width * rows.columns)
            rows.drop(TRIM)
        factors = [((u << t + 1) + d) // (2 * d) for u, d in zip(columns[i], pivots, strict=True)]  # 2^t l_ik
        longest = max(map(abs, factors), default=0).bit_length()
        meter.charge(4 * i, longest, longest)
        # by Cauchy and Schwarz, no sum of l_ik u_kj times 2^t is above the root of `size`: it fits into its slot
        size = sum(f * f * d for f, d in zip(factors, pivots, strict=True)) * max(squares[i - i % TRIM :])
        if math.isqrt(size) + 1 >= 1 << 8 * rows.width - 1:
            raise NotShown("the numbers of a factorisation grow too much")
        meter.charge(i, 8 * rows.width * rows.columns, longest)
        sums = rows.combination(factors)[i % TRIM :]
        u = [n + (half - v >> t) for n, v in zip([line[0] - shift, *line[1:]], sums, strict=True)]
        if u[0] <= 0:  # [L17]
            raise NotShown("the rows are not shown to span the space")
        pivots.append(u[0])
        squares[i:] = [s - -v * v // u[0] for s, v in zip(squares[i:], u, strict=True)]
        for column, v in zip(columns[i + 1 :], u[1:], strict=True):
            column.append(v)
        rows.append([0] * (i % TRIM) + u)
    most = max(sum(map(abs, column)) for column in columns)
    return shift - Fraction(c, 2) - Fraction(c * most, 2 << t)


# ---- Parts of proofs --------------------------------------------------------------------------------------------


def integer_list(value: Any, count: int, what: str) -> list[int]:
    """A list of so many integers, none of them too long for a short circulation."""
    need(type(value) is list and len(value) == count, f"a list of {count} {what} is missing")
    need(all(type(v) is int for v in value), f"one of the {what} is not an integer")
    need(all(v.bit_length() <= MOST_BITS for v in value), f"one of the {what} is far too long")  # [C5]
    return list(value)


def null_vectors(data: Data, given: dict[str, Any]) -> list[list[int]]:
    value = given.get("null", [])
    need(type(value) is list and len(value) <= data.p, "there are too many null vectors")
    return [data.numbers(vector, data.p)[0] for vector in value]


def columns_in_use(data: Data, near: dict[str, Any], null: list[list[int]]) -> tuple[list[int], list[int]]:
    """The columns that are not free, and an exponent for each; each null vector has a free column for itself [L18]."""
    free = integer_list(near.get("free", []), len(null), "free columns")
    need(len(set(free)) == len(free) and all(0 <= j < data.p for j in free), "a free column does not exist")  # [L18]
    for k, v in enumerate(null):
        need(all((v[j] != 0) == (j == free[k]) for j in free), "a null vector is not that of its free column")  # [L18]
    columns = sorted(set(range(data.p)) - set(free))
    exponents = integer_list(near["exponents"], len(columns), "exponents")
    need(all(abs(e) <= MOST_BITS for e in exponents), "an exponent is far too large")  # [C5]
    return columns, exponents


def short_circulation(
    data: Data, given: dict[str, Any], rows: list[Key], signs: list[int], unit: tuple[int, int] | None = None
) -> None:
    """Check that some weights > 0 have sum weight_i sign_i z_i = 0, and that the rows have rank p - len(null) [L18].

    The weights q of the certificate nearly do: the rows J, its first, can make up for the rest. With `unit`, a column j
    and a sign, the unit vector j times that sign is one more row, whose weight is `push` [L19].
    """
    near, null = given["near"], null_vectors(data, given)
    need(type(near) is dict and given.get("lambda") is None, "the weights are given in two ways or in none")
    columns, exponents = columns_in_use(data, near, null)
    q = integer_list(near["weights"], len(rows), "weights")
    inner, floor = integer_list([near["inner"], near["floor"]], 2, "bounds")
    need(0 < len(columns) <= inner <= len(rows), "the rows that make up for the rest are too few or too many")  # [L18]
    if unit is not None:
        need(not any(v[unit[0]] for v in null), "a null vector moves the coefficient")  # [L19]
        q += integer_list([near["push"]], 1, "weights")
    need(all(v > 0 for v in q), "a weight is not positive")  # [L18]

    total, least = sum(q), min(q[:inner])
    guard = (total // least).bit_length() + 8  # any number is sound
    shifts = [e + guard for e in exponents]
    h = rounded_rows(data, rows, columns, shifts, null)  # within 1 of 2^(e_j + guard) z_ij
    if unit is not None:
        ones = [unit[1] if j == unit[0] else 0 for j in columns]
        h.append([v << shift if shift >= 0 else v >> -shift for v, shift in zip(ones, shifts, strict=True)])
    longest = longest_of(h)
    data.meter.charge(len(h) * len(columns), longest, max(q).bit_length())
    data.meter.charge(len(columns), longest + total.bit_length(), longest + total.bit_length())
    signed = [s * v for s, v in zip(signs if unit is None else [*signs, 1], q, strict=True)]
    bound = sum((abs(sum(map(mul, signed, column))) + total) ** 2 for column in zip(*h, strict=True))
    residual = Fraction(math.isqrt(bound) + 1, least << guard)  # at least |2^e_j r_j| / min_J q
    far_from_dependent(h[:inner], guard, residual, floor, data.meter)


def far_from_dependent(h: list[list[int]], guard: int, residual: Fraction, floor: int, meter: Meter) -> None:
    """Check that numbers within 2^-guard of h / 2^guard have a least singular value above a residual >= 0 [L18]."""
    # signs aside, within 1/2 + 2^-guard of 2^e_j z_ij
    a = [[v + (1 << guard - 1) >> guard for v in line] for line in h]
    rounding = (Fraction(1, 2) + Fraction(1, 1 << guard)) * (math.isqrt(len(a) * len(a[0])) + 1)
    enough = (rounding + residual) ** 2
    need(floor > enough, "the weighted rows do not nearly sum to zero")
    upper, top = gram(a, meter)
    proved = eigenvalues_above(upper, top, floor, max(1, math.floor(floor - enough)), meter)
    need(proved > enough, "the rows that make up for the rest are not shown to be far from dependent")  # [L18]


def spanned(data: Data, given: dict[str, Any], rows: list[Key], j: int) -> None:
    """Check that the unit vector j is a combination of the rows: they have rank p - len(null) [L19]."""
    near, null = given["near"], null_vectors(data, given)
    need(type(near) is dict and given.get("c") is None, "the weights are given in two ways or in none")
    columns, exponents = columns_in_use(data, near, null)
    (floor,) = integer_list([near["floor"]], 1, "bounds")
    need(0 < len(columns) <= len(rows), "the rows are too few")  # [L19]
    need(not any(v[j] for v in null), "the rows do not span the coefficient")  # [L19]
    h = rounded_rows(data, rows, columns, [e + 8 for e in exponents], null)
    far_from_dependent(h, 8, Fraction(0), floor, data.meter)


def rounded_rows(
    data: Data, rows: list[Key], columns: list[int], shifts: list[int], null: list[list[int]]
) -> list[list[int]]:
    """Integers within 1 of 2^shift_j z_ij, for the columns given; the null vectors must vanish on the rows [L18]."""
    data.meter.hold(len(rows) * len(columns) * max(0, *shifts))
    data.meter.charge(4 * len(rows) * data.p, 64, 64)
    lengths = [max(map(abs, v)).bit_length() for v in null]
    plain = not data.decimal and all(abs(shift) <= 1000 for shift in shifts)
    scales = [2.0**shift for shift in shifts] if plain else []
    made: list[list[int]] = []
    for key in rows:
        if null:
            z, _ = data.z(key)
            for v, length in zip(null, lengths, strict=True):
                data.meter.charge(len(z), length, data.size)
                need(not sum(v[j] * t for j, t in z.items()), "a null vector does not vanish on every row")  # [L18]
        try:
            made.append(rounded_doubles(data, key, columns, scales) if plain else [])
        except OverflowError:  # beyond the doubles
            made.append([])
        if not made[-1]:
            data.meter.charge(2 * len(columns), 2 * MOST_BITS + data.size)
            z, m = data.z(key)
            exact = [(z.get(j, 0), shift) for j, shift in zip(columns, shifts, strict=True)]
            made[-1] = [(t << shift) // m if shift >= 0 else t // (m << -shift) for t, shift in exact]
    return made


def rounded_doubles(data: Data, key: Key, columns: list[int], scales: list[float]) -> list[int]:
    """The same for one row of doubles: a power of two changes no digit, except below 2^-1022, far below 1."""
    i, other = (key, 0) if isinstance(key, int) else key
    z, row = [0.0] * data.p, data.table.row(i)
    for at, s in data.blocks(data.side(i) or 0, other):
        for j, v in zip(*row, strict=True):
            z[at + j] = s * v
        if data.intercept:
            z[at + data.d] = float(s)
    return list(map(math.floor, map(mul, [z[j] for j in columns], scales)))


def line_weights(data: Data, rows: list[Key]) -> list[int]:
    """Solve for the weights of rows given without any: their null space must be a line."""
    need(len(rows) <= INDEX_ONLY, f"a witness of more than {INDEX_ONLY} rows must carry its weights")  # [C3]
    parts = [data.z(key) for key in rows]
    columns = sorted({j for z, _ in parts for j in z})
    data.meter.charge(len(columns) * len(rows))
    matrix = [[z.get(j, 0) for z, _ in parts] for j in columns]
    pivots = echelon(matrix, len(rows), data.meter)
    need(len(pivots) == len(rows) - 1, "the witness is not a circuit")
    (free,) = {*range(len(rows))} - {*pivots}
    line = [0] * len(rows)
    line[free] = matrix[len(pivots) - 1][pivots[-1]] if pivots else 1  # a determinant: all others are integers too
    for k, c in reversed(list(enumerate(pivots))):
        line[c] = -sum(u * v for u, v in zip(matrix[k], line, strict=True)) // matrix[k][c]
    return [v * m for v, (_, m) in zip(line, parts, strict=True)]


def signed_circulation(data: Data, given: dict[str, Any], rows: list[Key], signs: list[int]) -> None:
    """Check weights > 0 with sum weight_i sign_i z_i = 0: given, solved for, or near those given [L2, L11, L18]."""
    need(len(rows) > 0, "the witness is empty")
    if given.get("near") is not None:
        short_circulation(data, given, rows, signs)
        return
    if given.get("lambda") is None:
        line = line_weights(data, rows)
        forward = line[0] * signs[0] > 0
        weights = [s * v if forward else -s * v for s, v in zip(signs, line, strict=True)]
    else:
        weights, _ = data.numbers(given["lambda"], len(rows))
    need(all(v > 0 for v in weights), "a weight is not positive")
    total, _ = data.combination(rows, [s * v for s, v in zip(signs, weights, strict=True)])
    need(not total, "the weighted rows do not sum to zero")


def circulation(data: Data, given: dict[str, Any]) -> list[Key]:
    """The rows of a circulation [L2]: no w has z.w > 0 on all of them."""
    rows = data.keys(given["support"])
    signed_circulation(data, given, rows, [1] * len(rows))
    return rows


def weak_vector(data: Data, value: Any) -> tuple[list[int], int]:
    """A w with z.w >= 0 for every row z, and the number of rows with z.w > 0."""
    w, _ = data.numbers(value, data.p)
    signs = data.signs(w)
    need(NEGATIVE not in signs, f"row {data.first(signs, NEGATIVE)} lies on the wrong side")
    return w, signs.count(POSITIVE)


def vanishes(data: Data, v: list[int]) -> bool:
    signs = data.signs(v)
    return POSITIVE not in signs and NEGATIVE not in signs


def coefficient(data: Data, cert: dict[str, Any]) -> int:
    j = cert["coefficient"]
    need(type(j) is int and 0 <= j < data.p, "the coefficient does not exist")
    return int(j)


def unit_sign(data: Data, rows: list[Key], weights: list[int], j: int) -> int:
    """The sign of t where the rows with these weights add up to t times the unit vector j, t not 0."""
    total, _ = data.combination(rows, weights)
    need(set(total) == {j}, "the rows with their weights do not add up to the coefficient")
    return 1 if total[j] > 0 else -1


# ---- Words ------------------------------------------------------------------------------------------------------


def column_name(data: Data, j: int) -> str:
    return f"column {j}" if data.scope.columns is None else shown(data.scope.columns[j])


def coefficient_name(data: Data, j: int) -> str:
    c, j = divmod(j, data.block)
    name = "the intercept" if j == data.d else f"the coefficient of {column_name(data, j)}"
    return name if data.kesler is None else f"{name} for class {shown(data.kesler[c])} against {shown(data.kesler[-1])}"


def scope_words(data: Data) -> str:
    """All that the claim is about: table, target, columns, classes, rows, intercept and reading of numbers [S]."""
    scope, table = data.scope, data.scope.table
    unnamed = "1 column without a name" if data.d == 1 else f"{data.d} columns without names"
    columns = unnamed if scope.columns is None else f"columns {listed(scope.columns)}"
    if scope.columns is not None and table.columns is None:
        columns = f"{unnamed}, called {listed(scope.columns)} by the certificate"
    if table.unused:
        columns += f" (not used: {listed(list(table.unused))})"
    if data.kesler is not None:
        classes = f"classes {listed(data.kesler)} at once, a weight vector for each but the last, which has zero"
    else:
        rest = sorted(data.present - set(data.positive))
        others = f"all other classes ({listed(rest)})" if data.negative is None else f"class {listed(data.negative)}"
        classes = f"class {listed(data.positive)} against {others}"
    n = scope.n
    rows = f"all {n} rows" if data.used == n else f"{data.used} of {n} rows"
    if scope.dropped:
        first = ", ".join(map(str, sorted(scope.dropped)[:12])) + (", ..." if len(scope.dropped) > 12 else "")
        rows += f", {len(scope.dropped)} dropped by the certificate (rows {first})"
    if unused := set(table.labels) - data.present:
        rows += f", none of class {listed(sorted(unused))}"
    target = "the labels given" if scope.target is None else f"target {shown(scope.target)}"
    if scope.target is not None and table.target is None:
        target = f"the labels given, called {shown(scope.target)} by the certificate"
    where = f"table {shown(table.name)}" if table.complete else f"the table with the fingerprint {scope.told['sha256']}"
    intercept = "with an intercept" if data.intercept else "without an intercept"
    reading = "the decimals that they print as" if data.decimal else "binary64"
    return f"[{where}; {target}; {columns}; {classes}; {rows}; {intercept}; numbers read as {reading}]"


def root(over: int, under: int) -> str:
    """A square root for people, in 17 digits whatever its size."""
    e = (over.bit_length() - under.bit_length()) // 2
    ratio = over / (under << 2 * e) if e >= 0 else (over << -2 * e) / under
    return f"{math.ldexp(math.sqrt(ratio), e):.17g}" if abs(e) < 1000 else f"2^{e}"


def ruled_out(data: Data, keys: list[Any], most: int = 10) -> str:
    """What a circulation on these rows proves."""
    these = ", ".join(map(str, sorted(keys)[:most])) + (", ..." if len(keys) > most else "")
    what = (
        f"this {data.unit} {STRICTLY[1]}" if len(keys) == 1 else f"all of these {len(keys)} {data.unit}s {STRICTLY[0]}"
    )
    return f"no {data.rule} has {what}: {these} (rows count from 0)"


# ---- Claims -----------------------------------------------------------------------------------------------------


def complete(data: Data, cert: dict[str, Any]) -> str:
    """[L3]"""
    w, _ = data.numbers(cert["w"], data.p)
    signs = data.signs(w)
    outside = ZERO in signs or NEGATIVE in signs
    need(not outside, f"row {data.first(signs, ZERO, NEGATIVE)} does not lie strictly on its side")
    return f"one {data.rule} has all {plural(data.n, data.unit)} {STRICTLY[0]}: completely separable"


def not_complete(data: Data, cert: dict[str, Any]) -> str:
    """[L2]"""
    return ruled_out(data, circulation(data, cert))


def quasi(data: Data, cert: dict[str, Any]) -> str:
    """[L4]"""
    none = not_complete(data, cert)
    _, strict = weak_vector(data, cert["w"])
    need(strict > 0, "every row lies on the hyperplane")
    units = plural(data.n, data.unit)
    return f"{none}; one has none on its wrong side and {strict} of the {units} {STRICTLY[0]}: quasi-complete"


def overlap(data: Data, cert: dict[str, Any]) -> str:
    """[L6]"""
    rows = circulation(data, cert)
    if len(rows) < data.n:
        null = null_vectors(data, cert)
        for v in null:
            need(vanishes(data, v), "a null vector does not vanish on every row")
        if cert.get("near") is None:  # otherwise [L18] has shown it
            vectors = [data.z(key)[0] for key in rows] + [dict(enumerate(v)) for v in null]
            need(have_rank(vectors, data.p, data.meter), "the witness does not span the rows")
    few = rows if cert.get("witness") is None else circulation(data, cert["witness"])
    weakly = f"every {data.rule} that has none of the {plural(data.n, data.unit)} on its wrong side"
    return f"{ruled_out(data, few)}; {weakly} has all of them on it: overlap"


def finite(data: Data, cert: dict[str, Any]) -> str:
    """[L7]"""
    j, tied = coefficient(data, cert), set(circulation(data, cert))
    if cert.get("near") is not None:  # the rows span what is orthogonal to the null vectors [L18]
        need(not any(v[j] for v in null_vectors(data, cert)), "the rows do not span the coefficient")
    else:
        rows = data.keys(cert["rows"])
        need(set(rows) <= tied, "a row is outside the circulation")
        unit_sign(data, rows, data.numbers(cert["c"], len(rows))[0], j)
    return (
        f"{coefficient_name(data, j)} is finite: it converges to one value where the logistic likelihood is maximised"
    )


def infinite(data: Data, cert: dict[str, Any]) -> str:
    """[L8, L19]"""
    j, sign = coefficient(data, cert), cert["sign"]
    need(type(sign) is int and sign in (1, -1), "the sign is neither 1 nor -1")
    w, _ = weak_vector(data, cert["w"])
    need(sign * w[j] > 0, "w does not move the coefficient that way")
    if cert.get("near") is not None:
        need(cert.get("mu") is None, "the weights are given in two ways or in none")
        rows = data.keys(cert["support"])
        short_circulation(data, cert, rows, [1] * len(rows), (j, -sign))  # [L19]
    else:
        rows = data.keys(cert["rows"])
        mu, _ = data.numbers(cert["mu"], len(rows))
        need(all(v >= 0 for v in mu), "a weight is negative")
        need(unit_sign(data, rows, mu, j) == sign, "the weights point the other way")
    end = "+infinity" if sign > 0 else "-infinity"
    return f"{coefficient_name(data, j)} tends to {end} wherever the logistic likelihood is maximised"


def undetermined(data: Data, cert: dict[str, Any]) -> str:
    """[L9, L19]"""
    j, rows = coefficient(data, cert), data.keys(cert["rows"])
    (up, _), (down, _) = weak_vector(data, cert["w1"]), weak_vector(data, cert["w2"])
    need(up[j] > 0 > down[j], "the two vectors do not move the coefficient both ways")
    if cert.get("near") is not None:
        spanned(data, cert, rows, j)
    else:
        unit_sign(data, rows, data.numbers(cert["c"], len(rows))[0], j)
    return (
        f"{coefficient_name(data, j)} is identifiable but undetermined: the logistic likelihood is maximised both "
        "where it tends to +infinity and where it tends to -infinity"
    )


def unidentifiable(data: Data, cert: dict[str, Any]) -> str:
    """[L10]"""
    j = coefficient(data, cert)
    v, _ = data.numbers(cert["v"], data.p)
    need(v[j] != 0, "v does not move the coefficient")
    need(vanishes(data, v), "v does not vanish on every row")
    return f"{coefficient_name(data, j)} is not identifiable: it can be changed without changing any score"


def witness(data: Data, entry: Any) -> tuple[set[Key], set[Key]]:
    """The rows z_i and the rows -z_j, written -1 - j, that some weights > 0 add up to zero [L11]."""
    given = entry if type(entry) is dict else {"support": entry}
    codes = given["support"]
    need(type(codes) is list and all(type(c) is int for c in codes), "a row is not a number")
    rows, signs = data.keys([max(c, -1 - c) for c in codes]), [1 if c >= 0 else -1 for c in codes]
    data.meter.read(ROW_TEXT * len(rows))
    signed_circulation(data, given, rows, signs)
    sided = list(zip(rows, signs, strict=True))
    return {i for i, s in sided if s > 0}, {i for i, s in sided if s < 0}


def min_errors(data: Data, cert: dict[str, Any]) -> str:
    """[L12, L20]: exactly the rows `wrong` are wrong for w; the tree shows that no w has fewer than `lower` wrong rows.

    Without `upper` only the second is claimed. With `ahead`, a vector that has no row on its wrong side, w counts for
    the rows on that hyperplane alone: a small multiple of w added to it keeps all others right.
    """
    need(data.kesler is None, "mistakes are counted between two groups of classes")
    lower, upper = cert["lower"], cert.get("upper")
    need(type(lower) is int and type(upper) in (int, type(None)), "the bounds are not whole numbers")
    need(lower >= 0, "the bounds are not those of the rows")
    if upper is not None:
        wrong = set(data.keys(cert["wrong"]))
        need(lower <= upper == len(wrong), "the bounds are not those of the rows")
        signs, strict = data.signs(data.numbers(cert["w"], data.p)[0]), 0
        if cert.get("ahead") is not None:
            before = data.signs(weak_vector(data, cert["ahead"])[0])
            strict = before.count(POSITIVE)
            signs = bytes(b if b == POSITIVE else s for b, s in zip(before, signs, strict=True))  # [L20]
        missed = [i for i in wrong if signs[data.place(i)] == POSITIVE]
        need(not missed, f"row {min(missed, default=None)} is not as the certificate says")
        many = signs.count(ZERO) + signs.count(NEGATIVE)
        need(many == upper, f"the rows are not as the certificate says: {many} are wrong, not {upper}")
    if lower > 0:
        at_least(data, lower, [witness(data, entry) for entry in cert["witnesses"]], cert["nodes"])
    rows = plural(data.n, "row")
    least, counts = (
        f"every hyperplane gets at least {lower} of the {rows} wrong",
        "(a row on the hyperplane counts as wrong)",
    )
    if upper is None:
        return f"{least} {counts}"
    tied = f"; only the {data.n - strict} tied rows can be wrong" if cert.get("ahead") is not None else ""
    return f"{least}, and one gets {upper} wrong {counts}{tied}"


Pool = list[tuple[set[Key], set[Key]]]  # of witnesses: their rows, and their rows reversed


def at_least(data: Data, lower: int, pool: Pool, nodes: Any) -> None:
    """Every w has at least `lower` wrong rows: by a tree of cases, or by blocks of rows [L12, L13]."""
    need(type(nodes) is list and len(nodes) > 0, "the tree is missing")
    seen: set[int] = set()
    if type(nodes[0]) is dict and "blocks" in nodes[0]:
        seen.add(0)
        by_blocks(data, lower, pool, nodes, seen)
    else:
        walk(data, lower, pool, nodes, 0, seen, None)


def by_blocks(data: Data, lower: int, pool: Pool, nodes: list[Any], seen: set[int]) -> None:
    """Each block of rows has so many wrong ones; no row bears more than `over` of blocks and witnesses [L13]."""
    root, load, total = nodes[0], dict[Key, int](), 0
    over, blocks = root.get("over", 1), root["blocks"]
    need(type(over) is int and over > 0, "over is not a positive integer")
    need(type(blocks) is list and all(type(block) is dict for block in blocks), "a block is not an object")
    for block in blocks:
        rows, least, t = set(data.keys(block["rows"])), block["lower"], block.get("weight", 1)
        data.meter.charge(2 * len(rows))
        need(type(least) is int and least > 0, "the bound of a block is not a positive integer")
        need(type(t) is int and t > 0, "the weight of a block is not a positive integer")
        walk(data, least, pool, nodes, block["node"], seen, rows)
        total += t * least
        for i in rows:
            load[i] = load.get(i, 0) + t
            need(load[i] <= over, "blocks share a row")
    for (right, reverse), t in packed(root, pool):
        data.meter.charge(2 * len(right))
        need(not reverse, "a witness does not apply")
        total += t
        for i in right:
            load[i] = load.get(i, 0) + t
            need(load[i] <= over, "witnesses share a row")
    need(total > (lower - 1) * over, f"the blocks prove fewer than {lower} mistakes")


def walk(
    data: Data, lower: int, pool: Pool, nodes: list[Any], start: Any, seen: set[int], block: set[Key] | None
) -> None:
    """Walk the tree of cases: in each at least `lower` rows, of the block if any, are wrong, or it cannot occur."""
    bad: set[Key] = set()  # rows that the case has wrong, z.w < 0
    good: set[Key] = set()  # rows that it has right, z.w > 0
    stack: list[tuple[str, Any]] = [("visit", start)]
    while stack:
        step, at = stack.pop()
        if step != "visit":
            {"wrong": bad.add, "right": good.add, "not wrong": bad.remove, "not right": good.remove}[step](at)
            continue
        data.meter.charge(16)
        need(type(at) is int and 0 <= at < len(nodes) and at not in seen, "a node occurs twice or does not exist")
        seen.add(at)
        node = nodes[at]
        need(type(node) is dict, "a node is not an object")
        if "split" in node:
            (i,) = data.keys([node["split"]])
            need(i not in bad and i not in good, "a row cannot be split on twice")
            need(block is None or i in block, "a split is on a row outside the block")
            need(data.intercept or len(data.z(i)[0]) > 0, "a zero row cannot be split on")
            stack += [("not right", i), ("visit", node["right"]), ("right", i)]
            stack += [("not wrong", i), ("visit", node["wrong"]), ("wrong", i)]
        else:
            leaf(data.meter, node, lower, pool, bad, good, block)


def packed(node: dict[str, Any], pool: Pool) -> list[tuple[tuple[set[Key], set[Key]], int]]:
    """The witnesses of a node with their weights."""
    pack = node["pack"]
    need(type(pack) is list, "weights are missing")
    weights = node.get("weights", [1] * len(pack))
    need(type(weights) is list and len(pack) == len(weights), "weights are missing")
    need(all(type(k) is int and 0 <= k < len(pool) for k in pack), "a witness does not exist")
    need(all(type(t) is int and t > 0 for t in weights), "a weight of a witness is not a positive integer")
    return [(pool[k], t) for k, t in zip(pack, weights, strict=True)]


def leaf(
    meter: Meter, node: dict[str, Any], lower: int, pool: Pool, bad: set[Key], good: set[Key], block: set[Key] | None
) -> None:
    """A case that is not split further [L13]."""
    over = node.get("over", 1)
    need(type(over) is int and over > 0, "over is not a positive integer")
    load: dict[Key, int] = {}
    chosen = packed(node, pool)
    for (right, reverse), t in chosen:
        meter.charge(2 * (len(right) + len(reverse)))
        need(reverse <= bad and not right & bad, "a witness does not apply")
        need(block is None or right <= block, "a witness has a row outside the block")
        if right <= good:
            return  # the case cannot occur
        for i in right - good:
            load[i] = load.get(i, 0) + t
            need(load[i] <= over, "witnesses share a row")
    total = len(bad) * over + sum(t for _, t in chosen)
    need(total > (lower - 1) * over, f"a case is left with fewer than {lower} mistakes")


def margin(data: Data, cert: dict[str, Any]) -> str:
    """[L15]: half the distance between the hulls of the classes; without an intercept as margin-lifted."""
    return bracket(data, cert, free=data.intercept, name="largest half-width")


def margin_lifted(data: Data, cert: dict[str, Any]) -> str:
    """[L16]: the distance between the origin and the hull of the rows z."""
    return bracket(data, cert, free=False, name="lifted margin")


def bracket(data: Data, cert: dict[str, Any], free: bool, name: str) -> str:
    """Any w bounds a margin from below, and any weights from above. `free`: the intercept is not part of the norm."""
    need(data.kesler is None, "a margin is between two groups of classes")
    need(type(cert["w"]) is list, "w is missing")
    (*w, m), _ = data.numbers([*cert["w"], cert["m"]], data.p + 1)
    (low, low_under), (high, high_under) = data.number(cert["lo2"]), data.number(cert["hi2"])
    need(m > 0 and low > 0, "the margin is not positive")
    signs = data.signs(w, m)
    need(NEGATIVE not in signs, f"row {data.first(signs, NEGATIVE)} lies nearer than m")
    longest = max(v.bit_length() for v in [*w, m, low, high, low_under, high_under])
    data.meter.charge(data.p + 8, longest, longest)
    norm = sum(v * v for v in w[: data.d if free else data.p])
    need(0 < norm * low <= m * m * low_under, "w does not prove the lower bound")
    rows = data.keys(cert["support"])
    weights, _ = data.numbers(cert["lambda"], len(rows))
    need(len(rows) > 0 and min(weights) > 0, "a weight is not positive")
    sides = [data.side(i) or 0 for i in rows if isinstance(i, int)]
    both = {s: sum(v for v, side in zip(weights, sides, strict=True) if side == s) for s in (1, -1)}
    if free:
        need(both[1] > 0 and both[-1] > 0, "the support lacks a class")
        weights, shares = [v * both[-side] for v, side in zip(weights, sides, strict=True)], 2 * both[1] * both[-1]
    else:
        shares = both[1] + both[-1]
    total, scale = data.combination(rows, weights)
    longest = max([scale.bit_length() + shares.bit_length(), *(v.bit_length() for v in total.values())])
    data.meter.charge(len(total) + 2, 2 * longest, longest + high.bit_length() + high_under.bit_length())
    length = sum(v * v for v in total.values())
    need(length * high_under <= high * (shares * scale) ** 2, "the weights do not prove the upper bound")
    if low * high_under != high * low_under:
        return f"the {name} lies between about {root(low, low_under)} and {root(high, high_under)}"
    square = Fraction(low, low_under) if max(low, low_under).bit_length() <= 64 else None
    exactly = "" if square is None else f": its square is {square}"
    return f"the {name} is known exactly, about {root(low, low_under)}{exactly}"


CLAIMS: dict[str, Callable[[Data, dict[str, Any]], str]] = {
    "complete": complete,
    "not-complete": not_complete,
    "quasi": quasi,
    "overlap": overlap,
    "coefficient-finite": finite,
    "coefficient-infinite": infinite,
    "coefficient-undetermined": undetermined,
    "coefficient-unidentifiable": unidentifiable,
    "min-errors": min_errors,
    "margin": margin,
    "margin-lifted": margin_lifted,
}


# ---- Certificates -----------------------------------------------------------------------------------------------


def need_format(content: Any) -> None:
    """A ValueError where this is not a certificate of the one format."""
    found = content.get("format") if type(content) is dict else None
    if found != FORMAT:
        other = f": its format is {shown(found)}" if type(found) is str else ""
        raise ValueError(f"it is not a certificate of the format {FORMAT!r}{other}")


def parts_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The certificates of a file, all of them about the same data [S5]."""
    if "certificates" not in content:
        return [content]
    parts: list[dict[str, Any]] = content["certificates"]
    need(type(parts) is list and len(parts) > 0, "it holds no certificates")
    need(all(type(part) is dict for part in parts), "a part is not a certificate")
    for part in parts:
        need("format" not in part and "data" not in part, "a part of a bundle has data of its own")
    return parts


def described_data(content: dict[str, Any]) -> dict[str, Any]:
    """What the certificate says about columns and target, which is needed to read the table."""
    try:
        need_format(content)
        parts_of(content)
        told: dict[str, Any] = content["data"]
        if told["columns"] is not None:
            distinct_names(told["columns"], "columns")
        need(told.get("target") is None or type(told["target"]) is str, "the target is not a name")
        need(told["reading"] in ("binary64", "decimal"), "the reading of numbers is neither binary64 nor decimal")
    except (LookupError, TypeError, AttributeError) as error:
        raise Rejected(f"malformed: {type(error).__name__} {str(error)[:80]}") from None
    return told


ABOUT = "intercept", "positive", "negative", "kesler"  # with the data, what a part is about


def check(content: dict[str, Any], table: ExactTable | None, sealed: bool = True) -> list[str]:
    """Give a sentence for each claim, all of them proved, or raise Rejected with the first thing that is wrong.

    Without a table, the certificate carries the rows that it needs. ``sealed``: see :class:`Scope`.
    """
    meter, sentences, last = Meter(), [], ""
    try:
        need_format(content)
        if table is None:
            table = carried_rows(content)
        need(table.n > 0, "the table has no rows")  # [S3]
        meter.allow(table)
        parts, scope = parts_of(content), Scope(content["data"], table, sealed)
        for part in parts:
            claim = part["claim"]
            need(type(claim) is str and claim in CLAIMS, f"unknown claim {shown(claim)}")
            about = repr([part.get(name, ...) for name in ABOUT])
            if about != last:  # parts of a bundle are often about the same rows
                data, last = Data(part, scope, meter), about
                words = scope_words(data)
            sentences.append(f"{CLAIMS[claim](data, part)} {words}")
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, struct.error) as error:
        raise Rejected(f"malformed: {type(error).__name__} {str(error)[:80]}") from None
    return sentences


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name occurs twice in one object")
    return dict(pairs)


def no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number")


def is_shallow(content: Any) -> bool:
    """Whether objects and lists are few levels deep: the limit of Python's reader is not the same everywhere."""
    held = [content]
    for _ in range(MOST_NESTING + 1):
        inner = chain.from_iterable(one.values() if type(one) is dict else one for one in held)
        held = [value for value in inner if type(value) in (dict, list)]
        if not held:
            return True
    return False


def load(path: str) -> dict[str, Any]:
    """Read the JSON of a certificate; nothing in it is believed before it is checked."""
    with open(path, encoding="utf-8") as file:
        text = file.read(MOST_TEXT + 1)
    if len(text) > MOST_TEXT:
        raise ValueError(f"{path} is longer than {MOST_TEXT} characters, far too long for a certificate")  # [C4]
    try:
        content = json.loads(text, parse_constant=no_number, object_pairs_hook=without_repeats)
        shallow = is_shallow([content])
    except RecursionError:
        shallow = False
    except ValueError as error:
        raise ValueError(f"{path} is not the JSON of a certificate: {error}") from None
    if not shallow:
        raise ValueError(f"{path} is nested too deeply for a certificate")  # [C4]
    need_format(content)
    return dict(content)


def read(
    certificate: str, source: str | None, target: str | None, plain: bool = False
) -> tuple[dict[str, Any], ExactTable | None]:
    content = load(certificate)
    told = described_data(content)
    if target is not None and told.get("target") is not None:
        need(target == told["target"], f"it is about the target {shown(told['target'])}, not {shown(target)}")
    if source is None:
        if "rows" not in content:
            raise ValueError("the certificate does not carry its rows: name the table too")
        return content, None
    return content, read_table(source, target or told.get("target"), told["columns"], told["reading"], plain)


def main(argv: list[str]) -> int:
    plain = "--plain" in argv
    argv = [word for word in argv if word != "--plain"]
    target = argv[3] if len(argv) == 4 and argv[2] == "--target" else None
    try:
        if len(argv) not in (1, 2) and target is None:
            raise ValueError("use it as: checker.py CERTIFICATE [TABLE [--target NAME]] [--plain]")
        source = argv[1] if len(argv) > 1 else None
        lines, code = [f"proved: {sentence}" for sentence in check(*read(argv[0], source, target, plain))], 0
    except Rejected as why:
        lines, code = [f"not proved: {why}"], 1
    except MemoryError:
        lines, code = ["cannot read: there is not enough memory"], 2
    except (OSError, ValueError, csv.Error) as error:
        lines, code = [f"cannot read: {' '.join(str(error)[:300].split())}"], 2
    stream = sys.stderr if code == 2 else sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # where the terminal lacks a letter of a name
    try:
        stream.write("\n".join(lines) + "\n")
        stream.flush()
    except OSError as error:  # a full device, a closed pipe: nobody has read the verdict
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # where the rest is flushed to
        if stream is sys.stdout:
            sys.stderr.write(f"cannot write: {error}\n")
        return 2
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The encoder of a table in partitions: the same decisions as on one machine, from summaries that join.

Sums are joined in the fixed tree, medians and counts are exact, so that the encoder has the same bits for any number of
workers. What would need all rows of a column in one place is not offered: a vocabulary, parts of dates, feature maps,
and the search for leaks.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.cluster.merged_medians import medians
from separatrix.cluster.rounds import HeldPart, Rounds
from separatrix.data.frame import Column, Frame, join, unknown_column
from separatrix.data.number_writing import Writing
from separatrix.errors import DataError, ParameterError
from separatrix.features.column_encoders import SECONDS, NumberColumn, TextColumn, cells, finite
from separatrix.features.counters import moments_of_a_counter, reason
from separatrix.features.encoder import Choices, Encoder, is_wordy, need_no_numbers
from separatrix.features.leaks import FEW_ROWS, names_rows
from separatrix.features.text import inverse_frequencies

MOST_LEVELS = 100_000  # different values of a text column that are counted
KINDS = {frozenset(("integer", "number")): "number"}


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """Of numbers the least, the greatest, their mean and sum of squares about it; of text how often each level occurs.

    ``levels`` is None where there are too many, ``marks`` are digests by which equal columns are found.
    """

    kind: str
    rows: int
    missing: int
    marks: tuple[bytes, ...]
    low: float = np.nan
    high: float = np.nan
    mean: float = 0.0
    squares: float = 0.0
    levels: Counter[str] | None = None
    writing: Writing | None = None

    @property
    def present(self) -> int:
        return self.rows - self.missing

    @property
    def counts_rows(self) -> bool:
        whole = self.kind == "integer" and not self.missing
        return whole and moments_of_a_counter(self.rows, self.low, self.high, self.mean, self.squares)

    def with_copies(self, value: float, count: int) -> ColumnSummary:
        """The moments with so many more rows of one value: the mean and spread after filling."""
        more = ColumnSummary(self.kind, count, 0, (), value, value, value)
        return join_columns(self, more) if count else self


def summaries(part: HeldPart, names: Sequence[str], choices: Choices) -> dict[str, ColumnSummary]:
    """Every column of a partition."""
    return {name: summarised(part.table[name], choices, part.table.source) for name in names}


def summarised(column: Column, choices: Choices, source: str) -> ColumnSummary:
    """One column of one partition."""
    missing, n = int(column.missing.sum()), len(column.values)
    if column.kind == "text":
        named = (*choices.text, *choices.category, *choices.number)
        if column.name not in named:
            need_no_numbers(column, source)
        levels = Counter(cells(column))
        kept = levels if len(levels) <= MOST_LEVELS else None
        return ColumnSummary("text", n, missing, (_mark(column),), levels=kept, writing=column.writing)
    values = finite(column, source)
    values = values / SECONDS if column.kind == "date" else values
    present = values[~np.isnan(values)] if missing else values
    counted = Counter(cells(column)) if column.name in choices.category else None
    if not len(present):
        return ColumnSummary(column.kind, n, missing, (_mark(column),), levels=counted, writing=column.writing)
    mean = float(present.mean())
    squares = float(np.square(present - mean).sum())
    low, high = float(present.min()), float(present.max())
    return ColumnSummary(column.kind, n, missing, (_mark(column),), low, high, mean, squares, counted, column.writing)


def _mark(column: Column) -> bytes:
    """A digest that columns of the same numbers share, and columns of text whose levels come in the same places."""
    digest = hashlib.blake2b(b"text" if column.kind == "text" else b"number", digest_size=16)
    if column.kind == "text":
        codes: dict[str | None, int] = {}
        digest.update(np.array([codes.setdefault(v, len(codes)) for v in column.values.tolist()]).tobytes())
    else:
        digest.update(np.ascontiguousarray(column.values + 0.0).tobytes())
    return digest.digest()


def join_summaries(left: dict[str, ColumnSummary], right: dict[str, ColumnSummary]) -> dict[str, ColumnSummary]:
    """Two runs of partitions as one."""
    return {name: join_columns(own, right[name]) for name, own in left.items()}


def join_columns(left: ColumnSummary, right: ColumnSummary) -> ColumnSummary:
    """The same column of two runs of partitions (Chan, Golub and LeVeque 1983)."""
    n, m = left.present, right.present
    share = m / (n + m) if n + m else 0.0
    away = right.mean - left.mean if n and m else 0.0
    mean = left.mean + share * away if n else right.mean
    levels = None if left.levels is None or right.levels is None else left.levels + right.levels
    levels = levels if levels is None or len(levels) <= MOST_LEVELS else None
    kind = left.kind if left.kind == right.kind else KINDS.get(frozenset((left.kind, right.kind)), left.kind)
    counts = (left.rows + right.rows, left.missing + right.missing, left.marks + right.marks)
    low, high = float(np.fmin(left.low, right.low)), float(np.fmax(left.high, right.high))
    squares = left.squares + right.squares + n * share * away * away
    return ColumnSummary(kind, *counts, low, high, mean, squares, levels, left.writing or right.writing)


def level_marks(part: HeldPart, names: Sequence[str], orders: Sequence[dict[str, int]]) -> tuple[bytes, ...]:
    """Digests of text columns with each level as its number among all: equal ones are renamed copies."""
    out = []
    for name, order in zip(names, orders, strict=True):
        codes = np.array([order[cell] for cell in cells(part.table[name])])
        out.append(hashlib.blake2b(codes.tobytes(), digest_size=16).digest())
    return tuple(out)


def first_rows(part: HeldPart, names: Sequence[str], most: int) -> Frame | None:
    """The rows of some columns that are among the first ``most`` of the whole source."""
    own = max(0, most - part.first_row)
    if not own:
        return None
    return Frame(tuple(part.table[name].take(slice(own)) for name in names), min(own, part.table.n))


def text_frequencies(part: HeldPart, names: Sequence[str]) -> tuple[int, list[NDArray[np.int64]]]:
    """Rows, and how many of them have each hashed term of each text column."""
    from separatrix.features.encoder import as_text
    from separatrix.features.text import rows_having

    return part.table.n, [rows_having(as_text(part.table[name]).values) for name in names]


def join_frequencies(left: Any, right: Any) -> Any:
    """Counts of two runs of partitions."""
    return left[0] + right[0], [a + b for a, b in zip(left[1], right[1], strict=True)]


HEAD = 5000  # rows that decide between text and categories
ID = "looks like an ID column: nearly every value is unique"


def need_mergeable(choices: Choices) -> None:
    """Refuse encodings whose state is not a sum over partitions."""
    choices.check()
    for said, bad in (
        ("words='tfidf'", choices.words != "hashed"),
        ("dates='parts'", choices.dates != "days"),
        (f"map={choices.map!r}", choices.map is not None),
    ):
        if bad:
            raise ParameterError(f"{said} needs all rows in one place: leave it out on a cluster and for rows on disk.")


def merged_encoder(rounds: Rounds, names: Sequence[str], choices: Choices, source: str) -> Encoder:
    """Decide what each column is, from all partitions."""
    for name in choices.named:
        if name not in names:
            raise DataError(unknown_column(name, list(names), source))
    kept = [name for name in names if name not in choices.drop]
    known: dict[str, ColumnSummary] = rounds.reduce("columns", summaries, kept, choices, join=join_summaries)
    encoder = Encoder([], dropped=dict.fromkeys(choices.drop, "as asked"))
    useful = _useful(rounds, known, encoder)
    counters = [name for name in useful if name not in choices.named and known[name].counts_rows]
    if len(counters) < len(useful):  # the day of a trend counts the rows as well
        encoder.dropped |= {name: reason(known[name].low, known[name].high, name) for name in counters}
        useful = [name for name in useful if name not in counters]
    head = _head(rounds, [name for name in useful if known[name].kind == "text"])
    words, numbers = list[str](), list[str]()
    for name in useful:
        own = known[name]
        if name in choices.text or (own.kind == "text" and _wordy(name, choices, head)):
            words.append(name)
        elif name not in choices.category and (name in choices.number or own.kind != "text"):
            if own.kind == "text":
                raise DataError(f"{name!r} of {source} is text: leave it out of number.")
            numbers.append(name)
    fills = medians(rounds, {name: known[name].present for name in numbers})
    texts = _texts(rounds, words)
    for name in useful:
        if name in texts:
            if name not in choices.text:
                encoder.notes.append(f"{name!r} as text")
            encoder.columns.append(texts[name])
        elif name in fills:
            encoder.columns.append(_number(name, known[name], fills[name], choices.scale == "standard"))
        else:
            _category(encoder, name, known[name], choices, head)
    if not encoder.columns:
        why = "; ".join(f"{name!r} {why}" for name, why in list(encoder.dropped.items())[:5])
        raise DataError(f"{source} has no column left to learn from: {why or 'it has only the target'}.")
    return encoder


def _useful(rounds: Rounds, known: dict[str, ColumnSummary], encoder: Encoder) -> list[str]:
    """The columns that are neither constant nor copies of an earlier one."""
    seen: dict[tuple[bytes, ...], list[str]] = {}
    out = []
    for name, own in known.items():
        if own.missing == own.rows:
            encoder.dropped[name] = "is missing in every row"
        elif not own.missing and own.kind == "text" and own.levels is not None and len(own.levels) == 1:
            encoder.dropped[name] = f"is {next(iter(own.levels))!r} in every row"
        elif not own.missing and own.kind != "text" and own.low == own.high:
            encoder.dropped[name] = f"is {own.low:g} in every row"
        else:
            like = next((other for other in seen.get(own.marks, []) if _copies(rounds, known, other, name)), None)
            if like is not None:
                encoder.dropped[name] = f"repeats {like!r}"
                continue
            seen.setdefault(own.marks, []).append(name)
            out.append(name)
    return out


def _copies(rounds: Rounds, known: dict[str, ColumnSummary], one: str, two: str) -> bool:
    """Whether columns that look alike in every partition are the same, up to other names of levels."""
    a, b = known[one], known[two]
    if a.kind != "text" or b.kind != "text":
        return a.kind != "text" and b.kind != "text"
    if a.levels is None or b.levels is None:
        return False
    if len(a.levels) > a.rows // 2 and list(a.levels) != list(b.levels):
        return False
    orders = [{level: k for k, level in enumerate(own.levels)} for own in (a, b) if own.levels is not None]
    return all(a == b for a, b in rounds.gather("copies of columns", level_marks, [one, two], orders))


def _head(rounds: Rounds, names: list[str]) -> Frame | None:
    """The first rows of text columns, from as many partitions as have them."""
    if not names:
        return None
    parts = rounds.gather("first rows", first_rows, names, HEAD)
    return join(parts) if parts else None


def _wordy(name: str, choices: Choices, head: Frame | None) -> bool:
    return head is not None and name not in (*choices.category, *choices.number) and is_wordy(head[name])


def _texts(rounds: Rounds, names: list[str]) -> dict[str, TextColumn]:
    if not names:
        return {}
    n, having = rounds.reduce("terms of text", text_frequencies, names, join=join_frequencies)
    return {name: TextColumn(name, inverse_frequencies(n, own)) for name, own in zip(names, having, strict=True)}


def _number(name: str, own: ColumnSummary, fill: float, standard: bool) -> NumberColumn:
    shift, scale = 0.0, 1.0
    if standard and own.present:
        filled = own.with_copies(fill, own.missing)
        shift, scale = filled.mean, math.sqrt(filled.squares / own.rows) or 1.0
    return NumberColumn(name, own.kind, fill, own.missing > 0, shift, scale, own.writing)


def _category(encoder: Encoder, name: str, own: ColumnSummary, choices: Choices, head: Frame | None) -> None:
    if name not in choices.category:
        unique = own.levels is not None and own.present >= FEW_ROWS
        if unique and own.levels is not None and len(own.levels) - (own.missing > 0) > 0.9 * own.present:
            encoder.dropped[name] = ID
            return
        if own.levels is None and head is not None and names_rows(head[name]):
            encoder.dropped[name] = ID
            return
    if own.levels is None:
        raise DataError(f"{name!r} has more than 100,000 different values: drop it, or name it as text.")
    encoder.add_category(name, own.kind, own.levels, choices, own.rows)

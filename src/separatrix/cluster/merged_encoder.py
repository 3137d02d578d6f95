"""The encoder of a table in partitions: the same decisions as on one machine, from summaries that join.

Sums are joined in the fixed tree, medians and counts are exact, so that the encoder has the same bits for any number of
workers. What would need all rows of a column in one place is not offered: a vocabulary, parts of dates, feature maps,
and the search for leaks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from separatrix.cluster.column_summary import (
    ColumnSummary,
    first_rows,
    join_frequencies,
    join_summaries,
    level_marks,
    medians,
    summaries,
    text_frequencies,
)
from separatrix.cluster.rounds import Rounds
from separatrix.data.frame import Frame, join, unknown_column
from separatrix.errors import DataError, ParameterError
from separatrix.features.column_encoders import NumberColumn, TextColumn
from separatrix.features.encoder import Choices, Encoder, is_wordy
from separatrix.features.leaks import FEW_ROWS, names_rows
from separatrix.features.text import inverse_frequencies

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
    for name in (*choices.drop, *choices.text, *choices.category, *choices.number):
        if name not in names:
            raise DataError(unknown_column(name, list(names), source))
    kept = [name for name in names if name not in choices.drop]
    known: dict[str, ColumnSummary] = rounds.reduce("columns", summaries, kept, choices, join=join_summaries)
    encoder = Encoder([], dropped=dict.fromkeys(choices.drop, "as asked"))
    useful = _useful(rounds, known, encoder)
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

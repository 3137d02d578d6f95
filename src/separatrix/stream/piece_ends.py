"""Where the rows of a piece begin and end: after the line of names of a CSV, and not between quotes."""

from __future__ import annotations

from copy import deepcopy

from separatrix.data.bytes import Bytes
from separatrix.stream.formats import Format, format_of
from separatrix.stream.lines import Piece
from separatrix.stream.plan import StreamPlan
from separatrix.stream.table_formats import Csv


def end_of_rows(text: Bytes, more: int, last: bool, found: Format | None, name: str | None, plan: StreamPlan) -> int:
    """How many bytes of whole lines are whole rows: all but those of a CSV with line ends between quotes.

    Parameters
    ----------
    text : Bytes
        Whole lines.
    more : int
        Bytes of a line that are known to follow.
    last : bool
        Whether nothing follows.
    found : Format or None
        The format; None before the first line was read, when ``name`` or that line tells.
    name : str or None
        The format that was asked for.
    plan : StreamPlan
        The source and its columns.
    """
    begin = 0
    if found is None:
        raw = text.tobytes()
        begin = len(raw) - len(raw.lstrip())
        line = raw[begin:].partition(b"\n")[0]
        if not line or (name or format_of(plan.source, line)) != "csv":
            return len(text)
        found = Csv(deepcopy(plan.columns))
        found.begin(line, plan.source)
        begin = min(len(text), begin + len(line) + 1)
    if not isinstance(found, Csv) or begin == len(text):
        return len(text)
    return begin + found.complete(text[begin:], more, last)


def without_first_line(piece: Piece, size: int) -> Piece:
    """A piece without its first line, which has so many bytes."""
    return Piece(piece.text[size:], piece.begin + size, piece.line + 1, piece.lines - 1, piece.position, piece.fault)

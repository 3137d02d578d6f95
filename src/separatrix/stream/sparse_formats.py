"""svmlight lines by the native reader, Vowpal Wabbit's text line by line; what cannot be read is rejected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.data.file_pieces import NEWLINE, Bytes, behind_last_line
from separatrix.data.sparse_text import FAULTS, Part, parse, parse_line
from separatrix.stream.row_batches import SHOWN, Reject, SparseRows, lines_of

WINDOW = 4096  # bytes that are tried behind a line at fault
QUESTION, SPACES = ord("?"), np.frombuffer(b" \t\r\n", dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Svmlight:
    """``label index:value …``; a feature is known by its number as it is written, a label ``?`` is not known."""

    most_features: int

    def parse(self, text: Bytes) -> SparseRows:
        """The rows of a piece, without those that have a feature number beyond the limit."""
        unknown = _without_labels(text)
        if not len(unknown):
            made = self._rows(text)
        else:
            named = text.copy()
            named[unknown] = ord("0")
            made = self._rows(named)
            made.rejects = [own._replace(text=_shown(text, own)) for own in made.rejects]
            made.labelled = np.array([not raw.startswith(b"?") for _, _, raw in _row_lines(text, made)], dtype=np.bool_)
        return made if made.most < self.most_features else _within(made, self.most_features, text)

    def _rows(self, text: Bytes) -> SparseRows:
        """All rows; behind a line at fault a small window is tried first, and then twice as much."""
        parts: list[Part] = []
        rejects: list[Reject] = []
        at, window, rows, line = 0, len(text), 0, 0
        while at < len(text):
            end = len(text) if at + window >= len(text) else _line_end(text, at + window)
            part = parse(text[at:end], 0)
            if part.fault is None:
                parts.append(part)
                rows, window = rows + part.rows, 2 * window
                line += kernels.count_byte(text[at:end], NEWLINE) if end < len(text) else 0
                at = end
                continue
            wrong = at + part.fault[1]
            begin, end = behind_last_line(text[:wrong], at) or at, _line_end(text, wrong)
            if begin > at:
                parts.append(parse(text[at:begin], 0))
                rows += parts[-1].rows
                line += kernels.count_byte(text[at:begin], NEWLINE)
            reason = FAULTS[part.fault[0]]
            rejects.append(Reject(rows, begin, line, reason, text[begin : min(end, begin + SHOWN)].tobytes()))
            line += 1
            at, window = end, WINDOW
        return _joined(parts, rejects)


def _without_labels(text: Bytes) -> NDArray[np.intp]:
    """Where a line begins with a question mark and a space, or is nothing but one."""
    if not kernels.count_byte(text, QUESTION):
        return np.empty(0, dtype=np.intp)
    found = np.flatnonzero(text == QUESTION)
    before = text[np.maximum(found - 1, 0)]
    behind = text[np.minimum(found + 1, len(text) - 1)]
    ends = (found + 1 == len(text)) | np.isin(behind, SPACES)
    first: NDArray[np.bool_] = (found == 0) | (before == NEWLINE)
    return np.asarray(found[first & ends])


def _row_lines(text: Bytes, rows: SparseRows) -> list[tuple[int, int, bytes]]:
    """The lines that became rows, in their order."""
    rejected = {reject.line for reject in rows.rejects}
    return [own for own in lines_of(text) if own[2].split(b"#")[0].strip() and own[0] not in rejected]


def _shown(text: Bytes, reject: Reject) -> bytes:
    """The beginning of a rejected line as it is written."""
    return text[reject.byte : reject.byte + len(reject.text)].tobytes()


def _line_end(text: Bytes, at: int) -> int:
    """Behind the end of the line that holds a byte."""
    step = WINDOW
    while at < len(text):
        found = text[at : at + step].tobytes().find(b"\n")
        if found >= 0:
            return at + found + 1
        at, step = at + step, 2 * step
    return len(text)


def _joined(parts: list[Part], rejects: list[Reject]) -> SparseRows:
    parts = [part for part in parts if part.rows]
    if len(parts) == 1:
        (one,) = parts
        return SparseRows(one.ends, one.indices, one.values, one.labels, None, None, rejects, one.least, one.most)
    if not parts:
        none = np.empty(0, dtype=np.int32)
        return SparseRows(none, none, np.empty(0), np.empty(0), None, None, rejects)
    entries = np.cumsum([0, *(len(part.values) for part in parts[:-1])], dtype=np.int32)
    return SparseRows(
        np.concatenate([part.ends + before for part, before in zip(parts, entries, strict=True)]),
        np.concatenate([part.indices for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.labels for part in parts]),
        None,
        None,
        rejects,
        min((part.least for part in parts if part.least is not None), default=None),
        max(part.most for part in parts),
    )


def _within(rows: SparseRows, most_features: int, text: Bytes) -> SparseRows:
    """The same without the rows that have a feature number beyond the limit; lines are gone through once more."""
    lines = _row_lines(text, rows)
    sizes = np.diff(np.concatenate([[0], rows.ends]))
    too_far = np.zeros(rows.n, dtype=np.bool_)
    too_far[np.repeat(np.arange(rows.n), sizes)[rows.indices >= most_features]] = True
    keep = ~too_far
    entries = np.repeat(keep, sizes)
    kept_before = np.concatenate([[0], np.cumsum(keep)])
    rejects = [reject._replace(rows_before=int(kept_before[reject.rows_before])) for reject in rows.rejects]
    for row in np.flatnonzero(too_far).tolist():
        line, byte, raw = lines[row]
        reason = f"a feature number is {most_features:,} or more"
        rejects.append(Reject(int(kept_before[row]), byte, line, reason, raw[:SHOWN]))
    rejects.sort(key=lambda reject: reject.line)
    indices = rows.indices[entries]
    return SparseRows(
        np.cumsum(sizes[keep]).astype(np.int32),
        indices,
        rows.values[entries],
        rows.labels[keep],
        None if rows.labelled is None else rows.labelled[keep],
        None,
        rejects,
        int(indices.min()) if len(indices) else None,
        int(indices.max()) if len(indices) else -1,
    )


@dataclass(frozen=True, slots=True)
class VowpalWabbit:
    """Vowpal Wabbit's text; a line without a label is predicted only."""

    bits: int

    def parse(self, text: Bytes) -> SparseRows:
        ends: list[int] = []
        indices: list[int] = []
        values: list[float] = []
        labels: list[float] = []
        labelled: list[bool] = []
        weights: list[float] = []
        rejects: list[Reject] = []
        for number, begin, raw in lines_of(text):
            if not raw.strip():
                continue
            try:
                line = raw.decode("utf-8")
                has = bool(line.partition("|")[0].partition("'")[0].strip()) or "|" not in line
                label, weight, row = parse_line(line if has else f"0 {line}", self.bits)
            except ValueError as wrong:
                reason = "the line is not UTF-8" if isinstance(wrong, UnicodeDecodeError) else str(wrong)
                rejects.append(Reject(len(ends), begin, number, reason, raw[:SHOWN]))
                continue
            entries = sorted(row.items())
            indices += [column for column, _ in entries]
            values += [value for _, value in entries]
            ends.append(len(indices))
            labels.append(label)
            labelled.append(has)
            weights.append(weight)
        heavy = np.array(weights)
        return SparseRows(
            np.array(ends, dtype=np.int32),
            np.array(indices, dtype=np.int32),
            np.array(values, dtype=np.float64),
            np.array(labels, dtype=np.float64),
            None if all(labelled) else np.array(labelled, dtype=np.bool_),
            None if (heavy == 1).all() else heavy,
            rejects,
            0,
            (1 << self.bits) - 1,
        )

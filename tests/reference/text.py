"""Numbers out of text, readably: the same arguments, arrays and accounts as native/separatrix/text.hpp."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats

Bytes = NDArray[np.uint8]
Account = tuple[int, int, int, int, int, int]  # rows, entries, least and greatest feature, byte at fault, fault
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
PAIR = re.compile(rb"(\d{1,11}):")
NONE, IN_NUMBER, IN_INDEX, IN_ORDER, _, IN_LABEL, NO_ROOM = range(7)
BLANK = b" \t\r\v\f"


def count_byte(text: Bytes, wanted: int) -> int:
    """How often a byte occurs."""
    return int(np.count_nonzero(text == wanted))


def svmlight_chunk(
    text: Bytes, base: int, ends: NDArray[np.int32], indices: NDArray[np.int32], values: Floats, labels: Floats
) -> Account:
    """Lines of label, pairs index:value, perhaps qid:number and a comment; ``ends`` counts the entries so far."""
    if base not in (0, 1):
        raise ValueError("features are counted from 0 or 1")
    rows = entries = at = 0
    least, most = -1, -1
    for line in text.tobytes().split(b"\n"):
        content = line.split(b"#", 1)[0]
        begin = len(content) - len(content.lstrip(BLANK))
        if content.strip(BLANK):
            if rows == min(len(ends), len(labels)):
                return 0, 0, 0, -1, at + begin, NO_ROOM
            found = NUMBER.match(content, begin)
            if found is None or not _ends_cell(found, content) or not np.isfinite(float(found.group())):
                return 0, 0, 0, -1, at + begin, IN_LABEL
            labels[rows] = float(found.group())
            last = -1
            for cell in re.finditer(rb"[^ \t\r\v\f]+", content[found.end() :]):
                start = found.end() + cell.start()
                if re.fullmatch(rb"qid:\d+", cell.group()):
                    continue
                pair = PAIR.match(cell.group())
                if pair is None or int(pair.group(1)) > 2**31 - 1:
                    return 0, 0, 0, -1, at + start, IN_INDEX
                index = int(pair.group(1))
                if index <= last:
                    return 0, 0, 0, -1, at + start, IN_ORDER
                if entries == min(len(indices), len(values)):
                    return 0, 0, 0, -1, at + start, NO_ROOM
                number = NUMBER.fullmatch(cell.group(), pair.end())
                if number is None or not np.isfinite(float(number.group())):
                    return 0, 0, 0, -1, at + start, IN_NUMBER
                indices[entries], values[entries] = index - base, float(number.group())
                entries, last = entries + 1, index
                least = index if least < 0 else min(least, index)
            most = max(most, last)
            ends[rows] = entries
            rows += 1
        at += len(line) + 1
    return rows, entries, max(least, 0), most, -1, NONE


def _ends_cell(found: re.Match[bytes] | None, line: bytes) -> bool:
    return found is not None and (found.end() == len(line) or line[found.end() : found.end() + 1] in BLANK)

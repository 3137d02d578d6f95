"""Vowpal Wabbit's text format: ``label [importance [base]] ['tag]|space[:scale] feature[:value] … |space …``.

Features are hashed: the column of a feature is CRC-32 of its name space, a caret and its name, modulo 2^bits.
Features that fall on the same column of a row are added up. Base values and tags are read over.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from separatrix.data.bytes import bytes_of
from separatrix.errors import DataError

Floats = NDArray[np.float64]
BITS = 18


def read_vw(path: str | os.PathLike[str], *, bits: int = BITS) -> tuple[Any, Floats, Floats]:
    """Rows as a CSR array of 2^bits columns, their labels and their importance weights."""
    from scipy.sparse import csr_array

    name = Path(path).name
    labels, weights, data, columns, ends = [], [], [], [], [0]
    for number, raw in enumerate(bytes_of(path).tobytes().split(b"\n"), 1):
        line = raw.decode("utf-8", "replace").strip()
        if not line:
            continue
        try:
            label, weight, row = parse_line(line, bits)
        except ValueError as wrong:
            raise DataError(f"{name} line {number}: {wrong}.") from wrong
        labels.append(label)
        weights.append(weight)
        ordered = sorted(row.items())
        columns += [column for column, _ in ordered]
        data += [value for _, value in ordered]
        ends.append(len(columns))
    if not labels:
        raise DataError(f"{name} has no rows: nothing to learn from.")
    parts = np.array(data), np.array(columns, dtype=np.int32), np.array(ends, dtype=np.int32)
    X = csr_array(parts, shape=(len(labels), 1 << bits))
    X.has_canonical_format = True
    return X, np.array(labels), np.array(weights)


def parse_line(line: str, bits: int) -> tuple[float, float, dict[int, float]]:
    """Label, importance, and the values of the hashed columns of one line."""
    head, *spaces = line.split("|")
    if not spaces:
        raise ValueError("there is no | before the features")
    words = head.split("'", 1)[0].split()
    if not words:
        raise ValueError("there is no label before the first |")
    label = number_of(words[0], "the label")
    weight = number_of(words[1], "the importance") if len(words) > 1 else 1.0
    if weight < 0:
        raise ValueError(f"the importance {weight:g} is negative")
    row: dict[int, float] = defaultdict(float)
    for space in spaces:
        named = "" if space[:1].isspace() or not space else space.split(None, 1)[0]
        prefix, _, scale = named.partition(":")
        factor = number_of(scale, "the scale of a name space") if scale else 1.0
        for word in space.split()[1 if named else 0 :]:
            feature, _, value = word.rpartition(":") if ":" in word else (word, "", "1")
            amount = number_of(value, "the value of a feature") * factor
            row[crc32(f"{prefix}^{feature}".encode()) % (1 << bits)] += amount
    return label, weight, row


def number_of(text: str, what: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in text:
        raise ValueError(f"{what} is {text[:40]!r}, not a finite number")
    return value

"""Free text as numbers: words and pairs of words, hashed into a fixed number of columns.

The weight of a term in a row is (1 + ln count) idf, with idf = ln((1 + n)/(1 + rows that have it)) + 1, and
rows are scaled to length 1 (Salton & Buckley 1988; hashing as in Weinberger et al. 2009, without signs).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from math import log, sqrt
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

WORD = re.compile(r"[^\W_]+|[£$€!?]+")
BUCKETS = 1 << 18


def terms(text: str) -> list[bytes]:
    """Words in lower case, a mark for numbers by their length, and each pair of neighbours."""
    words = [("#" * len(w) if w.isdigit() else w).encode() for w in WORD.findall(text.lower())]
    return [*words, *(a + b" " + b for a, b in pairwise(words))]


def counts(texts: Iterable[str | None], buckets: int) -> tuple[list[NDArray[np.int64]], list[NDArray[np.int64]]]:
    """For each text the hashed terms that it has, ascending, and how often."""
    places, times = [], []
    for text in texts:
        hashed = np.array([crc32(term) % buckets for term in terms(text or "")], dtype=np.int64)
        at, many = np.unique(hashed, return_counts=True)
        places.append(at)
        times.append(many.astype(np.int64))
    return places, times


def rows_having(texts: Iterable[str | None]) -> NDArray[np.int64]:
    """How many of the texts have a term of each bucket."""
    places, _ = counts(texts, BUCKETS)
    return np.bincount(np.concatenate(places) if places else np.empty(0, dtype=np.int64), minlength=BUCKETS)


def inverse_frequencies(n: int, having: NDArray[np.int64]) -> NDArray[np.float64]:
    """idf of every bucket from the n texts of a fit."""
    table = np.log((1 + n) / (1 + having)) + 1
    table[having == 0] = 0.0  # a term that no row of the fit had has no weight either
    return np.asarray(table)


def weigh(texts: Iterable[str | None], idf: NDArray[np.float64]) -> Any:
    """The rows of the texts as a CSR matrix."""
    from scipy.sparse import csr_array

    places, times = counts(texts, len(idf))
    data, indices, ends = [], [], [0]
    for at, many in zip(places, times, strict=True):
        weight = (1 + np.array([log(k) for k in many.tolist()])) * idf[at]
        kept = weight > 0
        at, weight = at[kept], weight[kept]
        length = sqrt(float(weight @ weight))
        data.append(weight / length if length else weight)
        indices.append(at)
        ends.append(ends[-1] + len(at))
    flat = np.concatenate(data) if data else np.empty(0)
    columns = np.concatenate(indices) if indices else np.empty(0, dtype=np.int64)
    return csr_array((flat, columns.astype(np.int32), np.array(ends, dtype=np.int32)), shape=(len(ends) - 1, len(idf)))

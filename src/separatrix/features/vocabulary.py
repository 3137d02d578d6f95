"""Free text by a vocabulary: one feature for each of the most common terms of the fit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Column
from separatrix.features.columns import Noted
from separatrix.features.text import terms

MOST_TERMS = 20_000
LEAST_ROWS = 2


@dataclass(frozen=True, slots=True)
class VocabularyColumn:
    """tf-idf of the words and pairs of words that at least two rows of the fit had, rows of length 1.

    The weights are those of the hashed form (text.py); there are no collisions, and a term that is not in the
    vocabulary has no weight.
    """

    KIND: ClassVar[str] = "vocabulary"
    name: str
    terms: tuple[str, ...]
    idf: NDArray[np.float64] = field(repr=False)

    @classmethod
    def fitted(cls, column: Column) -> VocabularyColumn:
        having: Counter[bytes] = Counter()
        for text in column.values.tolist():
            having.update(set(terms(text or "")))
        ranked = sorted(
            (item for item in having.items() if item[1] >= LEAST_ROWS), key=lambda item: (-item[1], item[0])
        )
        kept = sorted(ranked[:MOST_TERMS])
        counts = np.array([count for _, count in kept], dtype=np.float64)
        idf = np.log((1 + len(column.values)) / (1 + counts)) + 1
        return cls(column.name, tuple(term.decode() for term, _ in kept), idf)

    def names(self) -> list[str]:
        return [f"{self.name}:{term}" for term in self.terms]

    def encode(self, column: Column, noted: Noted, source: str) -> Any:
        from scipy.sparse import csr_array

        noted.missing += int(column.missing.sum())
        place = {term.encode(): j for j, term in enumerate(self.terms)}
        data: list[float] = []
        indices: list[int] = []
        ends = [0]
        for text in column.values.tolist():
            many = Counter(place[term] for term in terms(text or "") if term in place)
            row = [(j, (1 + log(count)) * float(self.idf[j])) for j, count in sorted(many.items())]
            length = sqrt(sum(weight * weight for _, weight in row))
            data += [weight / length for _, weight in row]
            indices += [j for j, _ in row]
            ends.append(len(indices))
        parts = np.array(data), np.array(indices, dtype=np.int32), np.array(ends, dtype=np.int32)
        return csr_array(parts, shape=(len(ends) - 1, len(self.terms)))

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "terms": list(self.terms)}

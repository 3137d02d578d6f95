"""Certificates: what is claimed, about which data, and the numbers that prove it, as JSON.

docs/separability.md specifies the format; ``separatrix.checker`` reads it without this package.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import checker
from separatrix.errors import CertificateError, DataError
from separatrix.validation import Table, check_labels, check_lengths, check_table

INDEX_ONLY = checker.INDEX_ONLY


@dataclass(frozen=True)
class Subject:
    """The data that certificates speak of, as the user gave them."""

    table: Table  # the rows that count
    labels: NDArray[np.int8]  # their labels, as the fingerprint has them: -1 and +1, or class numbers
    origin: NDArray[np.int64] | None  # their row numbers, when others were left out
    dropped: tuple[int, ...]  # row numbers of weight zero
    classes: dict[str, Any]  # "positive" and "negative", or "classes", by name
    intercept: bool
    reading: str

    @cached_property
    def data(self) -> dict[str, Any]:
        names = None if self.table.names is None else list(self.table.names)
        return {
            "n": self.table.n,
            "d": self.table.d,
            "sha256": fingerprint(self.table.X, self.labels),
            "columns": names,
            "dropped": list(self.dropped),
            **self.classes,
        }

    def row(self, t: int) -> int | list[int]:
        """The row number of row z number t; with Kesler's construction, [row number, other class]."""
        if "classes" not in self.classes:
            return int(t) if self.origin is None else int(self.origin[t])
        i, k = divmod(int(t), len(self.classes["classes"]) - 1)
        return [i if self.origin is None else int(self.origin[i]), k + int(k >= self.labels[i])]

    def certify(self, claim: str, **fields: Any) -> Certificate:
        head = {"format": checker.FORMAT, "claim": claim, "reading": self.reading, "intercept": self.intercept}
        return Certificate({**head, "data": self.data, **fields})


@dataclass(frozen=True)
class Certificate:
    """A claim with its proof; ``verify`` checks it, and so does the stand-alone checker."""

    content: dict[str, Any]

    @property
    def claim(self) -> str:
        parts = self.content.get("certificates")
        return str(self.content.get("claim")) if parts is None else ", ".join(str(p.get("claim")) for p in parts)

    def to_dict(self) -> dict[str, Any]:
        """The content, as JSON has it."""
        return dict(self.content)

    @cached_property
    def text(self) -> str:
        return json.dumps(self.content, indent=1, ensure_ascii=False)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.text.encode())

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self.text + "\n", encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> Certificate:
        """Read a certificate; nothing in it is believed before it is verified."""
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise CertificateError(f"{path} is not JSON ({str(error)[:120]}): it is no certificate.") from error
        if not isinstance(content, dict) or content.get("format") != checker.FORMAT:
            raise CertificateError(f"{path} is not a certificate of the format {checker.FORMAT!r}.")
        return Certificate(content)

    @staticmethod
    def bundle(parts: Iterable[Certificate]) -> Certificate:
        """Several certificates in one file."""
        return Certificate({"format": checker.FORMAT, "certificates": [part.content for part in parts]})

    def __str__(self) -> str:
        return f"Certificate: {self.claim}, {self.size / 1000:.1f} kB"


def verify(certificate: Certificate | str | Path, X: Any, y: Any) -> str:
    """Check a certificate against data, trusting neither it nor the code that made it.

    Returns the proved claim as a sentence. Raises :class:`~separatrix.errors.CertificateError` with the first
    thing that is wrong: other data, malformed content, or numbers that do not prove what is claimed.
    All rows are passed, also those of weight zero or of other classes, which the certificate names.
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    table = check_table(X)
    labels = check_labels(y)
    check_lengths(table.n, len(labels.codes), "y")
    names = class_names(labels.classes)
    rows = list(zip((names[k] for k in labels.codes.tolist()), sparse_rows(table.X), strict=True))
    parts = certificate.content.get("certificates", [certificate.content])
    try:
        return "; ".join(checker.check(part, rows, table.d) for part in parts)
    except checker.Rejected as why:
        raise CertificateError(f"The certificate is rejected: {why}.") from None


def class_names(classes: NDArray[Any]) -> list[str]:
    """The classes by name, as a file would have them."""
    names = [checker.label_name(str(c)) for c in classes.tolist()]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"y has several classes that read as {twice!r}: give them different names.")
    return names


def sparse_rows(X: Any) -> list[list[tuple[int, float]]]:
    """Each row as its non-zeros, for the checker."""
    if isinstance(X, np.ndarray):
        return [[(j, v) for j, v in enumerate(row) if v] for row in X.tolist()]
    bounds, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    return [[(columns[k], values[k]) for k in range(start, end) if values[k]] for start, end in pairwise(bounds)]


def fingerprint(X: Any, labels: NDArray[np.int8], block: int = 4096) -> str:
    """The same sha256 as the checker's, in blocks."""
    n, d = X.shape
    digest = hashlib.sha256(np.array([n, d], dtype="<u8").tobytes())
    full = np.dtype([("count", "<u8"), ("entries", [("column", "<u8"), ("value", "<f8")], (d,)), ("label", "i1")])
    for start in range(0, n, block):
        part, signs = X[start : start + block], labels[start : start + block]
        if isinstance(part, np.ndarray) and bool((part != 0).all()):
            whole = np.empty(len(part), dtype=full)
            whole["count"], whole["label"] = d, signs
            whole["entries"]["column"], whole["entries"]["value"] = np.arange(d), part
            digest.update(whole.tobytes())
            continue
        for row, label in zip(sparse_rows(part), signs.tolist(), strict=True):
            entries = np.array(row, dtype=[("column", "<u8"), ("value", "<f8")])
            digest.update(np.uint64(len(row)).tobytes() + entries.tobytes() + np.int8(label).tobytes())
    return digest.hexdigest()


def numbers(values: Sequence[int]) -> list[str]:
    """Integers as strings: hexadecimal, or hexadecimal floats where those are exact and shorter."""
    top = max((abs(v).bit_length() for v in values), default=0)
    return [_number(v, top) for v in values]


def _number(v: int, top: int) -> str:
    size = abs(v).bit_length()
    if v and size - ((v & -v).bit_length() - 1) <= 53 and size > 53 and top - size < 1000 and top <= 1020:
        return float(v).hex()
    return hex(v)


def quotient(q: Fraction) -> str:
    """A rational number as a quotient of hexadecimal integers."""
    return hex(q.numerator) if q.denominator == 1 else f"{hex(q.numerator)}/{hex(q.denominator)}"


def scaled(w: Sequence[int]) -> list[str]:
    """A vector, which may be multiplied by any positive number: floats where they are exact."""
    top = max((abs(v).bit_length() for v in w), default=0)
    texts = []
    for v in w:
        q = Fraction(v, 1 << top)
        exact = v == 0 or (abs(v).bit_length() > top - 1000 and Fraction(float(q)) == q)
        texts.append(("0x0" if v == 0 else float(q).hex()) if exact else "")
    return texts if all(texts) else numbers(w)


def true_weights(weights: dict[int, int], subject: Subject) -> dict[str, Any]:
    """Support and weights for a certificate; short circuits carry their rows only."""
    divisor = math.gcd(*weights.values())
    return {
        "support": [subject.row(i) for i in weights],
        "lambda": numbers([t // divisor for t in weights.values()]),
    }

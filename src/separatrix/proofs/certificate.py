"""Certificates: what is claimed, about which data, and the numbers that prove it, as JSON.

docs/certificates.md specifies the format; ``separatrix.checker`` reads it without this package.

Rows are written to files that the checker reads, CSV with a header or svmlight, with numbers to the last bit.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from separatrix import checker
from separatrix.errors import CertificateError, DataError
from separatrix.validation import Labels, Table, check_labels, check_lengths, check_table

INTEGERS = re.compile(r"\[\n\s*-?[0-9]+(?:,\n\s*-?[0-9]+)*\n\s*\]")  # in text, line breaks are escaped

INDEX_ONLY = checker.INDEX_ONLY
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class CertifiedTable:
    """The whole table that certificates are about, with rows of weight zero and classes that take no part."""

    table: Table
    labels: Labels
    dropped: tuple[int, ...] = ()  # row numbers of weight zero
    target: str | None = None

    @cached_property
    def classes(self) -> list[str]:
        return class_names(self.labels.classes)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The scope that all certificates about this table share; the rows are read once for their fingerprint."""
        names = None if self.table.names is None else list(self.table.names)
        return {
            "n": self.table.n,
            "d": self.table.d,
            "sha256": fingerprint(self.table.X, self.labels.codes),
            "columns": names,
            "target": self.target,
            "classes": self.classes,
            "dropped": list(self.dropped),
        }


@dataclass(frozen=True)
class Subject:
    """The rows of a claim, and the table that they are from."""

    table: Table  # the rows in use
    labels: NDArray[Any]  # -1 and +1, or class numbers
    origin: NDArray[np.int64] | None  # their row numbers, when others are not in use
    source: CertifiedTable
    sides: dict[str, Any]  # "positive" and "negative", or "kesler", by name
    intercept: bool
    reading: str

    def row(self, t: int) -> int | list[int]:
        """The row number of row z number t; with Kesler's construction, [row number, other class]."""
        if "kesler" not in self.sides:
            return int(t) if self.origin is None else int(self.origin[t])
        i, k = divmod(int(t), len(self.sides["kesler"]) - 1)
        return [i if self.origin is None else int(self.origin[i]), k + int(k >= self.labels[i])]

    def certify(self, claim: str, **fields: Any) -> Certificate:
        head = {"format": checker.FORMAT, "claim": claim, "reading": self.reading, "intercept": self.intercept}
        return Certificate({**head, "data": self.source.data, **self.sides, **fields})


@dataclass(frozen=True)
class Certificate:
    """A claim with its proof; ``verify`` checks it, and so does the stand-alone checker.

    Attributes
    ----------
    content : dict
        What the file holds.
    claim : str
        What is claimed.
    size : int
        Length of the file in bytes.

    Examples
    --------
    >>> from separatrix import Certificate, separability, verify
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> proof = separability(X, y).certificate
    >>> proof.claim, proof.size < 1000
    ('overlap', True)
    """

    content: dict[str, Any]

    @property
    def claim(self) -> str:
        parts = self.content.get("certificates")
        return str(self.content.get("claim")) if parts is None else ", ".join(str(p.get("claim")) for p in parts)

    def to_dict(self) -> dict[str, Any]:
        """The content, as JSON has it.

        Returns
        -------
        dict

        Examples
        --------
        >>> from separatrix import Certificate, separability, verify
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> proof = separability(X, y).certificate
        >>> sorted(proof.to_dict())
        ['claim', 'data', 'format', 'intercept', 'negative', 'positive', 'reading', 'support']
        """
        return dict(self.content)

    @cached_property
    def text(self) -> str:
        """The JSON, a list of integers on one line."""
        indented = json.dumps(self.content, indent=1, ensure_ascii=False)
        return INTEGERS.sub(lambda found: re.sub(r"\s", "", found[0]), indented)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.text.encode())

    def save(self, path: str | Path) -> None:
        """Write the certificate as JSON, atomically.

        Parameters
        ----------
        path : str or Path
            Where to write it.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from separatrix import Certificate, separability, verify
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> proof = separability(X, y).certificate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proof.save(Path(folder) / "proof.json")
        ...     sentence = verify(Path(folder) / "proof.json", X, y)
        ...
        >>> sentence.split(":")[0]
        'no hyperplane has all of these 4 rows strictly on their correct sides'
        """
        from separatrix.atomic_write import write_whole  # it imports tempfile, which fits do not need

        write_whole(Path(path), f"{self.text}\n".encode())

    @staticmethod
    def load(path: str | Path) -> Certificate:
        """Read a certificate; nothing in it is believed before it is verified.

        Parameters
        ----------
        path : str or Path
            A file that ``save`` or the command line wrote.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from separatrix import Certificate, separability, verify
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> proof = separability(X, y).certificate
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     proof.save(Path(folder) / "proof.json")
        ...     again = Certificate.load(Path(folder) / "proof.json")
        ...
        >>> again.claim == proof.claim
        True
        """
        try:
            return Certificate(checker.load(str(path)))
        except ValueError as error:
            raise CertificateError(f"{str(error)[:300]}.") from None

    @staticmethod
    def bundle(parts: Iterable[Certificate]) -> Certificate:
        """Put several certificates about the same table into one.

        Parameters
        ----------
        parts : iterable of Certificate
            Of the same rows.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> from separatrix import Certificate, margin, mistake_bound, verify
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> y = [-1, 1, 1, -1, -1, 1]
        >>> both = Certificate.bundle([margin(X, y).certificate, mistake_bound(X, y).certificate])
        >>> len(verify(both, X, y).splitlines())
        2
        """
        contents = [part.content for part in parts]
        if not contents:
            raise CertificateError("A bundle needs at least one certificate.")
        data = contents[0]["data"]
        if any(content["format"] != checker.FORMAT or content["data"] != data for content in contents):
            raise CertificateError("The certificates are not all about the same table: save them one by one.")
        shared = {"format": checker.FORMAT, "data": data}
        bare = [{name: value for name, value in content.items() if name not in shared} for content in contents]
        return Certificate({**shared, "certificates": bare})

    def __str__(self) -> str:
        return f"Certificate: {self.claim}, {self.size / 1000:.1f} kB"


def verify(certificate: Certificate | str | Path, X: Any, y: Any) -> str:
    """Check a certificate against data, trusting neither it nor the code that made it.

    Parameters
    ----------
    certificate : Certificate, or the path of its file
    X : array, sparse matrix or frame
        All rows, also those of weight zero or of other classes, which the certificate names. Of a frame, the columns
        that the certificate names are used; an array must have these columns and no others.
    y : labels, one for each row

    Returns
    -------
    str
        The proved claim, with all that it is about: columns, classes, rows used and dropped, intercept, reading of
        the numbers. Claims of a bundle are joined by a line break.

    Raises
    ------
    CertificateError
        With the first thing that is wrong: other data, a claim about nothing, malformed content, or numbers that do
        not prove what is claimed.

    Examples
    --------
    >>> from separatrix import separability, verify
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> verify(separability(X, y).certificate, X, y).split(":")[0]
    'one hyperplane has all 6 rows strictly on their correct sides'
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.load(certificate)
    try:
        checker.need_format(certificate.content)
        told = checker.described_data(certificate.content)
        return "\n".join(checker.check(certificate.content, _checkable(X, y, told["columns"])))
    except checker.Rejected as why:
        raise CertificateError(f"The certificate is rejected: {why}.") from None
    except ValueError as error:
        raise CertificateError(f"{error}.") from None


def _checkable(X: Any, y: Any, columns: list[str] | None) -> checker.ExactTable:
    """The data as the checker takes them; of named columns those that the certificate names."""
    table, labels = check_table(X), check_labels(y, rows=X)
    check_lengths(table.n, len(labels.codes), "y")
    values, names = table.X, None if table.names is None else list(table.names)
    unused: tuple[str, ...] = ()
    if columns is not None and names is not None and names != columns and set(columns) <= set(names):
        values = values[:, [names.index(name) for name in columns]]
        if not isinstance(values, np.ndarray):
            values.sort_indices()
        unused, names = tuple(name for name in names if name not in columns), columns
    classes = class_names(labels.classes)
    rows = list(zip((classes[k] for k in labels.codes.tolist()), sparse_rows(values), strict=True))
    target = getattr(y, "name", None)
    return checker.ExactTable(rows, values.shape[1], names, target if isinstance(target, str) else None, "X", unused)


def class_names(classes: NDArray[Any]) -> list[str]:
    """The classes by name, as a file would have them."""
    try:
        names = [checker.label_name(str(c)) for c in classes.tolist()]
    except ValueError as error:
        raise DataError(f"y: {error}.") from None
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"y has several classes that read as {twice!r}: give them different names.")
    return names


def sparse_rows(X: Any) -> list[checker.SparseRow]:
    """Each row as its non-zeros, for the checker."""
    if not isinstance(X, np.ndarray):
        bounds, columns, values = X.indptr.tolist(), array("Q", X.indices.tolist()), X.data.tolist()
        return [checker.SparseRow.of(columns[start:end], values[start:end]) for start, end in pairwise(bounds)]
    every = array("Q", range(X.shape[1]))
    full = (X != 0).all(axis=1).tolist()
    return [
        checker.SparseRow(every, array("d", row.tobytes())) if whole else checker.SparseRow.of(every, row.tolist())
        for whole, row in zip(full, X.astype(np.float64, copy=False), strict=True)
    ]


def fingerprint(X: Any, codes: NDArray[Any]) -> str:
    """The sha256 of a table, as the checker computes it."""
    n, d = X.shape
    starts = range(0, n, checker.BLOCK)
    blocks = ((X[s : s + checker.BLOCK], codes[s : s + checker.BLOCK]) for s in starts)
    return joined_fingerprint(n, d, (block_digest(*block) for block in blocks))


def joined_fingerprint(n: int, d: int, digests: Iterable[bytes]) -> str:
    """The sha256 of a table from those of its blocks of rows, in order."""
    return hashlib.sha256(b"".join([np.array([n, d], dtype="<u8").tobytes(), *digests])).hexdigest()


def block_digest(X: Any, codes: NDArray[Any]) -> bytes:
    """The sha256 of a block of rows: the number of non-zeros, each with its column, and the class number of each."""
    if isinstance(X, np.ndarray):
        if X.all():  # rows of the same length
            full = np.empty((len(codes), 2 * X.shape[1] + 2), dtype="<u8")
            full[:, 0], full[:, -1] = X.shape[1], codes
            full[:, 1:-1:2] = np.arange(X.shape[1])
            full[:, 2:-1:2] = np.ascontiguousarray(X, dtype="<f8").view("<u8")
            return hashlib.sha256(full.data).digest()
        rows, columns = np.nonzero(X)
        values = X[rows, columns]
    else:
        kept = np.flatnonzero(X.data)
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))[kept]
        columns, values = X.indices[kept], X.data[kept]
    counts = np.bincount(rows, minlength=len(codes))
    starts = np.cumsum(2 * counts + 2) - (2 * counts + 2)
    words = np.empty(2 * len(rows) + 2 * len(codes), dtype="<u8")
    words[starts] = counts
    words[starts + 2 * counts + 1] = codes
    places = 2 * np.arange(len(rows)) + 2 * rows + 1  # two words for each non-zero, two for each row before
    words[places] = columns
    words[places + 1] = values.astype("<f8").view("<u8")
    return hashlib.sha256(words.data).digest()


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


# -- rows in files that the checker reads --


def put_csv(file: TextIO, names: Sequence[str], X: NDArray[np.float64], target: str, labels: Sequence[str]) -> None:
    """Write a header, then the columns and the labels, into an open file."""
    quoted = {label: '"' + label.replace('"', '""') + '"' for label in set(labels)}
    csv.writer(file, lineterminator="\n").writerow([*names, target])
    for start in range(0, len(X), BLOCK):
        block = X[start : start + BLOCK].tolist()
        lines = [
            ",".join([*map(repr, row), quoted[label]])
            for row, label in zip(block, labels[start : start + BLOCK], strict=True)
        ]
        file.write("\n".join(lines) + "\n")


def put_svmlight(file: TextIO, X: Any, labels: Sequence[str]) -> None:
    """Write the rows of a CSR matrix as ``label index:value ...``, indices from 1.

    The largest index is the number of columns: the first row states it where no row has the last column.
    """
    ends, columns, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
    d = X.shape[1]
    for i, label in enumerate(labels):
        pairs = [f" {columns[k] + 1}:{values[k]!r}" for k in range(ends[i], ends[i + 1])]
        if i == 0 and max(columns, default=-1) < d - 1:
            pairs.append(f" {d}:0.0")
        file.write(label + "".join(pairs) + "\n")

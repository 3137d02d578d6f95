"""Certificates: what is claimed, about which data, and the numbers that prove it, as JSON.

docs/certificates.md specifies the format; ``separatrix.checker`` reads it without this package.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import checker
from separatrix.errors import CertificateError
from separatrix.proofs.certificate.acceptance import need_accepted
from separatrix.proofs.certificate.checkable_rows import class_names, exact_table
from separatrix.validation import Labels, Table, check_labels, check_lengths, check_table

INDEX_ONLY = checker.INDEX_ONLY


@dataclass(frozen=True, eq=False)
class CertifiedTable:
    """The whole table that certificates are about, with rows of weight zero and classes that take no part."""

    table: Table
    labels: Labels
    dropped: tuple[int, ...] = ()  # row numbers of weight zero
    target: str | None = None
    reading: str = "binary64"

    at_hand = True  # whether the rows are in this process

    @cached_property
    def classes(self) -> list[str]:
        return class_names(self.labels.classes)

    @property
    def exact_names(self) -> list[str] | None:
        return None if self.table.names is None else list(self.table.names)

    @cached_property
    def exact(self) -> checker.ExactTable:
        """The table as the checker takes it."""
        more = {"columns": self.exact_names, "target": self.target, "name": "X"}
        return exact_table(self.table.X, self.labels.codes, self.classes, self.reading, **more)

    @cached_property
    def unsealed(self) -> dict[str, Any]:
        """The scope that all certificates about this table share, without what a pass over the rows would tell."""
        return {
            "n": self.table.n,
            "d": self.table.d,
            "columns": self.exact_names,
            "target": self.target,
            "classes": self.classes,
            "dropped": list(self.dropped),
            "reading": self.reading,
        }

    @cached_property
    def data(self) -> dict[str, Any]:
        """The same, sealed; the rows are read once more for their fingerprint."""
        told = {**self.unsealed, "exponents": self.exact.spread()}
        if (words := self.exact.column_words()) is not None:
            told["decimals"] = words
        top = checker.top_node(checker.leaves(self.exact, range(len(self.classes))))
        return {**told, "sha256": checker.fingerprint(told, top)}


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

    @cached_property
    def _origin(self) -> list[int]:
        return [] if self.origin is None else self.origin.tolist()

    def signed_rows(self, codes: Sequence[int]) -> list[int]:
        """Row numbers of rows of two groups, those of reversed rows, ~t, as -1 - row."""
        if self.origin is None:
            return list(map(int, codes))
        return [self._origin[c] if c >= 0 else ~self._origin[~c] for c in codes]

    def certify(self, claim: str, **fields: Any) -> Certificate:
        """The certificate of a claim that the checker accepts; a BugError where it does not."""
        self.need_accepted(claim, fields)
        head = {"format": checker.FORMAT, "claim": claim, "intercept": self.intercept}
        return Certificate({**head, "data": self.source.data, **self.sides, **fields})

    def need_accepted(self, claim: str, fields: dict[str, Any]) -> None:
        """Raise BugError unless the checker accepts the claim; rows on workers are checked there by exact signs."""
        if self.source.at_hand:
            head = {"format": checker.FORMAT, "claim": claim, "intercept": self.intercept}
            need_accepted(self.source, {**head, **self.sides, **fields}, self.table.n)


def written(value: Any, depth: int = 0) -> str:
    """JSON as ``json.dumps`` indents it by one, but a list of integers on one line: in a third of its time."""
    if not isinstance(value, (dict, list, tuple)) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        opening, closing = "{}"
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {written(own, depth + 1)}" for key, own in value.items()]
    elif set(map(type, value)) == {int}:
        return f"[{','.join(map(str, value))}]"
    else:
        opening, closing = "[]"
        parts = [written(own, depth + 1) for own in value]
    line = "\n" + " " * (depth + 1)
    return f"{opening}{line}{f',{line}'.join(parts)}{line[:-1]}{closing}"


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
    >>> from separatrix import separability, verify
    >>> from separatrix.proofs import Certificate
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
        >>> from separatrix import separability, verify
        >>> from separatrix.proofs import Certificate
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> proof = separability(X, y).certificate
        >>> sorted(proof.to_dict())
        ['claim', 'data', 'format', 'intercept', 'negative', 'positive', 'support']
        """
        return dict(self.content)

    @cached_property
    def text(self) -> str:
        """The JSON, a list of integers on one line."""
        return written(self.content)

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
        >>> from separatrix import separability, verify
        >>> from separatrix.proofs import Certificate
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
        >>> from separatrix import separability, verify
        >>> from separatrix.proofs import Certificate
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
        >>> from separatrix import margin, mistake_bound, verify
        >>> from separatrix.proofs import Certificate
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


def verify(certificate: Certificate | str | Path, X: Any = None, y: Any = None) -> str:
    """Check a certificate against data, trusting neither it nor the code that made it.

    Parameters
    ----------
    certificate : Certificate, or the path of its file
    X : array, sparse matrix or frame
        All rows, also those of weight zero or of other classes, which the certificate names. Of a frame, the columns
        that the certificate names are used; an array must have these columns and no others.
    y : labels, one for each row. Without X and y, the certificate must carry its rows (``portable``): what is proved is
        then proved of the table with the fingerprint that the sentence names.

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
        if X is None and y is None:
            if "rows" not in certificate.content:
                raise CertificateError("The certificate does not carry its rows: pass the table, X and y, too.")
            return "\n".join(checker.check(certificate.content, None))
        return "\n".join(checker.check(certificate.content, _checkable(X, y, told["columns"], told["reading"])))
    except checker.Rejected as why:
        raise CertificateError(f"The certificate is rejected: {why}.") from None
    except ValueError as error:
        raise CertificateError(f"{error}.") from None


def _checkable(X: Any, y: Any, columns: list[str] | None, reading: str) -> checker.ExactTable:
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
    target = getattr(y, "name", None)
    more = {"target": target if isinstance(target, str) else None, "name": "X", "unused": unused}
    return exact_table(values, labels.codes, classes, reading, columns=names, **more)


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

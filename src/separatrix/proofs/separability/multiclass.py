"""More than two classes: each against the rest, in pairs, or all at once by Kesler's construction.

Kesler (Nilsson 1965; Duda & Hart 1973): a linear machine with a weight vector for each class decides right at a
row x of class y iff (w_y - w_k).(x, 1) > 0 for every other class k. So the rows x (e_y - e_k) in the space of all
weights, one for each k, ask the two-class question; multinomial logistic regression has an estimate iff they
overlap. Only differences of the w count: the last class is given w = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np

from separatrix.printable import SaidInLines
from separatrix.proofs.certificate.certificate import Certificate, Subject
from separatrix.proofs.certificate.checkable_rows import class_names
from separatrix.proofs.separability.facial_reduction import reduce
from separatrix.proofs.separability.verdict import PLAIN, Given, Separability, result

ORDER = ("complete", "quasi", "overlap", "undecided")


@dataclass(frozen=True)
class MulticlassSeparability(SaidInLines):
    """The verdicts of all parts: by class ("ovr"), by pair of classes ("pairs"), or one for all ("kesler").

    Attributes
    ----------
    kind : {"ovr", "pairs", "kesler"}
    parts : mapping of Separability
        By class, by pair of classes, or one for all.
    verdict : str
        The weakest verdict of the parts.

    Examples
    --------
    >>> from separatrix import separability
    >>> X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    >>> found = separability(X, y, multiclass="ovr")
    >>> {label: part.verdict for label, part in found.parts.items()}
    {'a': 'complete', 'b': 'overlap', 'c': 'complete'}
    """

    kind: str
    parts: Mapping[Any, Separability]

    @property
    def verdict(self) -> str:
        """The verdict of the part that is hardest to separate."""
        return max((part.verdict for part in self.parts.values()), key=ORDER.index)

    @cached_property
    def certificate(self) -> Certificate:
        """The certificates of all parts in one."""
        return Certificate.bundle(part.certificate for part in self.parts.values())

    def accepted(self) -> MulticlassSeparability:
        """This result, once the checker has accepted the verdict of every part.

        Returns
        -------
        MulticlassSeparability
            The same one.

        Raises
        ------
        BugError
            Where the checker refuses one; the message names the files that reproduce that.

        Examples
        --------
        >>> from separatrix import separability
        >>> separability([[0.0], [1.0], [2.0]], ["a", "b", "c"], multiclass="pairs").accepted().verdict
        'complete'
        """
        for part in self.parts.values():
            part.accepted()
        return self

    def __getitem__(self, key: Any) -> Separability:
        return self.parts[key]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, one entry for each part.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import separability
        >>> X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
        >>> list(separability(X, y, multiclass="pairs").to_dict())
        ['kind', 'verdict', 'parts']
        """
        parts = [{"part": _named(key), **part.to_dict()} for key, part in self.parts.items()]
        return {"kind": self.kind, "verdict": self.verdict, "parts": parts}

    def _lines(self) -> list[str]:
        lines = [f"Separability of {len(self.parts)} {_KINDS[self.kind]} (proved)"]
        for key, part in self.accepted().parts.items():
            detail = f", witness of {len(part.witness)} rows" if len(part.witness) else ""
            lines.append(f"  {_named(key)}: {PLAIN[part.verdict]}{detail}")
        return lines


_KINDS = {"ovr": "classes, each against the rest", "pairs": "pairs of classes", "kesler": "system, all classes at once"}


def _named(key: Any) -> str:
    return " against ".join(map(str, key)) if isinstance(key, tuple) else str(key)


def multiclass_separability(given: Given, kind: str) -> MulticlassSeparability:
    """The two-class questions of the construction, each answered and proved."""
    classes = given.labels.classes.tolist()
    if kind == "ovr":
        return MulticlassSeparability(kind, {c: given.two_groups([k], None) for k, c in enumerate(classes)})
    if kind == "pairs":
        pairs = combinations(range(len(classes)), 2)
        return MulticlassSeparability(kind, {(classes[a], classes[b]): given.two_groups([b], [a]) for a, b in pairs})
    return MulticlassSeparability(kind, {"all": kesler(given)})


def kesler(given: Given) -> Separability:
    """All classes at once; rows of the answer are table rows, one for each other class."""
    start = perf_counter()
    K, codes = len(given.labels.classes), given.labels.codes
    table = kesler_matrix(given.table.X, codes, K, given.intercept)
    rows = given.rows(table, np.ones(table.shape[0], dtype=np.int8), False)
    names = class_names(given.labels.classes)
    sides = {"kesler": names}
    subject = Subject(given.table, codes, given.origin, given.source, sides, given.intercept, given.reading)
    columns = [f"{name}:{column}" for name in names[:-1] for column in given.names]
    return result(reduce(rows), subject, columns, perf_counter() - start)


def kesler_matrix(X: Any, codes: Any, K: int, intercept: bool) -> Any:
    """The rows (x, 1) (e_y - e_k) for k != y, sparse; the block of the last class is left out."""
    from scipy import sparse

    base = sparse.csr_array(X, dtype=np.float64)
    if intercept:
        base = sparse.csr_array(sparse.hstack([base, np.ones((base.shape[0], 1))], format="csr"))
    n, block = base.shape
    ranks = np.arange(K - 1)
    own = np.repeat(codes, K - 1)
    other = (ranks[None, :] + (ranks[None, :] >= codes[:, None])).ravel()  # the class k of each row
    each = base[np.repeat(np.arange(n), K - 1)]

    def part(classes: Any, sign: float) -> Any:
        """The rows times a sign in the columns of these classes; nothing for the last one."""
        kept = np.repeat(classes < K - 1, np.diff(each.indptr))
        columns = each.indices + np.repeat(classes * block, np.diff(each.indptr))
        ends = np.concatenate([[0], np.cumsum(kept)])[each.indptr]
        shape = each.shape[0], block * (K - 1)
        return sparse.csr_array((sign * each.data[kept], columns[kept], ends), shape=shape)

    table = sparse.csr_array(part(own, 1.0) + part(other, -1.0))
    table.sort_indices()
    table.indptr, table.indices = (v.astype(np.int32) for v in (table.indptr, table.indices))
    return table

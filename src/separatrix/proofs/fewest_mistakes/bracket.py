"""The fewest mistakes that any hyperplane makes, between two proved bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import CertificateError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.printable import SaidInLines
from separatrix.proofs.certificate.certificate import Certificate, Subject, scaled
from separatrix.proofs.certificate.portable import portable
from separatrix.proofs.exact.algebra import Row
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.fewest_mistakes.block_bounds import raise_by_blocks
from separatrix.proofs.fewest_mistakes.branch_and_bound import Progress, Search
from separatrix.proofs.fewest_mistakes.case_tree import default_nodes, leaner, proof
from separatrix.proofs.fewest_mistakes.witness_entries import witness_entries
from separatrix.proofs.separability.facial_reduction import Reduction, reduce
from separatrix.proofs.separability.verdict import Given, given_data

WHY = {
    "proved": "the bounds meet",
    "gap": "the bounds are within the gap asked for",
    "nodes": "stopped at the limit of nodes: raise max_nodes",
    "open": "floating point could not divide the cases that are left",
    "size": "the table is too large for a tree of cases: the lower bound is that of disjoint witnesses",
    "proof": "a proof of more would take a checker longer than it allows",
    "time": "stopped at the time limit: raise time_limit",
    "progress": "progress() asked to stop",
    "interrupted": "interrupted",
}


def fewest_mistakes(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    reading: str = "binary64",
    max_nodes: int | None = None,
    time_limit: float | None = None,
    gap: int = 0,
    progress: Progress | None = None,
) -> MistakeBracket:
    """Bracket the fewest rows that any hyperplane gets wrong, and prove both ends.

    A row is wrong when it is not strictly on its side: y_i (w . x_i + b) <= 0. The minimum over w and b is
    NP-hard, so the search may end early; ``lower`` and ``upper`` are proved whenever it does.

    Parameters
    ----------
    X : array, sparse matrix or frame of n rows and d columns
    y : n labels of two classes
    fit_intercept : whether the hyperplane may have an intercept
    reading : "binary64" takes each number as the double it is; "decimal" as the decimal it prints as
    max_nodes : cases of the search tree, at least 0; None allows for a minute or so. The result is a function of
        the data and of this number, as long as time does not end the search
    time_limit : seconds, at least 0, or None; looked at between steps, so that large tables may take longer
    gap : stop when upper - lower is at most this
    progress : called now and then with (lower, upper, nodes); False stops the search

    Returns
    -------
    MistakeBracket. On Ctrl-C the KeyboardInterrupt carries the bracket so far as its attribute ``bracket``.

    Examples
    --------
    >>> from separatrix import fewest_mistakes
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> found = fewest_mistakes(X, y)
    >>> found.lower, found.upper, found.proved
    (1, 1, True)
    """
    given = given_data(X, y, None, fit_intercept, reading)
    if len(given.labels.classes) > 2:
        raise ParameterError(
            f"y has {len(given.labels.classes)} classes: the fewest mistakes are defined for two; "
            "pass one class against the rest, y == c."
        )
    return bracket(given, [1], [0], max_nodes=max_nodes, time_limit=time_limit, gap=gap, progress=progress)


def bracket(
    given: Given,
    positive: list[int],
    negative: list[int] | None,
    *,
    max_nodes: int | None = None,
    time_limit: float | None = None,
    gap: int = 0,
    progress: Progress | None = None,
    known: NDArray[np.float64] | None = None,
    decided: Reduction | None = None,
    lines: bool = True,
) -> MistakeBracket:
    """One group of classes against another, or against all others (None).

    ``known`` is a hyperplane to begin with, coefficients and then the intercept if there is one: what is found
    makes no more mistakes. ``decided`` is the verdict on these rows, where it is known: of quasi-separated rows only
    the tied ones are searched [L20]. Without ``lines`` no better hyperplane is looked for than the one known, which is
    for tables too large for a tree.
    """
    if max_nodes is not None:
        _need_whole("max_nodes", max_nodes)
    _need_whole("gap", gap)
    if time_limit is not None and not (_is_number(time_limit) and time_limit >= 0):
        raise ParameterError(f"time_limit is {time_limit!r}: it must be seconds, at least 0, or None.")
    start = perf_counter()
    subject = given.subject(positive, negative)
    rows = given.rows(subject.table.X, subject.labels, given.intercept)
    deadline = math.inf if time_limit is None else start + float(time_limit)
    searched, search = SearchedRows(rows, subject), Search(rows, deadline, progress, raise_by_blocks)
    try:
        with one_blas_thread(subject.table.X.size):
            if decided is None and not search.late():
                decided = reduce(rows)
            if decided is not None and decided.verdict == "quasi":
                searched = searched.tied(decided)
                search = Search(searched.part, deadline, progress, raise_by_blocks)
            elif decided is not None and decided.w is not None:
                search.adopt(decided.w)
            part = search.rows
            if known is not None:
                search.consider(known[searched.columns])
            nodes = default_nodes(part.n, part.p) if max_nodes is None else int(max_nodes)
            search.run(nodes, int(gap), lines)
            if decided is not None and not search.lower:
                search.know(searched.numbered(decided.witness))
    except KeyboardInterrupt as interrupt:
        search.stopped = "interrupted"
        # an attribute of our own: code that catches the interruption finds what was proved by then
        interrupt.bracket = _result(search, searched, given, perf_counter() - start)  # type: ignore[attr-defined]  # as above
        raise
    return _result(search, searched, given, perf_counter() - start)


@dataclass(frozen=True)
class SearchedRows:
    """The rows of a claim and the part of them that is searched: all rows, or the tied ones of quasi-separated rows.

    ``ahead`` has the tied rows on it and all others strictly on their sides: a small multiple of any hyperplane added
    to it leaves those right, so that the fewest mistakes are those of the tied rows [L20].
    """

    rows: LiftedRows
    subject: Subject
    ids: NDArray[np.int64] | None = None  # of the tied rows; None: all
    ahead: Row | None = None

    def tied(self, decided: Reduction) -> SearchedRows:
        loose = np.ones(self.rows.n, dtype=bool)
        loose[decided.strict] = False
        return replace(self, ids=np.flatnonzero(loose), ahead=decided.w)

    @cached_property
    def _narrow(self) -> tuple[LiftedRows, list[int]]:
        """The tied rows, of sparse ones without the columns in which they are zero."""
        rows, ids = self.rows, self.ids
        if ids is None:
            return rows, list(range(rows.p))
        part, columns = rows.narrow(ids.tolist(), list(range(rows.p)) if isinstance(rows.X, np.ndarray) else None)
        if not columns:  # rows of zeros, without an intercept
            part, columns = rows.narrow(ids.tolist(), [0])
        part.unit = [rows.unit[j] for j in columns]
        return part, columns

    def numbered(self, rows: Iterable[int]) -> list[int]:
        """Rows of the part, among others, in its numbers."""
        return list(rows) if self.ids is None else np.searchsorted(self.ids, list(rows)).tolist()

    @property
    def part(self) -> LiftedRows:
        return self._narrow[0]

    @property
    def columns(self) -> list[int]:
        """Those of the rows that the part has."""
        return self._narrow[1]

    def whole(self, w: Row) -> Row:
        """A vector of the part as one of all columns."""
        out = [0] * self.rows.p
        for j, v in zip(self.columns, w, strict=True):
            out[j] = v
        return out

    def hyperplane(self, w: Row) -> Row:
        """One of all rows with the mistakes that w makes in the part, and no others."""
        w = self.whole(w)
        if self.ahead is None or self.ids is None:
            return w
        strict = np.setdiff1d(np.arange(self.rows.n), self.ids)
        bits, own = (max(abs(v).bit_length() for v in vector) for vector in (self.ahead, w))
        ahead, w = ([v << max(0, n) for v in vector] for vector, n in ((self.ahead, own - bits), (w, bits - own)))
        size = 0
        while True:  # a multiple of ``ahead`` that is large enough exists; a small one survives rounding to doubles
            mixed = [(a << size) + v for a, v in zip(ahead, w, strict=True)]
            if (self.rows.signs(mixed, strict) > 0).all():
                return mixed
            size = 2 * size + 1

    @property
    def named(self) -> Subject:
        """The subject whose rows are those of the part."""
        origin, ids = self.subject.origin, self.ids
        return self.subject if ids is None else replace(self.subject, origin=ids if origin is None else origin[ids])

    @property
    def certified(self) -> LiftedRows:
        """The rows of the part in all columns, as a checker sees them."""
        if self.ids is None or len(self.columns) == self.rows.p:
            return self.part
        part, _ = self.rows.narrow(self.ids.tolist(), list(range(self.rows.p)))
        part.unit = self.rows.unit
        return part


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _need_whole(name: str, value: Any) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ParameterError(f"{name} is {value!r}: it must be a whole number of at least 0.")


def _result(search: Search, searched: SearchedRows, given: Given, seconds: float) -> MistakeBracket:
    rows, subject = searched.rows, searched.named
    w = rows.outward(searched.hyperplane(search.incumbent.w))
    top = max(abs(v).bit_length() for v in w)
    floats = np.array([v / (1 << top) for v in w])
    wrong = search.incumbent.wrong
    return MistakeBracket(
        search.lower,
        search.upper,
        floats[: rows.d],
        float(floats[rows.d]) if rows.intercept else 0.0,
        wrong if subject.origin is None else subject.origin[wrong],
        rows.n,
        tuple(given.names),
        search.nodes,
        search.stopped,
        seconds,
        len(search.labelings),
        search,
        searched,
    )


@dataclass(frozen=True)
class MistakeBracket(SaidInLines):
    """``lower`` <= the fewest mistakes of any hyperplane <= ``upper``; ``certificate`` proves both to others.

    ``coef`` and ``intercept`` are the hyperplane that makes ``upper`` mistakes, rounded to doubles (the certificate has
    it exactly), and ``wrong`` are the rows that it does not get strictly right. ``labelings``
    counts the different sets of ``upper`` wrong rows that the search met. ``stopped`` says why the search ended.

    Attributes
    ----------
    lower, upper : int
        Proved bounds of the fewest mistakes.
    proved : bool
        Whether they are equal.
    coef, intercept : array and float
        A hyperplane with ``upper`` mistakes.
    wrong : array of int
        The rows that it gets wrong.
    nodes, seconds, stopped : int, float and str
        Cases looked at, time, and why the search ended.
    certificate : Certificate
        The proof of both bounds.

    Examples
    --------
    >>> from separatrix import fewest_mistakes
    >>> found = fewest_mistakes([[1.0], [2.0], [3.0], [4.0]], ["no", "yes", "no", "yes"])
    >>> found.lower, found.upper, len(found.wrong)
    (1, 1, 1)
    """

    lower: int
    upper: int
    coef: NDArray[np.float64]
    intercept: float
    wrong: NDArray[np.int64]
    n: int
    feature_names: tuple[str, ...]
    nodes: int
    stopped: str
    seconds: float
    labelings: int
    _search: Search | None = field(repr=False, compare=False)
    _searched: SearchedRows | None = field(repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The numbers; neither the rows nor the search, so that a certificate is to be saved before."""
        hidden = {"_search": None, "_searched": None}
        return {name: hidden.get(name, value) for name, value in self.__dict__.items() if name != "certificate"}

    @property
    def proved(self) -> bool:
        """Whether the two ends meet: ``upper`` is the fewest mistakes of all hyperplanes."""
        return self.lower == self.upper

    @cached_property
    def certificate(self) -> Certificate:
        """The proof of both ends; the data are read once more for their fingerprint."""
        return self.certificate_in(self.subject)

    @property
    def subject(self) -> Subject:
        """The rows of the claim."""
        return self._parts[1].subject

    @property
    def _parts(self) -> tuple[Search, SearchedRows]:
        if self._search is None or self._searched is None:
            raise CertificateError(
                "The proof did not travel with this bracket: save the certificate where it was found."
            )
        return self._search, self._searched

    @cached_property
    def _lower_bound(self) -> tuple[list[dict[str, Any]], list[list[int]]]:
        """The nodes and witnesses, in numbers of the rows that were searched."""
        return leaner(*proof(self._parts[0], self.lower), self.lower)

    @property
    def proof_rows(self) -> NDArray[np.int64]:
        """The rows that the proof of the lower bound refers to: they alone prove it."""
        nodes, witnesses = self._lower_bound
        rows = {max(c, ~c) for codes in witnesses for c in codes} | {node["split"] for node in nodes if "split" in node}
        rows |= {i for node in nodes for block in node.get("blocks", ()) for i in block["rows"]}
        named = self._parts[1].named
        return np.unique(np.array([named.row(i) for i in rows], dtype=np.int64))

    @property
    def portable(self) -> Certificate:
        """A certificate of the lower bound that carries its rows; the upper one is about all rows."""
        return portable(self.certificate, self.subject.source)

    def certificate_in(self, subject: Subject, kept: NDArray[np.int64] | None = None) -> Certificate:
        """The proof of both ends under the names of a file that holds these rows, ``proof_rows`` among them.

        The rows in use are those of the bracket; of a file that lacks some of them the upper end is that of its rows.

        Parameters
        ----------
        subject : Subject
            The rows of the claim, in the table of the file.
        kept : array of int, or None
            Their numbers here, where the file has some of them only.

        Returns
        -------
        Certificate

        Examples
        --------
        >>> from separatrix import fewest_mistakes
        >>> found = fewest_mistakes([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
        >>> found.certificate_in(found.subject).claim
        'min-errors'
        """
        subject, fields = self._claim_in(subject, kept)
        return subject.certify("min-errors", **fields)

    def _claim_in(self, subject: Subject, kept: NDArray[np.int64] | None = None) -> tuple[Subject, dict[str, Any]]:
        """What a certificate is about, and the numbers that prove both ends."""
        search, searched = self._parts
        if kept is not None:
            place = np.full(searched.rows.n if subject.origin is None else int(subject.origin.max()) + 1, -1)
            place[kept] = np.arange(len(kept))
            subject = replace(subject, origin=place if subject.origin is None else place[subject.origin])
        named, rows = replace(searched, subject=subject).named, searched.rows
        nodes, witnesses = [dict(node) for node in self._lower_bound[0]], self._lower_bound[1]
        for node in nodes:
            if "split" in node:
                node["split"] = named.row(node["split"])
            if "blocks" in node:
                node["blocks"] = [{**b, "rows": [named.row(i) for i in b["rows"]]} for b in node["blocks"]]
        wrong = [row for i in search.incumbent.wrong.tolist() if isinstance(row := named.row(i), int) and row >= 0]
        return subject, {
            "lower": self.lower,
            "upper": len(wrong),
            **({} if searched.ahead is None else {"ahead": scaled(rows.outward(searched.ahead))}),
            "w": scaled(rows.outward(searched.whole(search.incumbent.w))),
            "wrong": wrong,
            "witnesses": witness_entries(witnesses, searched.certified, named, nodes),
            "nodes": nodes,
        }

    def accepted(self) -> MistakeBracket:
        """This result, once the checker has accepted both bounds: whatever prints them as proved asks first.

        Returns
        -------
        MistakeBracket
            The same one.

        Raises
        ------
        BugError
            Where the checker refuses them; the message names the files that reproduce that.

        Examples
        --------
        >>> from separatrix import fewest_mistakes
        >>> fewest_mistakes([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]).accepted().lower
        1
        """
        if self._search is not None and not {"certificate", "_accepted"} & set(self.__dict__):
            self.subject.need_accepted("min-errors", self._claim_in(self.subject)[1])
            self.__dict__["_accepted"] = True  # an attribute of our own of a frozen object: asked once
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import fewest_mistakes
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> fewest_mistakes(X, y).to_dict()["lower"]
        1
        """
        self.accepted()
        return {
            "lower": self.lower,
            "upper": self.upper,
            "proved": self.proved,
            "coef": self.coef.tolist(),
            "intercept": self.intercept,
            "wrong": self.wrong.tolist(),
            "n": self.n,
            "feature_names": list(self.feature_names),
            "nodes": self.nodes,
            "labelings": self.labelings,
            "stopped": self.stopped,
            "seconds": self.seconds,
        }

    def _lines(self) -> list[str]:
        self.accepted()
        if self.proved:
            first = f"Fewest mistakes: {self.upper:,} of {self.n:,} rows (proved)"
        else:
            first = f"Fewest mistakes: between {self.lower:,} and {self.upper:,} of {self.n:,} rows (both proved)"
        rows = ", ".join(str(i) for i in self.wrong[:8].tolist()) + (", …" if len(self.wrong) > 8 else "")
        return [
            first,
            f"  a hyperplane gets {self.upper:,} wrong" + (f": rows {rows}" if self.upper else ""),
            f"  none gets fewer than {self.lower:,} wrong",
            f"  {self.nodes:,} cases in {self.seconds:.3g} s; {WHY[self.stopped]}",
        ]

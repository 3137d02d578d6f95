"""The fewest mistakes that any hyperplane makes, between two proved bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import CertificateError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.printable import SaidInLines
from separatrix.proofs.certificate.certificate import Certificate, Subject, scaled
from separatrix.proofs.fewest_mistakes.block_bounds import raise_by_blocks
from separatrix.proofs.fewest_mistakes.branch_and_bound import Progress, Search
from separatrix.proofs.fewest_mistakes.case_tree import default_nodes, leaner, proof
from separatrix.proofs.fewest_mistakes.witness_entries import witness_entries
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
) -> MistakeBracket:
    """One group of classes against another, or against all others (None).

    ``known`` is a hyperplane to begin with, coefficients and then the intercept if there is one: what is found
    makes no more mistakes.
    """
    if max_nodes is not None:
        _need_whole("max_nodes", max_nodes)
    _need_whole("gap", gap)
    if time_limit is not None and not (_is_number(time_limit) and time_limit >= 0):
        raise ParameterError(f"time_limit is {time_limit!r}: it must be seconds, at least 0, or None.")
    start = perf_counter()
    subject = given.subject(positive, negative)
    rows = given.rows(subject.table.X, subject.labels, given.intercept)
    nodes = default_nodes(rows.n, rows.p) if max_nodes is None else int(max_nodes)
    deadline = math.inf if time_limit is None else start + float(time_limit)
    search = Search(rows, deadline, progress, raise_by_blocks)
    if known is not None:
        search.consider(known)
    try:
        with one_blas_thread(subject.table.X.size):
            search.run(nodes, int(gap))
    except KeyboardInterrupt as interrupt:
        search.stopped = "interrupted"
        # an attribute of our own: code that catches the interruption finds what was proved by then
        interrupt.bracket = _result(search, subject, given, perf_counter() - start)  # type: ignore[attr-defined]  # as above
        raise
    return _result(search, subject, given, perf_counter() - start)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _need_whole(name: str, value: Any) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
        raise ParameterError(f"{name} is {value!r}: it must be a whole number of at least 0.")


def _result(search: Search, subject: Subject, given: Given, seconds: float) -> MistakeBracket:
    rows, w = search.rows, search.rows.outward(search.incumbent.w)
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
        subject,
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
    _subject: Subject | None = field(repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The numbers; neither the rows nor the search, so that a certificate is to be saved before."""
        hidden = {"_search": None, "_subject": None}
        return {name: hidden.get(name, value) for name, value in self.__dict__.items() if name != "certificate"}

    @property
    def proved(self) -> bool:
        """Whether the two ends meet: ``upper`` is the fewest mistakes of all hyperplanes."""
        return self.lower == self.upper

    @cached_property
    def certificate(self) -> Certificate:
        """The proof of both ends; the data are read once more for their fingerprint."""
        search, subject = self._search, self._subject
        if search is None or subject is None:
            raise CertificateError(
                "The proof did not travel with this bracket: save the certificate where it was found."
            )
        nodes, witnesses = leaner(*proof(search, self.lower), self.lower)
        for node in nodes:
            if "split" in node:
                node["split"] = subject.row(node["split"])
            for block in node.get("blocks", ()):
                block["rows"] = [subject.row(i) for i in block["rows"]]
        return subject.certify(
            "min-errors",
            lower=self.lower,
            upper=self.upper,
            w=scaled(search.rows.outward(search.incumbent.w)),
            wrong=[subject.row(i) for i in search.incumbent.wrong.tolist()],
            witnesses=witness_entries(witnesses, search.rows, subject, nodes),
            nodes=nodes,
        )

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

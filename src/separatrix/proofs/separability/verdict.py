"""Is there a hyperplane between the classes? The verdict, the evidence, and its certificate.

The proof itself is made in ``facial_reduction``, step by step down to the rows that a hyperplane cannot separate.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, DroppedRowsWarning, ParameterError, warn_user
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.printable import SaidInLines
from separatrix.proofs.certificate.certificate import Certificate, CertifiedTable, Subject
from separatrix.proofs.certificate.checkable_rows import class_names
from separatrix.proofs.certificate.portable import portable
from separatrix.proofs.exact.lifted_rows import LiftedRows, decimal_rows
from separatrix.proofs.separability.coefficient_fates import Coefficients, infinite_first
from separatrix.proofs.separability.facial_reduction import Reduction, reduce
from separatrix.proofs.separability.verdict_certificate import certificate_of, need_accepted_verdict
from separatrix.validation import (
    Labels,
    Table,
    check_labels,
    check_lengths,
    check_table,
    check_weights,
    distinct_names,
    need_flag,
)

READINGS = ("binary64", "decimal")
FATES = 40  # coefficients whose fates are printed: each is checked first, of more in seconds to minutes
PLAIN = {"complete": "complete", "quasi": "quasi-complete", "overlap": "overlap", "undecided": "undecided"}


def separability(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    reading: str = "binary64",
    multiclass: str | None = None,
    sample_weight: Any = None,
) -> Any:
    """Decide whether a hyperplane separates the classes, and prove it.

    Parameters
    ----------
    X : array, sparse matrix or frame of n rows and d columns; or a formula as "sick ~ age + ward", and y the frame
        Dense C-order float64 and float32 arrays (memory maps too) and CSR matrices are used in place.
    y : n labels
    fit_intercept : whether the hyperplane may have an intercept
    reading : "binary64" takes each number as the double it is; "decimal" as the decimal it prints as, so that
        5.1 is 51/10. Points that are dependent in decimals need not be dependent in binary.
    multiclass : None for two classes; "ovr" (each class against the rest), "pairs", or "kesler" (all classes at
        once, as multinomial logistic regression sees them)
    sample_weight : rows of weight zero do not count; other weights do not matter

    Returns
    -------
    Separability, or MulticlassSeparability when ``multiclass`` is given. The verdict is

    - ``"complete"``: some hyperplane has every row strictly on its side;
    - ``"quasi"``: none does, but one has no row on the wrong side and some strictly right;
    - ``"overlap"``: neither (exactly then the logistic maximum-likelihood estimate exists);
    - ``"undecided"``: no proof was found; ``tried`` says what was tried.

    Everything but ``"undecided"`` has been proved in exact arithmetic on the data as given.

    Examples
    --------
    >>> from separatrix import separability
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> found = separability(X, y)
    >>> found.verdict, found.witness.tolist()
    ('overlap', [0, 1, 2, 3])
    """
    if multiclass not in (None, "ovr", "pairs", "kesler"):
        raise ParameterError(f"multiclass is {multiclass!r}: it can be None, 'ovr', 'pairs' or 'kesler'.")
    given = given_data(X, y, sample_weight, fit_intercept, reading)
    if multiclass is not None:
        from separatrix.proofs.separability.multiclass import multiclass_separability

        return multiclass_separability(given, multiclass)
    if len(given.labels.classes) > 2:
        raise ParameterError(
            f"y has {len(given.labels.classes)} classes: pass multiclass='ovr', 'pairs' or 'kesler', or two classes."
        )
    return given.two_groups([1], [0])


def given_data(X: Any, y: Any, sample_weight: Any, intercept: bool, reading: str) -> Given:
    """Whatever a user passed, checked."""
    need_flag("fit_intercept", intercept)
    if isinstance(X, str):
        from separatrix.features.formula import design

        made = design(X, y)
        if made.alone:
            raise ParameterError(f"the formula {X!r} has no columns: name at least one.")
        if made.offset is not None:
            raise ParameterError(f"the formula {X!r} has an offset, which no hyperplane has: leave it out.")
        if made.dropped:
            rows = "1 row" if made.dropped == 1 else f"{made.dropped} rows"
            warn_user(
                f"{rows} with missing values left out: the proof is about the other {len(made.kept)}, and "
                "numbers these from 0 in their order.",
                DroppedRowsWarning,
            )
        X, y, intercept = made.X, made.y, intercept and made.intercept
    if reading not in READINGS:
        raise ParameterError(f"reading is {reading!r}: it can be {' or '.join(map(repr, READINGS))}.")
    table, labels, origin, source = counted(X, y, sample_weight, reading=reading)
    if reading == "decimal" and table.X.dtype != np.float64:
        raise DataError(
            "reading='decimal' needs float64 numbers, since float32 ones have no decimals of their own; "
            "convert X to float64, or read it as 'binary64'."
        )
    return Given(table, labels, origin, source, bool(intercept), reading)


def counted(
    X: Any,
    y: Any,
    sample_weight: Any,
    names: tuple[str, ...] | None = None,
    target: str | None = None,
    reading: str = "binary64",
) -> tuple[Table, Labels, NDArray[np.int64] | None, CertifiedTable]:
    """The rows of weight other than zero, their row numbers (None for all), and the table that they are from."""
    table, labels = check_table(X), check_labels(y, rows=X)
    table = table if names is None else Table(table.X, names)
    check_lengths(table.n, len(labels.codes), "y")
    weights = check_weights(sample_weight, table.n, rows=X)
    origin: NDArray[np.int64] | None = None
    source = CertifiedTable(table, labels, (), target, reading)
    if weights is not None and not weights.all():
        origin = np.flatnonzero(weights)
        source = CertifiedTable(table, labels, tuple(np.flatnonzero(weights == 0).tolist()), target, reading)
        table = Table(table.X[origin], table.names)
        codes = labels.codes[origin]
        used = np.unique(codes)
        labels = Labels(labels.classes[used], np.searchsorted(used, codes))
    if len(labels.classes) < 2:
        raise DataError(f"y has one class only ({labels.classes.tolist()[0]!r}): separation needs two.")
    return table, labels, origin, source


@dataclass(frozen=True)
class Given:
    """Checked data and the options that all questions share."""

    table: Table
    labels: Labels
    origin: NDArray[np.int64] | None
    source: CertifiedTable
    intercept: bool
    reading: str

    @cached_property
    def names(self) -> list[str]:
        own = self.table.names or tuple(f"x{j}" for j in range(self.table.d))
        return [*own, "intercept"] if self.intercept else list(own)

    def rows(self, X: Any, y: NDArray[np.int8], intercept: bool) -> LiftedRows:
        return (decimal_rows if self.reading == "decimal" else LiftedRows)(X, y, intercept)

    def two_groups(self, positive: list[int], negative: list[int] | None, minimal: bool = False) -> Separability:
        """One group of classes against another, or against all others (None); ``minimal``: see :func:`reduce`."""
        start = perf_counter()
        subject = self.subject(positive, negative)
        with one_blas_thread(subject.table.X.size):
            reduction = reduce(self.rows(subject.table.X, subject.labels, self.intercept), minimal)
        return result(reduction, subject, self.names, perf_counter() - start)

    def subject(self, positive: list[int], negative: list[int] | None) -> Subject:
        """The rows of these classes, +1 and -1."""
        codes, names = self.labels.codes, class_names(self.labels.classes)
        plus = any_of(codes, positive)
        table, origin = self.table, self.origin
        if negative is not None and len(positive) + len(negative) < len(names):
            ids = np.flatnonzero(plus | any_of(codes, negative))
            table = Table(table.X[ids], table.names)
            origin = ids if origin is None else origin[ids]
            plus = plus[ids]
        own = plus.view(np.int8)
        y = own + own - np.int8(1)
        sides = {
            "positive": [names[k] for k in positive],
            "negative": None if negative is None else [names[k] for k in negative],
        }
        return Subject(table, y, origin, self.source, sides, self.intercept, self.reading)


def any_of(codes: NDArray[np.intp], chosen: list[int]) -> NDArray[np.bool_]:
    """Where the class is one of those chosen."""
    if len(chosen) == 1:
        return np.asarray(codes == chosen[0])
    return np.asarray(np.logical_or.reduce([codes == k for k in chosen]), dtype=np.bool_)


@dataclass(frozen=True)
class Separability(SaidInLines):
    """The verdict on two classes, proved; ``certificate`` proves it to others.

    ``coef`` and ``intercept`` are the (weakly) separating hyperplane rounded to doubles, so that they need not separate
    rows that lie within rounding of it; the certificate has it exactly. ``witness`` are rows that alone prove that no
    hyperplane separates strictly; without any one of them the others are separable, except that with more than 100
    columns there may be more rows than are needed. ``strict_rows`` lie strictly on
    their side for some weakly separating hyperplane, ``tied_rows`` for none (Tucker's partition).

    Attributes
    ----------
    verdict : {"complete", "quasi", "overlap", "undecided"}
    coef, intercept : array and float, or None
        A hyperplane that separates (complete), or has no row on its wrong side (quasi), rounded.
    witness : array of int
        Rows that no hyperplane has all strictly on their sides; empty for complete.
    strict_rows, tied_rows : arrays of int
        Rows strictly on their side of that hyperplane, and rows on every hyperplane with no row on its wrong side.
    feature_names : tuple of str
    seconds : float
        Time that it took.
    certificate : Certificate
        The proof, for :func:`verify`.

    Examples
    --------
    >>> from separatrix import separability, verify
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> found = separability(X, y)
    >>> found.verdict
    'overlap'
    >>> verify(found.certificate, X, y).split(";")[0]
    'no hyperplane has all of these 4 rows strictly on their correct sides: 0, 1, 2, 3 (rows count from 0)'
    """

    verdict: str
    coef: NDArray[np.float64] | None
    intercept: float | None
    witness: NDArray[np.int64]
    strict_rows: NDArray[np.int64]
    tied_rows: NDArray[np.int64]
    feature_names: tuple[str, ...]
    seconds: float
    tried: tuple[str, ...]
    _reduction: Reduction = field(repr=False, compare=False)
    _subject: Subject = field(repr=False, compare=False)

    @cached_property
    def certificate(self) -> Certificate:
        """The proof of the verdict; the data are read once more for their fingerprint."""
        return certificate_of(self._reduction, self._subject)

    @property
    def portable(self) -> Certificate:
        """A certificate that carries its rows: of the verdict, or of what few rows prove of it.

        Examples
        --------
        >>> from separatrix import separability, verify
        >>> found = separability([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]], [0, 1, 1, 0, 1])
        >>> verify(found.portable).split(";")[0]
        'no hyperplane has all of these 4 rows strictly on their correct sides: 0, 1, 2, 3 (rows count from 0)'
        """
        return portable(self.certificate, self._subject.source)

    def accepted(self) -> Separability:
        """This result, once the checker has accepted the verdict: whatever prints it as proved asks first.

        Returns
        -------
        Separability
            The same one.

        Raises
        ------
        BugError
            Where the checker refuses it; the message names the files that reproduce that.

        Examples
        --------
        >>> from separatrix import separability
        >>> separability([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]).accepted().verdict
        'overlap'
        """
        if "certificate" not in self.__dict__ and not self.__dict__.get("_accepted"):
            need_accepted_verdict(self._reduction, self._subject)
            self.__dict__["_accepted"] = True  # an attribute of our own of a frozen object: asked once
        return self

    @cached_property
    def coefficients(self) -> Coefficients:
        """What the logistic estimate does at each coefficient, by name; each is decided when asked for."""
        return Coefficients(list(self.feature_names), self._reduction, self._subject)

    def plot(self, ax: Any = None) -> Any:
        """Draw the hulls of the classes: with a separating hyperplane, or with the rows that prove that they meet.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; new axes without it. More than two columns are projected, which keeps what meets together.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from separatrix import separability
        >>> ax = separability([(0, 0), (0, 1), (1, 0), (1, 1)], [0, 1, 1, 0]).plot()
        >>> ax.get_title()
        'no hyperplane separates the classes (proved)'
        """
        from separatrix.proofs.separability.verdict_picture import separability_picture

        return separability_picture(self.accepted(), ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, the coefficients that were asked for included.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import separability
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> separability(X, y).to_dict()["verdict"]
        'overlap'
        """
        self.accepted()
        return {
            "verdict": self.verdict,
            "proved": self.verdict != "undecided",
            "coef": None if self.coef is None else self.coef.tolist(),
            "intercept": self.intercept,
            "witness": self.witness.tolist(),
            "strict_rows": self.strict_rows.tolist(),
            "tied_rows": self.tied_rows.tolist(),
            "feature_names": list(self.feature_names),
            "seconds": self.seconds,
            "tried": list(self.tried),
        }

    def _lines(self) -> list[str]:
        self.accepted()
        n, s = len(self.strict_rows) + len(self.tied_rows), len(self.strict_rows)
        if self.verdict == "undecided":
            return ["Separability: undecided", *(f"  tried {line}" for line in self.tried)]
        lines = [f"Separability: {PLAIN[self.verdict]} (proved)"]
        if self.verdict == "complete":
            lines.append(f"  a hyperplane has all {n:,} rows strictly on their sides")
            lines.append("  logistic estimate: does not exist (separation)")
        elif self.verdict == "quasi":
            lines.append(f"  {s:,} of {n:,} rows can be separated strictly, {n - s:,} overlap")
            if len(self.feature_names) <= FATES:
                lines.append(f"  logistic estimate: {self._fates()}")
        else:
            rows = ", ".join(str(i) for i in self.witness[:6].tolist()) + (", …" if len(self.witness) > 6 else "")
            lines.append(f"  {len(self.witness)} rows already rule a hyperplane out: {rows}")
            lines.append("  logistic estimate: exists")
        lines.append(f"  decided and proved exactly in {self.seconds * 1e3:.3g} ms")
        return lines

    def _fates(self) -> str:
        arrows = {"+inf": "→ +∞", "-inf": "→ −∞"}
        for fate in self.coefficients.values():
            fate.accepted()
        groups = infinite_first(self.coefficients)
        return ";  ".join(f"{_some(names)} {arrows.get(fate, fate)}" for fate, names in groups.items())


def _some(names: list[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def result(reduction: Reduction, subject: Subject, names: list[str], seconds: float) -> Separability:
    """What is proved, in the user's row numbers and columns."""
    rows, w = reduction.rows, reduction.w
    coef = intercept = None
    if w is not None:
        outward = rows.outward(w)
        top = max(abs(v) for v in outward)
        shift = top.bit_length()
        numbers_ = np.array([v / (1 << shift) for v in outward])
        coef = numbers_[: rows.d] if rows.intercept else numbers_
        intercept = float(numbers_[rows.d]) if rows.intercept else 0.0
    witness, strict = np.array(sorted(reduction.witness), dtype=np.int64), reduction.strict
    if reduction.verdict == "undecided" or len(strict) == rows.n:
        tied = np.empty(0, dtype=np.int64)
    else:
        loose = np.ones(rows.n, dtype=bool)
        loose[strict] = False
        tied = np.flatnonzero(loose)

    def as_given(ids: NDArray[np.int64]) -> NDArray[np.int64]:
        own = ids // (len(subject.sides["kesler"]) - 1) if "kesler" in subject.sides else ids
        return own if subject.origin is None else subject.origin[own]

    return Separability(
        reduction.verdict,
        coef,
        intercept,
        as_given(witness),
        as_given(strict),
        as_given(tied),
        tuple(distinct_names(names)),
        seconds,
        tuple(reduction.tried),
        reduction,
        subject,
    )

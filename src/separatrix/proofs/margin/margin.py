"""How far apart are the classes? The largest margin, between two proved bounds, or exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import CertificateError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.numerics.exact_signs import integer_row
from separatrix.printable import SaidInLines
from separatrix.proofs.certificate.certificate import Certificate, Subject, numbers, quotient
from separatrix.proofs.exact.algebra import ratio, root_above, root_below
from separatrix.proofs.margin.exact_hull import HullPoint, Side, point, polish, side
from separatrix.proofs.margin.hull_search import Hulls
from separatrix.proofs.separability.facial_reduction import reduce
from separatrix.proofs.separability.verdict import PLAIN, Given, Separability, given_data, result
from separatrix.validation import need_flag

NARROW = Fraction(1) + Fraction(1, 10**9)  # brackets wider than this are polished
FEW = 200  # ... where the support has no more rows


def margin(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    exact: bool = False,
    reading: str = "binary64",
) -> Margin:
    """The largest half-width d* between the classes, with proof:

        d* = max over (w, b) of  min_i y_i (w.x_i + b) / |w|,

    the distance of the nearest row from the hyperplane that keeps farthest from all of them (the hard-margin
    support vector machine). It is half the distance between the hulls of the classes; without an intercept,
    the distance between the origin and the hull of the y_i x_i.

    Parameters
    ----------
    X : array, sparse matrix or frame of n rows and d columns; or a formula as "sick ~ age + ward", and y the frame
    y : n labels of two classes
    fit_intercept : whether the hyperplane may have an intercept
    exact : whether to go on until both bounds are the same rational number
    reading : "binary64" takes each number as the double it is, "decimal" as the decimal it prints as

    Returns
    -------
    Margin, whose ``lower <= d* <= upper`` are both proved in exact arithmetic. For classes that no hyperplane
    separates both are 0, ``verdict`` says which kind of overlap it is, and the certificate proves that.

    Examples
    --------
    >>> from separatrix import margin
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> found = margin(X, y, exact=True)
    >>> found.squared, found.support.tolist()
    (Fraction(1, 1), [1, 3])
    """
    need_flag("exact", exact)
    given = given_data(X, y, None, fit_intercept, reading)
    two_classes(given)
    return margin_between(given, [1], [0], bool(exact))


def two_classes(given: Given) -> None:
    if len(given.labels.classes) > 2:
        raise ParameterError(
            f"y has {len(given.labels.classes)} classes: a margin is between two; pass the rows of two, or "
            "one class against the rest (y == label)."
        )


def margin_between(given: Given, positive: list[int], negative: list[int] | None, exact: bool) -> Margin:
    """The half-width between two groups of classes."""
    start = perf_counter()
    subject = given.subject(positive, negative)
    groups = 2 if given.intercept else 1
    hulls = Hulls(subject.table.X, subject.labels, lifted=False, groups=groups, reading=given.reading)
    with one_blas_thread(subject.table.X.size):
        bracket = bracketed(hulls, given, subject, exact)
    return Margin._of(bracket, subject, tuple(given.names), perf_counter() - start)


@dataclass(frozen=True)
class Bracket:
    """Both bounds with their proofs, or the verdict that there is nothing to bound."""

    hulls: Hulls
    side: Side | None
    point: HullPoint | None
    separability: Separability | None = None

    @property
    def verdict(self) -> str:
        return "complete" if self.separability is None else self.separability.verdict

    @property
    def lower2(self) -> Fraction:
        """The square of the lower bound of the margin."""
        return self.side.squared / self.hulls.groups**2 if self.side else Fraction(0)

    @property
    def upper2(self) -> Fraction:
        return self.point.squared / self.hulls.groups**2 if self.point else Fraction(0)

    def normal(self) -> tuple[list[int], Fraction, Fraction]:
        """(w, b, m) with y_i (w.x_i + b) >= m for every row; lifted rows have their b in w."""
        assert self.side is not None
        low, *other = self.side.least
        return (self.side.w, (other[0] - low) / 2, (low + other[0]) / 2) if other else (self.side.w, Fraction(0), low)


def bracketed(hulls: Hulls, given: Given, subject: Subject, exact: bool) -> Bracket:
    """Search, prove, and polish where the proved bracket is wide or an exact one is wanted."""
    found = hulls.search()
    weights = found.weights.tolist()
    above = point(hulls, found.support, weights)
    below = None if found.origin else side(hulls, integer_row(found.v.tolist())[0])
    if below is None or not below.squared:  # too near to zero to be seen in floating point
        start = perf_counter()
        reduction = reduce(given.rows(subject.table.X, subject.labels, given.intercept))
        verdict = result(reduction, subject, given.names, perf_counter() - start)
        if verdict.verdict != "complete":
            return Bracket(hulls, None, above if verdict.verdict == "undecided" else None, verdict)
        exact = True
    wide = below is None or above.squared > below.squared * NARROW**2
    if exact or (wide and len(found.support) <= FEW):
        polished = polish(hulls, found.support, weights)
        assert polished is not None, "the rows are separable, so that their hulls do not meet"
        below, above = polished
    return Bracket(hulls, below, above)


@dataclass(frozen=True)
class Margin(SaidInLines):
    """The largest half-width, ``lower <= d* <= upper``, proved; ``certificate`` proves it to others.

    ``coef`` (of length 1) and ``intercept`` are the hyperplane of the lower bound: scores are signed distances.
    ``support`` are the rows that hold it and ``weights`` theirs, 1 in each class (in all without an intercept):
    the point of the hulls that the upper bound measures. ``squared`` is d*^2 when both bounds are equal, else None.
    An intercept beyond the largest double is infinite (None in ``to_dict``); the certificate has it exactly.

    Attributes
    ----------
    lower, upper : float
        Proved bounds of the half-width d*.
    squared : Fraction or None
        d*² where it is known exactly.
    coef, intercept : array and float, or None
        The hyperplane.
    support, weights : arrays
        Rows that hold the margin, and their weights.
    verdict : str
        "complete", or the kind of overlap.
    feature_names : tuple of str
    seconds : float
        Time that it took.
    certificate : Certificate
        The proof, for :func:`verify`.

    Examples
    --------
    >>> from separatrix import margin
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> found = margin(X, y)
    >>> found.lower <= 1 <= found.upper, found.coef, found.intercept
    (True, array([1., 0.]), 0.0)
    """

    lower: float
    upper: float
    squared: Fraction | None
    coef: Floats | None
    intercept: float | None
    support: NDArray[np.int64]
    weights: Floats
    verdict: str
    feature_names: tuple[str, ...]
    seconds: float
    _bracket: Bracket = field(repr=False, compare=False)
    _subject: Subject = field(repr=False, compare=False)

    @staticmethod
    def _of(bracket: Bracket, subject: Subject, names: tuple[str, ...], seconds: float) -> Margin:
        coef = intercept = None
        if bracket.side is not None:
            w, b, _ = bracket.normal()
            coef, intercept = unit(w, b)
        weights = bracket.point.weights if bracket.point else {}
        order = sorted(weights)
        rows = np.array(order, dtype=np.int64)
        return Margin(
            root_below(bracket.lower2),
            root_above(bracket.upper2),
            bracket.lower2 if bracket.lower2 == bracket.upper2 else None,
            coef,
            intercept,
            rows if subject.origin is None else subject.origin[rows],
            np.array([float(weights[i]) for i in order]),
            bracket.verdict,
            names,
            seconds,
            bracket,
            subject,
        )

    @property
    def gap(self) -> float:
        """upper / lower - 1; exactly 0 when both are the same rational number, whatever their doubles are."""
        if self.squared is not None:
            return 0.0
        return self.upper / self.lower - 1 if self.lower > 0 else math.inf

    @property
    def exact(self) -> bool:
        return self.squared is not None

    @cached_property
    def certificate(self) -> Certificate:
        """The proof of both bounds, or of there being no margin; the data are read once more for their fingerprint."""
        if self._bracket.separability is not None:
            return self._bracket.separability.certificate
        return margin_certificate("margin", self._bracket, self._subject)

    def accepted(self) -> Margin:
        """This result, once the checker has accepted both bounds: whatever prints them as proved asks first.

        Returns
        -------
        Margin
            The same one.

        Raises
        ------
        BugError
            Where the checker refuses them; the message names the files that reproduce that.

        Examples
        --------
        >>> from separatrix import margin
        >>> margin([[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1]).accepted().upper
        0.5
        """
        need_accepted_margin(self, "margin")
        return self

    def plot(self, ax: Any = None) -> Any:
        """Draw the hulls of the classes, the hyperplane between them, its band and the nearest points.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; new axes without it. Of more than two columns the distance from the hyperplane and the
            direction of greatest spread along it are drawn.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from separatrix import margin
        >>> ax = margin([(0, 0), (0, 1), (2, 0), (3, 1)], ["a", "a", "b", "b"]).plot()
        >>> ax.get_title()
        'half-width 1 (proved)'
        """
        from separatrix.proofs.margin.margin_picture import margin_picture

        return margin_picture(self.accepted(), ax)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import margin
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> y = [-1, 1, 1, -1, -1, 1]
        >>> margin(X, y).to_dict()["support"]
        [1, 3]
        """
        self.accepted()
        return {
            "verdict": self.verdict,
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap if math.isfinite(self.gap) else None,
            "squared": None if self.squared is None else quotient(self.squared),
            "coef": None if self.coef is None else self.coef.tolist(),
            "intercept": self.intercept if self.intercept is None or math.isfinite(self.intercept) else None,
            "support": self.support.tolist(),
            "weights": self.weights.tolist(),
            "feature_names": list(self.feature_names),
            "seconds": self.seconds,
        }

    def _lines(self) -> list[str]:
        self.accepted()
        if self.verdict == "undecided":
            return [f"Margin: undecided, at most {self.upper:.6g} (proved)"]
        if self.verdict != "complete":
            return [f"Margin: none, the classes are not separable ({PLAIN[self.verdict]}, proved)"]
        lines = [f"Margin: half-width {digits(self.lower, self.upper)} (proved)"]
        if self.squared is not None:
            bits = max(self.squared.numerator.bit_length(), self.squared.denominator.bit_length())
            size = str(self.squared) if bits <= 64 else f"a rational number of {bits} bits"
            lines.append(f"  exactly: its square is {size}")
        else:
            lines.append(f"  between {self.lower!r} and {self.upper!r}")
        lines.append(f"  held by {len(self.support)} of {len(self._subject.labels):,} rows")
        lines.append(f"  found and proved in {self.seconds * 1e3:.3g} ms")
        return lines


def unit(w: list[int], b: Fraction) -> tuple[Floats, float]:
    """(w, b) divided by |w|, as doubles; a b beyond them is infinite."""
    shift = max(abs(v) for v in w).bit_length()
    head = np.array([float(Fraction(v, 1 << shift)) for v in w])
    length = float(np.linalg.norm(head))
    constant = b / (1 << shift) / Fraction(length)
    return head / length, ratio(constant.numerator, constant.denominator)


def digits(lower: float, upper: float) -> str:
    """As many digits as both bounds share, at most fifteen."""
    for count in range(15, 3, -1):
        if f"{lower:.{count}g}" == f"{upper:.{count}g}":
            return f"{lower:.{count}g}"
    return f"{lower:.4g} to {upper:.4g}"


def need_accepted_margin(result: Any, claim: str) -> None:
    """Have the checker accept the bounds of a margin, or that there is none; once for each result."""
    if "certificate" in result.__dict__ or result.__dict__.get("_accepted"):
        return
    bracket: Bracket = result._bracket
    if bracket.separability is not None:
        bracket.separability.accepted()
    elif bracket.side is not None and bracket.point is not None:
        result._subject.need_accepted(claim, margin_fields(bracket, result._subject))
    result.__dict__["_accepted"] = True  # an attribute of our own of a frozen object


def margin_certificate(claim: str, bracket: Bracket, subject: Subject) -> Certificate:
    """The proof of both bounds."""
    if bracket.side is None or bracket.point is None:
        raise CertificateError("No margin was proved: there is nothing to certify.")
    return subject.certify(claim, **margin_fields(bracket, subject))


def margin_fields(bracket: Bracket, subject: Subject) -> dict[str, Any]:
    """Direction, level and weights; the checker finds the bounds again from them."""
    assert bracket.point is not None
    w, b, m = bracket.normal()
    common = math.lcm(b.denominator, m.denominator)
    free = bracket.hulls.groups == 2
    whole = [v * common for v in w] + ([int(b * common)] if free else [])
    *vector, level = numbers([*whole, int(m * common)])
    weights = bracket.point.weights
    scale = math.lcm(*(q.denominator for q in weights.values()))
    return {
        "w": vector,
        "m": level,
        "support": [subject.row(i) for i in weights],
        "lambda": numbers([q.numerator * (scale // q.denominator) for q in weights.values()]),
        "lo2": quotient(bracket.lower2),
        "hi2": quotient(bracket.upper2),
    }

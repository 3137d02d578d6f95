"""How many mistakes can the perceptron make? Novikoff's (1962) bound, from a proved lower margin.

On lifted rows z_i = y_i (x_i, 1) with R = max |z_i| and g = max over unit w of min z_i.w, the lifted margin (the
distance of the origin from the hull of the z_i, not the half-width), a run from zero makes at most (R/g)^2 mistakes, in
any order. From a start w_0 and with updates c_i z_i, c_min <= c_i <= c_max: for every unit w with least z_i.w = g
and a = w.w_0, write r = c_max R and s = c_min g; after k updates

    a + k s <= w.w_k <= |w_k|,   |w_k|^2 <= |w_0|^2 + k r^2,

so k <= [T + sqrt(T^2 + 4 s^2 (|w_0|^2 - a^2))] / (2 s^2) with T = r^2 - 2 s a. All of it but the root is rational.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import CertificateError, DataError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.numerics.exact_signs import dot
from separatrix.printable import SaidInLines
from separatrix.proofs.certificate.certificate import Certificate, Subject
from separatrix.proofs.exact.algebra import above, rational_root, root_above, root_below
from separatrix.proofs.margin.hull_search import Hulls
from separatrix.proofs.margin.margin import (
    Bracket,
    bracketed,
    digits,
    margin_certificate,
    need_accepted_margin,
    two_classes,
)
from separatrix.proofs.margin.unit_rows import bracketed_unit_rows
from separatrix.proofs.separability.verdict import PLAIN, Given, given_data
from separatrix.validation import check_finite_vector, check_weights, need_flag


def mistake_bound(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    normalize_rows: bool = False,
    start: Any = None,
    sample_weight: Any = None,
) -> MistakeBound:
    """The most mistakes that a perceptron can make on these rows, in any order and however often they come.

    Parameters
    ----------
    X, y : rows and labels of two classes
    fit_intercept : whether the perceptron has a bias, that is a constant coordinate
    normalize_rows : whether it scales each lifted row to length 1; the bound is then for that run, and for no other
    start : None for zeros, "ones", or an array of d numbers, or d + 1 with the bias
    sample_weight : sizes of the rows' updates; rows of weight zero do not count

    Returns
    -------
    MistakeBound. It is safe: computed from the proved lower bound of the margin and rounded up. For
    classes that no hyperplane separates there is none (``bound`` is infinite, ``verdict`` says why).

    Examples
    --------
    >>> from separatrix import mistake_bound
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> mistake_bound(X, y, fit_intercept=False).most
    5
    """
    need_flag("normalize_rows", normalize_rows)
    given = given_data(X, y, sample_weight, fit_intercept, "binary64")
    two_classes(given)
    weights = check_weights(sample_weight, given.source.table.n)
    steps = np.ones(1) if weights is None else weights[weights > 0]
    return bound_between(given, [1], [0], bool(normalize_rows), start, steps)


def bound_between(
    given: Given,
    positive: list[int],
    negative: list[int] | None,
    normalize_rows: bool = False,
    start: Any = None,
    steps: Floats | None = None,
    exact: bool = False,
) -> MistakeBound:
    """The bound between two groups of classes; ``exact``: the margin as a rational number."""
    subject = given.subject(positive, negative)
    first = starting_point(start, subject.table.d, given.intercept)
    with one_blas_thread(subject.table.X.size):
        if normalize_rows:
            bracket, radius2 = bracketed_unit_rows(given, subject), Fraction(1)
        else:
            hulls = Hulls(subject.table.X, subject.labels, lifted=given.intercept, groups=1, reading=given.reading)
            bracket, radius2 = bracketed(hulls, given, subject, exact), longest2(hulls)
    least, most = (Fraction(1), Fraction(1)) if steps is None else (Fraction(steps.min()), Fraction(steps.max()))
    bound = None if bracket.side is None else most_mistakes(bracket, radius2, first, least, most)
    return MistakeBound._of(bracket, radius2, bound, first, (least, most), normalize_rows, given, subject)


def starting_point(start: Any, d: int, intercept: bool) -> Floats:
    """The lifted start (w, b), or w without an intercept."""
    p = d + int(intercept)
    if start is None or (isinstance(start, str) and start in ("zeros", "ones")):
        return np.full(p, 1.0 if start == "ones" else 0.0) if start is not None else np.zeros(p)
    if isinstance(start, str):
        raise ParameterError(
            f"start is {start!r}: it can be None, 'zeros', 'ones' or an array; a random start is known only "
            "after the run (trace_.start)."
        )
    given = check_finite_vector(start, what="start")
    if not intercept and len(given) == d + 1 and given[d] == 0:
        given = given[:d]
    if len(given) not in (d, p):
        raise DataError(f"start has {len(given)} entries and needs {d}{f', or {p} with the bias' if p > d else ''}.")
    return np.append(given, np.zeros(p - len(given)))


def longest2(hulls: Hulls) -> Fraction:
    """R^2 = max |z_i|^2, exactly: rows that rounding cannot tell from the longest are compared in integers."""
    norms = np.empty(hulls.n)
    kernels.norms2(hulls.view, norms)
    if hulls.size > 500 or hulls.size < -500 or not np.isfinite(norms).all():
        near = np.arange(hulls.n)
    else:
        near = np.flatnonzero(~(norms < norms.max() * (1 - (hulls.d + 8) * 2.0**-51) - 1e-290))
    return max(Fraction(dot(row, row), m * m) for row, m in hulls.exact(near.tolist()))


def most_mistakes(bracket: Bracket, radius2: Fraction, first: Floats, least: Fraction, most: Fraction) -> Fraction:
    """The bound of the module's head, rounded up where a root is not rational."""
    assert bracket.side is not None
    r2, s2 = most**2 * radius2, least**2 * bracket.lower2
    if not first.any():
        return r2 / s2
    shift = max(abs(v) for v in bracket.side.w).bit_length()
    w, w_0 = [Fraction(v, 1 << shift) for v in bracket.side.w], [Fraction(v) for v in first.tolist()]
    along, size2 = _inner(w, w_0), _inner(w, w)
    low, high = rational_root(s2 / size2)  # s / |w|
    T = r2 - 2 * along * (low if along > 0 else high)
    U = 4 * s2 * (_inner(w_0, w_0) - along * along / size2)
    return (T + rational_root(T * T + U)[1]) / (2 * s2)


def _inner(a: list[Fraction], b: list[Fraction]) -> Fraction:
    return sum((u * v for u, v in zip(a, b, strict=True)), Fraction(0))


@dataclass(frozen=True)
class Against:
    """A run beside the bound for it."""

    mistakes: int
    most: int | None
    bound: float

    @property
    def within(self) -> bool:
        return self.most is None or self.mistakes <= self.most

    @property
    def share(self) -> float:
        """mistakes / bound"""
        return self.mistakes / self.bound

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.mistakes:,} mistakes; there is no bound, since no hyperplane separates the rows"
        rest = "" if self.within else ", which is impossible in exact arithmetic: rounding, or another run"
        return f"{self.mistakes:,} mistakes of at most {self.most:,} ({self.share:.2%} of the bound){rest}"


@dataclass(frozen=True)
class MistakeBound(SaidInLines):
    """(R/g)^2 and what goes into it: ``radius`` R, and the lifted ``margin`` g as a proved (lower, upper).

    ``bound`` is a number that no run exceeds, ``most`` the whole number below it; infinite and None for classes that
    are not separable. ``coef`` and ``intercept`` (of joint length 1) attain the lower margin.

    Attributes
    ----------
    radius : float
        R, the length of the longest lifted row.
    margin : (float, float)
        Proved bounds of the lifted margin.
    bound, most : float; int or None
        (R/g)² and the whole number of mistakes that it allows; infinite and None where there is no bound.
    most_visits : int or None
        n (R/g)² + n: the most rows that a run of passes looks at, the clean pass at the end included.
    verdict : str
        "complete", or the kind of overlap.
    coef, intercept : array and float, or None
        The hyperplane of the margin.
    support : array of int
        Rows that hold the margin.

    Examples
    --------
    >>> from separatrix import mistake_bound
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> found = mistake_bound(X, y, fit_intercept=False)
    >>> round(found.radius**2), found.margin, found.most
    (5, (1.0, 1.0), 5)
    """

    radius: float
    margin: tuple[float, float]
    bound: float
    most: int | None
    verdict: str
    normalize_rows: bool
    has_intercept: bool
    start: Floats
    steps: tuple[float, float]
    coef: Floats | None
    intercept: float | None
    support: NDArray[np.int64]
    feature_names: tuple[str, ...]
    _bracket: Bracket = field(repr=False, compare=False)
    _subject: Subject = field(repr=False, compare=False)

    @staticmethod
    def _of(
        bracket: Bracket,
        radius2: Fraction,
        bound: Fraction | None,
        first: Floats,
        steps: tuple[Fraction, Fraction],
        normalize_rows: bool,
        given: Given,
        subject: Subject,
    ) -> MistakeBound:
        coef = intercept = None
        if bracket.side is not None:
            shift = max(abs(v) for v in bracket.side.w).bit_length()
            w = np.array([float(Fraction(v, 1 << shift)) for v in bracket.side.w])
            w /= np.linalg.norm(w)
            coef, intercept = w[: subject.table.d], float(w[-1]) if given.intercept else 0.0
        rows = np.array(sorted(bracket.point.weights if bracket.point else {}), dtype=np.int64)
        return MistakeBound(
            root_above(radius2),
            (root_below(bracket.lower2), root_above(bracket.upper2)),
            math.inf if bound is None else above(bound),
            None if bound is None else math.floor(bound),
            bracket.verdict,
            normalize_rows,
            given.intercept,
            first,
            (float(steps[0]), float(steps[1])),
            coef,
            intercept,
            rows if subject.origin is None else subject.origin[rows],
            tuple(given.names),
            bracket,
            subject,
        )

    @property
    def most_visits(self) -> int | None:
        """n (R/g)² + n: the rows that a run of passes looks at before it stops, at most; None without a bound.

        Every pass but the last has a mistake, of which there are at most ``most``; the last one is clean.
        """
        return None if self.most is None else self._subject.source.table.n * (self.most + 1)

    def against(self, model: Any) -> Against:
        """The mistakes of a fitted perceptron beside the bound for its run.

        The model must be of the run that the bound is for: the same bias, scaling and start.

        Parameters
        ----------
        model : Perceptron
            Fitted, with the same bias, scaling and start as the bound.

        Returns
        -------
        Against
            ``mistakes``, ``most``, ``bound``, and ``share`` of the bound.

        Examples
        --------
        >>> from separatrix import Perceptron, mistake_bound
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> y = [-1, 1, 1, -1, -1, 1]
        >>> model = Perceptron.recipe("repeated").fit(X, y)
        >>> print(mistake_bound(X, y, fit_intercept=False).against(model))
        3 mistakes of at most 5 (60.00% of the bound)
        """
        if not getattr(model, "_moves_on_mistakes", False):
            raise ParameterError(
                f"{type(model).__name__} does not move by the perceptron's rule: the bound is not for it."
            )
        if getattr(model, "mistakes_", None) is None:
            raise ParameterError(f"this {type(model).__name__} is not fitted yet: call fit first.")
        if len(model.classes_) != 2 or model.n_features_in_ != self._subject.table.d:
            raise ParameterError(
                f"the model has {len(model.classes_)} classes and {model.n_features_in_} features, the bound 2 and "
                f"{self._subject.table.d}: it is about other data."
            )
        for what, theirs, ours in (
            ("fit_intercept", bool(model.fit_intercept), self.has_intercept),
            ("normalize_rows", bool(model.normalize_rows), self.normalize_rows),
        ):
            if theirs != ours:
                option = "intercept" if what == "fit_intercept" else what
                raise ParameterError(f"the model has {what}={theirs}: ask for mistake_bound(..., {option}={theirs}).")
        if getattr(model, "class_weight", None) is not None and self.steps == (1.0, 1.0):
            raise ParameterError("the model weighs its classes: pass those weights to mistake_bound as sample_weight.")
        self._same_start(model)
        return Against(int(model.mistakes_), self.most, self.bound)

    def _same_start(self, model: Any) -> None:
        trace = getattr(model, "trace_", None)
        d = self._subject.table.d
        if trace is not None:
            theirs = np.asarray(trace.start, dtype=np.float64)[: len(self.start)]
        elif isinstance(model.start, str) and model.start == "random":
            raise ParameterError("the model started at random: fit it with trace=True and pass trace_.start as start.")
        else:
            theirs = starting_point(model.start, d, self.has_intercept)
        if not np.array_equal(theirs, self.start):
            raise ParameterError("the model started elsewhere: pass its start to mistake_bound.")

    @cached_property
    def certificate(self) -> Certificate:
        """The proof of the lifted margin (or of there being none); the radius is there to be seen in the data."""
        if self._bracket.separability is not None:
            return self._bracket.separability.certificate
        if self.normalize_rows:
            raise CertificateError(
                "Rows of length 1 are not rational: their margin has no certificate; certify the rows as they are."
            )
        return margin_certificate("margin-lifted", self._bracket, self._subject)

    def accepted(self) -> MistakeBound:
        """This result, once the checker has accepted the lifted margin: whatever prints the bound as proved asks first.

        Rows of length 1 are not rational, so that their margin, proved in integers here, has no certificate to check.

        Returns
        -------
        MistakeBound
            The same one.

        Raises
        ------
        BugError
            Where the checker refuses it; the message names the files that reproduce that.

        Examples
        --------
        >>> from separatrix import mistake_bound
        >>> mistake_bound([[1.0], [2.0]], [0, 1]).accepted().verdict
        'complete'
        """
        if not self.normalize_rows or self._bracket.separability is not None:
            need_accepted_margin(self, "margin-lifted")
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists.

        Returns
        -------
        dict
            Plain numbers, texts and lists.

        Examples
        --------
        >>> from separatrix import mistake_bound
        >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
        >>> y = [-1, 1, 1, -1, -1, 1]
        >>> mistake_bound(X, y, fit_intercept=False).to_dict()["most"]
        5
        """
        self.accepted()
        return {
            "verdict": self.verdict,
            "radius": self.radius,
            "margin": list(self.margin),
            "bound": self.bound if math.isfinite(self.bound) else None,
            "most": self.most,
            "most_visits": self.most_visits,
            "normalize_rows": self.normalize_rows,
            "intercept": self.has_intercept,
            "support": self.support.tolist(),
        }

    def _lines(self) -> list[str]:
        self.accepted()
        if self.verdict != "complete":
            why = "undecided" if self.verdict == "undecided" else f"{PLAIN[self.verdict]}, proved"
            return [f"Mistake bound: none, no hyperplane is known to separate the rows ({why})"]
        rows = "lifted rows of length 1" if self.normalize_rows else "lifted rows"
        lines = [f"Mistake bound: at most {self.most:,} mistake{'' if self.most == 1 else 's'}, in any order (proved)"]
        lines.append(f"  {rows}: radius R = {self.radius:.6g}, margin g = {digits(*self.margin)}")
        if not self.start.any() and self.steps[0] == self.steps[1]:
            lines.append(f"  (R/g)² = {self.bound:.6g}")
        else:
            far = math.hypot(*self.start.tolist())
            lines.append(f"  steps {self.steps[0]:g} to {self.steps[1]:g}, start of length {far:.6g}")
        lines.append(f"  passes look at no more than {self.most_visits:,} rows, the clean one at the end included")
        return lines

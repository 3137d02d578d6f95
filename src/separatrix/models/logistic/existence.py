"""Whether a maximum-likelihood estimate exists, and what is left to gain on the way to it.

A maximum exists where no direction separates the classes (Albert and Anderson 1984). The fit itself proves that, by a
bound of what is left to gain at a point near the maximum (:class:`LeftToGain`).

Vectors of a fit that have every row strictly on its side prove the opposite. Where the fit proves nothing, separability
decides.

What is left to gain. Let F be the sum of logistic losses, plus ridge/2 |w|^2 if there is a ridge, and A <= H a lower
bound of its Hessian at a point. Along a direction v the third derivative of a row's loss is at most the range of its
scores (of two classes the size of its score) times the second. With  t = |v|_A,  l = |g|_A^-1  and R the greatest range
of any row at t = 1,

    F(w + v) >= F(w) - l t + (exp(-R t) + R t - 1)/R^2      (Bach 2010, in the norm of A).

Where  u = R l < 1,  the right side grows without limit with t: there is a minimum, so that classes overlap, and

    F(w) - min F <= l^2 (u + (1 - u) log(1 - u))/u^2,   about the decrement l^2/2.

A holds some of the rows (x_i - c, 1) with weights a_i, for any centre c:

- of two classes a_i = c_i p (1 - p), the curvature of the row;
- of several  a_i = c_i min_k p_ik,  for each class: on vectors whose classes add up to zero  diag p - pp' >= min_k p_k
  (the eigenvalues of diag p - pp' and of diag p interlace), and the squared range is at most twice the sum of squares.

The range of a row is at most  a_i^-1/2,  since H holds the row, and at most  |x_i|_A^-1 <= |D x_i|/sqrt(e),  with
D = diag(A)^-1/2 and e the least eigenvalue of DAD; several classes have sqrt(2) times as much.

Rounding is bounded, not hoped away: a sum of n terms is wrong by at most n units of the sum of their sizes, in any
order (Higham 2002, 3.1). By Cauchy and Schwarz that is at most n units in DAD, and n units of |r||x_j| in the gradient,
times sqrt(K) since the sums of the last class follow from the others. Probabilities are taken as they were computed:
they are those of scores with another offset, on which the existence of a minimum does not depend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import CertificateError, DataError
from separatrix.models.logistic.binary_loss import BinaryLoss, LossPoint, dense
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.numerics.gram_matrix import least_eigenvalue_above
from separatrix.proofs.certificate.certificate import Certificate
from separatrix.proofs.separability.verdict import Given, Separability

NAMED = {"complete": 21, "quasi": 200}  # parameters up to which a warning decides which coefficients are infinite
PLAIN = {"complete": "completely", "quasi": "quasi-completely"}
UNIT = 2.0**-53  # of rounding
ROWS, MORE = 8, 64  # rows of A for each column at least, and where these prove nothing
MOST_COLUMNS = 2000  # beyond which A would cost too much
OWN, MOST_BOUND = 0.8, 0.95  # of R l: by the curvature of rows themselves, and by their lengths
FEWER = 4  # rows are measured one by one where they are at most one in so many, else by the extremes of columns


@dataclass
class Existence:
    """The verdict on the rows that count; ``by`` is what proved it.

    ``"bound"``: a bound of what is left to gain where the fit is;
    ``"scores"``: those of a fit, which have every row strictly on its side;
    ``"groups"``: two groups of the classes that a hyperplane separates, and classes that none does (class_groups.py);
    ``"separability"``: :func:`separatrix.separability`, whose evidence it then carries. The certificate and
    the fates of the coefficients are made when they are asked for.
    """

    verdict: str
    by: str
    _given: Given | None = field(repr=False)
    _class: int | None = field(default=None, repr=False)  # against the rest, or None for all classes
    _found: Separability | None = field(default=None, repr=False)

    @staticmethod
    def decide(given: Given, against_rest: int | None = None) -> Existence:
        found = _ask(given, against_rest)
        return Existence(found.verdict, "separability", given, against_rest, found)

    @property
    def exists(self) -> bool:
        """Whether a finite maximum exists, as far as is known."""
        return self.verdict not in PLAIN

    @property
    def provable(self) -> bool:
        """Whether the rows are still there to prove it with: copies, stored models and clusters have left them."""
        return self._found is not None or self._given is not None

    @cached_property
    def evidence(self) -> Separability:
        """The answer of :func:`separatrix.separability` on the same rows."""
        if self._found is not None:
            return self._found
        if self._given is None:
            raise DataError("a stored model has no rows to prove it with: call separability(X, y).")
        return _ask(self._given, self._class)

    @property
    def certificate(self) -> Certificate:
        """The verdict in a form that anyone can check."""
        return self.evidence.certificate

    @property
    def coefficients(self) -> Mapping[str, str]:
        """What the maximum-likelihood estimate does at each coefficient, by name."""
        return self.evidence.coefficients

    def infinite(self) -> dict[str, str]:
        """Coefficients that are infinite on every maximising sequence, with their signs."""
        if self.exists:
            return {}
        return {name: fate for name, fate in self.coefficients.items() if fate in ("+inf", "-inf")}

    def sentence(self, parameters: int) -> str:
        """What a warning says."""
        text = f"no finite maximum-likelihood estimate exists: the classes are {PLAIN[self.verdict]} separated"
        if parameters > NAMED[self.verdict]:
            return text + " (ask separation_.coefficients which are infinite)"
        signs = {"+inf": "+∞", "-inf": "−∞"}
        try:
            ends = [f"{name!r} tends to {signs[fate]}" for name, fate in self.infinite().items()]
        except CertificateError:
            return f"{text} (which coefficients are infinite could not be decided)"
        if not ends:
            return f"{text}, and which coefficients are infinite depends on the path"
        return f"{text}: " + ", ".join(ends[:8]) + (f" and {len(ends) - 8} more do likewise" if len(ends) > 8 else "")

    def __getstate__(self) -> dict[str, Any]:
        state = {k: v for k, v in self.__dict__.items() if k != "evidence"}
        return {**state, "_given": None, "_found": None}

    def __str__(self) -> str:
        asked = {"separability": "separability", "groups": "separability of groups of classes"}
        return f"{self.verdict} (proved by {asked.get(self.by, 'the fit itself')})"


def _ask(given: Given, against_rest: int | None) -> Separability:
    if against_rest is not None:
        return given.two_groups([against_rest], None)
    if len(given.labels.classes) == 2:
        return given.two_groups([1], [0])
    from separatrix.proofs.separability.multiclass import kesler

    return kesler(given)


def overlap_at(problem: LogisticProblem, point: LossPoint) -> bool:
    """Whether what is left to gain at a point is bounded, which proves that the classes overlap."""
    if not problem.d + int(problem.lift):
        return True  # there is no direction
    return LeftToGain(problem.loss())(point) < np.inf


# -- separation, proved from fitted vectors ----------------------------------------------------------


def separates(problem: LogisticProblem, vectors: Floats) -> bool:
    """Whether these vectors, without an offset, provably have every row strictly on its side; False proves nothing.

    A score is wrong by at most d + 2 units of  sum |x_j||w_j| + |b| <= |x||w| + |b|.
    """
    rows, W, b = kernels.rows(problem.X), np.ascontiguousarray(vectors[:, :-1]), vectors[:, -1].copy()
    scores, squares, own = np.empty((problem.n, len(W))), np.empty(problem.n), (np.arange(problem.n), problem.codes)
    with np.errstate(all="ignore"):
        kernels.class_scores(rows, W, b, scores)
        kernels.norms2(rows, squares)
        if len(W) == 1:
            ahead = problem.signs * scores[:, 0]
        else:
            ahead = scores[own]
            scores[own] = -np.inf
            ahead = ahead - scores.max(axis=1)
        lengths = np.sqrt(squares + problem.d * 1e-300)  # squares of tiny numbers underflow
        sizes = lengths * (float(np.linalg.norm(W, axis=1).max()) + 1e-150) + float(np.abs(b).max())
        return bool((ahead > 2.02 * (problem.d + 4) * UNIT * sizes + 1e-300).all())


# -- what is left to gain --


class LeftToGain:
    """Bounds what is left to gain at points of a loss, with a ridge for two classes only; inf proves nothing.

    A finite bound proves that there is a minimum. Bounds above ``tol`` of the value are not needed; without it, more
    rows are taken where some prove nothing. ``share`` is about how much of the bound the decrement is.
    """

    def __init__(self, loss: BinaryLoss | MultinomialLoss, tol: float = np.inf) -> None:
        self.loss, self.tol, self.columns = loss, tol, loss.d + int(loss.lift)
        self.classes = loss.classes if isinstance(loss, MultinomialLoss) else 2
        p = max(1, self.columns)
        few = self.classes // 2 * loss.n // (ROWS * p)  # as long as a pass
        self.steps = [max(1, loss.n // (k * max(p, few))) for k in (ROWS, MORE)]
        self.steps = self.steps[:1] if tol < np.inf else list(dict.fromkeys(self.steps))
        self.share = 1.0 / (self.classes * self.steps[0])

    def __call__(self, point: LossPoint) -> float:
        with np.errstate(all="ignore"):
            errors = self.errors(point)
            for norm in self.norms(point):
                bound = norm.left(point.gradient, errors, enough=self.tol * abs(point.value))
                if bound < np.inf:
                    return bound
        return np.inf

    def norms(self, point: LossPoint) -> Iterator[SomeRows]:
        """A by the rows of the first step that determine it, then by more."""
        loss = self.loss
        if 0 < self.columns <= MOST_COLUMNS and loss.n > self.columns and np.isfinite(point.gradient).all():
            c = 1.0 if loss.weights is None else loss.weights
            if isinstance(loss, BinaryLoss):
                a = point.curvature
            else:
                a = c * np.minimum(point.curvature.T.min(axis=0), np.maximum(1.0 - point.wrong, 0.0))
            for step in self.steps:
                norm = SomeRows.of(loss, 0.99 * a, step)
                if norm is not None:
                    yield norm

    def errors(self, point: LossPoint) -> Floats:
        """How far off by rounding each number of the gradient may be, in any class."""
        c = 1.0 if self.loss.weights is None else self.loss.weights
        if isinstance(self.loss, BinaryLoss):
            residuals = float(np.linalg.norm(c * point.wrong))
        else:
            residuals = float(np.max(c)) * float(np.linalg.norm(point.curvature.T) + np.linalg.norm(point.wrong))
        return residuals * self.rounding

    @cached_property
    def rounding(self) -> Floats:
        """Errors of the gradient for residuals of length 1."""
        loss, lengths = self.loss, np.zeros(self.loss.d + 1)
        kernels.curvature_diagonal(kernels.rows(loss.X), np.ones(loss.n), 0, loss.n, None, lengths)
        return np.asarray(2.02 * self.classes**0.5 * (loss.n + self.classes + 20) * UNIT * np.sqrt(lengths))


@dataclass(frozen=True, slots=True)
class SomeRows:
    """The norm of A by some of the rows (x - c, 1): A with a diagonal of ones, its inverse and its least eigenvalue.

    ``a`` has the weights that all rows may have, and ``rounding`` is the share of the sizes of its terms that a
    number of the scaled matrix is wrong by at most, times the columns.
    """

    loss: BinaryLoss | MultinomialLoss
    a: Floats
    centre: Floats
    D: Floats
    scaled: Floats
    inverse: Floats
    least: float
    rounding: float

    @staticmethod
    def of(loss: BinaryLoss | MultinomialLoss, a: Floats, step: int) -> SomeRows | None:
        """A by every ``step``-th row; None where that is not positive definite."""
        d, some = loss.d, a[::step]
        p = d + int(loss.lift)
        X, Z = dense(loss.X[::step]), np.ones((len(some), p))
        centre = some @ X / max(float(some.sum()), 1e-300) if loss.lift else np.zeros(d)
        np.subtract(X, centre, out=Z[:, :d])
        Z *= np.sqrt(some)[:, None]
        A = Z.T @ Z
        own = np.arange(d)
        A[own, own] += loss.ridge
        diagonal = np.diagonal(A)
        if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
            return None
        D = 1.0 / np.sqrt(diagonal)
        scaled, rounding = A * D * D[:, None], 2.0 * (len(X) + p + 20) * UNIT * p
        try:
            inverse = np.linalg.inv(scaled)
        except np.linalg.LinAlgError:
            return None
        least = 0.9 / float(np.linalg.norm(inverse))
        if not least_eigenvalue_above(scaled, least + rounding):
            return None
        return SomeRows(loss, a, centre, D, scaled, np.asarray(inverse, dtype=np.float64), least, rounding)

    def left(self, gradient: Floats, errors: Floats, kept: float = 1.0, enough: float = np.inf) -> float:
        """The bound for a gradient with such errors by ``kept`` times A; inf above ``enough``."""
        d, p, least = self.loss.d, len(self.D), self.least
        g, error = gradient.reshape(-1, d + 1).copy(), errors.copy()
        g[:, :d] -= g[:, d:] * self.centre
        error[:d] += np.abs(self.centre) * errors[d]
        g, error = g[:, :p] * self.D, error[:p] * self.D
        t = g @ self.inverse  # the exact DAD t differs from Dg by what is computed, and by rounding
        product = t @ self.scaled
        size, rest = float(np.linalg.norm(t)), float(np.linalg.norm(g - product)) + float(np.linalg.norm(error))
        length = (max(float(np.vdot(t, product)), 0.0) + self.rounding * size**2) ** 0.5
        length = 1.01 * (length + (rest + 2.0 * self.rounding * size) / least**0.5) / kept**0.5
        if not 0.5 * length**2 <= enough:
            return np.inf
        wide = 2.0 if isinstance(self.loss, MultinomialLoss) else 1.0
        u, far = OWN, np.flatnonzero(self.a < wide / kept * (length / OWN) ** 2)
        if len(far):
            u = max(u, length * (wide / (kept * least)) ** 0.5 * self._longest(far))
        return length**2 * (u + (1.0 - u) * float(np.log1p(-u))) / u**2 if u <= MOST_BOUND else np.inf

    def _longest(self, far: NDArray[np.intp]) -> float:
        """The length |D (x - centre, 1)| of these rows at most."""
        X, d, D, centre = self.loss.X, self.loss.d, self.D[: self.loss.d], self.centre
        if len(far) * FEWER <= X.shape[0]:
            Z = (dense(X[far]) - centre) * D
            squares = float(np.einsum("ij,ij->i", Z, Z).max())
        elif isinstance(self.loss, MultinomialLoss) and (rows := self.loss.narrow) is not None:
            length = rows.longest * float((D * rows.scale).max(initial=0.0))
            squares = (length + float(np.linalg.norm(D * (rows.mean - centre)))) ** 2
        else:
            ends = X.max(axis=0), X.min(axis=0)
            top, low = (v.toarray().ravel() if hasattr(v, "toarray") else v for v in ends)
            squares = float(np.square(np.maximum(top - centre, centre - low) * D).sum())
        return 1.01 * float(np.sqrt(squares + (self.D[d:] ** 2).sum()))

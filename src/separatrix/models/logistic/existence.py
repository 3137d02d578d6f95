"""Whether a maximum-likelihood estimate exists, and what is left to gain on the way to it.

A maximum exists where no direction separates the classes (Albert and Anderson 1984). The fit itself proves that, by a
bound of what is left to gain at a point near the maximum (:class:`LeftToGain`), or by its probabilities. Let
z_i = y_i (x_i, 1) be the rows on their own side, q_i > 0 any numbers, Q = diag(q), and s = (Z'QZ)^-1 Z'q. Then
lambda = q (1 - Z s)  has  Z'lambda = 0, and it is positive where z_i.s < 1. Positive weights on rows that span the
space and cancel leave no direction that separates (Stiemke 1915), and some of the rows are enough. At a maximum of
the likelihood Z'q = 0 for q_i = 1 - P(y_i|x_i), so that s = 0. Of several classes z are  (x, 1) (x) (e_y - e_k)  with
q_k = P(k|x).

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

from collections.abc import Mapping
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
from separatrix.proofs.certificate import Certificate
from separatrix.proofs.separability import Given, Separability

NAMED = {"complete": 21, "quasi": 200}  # parameters up to which a warning decides which coefficients are infinite
PLAIN = {"complete": "completely", "quasi": "quasi-completely"}
PROOF_SIZE = 2**25  # numbers that a proof of overlap may look at
LEVELS = (1e-4, 1e-8, 1e-12)  # rows of smaller q than this share of the largest are left out
UNIT = 2.0**-53
ROWS, MORE = 8, 64  # rows of A for each column at least, and where these prove nothing
MOST_COLUMNS = 2000  # beyond which A would cost too much
OWN, MOST_BOUND = 0.8, 0.95  # of R l: by the curvature of rows themselves, and by their lengths
FEWER = 4  # rows are measured one by one where they are at most one in so many, else by the extremes of columns


@dataclass
class Existence:
    """The verdict on the rows that count; ``by`` is what proved it.

    ``"circulation"``: the fitted probabilities themselves (positive weights near them cancel the rows exactly);
    ``"scores"``: those of a fit, which have every row strictly on its side;
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
        return f"{self.verdict} (proved by {'separability' if self.by == 'separability' else 'the fit itself'})"


def _ask(given: Given, against_rest: int | None) -> Separability:
    if against_rest is not None:
        return given.two_groups([against_rest], None)
    if len(given.labels.classes) == 2:
        return given.two_groups([1], [0])
    from separatrix.proofs.multiclass import kesler

    return kesler(given)


# -- overlap, proved from fitted probabilities ------------------------------------------------------


def overlap_at(problem: LogisticProblem, point: LossPoint) -> bool:
    """Whether the fitted probabilities at a point prove that the classes overlap; False proves nothing."""
    if not problem.d + int(problem.lift):
        return True  # there is no direction
    if LeftToGain(problem.loss())(point) < np.inf:
        return True
    if problem.n * (problem.classes - 1) * problem.parameters > PROOF_SIZE:
        return False
    if problem.classes == 2:
        return proves_overlap(problem.signs.astype(np.float64)[:, None] * problem.lifted(), point.wrong)
    return proves_overlap(*kesler_rows(problem.lifted(), problem.codes, point.curvature))


def proves_overlap(Z: Floats, q: Floats) -> bool:
    """Whether positive weights near q on some rows of Z provably cancel and span; False proves nothing."""
    if not (np.isfinite(q).all() and q.max(initial=0.0) > 0):
        return False
    with np.errstate(all="ignore"):
        tried = 0
        for level in LEVELS:
            kept = q >= level * q.max()
            count = int(kept.sum())
            if count <= Z.shape[1] or count == tried:
                continue
            tried = count
            if cancels(Z[kept] if count < len(q) else Z, q[kept]):
                return True
    return False


def cancels(Z: Floats, q: Floats) -> bool:
    """Whether max z_i.s <= 1/2 for the exact s of these numbers.

    With A = Z'QZ and a computed t, the exact s differs from t by v = A^-1 r, r = Z'q - A t, and
    |z_i.v| <= sqrt(v'Av/q_i) <= |D r| / sqrt(e q_i), with D = diag(A)^-1/2 and e the least eigenvalue of D A D.
    Sums of m terms are wrong by at most m units of the sum of their sizes, in any order (Higham 2002, 3.1);
    by Cauchy and Schwarz the scaled sums of sizes are at most 1 in A, and  sqrt(sum q (1 + |z_i|.|t|)^2)
    <= sqrt(2 (sum q + (sum |t_j|/D_j)^2))  in D r.
    """
    m, p = Z.shape
    A = Z.T @ (q[:, None] * Z)
    diagonal = np.diagonal(A)
    if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
        return False
    D = 1.0 / np.sqrt(diagonal)
    scaled = A * D * D[:, None]
    share = 2.0 * (m + p + 20) * UNIT
    least = float(np.linalg.eigvalsh(scaled)[0]) - share * p - 16.0 * p * p * UNIT
    if not least > 0:
        return False
    r, room, total = Z.T @ q, np.sqrt(least * q), q.sum()
    distance = np.linalg.norm(D * r) + np.sqrt(2.0 * p * total) * share
    if 1.01 * distance <= 0.5 * room.min():  # t = 0, as at a maximum
        return True
    t = np.zeros(p)
    for _ in range(3):
        t += D * np.linalg.solve(scaled, D * r)
        r = Z.T @ (q * (1.0 - Z @ t))
    sizes = np.sqrt(2.0 * (total + (np.abs(t) / D).sum() ** 2))
    distance = np.linalg.norm(D * r) + np.sqrt(p) * share * sizes
    reach = Z @ t + share * (np.abs(Z) @ np.abs(t)) + 1.01 * distance / room
    return bool(np.all(reach <= 0.5))


def kesler_rows(lifted: Floats, codes: NDArray[np.intp], P: Floats) -> tuple[Floats, Floats]:
    """One row (x, 1) (x) (e_y - e_k) for each class k but the row's own, and P(k|x) as its q.

    The vector of the last class is left out: vectors are known up to a common one.
    """
    n, p = lifted.shape
    classes = P.shape[1]
    if classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None] * lifted, P[np.arange(n), 1 - codes]
    rows, q = [], []
    for k in range(classes):
        others = np.flatnonzero(codes != k)
        part = np.zeros((len(others), classes, p))
        part[np.arange(len(others)), codes[others]] += lifted[others]
        part[:, k] -= lifted[others]
        rows.append(part[:, :-1].reshape(len(others), -1))
        q.append(P[others, k])
    return np.concatenate(rows), np.concatenate(q)


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
        self.wide = 1.0 if self.classes == 2 else 2.0
        p = max(1, self.columns)
        self.steps = [max(1, loss.n // (k * max(p, loss.n // (ROWS * p)))) for k in (ROWS, MORE)]  # as long as a pass
        self.share = 1.0 / (self.classes * self.steps[0])

    def __call__(self, point: LossPoint) -> float:
        loss, p = self.loss, self.columns
        if not 0 < p <= MOST_COLUMNS or loss.n <= p:
            return np.inf
        with np.errstate(all="ignore"):
            a, residuals = self._rows(point)
            if not (np.isfinite(point.gradient).all() and np.isfinite(residuals)):
                return np.inf
            for step in dict.fromkeys(self.steps[:1] if self.tol < np.inf else self.steps):
                bound = self._by_some(point, a, residuals * self.rounding, step)
                if bound < np.inf:
                    return bound
        return np.inf

    @cached_property
    def rounding(self) -> Floats:
        """Errors of the gradient for residuals of length 1."""
        loss, lengths = self.loss, np.zeros(self.loss.d + 1)
        kernels.curvature_diagonal(kernels.rows(loss.X), np.ones(loss.n), 0, loss.n, None, lengths)
        return np.asarray(2.02 * self.classes**0.5 * (loss.n + self.classes + 20) * UNIT * np.sqrt(lengths))

    def _rows(self, point: LossPoint) -> tuple[Floats, float]:
        """What each row gives to A, and the length of all residuals at most."""
        c = 1.0 if self.loss.weights is None else self.loss.weights
        if isinstance(self.loss, BinaryLoss):
            return 0.99 * point.curvature, float(np.linalg.norm(c * point.wrong))
        P = point.curvature.T
        residuals = float(np.max(c)) * (float(np.linalg.norm(P)) + float(np.linalg.norm(point.wrong)))
        return 0.99 * c * np.minimum(P.min(axis=0), np.maximum(1.0 - point.wrong, 0.0)), residuals

    def _by_some(self, point: LossPoint, a: Floats, rounding: Floats, step: int) -> float:
        """The bound by every ``step``-th row."""
        loss, d, some = self.loss, self.loss.d, a[::step]
        X, Z = dense(loss.X[::step]), np.ones((len(some), self.columns))
        centre = some @ X / max(float(some.sum()), 1e-300) if loss.lift else np.zeros(d)
        np.subtract(X, centre, out=Z[:, :d])
        Z *= np.sqrt(some)[:, None]
        A = Z.T @ Z
        p, own = len(A), np.arange(d)
        A[own, own] += loss.ridge
        diagonal = np.diagonal(A)
        if not (np.isfinite(A).all() and (diagonal > 1e-280).all()):
            return np.inf
        D = 1.0 / np.sqrt(diagonal)
        g, error = point.gradient.reshape(-1, d + 1).copy(), rounding.copy()
        g[:, :d] -= g[:, d:] * centre
        error[:d] += np.abs(centre) * rounding[d]
        g, error, scaled = g[:, :p] * D, error[:p] * D, A * D * D[:, None]
        share = 2.0 * (len(X) + p + 20) * UNIT * p
        try:
            inverse = np.linalg.inv(scaled)
        except np.linalg.LinAlgError:
            return np.inf
        least = 0.9 / float(np.linalg.norm(inverse))
        if not least_eigenvalue_above(scaled, least + share):
            return np.inf
        t = g @ inverse  # the exact DAD t differs from Dg by what is computed, and by rounding
        product = t @ scaled
        size, rest = float(np.linalg.norm(t)), float(np.linalg.norm(g - product)) + float(np.linalg.norm(error))
        length = (max(float(np.vdot(t, product)), 0.0) + share * size**2) ** 0.5
        length = 1.01 * (length + (rest + 2.0 * share * size) / least**0.5)
        if not 0.5 * length**2 <= self.tol * abs(point.value):
            return np.inf
        u, far = OWN, np.flatnonzero(a < self.wide * (length / OWN) ** 2)
        if len(far):
            u = max(u, length * (self.wide / least) ** 0.5 * _longest(loss.X, far, centre, D))
        return length**2 * (u + (1.0 - u) * float(np.log1p(-u))) / u**2 if u <= MOST_BOUND else np.inf


def _longest(X: Any, far: NDArray[np.intp], centre: Floats, D: Floats) -> float:
    """The length |D (x - centre, 1)| of these rows at most."""
    d = len(centre)
    if len(far) * FEWER <= X.shape[0]:
        Z = (dense(X[far]) - centre) * D[:d]
        squares = float(np.einsum("ij,ij->i", Z, Z).max())
    else:
        top, low = (v.toarray().ravel() if hasattr(v, "toarray") else v for v in (X.max(axis=0), X.min(axis=0)))
        squares = float(np.square(np.maximum(top - centre, centre - low) * D[:d]).sum())
    return 1.01 * float(np.sqrt(squares + (D[d:] ** 2).sum()))


def least_eigenvalue_above(A: Floats, needed: float) -> bool:
    """Whether a Cholesky factorisation proves it, of a matrix with a diagonal of ones (Rump 2006)."""
    shifted = A.copy()
    shifted[np.diag_indices(len(A))] -= needed + 16.0 * len(A) ** 2 * UNIT
    try:
        return bool(np.isfinite(np.linalg.cholesky(shifted)).all())
    except np.linalg.LinAlgError:
        return False

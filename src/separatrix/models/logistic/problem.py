"""What a logistic fit is given and what it returns: options, the rows in use, the problem on them, and the result.

``LogisticProblem.wide``, ``by_products`` and ``sample_stride`` decide which algorithm is used; ``plan_of`` says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.logistic.binary_loss import BinaryLoss, dense
from separatrix.models.logistic.grouped import GroupedOutcomes, expanded
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.numerics.status import Status
from separatrix.proofs.certificate.certificate import CertifiedTable
from separatrix.proofs.separability.verdict import Given
from separatrix.validation import Labels, Table

if TYPE_CHECKING:
    from separatrix.models.logistic.existence import Existence

GAP = 1e-8  # the relative gap at which a penalised fit ends, unless another is asked for
MOST_PARAMETERS = 2000  # up to here the Hessian is made, beyond it is only multiplied with
CHEAP = 1e6  # rows times squared parameters up to which it is made of several classes
MOST_SPARSE = 300  # the same for sparse rows


@dataclass(frozen=True)
class FitOptions:
    """Validated options of a fit; see :class:`separatrix.LogisticRegression`."""

    C: float
    l1_ratio: float
    firth: bool
    on_separation: str
    lift: bool
    calibration: str | None  # "flic" or "flac": after Firth's estimate
    tol: float | None
    max_iter: float

    @property
    def gap(self) -> float:
        """The relative gap at which a penalised fit ends."""
        return GAP if self.tol is None else self.tol

    @property
    def penalty(self) -> str:
        return "ridge" if self.l1_ratio == 0 else "lasso" if self.l1_ratio == 1 else "elastic net"


@dataclass(frozen=True, slots=True)
class LogisticProblem:
    """Rows, class numbers, weights, offset ((n,) for two classes, (n, K) for more), and whether there is a bias."""

    X: Any
    codes: NDArray[np.intp]
    classes: int
    weights: Floats | None
    offset: Floats | None
    lift: bool

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def sparse(self) -> bool:
        return not isinstance(self.X, np.ndarray)

    @property
    def vectors(self) -> int:
        """How many class vectors a fit has."""
        return 1 if self.classes == 2 else self.classes

    @property
    def parameters(self) -> int:
        """Free parameters of the likelihood: a vector for each class but one."""
        return (self.d + int(self.lift)) * (self.classes - 1)

    @property
    def wide(self) -> bool:
        """Whether the Hessian is better not made."""
        return self.parameters > MOST_PARAMETERS or (self.sparse and self.parameters > MOST_SPARSE)

    @property
    def many_columns(self) -> bool:
        """Whether a class vector alone has so many parameters that a Gram matrix of the columns is better not made."""
        p = self.d + int(self.lift)
        return p > MOST_PARAMETERS or (self.sparse and p > MOST_SPARSE)

    @property
    def saturated(self) -> bool:
        """Whether a class vector has as many parameters as there are rows: independent ones take any labels."""
        return self.n <= self.d + int(self.lift)

    @property
    def by_products(self) -> bool:
        """Whether the Hessian is only multiplied with: of many classes it costs more than all products together."""
        return self.wide or (self.classes > 2 and self.n * self.parameters**2 > CHEAP)

    @property
    def signs(self) -> NDArray[np.int8]:
        return kernels.in_blocks(lambda codes: 2 * (codes == 1).view(np.int8) - np.int8(1), self.codes)

    @property
    def counts(self) -> Floats:
        """Weights of the rows, 1 where none are given."""
        return np.ones(self.n) if self.weights is None else self.weights

    @property
    def class_offset(self) -> Floats | None:
        """The offset of all classes, (n, K)."""
        o = self.offset
        return o if o is None or o.ndim == 2 else np.column_stack([np.zeros(self.n), o])

    def binary_loss(self, ridge: float) -> BinaryLoss:
        return BinaryLoss(self.X, self.signs, self.weights, self.offset, ridge, self.lift)

    def loss(self, ridge: float = 0.0) -> BinaryLoss | MultinomialLoss:
        if self.classes == 2:
            return self.binary_loss(ridge)
        return MultinomialLoss(self.X, self.codes, self.classes, self.weights, self.offset, ridge, self.lift)

    def rows(self, part: Any) -> LogisticProblem:
        """Some of the rows, by a slice or by numbers."""
        X = self.X[part]
        X = X.tocsr() if self.sparse else np.ascontiguousarray(kernels.in_blocks(lambda rows: rows, X))
        weights = None if self.weights is None else self.weights[part].copy()
        offset = None if self.offset is None else self.offset[part].copy()
        return replace(self, X=X, codes=self.codes[part], weights=weights, offset=offset)

    def columns(self, kept: NDArray[np.intp]) -> LogisticProblem:
        """All rows with some of the columns."""
        X = self.X[:, kept]
        return replace(self, X=X.tocsr() if self.sparse else np.ascontiguousarray(X))

    def scores(self, vectors: Floats) -> Floats:
        """Scores of all classes (n, K), offset included."""
        s = np.asarray(self.X @ vectors[:, :-1].T) + vectors[:, -1]
        if self.classes == 2:
            s = s if self.offset is None else s + self.offset[:, None]
            return np.column_stack([np.zeros(self.n), s])
        return s if self.offset is None else s + self.offset

    def loss_at(self, vectors: Floats) -> float:
        """Minus the log-likelihood of lifted vectors."""
        return self.loss().point(np.ascontiguousarray(vectors).reshape(-1)).value

    def lifted(self) -> Floats:
        """Dense rows (x, 1), or x without an intercept."""
        return np.column_stack([dense(self.X), np.ones(self.n)]) if self.lift else dense(self.X)

    def shortest(self, at: Floats) -> Floats:
        """Parameters as vectors that add up to zero: of all equivalent ones of several classes the shortest."""
        V = at.reshape(-1, self.d + 1)
        return V if self.classes == 2 else np.asarray(V - V.mean(axis=0))

    def against_first(self, vectors: Floats) -> Floats:
        """Coefficients (K - 1, p) of the log-odds against the first class, without the place of a missing intercept."""
        vectors = vectors if self.classes == 2 else vectors[1:] - vectors[0]
        return vectors if self.lift else vectors[:, :-1]


@dataclass(frozen=True, slots=True)
class LogisticResult:
    """Lifted vectors, one row each, with how the fit ended and what is known about it.

    ``loss`` is minus the log-likelihood, if known, and ``gap`` a relative duality gap. ``maxima`` are the penalised
    likelihoods of the maxima that searches for Firth's estimate reached, highest first, and ``leverages`` those of the
    rows at Firth's estimate, where FLAC gave them pseudo-rows.
    """

    vectors: Floats
    status: Status
    steps: int = 0
    loss: float | None = None
    gap: float | None = None
    method: str = "nothing"
    existence: Existence | None = None
    dependent: tuple[int, ...] = ()
    maxima: tuple[float, ...] = ()
    leverages: Floats | None = None


@dataclass(frozen=True)
class UsedRows:
    """The rows of a fit with weight above zero, and their numbers in the table that was given.

    ``rest`` is for the fit of one class against the rest: the labels of all classes, and the number of that class.
    ``leverages`` are those that FLAC gave pseudo-rows by, and ``grouped`` successes and trials that the rows stand for.
    """

    table: Table
    labels: Labels
    weights: Floats | None
    offset: Floats | None
    origin: NDArray[np.int64] | None
    source: CertifiedTable
    rest: tuple[Labels, int] | None = None
    leverages: Floats | None = None
    grouped: GroupedOutcomes | None = None

    @staticmethod
    def of(table: Table, labels: Labels, weights: Floats | None, offset: Floats | None, analytic: bool) -> UsedRows:
        rows = UsedRows(table, labels, weights, offset, None, CertifiedTable(table, labels))
        if weights is not None and not weights.all():
            rows = rows._weighted(weights)
        if rows.weights is not None and analytic:
            rows = replace(rows, weights=rows.weights * (len(rows.weights) / rows.weights.sum()))
        return rows

    def _weighted(self, weights: Floats) -> UsedRows:
        """Without the rows of weight zero."""
        origin, classes = np.flatnonzero(weights), self.labels.classes
        codes = self.labels.codes[origin]
        missing = np.setdiff1d(np.arange(len(classes)), codes)
        if len(missing):
            raise DataError(
                f"class {classes[missing].tolist()[0]!r} has weight zero in all its rows: "
                "give some weight to it, or leave its rows out."
            )
        table, offset = Table(self.table.X[origin], self.table.names), self.offset
        offset = None if offset is None else np.ascontiguousarray(offset[origin])
        source = replace(self.source, dropped=tuple(np.flatnonzero(weights == 0).tolist()))
        return UsedRows(table, Labels(classes, codes), weights[origin], offset, origin, source)

    @staticmethod
    def of_groups(table: Table, successes: Floats, trials: Floats, offset: Floats | None) -> UsedRows:
        """Rows of grouped outcomes, one for the successes and one for the failures of each."""
        rows, labels, weights, shift, grouped = expanded(table, successes, trials, offset)
        return UsedRows(rows, labels, weights, shift, None, CertifiedTable(rows, labels), grouped=grouped)

    @property
    def names(self) -> list[str]:
        return list(self.table.names or (f"x{j}" for j in range(self.table.d)))

    @property
    def fractional(self) -> bool:
        """Whether some weight is not a whole number."""
        return self.weights is not None and bool((self.weights != np.rint(self.weights)).any())

    def problem(self, lift: bool) -> LogisticProblem:
        codes = self.labels.codes if len(self.labels.classes) == 2 else kernels.as_int64(self.labels.codes)
        return LogisticProblem(self.table.X, codes, len(self.labels.classes), self.weights, self.offset, lift)

    def against_rest(self, k: int) -> UsedRows:
        """The same rows, with class number k against all others."""
        two = Labels(np.array([False, True]), (self.labels.codes == k).astype(np.intp))
        return replace(self, labels=two, rest=(self.labels, k))

    def given(self, lift: bool) -> Given:
        """The same rows as data of a proof, with the classes that were given."""
        labels = self.labels if self.rest is None else self.rest[0]
        labels = Labels(labels.classes, np.asarray(labels.codes, dtype=np.intp))
        return Given(self.table, labels, self.origin, self.source, lift, "binary64")


MEASURED = 1000  # columns up to which a warning of a stalled search looks at their condition
NEARLY = 1e5  # condition of scaled columns from which on a warning calls them nearly dependent


def unfinished(status: Status, method: str, gap: float | None, C: float, condition: float = 1.0) -> str | None:
    """Why the fit is not at an optimum, if it is not; ``condition`` is that of the centred and scaled columns."""
    near = f"columns are nearly linearly dependent (condition {condition:.0e})" if condition >= NEARLY else ""
    if status is Status.ILL_CONDITIONED and gap is not None:
        cause = f"{near}: drop some" if near else f"rounding may hide a penalty of C={C:g}: scale the columns"
        return (
            f"no step improves any more, but the optimum is only proved to a relative gap of {gap:.1e}; {cause}, or "
            "lower C."
        )
    if status is Status.ILL_CONDITIONED and "maximum likelihood" in method:
        return (
            f"the estimate has few correct digits: {near or 'the classes are nearly separated'}; "
            f"{'drop some, or ' if near else ''}fit with a penalty (C=) or bias_reduction='firth'."
        )
    cut = (Status.MAX_ITERATIONS, Status.ILL_CONDITIONED, Status.NONFINITE)
    return f"not at the optimum: {status.value}{f'; {near}: drop some' if near else ''}." if status in cut else None


SAMPLE = 50  # rows of a sample for each parameter
# Rows for each one of a sample: from here on a search to a gap begins at its minimum (to the last digits from 4
# on), and dense rows with a ridge have no more, since a larger sample saves passes over all rows.
STRIDE = 16
SAMPLED = 2**24  # numbers of such a sample, at most: rows may lie in a file that is larger than memory
FEW = 200  # parameters from which products with the Hessian of dense rows and two classes cost less than itself
FEW_SPARSE, HOLDS = 40, 4  # the same of sparse rows, at most one number in so many of which is stored
LARGE = 2**18  # numbers of dense rows from which a pass over them costs more than what a step of L-BFGS does besides
# Columns for each row from which, of two classes and of more, and rows up to which, rows are known by inner products;
# rows that tell how long rows are; times a penalty and the number of rows that squared lengths exceed for that.
WIDER, WIDER_CLASSES, MOST_ROWS = 4, 2, 1000
LENGTHS, STRONG = 16, 0.2
FEWEST = 40  # parameters that a sample is made for at least


def sample_stride(problem: LogisticProblem, penalised: bool) -> int:
    """Every how many-th row a sample has; below 4 there is none."""
    stride = int(problem.n // (SAMPLE * max(problem.parameters, FEWEST)))
    if not penalised or problem.sparse:
        return stride
    return min(stride, max(STRIDE, int(problem.X.size) // SAMPLED))


def ridge_by_products(problem: LogisticProblem) -> bool:
    """Whether a ridge is found by products with the Hessian."""
    if problem.by_products or problem.classes > 2:
        return problem.by_products
    if problem.sparse:
        return problem.parameters >= FEW_SPARSE and HOLDS * problem.X.nnz <= problem.n * problem.d
    return problem.parameters >= FEW


def by_gradients(problem: LogisticProblem) -> bool:
    """Whether a ridge begins by L-BFGS: of several classes, or where a pass costs more than such a step besides."""
    large = not problem.sparse and ridge_by_products(problem) and problem.X.size >= LARGE
    return large if problem.classes == 2 else problem.by_products


def by_inner_products(problem: LogisticProblem, penalty: float = 0.0) -> bool:
    """Whether a ridge is found by the inner products of dense rows, of which there are few for so many columns.

    Where the penalty outweighs most of the curvature, a few passes over the rows cost less: they cost as much as the
    inner products of a number of rows, and more the more classes there are.
    """
    wide = problem.d >= (WIDER if problem.classes == 2 else WIDER_CLASSES) * problem.n
    if problem.sparse or not wide or problem.n > MOST_ROWS or not penalty:
        return not problem.sparse and wide and problem.n <= MOST_ROWS
    some = slice(None, None, -(-problem.n // LENGTHS))
    rows = np.asarray(problem.X[some], dtype=np.float64)
    lengths = problem.counts[some] @ np.einsum("ij,ij->i", rows, rows) / len(rows)
    return not lengths * (problem.classes - 1) ** 2 <= STRONG * problem.n * penalty

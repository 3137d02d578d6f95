"""Which method solves a least-squares problem: the one decision, in two sentences, and its one table of limits.

Before the rows are read ``choose`` looks at their shape, ``by_condition`` then at what one pass over them has shown.
The first method whose condition holds is used:

cg        sparse rows with a penalty, where steps cost less than a factorisation (Hestenes and Stiefel 1952)
wide      fewer rows than columns: through the inner products of rows, by singular values where rows are dependent
lsqr      sparse rows, too many of columns and rows for a table of products (Paige and Saunders 1982)
moments   one pass over the rows, then Cholesky; good where the squared condition is small
corrected the same with a penalty, corrected once by residuals in double precision
refined   the same, corrected by residuals in twofold precision until nothing changes
qr        orthogonal factors, corrected in twofold precision (Bjorck 1967)
svd       as qr, where the columns are dependent

The condition is that of the columns, centred if b is free and scaled to length 1, with the penalty. The rank counts
singular values of the same matrix above 8 p eps times the largest, p its columns.
"""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.numerics.normal_equations import LeastSquaresProblem, NormalEquations


@dataclass(frozen=True, slots=True)
class SquaresLimits:
    """Where one method takes over from another; costs are counted in multiplications of a dense product."""

    table: int = 2**24  # numbers of a table of products that are made of sparse rows: 128 MB
    stored: float = 20.0  # cost of one product with a stored number of sparse rows
    call: float = 2.5e6  # cost of one step of conjugate gradients beside its products: 100 microseconds of Python
    steps: float = 40.0  # of conjugate gradients, at least, are worth a try
    tried: float = 0.5  # share of the cost of a factorisation that they may take before it is made after all
    cheap: float = 5e7  # n p^2 up to which corrections are made even if no digits are lost: a few milliseconds
    trusted: float = 1e3  # squared condition up to which Cholesky's solution keeps twelve digits
    correctable: float = 1e5  # and up to which one correction in double precision makes as many of one target
    refinable: float = 1e10  # and up to which corrections shrink fast
    alike: float = 1e3  # ratio of the lengths of columns up to which residuals in double precision serve them all
    mixable: float = 1e2  # and up to which eigenvalues of their products serve them all
    shared: float = 1e8  # squared condition up to which moments alone keep eight digits
    kept: int = 2**22  # numbers of rows that a fit keeps a copy of, for moments that are asked for later: 32 MB


LIMITS = SquaresLimits()

PLANS = {
    "cg": "conjugate gradients: sparse rows with a penalty, whose steps cost less than a factorisation",
    "lsqr": "LSQR: sparse rows, too many of columns and rows for a table of their products",
    "wide": "inner products of rows: there are fewer rows than columns",
    "moments": "one pass over the rows, then a Cholesky factorisation: the columns are well conditioned",
    "corrected": "one pass over the rows, a Cholesky factorisation and one correction: there is a penalty",
    "refined": "one pass over the rows, then corrections in twofold precision until nothing changes",
    "qr": "orthogonal factors: the columns are ill-conditioned",
    "svd": "singular values: columns are linearly dependent",
    "non-negative": "the columns in use by normal equations, their weights as without a bound: positive=True",
}  # by solver_: what was done, and why


def choose(problem: LeastSquaresProblem, solver: str, limits: SquaresLimits = LIMITS) -> str:
    """The method by the shape of the rows; "moments" stands for those that begin with one pass over them."""
    if solver == "auto" and problem.sparse and problem.alpha and most_steps(problem, limits) >= limits.steps:
        return "cg"
    return direct(problem, solver, limits)


def direct(problem: LeastSquaresProblem, solver: str = "auto", limits: SquaresLimits = LIMITS) -> str:
    """The same without conjugate gradients: where they do not converge, and where their digits are too few."""
    n, p = problem.counted, problem.p
    if solver != "auto":
        return "wide" if solver == "svd" and n < p else solver
    if n < p and (not problem.sparse or n * n <= limits.table):
        return "wide"
    return "lsqr" if problem.sparse and p * p > limits.table else "moments"


def by_condition(normal: NormalEquations, limits: SquaresLimits = LIMITS) -> str:
    """The method by the condition of the columns, after one pass over the rows."""
    rows, bound = int(normal.rows.sum()), normal.inverse.bound
    large, trusted = rows * normal.p**2 > limits.cheap, is_trusted(normal, limits)
    if not trusted and bound > limits.refinable:
        return "qr"
    correctable = bound <= limits.correctable * (1 if normal.c.shape[1] == 1 else 10)
    alike = float(normal.scale.max(initial=1.0)) <= limits.alike * float(normal.scale.min(initial=1.0))
    if normal.alpha and alike and correctable and not (trusted and large):
        return "corrected"
    return "moments" if trusted and large else "refined"


def is_trusted(normal: NormalEquations, limits: SquaresLimits = LIMITS) -> bool:
    """Whether Cholesky's solution keeps twelve digits, by a bound of the squared condition.

    By eigenvalues where the bound may be too large and they take less time than another read of the rows.
    """
    bound = normal.inverse.bound
    if bound <= limits.trusted or bound > normal.p * limits.trusted or normal.p**2 > int(normal.rows.sum()):
        return bound <= limits.trusted
    return normal.squared_condition <= limits.trusted


def most_steps(problem: LeastSquaresProblem, limits: SquaresLimits = LIMITS) -> float:
    """Steps of conjugate gradients for a target that cost less than a factorisation; as many as columns suffice."""
    side, across = sorted((problem.counted, problem.p))
    stored = float(problem.X.nnz)
    if direct(problem, limits=limits) == "lsqr":
        return float(problem.p)
    pairs = limits.stored * stored * stored / max(1, across) / 2  # products of stored numbers in pairs
    step = problem.Y.shape[1] * (limits.call + 2 * limits.stored * stored)
    return float(min(limits.tried * (pairs + side**3 / 3) / step, problem.p))


def keeps_rows(problem: LeastSquaresProblem, limits: SquaresLimits = LIMITS) -> bool:
    """Whether a fit that made no moments keeps a copy of its rows, to make them when they are asked for."""
    numbers = problem.X.nnz if problem.sparse else problem.n * problem.p
    return numbers <= limits.kept and problem.p**2 <= limits.table

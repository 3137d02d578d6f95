"""Least squares on real targets: ordinary, ridge and of minimum norm in one estimator."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import CollinearWarning, DataError, ParameterError, PrecisionWarning, warn_user
from separatrix.models.least_squares.solver import from_moments, solve_least_squares, solve_path
from separatrix.models.linear_regressor import LinearRegressor
from separatrix.numerics.least_squares_problem import Problem, Solution
from separatrix.numerics.moments import Moments, Totals
from separatrix.numerics.normal_equations import EPS, NormalEquations
from separatrix.protocol import Estimator, need_choice
from separatrix.validation import (
    Table,
    check_finite_vector,
    check_lengths,
    check_table,
    check_targets,
    check_weights,
    need_flag,
)
from separatrix.validation.table import describe_column

if TYPE_CHECKING:
    from separatrix.models.least_squares.summary import Summary

SOLVERS = ("auto", "moments", "qr", "svd")


class Squares(Estimator):
    """What least squares on real targets and on classes share: parameters, the account, the moments."""

    alpha: float
    fit_intercept: bool
    penalize_intercept: bool
    solver: str
    rank_: int
    condition_: float
    solver_: str
    _moments: Moments | None
    _solution: Solution

    def _check_parameters(self) -> None:
        need_penalty("alpha", self.alpha)
        need_flag("fit_intercept", self.fit_intercept)
        need_flag("penalize_intercept", self.penalize_intercept)
        need_choice("solver", self.solver, SOLVERS)

    @property
    def _free(self) -> bool:
        return bool(self.fit_intercept and not self.penalize_intercept)

    def _problem(self, X: Any, Y: Floats, weights: Floats | None) -> Problem:
        return Problem(X, Y, weights, float(self.alpha), bool(self.fit_intercept), self._free)

    def _totals(self) -> Totals:
        """Moments of features and targets, all rows together."""
        raise NotImplementedError("an estimator says what its targets are")

    def _normal(self, totals: Totals, alpha: float) -> NormalEquations:
        return NormalEquations(totals, self.n_features_in_, alpha, bool(self.fit_intercept), self._free)

    def _from_moments(self, table: Table) -> Solution:
        """The solution that the moments alone allow."""
        return from_moments(
            NormalEquations(self._totals(), table.d, float(self.alpha), bool(self.fit_intercept), self._free)
        )

    def _account(self, solution: Solution, names: Any) -> None:
        self._solution = solution
        self.rank_ = solution.rank
        self.condition_ = solution.condition
        self.solver_ = solution.solver
        lost = solution.condition**2 * EPS
        if solution.solver == "moments" and 1e-8 < lost < 1:
            warn_user(
                f"the squared condition is {solution.condition**2:.1e}, so that moments keep about "
                f"{max(0, int(-math.log10(lost)))} digits: fit all rows at once with solver='auto' for the rest.",
                PrecisionWarning,
            )
        if solution.dependent and self.alpha == 0:
            listed = ", ".join(describe_column(j, names) for j in solution.dependent[:8])
            more = len(solution.dependent) - 8
            warn_user(
                f"{listed}{f' and {more} more' if more > 0 else ''} depend on each other (rank {solution.rank}): "
                "of all minimisers the shortest is given; drop a column, or set alpha, to have only one.",
                CollinearWarning,
            )

    def _lifted_normal(self) -> tuple[Floats, Floats]:
        """X'X with the penalty, and X'Y, of lifted rows."""
        self._check_fitted()
        if self._moments is None:
            raise AttributeError(
                f"{type(self).__name__} solved this by {self.solver_!r}, which makes no normal matrix of "
                f"{self.n_features_in_} columns: use solver='moments'."
            )
        plain = NormalEquations(self._totals(), self.n_features_in_, 0.0, bool(self.fit_intercept), False)
        penalty = np.full(len(plain.A), float(self.alpha))
        if self._free:
            penalty[-1] = 0.0
        return plain.A + np.diag(penalty), plain.c

    @property
    def normal_matrix_(self) -> Floats:
        """X'X + penalty of the lifted rows (x, 1), with their weights; the bias last."""
        return self._lifted_normal()[0]


class LeastSquares(LinearRegressor, Squares):
    """Linear regression by least squares, exact to the last digits that the data allow.

    Minimises  sum c_i (y_i - w.x_i - b)^2 + alpha |w|^2  over w and b. With ``penalize_intercept`` the
    penalty is alpha (|w|^2 + b^2), the textbook's X'X + alpha I. With alpha = 0 and more than one minimiser
    the one of least norm is given: of w, or of (w, b) with ``penalize_intercept``.

    Parameters
    ----------
    alpha : float, default=0.0
        The penalty, not divided by the number of rows.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    penalize_intercept : bool, default=False
        Whether the penalty, and the norm to be least, include b.
    solver : {"auto", "moments", "qr", "svd"}, default="auto"
        "moments" solves the normal equations from one pass; "qr" uses orthogonal factors and refines in
        twofold precision; "svd" gives the shortest minimiser at any rank; "auto" chooses by shape, rank and
        condition: moments, refined in twofold precision where that is cheap or needed, QR where the
        condition asks for it, and for wide or dependent columns singular values. Sparse rows of more
        than 4096 columns are solved through inner products of rows, or by LSQR.

    Attributes
    ----------
    coef_, intercept_ : array of shape (d,) and float
    solver_ : what was chosen: moments, refined, qr, svd, wide, dual or lsqr
    rank_ : rank of the lifted rows by the rule of :mod:`separatrix.models.least_squares.solver`
    condition_ : of the columns, centred and scaled, with the penalty; inf where they depend on each other
    normal_matrix_, moment_vector_ : X'X + penalty and X'y of the lifted rows
    rss_ : the (weighted) residual sum of squares
    n_rows_ : rows with a weight
    """

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight",),
        "partial_fit": ("sample_weight",),
        "score": ("sample_weight",),
    }
    rss_: float
    n_rows_: int

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.solver = solver

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve for all rows at once."""
        self._check_parameters()
        table, targets, weights = self._checked(X, y, sample_weight)
        moments = Moments(table.d, 1)
        problem = self._problem(table.X, targets.reshape(-1, 1), weights)
        solution = solve_least_squares(problem, moments, self.solver)
        self._moments = moments if moments.rows.any() else None
        self._remember_features(table)
        self._store(solution, table, table.n if weights is None else int(np.count_nonzero(weights)))
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those of all calls before, and solve from the moments of all.

        The result does not depend on how rows are chunked, and rows of an earlier ``fit`` count.
        """
        self._check_parameters()
        fitted = self.__sklearn_is_fitted__()
        table, targets, weights = self._checked(X, y, sample_weight)
        if fitted:
            self._check_rows(X)
            if self._moments is None:
                raise DataError("the fit before kept no moments of these many columns: start with partial_fit.")
        moments = Moments(table.d, 1) if not fitted or self._moments is None else self._moments.copy()
        moments.add(table.X, targets.reshape(-1, 1), None, weights)
        before = self.__dict__.get("_moments")
        self._moments = moments
        try:
            solution = self._from_moments(table)
        except Exception:
            self._moments = before
            raise
        if not fitted:
            self._remember_features(table)
        self._store(solution, table, int(moments.rows[0]))
        return self

    def set_partial_fit_request(self, **wishes: Any) -> Self:
        """Which metadata a router shall pass to ``partial_fit``."""
        return self._set_request("partial_fit", wishes)

    def path(self, X: Any, y: Any, alphas: ArrayLike, sample_weight: Any = None) -> tuple[Floats, Floats]:
        """Coefficients (m, d) and intercepts (m,) for m penalties, from one pass; the estimator is not changed."""
        self._check_parameters()
        given = check_finite_vector(np.ravel(np.asarray(alphas, dtype=np.float64)), what="alphas")
        if not len(given):
            raise ParameterError("alphas is empty: pass at least one penalty.")
        for alpha in given.tolist():
            need_penalty("alphas", alpha)
        table, targets, weights = self._checked(X, y, sample_weight)
        lifted = solve_path(self._problem(table.X, targets.reshape(-1, 1), weights), given, self.solver)[:, 0]
        return lifted[:, :-1].copy(), lifted[:, -1].copy()

    @property
    def moment_vector_(self) -> Floats:
        """X'y of the lifted rows (x, 1), with their weights; the bias last."""
        return self._lifted_normal()[1][:, 0]

    @property
    def effective_rank_(self) -> float:
        """Degrees of freedom that the fit uses: the rank, or with a penalty the trace of y -> X w + b."""
        self._check_fitted()
        if self.alpha == 0:
            return float(self.rank_)
        if self._moments is None:
            raise AttributeError(f"LeastSquares solved this by {self.solver_!r}, which does not know the trace.")
        return self._normal(self._totals(), float(self.alpha)).effective_rank()

    @property
    def sigma2_(self) -> float:
        """The variance of the noise: rss_/(n_rows_ - effective_rank_), NaN where nothing is left to estimate it."""
        left = self.n_rows_ - self.effective_rank_
        return self.rss_ / left if left > 0 else float("nan")

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        covariance: str = "classical",
        clusters: Any = None,
        level: float = 0.95,
    ) -> Summary:
        """Coefficients with standard errors, tests and intervals; see :func:`separatrix.inference.summarize`."""
        from separatrix.models.least_squares.summary import summarize

        return summarize(self, X, y, sample_weight=sample_weight, covariance=covariance, clusters=clusters, level=level)

    def predict_interval(self, X: Any, *, level: float = 0.95, kind: str = "prediction") -> tuple[Floats, Floats]:
        """Lower and upper ends, row by row; see :func:`separatrix.inference.predict_interval`."""
        from separatrix.models.least_squares.prediction_intervals import predict_interval

        return predict_interval(self, X, level=level, kind=kind)

    def _totals(self) -> Totals:
        assert self._moments is not None
        return self._moments.totals()

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Table, Floats, Floats | None]:
        table, targets = check_table(X), check_targets(y)
        check_lengths(table.n, len(targets), "y")
        return table, targets, check_weights(sample_weight, table.n)

    def _store(self, solution: Solution, table: Table, counted: int) -> None:
        lifted = solution.lifted[0]
        if not np.isfinite(lifted).all():
            raise DataError("the solution overflows: scale the columns of X and y.")
        self.coef_ = lifted[:-1].copy()
        self.intercept_ = float(lifted[-1])
        self.rss_ = float(solution.rss[0])
        self.n_rows_ = counted
        self._account(solution, table.names)


def need_penalty(name: str, value: Any) -> None:
    """A penalty is a finite number that is not negative."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
    if not real or not math.isfinite(value) or value < 0:
        raise ParameterError(f"{name} is {value!r}: it must be a finite number, not negative.")

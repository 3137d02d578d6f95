"""Least squares on real targets: ordinary, ridge, of minimum norm, and with weights that are not negative."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.least_squares.after_least_squares import AfterLeastSquares
from separatrix.models.least_squares.choose import by_condition
from separatrix.models.least_squares.fold_path import PenaltiesOnFolds, errors_of
from separatrix.models.least_squares.non_negative import from_moments_non_negative, solve_non_negative
from separatrix.models.least_squares.normal_factor import MOST_COLUMNS, NormalFactor
from separatrix.models.least_squares.penalised_squares import NO_MOMENTS, PenalisedSquares, moments_suffice
from separatrix.models.least_squares.ridge_solver import by_passes, from_moments, solve_path
from separatrix.models.linear_predictors import LinearRegressor
from separatrix.models.moment_learner import moments_of_folds
from separatrix.numerics.moments import Moments, Totals
from separatrix.numerics.normal_equations import Basis, LeastSquaresProblem, Solution
from separatrix.numerics.sparse_moments import add_at_once, totals_at_once
from separatrix.parameters import categories, choice, constraints, flag, learner, number
from separatrix.protocol import ChunkLearner, FoldPath, FoldRows
from separatrix.rows.moments import moments_of
from separatrix.rows.protocol import Rows
from separatrix.validation import (
    Table,
    check_finite_vector,
    check_lengths,
    check_row_offset,
    check_table,
    check_target_columns,
    check_weights,
)


@learner(kw_only=False)
class LeastSquares(LinearRegressor, PenalisedSquares, AfterLeastSquares, ChunkLearner):
    """Linear regression by least squares, exact to the last digits that the data allow.

    Minimises  sum c_i (y_i - w.x_i - b)^2 + alpha |w|^2  over w and b. With ``penalize_intercept`` the
    penalty is alpha (|w|^2 + b^2), the textbook's X'X + alpha I. With alpha = 0 and more than one minimiser
    the one of least norm is given: of w, or of (w, b) with ``penalize_intercept``. The weights c_i of rows are
    analytic: they say how much a row counts beside others, and may be any numbers, not negative; ``n_rows_`` and
    degrees of freedom count the rows whose weight is above zero. y may have several columns: each is a target.

    Parameters
    ----------
    alpha : float, default=0.0
        The penalty, not divided by the number of rows.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    penalize_intercept : bool, default=False
        Whether the penalty, and the norm to be least, include b: True gives the ridge of textbooks,
        (X'X + alpha I)^-1 X'y of the lifted rows (x, 1), whose intercept is drawn to zero too.
    positive : bool, default=False
        Whether w must not be negative (b may be). Of several minimisers one is given, not that of least norm, and
        ``rank_`` counts the columns in use.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference and named in the summary. None: such columns are an error.
    solver : {"auto", "moments", "qr", "svd"}, default="auto"
        "moments" solves the normal equations from one pass; "qr" uses orthogonal factors and refines in
        twofold precision; "svd" gives the minimum-norm solution at any rank; "auto" chooses by shape, rank and
        condition: moments, refined in twofold precision where that is cheap or needed, QR where the
        condition asks for it, inner products of rows where there are fewer rows than columns, singular values where
        columns are dependent, and for sparse rows with a penalty conjugate gradients where they cost less.

    Attributes
    ----------
    coef_, intercept_ : array of shape (d,) and float; for k columns of y arrays of shape (k, d) and (k,)
    solver_ : what was chosen: moments, corrected, refined, qr, svd, wide, cg, lsqr or non-negative
    rank_ : rank of the lifted rows by the rule of :mod:`separatrix.models.least_squares.choose`
    plan_ : how it was solved and why, in a sentence
    condition_ : of the columns, centred and scaled, with the penalty; inf where they are linearly dependent
    dependent_columns_ : positions of the linearly dependent columns
    normal_matrix_, moment_vector_ : X'X + penalty and X'y of the lifted rows
    rss_ : the (weighted) residual sum of squares, one for each target
    n_rows_ : rows with a weight
    with_offset_ : whether the fit had an offset; predictions are for an offset of zero, unless they are given one

    Examples
    --------
    >>> from separatrix import LeastSquares
    >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
    >>> model = LeastSquares().fit(X, y)
    >>> model.coef_, model.intercept_
    (array([2.]), 1.0)
    """

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight", "offset"),
        "partial_fit": ("sample_weight",),
        "score": ("sample_weight",),
    }
    _stream_state: ClassVar[tuple[str, ...]] = ("_moments", "_later_moments", "_log_weight")

    alpha: float = number(0.0, least=0)
    _: KW_ONLY
    fit_intercept: bool = flag(True)
    penalize_intercept: bool = flag(False)
    positive: bool = flag(False)
    categorical: str | None = categories()
    solver: str = choice("auto", "moments", "qr", "svd", default="auto")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Solve for all rows at once.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array of shape (n,) or (n, k)
            One number a row, or one a row and target.
        sample_weight : array or None
            Weights of the rows; None: all 1.
        offset : array or None
            A part of the mean that has no coefficient, one number a row; ``predict`` takes it too.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
        >>> LeastSquares(alpha=1.0).fit(X, y).coef_.round(3)
        array([1.333])
        """
        self._check_parameters()
        table = self._fit_table(X, finite=False)
        targets, several, weights = self._beside(table, X, y, sample_weight)
        if offset is not None:
            targets = targets - check_row_offset(offset, table.n, X)[:, None]
        problem = self._problem(table.X, targets, weights)
        if weights is not None:  # rows of weight zero are not looked at
            check_table(table.X)  # else sums of squares show it: they are finite only if every number is
        try:
            with one_blas_thread(table.X.size):
                solution = self._solve_rows(problem)
        except DataError:
            check_table(table.X)
            raise
        self._remember_features(table)
        counted = table.n if weights is None else int(np.count_nonzero(weights))
        self._store(solution, table, counted, several)
        self._log_weight = _log_weight(weights)
        self.with_offset_ = offset is not None
        self._rows: tuple[Table, Floats, Floats | None] | None = None if several else (table, targets[:, 0], weights)
        self._row_labels = table.index
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those of all earlier calls, and solve from the moments of all.

        The result does not depend on how rows are chunked, and rows of an earlier ``fit`` count.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One number a row.
        sample_weight : array or None
            Weights of the rows; one at least must not be zero, as in scikit-learn. None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> model = LeastSquares().partial_fit([[0.0], [1.0]], [1.0, 3.0]).partial_fit([[2.0]], [5.0])
        >>> model.coef_.round(9), round(model.intercept_, 9)
        (array([2.]), 1.0)
        """
        self._check_parameters()
        self._need_state()
        fitted = self.__sklearn_is_fitted__()
        table = self._check_rows(X) if fitted else self._fit_table(X, stream=True)
        targets, several, weights = self._beside(table, X, y, sample_weight)
        if fitted:
            if self._moments is None:
                raise DataError(f"the earlier fit {NO_MOMENTS}")
            if several != (self.coef_.ndim == 2) or targets.shape[1] != self._moments.targets:
                raise DataError(
                    f"y has shape {np.shape(y)}, and the fit before had {self._moments.targets} target"
                    f"{'s in columns' if self.coef_.ndim == 2 else ''}: pass the same targets."
                )
        moments = Moments(table.d, targets.shape[1]) if not fitted or self._moments is None else self._moments.copy()
        moments.add(table.X, targets, None, weights)
        before = self.__dict__.get("_moments")
        self._moments = moments
        try:
            solution = self._from_moments(table)
        except Exception:
            self._moments = before
            raise
        if not fitted:
            self._remember_features(table)
        before_weight = self.__dict__.get("_log_weight", 0.0) if fitted else 0.0
        self._store(solution, table, int(moments.counts[0]), several)
        self._log_weight, self._streamed = before_weight + _log_weight(weights), True
        return self

    def path(self, X: Any, y: Any, alphas: ArrayLike, sample_weight: Any = None) -> tuple[Floats, Floats]:
        """Coefficients (m, d) and intercepts (m,) for m penalties, from one pass; the estimator is not changed.

        For k columns of y the shapes are (m, k, d) and (m, k).

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One number a row.
        alphas : array
            The penalties.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        (coefficients, intercepts)

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0]], [1.0, 3.0, 5.0]
        >>> coef, intercept = LeastSquares().path(X, y, [0.0, 1.0, 2.0])
        >>> coef[:, 0].round(3)
        array([2.   , 1.333, 1.   ])
        """
        self._check_parameters()
        given = check_finite_vector(np.ravel(np.asarray(alphas, dtype=np.float64)), what="alphas")
        if not len(given):
            raise ParameterError("alphas is empty: pass at least one penalty.")
        for alpha in given.tolist():
            constraints(LeastSquares)["alpha"].check("alphas", alpha)
        if self.positive:
            raise ParameterError("positive=True has no path: fit each penalty by itself.")
        table = self._fit_table(X)
        targets, several, weights = self._beside(table, X, y, sample_weight)
        totals = partial(_totals_of, table.X, targets, weights)
        lifted = solve_path(self._problem(table.X, targets, weights), given, totals, self.solver)
        if not several:
            lifted = lifted[:, 0]
        return lifted[..., :-1].copy(), lifted[..., -1].copy()

    def _path_of_rows(self, rows: Rows, alphas: Floats) -> tuple[Floats, Floats]:
        """As :meth:`path`, for rows of any place: from one pass over them."""
        self._check_parameters()
        totals = moments_of(rows).totals()
        lifted = np.array([from_moments(self._normal_of(totals, rows.d, float(a))).lifted[0] for a in alphas])
        return lifted[:, :-1].copy(), lifted[:, -1].copy()

    @property
    def moment_vector_(self) -> Floats:
        """X'y of the lifted rows (x, 1), with their weights; the bias last; for several targets one column each."""
        found = self._lifted_normal()[1]
        return found if self.coef_.ndim == 2 else found[:, 0]

    @property
    def effective_rank_(self) -> float:
        """Degrees of freedom that the fit uses: the rank, or with a penalty the trace of y -> X w + b."""
        self._check_fitted()
        if self.alpha == 0:
            return float(self.rank_)
        if "_effective_rank" in self.__dict__:
            return float(self.__dict__["_effective_rank"])
        if self._moments is not None and not self.positive:
            return self._normal(self.n_features_in_).effective_rank()
        raise AttributeError(
            "positive=True has no trace."
            if self.positive
            else f"the trace of this penalised fit is not known: it {NO_MOMENTS}"
        )

    @property
    def sigma2_(self) -> Any:
        """The variance of the noise: rss_/(n_rows_ - effective_rank_), NaN where nothing is left to estimate it."""
        left = self.n_rows_ - self.effective_rank_
        return self.rss_ / left if left > 0 else self.rss_ * float("nan")

    def _kept(self) -> dict[str, Any]:
        super()._kept()
        factor = self._normal_factor()
        return {} if factor is None else factor.to_dict()

    def _restore(self, kept: dict[str, Any]) -> None:
        self._rows, self._log_weight = None, 0.0
        self._basis: Basis | Callable[[], Basis] | None = None
        self._factor = NormalFactor.from_dict(kept, self.n_features_in_, bool(self.fit_intercept)) if kept else None

    def _normal_factor(self) -> NormalFactor | None:
        """What inference needs; None where coefficients are not unique, or a model file did not carry it."""
        if self._factor is None and self._basis is not None and self.coef_.ndim == 1:
            basis = self._basis() if callable(self._basis) else self._basis
            self._factor = NormalFactor.of(basis, self._totals(), self._log_weight)
        return self._factor

    def _moments_needed(self) -> str | None:
        return "targets" if self.solver in ("auto", "moments") and not self.positive else None

    def _fold_path(self, rows: FoldRows, grid: Sequence[dict[str, Any]]) -> FoldPath | None:
        if not any(grid):
            return super()._fold_path(rows, grid)
        alphas = [options["alpha"] for options in grid if set(options) == {"alpha"}]
        given = [
            float(a) for a in alphas if isinstance(a, (int, float)) and not isinstance(a, bool) and 0 <= a < np.inf
        ]
        folds = moments_of_folds(self, rows) if len(given) == len(grid) else None
        if folds is None:
            return None
        errors = []
        for k, judged in enumerate(folds.states):
            others = folds.without(k)
            least = self._normal_of(others.totals(), others.features, min(given))
            if not moments_suffice(least, int(others.counts.sum()), self.solver):
                return None
            errors.append(errors_of(judged.totals(), least, given))
        return PenaltiesOnFolds(folds.states, folds.table, squared=np.array(errors).T)

    def _fit_moments(self, moments: Moments, table: Table) -> bool:
        self._check_parameters()
        normal, rows = self._normal_of(moments.totals(), moments.features), int(moments.counts.sum())
        if not moments_suffice(normal, rows, self.solver):
            return False
        self._moments = moments
        self._remember_features(table)
        self._store(from_moments(normal), table, rows)
        self._log_weight = 0.0 if float(moments.weight.sum()) == rows else float("nan")
        return True

    def _fit_moments_of(self, rows: Rows, moments: Moments, table: Table, few: bool) -> bool:
        normal, n = self._normal_of(moments.totals(), moments.features), int(moments.counts.sum())
        method = "qr" if self.solver == "moments" or n < normal.p else by_condition(normal)
        solution = None if method == "qr" else by_passes(rows, normal, method)
        if solution is None and few and self.solver != "moments":
            return False
        self._moments = moments
        self._remember_features(table)
        self._store(solution or from_moments(normal), table, n)
        self._log_weight = 0.0 if float(moments.weight.sum()) == n else float("nan")
        return True

    def _copied(self) -> dict[str, Any]:
        state = super()._copied()
        return {**state, "_rows": None} if "_rows" in state else state

    def __getstate__(self) -> dict[str, Any]:
        """Of a fit the coefficients, and of up to 300 columns what inference needs."""
        state = {name: value for name, value in super().__getstate__().items() if name not in self._of_rows}
        if "_stopped" not in state:
            return state
        few = self.n_features_in_ <= MOST_COLUMNS
        state |= {"_log_weight": self._log_weight, "_basis": None}
        state["_factor"] = self._normal_factor() if few else None
        if few and self.alpha > 0 and self._moments is not None and not self.positive:
            state["_effective_rank"] = self.effective_rank_
        return state

    def _from_moments(self, table: Table) -> Solution:
        if not self.positive:
            return super()._from_moments(table)
        return from_moments_non_negative(
            self._totals(), float(self.alpha), table.d, bool(self.fit_intercept), self._free
        )

    def _minimised(self, problem: LeastSquaresProblem, totals: Callable[[], Totals]) -> Solution:
        if not self.positive:
            return super()._minimised(problem, totals)
        return solve_non_negative(problem, totals(), self.solver)

    def _beside(self, table: Table, X: Any, y: Any, sample_weight: Any) -> tuple[Floats, bool, Floats | None]:
        targets, several = check_target_columns(y, rows=X)
        check_lengths(table.n, len(targets), "y")
        return targets, several, check_weights(sample_weight, table.n, rows=X)

    def _store(self, solution: Solution, table: Table, counted: int, several: bool = False) -> None:
        if not np.isfinite(solution.lifted).all():
            raise DataError("the solution overflows: scale the columns of X and y.")
        weights = solution.lifted if several else solution.lifted[0]
        self.coef_ = np.ascontiguousarray(weights[..., :-1])
        self.intercept_ = weights[..., -1].copy() if several else float(weights[-1])
        self.rss_: Any = solution.rss.copy() if several else float(solution.rss[0])
        self.n_rows_ = counted
        self._basis = solution.basis
        self._factor = self._rows = None
        self.__dict__.pop("_effective_rank", None)
        self._log_weight = 0.0
        self._account(solution, table.names)


def _totals_of(X: Any, targets: Floats, weights: Floats | None) -> Totals:
    return totals_at_once(add_at_once(Moments(X.shape[1], targets.shape[1]), X, targets, None, weights))


def _log_weight(weights: Floats | None) -> float:
    return 0.0 if weights is None else float(np.log(weights[weights > 0]).sum())

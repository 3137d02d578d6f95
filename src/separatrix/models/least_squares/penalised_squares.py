"""Shared by least squares on real targets and on classes: parameters, how a fit was solved, the normal matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import CollinearWarning, PrecisionWarning, warn_user
from separatrix.models.least_squares.choose import LIMITS, PLANS, keeps_rows
from separatrix.models.least_squares.ridge_solver import from_moments, solve_least_squares
from separatrix.models.moment_learner import MomentLearner
from separatrix.numerics.gram_matrix import EPS
from separatrix.numerics.moments import Moments, Totals
from separatrix.numerics.normal_equations import LeastSquaresProblem, NormalEquations, Solution
from separatrix.numerics.sparse_moments import add_at_once, totals_at_once
from separatrix.validation import Table
from separatrix.validation.table import describe_columns

NO_MOMENTS = (
    "kept no moments of its rows (fits of very many columns make none, and stored models carry none): "
    "fit all rows again, or start with partial_fit."
)
SHARED_RESIDUALS = 1e-8  # of the sum of squares of y: residuals whose own sum keeps eight digits
SHARED_OFFSET = 1e6  # how far from zero, in spreads of y, the parts of a bias may lie for its last eight digits


class PenalisedSquares(MomentLearner):
    """Parameters, moments, and how a fit was solved; a subclass says what its targets are."""

    alpha: float
    fit_intercept: bool
    penalize_intercept: bool
    solver: str
    rank_: int
    solver_: str
    dependent_columns_: tuple[int, ...]

    @property
    def _free(self) -> bool:
        return bool(self.fit_intercept and not self.penalize_intercept)

    def _problem(self, X: Any, Y: Floats, weights: Floats | None) -> LeastSquaresProblem:
        return LeastSquaresProblem(X, Y, weights, float(self.alpha), bool(self.fit_intercept), self._free)

    def _totals(self) -> Totals:
        """Moments of features and targets, all rows together."""
        assert self._moments is not None
        return self._with_targets(self._moments.totals())

    def _normal_of(self, totals: Totals, d: int, alpha: float | None = None) -> NormalEquations:
        """The normal equations of these moments, with this penalty or that of the estimator."""
        penalty = float(self.alpha if alpha is None else alpha)
        return NormalEquations(totals, d, penalty, bool(self.fit_intercept), self._free)

    def _normal(self, d: int) -> NormalEquations:
        return self._normal_of(self._totals(), d)

    def _from_moments(self, table: Table) -> Solution:
        """The solution from moments alone."""
        return from_moments(self._normal(table.d))

    @cached_property
    def condition_(self) -> float:
        """The condition of the scaled columns with the penalty, computed when it is first asked for."""
        self._check_fitted()
        later = self.__dict__.get("_later_condition")
        if later is not None:  # kept before it is forgotten: other threads may be asking too
            self.__dict__["condition_"] = float(later())
            self.__dict__.pop("_later_condition", None)
        return float(self.__dict__["condition_"])

    def _kept(self) -> dict[str, Any]:
        _ = self.condition_  # an attribute of a model file
        return {}

    def _copied(self) -> dict[str, Any]:
        if "_later_condition" in self.__dict__:
            _ = self.condition_
        return dict(self.__dict__)

    @cached_property
    def _moments(self) -> Moments | None:
        later = self.__dict__.get("_later_moments")
        if later is not None:  # forgotten after they are made: other threads may be asking too
            kind, *rows = later
            self.__dict__["_moments"] = add_at_once(Moments(*kind), *rows)
            self.__dict__.pop("_later_moments", None)
        return self.__dict__.get("_moments")

    def _solve_rows(self, problem: LeastSquaresProblem, codes: Any = None, labels: Any = None) -> Solution:
        """The solution; the moments of a fit are kept, or a copy of few rows for when they are asked for."""
        kind = (int(problem.X.shape[1]), 0 if labels is not None else problem.Y.shape[1], labels)
        rows = (problem.X, None if labels is not None else problem.Y, codes, problem.weights)
        made: list[Moments] = []

        def totals() -> Totals:
            if not made:
                made.append(add_at_once(Moments(*kind), *rows))
            return self._with_targets(totals_at_once(made[0]))

        solution = self._minimised(problem, totals)
        for name in ("_later_moments", "_moments"):
            self.__dict__.pop(name, None)
        if made:
            self._moments = made[0]
        elif keeps_rows(problem):
            self._later_moments = (kind, *(None if a is None else a.copy() for a in rows))
        else:
            self._moments = None
        return solution

    def _minimised(self, problem: LeastSquaresProblem, totals: Callable[[], Totals]) -> Solution:
        return solve_least_squares(problem, totals, self.solver)

    def _with_targets(self, totals: Totals) -> Totals:
        """The totals of features and targets, from those that the moments are of."""
        return totals

    @property
    def plan_(self) -> str:
        """How the fit was solved and why, in a sentence; ``solver`` chose it where it is not "auto"."""
        self._check_fitted()
        return PLANS.get(self.solver_, self.solver_)

    def _account(self, solution: Solution, names: Any) -> None:
        """Set how the fit was solved, and warn where digits were lost or columns are dependent."""
        self.rank_ = solution.rank
        if callable(solution.condition):
            self._later_condition = solution.condition
            self.__dict__.pop("condition_", None)
        else:
            self.condition_ = solution.condition
        self.solver_ = solution.solver
        self.dependent_columns_ = solution.dependent
        squared = 0.0 if callable(solution.condition) else solution.condition**2
        lost = squared * EPS
        if solution.solver == "moments" and 1e-8 < lost < 1:
            warn_user(
                f"the squared condition is {squared:.1e}, so that moments keep about "
                f"{max(0, int(-math.log10(lost)))} digits: fit all rows at once with solver='auto' for the rest.",
                PrecisionWarning,
            )
        if solution.dependent and self.alpha == 0:
            listed = describe_columns(solution.dependent, names)
            if len(solution.dependent) > 1:
                found = f"{listed} are linearly dependent"
            elif self.fit_intercept:
                found = f"{listed} is constant, and the model already has an intercept"
            else:
                found = f"{listed} is zero in every row"
            warn_user(
                f"{found} (rank {solution.rank}): the solution of least norm is given; drop a column, or set "
                "alpha, for a unique one.",
                CollinearWarning,
            )

    def _lifted_normal(self) -> tuple[Floats, Floats]:
        """X'X with the penalty, and X'Y, of lifted rows."""
        self._check_fitted()
        if self._moments is None:
            raise AttributeError(f"no normal matrix is known: this fit (solver_={self.solver_!r}) {NO_MOMENTS}")
        plain = NormalEquations(self._totals(), self.n_features_in_, 0.0, bool(self.fit_intercept), False)
        penalty = np.full(len(plain.A), float(self.alpha))
        if self._free:
            penalty[-1] = 0.0
        return plain.A + np.diag(penalty), plain.c

    @property
    def normal_matrix_(self) -> Floats:
        """X'X + penalty of the lifted rows (x, 1), with their weights; the bias last."""
        return self._lifted_normal()[0]


def moments_suffice(normal: NormalEquations, rows: int, solver: str) -> bool:
    """Whether moments alone give what a fit to the rows would, to eight digits."""
    if solver == "moments":
        return True
    if not (rows > normal.p and normal.squared_condition <= LIMITS.shared):
        return False
    lifted = normal.solve()
    if np.any(normal.rss(lifted) < SHARED_RESIDUALS * normal.spread):
        return False
    parts = np.abs(normal.y_mean) + np.abs(lifted[:, :-1]) @ np.abs(normal.x_mean) if normal.free else 0.0
    return bool(np.all(parts <= SHARED_OFFSET * np.sqrt(normal.spread / rows)))

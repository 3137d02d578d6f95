"""Classification by least squares on -1 and +1 (on one such target per class, for more than two classes)."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.class_labels import (
    codes_among,
    known_classes,
    moments_of_classes,
    weights_in_chunk,
    weights_of_rows,
)
from separatrix.models.least_squares.penalised_squares import NO_MOMENTS, PenalisedSquares, moments_suffice
from separatrix.models.least_squares.ridge_solver import from_moments
from separatrix.models.linear_predictors import LinearClassifier
from separatrix.numerics.moments import Moments, Totals
from separatrix.numerics.normal_equations import Solution
from separatrix.parameters import boundary, categories, choice, class_weights, flag, learner, number
from separatrix.protocol import ChunkLearner
from separatrix.validation import Table, check_weights


@learner(kw_only=False)
class LeastSquaresClassifier(LinearClassifier, PenalisedSquares, ChunkLearner):
    """A linear classifier by least squares: regression on targets +1 for a class and -1 for the rest.

    Minimises, for each class (for the second of two),  sum c_i (t_i - w.x_i - b)^2 + alpha |w|^2  with
    t_i = +1 on its rows and -1 on others, and predicts the class of the greatest score. With two classes,
    a free bias and alpha = 0, w is parallel to that of the linear discriminant.

    Parameters
    ----------
    alpha : float, default=0.0
        The penalty, not divided by the number of rows.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    penalize_intercept : bool, default=False
        Whether the penalty, and the norm to be least, include b.
    solver : {"auto", "moments", "qr", "svd"}, default="auto"
        As in :class:`LeastSquares`.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts, for two classes.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes
    classes_ : the labels, sorted
    solver_, plan_, rank_, condition_, normal_matrix_ : as in :class:`LeastSquares`
    moment_vector_ : X't of the lifted rows, one column per vector

    Examples
    --------
    >>> from separatrix import LeastSquaresClassifier
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> LeastSquaresClassifier().fit(X, y).predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    _stream_state: ClassVar[tuple[str, ...]] = ("_moments", "_later_moments", "_closed")

    alpha: float = number(0.0, least=0)
    _: KW_ONLY
    fit_intercept: bool = flag(True)
    penalize_intercept: bool = flag(False)
    solver: str = choice("auto", "moments", "qr", "svd", default="auto")
    class_weight: Any = class_weights()
    boundary: str = boundary()
    categorical: str | None = categories()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Solve for all rows at once.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import LeastSquaresClassifier
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> LeastSquaresClassifier().fit(X, y).coef_.round(3)
        array([[0.6]])
        """
        self._check_parameters()
        table, labels = self._labelled_rows(X, y)
        weights = weights_of_rows(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
        problem = self._problem(table.X, _targets(labels.codes, len(labels.classes)), weights)
        solution = self._solve_rows(problem, labels.codes.astype(np.int64), labels.classes.tolist())
        self.classes_ = labels.classes
        self._remember_features(table)
        self._store(solution, table)
        return self

    def _moments_needed(self) -> str | None:
        return "classes" if self.solver in ("auto", "moments") and self.class_weight is None else None

    def _fit_moments(self, moments: Moments, table: Table) -> bool:
        self._check_parameters()
        if not moments.weight.all():  # a class has no row
            return False
        normal = self._normal_of(with_targets(moments.totals()), moments.features)
        if not moments_suffice(normal, int(moments.counts.sum()), self.solver):
            return False
        self._moments, self.classes_ = moments, np.array(moments.labels)
        self._remember_features(table)
        self._store(from_moments(normal), table)
        return True

    def _fit_anyway(self, moments: Moments, table: Table) -> bool:
        asked, self.solver = self.solver, "moments"
        try:
            return self._fit_moments(moments, table)
        finally:
            self.solver = asked

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of all earlier calls, and solve from the moments of all.

        The result does not depend on how rows are chunked; without ``classes`` new ones join as they appear.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        classes : array or None
            All classes, in the first call; None: they join as they appear.
        sample_weight : array or None
            Weights of the rows; one at least must not be zero, as in scikit-learn. None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import LeastSquaresClassifier
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> model = LeastSquaresClassifier().partial_fit(X[:2], y[:2], classes=["no", "yes"])
        >>> model.partial_fit(X[2:], y[2:]).coef_.round(3)
        array([[0.6]])
        """
        self._check_parameters()
        self._need_state()
        fitted = self.__sklearn_is_fitted__()
        table, labels = self._chunk(X, y)
        weights = weights_in_chunk(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
        if fitted and self._moments is None:
            raise DataError(f"the earlier fit {NO_MOMENTS}")
        known = known_classes(self, classes)
        moments = moments_of_classes(self, table.d, known, labels, pooled=True)
        moments.add(table.X, None, codes_among(moments, labels), weights)
        before = {name: self.__dict__.get(name) for name in ("_moments", "classes_", "_closed")}
        self._moments, self.classes_, self._closed = moments, np.array(moments.labels), known is not None
        try:
            solution = self._from_moments(table) if np.count_nonzero(moments.counts) > 1 else None
        except Exception:
            self.__dict__.update({name: value for name, value in before.items() if value is not None})
            raise
        if not fitted:
            self._remember_features(table)
        if solution is None:
            solution = Solution(np.zeros((1, table.d + 1)), np.zeros(1), 0, np.inf, "moments", None)
        self._store(solution, table)
        self._streamed = True
        return self

    @property
    def moment_vector_(self) -> Floats:
        """X't of the lifted rows (x, 1), with their weights; one column per vector, the bias last."""
        return self._lifted_normal()[1]

    def _with_targets(self, totals: Totals) -> Totals:
        return with_targets(totals)

    def _store(self, solution: Solution, table: Table) -> None:
        if not np.isfinite(solution.lifted).all():
            raise DataError("the solution overflows: scale the columns of X.")
        self.coef_ = np.ascontiguousarray(solution.lifted[:, :-1])
        self.intercept_ = solution.lifted[:, -1].copy()
        self._account(solution, table.names)


def _targets(codes: NDArray[np.intp], count: int) -> Floats:
    if count == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(count), 1.0, -1.0)


def with_targets(totals: Totals) -> Totals:
    """Moments of classes as moments of all rows with the targets of the classes beside the features.

    The targets take two values only, so that their products with the features are those of the class means.
    """
    every = totals.all_rows()
    total = float(every.weight[0])
    vectors = [1] if len(totals.weight) == 2 else list(range(len(totals.weight)))
    share = totals.weight[vectors]
    away = ((totals.mean[vectors] - every.mean) + (totals.rest[vectors] - every.rest)) * (2 * share)[:, None]
    between = -4 * np.outer(share, share) / total
    np.fill_diagonal(between, 4 * share * (total - share) / total)
    scatter = np.block([[every.scatter, away.T], [away, between]])
    mean = np.append(every.mean, 2 * share / total - 1)[None]
    rest = np.append(every.rest, np.zeros(len(vectors)))[None]
    return Totals(every.rows, every.weight, mean, rest, scatter)

"""Shared by the Gaussian discriminants: moments of classes, priors, posteriors, exact partial fits, covariances.

A covariance S = D C D has the standard deviations on D and correlations in C = V L V'. Eigenvalues of C at or
below 8 d eps of the largest count as zero: along those directions no row varies. A = D^-1 V_r L_r^-1/2
whitens the rest: A'SA = I, and A A' is an inverse of S on the range of S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.class_labels import codes_among, known_classes, moments_of_classes
from separatrix.models.linear_predictors import LinearClassifier, agreeing, log_softmax, two_probabilities
from separatrix.models.moment_learner import MomentLearner
from separatrix.numerics.gram_matrix import rank_limit
from separatrix.numerics.linear_scores import dense_chunks
from separatrix.numerics.moments import Moments, Totals
from separatrix.protocol import ChunkLearner
from separatrix.validation import Table, check_finite_vector, check_table, check_weights


class Discriminant(LinearClassifier, MomentLearner, ChunkLearner):
    """Fit, partial fit and posteriors; a subclass solves from the moments of its classes."""

    _stream_state: ClassVar[tuple[str, ...]] = ("_moments", "_closed", "_waiting")
    boundary = "positive"  # of two equal posteriors the second, as a score of zero predicts in every learner
    covariance: str
    divisor: str
    shrinkage: float | str | None
    priors: Any
    means_: Floats
    priors_: Floats
    _moments: Moments

    def _solve(self, totals: Totals, names: Any, shares: Floats | None) -> None:
        """Set the fitted attributes; ``shares`` are those of Ledoit and Wolf, where asked for."""
        raise NotImplementedError("a discriminant solves from its moments")

    def _moments_needed(self) -> str | None:
        return None if self.shrinkage == "ledoit-wolf" else "classes"

    def _fit_moments(self, moments: Moments, table: Table) -> bool:
        """As :class:`Estimator` has it; an error is left to a fit of the rows to raise."""
        fresh = dict(self.__dict__)
        try:
            self._check_parameters()
            self._moments, self.classes_ = moments, np.array(moments.labels)
            self._remember_features(table)
            self._solve(moments.totals(), table.names, None)
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(fresh)
            return False
        return bool(np.isfinite(np.sum(self.means_)))

    def _fit_anyway(self, moments: Moments, table: Table) -> bool:
        self._moments, self.classes_ = moments, np.array(moments.labels)
        self._remember_features(table)
        self._solve(moments.totals(), table.names, None)
        return True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Estimate the densities of all classes from all rows.

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
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> LinearDiscriminant().fit(X, y).priors_
        array([0.5, 0.5])
        """
        self._check_parameters()
        table, labels = self._labelled_rows(X, y, finite=sample_weight is not None)
        weights = check_weights(sample_weight, table.n, rows=X)
        moments = Moments(table.d, labels=labels.classes.tolist(), pooled=self._pooled)
        try:
            with one_blas_thread(table.X.size):  # the readable kernels call BLAS
                moments.add(table.X, None, labels.codes, weights)
                totals = moments.totals()  # finite only if every number is
        except DataError:
            check_table(table.X)
            raise
        before = dict(self.__dict__)
        try:
            with one_blas_thread(table.X.size):
                shares = None
                if self.shrinkage == "ledoit-wolf":
                    shares = self._best_shares(totals, table, labels.codes, weights)
                self.__dict__.pop("_waiting", None)
                self._moments, self.classes_ = moments, labels.classes
                self._remember_features(table)
                self._solve(totals, table.names, shares)
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those of all earlier calls; the result does not depend on how rows are chunked.

        Without ``classes`` new ones join as they appear. As long as the rows so far do not determine the
        densities, predictions raise an error with the reason. Ledoit and Wolf's shrinkage needs all rows and is
        refused here.

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
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> model = LinearDiscriminant().partial_fit(X[:3], y[:3]).partial_fit(X[3:], y[3:])
        >>> model.classes_.tolist()
        ['a', 'b']
        """
        self._check_parameters()
        if self.shrinkage == "ledoit-wolf":
            raise ParameterError("shrinkage='ledoit-wolf' needs all rows at once: pass a number in [0, 1].")
        self._need_state()
        fitted, waiting = self.__sklearn_is_fitted__(), self.__dict__.pop("_waiting", None)
        try:
            table, labels = self._chunk(X, y)
        finally:
            if waiting is not None:
                self._waiting = waiting
        weights = check_weights(sample_weight, table.n, rows=X)
        known = known_classes(self, classes)
        moments = moments_of_classes(self, table.d, known, labels, self._pooled)
        moments.add(table.X, None, codes_among(moments, labels), weights)
        totals = moments.totals()
        self._moments, self.classes_, self._closed = moments, np.array(moments.labels), known is not None
        if not fitted:
            self._remember_features(table)
        self.__dict__.pop("_waiting", None)
        self._streamed = True
        try:
            self._solve(totals, table.names, None)
        except DataError as not_yet:
            self._waiting = str(not_yet)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """P(class | x), one column per class; ``predict`` gives the first class with the greatest.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n, K)

        Examples
        --------
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> LinearDiscriminant().fit(X, y).predict_proba([[2.0, 2.0]]).round(3)
        array([[0.5, 0.5]])
        """
        return self._posteriors(self.decision_function(X))

    def _posteriors(self, scores: Floats) -> Floats:
        """Posteriors from scores, also those that cross-validation knows without rows."""
        if scores.ndim == 1:
            return two_probabilities(scores, self.boundary)
        return kernels.in_blocks(lambda s: agreeing(np.exp(self._log_posteriors(s)), s), scores)

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the posteriors.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n, K)

        Examples
        --------
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> LinearDiscriminant().fit(X, y).predict_log_proba([[9.0, 9.0]]).round(1)
        array([[-168.,   -0.]])
        """
        return self._log_posteriors(self.decision_function(X))

    def _log_posteriors(self, s: Floats) -> Floats:
        if s.ndim == 1:
            out = np.empty((2, len(s)))  # one class after the other: four times as fast as row by row
            np.maximum(s, 0.0, out=out[0])
            np.subtract(out[0], s, out=out[1])
            out += np.log1p(np.exp(-np.abs(s)))
            return np.asarray(np.negative(out, out=out).T)
        return log_softmax(s)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if "_waiting" in self.__dict__:
            raise DataError(f"the rows so far do not determine the discriminant: {self._waiting}")

    def _given_priors(self, totals: Totals) -> Floats:
        count = len(totals.weight)
        if not totals.weight.all():
            empty = self.classes_.tolist()[int(totals.weight.argmin())]
            raise DataError(f"class {empty!r} has no row with a weight: leave it out, or add rows of it.")
        if count < 2:
            raise DataError(f"y has one class only ({self.classes_.tolist()[0]!r}): add rows of another class.")
        if self.priors is None:
            return np.asarray(totals.weight / totals.weight.sum())
        priors = check_finite_vector(self.priors, what="priors")
        if len(priors) != count:
            raise ParameterError(f"priors has {len(priors)} entries and y has {count} classes: pass one for each.")
        if priors.min() <= 0 or abs(priors.sum() - 1) > 1e-8:
            raise ParameterError(f"priors is {priors.tolist()}: they must be above zero and sum to 1.")
        return np.asarray(priors / priors.sum())

    def _best_shares(self, totals: Totals, table: Table, codes: NDArray[Any], weights: Floats | None) -> Floats:
        """Ledoit and Wolf's shrinkage of the pooled covariance, or of each; one more pass over the rows."""
        raise NotImplementedError("a discriminant says what it shrinks")

    def _fourth_moments(self, totals: Totals, table: Table, codes: NDArray[Any], weights: Floats | None) -> Floats:
        """The weighted sum of |x - mean|^4 of each class."""
        out = np.zeros(len(totals.weight))
        for begin, rows in dense_chunks(table.X):
            code = codes[begin : begin + len(rows)]
            z = rows - totals.mean[code]
            fourth = (z * z).sum(axis=1) ** 2
            if weights is not None:
                fourth = fourth * weights[begin : begin + len(rows)]
            out += np.bincount(code, weights=fourth, minlength=len(out))
        return out


def need_full_rank(axes: Whitening, d: int, of: str, rows: int, listed: str) -> None:
    """An error that says why a density does not exist."""
    if axes.rank == d:
        return
    if rows <= d:
        raise DataError(
            f"{of} has {rows} rows, and a covariance of {d} columns needs at least {d + 1}: "
            "add rows, drop columns, or set shrinkage."
        )
    raise DataError(
        f"{of} has a singular covariance: {listed} are constant or linearly dependent; drop a column, or set shrinkage."
    )


# -- covariances of classes, and their inverses, with the rank that the data give them --


@dataclass(frozen=True, slots=True)
class Whitening:
    """``axes`` (d, r) with axes'S axes = I; the logarithm of det S; combinations of columns without variance."""

    axes: Floats
    log_determinant: float
    condition: float
    null: Floats

    @property
    def rank(self) -> int:
        return int(self.axes.shape[1])

    def dependent_columns(self) -> tuple[int, ...]:
        """Columns with a share in a combination that does not vary, constant ones included."""
        share = np.linalg.norm(self.null, axis=1)
        return tuple(int(j) for j in np.flatnonzero(share > 1e-6))


def whitening(covariance: Floats) -> Whitening:
    """Axes, rank and determinant of a covariance; ``null`` is scaled to the columns' standard deviations."""
    d = len(covariance)
    varies = np.diagonal(covariance) > 0
    scale = np.sqrt(np.diagonal(covariance)[varies])
    values, vectors = np.linalg.eigh(covariance[np.ix_(varies, varies)] / scale / scale[:, None])
    kept = values > rank_limit(d) * max(float(values.max(initial=0.0)), 0.0)
    axes = np.zeros((d, int(kept.sum())))
    axes[varies] = vectors[:, kept] / np.sqrt(values[kept]) / scale[:, None]
    null = np.zeros((d, d - axes.shape[1]))
    null[varies, : int((~kept).sum())] = vectors[:, ~kept]
    null[np.flatnonzero(~varies), np.arange(int((~kept).sum()), null.shape[1])] = 1.0
    full = axes.shape[1] == d
    determinant = float(np.log(values).sum() + 2 * np.log(scale).sum()) if full else -np.inf
    condition = float(np.sqrt(values[-1] / values[0])) if full else np.inf
    return Whitening(axes, determinant, condition, null)


def restricted(scatter: Floats, divisor: float, kind: str) -> Floats:
    """The covariance from scatter: full or pooled as it is, diagonal, or spherical with the mean variance."""
    covariance = scatter / divisor
    if kind == "diagonal":
        return np.diag(np.diagonal(covariance))
    if kind == "spherical":
        return np.asarray(np.eye(len(covariance)) * (np.trace(covariance) / len(covariance)))
    return np.asarray(covariance)


def shrunk(covariance: Floats, share: float) -> Floats:
    """(1 - share) S + share tr(S)/d I"""
    d = len(covariance)
    return np.asarray((1 - share) * covariance + share * (np.trace(covariance) / d) * np.eye(d))


def ledoit_wolf(scatter: Floats, weight: float, fourth: float) -> float:
    """The shrinkage towards tr(S)/d I with the least expected squared error (Ledoit and Wolf 2004).

    ``fourth`` is the weighted sum of |z|^4 over the centred rows z whose scatter is given.
    """
    d = len(scatter)
    if weight <= 0:
        return 0.0
    S = scatter / weight
    squares = float((S * S).sum())
    mean = float(np.trace(S)) / d
    spread = (squares - d * mean**2) / d
    error = min((fourth / weight - squares) / (d * weight), spread)
    return error / spread if error > 0 else 0.0

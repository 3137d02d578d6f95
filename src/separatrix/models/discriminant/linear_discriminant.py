"""The linear discriminant: classes with normal densities that share one covariance (Fisher 1936)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.arrays import Floats
from separatrix.errors import CollinearWarning, DataError, warn_user
from separatrix.features.transformer import FrameOutput
from separatrix.models.discriminant.gaussian_discriminant import (
    Discriminant,
    Whitening,
    ledoit_wolf,
    restricted,
    shrunk,
    whitening,
)
from separatrix.numerics.linear_scores import dense_chunks
from separatrix.numerics.moments import Totals
from separatrix.parameters import categories, choice, learner, number, unchecked
from separatrix.validation import Table
from separatrix.validation.table import describe_columns

EPS = float(np.finfo(np.float64).eps)


MOST_COLUMNS = 300  # of a covariance that a pickle carries


@learner
class LinearDiscriminant(FrameOutput, Discriminant):
    """Bayes' rule for normal classes N(m_k, S) with a common covariance S.

    The score of a class is  s_k(x) = x' K m_k - m_k' K m_k / 2 + ln p_k  with K = S^-1; with two classes
    f = s_+ - s_- = [K(m_+ - m_-)].x + (m_-'K m_- - m_+'K m_+)/2 + ln(p_+/p_-), predict + where f >= 0, and
    P(+|x) = 1/(1 + e^-f). Means and S are those of greatest likelihood.

    Parameters
    ----------
    covariance : {"pooled", "spherical", "diagonal"}, default="pooled"
        S as it is; with one variance tr(S)/d for all directions; or without correlations.
    divisor : {"ml", "unbiased"}, default="ml"
        The scatter within classes is divided by the total weight n, or by n less the number of classes.
    shrinkage : float in [0, 1], "ledoit-wolf" or None, default=None
        S becomes (1 - a) S + a tr(S)/d I; "ledoit-wolf" takes the a with the least expected squared error, from
        the rows centred at their class means.
    priors : array of K numbers or None, default=None
        Probabilities of the sorted classes; None takes their shares of the rows.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : the scores s_k; f for two classes
    means_, priors_, covariance_ : what was estimated
    scalings_ : Fisher's directions (d, at most K - 1), of unit variance within classes
    explained_variance_ratio_ : their shares of the variance between classes
    rank_ : directions in which rows vary within classes; a direction without any variation is
        ignored, one in which only class means differ is an error that names the columns
    condition_ : of the correlation matrix within classes, its root
    shrinkage_ : the share of shrinkage used

    Examples
    --------
    >>> from separatrix import LinearDiscriminant
    >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
    >>> y = ["a", "a", "a", "b", "b", "b"]
    >>> model = LinearDiscriminant().fit(X, y)
    >>> model.predict([[1.0, 1.0], [3.0, 4.0]]).tolist()
    ['a', 'b']
    """

    covariance: str = choice("pooled", "spherical", "diagonal", default="pooled")
    divisor: str = choice("ml", "unbiased", default="ml")
    shrinkage: float | str | None = number(None, least=0, most=1, word="ledoit-wolf")
    priors: ArrayLike | None = unchecked(None, "array of K numbers or None")
    categorical: str | None = categories()

    _pooled: ClassVar[bool] = True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def _best_shares(self, totals: Totals, table: Table, codes: NDArray[np.int64], weights: Floats | None) -> Floats:
        fourth = float(self._fourth_moments(totals, table, codes, weights).sum())
        return np.array([ledoit_wolf(totals.scatter, float(totals.weight.sum()), fourth)])

    def _solve(self, totals: Totals, names: Any, shares: Floats | None) -> None:
        priors = self._given_priors(totals)
        total, count = float(totals.weight.sum()), len(totals.weight)
        divisor = total if self.divisor == "ml" else total - count
        if divisor <= 0:
            raise DataError(
                f"the rows weigh {total:g} and there are {count} classes: "
                "divisor='unbiased' needs more rows than classes."
            )
        share = float(shares[0]) if shares is not None else float(self.shrinkage or 0.0)
        covariance = shrunk(restricted(totals.scatter, divisor, self.covariance), share)
        axes = whitening(covariance)
        self._need_no_certainty(axes, covariance, totals, names)
        means = totals.mean
        centre = totals.all_rows().mean[0]
        from_centre = (means - centre) @ axes.axes
        if count == 2:
            w = (axes.axes @ (from_centre[1] - from_centre[0]))[None]
            middle = 0.5 * (means[0] + means[1])
            b = np.array([np.log(priors[1] / priors[0]) - w[0] @ middle])
        else:
            w = from_centre @ axes.axes.T
            b = np.log(priors) - w @ centre - 0.5 * (from_centre**2).sum(axis=1)
        directions, ratio, xbar = _fisher(means, priors, axes.axes)
        self.coef_, self.intercept_ = np.ascontiguousarray(w), b
        self.means_, self.priors_, self.covariance_ = means.copy(), priors, covariance
        self.scalings_, self.explained_variance_ratio_, self.xbar_ = directions, ratio, xbar
        self.rank_, self.condition_, self.shrinkage_, self._axes = axes.rank, axes.condition, share, axes.axes

    def _restore(self, kept: dict[str, Any]) -> None:
        """Model files keep the covariance; the axes follow from it."""
        super()._restore(kept)
        count, d = len(self.classes_), self.n_features_in_
        shapes = [np.asarray(getattr(self, name, 0.0)).shape for name in ("means_", "covariance_", "xbar_")]
        whole = "covariance_" in self.__dict__ or d <= MOST_COLUMNS
        wanted = [(count, d), (d, d) if whole else (), (d,)]
        if shapes != wanted or not np.isfinite(getattr(self, "covariance_", 0.0)).all():
            raise ValueError("means and covariance do not agree with the classes and features")

    def __getstate__(self) -> dict[str, Any]:
        """Of a fit what predicts and transforms, and of up to 300 columns the covariance."""
        state = super().__getstate__()
        if "_stopped" in state:
            state.pop("_axes", None)
            if self.n_features_in_ > MOST_COLUMNS:
                state.pop("covariance_", None)
        return state

    def _white(self) -> Floats:
        """The axes of unit covariance, which models that were stored find again."""
        if "_axes" not in self.__dict__:
            if "covariance_" not in self.__dict__:
                raise DataError(
                    f"the covariance of {self.n_features_in_:,} columns was left out when this model was stored: "
                    "fit it again to whiten."
                )
            self._axes = whitening(self.covariance_).axes
        return self._axes

    def _need_no_certainty(self, axes: Whitening, covariance: Floats, totals: Totals, names: Any) -> None:
        """Refuse classes that differ where no row varies within its class: no density exists there."""
        if axes.rank == len(covariance):
            return
        away = totals.mean - totals.all_rows().mean
        still = np.diagonal(covariance) <= 0
        differs = np.abs(away).max(axis=0) > 4 * EPS * np.abs(totals.mean).max(axis=0)
        certain = [int(j) for j in np.flatnonzero(still & differs)]
        if not certain:
            scaled = away / np.sqrt(np.where(still, 1.0, np.diagonal(covariance)))
            scaled[:, still] = 0.0
            along = np.abs(scaled @ axes.null).max(axis=0, initial=0.0)
            apart = along > 1e-7 * (1.0 + np.abs(scaled).max())
            certain = [int(j) for j in np.flatnonzero(np.linalg.norm(axes.null[:, apart], axis=1) > 1e-6)]
        if certain:
            raise DataError(
                f"the classes differ along {describe_columns(tuple(certain), names)} in a direction in which no class "
                "varies, so that its density does not exist: add rows, drop a column, or set shrinkage."
            )
        dependent = tuple(j for j in axes.dependent_columns() if not still[j])
        if dependent:
            warn_user(
                f"{describe_columns(dependent, names)} are linearly dependent (rank {axes.rank} within classes): "
                "posteriors are not affected, single coefficients are not unique.",
                CollinearWarning,
            )

    def transform(self, X: Any) -> Any:
        """Rows in the coordinates of Fisher's directions, from the mean of the class means.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n, r)
            r directions, at most K - 1.

        Examples
        --------
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> LinearDiscriminant().fit(X, y).transform(X).shape
        (6, 1)
        """
        return self._in_container(self._project(self._check_rows(X), self.scalings_, self.xbar_), X)

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit, and the rows in Fisher's coordinates.

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
        array of shape (n, r)
            r directions, at most K - 1.

        Examples
        --------
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> LinearDiscriminant().fit_transform(X, y).shape
        (6, 1)
        """
        return self.fit(X, y, sample_weight=sample_weight).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of Fisher's coordinates: lineardiscriminant0, lineardiscriminant1, ...

        Parameters
        ----------
        input_features : None
            Accepted for the protocol.

        Returns
        -------
        array of str

        Examples
        --------
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> LinearDiscriminant().fit(X, y).get_feature_names_out().tolist()
        ['lineardiscriminant0']
        """
        self._check_fitted()
        return np.array([f"lineardiscriminant{k}" for k in range(self.scalings_.shape[1])], dtype=object)

    def whiten(self, X: Any) -> Floats:
        """Rows in coordinates of unit covariance, centred between the means (K > 2: at their mean).

        With two classes f = 2 m.z + ln(p_+/p_-) there, m the second of ``whitened_means_``.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n, r)

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LinearDiscriminant
        >>> X = [[0.0, 0.0], [1.0, 0.5], [0.5, 1.0], [3.0, 3.0], [4.0, 3.5], [3.5, 4.0]]
        >>> y = ["a", "a", "a", "b", "b", "b"]
        >>> model = LinearDiscriminant().fit(X, y)
        >>> np.allclose(2 * model.whiten(X) @ model.whitened_means_[1], model.decision_function(X))
        True
        """
        return self._project(self._check_rows(X), self._white(), self._middle())

    @property
    def whitened_means_(self) -> Floats:
        """The class means in the coordinates of :meth:`whiten`."""
        self._check_fitted()
        return np.asarray((self.means_ - self._middle()) @ self._white())

    def _middle(self) -> Floats:
        return 0.5 * (self.means_[0] + self.means_[1]) if len(self.means_) == 2 else self.xbar_

    @staticmethod
    def _project(table: Table, axes: Floats, centre: Floats) -> Floats:
        out = np.empty((table.n, axes.shape[1]))
        for begin, rows in dense_chunks(table.X):
            out[begin : begin + len(rows)] = (rows - centre) @ axes
        return out


def _fisher(means: Floats, priors: Floats, axes: Floats) -> tuple[Floats, Floats, Floats]:
    """Directions of greatest variance between classes for unit variance within, and their shares."""
    xbar = priors @ means
    spread = np.sqrt(priors)[:, None] * ((means - xbar) @ axes)
    _, values, V = np.linalg.svd(spread, full_matrices=False)
    limit = max(spread.shape) * EPS * (values[0] if len(values) else 0.0)
    kept = min(int(np.count_nonzero(values > limit)), len(means) - 1)
    directions = axes @ V[:kept].T
    if kept:
        tops = directions[np.abs(directions).argmax(axis=0), np.arange(kept)]
        directions = directions * np.where(tops < 0, -1.0, 1.0)
    share = values[:kept] ** 2
    return directions, np.asarray(share / share.sum() if kept else share), np.asarray(xbar)

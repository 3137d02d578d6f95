"""The quadratic discriminant: normal classes, each with a covariance of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.models.discriminant.gaussian_discriminant import (
    Discriminant,
    ledoit_wolf,
    need_full_rank,
    restricted,
    shrunk,
    whitening,
)
from separatrix.numerics.linear_scores import dense_chunks
from separatrix.numerics.moments import Totals
from separatrix.parameters import categories, choice, learner, number, unchecked
from separatrix.validation import Table
from separatrix.validation.table import describe_columns


@learner
class QuadraticDiscriminant(Discriminant):
    """Bayes' rule for normal classes N(m_k, S_k).

    The score of a class is  s_k(x) = -(x - m_k)' K_k (x - m_k)/2 + ln det(K_k)/2 + ln p_k  with K_k = S_k^-1;
    with two classes f = s_+ - s_-, predict + where f >= 0, and P(+|x) = 1/(1 + e^-f). It is linear in the
    lifted features (x, xx'), see :meth:`lifted`.

    Parameters
    ----------
    covariance : {"full", "spherical", "diagonal"}, default="full"
        The shape of the covariance of each class.
    divisor : {"ml", "unbiased"}, default="ml"
        The scatter of a class is divided by its weight n_k, or by n_k - 1.
    shrinkage : float in [0, 1], "ledoit-wolf" or None, default=None
        S_k becomes (1 - a) S_k + a tr(S_k)/d I; "ledoit-wolf" finds an a for each class.
    priors : array of K numbers or None, default=None
        Probabilities of the sorted classes; None takes their shares of the rows.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    means_, priors_, covariances_ : what was estimated, class by class
    condition_ : of each correlation matrix, its root
    shrinkage_ : the share of shrinkage of each class

    Examples
    --------
    >>> from separatrix import QuadraticDiscriminant
    >>> X, y = [[-0.1], [0.1], [-3.0], [3.0]], ["narrow", "narrow", "wide", "wide"]
    >>> QuadraticDiscriminant().fit(X, y).predict([[0.0], [2.0], [-2.0]]).tolist()
    ['narrow', 'wide', 'wide']
    """

    covariance: str = choice("full", "spherical", "diagonal", default="full")
    divisor: str = choice("ml", "unbiased", default="ml")
    shrinkage: float | str | None = number(None, least=0, most=1, word="ledoit-wolf")
    priors: ArrayLike | None = unchecked(None, "array of K numbers or None")
    categorical: str | None = categories()

    _pooled: ClassVar[bool] = False

    def _best_shares(self, totals: Totals, table: Table, codes: NDArray[np.int64], weights: Floats | None) -> Floats:
        fourth = self._fourth_moments(totals, table, codes, weights)
        parts = zip(totals.scatter, totals.weight, fourth, strict=True)
        return np.array([ledoit_wolf(scatter, float(weight), float(f)) for scatter, weight, f in parts])

    def _solve(self, totals: Totals, names: Any, shares: Floats | None) -> None:
        priors = self._given_priors(totals)
        count, d = totals.mean.shape
        if shares is None:
            shares = np.full(count, float(self.shrinkage or 0.0))
        covariances, whitenings = np.empty((count, d, d)), []
        for k in range(count):
            of = f"class {self.classes_.tolist()[k]!r}"
            divisor = float(totals.weight[k]) - (1.0 if self.divisor == "unbiased" else 0.0)
            if totals.rows[k] < 2 or divisor <= 0:
                raise DataError(f"{of} has one row, from which no covariance can be estimated: add rows of it.")
            covariances[k] = shrunk(restricted(totals.scatter[k], divisor, self.covariance), float(shares[k]))
            if not covariances[k].any():
                raise DataError(f"{of} has equal rows only, so that no density exists: add rows, or leave it out.")
            axes = whitening(covariances[k])
            rows = int(totals.rows[k]) if self.covariance == "full" else d + 1
            need_full_rank(axes, d, of, rows, describe_columns(axes.dependent_columns(), names))
            whitenings.append(axes)
        self.means_, self.priors_, self.covariances_ = totals.mean.copy(), priors, covariances
        self.condition_, self.shrinkage_ = np.array([axes.condition for axes in whitenings]), shares
        self._whitenings = whitenings

    def _restore(self, kept: dict[str, Any]) -> None:
        """Model files keep the covariances; the axes follow from them."""
        super()._restore(kept)
        count, d = len(self.classes_), self.n_features_in_
        shapes = [np.asarray(getattr(self, name, 0.0)).shape for name in ("means_", "priors_", "covariances_")]
        if shapes != [(count, d), (count,), (count, d, d)] or not np.isfinite(self.covariances_).all():
            raise ValueError("means, priors and covariances do not agree with the classes and features")
        self._whitenings = [whitening(covariance) for covariance in self.covariances_]

    def decision_function(self, X: Any) -> Floats:
        """The score s_k of each row, one column per class; f = s_+ - s_- for two classes.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import QuadraticDiscriminant
        >>> X, y = [[-0.1], [0.1], [-3.0], [3.0]], ["narrow", "narrow", "wide", "wide"]
        >>> QuadraticDiscriminant().fit(X, y).decision_function([[0.0], [2.0]]).round(1)
        array([ -3.4, 196.4])
        """
        table = self._check_rows(X)
        out = np.empty((table.n, len(self.means_)))
        for begin, rows in dense_chunks(table.X):
            for k, axes in enumerate(self._whitenings):
                z = (rows - self.means_[k]) @ axes.axes
                level = np.log(self.priors_[k]) - 0.5 * axes.log_determinant
                out[begin : begin + len(rows), k] = level - 0.5 * (z * z).sum(axis=1)
        return out[:, 1] - out[:, 0] if out.shape[1] == 2 else out

    def lifted(self, label: Any) -> tuple[Floats, Floats, float]:
        """Q, w and b with s_k(x) = x'Qx + w.x + b for the class of this label.

        Parameters
        ----------
        label : label
            One of ``classes_``.

        Returns
        -------
        (array (d, d), array (d,), float)

        Examples
        --------
        >>> from separatrix import QuadraticDiscriminant
        >>> X, y = [[-1.0], [1.0], [-3.0], [3.0]], ["narrow", "narrow", "wide", "wide"]
        >>> QuadraticDiscriminant().fit(X, y).lifted("wide")[0].round(3)
        array([[-0.056]])
        """
        self._check_fitted()
        known = self.classes_.tolist()
        if label not in known:
            raise ParameterError(f"label is {label!r}: it can be one of {known}.")
        k = known.index(label)
        axes, m = self._whitenings[k], self.means_[k]
        K = axes.axes @ axes.axes.T
        w = K @ m
        level = np.log(self.priors_[k]) - 0.5 * axes.log_determinant
        return -0.5 * K, w, float(level - 0.5 * (m @ w))

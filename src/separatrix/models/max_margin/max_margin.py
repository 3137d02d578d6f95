"""The maximum-margin hyperplane: proved where the classes are separable, the soft margin elsewhere."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, IterationWarning, warn_user
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.class_labels import need_two_weighted_classes, weights_of_rows
from separatrix.models.linear_predictors import LinearClassifier
from separatrix.models.max_margin.soft_margin import least_slack, soft_margin
from separatrix.numerics.status import Status, last_of, raise_interruption
from separatrix.parameters import boundary, categories, class_weights, count, flag, learner, number
from separatrix.proofs.certificate.certificate import CertifiedTable
from separatrix.proofs.margin.margin import margin_between
from separatrix.proofs.separability.verdict import Given
from separatrix.validation import Labels, Table, check_weights

MOST = 1e20  # of C


@dataclass(frozen=True, slots=True)
class HyperplaneOfPair:
    """The hyperplane between two classes, scaled so that the rows on its margin have scores of -1 and 1."""

    w: Floats
    b: float
    support: NDArray[np.int64]
    margin: tuple[float, float]  # proved bounds of the half-width; 0 where the classes are not separable
    slack: float
    gap: float
    steps: int
    status: Status
    plan: str = "the nearest points of the hulls of both classes: the hard margin, proved"


def no_hyperplane(d: int) -> HyperplaneOfPair:
    """The placeholder for a pair that was not reached before an interruption."""
    nothing, unknown = np.empty(0, dtype=np.int64), (math.nan, math.nan)
    return HyperplaneOfPair(np.zeros(d), 0.0, nothing, unknown, math.nan, math.inf, 0, Status.INTERRUPTED)


@learner(kw_only=False)
class MaxMargin(LinearClassifier):
    """The hyperplane with the widest margin (the linear support vector machine).

    For C = inf, the default, the hard margin: among all hyperplanes that separate the classes, the one

        max over (w, b) of  min_i y_i (w.x_i + b) / |w|

    with a proved duality gap. Where none separates them, its limit from the soft side: of all hyperplanes with the
    least total slack  sum c_i max(0, 1 - y_i (w.x_i + b))  the one of the least |w|; ``status_`` says so. (The least
    among weights up to some 10,000 in units of the columns' spreads.) A finite C gives the soft margin,

        min over (w, b) of  |w|^2/2 + C sum c_i max(0, 1 - y_i (w.x_i + b)),

    by an interior-point method, until the relative duality gap is 1e-12 or rounding lets it fall no more (``gap_``; up
    to 1e-6 counts as OPTIMAL). Where columns are at least as many as rows, and these at least 150, or rows are sparse
    with at least 500 of both, or at least 100 and half as many columns, by dual coordinate descent until the gap is
    1e-6, if that is quicker; ``plan_`` says so. The bias is never penalised; c_i are the weights of the rows (rows of
    weight zero do not count). For K > 2 classes there is one hyperplane for each pair of them, and the class that wins
    most pairs is predicted.

    Parameters
    ----------
    C : float, default=inf
        Cost of slack; inf for the hard margin. What is above 1e20 counts as 1e20: in double precision the
        hyperplane no longer depends on it.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts, for two classes.
    max_iter : int or inf, default=200
        Limit on the steps of the interior-point method; for coordinate descent a step is up to 50 passes.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (pairs, d) and (pairs,); for two classes there is one pair. Rows on the margin
        have scores of -1 and 1. A positive score is for the second class of its pair.
    pairs_ : the classes of each pair, shape (pairs, 2)
    half_width_ : 1 / |w| for each pair
    margin_ : proved bounds of the largest half-width, shape (pairs, 2); 0 where the classes are not separable, NaN for
        a finite C
    slack_ : total slack of each pair
    gap_ : relative duality gap of each pair: of the half-width, proved, or of the soft objective at the coefficients as
        they are rounded
    support_ : support rows
    status_ : OPTIMAL, LEAST_SLACK, MAX_ITERATIONS, ILL_CONDITIONED or INTERRUPTED, the worst of the pairs
    n_iter_ : steps of the method, at least 1
    plan_ : the method, and why it was chosen (of several pairs, that of the first)

    Examples
    --------
    >>> from separatrix import MaxMargin
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> model = MaxMargin().fit(X, y)
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[1., 0.]]), array([0.]))
    """

    C: float = number(math.inf, above=0, inf=True)
    _: KW_ONLY
    fit_intercept: bool = flag(True)
    class_weight: Any = class_weights()
    boundary: str = boundary()
    max_iter: float = count(200, inf=True)
    categorical: str | None = categories()

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the hyperplane, or one for each pair of classes.

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
        >>> from separatrix import MaxMargin
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> MaxMargin().fit(X, y).predict([[1.9], [2.1]]).tolist()
        ['no', 'yes']
        """
        self._check_parameters()
        table, labels = self._labelled_rows(X, y)
        weights = weights_of_rows(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
        need_two_weighted_classes(labels, weights)
        counted = np.ones(len(labels.classes), dtype=bool)
        if weights is not None:
            counted = np.bincount(labels.codes, weights=weights, minlength=len(counted)) > 0
        names = list(combinations(np.flatnonzero(counted).tolist(), 2))
        found: list[HyperplaneOfPair] = []
        for a, b in names:
            interrupted = bool(found) and found[-1].status is Status.INTERRUPTED
            with one_blas_thread(table.X.size):
                found.append(no_hyperplane(table.d) if interrupted else self._pair(table, labels, weights, a, b))
        self._store(table, labels, np.array(names), found)
        raise_interruption(self.status_)
        if self.status_ in (Status.MAX_ITERATIONS, Status.ILL_CONDITIONED):
            warn_user(f"MaxMargin: {self.status_.value} (relative gap {self.gap_.max():.1e}).", IterationWarning)
        return self

    def _pair(self, table: Table, labels: Labels, weights: Floats | None, a: int, b: int) -> HyperplaneOfPair:
        """The hyperplane between classes a (-1) and b (+1)."""
        mine = (labels.codes == a) | (labels.codes == b)
        if weights is not None:
            mine &= weights > 0
        ids = np.flatnonzero(mine)
        part = table if len(ids) == table.n else Table(table.X[ids], table.names)
        plus = labels.codes[ids] == b
        bounds, proved = (math.nan, math.nan), None
        if math.isinf(self.C):
            pair = Labels(np.array([0, 1]), plus.view(np.int8))
            given = Given(part, pair, ids, CertifiedTable(table, labels), bool(self.fit_intercept), "binary64")
            proved = margin_between(given, [1], [0], exact=False)
            bounds = proved.lower, proved.upper
            if proved.coef is not None and proved.intercept is not None:
                with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                    w, c = proved.coef / proved.lower, float(np.float64(proved.intercept) / proved.lower)
                if not (np.isfinite(w).all() and math.isfinite(c)):
                    raise DataError("the margin is too small for its hyperplane to be written in doubles: scale X.")
                return HyperplaneOfPair(w, c, proved.support, bounds, 0.0, proved.gap, 0, Status.OPTIMAL)
        signs = np.where(plus, 1, -1).astype(np.int8)
        cost = np.ones(len(ids)) if weights is None else weights[ids]
        if proved is None:
            soft = soft_margin(part.X, signs, cost * min(float(self.C), MOST), bool(self.fit_intercept), self.max_iter)
            status = soft.status
        else:
            soft = least_slack(part.X, signs, cost, bool(self.fit_intercept), self.max_iter)
            status = Status.LEAST_SLACK if soft.status is Status.OPTIMAL else soft.status
        slack = float(cost @ soft.t)
        return HyperplaneOfPair(
            soft.w, soft.b, ids[soft.support], bounds, slack, soft.gap, soft.steps, status, soft.plan
        )

    def _store(self, table: Table, labels: Labels, names: NDArray[Any], found: list[HyperplaneOfPair]) -> None:
        self._remember_features(table)
        self.classes_ = labels.classes
        self.pairs_ = labels.classes[names]
        self._numbers = names
        self.coef_ = np.array([pair.w for pair in found])
        self.intercept_ = np.array([pair.b for pair in found])
        length = np.linalg.norm(self.coef_, axis=1)
        self.half_width_ = np.divide(1.0, length, out=np.full(len(found), np.inf), where=length > 0)
        self.margin_ = np.array([pair.margin for pair in found])
        self.slack_ = np.array([pair.slack for pair in found])
        self.gap_ = np.array([pair.gap for pair in found])
        self.support_ = np.unique(np.concatenate([pair.support for pair in found]))
        self.status_ = last_of([pair.status for pair in found])
        self.n_iter_ = max(1, *(pair.steps for pair in found))
        self.plan_ = found[0].plan

    def decision_function(self, X: Any) -> Floats:
        """s(x) = w.x + b; with more than two classes one column per class: the pairs it wins, and by how much.

        The sum of its scores, squeezed to less than 1/3, decides between classes that win as many pairs.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import MaxMargin
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> MaxMargin().fit(X, y).decision_function([[2.0], [3.0]]).round(6)
        array([0., 1.])
        """
        scores = super().decision_function(X)
        if len(self.classes_) == 2:
            return scores
        scores = scores.reshape(len(scores), len(self.coef_))
        wins, sums = np.zeros((2, len(scores), len(self.classes_)))
        for s, (a, b) in zip(scores.T, self._numbers, strict=True):
            wins[:, a] += s < 0
            wins[:, b] += s >= 0
            sums[:, a] -= s
            sums[:, b] += s
        return np.asarray(wins + sums / (3 * (np.abs(sums) + 1)))

    def _kept(self) -> dict[str, Any]:
        return {"numbers": self._numbers}

    def _restore(self, kept: dict[str, Any]) -> None:
        numbers = np.asarray(kept.get("numbers"))
        K = len(self.classes_)
        if (
            set(kept) != {"numbers"}
            or numbers.shape != (len(self.coef_), 2)
            or not ((numbers >= 0) & (numbers < K)).all()
        ):
            raise ValueError("the pairs of classes do not fit the vectors")
        self._numbers = numbers
        self.pairs_ = self.classes_[numbers]

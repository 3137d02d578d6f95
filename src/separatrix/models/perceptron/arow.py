"""Adaptive regularisation of weights (Crammer, Kulesza & Dredze 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.models.perceptron.online_rule import Arrays, OnlineKernel, OnlineRule, Vectors
from separatrix.models.perceptron.single_rows import SingleRowLearner
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, seed

MOST_BYTES = 2**32  # of covariances


@dataclass(frozen=True, slots=True)
class DiagonalUpdates(OnlineRule):
    """One variance per weight."""

    fill: ClassVar[dict[str, float]] = {"variance": 1.0}
    r: float

    def kernel(self, v: Vectors) -> OnlineKernel:
        return kernels.ArowDiagonalRule(v.lifted, v.updates, v.visits, v.seen, self.bias, self.r, v.beside["variance"])


@dataclass(frozen=True, slots=True)
class FullUpdates(OnlineRule):
    """A whole covariance matrix per vector."""

    widens: ClassVar[bool] = False
    r: float

    def beside(self, lifted: Floats) -> Arrays:
        return {"covariance": np.tile(np.eye(lifted.shape[1]), (len(lifted), 1, 1))}

    def kernel(self, v: Vectors) -> OnlineKernel:
        return kernels.ArowFullRule(v.lifted, v.updates, v.visits, v.seen, self.bias, self.r, v.beside["covariance"])


@learner
class AROW(SingleRowLearner):
    """Adaptive regularisation of weights: an online classifier that moves the weights of rare features more.

    Where y s(x) < 1, with the lifted row x: v = x'Sx, beta = 1/(v + r), alpha = (1 - y s(x)) beta,

        w += alpha y S x,    S -= beta S x x' S,

    from w = 0 and S = I: the covariance S shrinks along rows that have been seen. "diagonal" keeps the d + 1
    variances only: S_kk -= beta (S_kk x_k)^2. By Kesler's rule each class has its own S, v is the sum over the
    two classes that move, and covariances between classes are left out. A sample or class weight multiplies alpha.

    Parameters
    ----------
    r : float, default=1.0
        Regularisation: the larger, the smaller the moves.
    covariance : {"diagonal", "full"}, default="diagonal"
        What is kept of S: O(d) numbers and time per row, or O(d^2).
    order : {"cyclic", "shuffle", "blocks"}, default="shuffle"
        Passes over the rows as given, in a new random order each time, or by random blocks of 65,536 rows, each of them
        shuffled, for rows that lie in a file.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts for two classes; "undefined" gives None there.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    max_iter : int, inf or None, default=None
        Limit on passes; None ends the run once 10,000 looks (and 5 passes) have brought no pass with fewer
        mistakes, and after 1,000 passes.
    multiclass : {"ovr", "kesler"}, default="ovr"
        With more than two classes: each against the rest, or all at once by Kesler's rule (the true class
        gains the row, the best wrong one loses it).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the size of the updates of a class, as ``sample_weight`` does those of a row.
    warm_start : bool, default=False
        Start from the weights of the previous fit.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the orders "shuffle" and "blocks".
    hashing : int or None, default=None
        Columns that ``learn_one`` hashes dicts of features to; None: every feature gets its own.
    verbose : bool, default=False
        Report each pass on standard error.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; visits_ : rows looked at
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    errors_ : rows that the final weights misclassify, a score of zero included (K > 2: by the greatest score)
    status_ : why the run ended, a :class:`Status`

    Examples
    --------
    >>> from separatrix import AROW
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> AROW().fit(X, y).predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    r: float = number(1.0, above=0)
    covariance: str = choice("diagonal", "full", default="diagonal")
    order: str = choice("cyclic", "shuffle", "blocks", default="shuffle")
    boundary: str = boundary()
    fit_intercept: bool = flag(True)
    max_iter: float | None = count(None, inf=True)
    multiclass: str = choice("ovr", "kesler", default="ovr")
    class_weight: Any = class_weights()
    warm_start: bool = flag(False)
    random_state: Any = seed(0)
    hashing: int | None = count(None, most=2**31)
    verbose: bool = flag(False)
    categorical: str | None = categories()

    _scale_free: ClassVar[bool] = True
    _distributed: ClassVar[str | None] = "rows"

    def _rule(self) -> DiagonalUpdates | FullUpdates:
        rule = FullUpdates if self.covariance == "full" else DiagonalUpdates
        return rule(self.fit_intercept, float(self.r))

    def _need_room(self, count: int, d: int) -> None:
        if self.covariance == "full" and 8 * count * (d + 1) ** 2 > MOST_BYTES:
            raise ParameterError(
                f"covariance='full' with {d} features and {count} vectors needs {8e-9 * count * (d + 1) ** 2:.0f} GB: "
                "use covariance='diagonal'."
            )

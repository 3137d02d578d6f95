"""The perceptron that wants a margin (Duda & Hart 1973; Krauth & Mézard 1987)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.perceptron.online_rule import Arrays, OnlineKernel, OnlineRule, Vectors
from separatrix.models.perceptron.single_rows import SingleRowLearner
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, seed


@dataclass(frozen=True, slots=True)
class MarginUpdates(OnlineRule):
    """Where y s <= margin, or y s <= margin |w|: w += c y x."""

    margin: float
    relative: bool

    def beside(self, lifted: Floats) -> Arrays:
        norm2 = np.empty(len(lifted))
        kernels.norms2(kernels.rows(np.ascontiguousarray(lifted[:, :-1])), norm2)
        return {"norm2": norm2, "moved": np.zeros(len(lifted), dtype=np.int64)}

    def kernel(self, v: Vectors) -> OnlineKernel:
        shared = (v.lifted, v.updates, v.visits, v.seen, self.bias)
        return kernels.MarginRule(*shared, self.margin, self.relative, v.beside["norm2"], v.beside["moved"])


@learner
class MarginPerceptron(SingleRowLearner):
    """A perceptron that also moves on correct rows with too small a margin: y s(x) <= margin, or margin |w|.

    With ``relative=True`` a pass without an update proves that every row lies farther than ``margin``
    from the hyperplane, and such a pass comes after finitely many updates whenever the lifted margin g of
    the rows exceeds ``margin`` (Balcan, Blum & Vempala 2008 for margin = g/2). With ``relative=False`` the
    margin is one of scores: any finite value is reached on separable rows, and a larger one gives more
    of the largest distance (Krauth & Mézard 1987). Equality moves too, so that a zero start does.
    By Kesler's rule the margin is s_true - s_best wrong, and |w| is taken over all classes together.

    Parameters
    ----------
    margin : float, default=0.1
        How much is wanted; 0 is the perceptron with tie="mistake".
    relative : bool, default=True
        Whether the margin is a distance, to be multiplied by |w|, or a score.
    start : {"zeros", "ones", "random"} or array of d or d + 1 numbers, default="zeros"
        The first weights; "random" draws standard normals. An array may hold the intercept as its last entry.
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
        Seed of the random start and of the orders "shuffle" and "blocks".
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
    >>> from separatrix import MarginPerceptron
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = MarginPerceptron(margin=0.5, relative=True).fit(X, y)
    >>> model.predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    margin: float = number(0.1, least=0)
    relative: bool = flag(True)
    start: str | ArrayLike = choice("zeros", "ones", "random", default="zeros", other="array of d or d + 1 numbers")
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

    def _rule(self) -> MarginUpdates:
        return MarginUpdates(self.fit_intercept, float(self.margin), bool(self.relative))

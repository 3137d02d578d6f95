"""The averaged perceptron (Freund & Schapire 1999)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.perceptron.online_rule import Arrays, OnlineKernel, OnlineRule, Vectors
from separatrix.models.perceptron.passes import LabelledRows
from separatrix.models.perceptron.single_rows import SingleRowLearner
from separatrix.numerics.status import Status
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, seed


@dataclass(frozen=True, slots=True)
class AveragedUpdates(OnlineRule):
    """The perceptron's path, and the exact average of its weights after every look."""

    fill: ClassVar[dict[str, float]] = {"total": 0.0}
    averages: ClassVar[bool] = True
    zero_is_mistake: bool

    def beside(self, lifted: Floats) -> Arrays:
        return {"total": kernels.aligned(np.zeros(lifted.shape)), "looks": np.zeros(len(lifted), dtype=np.int64)}

    def kernel(self, v: Vectors) -> OnlineKernel:
        shared = (v.lifted, v.updates, v.visits, v.seen, self.bias)
        return kernels.AveragedRule(*shared, self.zero_is_mistake, v.beside["total"], v.beside["looks"])

    def late(self, v: Vectors, start: Floats) -> Vectors:
        one = self.fresh(start[None].copy(), kesler=True)
        one.beside["looks"][:] = v.beside["looks"][:1].sum()  # it has been at its start so far
        return one

    def final(self, v: Vectors) -> Floats:
        return v.lifted - v.beside["total"] / np.maximum(v.beside["looks"], 1)[:, None]


@learner
class AveragedPerceptron(SingleRowLearner):
    """A perceptron that predicts with the average of its weights after every row it has looked at.

    The path is the perceptron's: w += y x, b += y on a mistake. The model is (w_1 + ... + w_T)/T over all
    T looks, exact, at the cost of one more addition per update (of stored entries only, on sparse rows): on
    data that no hyperplane separates the last weights depend on the last mistakes, their average hardly.

    Parameters
    ----------
    start : {"zeros", "ones", "random"} or array of d or d + 1 numbers, default="zeros"
        The first weights; "random" draws standard normals. An array may hold the intercept as its last entry.
    order : {"cyclic", "shuffle", "blocks"}, default="shuffle"
        Passes over the rows as given, in a new random order each time, or by random blocks of 65,536 rows, each of them
        shuffled, for rows that lie in a file.
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake while learning, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts for two classes; "undefined" gives None there.
    normalize_rows : bool, default=False
        Scale each lifted row to length 1 (a zero row is left as it is).
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
    >>> from separatrix import AveragedPerceptron
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> AveragedPerceptron().fit(X, y).predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    start: str | ArrayLike = choice("zeros", "ones", "random", default="zeros", other="array of d or d + 1 numbers")
    order: str = choice("cyclic", "shuffle", "blocks", default="shuffle")
    tie: str = choice("mistake", "positive", default="mistake")
    boundary: str = boundary()
    normalize_rows: bool = flag(False)
    fit_intercept: bool = flag(True)
    max_iter: float | None = count(None, inf=True)
    multiclass: str = choice("ovr", "kesler", default="ovr")
    class_weight: Any = class_weights()
    warm_start: bool = flag(False)
    random_state: Any = seed(0)
    hashing: int | None = count(None, most=2**31)
    verbose: bool = flag(False)
    categorical: str | None = categories()

    _moves_on_mistakes: ClassVar[bool] = True
    _distributed: ClassVar[str | None] = "rows"

    def _rule(self) -> AveragedUpdates:
        return AveragedUpdates(self.fit_intercept, self.tie == "mistake")

    def _judge(self, status: Status, chunk: LabelledRows, lifted: Floats) -> tuple[Status, int]:
        """A pass without a mistake is one of the last weights; whether their average separates is looked up."""
        if status is Status.CONVERGED and (wrong := self._wrong(chunk, lifted)):
            return Status.SETTLED, wrong
        return super()._judge(status, chunk, lifted)

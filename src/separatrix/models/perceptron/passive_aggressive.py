"""Passive-aggressive classification (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix import kernels
from separatrix.models.perceptron.online_rule import OnlineKernel, OnlineRule, Vectors
from separatrix.models.perceptron.single_rows import SingleRowLearner
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, seed

VARIANTS = ("PA", "PA-I", "PA-II")


@dataclass(frozen=True, slots=True)
class PassiveAggressiveUpdates(OnlineRule):
    """The least move that gives the row a margin of 1, or as much of it as C allows."""

    variant: str
    C: float

    def kernel(self, v: Vectors) -> OnlineKernel:
        shared = (v.lifted, v.updates, v.visits, v.seen, self.bias)
        return kernels.PassiveAggressiveRule(*shared, VARIANTS.index(self.variant), self.C)


@learner
class PassiveAggressive(SingleRowLearner):
    """An online classifier that moves, where y s(x) < 1, just far enough for a margin of 1, or as far as C allows.

    With the loss l = 1 - y s(x) and the lifted row x: w += tau y x, where

        PA      tau = l/|x|^2                  (the row gets its margin, whatever it takes)
        PA-I    tau = min(C, l/|x|^2)          (min |w - w_t|^2/2 + C xi)
        PA-II   tau = l/(|x|^2 + 1/(2C))       (min |w - w_t|^2/2 + C xi^2)

    By Kesler's rule l = 1 - (s_true - s_best wrong) and |x|^2 counts twice. A sample or class weight
    multiplies tau. A zero row without a bias has no margin to gain and moves nothing.

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        The rule for tau.
    C : float, default=1.0
        Aggressiveness of PA-I and PA-II.
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
    >>> from separatrix import PassiveAggressive
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> PassiveAggressive().fit(X, y).predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    variant: str = choice(*VARIANTS, default="PA-I")
    C: float = number(1.0, above=0)
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

    _distributed: ClassVar[str | None] = "rows"

    def _rule(self) -> PassiveAggressiveUpdates:
        return PassiveAggressiveUpdates(self.fit_intercept, self.variant, float(self.C))

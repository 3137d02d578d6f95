"""Passive-aggressive classification (Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006)."""

from __future__ import annotations

from typing import Any

from separatrix.models.perceptron.online_rules import PassiveAggressive as Rule
from separatrix.models.perceptron.single_rows import OneRow
from separatrix.protocol import need_choice, need_number

VARIANTS = ("PA", "PA-I", "PA-II")


class PassiveAggressive(OneRow):
    """Where y s(x) < 1, the least move that gives the row a margin of 1, or as much of it as C allows.

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
    order : {"cyclic", "shuffle"}, default="shuffle"
        Passes in the order given, or shuffled anew each time.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts for two classes; "undefined" gives None there.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    max_epochs : int, inf or None, default=None
        Limit on passes; None ends the run once 10,000 looks (and 5 passes) have brought no pass with fewer
        mistakes, and after 1,000 passes.
    multiclass : {"ovr", "kesler"}, default="ovr"
        With more than two classes: each against the rest, or all at once by Kesler's rule (the true class
        gains the row, the best wrong one loses it).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the size of the updates of a class, as ``sample_weight`` does those of a row.
    warm_start : bool, default=False
        Start from the weights of the fit before.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the order "shuffle".
    hashing : int or None, default=None
        Columns that ``learn_one`` hashes dicts of features to; None: every feature gets its own.
    verbose : bool, default=False
        Say on stderr how each pass went.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; visits_ : rows looked at
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    errors_ : rows that the final weights get wrong, a score of zero included (K > 2: by the greatest score)
    status_ : why the run ended, a :class:`Status`
    """

    def __init__(
        self,
        *,
        variant: str = "PA-I",
        C: float = 1.0,
        order: str = "shuffle",
        boundary: str = "positive",
        fit_intercept: bool = True,
        max_epochs: float | None = None,
        multiclass: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = 0,
        hashing: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.variant = variant
        self.C = C
        self.order = order
        self.boundary = boundary
        self.fit_intercept = fit_intercept
        self.max_epochs = max_epochs
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.hashing = hashing
        self.verbose = verbose

    def _check_parameters(self) -> None:
        self._check_shared()
        need_choice("variant", self.variant, VARIANTS)
        need_number("C", self.C, above=0.0)

    def _rule(self) -> Rule:
        return Rule(self.fit_intercept, VARIANTS.index(self.variant), float(self.C))

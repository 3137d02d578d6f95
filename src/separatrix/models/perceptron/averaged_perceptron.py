"""The averaged perceptron (Freund & Schapire 1999)."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from separatrix.arrays import Floats
from separatrix.models.perceptron.online_rules import Averaged
from separatrix.models.perceptron.perceptron_rule import LabelledRows
from separatrix.models.perceptron.single_rows import OneRow
from separatrix.numerics.status import Status


class AveragedPerceptron(OneRow):
    """A perceptron that predicts with the average of its weights after every row it has looked at.

    The path is the perceptron's: w += y x, b += y on a mistake. The model is (w_1 + ... + w_T)/T over all
    T looks, exact, at the cost of one more addition an update (of stored entries only, on sparse rows): on
    data that no hyperplane separates the last weights depend on the last mistakes, their average hardly.

    Parameters
    ----------
    start : {"zeros", "ones", "random"} or array of d or d + 1 numbers, default="zeros"
        The first weights; "random" draws standard normals. An array may carry the bias as its last entry.
    order : {"cyclic", "shuffle"}, default="shuffle"
        Passes in the order given, or shuffled anew each time.
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake while learning, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts for two classes; "undefined" gives None there.
    normalize_rows : bool, default=False
        Scale each lifted row to length 1 (a zero row is left as it is).
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
        Seed of the random start and of the order "shuffle".
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
        start: str | ArrayLike = "zeros",
        order: str = "shuffle",
        tie: str = "mistake",
        boundary: str = "positive",
        normalize_rows: bool = False,
        fit_intercept: bool = True,
        max_epochs: float | None = None,
        multiclass: str = "ovr",
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = 0,
        hashing: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.start = start
        self.order = order
        self.tie = tie
        self.boundary = boundary
        self.normalize_rows = normalize_rows
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

    def _rule(self) -> Averaged:
        return Averaged(self.fit_intercept, self.tie == "mistake")

    def _judge(self, status: Status, chunk: LabelledRows, lifted: Floats) -> tuple[Status, int]:
        """A pass without a mistake speaks of the last weights; whether the average separates is looked up."""
        if status is Status.CONVERGED and (wrong := self._wrong(chunk, lifted)):
            return Status.SETTLED, wrong
        return super()._judge(status, chunk, lifted)

"""The pocket algorithm with ratchet (Gallant 1990)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.models.perceptron.mistake_driven import FinishedRun, MistakeDriven
from separatrix.models.perceptron.online_rule import PlainUpdates, Vectors
from separatrix.models.perceptron.passes import NO_LIMIT, CountedPasses, LabelledRows, Order
from separatrix.numerics.driver import solve
from separatrix.numerics.status import Measured, Status
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, seed
from separatrix.validation import Labels, Table

_, _, VISITS, COUNTS, COUNT_VISITS = range(5)  # of the account (kernels, pocket)


@dataclass(slots=True)
class PocketState:
    """The weights that learn, those in the pocket with their errors, and the account."""

    lifted: Floats
    pocket: Floats
    error: Floats = field(default_factory=lambda: np.array([math.inf]))
    account: NDArray[np.int64] = field(default_factory=lambda: np.zeros(5, dtype=np.int64))
    updates: int = 0
    mistakes: int = 0


@dataclass(slots=True)
class PocketRule(CountedPasses):
    """A perceptron's passes with the ratchet beside them: a rule for ``solve``."""

    bias: bool
    zero_is_mistake: bool
    share: float
    weight: Floats | None
    order: Order

    def step(self, state: PocketState, chunk: LabelledRows) -> None:
        n = chunk.rows.n
        updates, _, _ = kernels.pocket_pass(
            chunk.rows, chunk.y, chunk.step, self.order.next(n), state.lifted, self.bias, self.zero_is_mistake,
            state.pocket, state.error, self.weight, state.account, self.share, 0, n, NO_LIMIT,
        )  # fmt: skip
        state.updates += updates
        state.mistakes += updates

    def count(self, state: PocketState, chunk: LabelledRows) -> None:
        """Count the errors of the present weights; with fewer than the pocket has they replace it."""
        kernels.pocket_count(
            chunk.rows, chunk.y, state.lifted, self.zero_is_mistake,
            state.pocket, state.error, self.weight, state.account,
        )  # fmt: skip


@learner
class PocketPerceptron(MistakeDriven):
    """A perceptron that keeps the best weights it has reached, by their number of mistakes on all rows.

    The perceptron runs on, w += y x on a mistake. When a run of correct rows ends and was longer than
    the run that filled the pocket, the errors of its weights are counted over all rows, once, and given up
    as soon as they reach those of the pocket; with fewer errors the weights replace the pocket. The first
    and the last weights are counted in any case. The model is the pocket: the best weights found by this
    ratchet, not the best there are (finding those is NP-hard). Counts are made as long as they have looked
    at no more than ``count_share`` times the rows that learning has visited, and their cost is reported.
    Row and class weights scale updates and weigh the errors that the ratchet compares.

    Parameters
    ----------
    count_share : float or inf, default=0.25
        How many rows counts may look at, as a multiple of the rows visited; inf counts whenever a run is
        longer (Gallant's rule), which can cost as many looks as rows squared.
    start : {"zeros", "ones", "random"} or array of d or d + 1 numbers, default="zeros"
        The first weights; "random" draws standard normals. An array may hold the intercept as its last entry.
    order : {"cyclic", "shuffle", "blocks"}, default="shuffle"
        Passes over the rows as given, in a new random order each time, closer to Gallant's random draws, or by random
        blocks of 65,536 rows, each of them shuffled, for rows that lie in a file.
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake, while learning and in the counts, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts for two classes; "undefined" gives None there.
    normalize_rows : bool, default=False
        Scale each lifted row to length 1 (a zero row is left as it is).
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    max_iter : int, inf or None, default=None
        Limit on passes; None ends the run once 10,000 looks (and 5 passes) have brought no pass with fewer
        mistakes, and after 1,000 passes.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    warm_start : bool, default=False
        Start from the weights of the previous fit.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random start and of the orders "shuffle" and "blocks".
    verbose : bool, default=False
        Report each pass on standard error.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes: the pocket
    errors_ : rows that the pocket misclassifies under the tie rule (K > 2: by the greatest score)
    counts_ : counts of errors made; count_visits_ : rows they looked at
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; visits_ : rows looked at by the learning
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    status_ : why the run ended, a :class:`Status`

    Examples
    --------
    >>> from separatrix import PocketPerceptron
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1, 1]
    >>> PocketPerceptron().fit(X, y).errors_
    1
    """

    count_share: float = number(0.25, least=0, inf=True)
    start: str | ArrayLike = choice("zeros", "ones", "random", default="zeros", other="array of d or d + 1 numbers")
    order: str = choice("cyclic", "shuffle", "blocks", default="shuffle")
    tie: str = choice("mistake", "positive", default="mistake")
    boundary: str = boundary()
    normalize_rows: bool = flag(False)
    fit_intercept: bool = flag(True)
    max_iter: float | None = count(None, inf=True)
    class_weight: Any = class_weights()
    warm_start: bool = flag(False)
    random_state: Any = seed(0)
    verbose: bool = flag(False)
    categorical: str | None = categories()

    _moves_on_mistakes: ClassVar[bool] = True

    def _rule(self) -> PlainUpdates:
        return PlainUpdates(self.fit_intercept, self.tie == "mistake")

    def _run(self, chunk: LabelledRows, start: Floats, chance: kernels.Word) -> FinishedRun:
        weight = chunk.step if chunk.step is None or chunk.norm is None else chunk.step * chunk.norm
        order = Order.named(self.order, chance)
        rule = PocketRule(self.fit_intercept, self.tie == "mistake", float(self.count_share), weight, order)
        state = PocketState(kernels.aligned(start[0]), start[0].copy())
        rule.count(state, chunk)
        at_limit = self._stop(chunk.counted)

        def stop(passes: Sequence[Measured]) -> Status | None:
            return Status.CONVERGED if state.error[0] == 0 else at_limit(passes)

        ended = solve(rule, state, chunk, stop, self._watch if self.verbose else None)
        if kernels.first_nonfinite(state.lifted) < 0:
            rule.count(state, chunk)
        vectors = Vectors(state.pocket[None], {}, None, np.array([state.updates]), state.account[[VISITS]])
        status, wrong = self._judge(ended.status, chunk, vectors.lifted)
        return FinishedRun(vectors, status, ended.passes, start, wrong, account=state.account)

    def _store(
        self, table: Table, labels: Labels, runs: list[FinishedRun], weights: Floats | None, combined: Floats | None
    ) -> None:
        super()._store(table, labels, runs, weights, combined)
        accounts = [run.account for run in runs if run.account is not None]
        self.counts_ = int(sum(account[COUNTS] for account in accounts))
        self.count_visits_ = int(sum(account[COUNT_VISITS] for account in accounts))

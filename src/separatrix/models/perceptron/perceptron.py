"""The perceptron with every choice its authors made (Rosenblatt 1958, Novikoff 1962).

On a mistake at (x, y): w += c y x, b += c y. Cyclic and shuffled passes are streamable; restart, any and worst
look for their next row among all of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.errors import ParameterError
from separatrix.models.class_labels import weights_of_classes
from separatrix.models.perceptron.mistake_driven import PASSES, FinishedRun
from separatrix.models.perceptron.online_rule import PlainUpdates, Vectors
from separatrix.models.perceptron.passes import NO_LIMIT, SLICE, CountedPasses, LabelledRows, Order, PassMeasure
from separatrix.models.perceptron.single_rows import SingleRowLearner
from separatrix.numerics.driver import drive, solve
from separatrix.numerics.status import Status
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, seed
from separatrix.validation import Labels, Table

if TYPE_CHECKING:
    from separatrix.models.perceptron.trace import Trace

DEFAULT_UPDATES = 10**6  # where there are no passes to count

RECIPES: dict[str, dict[str, Any]] = {
    "rosenblatt": {"order": "cyclic", "start": "random"},
    "batch": {"order": "cyclic", "tie": "positive", "fit_intercept": False, "stop": "streak"},
    "restart": {"order": "restart"},
    "normalised": {"order": "cyclic", "tie": "positive", "fit_intercept": False, "normalize_rows": True},
    "online": {"order": "cyclic", "tie": "positive", "fit_intercept": False, "max_iter": 1},
    "repeated": {"order": "cyclic", "tie": "positive", "fit_intercept": False},
}
ROOM = 2**16  # updates logged in one call of the orders without passes


@learner
class Perceptron(SingleRowLearner):
    """A linear classifier that moves only on mistakes: w += y x, b += y.

    If the rows can be separated with lifted margin g within radius R, at most (R/g)^2 updates are ever
    made from a zero start, in any order; if they cannot, the run ends at a limit and says so.

    Parameters
    ----------
    start : {"zeros", "ones", "random"} or array of d or d + 1 numbers, default="zeros"
        The first weights; "random" draws standard normals. An array may hold the intercept as its last entry.
    order : {"cyclic", "restart", "shuffle", "blocks", "any", "worst"}, default="shuffle"
        Which row is looked at next: passes in the order given (as in the recipes; misleading where rows are sorted
        by class), back to row 0 after every update, passes shuffled anew, passes by random blocks of 65,536 rows, each
        of them shuffled (for rows that lie in a file), a random violator, the violator with the least y s(x).
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake while learning, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts; "undefined" gives None there.
    normalize_rows : bool, default=False
        Scale each lifted row to length 1 (a zero row is left as it is).
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    max_mistakes : int or inf, default=0
        End after a pass with no more mistakes than this.
    max_iter : int or inf, default=100
        Limit on passes, for the orders "cyclic", "shuffle" and "blocks".
    max_updates : int, inf or None, default=None
        Limit on the updates of a vector (of each class, one against the rest); None is a million where the
        order has no passes, and no limit otherwise.
    stop : {"pass", "streak"}, default="pass"
        Whether all rows are right is seen after a whole clean pass, or (order "cyclic") as soon as n rows
        in a row were right, wherever that streak began. The weights are the same.
    multiclass : {"ovr", "kesler"}, default="ovr"
        With more than two classes: each against the rest, or all at once by Kesler's rule (the true class
        gains the row, the best wrong one loses it).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the size of the updates of a class.
    warm_start : bool, default=False
        Start from the weights of the previous fit.
    random_state : int, RandomState, Generator or None, default=0
        Seed of the random start and of the orders "shuffle", "blocks" and "any".
    hashing : int or None, default=None
        Columns that ``learn_one`` hashes dicts of features to; None: every feature gets its own.
    trace : bool, default=False
        Keep ``trace_``: the start and the updated rows, from which every step can be replayed.
    verbose : bool, default=False
        Report each pass on standard error.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; 1 for the orders without passes
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    visits_ : rows looked at
    errors_ : rows that the final weights misclassify under the tie rule (K > 2: by the greatest score)
    status_ : why the run ended, a :class:`Status`
    trace_ : a :class:`Trace`, or a tuple of them for K > 2 classes; None without ``trace=True``
        and after ``partial_fit``

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = Perceptron().fit(X, y)
    >>> model.coef_, model.intercept_, model.mistakes_
    (array([[1.]]), array([-2.]), 4)
    >>> model.predict([[5.0]]).tolist()
    ['yes']
    """

    start: str | ArrayLike = choice("zeros", "ones", "random", default="zeros", other="array of d or d + 1 numbers")
    order: str = choice("cyclic", "restart", "shuffle", "blocks", "any", "worst", default="shuffle")
    tie: str = choice("mistake", "positive", default="mistake")
    boundary: str = boundary()
    normalize_rows: bool = flag(False)
    fit_intercept: bool = flag(True)
    max_mistakes: float = count(0, least=0, inf=True)
    max_iter: float = count(100, inf=True)
    max_updates: float | None = count(None, inf=True)
    stop: str = choice("pass", "streak", default="pass")
    multiclass: str = choice("ovr", "kesler", default="ovr")
    class_weight: Any = class_weights()
    warm_start: bool = flag(False)
    random_state: Any = seed(0)
    hashing: int | None = count(None, most=2**31)
    trace: bool = flag(False)
    verbose: bool = flag(False)
    categorical: str | None = categories()

    _moves_on_mistakes: ClassVar[bool] = True
    _distributed: ClassVar[str | None] = "mistakes"

    @classmethod
    def recipe(cls, name: str, **changes: Any) -> Self:
        """A named variant: rosenblatt, batch, restart, normalised, online or repeated, with changes.

        Parameters
        ----------
        name : {"rosenblatt", "batch", "restart", "normalised", "online", "repeated"}
            Random start; while some row is wrong; back to row 0 after each update; rows of length 1; one pass over a
            stream; pass after pass. All but restart take the rows in the order given; all but rosenblatt and restart
            have no intercept and read sign(0) as +1. A recipe has the limits of the learner: rosenblatt, batch,
            normalised and repeated end after 100 passes at most, restart after a million updates; ``max_iter`` and
            ``max_updates`` change them.
        **changes : keyword arguments
            Parameters that differ from those of the recipe.

        Returns
        -------
        Perceptron

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import Perceptron
        >>> X = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
        >>> model = Perceptron.recipe("online", trace=True).fit(X, [-1, 1, 1, -1, -1, 1])
        >>> model.coef_, model.mistakes_, model.trace_.rows
        (array([[3., 1.]]), 3, array([0, 2, 4]))
        """
        if name not in RECIPES:
            raise ParameterError(f"recipe is {name!r}: it can be {', '.join(RECIPES)}.")
        return cls(**{**RECIPES[name], **changes})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.stop == "streak" and (self.order != "cyclic" or self.max_mistakes):
            raise ParameterError("stop='streak' goes with order='cyclic' and max_mistakes=0 only.")
        if self.multiclass == "kesler" and (self.order not in PASSES or self.stop == "streak" or self.trace):
            raise ParameterError(
                "multiclass='kesler' goes with the orders 'cyclic' and 'shuffle', stop='pass' and no trace: "
                "change those, or use multiclass='ovr'."
            )

    def _rule(self) -> PlainUpdates:
        return PlainUpdates(self.fit_intercept, self.tie == "mistake")

    def _run(self, chunk: LabelledRows, start: Floats, chance: kernels.Word) -> FinishedRun:
        """Learn one vector: by passes in the one loop, or violator by violator; or all by Kesler's rule."""
        if self.multiclass == "kesler":
            return super()._run(chunk, start, chance)
        state = PerceptronState(kernels.aligned(start[0]))
        zero_is_mistake = self.tie == "mistake"
        if self.order in PASSES:
            order, most = Order.named(self.order, chance), math.inf if self.max_updates is None else self.max_updates
            streak = self.stop == "streak"
            rule = PerceptronRule(self.fit_intercept, zero_is_mistake, order, streak, most, self.trace)
            ended = solve(rule, state, chunk, self._stop(chunk.counted), self._watch if self.verbose else None)
            status, passes = ended.status, ended.passes
        else:
            limit = DEFAULT_UPDATES if self.max_updates is None else self.max_updates
            search = ViolatorSearch(chunk, self.order, self.fit_intercept, zero_is_mistake, limit, chance, self.trace)
            status = drive(search, state, watch=self._watch if self.verbose else None).status
            passes = [PassMeasure(state.updates, state.updates, status is not Status.NONFINITE)]
        vectors = Vectors(
            state.lifted[None], {}, None, np.array([state.updates], dtype=np.int64), np.array([state.visits])
        )
        status, wrong = self._judge(status, chunk, vectors.lifted)
        return FinishedRun(vectors, status, passes, start, wrong, state.log)

    def _traces(
        self, table: Table, labels: Labels, runs: list[FinishedRun], weights: Floats | None
    ) -> Trace | tuple[Trace, ...] | None:
        if not self.trace:
            return None
        from separatrix.models.perceptron.trace import Trace, fingerprint

        mark = fingerprint(table.X, labels, weights)
        by_class = weights_of_classes(labels, weights, self.class_weight)
        names = labels.classes.tolist()
        traces = tuple(
            Trace(
                start=run.start[0],
                rows=np.concatenate(run.log) if run.log else np.empty(0, dtype=np.int64),
                fingerprint=mark,
                positive=labels.classes[k],
                class_weight=None if by_class is None else dict(zip(names, by_class.tolist(), strict=True)),
                bias=self.fit_intercept,
                normalize_rows=self.normalize_rows,
            )
            for k, run in zip(range(len(runs)) if len(runs) > 1 else (1,), runs, strict=True)
        )
        return traces[0] if len(traces) == 1 else traces


# -- the perceptron as a rule of passes, and as a solver for the orders without passes --


@dataclass(slots=True)
class PerceptronState:
    """What a run carries along: the lifted weights and the account of its mistakes."""

    lifted: Floats
    updates: int = 0
    visits: int = 0
    mistakes: int = 0  # in the pass under way
    last: int = -1  # position of the last update in the pass before
    log: list[Indices] = field(default_factory=list)

    def count(self, updates: int, visits: int, log: Indices | None) -> None:
        """Enter what a kernel did into the account."""
        self.updates += updates
        self.mistakes += updates
        self.visits += visits
        if log is not None and updates:
            self.log.append(log[:updates].copy())

    def whole(self) -> Whole:
        """A block that is done or undone: an interruption inside it leaves weights and account agreeing."""
        return Whole(self)


class Whole:
    """Such a block; a class, since a generator would cost a small pass as much as its rows."""

    __slots__ = ("kept", "state")

    def __init__(self, state: PerceptronState) -> None:
        self.state = state
        self.kept = state.lifted.copy(), len(state.log), state.updates, state.visits, state.mistakes, state.last

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is None:
            return
        state = self.state
        state.lifted[:], entries, state.updates, state.visits, state.mistakes, state.last = self.kept
        del state.log[entries:]


@dataclass(slots=True)
class PerceptronRule(CountedPasses):
    """One look at each row per pass, in the order they lie or shuffled anew."""

    bias: bool
    zero_is_mistake: bool
    order: Order
    streak: bool = False  # end as soon as n rows in a row were right, not only after a clean pass
    max_updates: float = math.inf
    keep_log: bool = False
    habit: NDArray[np.int8] | None = None  # which rows were mistakes at the last look: it speeds the next one up
    last_updates: int = 0  # in the last scan

    def step(self, state: PerceptronState, chunk: LabelledRows) -> None:
        n = chunk.rows.n
        if self.habit is None or len(self.habit) != n:
            self.habit = np.zeros(n, dtype=np.int8)
        self.order.next(n)
        if not self.streak or state.updates == 0:
            self.scan(state, chunk, 0, n)
            return
        resume = state.last + 1
        self.scan(state, chunk, 0, resume)
        if state.mistakes:
            self.scan(state, chunk, resume, n)

    def scan(self, state: PerceptronState, chunk: LabelledRows, begin: int, end: int) -> None:
        """Look at positions begin .. end once."""
        room = min(self.max_updates - state.updates, NO_LIMIT)
        log = np.empty(end - begin, dtype=np.int64) if self.keep_log else None
        with state.whole(), kernels.looking_ahead(chunk.rows, self.last_updates) as ahead:
            updates, visits, last = kernels.perceptron_pass(
                chunk.rows, chunk.y, chunk.step, self.order.rows, state.lifted, self.bias, self.zero_is_mistake,
                log, begin, end, int(room), self.habit, ahead,
            )  # fmt: skip
            state.count(updates, visits, log)
            self.last_updates = updates
            if updates:
                state.last = last


@dataclass(slots=True)
class ViolatorSearch:
    """Restart, any or worst: update on the next violator until none is left or the limit is reached; a solver."""

    chunk: LabelledRows
    order: str
    bias: bool
    zero_is_mistake: bool
    max_updates: float
    chance: kernels.Word
    keep_log: bool = False
    at: int = 0  # the row that is looked at next; behind the last one there was no violator
    found: Indices = field(init=False)

    def __post_init__(self) -> None:
        self.found = np.empty(self.chunk.rows.n if self.order == "any" else 0, dtype=np.int64)

    def terminate(self, state: PerceptronState) -> Status | None:
        if kernels.first_nonfinite(state.lifted) >= 0:
            return Status.NONFINITE
        if self.at == self.chunk.rows.n:
            return Status.CONVERGED
        return Status.MAX_UPDATES if state.updates >= self.max_updates else None

    def step(self, state: PerceptronState) -> PerceptronState:
        chunk, state.mistakes = self.chunk, 0
        room = int(min(self.max_updates - state.updates, ROOM if self.keep_log else NO_LIMIT))
        budget = max(1, SLICE // max(1, chunk.rows.d))
        log = np.empty(room, dtype=np.int64) if self.keep_log else None
        shared = (chunk.rows, chunk.y, chunk.step, state.lifted, self.bias, self.zero_is_mistake, log)
        with state.whole():
            if self.order == "restart":
                updates, visits, at = kernels.perceptron_restart(*shared, self.at, room, budget)
            elif self.order == "worst":
                updates, visits, at = kernels.perceptron_worst(*shared, chunk.norm, room, budget)
            else:
                updates, visits, at = kernels.perceptron_any(*shared, self.chance, self.found, room, budget)
            state.count(updates, visits, log)
            self.at = at
        return state

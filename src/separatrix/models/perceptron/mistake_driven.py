"""What learners that move on mistakes share: the fit, many classes, the account.

A subclass names its ``_rule`` and, where its passes are not those of the one loop, its own ``_run``.
With two classes there is one vector, that of the second class; with more, one per class: each learned
against the rest, or all at once by Kesler's rule.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.models.class_labels import need_two_weighted_classes, weights_of_rows
from separatrix.models.linear_predictors import LinearClassifier
from separatrix.models.perceptron.class_vectors import SCHEMES, ClassVectors, two_of_one
from separatrix.models.perceptron.online_rule import OnlineRule, Vectors, first_vector, given_starts
from separatrix.models.perceptron.passes import (
    BY_CHANCE,
    LabelledRows,
    OnlinePasses,
    OnlineState,
    Order,
    PassMeasure,
    warn_of_run,
)
from separatrix.numerics.driver import solve
from separatrix.numerics.linear_scores import lifted_norms
from separatrix.numerics.seeds import seed_state
from separatrix.numerics.status import Status, Stop, last_of, raise_interruption, stop_perceptron
from separatrix.validation import Labels, Table, check_weights

if TYPE_CHECKING:
    from separatrix.models.perceptron.trace import Trace

PASSES = ("cyclic", "shuffle", "blocks")
IN_ORDER = ("cyclic", "restart")
MOST_PASSES = 1000  # where max_iter is None, and a run ends ...
PATIENCE = 10_000  # ... when so many looks at rows, and ...
LEAST_PATIENCE = 5  # ... so many passes had no new minimum of mistakes


class Counted(Protocol):
    """What is said of a run under way."""

    @property
    def mistakes(self) -> int: ...
    @property
    def updates(self) -> int: ...


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """Vectors learned from all rows: where they ended, why, their passes, where they began."""

    vectors: Vectors
    status: Status
    passes: list[PassMeasure]
    start: Floats
    wrong: int = 0  # rows that the final weights misclassify
    log: list[NDArray[np.int64]] = field(default_factory=list)
    account: NDArray[np.int64] | None = None  # what else a learner counts


class MistakeDriven(LinearClassifier):
    """The fit and the account of mistakes; subclasses say by which rule."""

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight", "coef_init", "intercept_init"),
        "score": ("sample_weight",),
    }
    _scale_free: ClassVar[bool] = False  # whether learning adapts to columns of any scale
    start: str | ArrayLike = "zeros"
    order: str = "shuffle"
    tie: str = "mistake"
    fit_intercept: bool
    normalize_rows: bool = False
    max_mistakes: float = 0
    max_iter: float | None
    max_updates: float | None = None
    multiclass: str = "ovr"
    class_weight: Any
    warm_start: bool = False
    random_state: Any
    verbose: bool
    n_iter_: int
    visits_: int
    mistakes_: int
    epoch_mistakes_: NDArray[np.int64]
    errors_: int
    status_: Status
    trace_: Trace | tuple[Trace, ...] | None
    _vectors: ClassVectors

    def _need_room(self, count: int, d: int) -> None:
        """Refuse what would not fit into memory."""

    def _rule(self) -> OnlineRule:
        raise NotImplementedError("a learner names its rule")

    def _steps(self, rows: kernels.Rows, weights: Floats | None) -> tuple[Floats | None, Floats | None]:
        """The size of each row's update, and the length of its lifted row where rows are scaled."""
        if not self.normalize_rows:
            return weights, None
        norm = lifted_norms(rows, self.fit_intercept)
        return (1.0 if weights is None else weights) / norm, norm

    def _run(self, chunk: LabelledRows, start: Floats, chance: kernels.Word) -> FinishedRun:
        """Learn one vector from signs, or all of them from the numbers of their classes, pass after pass."""
        rule = self._rule()
        vectors = rule.fresh(kernels.aligned(start), kesler=chunk.y.dtype != np.int8)
        limit = math.inf if self.max_updates is None else self.max_updates
        passes = OnlinePasses(Order.named(self.order, chance), limit)
        state = OnlineState(vectors, rule.kernel(vectors))
        ended = solve(passes, state, chunk, self._stop(chunk.counted), self._watch if self.verbose else None)
        status, wrong = self._judge(ended.status, chunk, rule.final(vectors))
        return FinishedRun(vectors, status, ended.passes, start, wrong)

    def _stop(self, n: int) -> Stop:
        """When passes over n rows end."""
        limit = math.inf if self.max_updates is None else self.max_updates
        if self.max_iter is not None:
            return stop_perceptron(self.max_mistakes, self.max_iter, limit)
        return stop_perceptron(self.max_mistakes, MOST_PASSES, limit, max(LEAST_PATIENCE, -(-PATIENCE // n)))

    def _judge(self, status: Status, chunk: LabelledRows, lifted: Floats) -> tuple[Status, int]:
        """How many rows are wrong; a run that stopped at a limit may have separated them all the same."""
        wrong = 0 if status is Status.CONVERGED else self._wrong(chunk, lifted)
        if status in (Status.PLATEAU, Status.MAX_ITERATIONS, Status.MAX_UPDATES) and not wrong:
            status = Status.SEPARATED
        return status, wrong

    def fit(self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learn from all rows, pass after pass, until none is a mistake or a limit is reached.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.
        coef_init : array or None
            The first weights, in place of the start that the parameters choose.
        intercept_init : array or None
            The first intercepts.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import Perceptron
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> model = Perceptron().fit(X, y)
        >>> model.mistakes_, model.errors_, model.status_.name
        (4, 0, 'CONVERGED')
        """
        self._check_parameters()
        table, labels = self._labelled_rows(X, y)
        weights = check_weights(sample_weight, table.n, rows=X)
        combined = weights_of_rows(labels, weights, self.class_weight)
        need_two_weighted_classes(labels, combined)
        rows = kernels.rows(table.X)
        step, norm = self._steps(rows, combined)
        random_start = isinstance(self.start, str) and self.start == "random"
        by_chance = self.order in (*BY_CHANCE, "any") or random_start
        chance = seed_state(self.random_state, wanted=by_chance)
        starts = self._starts(table, labels, coef_init, intercept_init, chance)
        runs = []
        for signs, start in self._tasks(labels, combined, starts):
            runs.append(self._run(LabelledRows(rows, signs, step, norm), start, chance.copy()))
            if runs[-1].status is Status.INTERRUPTED:
                rule = self._rule()
                left = starts[sum(len(run.vectors) for run in runs) :, None]
                runs += [FinishedRun(rule.fresh(s.copy(), False), Status.INTERRUPTED, [], s) for s in left]
                break
        self._store(table, labels, runs, weights, combined)
        raise_interruption(self.status_)
        codes = labels.codes if combined is None else labels.codes[combined > 0]
        wrong = [run.wrong for run in runs]
        warn_of_run(self, table.X, codes, self.order in IN_ORDER, self._scale_free, wrong)
        return self

    def _tasks(self, labels: Labels, combined: Floats | None, starts: Floats) -> Iterator[tuple[Any, Floats]]:
        """What is learned separately: the labels of the rows, and the start. Rows without weight are skipped."""
        skipped = np.zeros(0, dtype=np.intp) if combined is None else np.flatnonzero(combined == 0)
        if self.multiclass == "kesler":
            codes = labels.codes.astype(np.int32)
            codes[skipped] = -1
            yield codes, two_of_one(starts)
            return
        for k, start in zip(range(len(starts)) if len(starts) > 1 else (1,), starts, strict=True):
            signs = labels.signs(k)
            signs[skipped] = 0
            yield signs, start[None]

    def _starts(
        self, table: Table, labels: Labels, coef_init: Any, intercept_init: Any, chance: kernels.Word
    ) -> Floats:
        """One lifted start for each vector; given arrays are copied."""
        count = len(labels.classes) if len(labels.classes) > 2 else 1
        if coef_init is None and intercept_init is None and self.warm_start and self.__sklearn_is_fitted__():
            if self.coef_.shape != (count, table.d) or not np.array_equal(self.classes_, labels.classes):
                raise DataError(
                    f"warm_start: the fit before had {self.coef_.shape[1]} features and classes "
                    f"{self.classes_.tolist()}, now {table.d} and {labels.classes.tolist()}: fit a new estimator."
                )
            if not np.isfinite(self.coef_).all():
                raise DataError(
                    "warm_start: the weights of the fit before overflowed; scale the features and fit anew."
                )
            coef_init, intercept_init = self.coef_, self.intercept_
        self._need_room(count, table.d)
        first = first_vector(self.start, table.d, self.fit_intercept, chance)
        return np.array(given_starts(first, count, coef_init, intercept_init, self.fit_intercept))

    def _wrong(self, chunk: LabelledRows, lifted: Floats) -> int:
        if len(lifted) == 1:
            return kernels.errors(chunk.rows, chunk.y, lifted[0], self.tie == "mistake")
        return kernels.class_errors(chunk.rows, chunk.y.astype(np.int64), lifted, self.tie == "mistake")

    def _watch(self, measure: Counted) -> None:
        sys.stderr.write(f"{type(self).__name__}: {measure.mistakes} mistakes, {measure.updates} so far\n")

    def _traces(
        self, table: Table, labels: Labels, runs: list[FinishedRun], weights: Floats | None
    ) -> Trace | tuple[Trace, ...] | None:
        """From what every step can be replayed, where the learner keeps it."""
        return None

    def _forget_stream(self) -> None:
        """Drop what rows that passed by have left."""
        self.__dict__.pop("_vectors", None)

    def _store(
        self, table: Table, labels: Labels, runs: list[FinishedRun], weights: Floats | None, combined: Floats | None
    ) -> None:
        """What takes time first, then the attributes: an interruption does not mix two fits."""
        vectors = runs[0].vectors
        for run in runs[1:]:
            vectors = vectors.join(run.vectors)
        book = SCHEMES[self.multiclass](self._rule(), runs[0].start[0], labels.classes.tolist(), vectors)
        traces = self._traces(table, labels, runs, weights)
        depth = max(len(run.passes) for run in runs)
        counts = np.zeros((len(runs), depth), dtype=np.int64)
        for row, run in zip(counts, runs, strict=True):
            row[: len(run.passes)] = [p.mistakes for p in run.passes]
        self._forget_stream()
        self._remember_features(table)
        self._vectors = book
        self.classes_ = labels.classes
        self._show_model(book)
        self.n_iter_ = max(depth, 1)
        self.epoch_mistakes_ = counts.sum(axis=0)
        self.mistakes_ = book.mistakes()
        self.visits_ = book.visits()
        self.status_ = last_of([run.status for run in runs])
        self.trace_ = traces
        self.__dict__.pop("errors_", None)
        if (errors := self._errors(table, labels, runs, combined)) is not None:
            self.errors_ = errors

    def _show_model(self, book: ClassVectors) -> None:
        """The model as attributes."""
        lifted = book.final()
        self.coef_ = np.ascontiguousarray(lifted[:, :-1])
        self.intercept_ = lifted[:, -1].copy()

    def _errors(self, table: Table, labels: Labels, runs: list[FinishedRun], combined: Floats | None) -> int | None:
        if len(self.coef_) == 1:
            return runs[0].wrong
        codes = labels.codes if combined is None else np.where(combined > 0, labels.codes, -1)
        lifted = np.column_stack([self.coef_, self.intercept_])
        return kernels.class_errors(kernels.rows(table.X), codes.astype(np.int64, copy=False), lifted, False)

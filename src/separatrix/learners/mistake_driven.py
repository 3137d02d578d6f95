"""What learners that move on mistakes share: the fit, the stream, many classes, the account.

A subclass says how one vector is learned: ``_run`` from all rows, ``_stream`` from rows that pass by
once, ``_steps`` how far a row moves it. With two classes there is one vector, that of the second class;
with more, one a class, each learned against the rest.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import kernels
from separatrix.errors import DataError, ParameterError
from separatrix.learners.class_vectors import ClassVectors
from separatrix.learners.labels import need_two_classes, weights_of_classes, weights_of_rows
from separatrix.learners.linear import LinearClassifier
from separatrix.learners.starts import first_vector, given_starts
from separatrix.maths.chance import seed_state
from separatrix.maths.perceptron import LabelledRows, Learning, PassMeasure
from separatrix.maths.stopping import Status
from separatrix.validation import Labels, Table, check_labels, check_lengths, check_table, check_weights

if TYPE_CHECKING:
    from separatrix.maths.trace import Trace

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Run:
    """One vector learned: where it ended, why, its passes, and where it began."""

    state: Learning
    status: Status
    passes: list[PassMeasure]
    start: Floats
    wrong: int = 0  # rows that the final weights get wrong


class MistakeDriven(LinearClassifier):
    """Fit, partial fit and the account of mistakes; subclasses learn one vector."""

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight", "coef_init", "intercept_init"),
        "partial_fit": ("sample_weight", "classes"),
        "score": ("sample_weight",),
    }
    start: str | ArrayLike
    tie: str
    fit_intercept: bool
    normalize_rows: bool
    class_weight: Any
    warm_start: bool
    random_state: Any
    trace: bool
    n_iter_: int
    visits_: int
    mistakes_: int
    epoch_mistakes_: NDArray[np.int64]
    errors_: int
    status_: Status
    trace_: Trace | tuple[Trace, ...] | None

    def _check_parameters(self) -> None:
        raise NotImplementedError("a learner checks its own parameters")

    def _steps(self, rows: kernels.Rows, weights: Floats | None) -> tuple[Floats | None, Floats | None]:
        raise NotImplementedError("a learner says how far a row moves it")

    def _run(self, chunk: LabelledRows, start: Floats, chance: kernels.Word) -> Run:
        raise NotImplementedError("a learner learns one vector")

    def _stream(self, state: Learning, chunk: LabelledRows, begin: int, end: int) -> None:
        raise NotImplementedError("a learner learns from rows that pass by")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learn from all rows, pass after pass, until none is a mistake or a limit is reached."""
        self._check_parameters()
        table = check_table(X)
        labels = check_labels(y)
        check_lengths(table.n, len(labels.codes), "y")
        need_two_classes(labels, type(self).__name__)
        weights = check_weights(sample_weight, table.n)
        combined = weights_of_rows(labels, weights, self.class_weight)
        rows = kernels.rows(table.X)
        step, norm = self._steps(rows, combined)
        chance = seed_state(self.random_state)
        positives = range(len(labels.classes)) if len(labels.classes) > 2 else (1,)
        starts = self._starts(table, labels, len(positives), coef_init, intercept_init, chance)
        runs = []
        for k, start in zip(positives, starts, strict=True):
            signs = labels.signs(k)
            if combined is not None:
                signs[combined == 0] = 0
            runs.append(self._run(LabelledRows(rows, signs, step, norm), start, chance.copy()))
            if runs[-1].status is Status.INTERRUPTED:
                runs += [Run(Learning(s), Status.INTERRUPTED, [], s) for s in starts[len(runs) :]]
                break
        self._store(table, labels, runs, weights, combined)
        if self.status_ is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each row once, in arrival order; the result does not depend on how rows are chunked.

        Without ``classes`` new ones are learned as they appear; with them, in the first call, the set is
        closed and learning is faster. ``class_weight="balanced"`` needs all rows and is refused here.
        """
        self._check_parameters()
        if self.class_weight == "balanced":
            raise ParameterError("class_weight='balanced' needs all rows at once: pass a dict, or sample_weight.")
        fitted = self.__sklearn_is_fitted__()
        table = self._check_rows(X) if fitted else check_table(X)
        labels = check_labels(y)
        check_lengths(table.n, len(labels.codes), "y")
        weights = check_weights(sample_weight, table.n)
        book = self._book(table, classes)
        rows = kernels.rows(table.X)
        step, _ = self._steps(rows, weights if self.class_weight is None else self._weights(labels, weights))

        def learn(state: Learning, signs: NDArray[np.int8], begin: int, end: int) -> None:
            self._stream(state, LabelledRows(rows, signs, step), begin, end)

        book.learn(labels.classes[labels.codes], None if weights is None else weights > 0, learn)
        self._vectors = book
        self.classes_ = np.array(book.classes)
        if not fitted:
            self._remember_features(table)
        vectors = book.vectors()
        self._set_weights([v.lifted for v in vectors])
        self.n_iter_ = 1
        self.mistakes_ = sum(v.updates for v in vectors)
        self.visits_ = sum(v.visits for v in vectors)
        self.epoch_mistakes_ = np.array([self.mistakes_])
        self.status_ = Status.STREAMED
        self.trace_ = None
        self.__dict__.pop("errors_", None)
        return self

    def set_partial_fit_request(self, **wishes: Any) -> Self:
        """Which metadata a router shall pass to ``partial_fit``."""
        return self._set_request("partial_fit", wishes)

    def _weights(self, labels: Labels, weights: Floats | None) -> Floats | None:
        """class_weight for a chunk that need not hold every class it names."""
        here = {label: w for label, w in self.class_weight.items() if label in labels.classes.tolist()}
        return weights_of_rows(labels, weights, here)

    def _starts(
        self, table: Table, labels: Labels, count: int, coef_init: Any, intercept_init: Any, chance: kernels.Word
    ) -> list[Floats]:
        """One lifted start for each vector; given arrays are copied."""
        if coef_init is None and intercept_init is None and self.warm_start and self.__sklearn_is_fitted__():
            if self.coef_.shape != (count, table.d) or not np.array_equal(self.classes_, labels.classes):
                raise DataError(
                    f"warm_start: the fit before had {self.coef_.shape[1]} features and classes "
                    f"{self.classes_.tolist()}, now {table.d} and {labels.classes.tolist()}: fit a new estimator."
                )
            coef_init, intercept_init = self.coef_, self.intercept_
        first = first_vector(self.start, table.d, self.fit_intercept, chance)
        return given_starts(first, count, coef_init, intercept_init, self.fit_intercept)

    def _wrong(self, chunk: LabelledRows, lifted: Floats) -> int:
        return kernels.errors(chunk.rows, chunk.y, lifted, self.tie == "mistake")

    def _watch(self, measure: PassMeasure) -> None:
        sys.stderr.write(f"{type(self).__name__}: {measure.mistakes} mistakes, {measure.updates} so far\n")

    def _book(self, table: Table, classes: Any) -> ClassVectors[Learning]:
        """The vectors to go on with: those of the last call, those of a fit, or new ones."""
        book: ClassVectors[Learning] | None = self.__dict__.get("_vectors")
        if book is None and self.__sklearn_is_fitted__():
            book = ClassVectors(Learning(np.zeros(table.d + 1)), self.classes_.tolist())
            for state, w, b in zip(book.vectors(), self.coef_, self.intercept_, strict=True):
                state.lifted[:] = np.append(w, b)
        if book is None:
            declared = None if classes is None else check_labels(classes, what="classes").classes
            fresh = Learning(first_vector(self.start, table.d, self.fit_intercept, seed_state(self.random_state)))
            return ClassVectors(fresh, None if declared is None else declared.tolist())
        if classes is not None and check_labels(classes, what="classes").classes.tolist() != book.classes:
            raise DataError(f"classes={classes!r} is not the same as on the last call, which had {book.classes}.")
        return book.copy()

    def _store(
        self, table: Table, labels: Labels, runs: list[Run], weights: Floats | None, combined: Floats | None
    ) -> None:
        self._remember_features(table)
        self.__dict__.pop("_vectors", None)
        self.classes_ = labels.classes
        self._set_weights([run.state.lifted for run in runs])
        depth = max(len(run.passes) for run in runs)
        self.n_iter_ = max(depth, 1)
        counts = np.zeros((len(runs), depth), dtype=np.int64)
        for row, run in zip(counts, runs, strict=True):
            row[: len(run.passes)] = [p.mistakes for p in run.passes]
        self.epoch_mistakes_ = counts.sum(axis=0)
        self.mistakes_ = sum(run.state.updates for run in runs)
        self.visits_ = sum(run.state.visits for run in runs)
        self.status_ = max((run.status for run in runs), key=list(Status).index)
        self.errors_ = self._errors(table, labels, runs, combined)
        self.trace_ = None
        if self.trace:
            from separatrix.maths.trace import Trace, fingerprint

            mark = fingerprint(table.X, labels.codes, weights)
            by_class = weights_of_classes(labels, weights, self.class_weight)
            names = labels.classes.tolist()
            traces = tuple(
                Trace(
                    start=run.start,
                    rows=np.concatenate(run.state.log) if run.state.log else np.empty(0, dtype=np.int64),
                    fingerprint=mark,
                    positive=labels.classes[k],
                    class_weight=None if by_class is None else dict(zip(names, by_class.tolist(), strict=True)),
                    bias=self.fit_intercept,
                    normalize_rows=self.normalize_rows,
                )
                for k, run in zip(range(len(runs)) if len(runs) > 1 else (1,), runs, strict=True)
            )
            self.trace_ = traces[0] if len(traces) == 1 else traces

    def _set_weights(self, lifted: list[Floats]) -> None:
        stacked = np.array(lifted)
        self.coef_ = np.ascontiguousarray(stacked[:, :-1])
        self.intercept_ = stacked[:, -1].copy()

    def _errors(self, table: Table, labels: Labels, runs: list[Run], combined: Floats | None) -> int:
        if len(runs) == 1:
            return runs[0].wrong
        scores = np.empty((table.n, len(runs)))
        kernels.class_scores(kernels.rows(table.X), self.coef_, self.intercept_, scores)
        missed = scores.argmax(axis=1) != labels.codes
        return int(np.count_nonzero(missed if combined is None else missed & (combined > 0)))

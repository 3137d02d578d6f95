"""The kernel perceptron (Aizerman, Braverman & Rozonoer 1964; Freund & Schapire 1999)."""

from __future__ import annotations

import sys
from typing import Any, Self

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import ParameterError
from separatrix.models.class_labels import weights_of_rows
from separatrix.models.perceptron.kernel_columns import (
    CachedColumns,
    CallableColumns,
    KernelColumns,
    MatrixColumns,
    NativeColumns,
    SupportRows,
    need_square,
    norms2,
)
from separatrix.models.perceptron.kernel_dual import BlockedDualRule, DualRule, DualState, errors_of_classes
from separatrix.models.perceptron.kernel_model import KernelStreaming
from separatrix.models.perceptron.passes import LabelledRows, Order, PassMeasure, warn_of_run, warn_of_scale
from separatrix.models.perceptron.single_row_tables import RowAsTable
from separatrix.numerics.driver import solve
from separatrix.numerics.seeds import seed_state
from separatrix.numerics.status import Status, last_of, raise_interruption, stop_perceptron
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, seed
from separatrix.validation import Labels, Table, check_weights


@learner
class KernelPerceptron(KernelStreaming, RowAsTable):
    """A perceptron that sees rows through a kernel: s(x) = sum_j a_j (k(x_j, x) + 1).

    A mistake at (x_i, y_i) adds y_i to a_i: |a_i| counts the mistakes made on row i. With the linear
    kernel it is the perceptron, mistake for mistake; with others the hyperplane lies in the space of the
    kernel, of infinitely many features for "rbf". Memory is bounded: at most ``max_support`` rows have a
    weight for each class, and when one more is needed the row with the least |a_j| is forgotten, the one
    that joined first of equals; ``forgotten_`` counts them. With more than two classes each is learned
    against the rest.

    With a kernel that is built in, dense rows and the order "cyclic" most signs of scores are proved in single
    precision, and the others computed in double: a fit is several times faster, and the same to the bit.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "precomputed"} or callable, default="rbf"
        x.z, (gamma x.z + coef0)^degree, exp(-gamma |x - z|^2), a matrix given as X, or a function that
        takes two tables of a and b rows and returns their a × b kernel matrix.
    gamma : float or None, default=None
        None is 1/d.
    degree : int, default=3
        Of the kernel "poly".
    coef0 : float, default=1.0
        The constant in the kernel "poly".
    order : {"cyclic", "shuffle"}, default="cyclic"
        Passes over the rows as given, which is several times faster, or in a new random order each time. A kernel that
        separates the training rows predicts about as well from either.
    tie : {"mistake", "positive"}, default="mistake"
        Whether a score of zero is a mistake while learning, or counts as +1.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts for two classes; "undefined" gives None there.
    fit_intercept : bool, default=True
        Whether 1 is added to the kernel, which stands for the bias.
    max_iter : int or inf, default=100
        Limit on passes.
    max_support : int or inf, default=5000
        Rows that may have a weight, for each class.
    cache_mb : float, default=200
        Memory for columns of the kernel matrix while fitting with a function, or in the order "shuffle".
    class_weight : dict, "balanced" or None, default=None
        Multiplies what mistakes of a class add, as ``sample_weight`` does those of a row.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order "shuffle".
    verbose : bool, default=False
        Report each pass on standard error.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    dual_coef_ : array (1, m), or (K, m) for K > 2 classes : a_j of the support rows
    support_ : rows of the fit that have a weight; support_vectors_ : those rows (not when precomputed)
    forgotten_ : how often a row was forgotten because there was no room
    classes_ : the labels, sorted; with two of them the second is the positive one
    n_iter_ : passes made; visits_ : rows looked at
    mistakes_ : updates made; epoch_mistakes_ : the same for each pass
    errors_ : rows that the model misclassifies under the tie rule (K > 2: by the greatest score)
    status_ : why the run ended, a :class:`Status`

    Examples
    --------
    >>> from separatrix import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> KernelPerceptron().fit(X, y).predict(X)
    array([0, 1, 1, 0])
    """

    kernel: Any = choice("linear", "poly", "rbf", "precomputed", default="rbf", other="callable")
    gamma: float | None = number(None, above=0)
    degree: int = count(3)
    coef0: float = number(1.0)
    order: str = choice("cyclic", "shuffle", default="cyclic")
    tie: str = choice("mistake", "positive", default="mistake")
    boundary: str = boundary()
    fit_intercept: bool = flag(True)
    max_iter: float = count(100, inf=True)
    max_support: float = count(5000, inf=True)
    cache_mb: float = number(200, least=0)
    class_weight: Any = class_weights()
    random_state: Any = seed()
    verbose: bool = flag(False)
    categorical: str | None = categories()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.kernel, str) and not callable(self.kernel):
            raise ParameterError(f"kernel is {self.kernel!r}: it can be a name or a function of two tables.")

    def _columns(self, table: Table) -> KernelColumns:
        kernel = self._built_in(table.d)
        if kernel is not None:
            rows = kernels.rows(table.X)
            source: KernelColumns = NativeColumns(rows, kernel, norms2(rows))
        elif callable(self.kernel):
            source = CallableColumns(self.kernel, table.X)
        else:
            need_square(table)
            return MatrixColumns(table.X)
        return CachedColumns(source, int(self.cache_mb * 2**20 / (8 * table.n)))

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows, pass after pass, until none is a mistake or a limit is reached.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import KernelPerceptron
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> KernelPerceptron().fit(X, y).errors_
        0
        """
        self._check_parameters()
        table, labels = self._labelled_rows(X, y)
        combined = weights_of_rows(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
        columns = self._columns(table)
        chance = seed_state(self.random_state)
        source = columns.source if isinstance(columns, CachedColumns) else columns
        late = None
        if isinstance(source, NativeColumns) and self.order == "cyclic":
            late = source.late_scores(float(self.fit_intercept))
        states: list[DualState] = []
        rules: list[DualRule | BlockedDualRule] = []
        chunks: list[LabelledRows] = []
        statuses: list[Status] = []
        passes: list[list[int]] = []
        classes = range(len(labels.classes)) if len(labels.classes) > 2 else (1,)
        for k in classes:
            signs = labels.signs(k)
            if combined is not None:
                signs[combined == 0] = 0
            limits = (self.tie == "mistake", self.max_support)
            if late is not None:
                rules.append(BlockedDualRule(late.another(), *limits))
            else:
                order = Order(chance.copy() if self.order == "shuffle" else None)
                rules.append(DualRule(columns, np.zeros(table.n), float(self.fit_intercept), *limits, order))
            states.append(DualState.begin(table.n))
            chunks.append(LabelledRows(kernels.rows(table.X), signs, combined))
            stop = stop_perceptron(0, self.max_iter, np.inf)
            ended = solve(rules[-1], states[-1], chunks[-1], stop, self._watch if self.verbose else None)
            statuses.append(ended.status)
            passes.append([p.mistakes for p in ended.passes])
            if ended.status is Status.INTERRUPTED:
                break
        states += [DualState.begin(table.n) for _ in classes[len(states) :]]
        self._store(table, labels, states, passes)
        raise_interruption(last_of(statuses))
        self._count_errors(labels, combined, rules, chunks, statuses)
        counted = labels.codes if combined is None else labels.codes[combined > 0]
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        warn_of_run(self, table.X, counted, self.order == "cyclic", scale_free=not linear)
        if isinstance(self.kernel, str) and self.kernel in ("rbf", "poly"):
            warn_of_scale(self, table.X)
        return self

    def _store(self, table: Table, labels: Labels, states: list[DualState], passes: list[list[int]]) -> None:
        """The model as attributes; until its errors are counted it is one that was interrupted."""
        for name in ("_stream", "errors_"):
            self.__dict__.pop(name, None)
        self._remember_features(table)
        self.classes_ = labels.classes
        a = np.array([state.a for state in states])
        self.support_ = np.flatnonzero(a.any(axis=0))
        self.dual_coef_ = np.ascontiguousarray(a[:, self.support_])
        precomputed = isinstance(self.kernel, str) and self.kernel == "precomputed"
        self._support = None if precomputed else SupportRows.of(table.X[self.support_])
        depth = max(len(p) for p in passes)
        self.n_iter_ = max(depth, 1)
        self.epoch_mistakes_ = np.sum([p + [0] * (depth - len(p)) for p in passes], axis=0, dtype=np.int64)
        self.mistakes_ = sum(state.updates for state in states)
        self.visits_ = sum(state.visits for state in states)
        self.forgotten_ = sum(state.forgotten for state in states)
        self.status_ = Status.INTERRUPTED

    def _count_errors(
        self,
        labels: Labels,
        combined: Floats | None,
        rules: list[DualRule | BlockedDualRule],
        chunks: list[LabelledRows],
        statuses: list[Status],
    ) -> None:
        """Rows that the model misclassifies; a class that stopped at the limit may be separated all the same."""
        wrong = [rule.errors(chunk.y) for rule, chunk in zip(rules, chunks, strict=True)]
        if len(rules) == 1:
            errors = wrong[0]
        else:
            counted = np.ones(len(labels.codes), dtype=bool) if combined is None else combined > 0
            errors = int(np.count_nonzero(errors_of_classes(rules, labels.codes) & counted))
        self.errors_ = errors
        self.status_ = last_of(
            [
                Status.SEPARATED if status is Status.MAX_ITERATIONS and not w else status
                for status, w in zip(statuses, wrong, strict=True)
            ]
        )

    def _watch(self, measure: PassMeasure) -> None:
        sys.stderr.write(f"{type(self).__name__}: {measure.mistakes} mistakes, {measure.updates} so far\n")

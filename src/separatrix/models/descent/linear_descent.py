"""Gradient descent on linear scores: all losses, penalties, schedules and batch sizes in one estimator."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np

from separatrix import kernels
from separatrix.errors import DataError, IterationWarning, ParameterError, warn_user
from separatrix.models.class_labels import (
    declared_classes,
    need_two_weighted_classes,
    weights_in_chunk,
    weights_of_rows,
)
from separatrix.models.descent.column_scale import ColumnScale
from separatrix.models.descent.descent_runs import Descending, DescentClasses, scaled_to
from separatrix.models.descent.descent_state import CURVES, DescentRule, DescentState
from separatrix.models.descent.predictor_by_loss import PredictorByLoss
from separatrix.models.descent.steepest_descent import need_descent
from separatrix.numerics.schedules import LineSearch, Schedule, schedule_of
from separatrix.numerics.seeds import seed_state
from separatrix.numerics.status import Status, last_of, raise_interruption
from separatrix.parameters import boundary, categories, choice, class_weights, count, flag, learner, number, seed
from separatrix.protocol import ChunkLearner
from separatrix.validation import Table, check_lengths, check_targets, check_weights


@learner(kw_only=False)
class LinearDescent(PredictorByLoss, ChunkLearner):
    """A linear predictor by gradient descent on a mean loss.

    Minimises  J = (1/n) sum c_i loss(y_i, w.x_i + b) + alpha [(1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1]  with
    weights c_i of mean 1, by theta <- theta - a(k) grad J over all rows, a batch, or one row at a time. With
    ``loss="squared_error"`` it is a regressor on real targets, with any other a classifier: one vector for
    two classes, one per class against the rest for more.

    Parameters
    ----------
    loss : {"logistic", "squared", "perceptron", "hinge", "squared_error"}, default="logistic"
        Of the margin m = y s: log(1 + e^-m), (1 - m)^2, max(0, -m), max(0, 1 - m); or (y - s)^2.
    alpha : float, default=0.0001
        The penalty.
    l1_ratio : float in [0, 1], default=0.0
        The share of |w|_1 in the penalty; this part, which has kinks, is taken by proximal steps.
    schedule : {"root", "constant", "inverse", "exponential", "step", "line-search"} or function of k, default="root"
        How step sizes a(k) change; a line search goes with ``batch_size=None`` only.
    step : float or "auto", default="auto"
        The first step size, in the columns as they are. "auto" standardises them inside ``fit`` (sparse ones and those
        without an intercept are divided by their size and not centred, and so are real targets), which changes the
        path and not J or its minimum, and begins with 1/(c R^2), R^2 the greatest c_i |(x, 1)|^2 and c the curvature of
        the loss (1 where it has none). ``partial_fit`` takes R of the rows so far and columns as they are.
    batch_size : int or None, default=1
        Rows per step; None takes all of them.
    momentum : float in [0, 1), default=0.0
        The share of the last move that is made again.
    average : bool, default=False
        Predict with the mean of the weights after every step (Polyak and Juditsky 1992).
    order : {"shuffle", "cyclic"}, default="shuffle"
        Visit the rows in a new random order each pass, or as they lie.
    fit_intercept : bool, default=True
        Whether there is an intercept b.
    max_iter : int or inf, default=100
        Limit on passes.
    tol : float, default=0.01
        End when the gradient of J is no longer than this, in the columns that the steps are made in; with an l1 penalty
        that of the proximal step of size one. 0 makes ``max_iter`` passes. A run that ends before warns. The gradient
        of "hinge" and "perceptron" has jumps, and need not become short.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts; "undefined" gives None there.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the orders of rows.
    categorical : {"dummies"} or None, default=None
        "dummies" takes frames with columns of text or categories: one column of zeros and ones for each level but the
        first, which is the reference (``references_``). None: such columns are an error.

    Attributes
    ----------
    coef_, intercept_ : of shape (1, d) or (K, d), and (1,) or (K,); (d,) and a float for a regressor
    classes_ : the labels, sorted, of a classifier
    status_ : why the run ended (the worst, for more vectors than one), a :class:`Status`
    n_iter_ : passes made
    trace_ : J, |grad J|, the step size and theta = (w, b), pass by pass, a DescentTrace or a tuple of them. J and the
        gradient are those met during the pass, theta where it began; for ``batch_size=None`` they are J and its
        gradient. Gradients and step sizes are those of the columns that the steps are made in.

    Examples
    --------
    >>> from separatrix import LinearDescent
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> LinearDescent(loss="logistic").fit(X, y).predict([[0.5], [3.5]]).tolist()
    ['no', 'yes']
    """

    loss: str = choice("logistic", "squared", "perceptron", "hinge", "squared_error", default="logistic")
    _: KW_ONLY
    alpha: float = number(0.0001, least=0)
    l1_ratio: float = number(0.0, least=0, most=1)
    schedule: str | Schedule = choice(
        "root", "constant", "inverse", "exponential", "step", "line-search", default="root", other="function of k"
    )
    step: float | str = number("auto", above=0, word="auto")
    batch_size: int | None = count(1, none=True)
    momentum: float = number(0.0, least=0, below=1)
    average: bool = flag(False)
    order: str = choice("shuffle", "cyclic", default="shuffle")
    fit_intercept: bool = flag(True)
    max_iter: float = count(100, inf=True)
    tol: float = number(0.01, least=0)
    class_weight: Any = class_weights()
    boundary: str = boundary()
    random_state: Any = seed()
    categorical: str | None = categories()

    _stream_state: ClassVar[tuple[str, ...]] = ("_states",)

    def _state_agrees(self) -> bool:
        return self._continues()

    def _goes_on_by_weights(self) -> bool:
        return True

    def _rule(self) -> DescentRule:
        self._check_parameters()
        automatic = isinstance(self.step, str)
        schedule = schedule_of(self.schedule, 1.0 if automatic else float(self.step))
        need_descent(1, self.tol, self.momentum, schedule)
        if isinstance(schedule, LineSearch) and self.batch_size is not None:
            raise ParameterError("schedule='line-search' needs all rows for each step: set batch_size=None.")
        return DescentRule(
            self.loss,
            float(self.alpha * (1 - self.l1_ratio)),
            float(self.alpha * self.l1_ratio),
            schedule,
            int(self.batch_size or 1),
            float(self.momentum),
            bool(self.average),
            bool(self.fit_intercept),
            automatic,
            1.0 / CURVES[self.loss] if automatic else 1.0,
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Descend from zero until the weights converge, or to the limit of passes.

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
        >>> from separatrix import LinearDescent
        >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
        >>> LinearDescent(random_state=0).fit(X, y).predict([[5.0]]).tolist()
        ['yes']
        """
        rule = self._rule()
        if self._regression:
            table, classes = self._fit_table(X), None
            targets = [check_targets(y, rows=X)]
            check_lengths(table.n, len(targets[0]), "y")
            weights = check_weights(sample_weight, table.n, rows=X)
        else:
            table, labels = self._labelled_rows(X, y)
            weights = weights_of_rows(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
            need_two_weighted_classes(labels, weights)
            classes = labels.classes
            targets = [labels.signs(k).astype(np.float64) for k in (range(len(classes)) if len(classes) > 2 else (1,))]
        X = table.X
        if weights is not None and not weights.all():  # rows that do not count are as though they were not there
            X, targets, weights = X[weights > 0], [target[weights > 0] for target in targets], weights[weights > 0]
        if weights is not None:
            weights = weights / weights.mean()
        chance = seed_state(self.random_state)
        _need_squares(X)
        scale = ColumnScale.of(X, weights, rule) if rule.automatic else ColumnScale.none(table.d)
        if rule.automatic:
            X = scale.rows(X)
            if self._regression:
                scale = scale.of_targets(targets[0], weights, rule.bias)
                targets = [(targets[0] - scale.level) / scale.unit]
            rule = scale.rule(rule)
        rows = kernels.rows(X)
        rule = scaled_to(rule, rows, weights)
        runs = []
        for target in targets:
            descending = Descending(rule, rows, target, weights, scale, self.max_iter, self.tol)
            order = np.arange(rows.n, dtype=np.int64) if self.order == "shuffle" else None
            with np.errstate(all="ignore"):  # a descent may diverge, and its status says so
                runs.append(descending.run_whole() if self.batch_size is None else descending.run(order, chance.copy()))
        self._remember_features(table)
        self.__dict__.pop("_states", None)
        if classes is not None:
            self.classes_ = classes
        self._set_weights([run.lifted for run in runs])
        self.status_ = last_of([run.status for run in runs])
        self.n_iter_ = max(1, *(len(run.trace) for run in runs))
        self.trace_: Any = runs[0].trace if len(runs) == 1 else tuple(run.trace for run in runs)
        raise_interruption(self.status_)
        self._warn(max((run.gradient for run in runs if run.status is self.status_), default=0.0))
        return self

    def _warn(self, gradient: float) -> None:
        """Say that the run did not reach its tolerance."""
        name, status = type(self).__name__, self.status_
        if status is Status.MAX_ITERATIONS:
            if self.tol == 0 or self.max_iter == 1:  # so many passes are what was asked for
                return
            warn_user(
                f"{name} stopped after {self.n_iter_:,} passes; the gradient has length {gradient:.2g} there, and "
                f"tol is {self.tol:.2g}: raise max_iter or tol.",
                IterationWarning,
            )
        elif status is not Status.STATIONARY:
            warn_user(f"{name}: {status.value}.", IterationWarning)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each row once, in arrival order; the result does not depend on how rows are chunked.

        Without ``classes`` new ones are learned as they appear. Needs ``batch_size`` to be a number.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        classes : array or None
            All classes, in the first call; None: they join as they appear.
        sample_weight : array or None
            Weights of the rows; one at least must not be zero, as in scikit-learn. None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import LinearDescent
        >>> model = LinearDescent(batch_size=1).partial_fit([[0.0], [4.0]], ["no", "yes"])
        >>> model.classes_.tolist()
        ['no', 'yes']
        """
        rule = self._rule()
        if self.batch_size is None:
            raise ParameterError(
                "batch_size=None takes all rows in each step, which partial_fit does not have: set a number."
            )
        fitted = self.__sklearn_is_fitted__()
        if self._regression:
            table = self._check_rows(X) if fitted else self._fit_table(X, stream=True)
            target = check_targets(y, rows=X)
            check_lengths(table.n, len(target), "y")
            state = self._resumed(rule, table)
            rule.scan(state, kernels.rows(table.X), target, check_weights(sample_weight, table.n, rows=X))
            self._states: Any = state
            vectors = [state]
        else:
            table, labels = self._chunk(X, y)
            weights = weights_in_chunk(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
            book = self._book(rule, table, classes)
            book.learn(labels.classes[labels.codes], rule, kernels.rows(table.X), weights)
            self._states = book
            self.classes_ = np.array(book.classes)
            vectors = book.vectors()
        if not fitted:
            self._remember_features(table)
        self._set_weights([state.weights() for state in vectors])
        self._streamed = True
        finite = all(np.isfinite(state.weights()).all() for state in vectors)
        self.status_ = Status.STREAMED if finite else Status.NONFINITE
        self.n_iter_ = 1
        self.trace_ = None
        return self

    def _resumed(self, rule: DescentRule, table: Table) -> DescentState:
        if self._continues():
            return deepcopy(self._states)  # type: ignore[no-any-return]  # set by fit
        lifted = np.zeros(table.d + 1)
        if self.__sklearn_is_fitted__():
            lifted = np.append(self.coef_, self.intercept_)
        return rule.start(lifted)

    def _book(self, rule: DescentRule, table: Table, classes: Any) -> DescentClasses:
        declared = declared_classes(classes)
        known = self.classes_.tolist() if self.__sklearn_is_fitted__() else declared
        if declared is not None and declared != known:
            raise DataError(f"classes={classes!r} is not the same as on the last call, which had {known}.")
        if self._continues():
            return deepcopy(self._states)  # type: ignore[no-any-return]  # set by fit
        if self.__sklearn_is_fitted__():
            lifted = list(np.column_stack([self.coef_, self.intercept_]))
            return DescentClasses.of(lifted, self.classes_.tolist(), rule)
        return DescentClasses(rule.start(np.zeros(table.d + 1)), declared)

    def _continues(self) -> bool:
        """Whether the states of the last ``partial_fit`` are those of the weights, which may have been assigned."""
        if "_states" not in self.__dict__:
            return False
        states = [self._states] if self._regression else self._states.vectors()
        here = np.column_stack([np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)])
        return bool(np.array_equal(here, [state.weights() for state in states]))


def _need_squares(X: Any) -> None:
    """Refuse rows whose squares overflow."""
    rows = kernels.rows(X)
    norms = np.empty(rows.n)
    kernels.norms2(rows, norms)
    if not np.isfinite(norms).all():
        raise DataError(f"the squares of the numbers in X overflow at row {int(norms.argmax())}: scale the columns.")

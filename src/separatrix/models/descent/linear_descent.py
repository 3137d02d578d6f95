"""Gradient descent on linear scores: every built-in loss, penalty, schedule and size of batch in one estimator."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.models.class_labels import BOUNDARIES, need_two_classes, weights_of_rows
from separatrix.models.descent.class_descents import DescentClasses
from separatrix.models.descent.descent_state import CURVES, KINDS, DescentRule, DescentState
from separatrix.models.descent.gradient_descent import DescentTrace, descend, need_descent
from separatrix.models.linear_classifier import LinearClassifier
from separatrix.models.linear_regressor import LinearRegressor
from separatrix.models.probabilities import agreeing
from separatrix.numerics.schedules import LineSearch, Schedule, schedule_of
from separatrix.numerics.seeds import seed_state
from separatrix.numerics.status import Status, last_of
from separatrix.protocol import need_choice, need_limit, need_number
from separatrix.validation import (
    Table,
    check_labels,
    check_lengths,
    check_table,
    check_targets,
    check_weights,
    need_flag,
)


class LinearDescent(LinearClassifier):
    """A linear predictor by gradient descent on a mean loss.

    Minimises  J = (1/n) sum c_i loss(y_i, w.x_i + b) + alpha [(1 - l1_ratio)/2 |w|^2 + l1_ratio |w|_1]  with
    weights c_i of mean 1, by theta <- theta - a(k) grad J over all rows, a batch, or one row at a time. With
    ``loss="squared_error"`` it is a regressor on real targets, with any other a classifier: one vector for
    two classes, one a class against the rest for more.

    Parameters
    ----------
    loss : {"logistic", "squared", "perceptron", "hinge", "squared_error"}, default="logistic"
        Of the margin m = y s: log(1 + e^-m), (1 - m)^2, max(0, -m), max(0, 1 - m); or (y - s)^2.
    alpha : float, default=0.0001
        The penalty.
    l1_ratio : float, default=0.0
        The share of |w|_1 in the penalty; this part, which has kinks, is taken by proximal steps.
    schedule : {"root", "constant", "inverse", "exponential", "step", "line-search"} or function of k, default="root"
        How step sizes a(k) change; a line search goes with ``batch_size=None`` only.
    step : float or "auto", default="auto"
        The first step size; "auto" is 1/(c R^2) with R the greatest |(x, 1)| so far and c the curvature of
        the loss (1 where it has none).
    batch_size : int or None, default=1
        Rows a step; None takes all of them.
    momentum : float in [0, 1), default=0.0
        The share of the last move that is made again.
    average : bool, default=False
        Predict with the mean of the weights after every step (Polyak and Juditsky 1992).
    shuffle : bool, default=True
        Visit the rows in a new random order each pass.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    max_epochs : int or inf, default=100
        Limit on passes.
    tolerance : float, default=0.0001
        End when a pass moves the weights by no more than this, relative to their length (at least 1).
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts; "undefined" gives None there.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the orders of rows.

    Attributes
    ----------
    coef_, intercept_ : of shape (1, d) or (K, d), and (1,) or (K,); (d,) and a float for a regressor
    classes_ : the labels, sorted, of a classifier
    status_ : why the run ended (the worst, for more vectors than one), a :class:`Status`
    n_iter_ : passes made
    trace_ : J, |grad J| and the step size, pass by pass, a DescentTrace or a tuple of them. J and the gradient
        are those that the pass met on its way; for ``batch_size=None`` they are J and its gradient.
    """

    def __init__(
        self,
        loss: str = "logistic",
        *,
        alpha: float = 1e-4,
        l1_ratio: float = 0.0,
        schedule: str | Schedule = "root",
        step: float | str = "auto",
        batch_size: int | None = 1,
        momentum: float = 0.0,
        average: bool = False,
        shuffle: bool = True,
        fit_intercept: bool = True,
        max_epochs: float = 100,
        tolerance: float = 1e-4,
        class_weight: Any = None,
        boundary: str = "positive",
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.schedule = schedule
        self.step = step
        self.batch_size = batch_size
        self.momentum = momentum
        self.average = average
        self.shuffle = shuffle
        self.fit_intercept = fit_intercept
        self.max_epochs = max_epochs
        self.tolerance = tolerance
        self.class_weight = class_weight
        self.boundary = boundary
        self.random_state = random_state

    _routed = {  # noqa: RUF012  # a class variable, as in the base
        "fit": ("sample_weight",),
        "partial_fit": ("sample_weight", "classes"),
        "score": ("sample_weight",),
    }

    @property
    def _regression(self) -> bool:
        return bool(self.loss == "squared_error")

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # because it follows the loss
        return "regressor" if self._regression else "classifier"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self._regression:
            from sklearn.utils import RegressorTags

            tags.classifier_tags, tags.regressor_tags = None, RegressorTags()
        return tags

    def _rule(self) -> DescentRule:
        need_choice("loss", self.loss, tuple(KINDS))
        need_number("alpha", self.alpha, least=0)
        if not isinstance(self.l1_ratio, (int, float, np.number)) or not 0 <= self.l1_ratio <= 1:
            raise ParameterError(f"l1_ratio is {self.l1_ratio!r}: it must lie in [0, 1].")
        automatic = isinstance(self.step, str)
        if isinstance(self.step, str):
            need_choice("step", self.step, ("auto",))
        if self.batch_size is not None:
            need_limit("batch_size", self.batch_size, 1)
        for name in ("average", "shuffle", "fit_intercept"):
            need_flag(name, getattr(self, name))
        need_limit("max_epochs", self.max_epochs, 1)
        need_choice("boundary", self.boundary, BOUNDARIES)
        schedule = schedule_of(self.schedule, 1.0 if automatic else float(self.step))
        need_descent(1, self.tolerance, self.momentum, schedule)
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
        """Descend from zero until the weights come to rest, or the passes run out."""
        rule = self._rule()
        table = check_table(X)
        weights = check_weights(sample_weight, table.n)
        if self._regression:
            targets = [check_targets(y)]
            check_lengths(table.n, len(targets[0]), "y")
            classes = None
        else:
            labels = check_labels(y)
            check_lengths(table.n, len(labels.codes), "y")
            need_two_classes(labels, type(self).__name__)
            weights = weights_of_rows(labels, weights, self.class_weight)
            classes = labels.classes
            targets = [labels.signs(k).astype(np.float64) for k in (range(len(classes)) if len(classes) > 2 else (1,))]
        if weights is not None:
            weights = weights / weights.mean()
        rows = kernels.rows(table.X)
        chance = seed_state(self.random_state)
        runs = [self._run(rule, rows, target, weights, chance.copy()) for target in targets]
        self._remember_features(table)
        self.__dict__.pop("_states", None)
        if classes is not None:
            self.classes_ = classes
        self._set_weights([run[0] for run in runs])
        self.status_ = last_of([run[1] for run in runs])
        self.n_iter_ = max(1, *(len(run[2]) for run in runs))
        self.trace_: Any = runs[0][2] if len(runs) == 1 else tuple(run[2] for run in runs)
        if self.status_ is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return self

    def _run(
        self, rule: DescentRule, rows: kernels.Rows, y: Floats, weights: Floats | None, chance: kernels.Word
    ) -> tuple[Floats, Status, DescentTrace]:
        if rule.automatic:
            rule = replace(rule, automatic=False, scale=rule.scale / _reach(rows))
        if self.batch_size is None:
            return self._whole(rule, rows, y, weights)
        state = rule.start(np.zeros(rows.d + 1))
        order = np.arange(rows.n, dtype=np.int64) if self.shuffle else None
        values: list[float] = []
        norms: list[float] = []
        alphas: list[float] = []
        status = Status.MAX_STEPS
        try:
            while len(values) < self.max_epochs:
                before, first = state.now(), int(state.counts[1])
                state.sums[:] = 0.0
                if order is not None:
                    kernels.shuffle(order, chance)
                rule.scan(state, rows, y, weights, order)
                now = state.now()
                if not np.isfinite(now).all():
                    status = Status.NONFINITE
                    break
                made = max(1, int(state.counts[1]) - first)
                alpha = float(rule.alphas(max(0, int(state.counts[1]) - 1), 1)[0])
                values.append(float(state.sums[0] / state.sums[1]) + rule.penalty(now))
                norms.append(float(np.linalg.norm(now - before)) / (made * alpha))
                alphas.append(alpha)
                if np.linalg.norm(now - before) <= self.tolerance * max(1.0, float(np.linalg.norm(now))):
                    status = Status.STATIONARY
                    break
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return state.weights(), status, DescentTrace(np.array(values), np.array(norms), np.array(alphas))

    def _whole(
        self, rule: DescentRule, rows: kernels.Rows, y: Floats, weights: Floats | None
    ) -> tuple[Floats, Status, DescentTrace]:
        """Every step by all rows: the plain descent, with proximal steps for l1."""
        searched = rule.schedule
        if isinstance(searched, LineSearch):
            searched = LineSearch(searched.a0 * rule.scale, searched.shrink, searched.slope)
        found = descend(
            lambda lifted: rule.smooth(rows, y, weights, lifted),
            np.zeros(rows.d + 1),
            searched if isinstance(searched, LineSearch) else lambda k: rule.scale * searched(k),
            self.max_epochs,
            self.tolerance,
            momentum=rule.momentum,
            average=rule.average,
            proximal=rule.proximal if rule.l1 else None,
        )
        lifted = found.theta if found.average is None else found.average
        status = Status.NONFINITE if found.status is Status.UNDEFINED else found.status
        return lifted, status, found.trace

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Look at each row once, in arrival order; the result does not depend on how rows are chunked.

        Without ``classes`` new ones are learned as they appear. Needs ``batch_size`` to be a number.
        """
        rule = self._rule()
        if self.batch_size is None:
            raise ParameterError(
                "batch_size=None takes all rows a step, which partial_fit does not have: set a number."
            )
        if self.class_weight == "balanced":
            raise ParameterError("class_weight='balanced' needs all rows at once: pass a dict, or sample_weight.")
        fitted = self.__sklearn_is_fitted__()
        table = self._check_rows(X) if fitted else check_table(X)
        weights = check_weights(sample_weight, table.n)
        rows = kernels.rows(table.X)
        if self._regression:
            target = check_targets(y)
            check_lengths(table.n, len(target), "y")
            state = self._resumed(rule, table)
            rule.scan(state, rows, target, weights)
            self._states: Any = state
            vectors = [state]
        else:
            labels = check_labels(y)
            check_lengths(table.n, len(labels.codes), "y")
            known = None if self.class_weight is None else set(labels.classes.tolist())
            here = None if known is None else {k: w for k, w in self.class_weight.items() if k in known}
            weights = weights_of_rows(labels, weights, here)
            book = self._book(rule, table, classes)
            book.learn(labels.classes[labels.codes], rule, rows, weights)
            self._states = book
            self.classes_ = np.array(book.classes)
            vectors = book.vectors()
        if not fitted:
            self._remember_features(table)
        self._set_weights([state.weights() for state in vectors])
        finite = all(np.isfinite(state.weights()).all() for state in vectors)
        self.status_ = Status.STREAMED if finite else Status.NONFINITE
        self.n_iter_ = 1
        self.trace_ = None
        return self

    def set_partial_fit_request(self, **wishes: Any) -> Self:
        """Which metadata a router shall pass to ``partial_fit``."""
        return self._set_request("partial_fit", wishes)

    def _resumed(self, rule: DescentRule, table: Table) -> DescentState:
        if "_states" in self.__dict__:
            return deepcopy(self._states)  # type: ignore[no-any-return]
        lifted = np.zeros(table.d + 1)
        if self.__sklearn_is_fitted__():
            lifted = np.append(self.coef_, self.intercept_)
        return rule.start(lifted)

    def _book(self, rule: DescentRule, table: Table, classes: Any) -> DescentClasses:
        declared = None if classes is None else check_labels(classes, what="classes").classes.tolist()
        if "_states" in self.__dict__:
            book: DescentClasses = self._states
            if declared is not None and declared != book.classes:
                raise DataError(f"classes={classes!r} is not the same as on the last call, which had {book.classes}.")
            return deepcopy(book)
        if self.__sklearn_is_fitted__():
            known = self.classes_.tolist()
            if declared is not None and declared != known:
                raise DataError(f"classes={classes!r} is not the same as in the fit, which had {known}.")
            lifted = list(np.column_stack([self.coef_, self.intercept_]))
            return DescentClasses.of(lifted, known, rule)
        return DescentClasses(rule.start(np.zeros(table.d + 1)), declared)

    def _set_weights(self, lifted: list[Floats]) -> None:
        if self._regression:
            self.coef_, self.intercept_ = lifted[0][:-1].copy(), float(lifted[0][-1])  # type: ignore[assignment]
            return
        stacked = np.array(lifted)
        self.coef_, self.intercept_ = np.ascontiguousarray(stacked[:, :-1]), stacked[:, -1].copy()

    @property
    def decision_function(self) -> Any:
        """s(x) = w . x + b for each row, with more than two classes one column a class; a regressor has none."""
        if self._regression:
            raise AttributeError("loss='squared_error' makes a regressor, which has predict and no decision_function.")
        return super().decision_function

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row, or w . x + b for a regressor."""
        if self._regression:
            return LinearRegressor.predict(self, X)  # type: ignore[arg-type]
        return super().predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right; R^2 for a regressor."""
        if self._regression:
            return LinearRegressor.score(self, X, y, sample_weight)  # type: ignore[arg-type]
        return super().score(X, y, sample_weight)

    @property
    def predict_proba(self) -> Any:
        """P(class | x) = 1/(1 + e^-s), for the logistic loss; with more than two classes scaled to sum to one."""
        if self.loss != "logistic":
            raise AttributeError(f"loss={self.loss!r} gives no probabilities: use loss='logistic', or calibrate.")
        return self._posteriors

    def _posteriors(self, X: Any) -> Floats:
        s = self.decision_function(X)
        e = np.exp(-np.abs(s))
        p = np.where(s >= 0, 1.0, e) / (1.0 + e)
        p = np.column_stack([1.0 - p, p]) if p.ndim == 1 else np.asarray(p / p.sum(axis=1, keepdims=True))
        return agreeing(p, s, self.boundary)


def _reach(rows: kernels.Rows) -> float:
    norms = np.empty(rows.n)
    kernels.norms2(rows, norms)
    reach = float(norms.max()) + 1.0
    if not np.isfinite(reach):
        raise DataError(f"the squares of the numbers in X overflow at row {int(norms.argmax())}: scale the columns.")
    return reach

"""Logistic regression that knows when its answer does not exist."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import DataError, Interruption
from separatrix.models.class_labels import need_two_classes, weights_of_rows
from separatrix.models.logistic.fit import Fitted, fit_one
from separatrix.models.logistic.fit_warnings import tell
from separatrix.models.logistic.inference import LogisticInference
from separatrix.models.logistic.options import options_of
from separatrix.models.logistic.penalty_path import LogisticPath, answers, check_grid, grid_for, path_of
from separatrix.models.logistic.problem import Answer
from separatrix.models.logistic.used_rows import Counted, check_offset
from separatrix.numerics.status import Status
from separatrix.validation import Labels, Table, check_labels, check_lengths, check_table, check_weights


class LogisticRegression(LogisticInference):
    """Logistic regression: unpenalised unless asked otherwise, and only where an estimate exists.

    Minimises, over w and b (the bias is never penalised),

        C sum c_i log(1 + exp(-y_i (w.x_i + b + o_i))) + r |w|_1 + (1 - r)/2 |w|^2      for a finite C, r = l1_ratio,
          sum c_i log(1 + exp(-y_i (w.x_i + b + o_i)))                                  for C = inf, the default:

    minus the log-likelihood. For K > 2 classes the loss is  log sum_k exp(s_ik) - s_i,y_i  with one vector a
    class. Unpenalised, a finite minimum exists exactly where the classes are neither completely nor
    quasi-completely separated (Albert and Anderson 1984); every unpenalised fit proves which holds. Where none
    exists it warns which coefficients are infinite, and fits what ``on_separation`` says instead.

    Parameters
    ----------
    C : float, default=inf
        Inverse strength of the penalty; inf for none.
    l1_ratio : float, default=0.0
        The share of the penalty that is |w|_1, from 0 (a ridge) to 1 (the lasso); of no effect without a penalty.
    bias_reduction : None or "firth", default=None
        "firth" maximises  l + log|I|/2  (Firth 1993), which is finite whatever the separation.
    on_separation : {"auto", "firth", "ridge", "raise", "ignore"}, default="auto"
        What an unpenalised fit without a maximum does. "auto": Firth up to 1000 parameters, else "ridge" (C = 1
        on columns scaled to standard deviation 1). "raise": SeparationError. "ignore": keep the vectors at
        which the search was stopped, without a warning.
    multiclass : {"multinomial", "ovr"}, default="multinomial"
        For more than two classes: all at once, or each against the rest.
    fit_intercept : bool, default=True
        Whether there is a bias b.
    flic : bool, default=False
        After Firth's estimate, set the bias so that fitted probabilities add up to the class counts.
    class_weight : dict, "balanced" or None, default=None
        Multiplies the weights of the rows of a class.
    tol : float or None, default=None
        The relative duality gap at which a penalised fit ends, 1e-8 if None. Unpenalised fits run until the
        last digits settle. At a gap g the weights are within sqrt(2 g F C/(1 - l1_ratio)) of the optimum, with F
        the loss plus the penalty divided by C; a ridge of several classes then takes one more Newton step.
    max_iter : int or inf, default=1000
        Limit on the iterations of a solver.
    weights : {"frequency", "analytic"}, default="frequency"
        What sample_weight means. Frequencies count rows: a weight of two is the row twice, and standard errors
        shrink with it. Analytic weights say how rows compare, and are scaled to add up to the number of rows.
    warm_start : bool, default=False
        Begin at the vectors of the fit before.
    boundary : {"negative", "positive", "undefined"}, default="negative"
        What a score of zero predicts, for two classes. Both have probability 1/2 there; "negative" is the first
        class, as the greatest column of ``predict_proba`` has it.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes, whose vectors then
        add up to zero where the penalty does not determine them otherwise
    classes_ : the labels, sorted; for two of them the score speaks for the second
    status_ : a :class:`separatrix.Status`: OPTIMAL, NO_MAXIMUM, ILL_CONDITIONED, MAX_ITERATIONS, INTERRUPTED
    method_ : "maximum likelihood", "ridge", "lasso", "elastic net" or "Firth", with why if it is not what was
        asked for
    separation_ : whether a maximum exists, with its proof, or None where that was not the question;
        a dict by class for ``multiclass="ovr"``
    gap_ : relative duality gap of a penalised fit, else None
    maxima_ : penalised log-likelihoods of Firth's estimate and of a lower maximum, where two were found, else None
    unidentifiable_ : names of columns whose coefficients the rows do not determine: the shortest w is given
    loglik_ : log-likelihood of the fit
    n_iter_ : steps taken

    Notes
    -----
    Predictions are for an offset of zero. Dense C-order float64 and float32 arrays and CSR matrices are read in
    place. Rows of weight zero do not count in any way.
    """

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {"fit": ("sample_weight", "offset"), "score": ("sample_weight",)}
    status_: Status

    def __init__(
        self,
        *,
        C: float = np.inf,
        l1_ratio: float = 0.0,
        bias_reduction: str | None = None,
        on_separation: str = "auto",
        multiclass: str = "multinomial",
        fit_intercept: bool = True,
        flic: bool = False,
        class_weight: Any = None,
        tol: float | None = None,
        max_iter: float = 1000,
        weights: str = "frequency",
        warm_start: bool = False,
        boundary: str = "negative",
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.bias_reduction = bias_reduction
        self.on_separation = on_separation
        self.multiclass = multiclass
        self.fit_intercept = fit_intercept
        self.flic = flic
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.weights = weights
        self.warm_start = warm_start
        self.boundary = boundary

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        name, _, rest = super().__repr__(N_CHAR_MAX)[:-1].partition("(")
        parts = [rest] if "C=" in rest else ["C=inf", *([rest] if rest else [])]
        if self.__sklearn_is_fitted__():
            parts.append(f"fitted by {self.method_}")
        return f"{name}({', '.join(parts)})"

    def _check_parameters(self) -> None:
        options_of(self)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit all rows; ``offset`` is added to their scores (one number a row, or one a class for K > 2)."""
        rows, table = self._checked(X, y, sample_weight, offset)
        fitted = self._fit(rows, table, self._start(rows))
        self._store(rows, table, fitted)
        tell(self, fitted, rows)
        return self

    def path(self, X: Any, y: Any, Cs: Any = 10, *, sample_weight: Any = None, offset: Any = None) -> LogisticPath:
        """Fits with this ``l1_ratio`` for many C, each begun at the one before; the estimator is not changed.

        ``Cs`` are the penalties, or how many of them to choose: with an L1 part from the greatest C at which
        all weights are zero to a thousand times that, for a ridge from 1e-4 to 1e4.
        """
        given = check_grid(Cs)
        rows, _ = self._checked(X, y, sample_weight, offset)
        tasks = [part.task(bool(self.fit_intercept)) for part in self._parts(rows)]
        options = options_of(self)
        grid = grid_for(given, tasks, options.l1_ratio)
        return path_of([answers(task, grid, options) for task in tasks], grid)

    # -- one fit ----------------------------------------------------------------------------------

    def _checked(self, X: Any, y: Any, sample_weight: Any, offset: Any) -> tuple[Counted, Table]:
        self._check_parameters()
        table, labels = check_table(X), check_labels(y)
        check_lengths(table.n, len(labels.codes), "y")
        need_two_classes(labels, type(self).__name__)
        weights = weights_of_rows(labels, check_weights(sample_weight, table.n), self.class_weight)
        shift = None if offset is None else check_offset(offset, table.n, labels, self.multiclass)
        return Counted.of(table, labels, weights, shift, self.weights == "analytic"), table

    def _parts(self, rows: Counted) -> list[Counted]:
        """The rows, once, or once for each class against the rest."""
        labels, count = rows.labels, len(rows.labels.classes)
        if count == 2 or self.multiclass == "multinomial":
            return [rows]
        two = np.array([False, True])
        return [replace(rows, labels=Labels(two, (labels.codes == k).astype(np.intp))) for k in range(count)]

    def _start(self, rows: Counted) -> Floats | None:
        if not (self.warm_start and self.__sklearn_is_fitted__()):
            return None
        vectors = np.column_stack([self.coef_, self.intercept_])
        same = np.array_equal(self.classes_, rows.labels.classes) and vectors.shape[1] == rows.table.d + 1
        if not same:
            raise DataError("warm_start needs the columns and classes of the fit before: they have changed.")
        if not self.fit_intercept:
            vectors[:, -1] = 0.0
        return np.ascontiguousarray(vectors)

    def _fit(self, rows: Counted, table: Table, start: Floats | None) -> list[Fitted]:
        parts, options, done = self._parts(rows), options_of(self), list[Fitted]()
        many = len(parts) > 1
        try:
            for k, part in enumerate(parts):
                done.append(fit_one(part, options, start[k : k + 1] if start is not None and many else start))
        except KeyboardInterrupt as stop:
            if not isinstance(stop, Interruption) and self.__sklearn_is_fitted__():  # before anything was reached
                self.status_ = Status.INTERRUPTED
                raise
            classes = len(rows.labels.classes)
            nothing = np.zeros((1 if many or classes == 2 else classes, table.d + 1))
            reached = stop.at if isinstance(stop, Interruption) else nothing
            left = [reached, *[nothing] * (len(parts) - len(done) - 1)]
            self._store(rows, table, done + [Fitted(Answer(v, Status.INTERRUPTED, 0, None), "nothing") for v in left])
            raise
        return done

    # -- what is kept and said ----------------------------------------------------------------------

    def _store(self, rows: Counted, table: Table, fitted: list[Fitted]) -> None:
        vectors = np.vstack([f.answer.vectors for f in fitted])
        if not np.isfinite(vectors).all():
            raise DataError("the coefficients overflow: scale the columns of X.")
        self.classes_ = rows.labels.classes
        self.coef_ = np.ascontiguousarray(vectors[:, :-1])
        self.intercept_ = vectors[:, -1].copy()
        self._remember_features(table)
        statuses = [f.answer.status for f in fitted]
        self.status_ = next((s for s in statuses if s is not Status.OPTIMAL), Status.OPTIMAL)
        self.method_ = next((f.method for f in fitted if f.answer.status is self.status_), fitted[0].method)
        self.n_iter_ = max(f.answer.steps for f in fitted)
        gaps = [f.answer.gap for f in fitted if f.answer.gap is not None]
        self.gap_ = max(gaps) if gaps and len(gaps) == len(fitted) and np.isfinite(self.C) else None
        self.maxima_ = next((f.answer.maxima for f in fitted if f.answer.maxima is not None), None)
        dependent = sorted({j for f in fitted for j in f.dependent})
        names = rows.names if dependent else []
        self.unidentifiable_ = tuple(names[j] for j in dependent)
        known = [f.existence for f in fitted]
        alone = len(fitted) == 1
        self.separation_ = known[0] if alone else dict(zip(self.classes_.tolist(), known, strict=True))
        self._rows = rows
        loss = fitted[0].answer.loss
        if alone and loss is None:
            loss = rows.task(bool(self.fit_intercept)).loss(vectors)
        self.loglik_ = -loss if alone and loss is not None else None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}

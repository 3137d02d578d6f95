"""Logistic regression that knows when its answer does not exist."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import (
    CollinearWarning,
    DataError,
    InferenceError,
    IterationWarning,
    ParameterError,
    SeparationError,
    SeparationWarning,
)
from separatrix.learners.base import need_choice, need_flag, need_limit, need_number
from separatrix.learners.existence import Existence
from separatrix.learners.labels import BOUNDARIES, need_two_classes, weights_of_rows
from separatrix.learners.linear import LinearClassifier
from separatrix.learners.logistic_rows import Counted, check_offset
from separatrix.learners.logistic_task import Answer, Likelihood, ridge, standardised_ridge
from separatrix.maths.firth import likelihood_intercepts
from separatrix.maths.stopping import Status
from separatrix.validation import (
    Labels,
    Table,
    check_labels,
    check_lengths,
    check_table,
    check_weights,
)

if TYPE_CHECKING:
    from separatrix.inference.likelihood import FittedLikelihood
    from separatrix.inference.logistic import Influence, LogisticSummary

Floats = NDArray[np.float64]
ON_SEPARATION = ("auto", "firth", "ridge", "raise", "ignore")
FIRTH_PARAMETERS = 1000  # up to here "auto" answers separation with Firth's estimate, beyond with a ridge
SUBSTITUTE = {"firth": "Firth's bias-reduced estimate", "ridge": "a ridge (C=1 on standardised columns)"}


@dataclass(frozen=True)
class Fitted:
    """What one fit found: its vectors, how, and what is known of the maximum."""

    answer: Answer
    method: str
    existence: Existence | None = None
    dependent: tuple[int, ...] = ()


class LogisticRegression(LinearClassifier):
    """Logistic regression: unpenalised unless asked otherwise, and only where an estimate exists.

    Minimises, over w and b (the bias is never penalised),

        C sum c_i log(1 + exp(-y_i (w.x_i + b + o_i))) + |w|^2/2      for a finite C,
          sum c_i log(1 + exp(-y_i (w.x_i + b + o_i)))                for C = inf, the default:

    minus the log-likelihood. For K > 2 classes the loss is  log sum_k exp(s_ik) - s_i,y_i  with one vector a
    class. Unpenalised, a finite minimum exists exactly where the classes are neither completely nor
    quasi-completely separated (Albert and Anderson 1984); every unpenalised fit proves which holds. Where none
    exists it warns which coefficients are infinite, and fits what ``on_separation`` says instead.

    Parameters
    ----------
    C : float, default=inf
        Inverse strength of the penalty; inf for none.
    bias_reduction : None or "firth", default=None
        "firth" maximises  l + log|I|/2  (Firth 1993), which is finite whatever the separation.
    on_separation : {"auto", "firth", "ridge", "raise", "ignore"}, default="auto"
        What an unpenalised fit without a maximum does. "auto": Firth up to 1000 parameters, else "ridge" (C = 1
        on columns scaled to standard deviation 1). "raise": SeparationError. "ignore": keep the vectors at
        which the search was stopped, without a warning.
    multiclass : {"multinomial", "ovr"}, default="multinomial"
        For more than two classes: all at once, or each against the rest.
    fit_intercept : bool, default=True
    flic : bool, default=False
        After Firth's estimate, set the bias so that fitted probabilities add up to the class counts.
    class_weight : dict, "balanced" or None, default=None
    tol : float or None, default=None
        The relative duality gap at which a penalised fit ends, 1e-8 if None. Unpenalised fits run until the
        last digits settle.
    max_iter : int or inf, default=1000
    weights : {"frequency", "analytic"}, default="frequency"
        What sample_weight means. Frequencies count rows: a weight of two is the row twice, and standard errors
        shrink with it. Analytic weights say how rows compare, and are scaled to add up to the number of rows.
    warm_start : bool, default=False
        Begin at the vectors of the fit before.
    boundary : {"positive", "negative", "undefined"}, default="positive"
        What a score of zero predicts, for two classes.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (K, d) and (K,) for K > 2 classes, whose vectors then
        add up to zero where the penalty does not determine them otherwise
    classes_ : the labels, sorted; for two of them the score speaks for the second
    status_ : a :class:`separatrix.Status`: OPTIMAL, NO_MAXIMUM, ILL_CONDITIONED, MAX_ITERATIONS, INTERRUPTED
    method_ : "maximum likelihood", "ridge" or "Firth", with why if it is not what was asked for
    separation_ : whether a maximum exists, with its proof, or None where that was not the question;
        a dict by class for ``multiclass="ovr"``
    gap_ : relative duality gap of a penalised fit, else None
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
        boundary: str = "positive",
    ) -> None:
        self.C = C
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
        if not (isinstance(self.C, (int, float, np.number)) and not isinstance(self.C, bool) and self.C > 0):
            raise ParameterError(f"C is {self.C!r}: it must be a number above 0, or inf for no penalty.")
        if self.bias_reduction is not None:
            need_choice("bias_reduction", self.bias_reduction, ("firth",))
            if np.isfinite(self.C):
                raise ParameterError("bias_reduction='firth' has a penalty of its own: leave C at inf.")
        need_choice("on_separation", self.on_separation, ON_SEPARATION)
        need_choice("multiclass", self.multiclass, ("multinomial", "ovr"))
        need_choice("weights", self.weights, ("frequency", "analytic"))
        need_choice("boundary", self.boundary, BOUNDARIES)
        need_flag("fit_intercept", self.fit_intercept)
        need_flag("flic", self.flic)
        need_flag("warm_start", self.warm_start)
        need_limit("max_iter", self.max_iter, 1)
        if self.tol is not None:
            need_number("tol", self.tol, above=0.0)
        if self.flic and not self.fit_intercept:
            raise ParameterError("flic=True sets the bias, but fit_intercept is False: allow a bias.")

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Fit all rows; ``offset`` is added to their scores (one number a row, or one a class for K > 2)."""
        self._check_parameters()
        table, labels = check_table(X), check_labels(y)
        check_lengths(table.n, len(labels.codes), "y")
        need_two_classes(labels, type(self).__name__)
        weights = weights_of_rows(labels, check_weights(sample_weight, table.n), self.class_weight)
        shift = None if offset is None else check_offset(offset, table.n, labels, self.multiclass)
        rows = Counted.of(table, labels, weights, shift, self.weights == "analytic")
        start = self._start(rows)
        try:
            fitted = self._fit(rows, start)
        except KeyboardInterrupt:
            if not self.__sklearn_is_fitted__():
                zeros = np.zeros((1 if len(labels.classes) == 2 else len(labels.classes), table.d + 1))
                self._store(rows, table, [Fitted(Answer(zeros, Status.INTERRUPTED, 0, np.nan), "nothing")])
            self.status_ = Status.INTERRUPTED
            raise
        self._store(rows, table, fitted)
        self._tell(fitted, rows)
        return self

    # -- one fit ----------------------------------------------------------------------------------

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

    def _fit(self, rows: Counted, start: Floats | None) -> list[Fitted]:
        labels, count = rows.labels, len(rows.labels.classes)
        if count == 2 or self.multiclass == "multinomial":
            return [self._fit_one(rows, start)]
        parts = []
        for k in range(count):
            codes = (labels.codes == k).astype(np.intp)
            part = replace(rows, labels=Labels(np.array([False, True]), codes))
            parts.append(self._fit_one(part, None if start is None else start[k : k + 1]))
        return parts

    def _fit_one(self, rows: Counted, start: Floats | None) -> Fitted:
        task = rows.task(bool(self.fit_intercept))
        if np.isfinite(self.C):
            tol = 1e-8 if self.tol is None else float(self.tol)
            return Fitted(ridge(task, 1.0 / float(self.C), tol, self.max_iter, start), "ridge")
        given = rows.given(bool(self.fit_intercept))
        fit = Likelihood(task, self.max_iter, start, search=self.bias_reduction is None)
        if self.bias_reduction == "firth":
            return self._firth(fit, "Firth", None)
        existence = Existence("overlap", "circulation", given) if fit.settled else Existence.decide(given)
        if existence.exists:
            fit.go_on()
            return Fitted(fit.answer(), "maximum likelihood", existence, fit.dependent)
        choice = self.on_separation
        if choice == "auto":
            choice = "firth" if fit.parameters <= FIRTH_PARAMETERS else "ridge"
        if choice == "raise":
            raise SeparationError(
                existence.sentence(task.free) + "; fit with a penalty (C=), with bias_reduction='firth', "
                "or let on_separation choose."
            )
        if choice == "ignore":
            answer = replace(fit.answer(), status=Status.NO_MAXIMUM)
            return Fitted(answer, "maximum likelihood, stopped: no finite maximum exists", existence, fit.dependent)
        if choice == "firth":
            return self._firth(fit, "Firth, since no finite maximum of the likelihood exists", existence)
        answer = replace(standardised_ridge(task, self.tol, self.max_iter), status=Status.NO_MAXIMUM)
        return Fitted(answer, "ridge (C=1, standardised), since no finite maximum of the likelihood exists", existence)

    def _firth(self, fit: Likelihood, method: str, existence: Existence | None) -> Fitted:
        answer, _ = fit.firth()
        if self.flic:
            vectors = answer.vectors.copy()
            scores = fit.whole.scores(vectors)
            shift = likelihood_intercepts(scores, fit.whole.codes, fit.whole.weights)
            vectors[:, -1] += shift[1:] - shift[0] if len(vectors) == 1 else shift - shift.mean()
            answer, method = replace(answer, vectors=vectors), method.replace("Firth", "Firth with FLIC", 1)
        if existence is not None and answer.status is Status.OPTIMAL:
            answer = replace(answer, status=Status.NO_MAXIMUM)
        return Fitted(answer, method, existence, fit.dependent)

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
        names = rows.names
        self.unidentifiable_ = tuple(names[j] for j in sorted({j for f in fitted for j in f.dependent}))
        known = [f.existence for f in fitted]
        alone = len(fitted) == 1
        self.separation_ = known[0] if alone else dict(zip(self.classes_.tolist(), known, strict=True))
        self._rows = rows
        self.loglik_ = -rows.task(bool(self.fit_intercept)).loss(vectors) if alone else None

    def _tell(self, fitted: list[Fitted], rows: Counted) -> None:
        """One warning for what the numbers alone do not say."""
        apart = [(k, f) for k, f in enumerate(fitted) if f.existence is not None and not f.existence.exists]
        if apart and self.on_separation != "ignore":
            k, first = apart[0]
            assert first.existence is not None
            parameters = (rows.table.d + 1) * max(1, len(rows.labels.classes) - 1) if len(fitted) == 1 else rows.table.d
            text = first.existence.sentence(parameters)
            if len(fitted) > 1:
                others = f" (and {len(apart) - 1} more classes)" if len(apart) > 1 else ""
                text = f"class {self.classes_.tolist()[k]!r} against the rest{others}: {text}"
            what = SUBSTITUTE["ridge" if "ridge" in first.method else "firth"]
            warnings.warn(
                f"{text}. Fitted {what} instead; see separation_, or choose on_separation.",
                SeparationWarning,
                stacklevel=3,
            )
        elif self.unidentifiable_:
            some = ", ".join(map(repr, self.unidentifiable_[:6])) + (", …" if len(self.unidentifiable_) > 6 else "")
            warnings.warn(
                f"columns depend on each other ({some}), so that their coefficients are not determined one by one: "
                "the shortest w is given; drop columns, or penalise.",
                CollinearWarning,
                stacklevel=3,
            )
        if self.status_ in (Status.MAX_ITERATIONS, Status.ILL_CONDITIONED, Status.NONFINITE):
            warnings.warn(f"not at the optimum: {self.status_.value}.", IterationWarning, stacklevel=3)

    # -- inference ----------------------------------------------------------------------------------

    def summary(
        self, *, level: float = 0.95, intervals: str = "wald", covariance: str = "model", groups: Any = None
    ) -> LogisticSummary:
        """Estimates with standard errors, tests and intervals, and the quality of the fit.

        Parameters
        ----------
        level : of the intervals
        intervals : "wald" (estimate plus and minus errors), or "profile" for two classes: where the likelihood
            ratio test accepts; of the penalised likelihood after Firth. An end that does not exist is infinite.
        covariance : "model" (inverse information), "robust" (sandwich), or "cluster" with ``groups``
        groups : one label a row, for "cluster"

        With more than two classes the coefficients are of the log-odds of a class against the first. Refused
        where errors would mean nothing: after a penalised or class-weighted fit, or without a maximum. The rows
        of the fit are looked at again, by reference: they must not have changed.
        """
        from separatrix.inference.logistic import summarise

        fitted, rows = self._fitted_likelihood()
        classes = [str(c) for c in self.classes_.tolist()]
        columns = rows.names + (["intercept"] if self.fit_intercept else [])
        many = len(classes) > 2
        names = [f"{c}:{name}" if many else name for c in classes[1:] for name in columns]
        outcome = f"log-odds against {classes[0]}" if many else f"log-odds of {classes[1]} against {classes[0]}"
        return summarise(
            fitted,
            names,
            self.method_,
            outcome,
            level=level,
            intervals=intervals,
            covariance=covariance,
            groups=groups if groups is None or rows.origin is None else np.asarray(groups)[rows.origin],
            frequencies=self.weights == "frequency",
        )

    def influence(self) -> Influence:
        """Leverage, residuals, Cook's distance and the change of the estimate without each row that counts."""
        from separatrix.inference.logistic import influence_of

        return influence_of(self._fitted_likelihood()[0])

    def likelihood_ratio_test(self, smaller: LogisticRegression) -> tuple[float, int, float]:
        """Twice the gain in log-likelihood over a nested model of the same rows, degrees of freedom, and p."""
        from separatrix.inference.logistic import chi2_tail

        (large, rows), (small, others) = self._fitted_likelihood(), smaller._fitted_likelihood()
        if large.penalised or small.penalised:
            raise InferenceError("the likelihood ratio test compares maximum-likelihood fits: one is Firth's.")
        if rows.table.n != others.table.n or not np.array_equal(rows.labels.codes, others.labels.codes):
            raise DataError("the two models are of different rows: fit them to the same ones.")
        df = large.estimate.size - small.estimate.size
        if df <= 0:
            raise DataError("the other model has as many coefficients: it is not nested in this one.")
        statistic = 2.0 * (large.loglik - small.loglik)
        return statistic, df, chi2_tail(statistic, df)

    def _fitted_likelihood(self) -> tuple[FittedLikelihood, Counted]:
        """The fit as a likelihood, or why its errors would mean nothing."""
        from separatrix.inference.likelihood import FittedLikelihood

        self._check_fitted()
        rows: Counted | None = self.__dict__.get("_rows")
        reason = None
        if np.isfinite(self.C) or "ridge" in self.method_:
            reason = "the estimates are shrunk by a penalty, so that standard errors would not cover the truth"
        elif self.class_weight is not None:
            reason = "class weights change what is estimated, and inverse information is not its variance"
        elif len(self.classes_) > 2 and self.multiclass == "ovr":
            reason = "one-against-rest fits have no common likelihood: use multiclass='multinomial'"
        elif self.status_ is not Status.OPTIMAL and "Firth" not in self.method_:
            reason = f"the fit did not end at a maximum ({self.status_.value})"
        elif "FLIC" in self.method_:
            reason = "the bias was moved after Firth's fit: fit with flic=False"
        elif self.unidentifiable_:
            reason = f"columns depend on each other ({', '.join(self.unidentifiable_[:6])}): drop some first"
        elif rows is None:
            reason = "a stored model has no rows: fit again"
        if reason is not None or rows is None:
            raise InferenceError(f"there is no summary: {reason}.")
        vectors = np.column_stack([self.coef_, self.intercept_])
        task = rows.task(bool(self.fit_intercept))
        if not np.isclose(-task.loss(vectors), float(self.loglik_ or 0.0), rtol=1e-9, atol=1e-12):
            raise DataError("the rows of the fit have changed since: fit again.")
        against = vectors if len(vectors) == 1 else vectors[1:] - vectors[0]
        return FittedLikelihood(task, against if self.fit_intercept else against[:, :-1], "Firth" in self.method_), rows

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_rows"}

    # -- probabilities ------------------------------------------------------------------------------

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, one column a class."""
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, right also where these are too small to be numbers."""
        s = self.decision_function(X)
        if s.ndim == 1:
            return -np.column_stack([np.logaddexp(0.0, s), np.logaddexp(0.0, -s)])
        if self.multiclass == "ovr":
            own = -np.logaddexp(0.0, -s)
            return np.asarray(own - np.logaddexp.reduce(own, axis=1)[:, None])
        return np.asarray(s - np.logaddexp.reduce(s, axis=1)[:, None])

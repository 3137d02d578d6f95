"""What a logistic fit says of its errors: summary, influence, nested tests, and reasons where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import DataError, InferenceError
from separatrix.learners.linear import LinearClassifier
from separatrix.learners.logistic_rows import Counted
from separatrix.maths.stopping import Status

if TYPE_CHECKING:
    from separatrix.inference.likelihood import FittedLikelihood
    from separatrix.inference.logistic import Influence, LogisticSummary

Floats = NDArray[np.float64]


class LogisticInference(LinearClassifier):
    """Inference from the rows of a fit, which it keeps by reference; a subclass is the learner."""

    C: float
    class_weight: Any
    fit_intercept: bool
    multiclass: str
    weights: str
    method_: str
    status_: Status
    loglik_: float | None
    unidentifiable_: tuple[str, ...]

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

    def likelihood_ratio_test(self, smaller: LogisticInference) -> tuple[float, int, float]:
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

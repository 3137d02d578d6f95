"""What a logistic fit says: probabilities, summary, influence, nested tests, and reasons where there are none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError, InferenceError
from separatrix.models.linear_predictors import LinearClassifier, agreeing, log_softmax, two_probabilities
from separatrix.models.logistic.after_logistic import AfterLogistic
from separatrix.models.logistic.grouped import check_offset
from separatrix.models.logistic.problem import UsedRows
from separatrix.numerics.status import Status
from separatrix.validation import Labels, check_lengths, count_rows, distinct_names
from separatrix.validation.table import need_same_index

if TYPE_CHECKING:
    from separatrix.models.logistic.fitted_facts import FittedFacts
    from separatrix.models.logistic.likelihood import FittedLikelihood
    from separatrix.models.logistic.logistic_summary import LogisticSummary
    from separatrix.models.logistic.row_influence import LogisticInfluence


class LogisticInference(LinearClassifier, AfterLogistic):
    """Probabilities, and inference from the rows of a fit, kept by reference; a subclass is the learner."""

    C: float
    class_weight: Any
    fit_intercept: bool
    multiclass: str
    weights: str
    method_: str
    status_: Status
    loglik_: float | None
    unidentifiable_: tuple[str, ...]
    separation_: Any
    _facts: FittedFacts | None

    def predict_proba(self, X: Any, *, offset: Any = None) -> Floats:
        """The probability of each class, one column a class; ``predict`` gives the first with the greatest.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        offset : array or None
            Added to the scores, as in ``fit``: one number a row, or one a class for K > 2. None: the offset of the
            formula, if it has one.

        Returns
        -------
        array of shape (n, K)

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).predict_proba([[2.5]]).round(3)
        array([[0.5, 0.5]])
        """
        s = self.decision_function(X) if offset is None else self._scores_around(X, offset)
        if s.ndim == 1:
            return two_probabilities(s, self.boundary)
        return kernels.in_blocks(lambda s: agreeing(np.exp(self._log_probabilities(s)), s), s)

    def decision_function(self, X: Any) -> Floats:
        """s(x) = w . x + b for each row, and the offset of the formula; one column per class for more than two.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).decision_function([[2.5], [4.0]]).round(3)
        array([0.   , 1.821])
        """
        self._check_fitted()
        shift = self._named_offset(X)
        scores = super().decision_function(X)
        return scores if shift is None else scores + shift

    def _scores_around(self, X: Any, offset: Any) -> Floats:
        """Scores of rows around another offset than that of the formula."""
        scores = super().decision_function(X)
        need_same_index(X, offset, "offset")
        return scores + check_offset(
            offset, len(scores), Labels(self.classes_, np.zeros(0, dtype=np.intp)), self.multiclass
        )

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of the probabilities, right also where these are too small to be numbers.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n, K)

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).predict_log_proba([[1000.0]]).round(0)
        array([[-1211.,    -0.]])
        """
        return kernels.in_blocks(self._log_probabilities, self.decision_function(X))

    def _log_probabilities(self, s: Floats) -> Floats:
        if s.ndim == 1:
            return -np.column_stack([np.logaddexp(0.0, s), np.logaddexp(0.0, -s)])
        if self.multiclass == "ovr":
            return log_softmax(-np.logaddexp(0.0, -s))
        return log_softmax(s)

    def summary(
        self,
        *,
        level: float = 0.95,
        intervals: str = "auto",
        covariance: str = "model",
        groups: Any = None,
        lags: int | None = None,
    ) -> LogisticSummary:
        """Estimates with standard errors, tests and intervals, and the quality of the fit.

        Parameters
        ----------
        level : of the intervals
        intervals : "wald" (estimate plus and minus errors), "profile": where the likelihood ratio test
            accepts, of the penalised likelihood after Firth; or "auto": profile after Firth's fit and where no finite
            maximum exists, else Wald. Tests and p-values are of the same kind. An end that does not exist is infinite.
        covariance : "model" (inverse information), "HC0" (sandwich) to "HC3", "cluster" with ``groups``, or "HAC"
            (Newey and West, for rows in the order of time); intervals are then Wald's
        groups : one label a row, for "cluster"
        lags : for "HAC"; by default 4 (n/100)^(2/9)

        Returns
        -------
        LogisticSummary

        Notes
        -----
        With more than two classes the coefficients are of the log-odds of a class against the first. A column
        that is a linear combination of the intercept and columns before it is marked "aliased", and the others are
        those of the model without it, as in R. Refused
        where errors would mean nothing: after a penalised or class-weighted fit, or without a maximum; but of
        separated classes fitted with ``on_separation="ignore"`` profiles are given, with infinite estimates and
        one-sided intervals (a, ∞) where these are the truth; more than two classes are then compared with the
        last one, as in ``separation_.coefficients``. The rows of the fit are looked at again, by reference: they
        must not have changed. Models from files and pickles have no rows: their summaries have the Wald intervals
        of the model's covariance, and the profile that was made last.

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> line = LogisticRegression().fit(X, y).summary()["x0"]
        >>> round(line.coef, 3), round(line.std_err, 3)
        (1.214, 0.913)
        """
        from separatrix.models.logistic.logistic_summary import summarise

        facts, fitted, rows = self._inference()
        groups = self._groups_of_fit(groups)
        if groups is not None and rows is not None and rows.origin is not None:
            check_lengths(rows.source.table.n, count_rows(groups, what="groups"), "groups")
            groups = np.asarray(groups)[rows.origin]
        summary, self._facts = summarise(
            facts,
            fitted,
            self.method_,
            level=level,
            intervals=intervals,
            covariance=covariance,
            groups=groups,
            lags=lags,
            frequencies=self.weights == "frequency",
            n_dropped=int(getattr(self, "n_dropped_", 0)),
            grouped=None if rows is None else rows.grouped,
            notes=self._said_of_rows(),
        )
        return summary

    def _said_of_rows(self) -> tuple[str, ...]:
        """Notes about what the rows are: trials, and reference levels."""
        kept: dict[str, Any] = self.__dict__.get("trials_") or {}
        trials = "{trials:,} trials, {successes:,} successes; the log-likelihood is that of the counts"
        return ((trials.format(**kept),) if kept else ()) + self._reference_note()

    def _inference(self) -> tuple[FittedFacts, FittedLikelihood | None, UsedRows | None]:
        """What is known about the fit: from its rows, or what was stored with it."""
        from separatrix.models.logistic.fitted_facts import FittedFacts

        self._check_fitted()
        if (reason := self._why_not()) is not None:
            raise InferenceError(f"there is no summary: {reason}.")
        stored: FittedFacts | None = self.__dict__.get("_facts")
        if self.__dict__.get("_rows") is None:
            if stored is None:
                raise InferenceError("there is no summary: a stored model has no rows: fit again.")
            return stored, None, None
        fitted, rows = self._fitted_likelihood()
        if stored is None:
            columns = [*rows.names, *(["intercept"] if self.fit_intercept else [])]
            classes = [str(c) for c in self.classes_.tolist()]
            many = len(classes) > 2
            base = classes.pop(-1 if many and fitted.fates is not None else 0)
            names = distinct_names([f"{c}:{name}" if many else name for c in classes for name in columns])
            outcome = f"log-odds against {base}" if many else f"log-odds of {classes[0]} against {base}"
            aliased = np.tile(np.isin(np.arange(len(columns)), fitted.aliased), len(classes))
            alone, fitted = fitted, self._with_pseudo_rows(fitted, rows)
            stored = FittedFacts.of(fitted, alone, tuple(names), aliased, outcome, rows.grouped)
            return stored, fitted, rows
        return stored, self._with_pseudo_rows(fitted, rows), rows

    def _with_pseudo_rows(self, fitted: FittedLikelihood, rows: UsedRows) -> FittedLikelihood:
        """The likelihood that FLAC maximised; others are as they are."""
        if rows.leverages is None:
            return fitted
        from separatrix.models.logistic.likelihood import added_likelihood

        made = added_likelihood(fitted.problem, fitted.estimate, rows.leverages)
        return replace(made, aliased=fitted.aliased)

    def _stored_facts(self) -> FittedFacts | None:
        """What a copy or a file keeps of the fit; None where that is unknown, or would take long."""
        from separatrix.models.logistic.fitted_facts import MOST_WORK

        rows: UsedRows | None = self.__dict__.get("_rows")
        if self.__dict__.get("_facts") is not None or rows is None:
            return self.__dict__.get("_facts")
        work = rows.table.n * ((rows.table.d + 1) * (len(self.classes_) - 1)) ** 2
        if work > MOST_WORK or self._why_not() is not None or "stopped" in self.method_:
            return None
        try:
            self._facts = self._inference()[0]
        except (InferenceError, DataError):
            return None
        return self._facts

    def _kept(self) -> dict[str, Any]:
        facts = self._stored_facts()
        return {} if facts is None else facts.to_dict()

    def _restore(self, kept: dict[str, Any]) -> None:
        from separatrix.models.logistic.fitted_facts import FittedFacts

        self._facts = FittedFacts.from_dict(kept) if kept else None

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_rows", *self._of_rows)}
        return state if not self.__sklearn_is_fitted__() else {**state, "_facts": self._stored_facts()}

    def influence(self) -> LogisticInfluence:
        """Leverage, residuals, Cook's distance and the change of the estimate without each row that counts.

        Returns
        -------
        LogisticInfluence
            A table with columns leverage, pearson, deviance, studentized, cooks_distance and dfbetas:NAME for each
            coefficient; ``to_frame()`` makes a frame of it. Of grouped outcomes its rows are the groups.

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).influence().leverage.round(2)
        array([0.28, 0.38, 0.34, 0.34, 0.38, 0.28])
        """
        from separatrix.models.logistic.row_influence import influence_of

        fitted, rows = self._at_a_maximum()
        facts = self._inference()[0]
        names = [name for name, gone in zip(facts.names, facts.aliased, strict=True) if not gone]
        return influence_of(fitted, names, rows.grouped, self._row_index)

    def likelihood_ratio_test(self, smaller: LogisticInference) -> tuple[float, int, float]:
        """Twice the gain in log-likelihood over a nested model of the same rows, degrees of freedom, and p.

        Parameters
        ----------
        smaller : LogisticRegression
            Fitted on the same rows, with some of the columns.

        Returns
        -------
        (float, int, float)
            Statistic, degrees of freedom, p.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LogisticRegression
        >>> X = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1], [5, 2], [2, 0], [3, 2]], dtype=float)
        >>> y = [0, 0, 1, 0, 1, 1, 1, 0]
        >>> full, smaller = LogisticRegression().fit(X, y), LogisticRegression().fit(X[:, :1], y)
        >>> statistic, freedom, p = full.likelihood_ratio_test(smaller)
        >>> round(statistic, 3), freedom, round(p, 3)
        (0.098, 1, 0.754)
        """
        from separatrix.statistics.anova import spans
        from separatrix.statistics.distributions import chi2_tail

        (large, rows), (small, others) = self._comparable(), smaller._comparable()
        if large.penalised != small.penalised:
            raise InferenceError("the likelihood ratio test compares fits of one kind: one is Firth's, the other not.")
        if rows.table.n != others.table.n or not np.array_equal(rows.labels.codes, others.labels.codes):
            raise DataError("the two models are of different rows: fit them to the same ones.")
        if not (_same(rows.weights, others.weights) and _same(rows.offset, others.offset)):
            raise DataError("the two models have different weights or offsets: fit them with the same ones.")
        df = large.estimate.size - small.estimate.size
        if df <= 0 or not spans(large.lifted, small.lifted):
            raise DataError("the other model is not nested in this one: its columns must be combinations of these.")
        statistic = 2.0 * (large.loglik - small.loglik)
        if large.penalised:
            held = np.array([not any(np.array_equal(x, other) for other in small.lifted.T) for x in large.lifted.T])
            if int(held.sum()) * (large.problem.classes - 1) != df:
                raise DataError("Firth's fits are compared by columns: the smaller must have some of the larger's.")
            statistic = 2.0 * (large.maximum - large.penalised_without(held))
        return statistic, df, chi2_tail(statistic, df)

    def _at_a_maximum(self) -> tuple[FittedLikelihood, UsedRows]:
        fitted, rows = self._fitted_likelihood()
        if fitted.fates is not None:
            raise InferenceError(f"the fit did not end at a maximum ({self.status_.value}).")
        return fitted, rows

    def _comparable(self) -> tuple[FittedLikelihood, UsedRows]:
        """The fit, if the likelihoods of models with fewer columns are those of the same rows."""
        fitted, rows = self._at_a_maximum()
        if rows.leverages is not None:
            raise InferenceError(
                "the pseudo-rows of FLAC are those of one model: compare fits of bias_reduction='firth'."
            )
        return fitted, rows

    def _row_index(self, n: int) -> Any:
        rows: UsedRows | None = self.__dict__.get("_rows")
        if rows is None or rows.origin is None or len(rows.origin) != n:
            return super()._row_index(n)
        return super()._row_index(rows.source.table.n)[rows.origin]  # rows of weight zero are not among the n

    def _why_not(self) -> str | None:
        """Why errors would mean nothing, or None."""
        rows: UsedRows | None = self.__dict__.get("_rows")
        apart = self.status_ is Status.NO_MAXIMUM and "stopped" in self.method_
        if np.isfinite(self.C) or "ridge" in self.method_:
            return "the estimates are shrunk by a penalty, so that standard errors would not cover the truth"
        if self.class_weight is not None:
            return "class weights change what is estimated, and inverse information is not its variance"
        if len(self.classes_) > 2 and self.multiclass == "ovr":
            return "one-against-rest fits have no common likelihood: use multiclass='multinomial'"
        if self.status_ is not Status.OPTIMAL and "Firth" not in self.method_ and not apart:
            return f"the fit did not end at a maximum ({self.status_.value})"
        if self.unidentifiable_ and apart:
            return f"columns are linearly dependent ({', '.join(self.unidentifiable_[:6])}): drop some first"
        if rows is not None and self.weights == "frequency" and rows.fractional:
            return "sample_weight has fractions, which count no rows: fit with weights='analytic'"
        return None

    def _fitted_likelihood(self) -> tuple[FittedLikelihood, UsedRows]:
        """The fit as a likelihood, or why its errors would mean nothing."""
        from separatrix.models.logistic.likelihood import (
            FittedLikelihood,
            against_the_last,
            on_the_way,
            without_aliased,
        )

        self._check_fitted()
        rows: UsedRows | None = self.__dict__.get("_rows")
        reason = self._why_not() or ("a stored model has no rows: fit again" if rows is None else None)
        if reason is not None or rows is None:
            raise InferenceError(f"there is no summary: {reason}.")
        vectors = np.column_stack([self.coef_, self.intercept_])
        problem = rows.problem(bool(self.fit_intercept))
        if not np.isclose(-problem.loss_at(vectors), float(self.loglik_ or 0.0), rtol=1e-9, atol=1e-12):
            raise DataError("the rows of the fit have changed since: fit again.")
        against = problem.against_first(vectors)
        penalised = "Firth" in self.method_ and rows.leverages is None
        if self.unidentifiable_:
            return without_aliased(problem, against, penalised), rows
        if not (self.status_ is Status.NO_MAXIMUM and "stopped" in self.method_):
            return FittedLikelihood(problem, against, penalised), rows
        if len(vectors) > 1:
            problem, against = against_the_last(problem, vectors)
            against = against if self.fit_intercept else against[:, :-1]
        fates = tuple(self.separation_.coefficients.values())
        return FittedLikelihood(problem, on_the_way(problem, against), False, fates), rows


def _same(a: Floats | None, b: Floats | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))

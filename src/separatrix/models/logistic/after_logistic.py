"""Analysis of deviance, deletions of terms, marginal effects and predictions with errors, of logistic regression."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import InferenceError
from separatrix.models.logistic.binary_loss import dense
from separatrix.statistics.after_fit import AfterFit, aliased_of
from separatrix.statistics.distributions import need_level, quantile
from separatrix.statistics.result_table import ResultTable

if TYPE_CHECKING:
    from separatrix.statistics.anova import Without
    from separatrix.statistics.summary import Summary

PENALISED = "penalised likelihood ratios, with the determinant of the whole model"


class AfterLogistic(AfterFit):
    """What follows a logistic fit."""

    def _wald_summary(self, options: dict[str, Any]) -> Summary:
        return self.summary(intervals="wald", **options)  # type: ignore[attr-defined, no-any-return]  # of the estimator

    def _without(self) -> tuple[Without, list[str], bool]:
        """The maximum of the (penalised) likelihood without some terms, by refitting; the terms; whether penalised."""
        model: Any = self
        fitted, rows = model._at_a_maximum()
        summary = self._wald_summary({})
        if aliased_of(summary).any():
            raise InferenceError("columns are linearly dependent, so that terms overlap: drop the aliased ones first.")
        own: dict[str, tuple[int, ...]] | None = getattr(self, "terms_", None)
        places = own if own is not None else {name: (j,) for j, name in enumerate(rows.names)}
        known: dict[frozenset[str], tuple[float, int]] = {}

        def without(gone: frozenset[str]) -> tuple[float, int]:
            if gone not in known:
                held = np.zeros(fitted.lifted.shape[1], dtype=bool)
                held[[j for term in gone for j in places[term]]] = True
                count = int((~held).sum()) * (fitted.problem.classes - 1)
                if fitted.penalised:
                    known[gone] = fitted.penalised_without(held) if held.any() else fitted.maximum, count
                else:
                    known[gone] = fitted.loglik_without(held) if held.any() else fitted.loglik, count
            return known[gone]

        return without, list(places), fitted.penalised

    def anova(self, *, kind: str = "I") -> ResultTable:
        """Likelihood ratio tests of the terms; of the penalised likelihood after Firth.

        Parameters
        ----------
        kind : {"I", "II", "III"}
            Terms added in their order (as R's anova), each beside all terms that do not contain it, or each beside all
            others. Terms are those of the formula, or the columns.

        Returns
        -------
        ResultTable
            With columns df, stat (chi-squared), p.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LogisticRegression
        >>> X = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1], [5, 2], [2, 0], [3, 2]], dtype=float)
        >>> y = [0, 0, 1, 0, 1, 1, 1, 0]
        >>> LogisticRegression().fit(X, y).anova()["stat"].round(3)
        array([2.229, 0.098])
        """
        from separatrix.statistics.anova import deviance_table

        without, terms, penalised = self._without()
        return deviance_table(
            without, terms, kind, f"Analysis of deviance, type {kind}", PENALISED if penalised else ""
        )

    def drop1(self) -> ResultTable:
        """The model without each term: AIC, and the likelihood ratio test of the term.

        Returns
        -------
        ResultTable
            With columns df, aic, stat (chi-squared), p; the first row is the whole model. After Firth the criterion is
            of the penalised likelihood.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LogisticRegression
        >>> X = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1], [5, 2], [2, 0], [3, 2]], dtype=float)
        >>> y = [0, 0, 1, 0, 1, 1, 1, 0]
        >>> LogisticRegression().fit(X, y).drop1()["p"].round(3)
        array([  nan, 0.199, 0.754])
        """
        from separatrix.statistics.anova import deviance_table, drop_table

        without, terms, penalised = self._without()
        test = deviance_table(without, terms, "III", "", PENALISED if penalised else "")
        return drop_table(without, terms, lambda value, count: 2.0 * count - 2.0 * value, test)

    def marginal_effects(
        self, *, at: str = "overall", dummy: bool = False, level: float = 0.95, **options: Any
    ) -> ResultTable:
        """Change of the probability of the second class with each column, with errors by the delta method.

        Parameters
        ----------
        at : {"overall", "mean", "median", "zero"}
            The average over the rows of the fit, or the effect at one point.
        dummy : bool
            Whether columns of zeros and ones have the difference between 1 and 0 instead of the slope.
        level : float
            Of the intervals.
        **options
            As in ``summary``: covariance, groups, lags.

        Returns
        -------
        ResultTable
            With columns effect, std_err, stat, p, low, high.

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).marginal_effects()["effect"].round(3)
        array([0.159])
        """
        from separatrix.statistics.marginal_effects import effects

        need_level(level)
        model: Any = self
        if len(model.classes_) > 2:
            raise InferenceError("marginal effects are of two classes: compare one class with the others.")
        fitted, _ = model._at_a_maximum()
        if fitted.offset is not None:
            raise InferenceError("marginal effects of a fit with an offset are not defined here: fit without it.")
        summary = self._wald_summary(options)
        kept = ~aliased_of(summary)
        beta, V = summary.coef[kept], summary.covariance[np.ix_(kept, kept)]
        lift = bool(model.fit_intercept)
        names = [name for name, own in zip(summary.names, kept, strict=True) if own][: len(beta) - int(lift)]
        X = dense(fitted.problem.X)
        return effects(X, fitted.counts, beta, V, names, at=at, dummy=dummy, level=level, lift=lift)

    def predict_table(self, X: Any, *, level: float = 0.95, offset: Any = None) -> ResultTable:
        """Probabilities of the second class, with standard errors by the delta method and intervals.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        level : float
            Of the intervals, whose ends are Wald's on the scale of the log-odds.
        offset : array or None
            Added to the scores of the rows.

        Returns
        -------
        ResultTable
            With columns mean, std_err, low, high.

        Examples
        --------
        >>> from separatrix import LogisticRegression
        >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
        >>> LogisticRegression().fit(X, y).predict_table([[2.5]])["std_err"].round(3)
        array([0.282])
        """
        from separatrix.statistics.marginal_effects import logistic
        from separatrix.validation import check_finite_vector, check_lengths

        need_level(level)
        model: Any = self
        if len(model.classes_) > 2:
            raise InferenceError("errors of predicted probabilities are for two classes: compare one with the others.")
        summary = self._wald_summary({})
        kept = ~aliased_of(summary)
        if not kept.all():
            raise InferenceError("columns are linearly dependent: drop the aliased ones first.")
        table = model._check_rows(X)
        L = dense(table.X)
        L = np.column_stack([L, np.ones(len(L))]) if model.fit_intercept else L
        score = L @ summary.coef
        if offset is not None:
            shift = check_finite_vector(offset, what="offset")
            check_lengths(table.n, len(shift), "offset")
            score = score + shift
        error = np.sqrt(np.einsum("ij,jk,ik->i", L, summary.covariance, L, optimize=True))
        half = quantile(level, math.inf) * error
        p = logistic(score)
        columns = {"mean": p, "std_err": p * (1 - p) * error, "low": logistic(score - half)}
        columns["high"] = logistic(score + half)
        return ResultTable("Predicted probabilities", tuple(str(i) for i in range(table.n)), columns)

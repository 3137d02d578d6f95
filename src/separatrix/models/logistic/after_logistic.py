"""Analysis of deviance, deletions of terms, marginal effects and predictions with errors, of logistic regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import InferenceError
from separatrix.losses.logistic import dense
from separatrix.models.fitted_plots import FittedPlots
from separatrix.models.logistic.grouped import check_offset
from separatrix.statistics.after_fit import AfterFit, aliased_of, need_determined
from separatrix.statistics.distributions import need_level
from separatrix.statistics.summary import ResultTable
from separatrix.validation import Labels
from separatrix.validation.table import index_of, need_same_index

if TYPE_CHECKING:
    from separatrix.plotting.fit_pictures import PicturedRows
    from separatrix.statistics.anova import Without
    from separatrix.statistics.marginal_effects import ClassModel
    from separatrix.statistics.summary import Summary

Terms = dict[str, tuple[int, ...]]  # the positions of the columns of each

PENALISED = "penalised likelihood ratios, with the determinant of the whole model"


class AfterLogistic(FittedPlots, AfterFit):
    """What follows a logistic fit."""

    def _picture_rows(self) -> PicturedRows:
        from separatrix.plotting.fit_pictures import PicturedRows

        model: Any = self
        if len(model.classes_) > 2:
            raise InferenceError("pictures of residuals are for two classes: compare one class with the others.")
        fitted, rows = model._at_a_maximum()
        found, p = model.influence(), fitted.probabilities[:, 1]
        hits, trials = fitted.counts * (fitted.problem.codes == 1), fitted.counts
        used = np.ones(len(p), dtype=bool)
        if rows.grouped is not None:
            whole, used = np.zeros(len(rows.grouped.trials)), rows.grouped.trials > 0
            whole[rows.grouped.units] = p
            p, hits, trials = whole[used], rows.grouped.total(hits)[used], rows.grouped.trials[used]
        inside = (found["studentized"][used], found["leverage"][used], found["cooks_distance"][used])
        return PicturedRows(p, found["deviance"][used], "deviance residual", *inside, hits, trials)

    def _wald_summary(self, options: dict[str, Any]) -> Summary:
        return self.summary(intervals="wald", **options)  # type: ignore[attr-defined, no-any-return]  # of the estimator

    def _without(self) -> tuple[Without, list[str], str]:
        """The maximum of the (penalised) likelihood without some terms, by refitting; the terms; a note on them."""
        from separatrix.statistics.anova import ALIASED

        model: Any = self
        fitted, rows = model._comparable()
        own: Terms | None = getattr(self, "terms_", None)
        whole: Terms = own if own is not None else {name: (j,) for j, name in enumerate(rows.names)}
        places = self._places(whole)
        aliased = sum(map(len, places.values())) < sum(map(len, whole.values()))
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

        note = [PENALISED] * fitted.penalised + [ALIASED] * aliased
        return without, list(places), "; ".join(note)

    def anova(self, *others: Any, kind: str = "I") -> ResultTable:
        """Likelihood ratio tests of the terms, or of nested models; of the penalised likelihood after Firth.

        Parameters
        ----------
        *others : LogisticRegression
            Models of the same rows, nested in each other: these and this one are then compared, each with the next
            larger one.
        kind : {"I", "II", "III"}
            Terms added in their order (as R's anova), each beside all terms that do not contain it, or each beside all
            others. Terms are those of the formula, or the columns.

        Returns
        -------
        ResultTable
            With columns df, stat (chi-squared), p; of several models also their log-likelihood, with a row a model.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LogisticRegression
        >>> X = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1], [5, 2], [2, 0], [3, 2]], dtype=float)
        >>> y = [0, 0, 1, 0, 1, 1, 1, 0]
        >>> LogisticRegression().fit(X, y).anova()["stat"].round(3)
        array([2.229, 0.098])
        """
        from separatrix.statistics.anova import deviance_table, likelihood_table

        if others:
            return likelihood_table([self, *others], PENALISED)
        without, terms, note = self._without()
        return deviance_table(without, terms, kind, f"Analysis of deviance, type {kind}", note)

    def drop1(self) -> ResultTable:
        """The model without each term: AIC, and its likelihood ratio test; "a" stays while "a:b" is there, as in R.

        Returns
        -------
        ResultTable
            With columns df, aic, stat (chi-squared), p; the first row is the whole model. After Firth the criterion is
            that of the penalised likelihood, and its column is called penalised_aic: the summary's AIC is without it.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LogisticRegression
        >>> X = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1], [5, 2], [2, 0], [3, 2]], dtype=float)
        >>> y = [0, 0, 1, 0, 1, 1, 1, 0]
        >>> LogisticRegression().fit(X, y).drop1()["p"].round(3)
        array([  nan, 0.199, 0.754])
        """
        from separatrix.statistics.anova import deviance_table, drop_table, droppable

        without, terms, note = self._without()
        terms = droppable(terms)
        test = deviance_table(without, terms, "III", "", note)
        name = "penalised_aic" if PENALISED in note else "aic"
        return drop_table(without, terms, lambda value, count: 2.0 * count - 2.0 * value, test, name)

    def marginal_effects(
        self, *, at: str = "overall", dummy: bool = False, level: float = 0.95, **options: Any
    ) -> ResultTable:
        """Change of the probabilities with each column, with errors by the delta method.

        Of two classes the probability is that of the second; of more there is a row for each class and column.

        Parameters
        ----------
        at : {"overall", "mean", "median", "zero"}
            The average over the rows of the fit, or the effect at one point.
        dummy : bool
            Whether columns of zeros and ones have the difference between 1 and 0 instead of the slope; levels of a
            factor in a formula that between the level and the reference.
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
        from separatrix.statistics.marginal_effects import ALONE, effects

        need_level(level)
        model: Any = self
        fitted, _ = model._at_a_maximum()
        own: Terms | None = getattr(self, "terms_", None)
        if own == {}:
            raise InferenceError("the model has an intercept alone: no column has an effect.")
        if (reason := self.__dict__.get("_entangled")) is not None:
            raise InferenceError(f"there are no effects of single columns: {reason}.")
        made, names = self._class_model(options)
        if not names:
            raise InferenceError("no column varies: none has an effect.")
        X = dense(fitted.problem.X)
        places = self._places(own or {})
        shared = (ALONE,) if any(":" in term or "**" in term for term in places) else ()
        point: dict[str, Any] = {"at": at, "dummy": dummy, "level": level}
        return effects(made, X, fitted.counts, fitted.offset, names, **point, terms=list(places.values()), notes=shared)

    def _places(self, terms: Terms) -> dict[str, list[int]]:
        """The columns of each term among those that are not aliased."""
        gone = aliased_of(self._wald_summary({}))[: self.n_features_in_]  # type: ignore[attr-defined]  # of the estimator
        at = np.cumsum(~gone) - 1
        return {term: [int(at[j]) for j in own if not gone[j]] for term, own in terms.items()}

    def _class_model(self, options: dict[str, Any]) -> tuple[ClassModel, list[str]]:
        """Coefficients that are not aliased, of each class against the first, and the names of their columns."""
        from separatrix.statistics.marginal_effects import ClassModel

        model: Any = self
        summary = self._wald_summary(options)
        kept = ~aliased_of(summary)
        classes = tuple(str(c) for c in model.classes_.tolist())
        B = summary.coef[kept].reshape(len(classes) - 1, -1)
        V = summary.covariance[np.ix_(kept, kept)]
        lift = bool(model.fit_intercept)
        columns = summary.names[: len(summary.names) // len(B)]
        own = [name for name, there in zip(columns, kept, strict=False) if there]
        own = [name.removeprefix(f"{classes[1]}:") if len(classes) > 2 else name for name in own]
        return ClassModel(B, V, classes, lift), own[: B.shape[1] - int(lift)]

    def predict_table(self, X: Any, *, level: float = 0.95, offset: Any = None) -> ResultTable:
        """Probabilities with standard errors by the delta method and intervals.

        Of two classes they are those of the second; of more there is a row for each class and row.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        level : float
            Of the intervals, whose ends are Wald's on the scale of the log-odds.
        offset : array or None
            Added to the scores, as in ``fit``: one number a row, or one a class for K > 2.

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
        from separatrix.statistics.marginal_effects import probability_table

        need_level(level)
        model: Any = self
        made, _ = self._class_model({})
        gone = aliased_of(self._wald_summary({}))[: model.n_features_in_]
        rows = dense(model._check_rows(X).X)
        if gone.any():
            if (used := model.__dict__.get("_rows")) is None:
                raise InferenceError("columns are linearly dependent, and a loaded model has no rows: fit it again.")
            need_determined(dense(used.table.X), rows, gone, bool(model.fit_intercept))
        rows = rows[:, ~gone]
        shift = self._named_offset(X) if offset is None else None  # type: ignore[attr-defined]  # of the estimator
        if shift is not None:
            shift = np.column_stack([np.zeros(len(rows)), shift])
        elif offset is not None:
            labels = Labels(model.classes_, np.zeros(0, dtype=np.intp))
            need_same_index(X, offset, "offset")
            shift = check_offset(offset, len(rows), labels, model.multiclass)
            shift = shift if shift.ndim == 2 else np.column_stack([np.zeros(len(rows)), shift])
        return probability_table(made, rows, shift, float(level), index_of(X))

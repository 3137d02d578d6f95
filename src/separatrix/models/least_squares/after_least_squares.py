"""After a fit of least squares: summaries, analysis of variance, nested models, deletions, influence, predictions."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import DataError, InferenceError, ParameterError
from separatrix.models.fitted_plots import FittedPlots
from separatrix.models.least_squares.aliased import has_aliased
from separatrix.models.least_squares.covariance import need_inference
from separatrix.models.least_squares.orthogonal_factors import dense
from separatrix.statistics.after_fit import AfterFit, aliased_of, places_of
from separatrix.statistics.anova import model_names, spans
from separatrix.statistics.distributions import f_tail, need_level, quantile
from separatrix.statistics.summary import ResultTable, row_names
from separatrix.validation.table import index_of

if TYPE_CHECKING:
    from separatrix.arrays import Floats
    from separatrix.models.least_squares.least_squares_summary import LeastSquaresSummary
    from separatrix.plotting.fit_pictures import PicturedRows
    from separatrix.statistics.anova import SubmodelSums
    from separatrix.statistics.summary import Summary


class AfterLeastSquares(FittedPlots, AfterFit):
    """What follows a fit of least squares."""

    def _picture_rows(self) -> PicturedRows:
        from separatrix.models.least_squares.covariance import rows_again
        from separatrix.models.least_squares.influence import influence
        from separatrix.plotting.fit_pictures import PicturedRows

        model: Any = self
        found, rows = influence(model), rows_again(model, None, None, None)
        y = model._rows[1]
        used = rows.counted
        inside = (found.studentized[used], found.leverage[used], found.cooks_distance[used])
        return PicturedRows(y[used] - rows.residuals, rows.residuals, "residual", *inside)

    def summary(
        self,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        level: float = 0.95,
        covariance: str = "model",
        groups: Any = None,
        lags: int | None = None,
    ) -> LeastSquaresSummary:
        """Coefficients with standard errors, tests and intervals; see :func:`.summarise`.

        Parameters
        ----------
        X, y : array, sparse matrix or frame; array
            The rows of the fit; a model from a file, a pickle or ``partial_fit`` needs them for robust covariances.
        sample_weight : array or None
            Weights of the rows; None: all 1.
        level : float
            Of the intervals.
        covariance : {"model", "HC0", "HC1", "HC2", "HC3", "cluster", "HAC"}
        groups : array or None
            One label a row, for "cluster".
        lags : int or None
            For "HAC"; None: 4 (n/100)^(2/9).

        Returns
        -------
        LeastSquaresSummary
            Text, HTML, a dict or a frame.

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.1, 2.9, 5.2, 6.8]
        >>> lines = LeastSquares().fit(X, y).summary()
        >>> lines.names, lines.coef.round(2)
        (('x0', 'intercept'), array([1.94, 1.09]))
        """
        from separatrix.models.least_squares.least_squares_summary import summarise

        model: Any = self
        options = {"covariance": covariance, "groups": model._groups_of_fit(groups), "lags": lags}
        return summarise(model, X, y, sample_weight=sample_weight, level=level, **options)

    def predict_interval(self, X: Any, *, level: float = 0.95, kind: str = "prediction") -> tuple[Floats, Floats]:
        """Lower and upper ends, row by row; see :func:`.predict_interval`.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        level : float
            Of the intervals.
        kind : {"prediction", "mean"}
            For a new y, or for its mean.

        Returns
        -------
        (array, array)
            Lower and upper ends.

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.1, 2.9, 5.2, 6.8]
        >>> low, high = LeastSquares().fit(X, y).predict_interval([[1.5]])
        >>> low.round(2), high.round(2)
        (array([3.03]), array([4.97]))
        """
        from separatrix.models.least_squares.covariance import predict_interval

        model: Any = self
        return predict_interval(model, X, level=level, kind=kind)

    def _wald_summary(self, options: dict[str, Any]) -> Summary:
        return self.summary(**options)

    def _sums(self) -> tuple[SubmodelSums, list[str], Summary]:
        from separatrix.statistics.anova import SubmodelSums

        summary: Any = self._wald_summary({})
        terms = self._term_names(summary)
        kept = ~aliased_of(summary)
        V = summary.covariance[np.ix_(kept, kept)]
        rss = summary.sigma2 * summary.df_resid
        if rss <= 0:
            raise InferenceError("the fit leaves no residuals: there is no variance to test terms against, and no AIC.")
        places = places_of(terms, summary.names, ~kept)
        return SubmodelSums(summary.coef[kept], V, summary.sigma2, rss, places), list(terms), summary

    def anova(self, *others: Any, kind: str = "I") -> ResultTable:
        """Sums of squares of the terms, with F tests; or the comparison of nested models.

        Parameters
        ----------
        *others : LeastSquares
            Models of the same rows, nested in each other: these and this one are then compared, each with the next
            larger one, with the residual variance of the largest.
        kind : {"I", "II", "III"}
            Terms added in their order (as R's anova), each beside all terms that do not contain it, or each beside all
            others. Terms are those of the formula, or the columns.

        Returns
        -------
        ResultTable
            With columns df, sum_sq, mean_sq, stat (F), p, and the residuals as its last row; of several models
            df_resid, rss, df, sum_sq, stat (F), p, with a row a model.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LeastSquares
        >>> X, y = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1.0]]), [1.0, 2.9, 5.3, 6.8, 9.4]
        >>> LeastSquares().fit(X, y).anova()["sum_sq"].round(3)
        array([42.849,  0.165,  0.054])
        """
        from separatrix.statistics.anova import ALIASED, variance_table

        if others:
            return compared([self, *others])
        sums, terms, summary = self._sums()
        title = f"Analysis of variance, type {kind}"
        return variance_table(sums, terms, kind, sums.rss, summary.df_resid, title, ALIASED if summary.marks else "")

    def drop1(self) -> ResultTable:
        """The model without each term: AIC, and the F test of the term; "a" stays while "a:b" is there, as in R.

        Returns
        -------
        ResultTable
            With columns df, aic, stat (F), p; the first row is the whole model.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LeastSquares
        >>> X, y = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1.0]]), [1.0, 2.9, 5.3, 6.8, 9.4]
        >>> LeastSquares().fit(X, y).drop1()["p"].round(4)
        array([   nan, 0.0006, 0.1316])
        """
        from separatrix.statistics.anova import ALIASED, drop_table, droppable, variance_table

        sums, terms, summary = self._sums()
        terms = droppable(terms)
        n, whole = summary.n, summary.loglik + 0.5 * summary.n * math.log(sums.rss)

        def aic(rss: float, coefficients: int) -> float:
            return 2.0 * (coefficients + 1) - 2.0 * (whole - 0.5 * n * math.log(rss))

        test = variance_table(sums, terms, "III", sums.rss, summary.df_resid, "", ALIASED if summary.marks else "")
        return drop_table(sums, terms, aic, test)

    def influence(self, X: Any = None, y: Any = None, *, sample_weight: Any = None) -> ResultTable:
        """Leverage, studentised residuals, Cook's distance and DFBETAS of each row, in one table.

        Parameters
        ----------
        X, y : array, sparse matrix or frame; array
            The rows of the fit; only a model from a file, a pickle or ``partial_fit`` needs them.
        sample_weight : array or None
            Weights of the rows; None: all 1.

        Returns
        -------
        ResultTable
            With columns leverage, studentized, studentized_outside, cooks_distance, and dfbetas:NAME for each
            coefficient; NaN for rows of weight zero.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LeastSquares
        >>> X, y = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1.0]]), [1.0, 2.9, 5.3, 6.8, 9.4]
        >>> LeastSquares().fit(X, y).influence()["leverage"].round(2)
        array([0.61, 0.53, 0.71, 0.53, 0.61])
        """
        from separatrix.models.least_squares.aliased import has_aliased, without_aliased
        from separatrix.models.least_squares.influence import influence, standardised_changes

        model: Any = self
        given = None if X is None else index_of(X)
        names_of = (
            self._wald_summary({}) if not has_aliased(model) else model.summary(X, y, sample_weight=sample_weight)
        )
        if has_aliased(model):
            model, _ = without_aliased(model, X, y, sample_weight)
            X = y = sample_weight = None
        kept = [name for name, gone in zip(names_of.names, aliased_of(names_of), strict=True) if not gone]
        found = influence(model, X, y, sample_weight=sample_weight)
        names = ("leverage", "studentized", "studentized_outside", "cooks_distance")
        columns = {name: getattr(found, name) for name in names}
        changes = standardised_changes(model, X, y, sample_weight, found)
        columns |= {f"dfbetas:{name}": changes[:, j] for j, name in enumerate(kept)}
        index = self._row_index(len(found.leverage)) if given is None else given  # type: ignore[attr-defined]  # of the estimator
        return ResultTable("Influence of rows", row_names(index), columns, index=index)

    def predict_table(self, X: Any, *, level: float = 0.95, offset: Any = None) -> ResultTable:
        """Predicted means with standard errors, and intervals of the mean and of a new observation.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        level : float
            Of the intervals.
        offset : array or None
            Added to the means, one number a row.

        Returns
        -------
        ResultTable
            With columns mean, std_err, low, high, new_low, new_high.

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.1, 2.9, 5.2, 6.8]
        >>> LeastSquares().fit(X, y).predict_table([[1.5]])["mean"].round(2)
        array([4.])
        """
        need_level(level)
        from separatrix.models.least_squares.covariance import predict_interval

        model: Any = self
        mean = model.predict(X, offset=offset)
        low, high = predict_interval(model, X, level=level, kind="mean", offset=offset)
        new_low, new_high = predict_interval(model, X, level=level, offset=offset)
        errors = (high - low) / (2.0 * quantile(level, float(model.n_rows_ - model.rank_)))
        columns = {"mean": mean, "std_err": errors, "low": low, "high": high, "new_low": new_low, "new_high": new_high}
        index = index_of(X)
        return ResultTable("Predictions", row_names(index), columns, index=index)


def compared(models: list[Any]) -> ResultTable:
    """Each model with the next larger one; the residual variance is that of the largest, as in R."""
    parts = sorted((_part(model) for model in models), key=lambda part: part[0].rank_)
    for (small, X, y, c), (large, more, other, weights) in pairwise(parts):
        if len(y) != len(other) or not np.array_equal(y, other) or not np.array_equal(c, weights):
            raise DataError("the models are of different rows, weights or offsets: fit them to the same ones.")
        if small.rank_ == large.rank_ or not spans(more, X):
            raise DataError("the models are not nested: the columns of each must be combinations of those of the next.")
    found = [part[0] for part in parts]
    left = np.array([float(model.n_rows_ - model.rank_) for model in found])
    rss = np.array([model.rss_ for model in found])
    df, gain = -np.diff(left), -np.diff(rss)
    F = gain / df / (rss[-1] / left[-1])
    p = [f_tail(f, k, left[-1]) for f, k in zip(F.tolist(), df.tolist(), strict=True)]
    columns = {"df_resid": left, "rss": rss, "df": df, "sum_sq": gain, "stat": F, "p": np.array(p)}
    filled = {k: v if len(v) == len(found) else np.concatenate([[np.nan], v]) for k, v in columns.items()}
    return ResultTable("Comparison of nested models", model_names(found), filled, (), (), {"stat": "F"})


def _part(model: Any) -> tuple[Any, Any, Any, Any]:
    if not hasattr(model, "n_rows_"):
        raise ParameterError(f"anova compares fitted LeastSquares models, and one is a {type(model).__name__}.")
    if not has_aliased(model):
        need_inference(model)
    if model._rows is None:
        raise InferenceError("a model from a file, a pickle or partial_fit has no rows: fit it again to compare it.")
    table, y, weights = model._rows
    X = dense(table.X)
    lifted = np.column_stack([X, np.ones(len(X))]) if model.fit_intercept else X
    return model, lifted, y, np.ones(len(X)) if weights is None else weights

"""What follows any fit that has a summary: Wald tests, contrasts, tables of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import InferenceError
from separatrix.statistics.distributions import need_level

if TYPE_CHECKING:
    from separatrix.statistics.linear_hypotheses import WaldTest
    from separatrix.statistics.summary import ResultTable, Summary


class AfterFit:
    """Tests of coefficients and terms; a subclass has a summary, and says what its terms are."""

    def _wald_summary(self, options: dict[str, Any]) -> Summary:
        """A summary with a covariance of the coefficients."""
        raise NotImplementedError("a model says how it is summarised")

    def _term_names(self, summary: Summary) -> dict[str, list[str]]:
        """Terms of the model with the names of their coefficients: those of a formula, or one for each column."""
        columns = [name for name in summary.names if name not in self._intercept_names(summary)]
        own: dict[str, tuple[int, ...]] | None = getattr(self, "terms_", None)
        if own is None:
            return {name: [name] for name in columns}
        if not own:  # of "y ~ 1"
            return {}
        d = sum(map(len, own.values()))
        blocks = range(0, len(columns), d)  # one for each class but the first
        return {term: [columns[b + j] for b in blocks for j in places] for term, places in own.items()}

    def _intercept_names(self, summary: Summary) -> tuple[str, ...]:
        if getattr(self, "terms_", None) == {}:  # of "y ~ 1", whose one column is the constant
            return summary.names
        own = getattr(summary, "intercepts", None)
        return own if own is not None else summary.names[-1:] if summary.has_intercept else ()

    def wald_test(self, hypothesis: Any, **options: Any) -> WaldTest:
        """Test linear hypotheses about the coefficients, all together.

        Parameters
        ----------
        hypothesis : str, list of str, or array
            Equations such as "age = bmi", "2*a - b = 1", "a = b = 0" or "C(ward) = 0" (a term stands for all of its
            coefficients), several by commas; or rows of numbers, one for each coefficient of the summary.
        **options
            As in ``summary``: covariance, groups, lags.

        Returns
        -------
        WaldTest
            F for least squares, chi-squared for logistic regression.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LeastSquares
        >>> X, y = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1.0]]), [1.0, 2.9, 5.3, 6.8, 9.4]
        >>> LeastSquares().fit(X, y).wald_test("x1 = 0")
        x1 = 0: F(1, 2) = 6.13263, p = 0.1316
        """
        from separatrix.statistics.linear_hypotheses import wald_test

        summary = self._wald_summary(options)
        return wald_test(summary, self._term_names(summary), hypothesis)

    def contrast(self, combinations: Any, *, level: float = 0.95, **options: Any) -> ResultTable:
        """Linear combinations of coefficients, each with its standard error, test and interval.

        Parameters
        ----------
        combinations : str, or list of str
            Such as "age - bmi" or "2*a + b"; "a = 1" is a - 1.
        level : float
            Of the intervals.
        **options
            As in ``summary``: covariance, groups, lags.

        Returns
        -------
        ResultTable
            With columns coef, std_err, stat, p, low, high.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LeastSquares
        >>> X, y = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1.0]]), [1.0, 2.9, 5.3, 6.8, 9.4]
        >>> LeastSquares().fit(X, y).contrast("x0 - 2*x1")["coef"].round(2)
        array([1.58])
        """
        from separatrix.statistics.linear_hypotheses import contrast_table

        need_level(level)
        summary = self._wald_summary(options)
        return contrast_table(summary, self._term_names(summary), combinations, float(level))

    def vif(self) -> ResultTable:
        """Variance inflation of each term: of one column 1/(1 - R²) of its regression on the others.

        Returns
        -------
        ResultTable
            With columns vif (of a term with several columns the generalised one of Fox and Monette 1992), df, and
            per_df, vif^(1/(2 df)), which compares terms of different sizes.

        Examples
        --------
        >>> import numpy as np
        >>> from separatrix import LeastSquares
        >>> X, y = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [4, 1.0]]), [1.0, 2.9, 5.3, 6.8, 9.4]
        >>> LeastSquares().fit(X, y).vif()["vif"].round(3)
        array([1., 1.])
        """
        from separatrix.statistics.summary import ResultTable

        summary = self._wald_summary({})
        gone = aliased_of(summary)
        if set(summary.names) <= set(self._intercept_names(summary)):
            raise InferenceError("the model has an intercept alone: there is nothing that could be inflated.")
        slopes = [name not in self._intercept_names(summary) for name in summary.names]
        V = summary.covariance[np.ix_(~gone & slopes, ~gone & slopes)]
        kept = tuple(name for name, own in zip(summary.names, ~gone & slopes, strict=True) if own)
        places = places_of(self._term_names(summary), kept, np.zeros(len(kept), dtype=bool))
        error = np.sqrt(np.diagonal(V))
        R = V / error / error[:, None]
        whole, own = float(np.linalg.slogdet(R)[1]), {term: at for term, at in places.items() if at}
        found, sizes = list[float](), np.array([float(len(at)) for at in own.values()])
        for at in own.values():
            rest = [j for j in range(len(R)) if j not in at]
            inner, outer = (float(np.linalg.slogdet(R[np.ix_(some, some)])[1]) for some in (at, rest))
            found.append(float(np.exp(inner + outer - whole)))
        vif = np.array(found)
        columns = {"vif": vif, "df": sizes, "per_df": vif ** (0.5 / sizes)}
        return ResultTable("Variance inflation", tuple(own), columns)


def places_of(terms: dict[str, list[str]], names: tuple[str, ...], aliased: Any) -> dict[str, list[int]]:
    """Terms with the positions of their coefficients among those that are not aliased."""
    kept = [name for name, gone in zip(names, aliased, strict=True) if not gone]
    at = {name: j for j, name in enumerate(kept)}
    return {term: [at[name] for name in own if name in at] for term, own in terms.items()}


def aliased_of(summary: Summary) -> Any:
    """Which coefficients of a summary are aliased."""
    return np.array([summary.marks.get(name) == "aliased" for name in summary.names], dtype=bool)


def need_determined(fit: Any, rows: Any, aliased: Any, lift: bool) -> None:
    """Refuse rows that break a linear dependence of the columns which all rows of the fit keep to.

    Every minimiser gives the same prediction to other rows; to these the fit gives none.
    """

    def kept(X: Any) -> Any:
        return np.column_stack([X[:, ~aliased], np.ones(len(X))]) if lift else X[:, ~aliased]

    inside = kept(fit)
    scale = np.maximum(np.abs(inside).max(axis=0), np.finfo(float).tiny)
    combined, *_ = np.linalg.lstsq(inside / scale, fit[:, aliased], rcond=None)
    gap = np.abs(rows[:, aliased] - kept(rows) / scale @ combined)
    size = np.maximum(np.abs(fit[:, aliased]).max(axis=0), np.abs(rows[:, aliased]).max(axis=0, initial=0.0))
    away = (gap > 1e-7 * size).any(axis=1)
    if away.any():
        raise InferenceError(
            f"row {int(np.argmax(away))} breaks the linear dependence of the columns of the fit, so that its "
            "prediction is not determined: drop the aliased columns, or fit rows like it."
        )

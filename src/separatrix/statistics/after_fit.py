"""Tests of hypotheses about coefficients, contrasts and variance inflation, after any fit that has a summary.

Hypotheses are text: "age = bmi", "2*a - b = 1", "a = b = 0", "C(ward) = 0", several by commas. The name of a
coefficient may have brackets, spaces and commas: the longest name that fits is taken. The name of a term stands for
all of its coefficients.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import InferenceError, ParameterError
from separatrix.statistics.distributions import chi2_tail, f_tail, need_level, tested
from separatrix.statistics.summary import ResultTable, Summary, listed

NUMBER = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class WaldTest:
    """The joint test of linear hypotheses: F on (df, df_resid) degrees of freedom, or chi-squared where that is inf."""

    hypothesis: str
    statistic: float
    df: int
    df_resid: float
    p: float

    def __str__(self) -> str:
        name = f"chi²({self.df})" if np.isinf(self.df_resid) else f"F({self.df}, {self.df_resid:g})"
        return f"{self.hypothesis}: {name} = {self.statistic:.6g}, p = {self.p:.4g}"

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text."""
        return asdict(self)


def wald_test(summary: Summary, terms: Mapping[str, Sequence[str]], hypothesis: Any) -> WaldTest:
    """Test R b = r by (R b - r)' (R V R')^-1 (R b - r): chi-squared, or divided by its rank as F (Wald 1943)."""
    R, r, text = restrictions(summary.names, terms, hypothesis)
    beta, V = _known(summary, R)
    away, spread = R @ beta - r, R @ V @ R.T
    scale = np.sqrt(
        np.diagonal(spread)
    )  # hypotheses in units of their errors, so that no unit of a column decides rank
    if np.linalg.matrix_rank(R) < len(R) or not scale.all():
        raise InferenceError("the hypotheses are linearly dependent, or empty: give each once.")
    q = len(R)
    statistic = quadratic_form(away / scale, spread / scale / scale[:, None])
    left = summary.freedom
    if np.isinf(left):
        return WaldTest(text, statistic, q, left, chi2_tail(statistic, q))
    return WaldTest(text, statistic / q, q, left, f_tail(statistic / q, q, left))


def quadratic_form(z: Floats, R: Floats) -> float:
    """z' R^-1 z for a correlation matrix R; InferenceError where its rank is too small, as with few groups.

    The tolerance is absolute since R has ones on its diagonal; solving a singular R would print a huge statistic.
    """
    if not np.isfinite(R).all():
        raise InferenceError("a standard error is zero but for rounding: test the other coefficients.")
    rank = int(np.linalg.matrix_rank(R, tol=1e-10, hermitian=True))
    if rank < len(R):
        raise InferenceError(
            f"the covariance has rank {rank}, too small to test {len(R)} hypotheses together (a clustered one has at "
            "most the number of groups, less one): test fewer, or use another covariance."
        )
    return float(z @ np.linalg.solve(R, z))


def contrast_table(summary: Summary, terms: Mapping[str, Sequence[str]], hypothesis: Any, level: float) -> ResultTable:
    """Each linear combination with its error, test and interval."""
    if not isinstance(hypothesis, (str, list, tuple, np.ndarray)) or not len(hypothesis):
        raise ParameterError(
            f"combinations is {hypothesis!r}: give one such as 'a - b', a list of them, or rows of numbers."
        )
    given = [hypothesis] if isinstance(hypothesis, str) else list(hypothesis)
    rows, rights, names = list[Floats](), list[float](), list[str]()
    for one in given:
        R, r, text = restrictions(summary.names, terms, one if not isinstance(one, str) or "=" in one else f"{one} = 0")
        rows += list(R)
        rights += r.tolist()
        short = text.removesuffix(" = 0")
        names += [short] if len(R) == 1 else [f"{short} [{k + 1}]" for k in range(len(R))]
    R = np.array(rows)
    beta, V = _known(summary, R)
    estimate = R @ beta - np.array(rights)
    errors = np.sqrt(np.einsum("ij,jk,ik->i", R, V, R))
    columns, labels = tested("coef", estimate, errors, level, summary.freedom)
    return ResultTable("Contrasts", tuple(names), columns, (), (), labels)


def _known(summary: Summary, R: Floats) -> tuple[Floats, Floats]:
    """Coefficients and covariance with zeros where nothing is asked; missing ones that are asked for are refused."""
    used = (R != 0).any(axis=0)
    known = np.isfinite(np.diagonal(summary.covariance)) & np.isfinite(summary.coef)
    gone = [name for name, u, k in zip(summary.names, used, known, strict=True) if u and not k]
    if gone:
        marks = {summary.marks.get(name, "unknown") for name in gone}
        raise InferenceError(f"the hypothesis names {listed(gone)}, whose coefficient is {'/'.join(sorted(marks))}.")
    beta = np.where(known, summary.coef, 0.0)
    return beta, np.where(known[:, None] & known, summary.covariance, 0.0)


def restrictions(
    names: Sequence[str], terms: Mapping[str, Sequence[str]], hypothesis: Any
) -> tuple[Floats, Floats, str]:
    """R and r of R b = r, and the hypothesis as text; from text, a list of texts, or rows of numbers."""
    if isinstance(hypothesis, str):
        hypothesis = [hypothesis]
    if isinstance(hypothesis, (list, tuple)) and hypothesis and all(isinstance(h, str) for h in hypothesis):
        rows, rights = list[Floats](), list[float]()
        for text in hypothesis:
            for row, right in _Reader(names, terms, text).read():
                rows.append(row)
                rights.append(right)
        return np.array(rows), np.array(rights), ", ".join(hypothesis)
    R = np.atleast_2d(np.asarray(hypothesis, dtype=np.float64))
    if R.ndim != 2 or R.shape[1] != len(names) or not np.isfinite(R).all():
        raise ParameterError(f"the hypothesis has shape {R.shape} and needs {len(names)} finite numbers a row.")
    return R, np.zeros(len(R)), f"R b = 0 ({len(R)} rows)"


class _Reader:
    """Linear equations between coefficients, from left to right."""

    def __init__(self, names: Sequence[str], terms: Mapping[str, Sequence[str]], text: str) -> None:
        self.names, self.text, self.at = list(names), text, 0
        self.terms = {term: list(members) for term, members in terms.items() if term not in self.names}
        self.known = sorted([*self.names, *self.terms], key=len, reverse=True)  # "a:b" is read before "a"

    def read(self) -> list[tuple[Floats, float]]:
        out = list[tuple[Floats, float]]()
        while True:
            sides = [self._side()]
            while self._take("="):
                sides.append(self._side())
            if len(sides) < 2:
                self._fail("needs '='")
            for (rows, left), (others, right) in pairwise(sides):
                out += self._equations(rows, left, others, right)
            if not (self._take(",") or self._take(";")):
                break
        self._skip()
        if self.at < len(self.text):
            self._fail("is not understood")
        return out

    def _equations(self, rows: Floats, left: float, others: Floats, right: float) -> list[tuple[Floats, float]]:
        if len(others) > 1 and len(rows) != len(others):
            self._fail("compares terms of different sizes")
        return [(row - others[k if len(others) > 1 else 0], right - left) for k, row in enumerate(rows)]

    def _side(self) -> tuple[Floats, float]:
        """Rows of coefficients (several for a term), and a constant."""
        rows, constant, sign, first = np.zeros((1, len(self.names))), 0.0, 1.0, True
        while True:
            self._skip()
            if self._take("-"):
                sign = -sign
            elif self._take("+"):
                pass
            elif not first:
                return rows, constant
            factor, name = self._product()
            if name is None:
                constant += sign * factor
            else:
                members = self.terms.get(name, [name])
                eye = np.eye(len(self.names))[[self.names.index(n) for n in members]]
                if len(members) > 1 and len(rows) == 1:
                    rows = np.repeat(rows, len(members), axis=0)
                elif len(members) not in (1, len(rows)):
                    self._fail("adds terms of different sizes")
                rows = rows + sign * factor * eye
            sign, first = 1.0, False

    def _product(self) -> tuple[float, str | None]:
        factor, name = 1.0, None
        while True:
            self._skip()
            coefficient = next((k for k in self.known if self._starts(k)), None)
            number = NUMBER.match(self.text, self.at)
            if coefficient is not None and name is None and not (number and number.end() - self.at > len(coefficient)):
                name, self.at = coefficient, self.at + len(coefficient)
            elif number is not None:
                factor, self.at = factor * float(number[0]), number.end()
            else:
                self._fail("names no coefficient")
            if self._take("*"):
                continue
            if self._take("/"):
                self._skip()
                number = NUMBER.match(self.text, self.at)
                if number is None or float(number[0]) == 0:
                    self._fail("divides by something that is not a number")
                else:
                    factor, self.at = factor / float(number[0]), number.end()
            return factor, name

    def _starts(self, name: str) -> bool:
        """Whether the name stands here, and no longer word begins with it."""
        end = self.at + len(name)
        whole = not (name[-1:].isalnum() and self.text[end : end + 1].isalnum())
        return bool(name) and whole and self.text.startswith(name, self.at)

    def _take(self, sign: str) -> bool:
        self._skip()
        if self.text.startswith(sign, self.at):
            self.at += len(sign)
            return True
        return False

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _fail(self, why: str) -> None:
        rest = self.text[self.at :].strip() or "the end"
        known = listed([*self.names, *self.terms], 12)
        raise ParameterError(f"the hypothesis {self.text!r} {why} at {rest!r}: coefficients are {known}.")


class AfterFit:
    """Tests of coefficients and terms, for a subclass that has a summary."""

    def _wald_summary(self, options: dict[str, Any]) -> Summary:
        """A summary with a covariance of the coefficients."""
        raise NotImplementedError("a model says how it is summarised")

    def _term_names(self, summary: Summary) -> dict[str, list[str]]:
        """Terms of the model with the names of their coefficients: those of a formula, or one for each column."""
        columns = [name for name in summary.names if name not in self._intercept_names(summary)]
        terms: dict[str, tuple[int, ...]] | None = getattr(self, "terms_", None)
        if terms is None:
            return {name: [name] for name in columns}
        if not terms:  # of "y ~ 1"
            return {}
        d = sum(map(len, terms.values()))
        blocks = range(0, len(columns), d)  # one for each class but the first
        return {term: [columns[b + j] for b in blocks for j in places] for term, places in terms.items()}

    def _intercept_names(self, summary: Summary) -> tuple[str, ...]:
        if getattr(self, "terms_", None) == {}:  # of "y ~ 1", whose one column is the constant
            return summary.names
        intercepts = getattr(summary, "intercepts", None)
        return intercepts if intercepts is not None else summary.names[-1:] if summary.has_intercept else ()

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
        summary = self._wald_summary({})
        gone = aliased_of(summary)
        if set(summary.names) <= set(self._intercept_names(summary)):
            raise InferenceError("the model has an intercept alone: there is nothing that could be inflated.")
        slopes = [name not in self._intercept_names(summary) for name in summary.names]
        V = summary.covariance[np.ix_(~gone & slopes, ~gone & slopes)]
        names = tuple(name for name, is_slope in zip(summary.names, ~gone & slopes, strict=True) if is_slope)
        places = places_of(self._term_names(summary), names, np.zeros(len(names), dtype=bool))
        error = np.sqrt(np.diagonal(V))
        R = V / error / error[:, None]
        whole = float(np.linalg.slogdet(R)[1])
        term_places = {term: at for term, at in places.items() if at}
        sizes = np.array([float(len(at)) for at in term_places.values()])
        inflation = list[float]()
        for at in term_places.values():
            rest = [j for j in range(len(R)) if j not in at]
            inner, outer = (float(np.linalg.slogdet(R[np.ix_(some, some)])[1]) for some in (at, rest))
            inflation.append(float(np.exp(inner + outer - whole)))  # det R_at det R_rest / det R
        vif = np.array(inflation)
        columns = {"vif": vif, "df": sizes, "per_df": vif ** (0.5 / sizes)}
        return ResultTable("Variance inflation", tuple(term_places), columns)


def places_of(terms: dict[str, list[str]], names: tuple[str, ...], aliased: NDArray[np.bool_]) -> dict[str, list[int]]:
    """Terms with the positions of their coefficients among those that are not aliased."""
    estimated = [name for name, gone in zip(names, aliased, strict=True) if not gone]
    at = {name: j for j, name in enumerate(estimated)}
    return {term: [at[name] for name in members if name in at] for term, members in terms.items()}


def aliased_of(summary: Summary) -> NDArray[np.bool_]:
    """Which coefficients of a summary are aliased."""
    return np.array([summary.marks.get(name) == "aliased" for name in summary.names], dtype=bool)


def need_determined(fit: Floats, rows: Floats, aliased: NDArray[np.bool_], lift: bool) -> None:
    """Refuse rows that break a linear dependence between the columns of the fit.

    All minimisers agree on rows that keep to it, and on no others, so that the fit determines no prediction there.
    """

    def estimated_columns(X: Floats) -> Floats:
        return np.column_stack([X[:, ~aliased], np.ones(len(X))]) if lift else X[:, ~aliased]

    inside = estimated_columns(fit)
    scale = np.maximum(np.abs(inside).max(axis=0), np.finfo(float).tiny)
    combined, *_ = np.linalg.lstsq(inside / scale, fit[:, aliased], rcond=None)
    gap = np.abs(rows[:, aliased] - estimated_columns(rows) / scale @ combined)
    size = np.maximum(np.abs(fit[:, aliased]).max(axis=0), np.abs(rows[:, aliased]).max(axis=0, initial=0.0))
    away = (gap > 1e-7 * size).any(axis=1)
    if away.any():
        raise InferenceError(
            f"row {int(np.argmax(away))} breaks the linear dependence of the columns of the fit, so that its "
            "prediction is not determined: drop the aliased columns, or fit rows like it."
        )

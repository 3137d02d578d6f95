"""The summary of a least-squares fit: coefficients, their uncertainty, and how well the whole fits."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.least_squares.covariance import coefficient_covariance, need_inference, need_level
from separatrix.models.least_squares.hypotheses import HypothesisTest, wald
from separatrix.validation import distinct_names

if TYPE_CHECKING:
    from separatrix.models.least_squares.least_squares import LeastSquares

COLUMNS = ("coefficient", "std error", "t", "p", "lower", "upper")


@dataclass(frozen=True, slots=True)
class Summary:
    """One line per coefficient, and the quality of the fit; as text, HTML, dict or frame.

    Lines stand in the order of the columns, and with ``has_intercept`` b is the last of them. Its name is
    "(intercept)", in as many parentheses as it takes to differ from the names of the columns.
    """

    names: tuple[str, ...]
    has_intercept: bool
    coefficients: Floats
    standard_errors: Floats
    t: Floats
    p_values: Floats
    lower: Floats
    upper: Floats
    level: float
    covariance: str
    n: int
    rank: int
    freedom: float
    sigma2: float
    r_squared: float
    adjusted_r_squared: float
    f_test: HypothesisTest | None
    condition: float
    solver: str
    note: str | None

    def _lines(self) -> list[tuple[str, ...]]:
        numbers = zip(
            self.coefficients, self.standard_errors, self.t, self.p_values, self.lower, self.upper, strict=True
        )
        return [
            (name, f"{b:.6g}", f"{se:.6g}", f"{t:.3f}", f"{p:.4g}", f"{low:.6g}", f"{high:.6g}")
            for name, (b, se, t, p, low, high) in zip(self.names, numbers, strict=True)
        ]

    def _head(self) -> tuple[str, ...]:
        share = f"{100 * self.level:g}%"
        return ("", "coefficient", "std error", "t", "p", f"{share} lower", f"{share} upper")

    def _foot(self) -> list[str]:
        lines = [
            f"rows {self.n}, rank {self.rank}, covariance {self.covariance} on {self.freedom:g} degrees of freedom",
            f"residual standard deviation {np.sqrt(self.sigma2):.6g}, R² {self.r_squared:.6g}, "
            f"adjusted R² {self.adjusted_r_squared:.6g}",
            f"solved by {self.solver}, condition {self.condition:.3g}",
        ]
        if self.f_test is not None:
            lines.insert(2, f"all slopes zero: {self.f_test}")
        return lines + ([self.note] if self.note else [])

    def __str__(self) -> str:
        table = [self._head(), *self._lines()]
        widths = [max(len(row[j]) for row in table) for j in range(7)]
        rows = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))])
            for row in table
        ]
        rule = "-" * len(rows[0])
        return "\n".join(["Least squares", rule, rows[0], rule, *rows[1:], rule, *self._foot()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self._head())
        body = "".join(
            "<tr><th>" + escape(row[0]) + "</th>" + "".join(f"<td>{escape(c)}</td>" for c in row[1:]) + "</tr>"
            for row in self._lines()
        )
        foot = "<br>".join(escape(line) for line in self._foot())
        return f"<table><caption>Least squares</caption><tr>{head}</tr>{body}</table><p>{foot}</p>"

    def to_dict(self) -> dict[str, Any]:
        """Everything, as numbers, lists and text."""
        out = {name: getattr(self, name) for name in self.__slots__}
        out = {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in out.items()}
        out["names"] = list(self.names)
        out["f_test"] = None if self.f_test is None else self.f_test.to_dict()
        return out

    def to_frame(self) -> Any:
        """The lines of the coefficients as a pandas frame."""
        import pandas as pd

        numbers = (
            self.coefficients, self.standard_errors, self.t, self.p_values, self.lower, self.upper,
        )  # fmt: skip
        return pd.DataFrame(dict(zip(COLUMNS, numbers, strict=True)), index=list(self.names))


def summarize(
    model: LeastSquares,
    X: Any = None,
    y: Any = None,
    *,
    sample_weight: Any = None,
    covariance: str = "classical",
    clusters: Any = None,
    level: float = 0.95,
) -> Summary:
    """Coefficients with standard errors, t, p and intervals; σ̂², R², adjusted R² and F.

    Parameters
    ----------
    model : a fitted, unpenalised LeastSquares
    X, y, sample_weight : the rows of the fit again: needed for every covariance but the classical one, and
        for all digits of the standard errors where the condition is large
    covariance : {"classical", "HC0", "HC1", "HC2", "HC3", "cluster"}
        See :mod:`separatrix.models.least_squares.covariance`.
    clusters : labels, one per row, for covariance="cluster"
    level : of the intervals, which are b -/+ t s on n - rank degrees of freedom (clusters: their number - 1)
    """
    from scipy.special import stdtr, stdtrit

    need_level(level)
    found = coefficient_covariance(model, X, y, sample_weight=sample_weight, kind=covariance, clusters=clusters)
    beta = np.append(model.coef_, model.intercept_) if model.fit_intercept else model.coef_
    errors = np.sqrt(np.diagonal(found.matrix))
    with np.errstate(divide="ignore", invalid="ignore"):
        t = beta / errors
    half = float(stdtrit(found.freedom, 0.5 + level / 2)) * errors
    spread = need_inference(model).spread
    constant = 1 if model.fit_intercept else 0
    slopes = model.rank_ - constant
    explained = 1 - model.rss_ / spread if spread > 0 else float("nan")
    adjusted = 1 - (1 - explained) * (model.n_rows_ - constant) / (model.n_rows_ - model.rank_)
    test = None
    if slopes:
        test = _all_slopes(model, covariance, found, beta, spread, slopes)
    names = list(getattr(model, "feature_names_in_", [f"x{j}" for j in range(len(model.coef_))]))
    return Summary(
        names=tuple(distinct_names([*names, "(intercept)"] if model.fit_intercept else names)),
        has_intercept=bool(model.fit_intercept),
        coefficients=beta,
        standard_errors=errors,
        t=t,
        p_values=np.asarray(2 * stdtr(found.freedom, -np.abs(t))),
        lower=beta - half,
        upper=beta + half,
        level=level,
        covariance=covariance,
        n=model.n_rows_,
        rank=model.rank_,
        freedom=found.freedom,
        sigma2=model.sigma2_,
        r_squared=explained,
        adjusted_r_squared=adjusted,
        f_test=test,
        condition=model.condition_,
        solver=model.solver_,
        note=found.note,
    )


def _all_slopes(
    model: LeastSquares, kind: str, found: Any, beta: Floats, spread: float, slopes: int
) -> HypothesisTest | None:
    """The F test that all slopes are zero: by sums of squares, or by the robust covariance."""
    from scipy.special import fdtrc

    if kind != "classical":
        return wald(beta, np.eye(len(beta))[: len(model.coef_)], np.zeros(len(model.coef_)), found)
    if model.sigma2_ == 0:
        return None
    statistic = (spread - model.rss_) / slopes / model.sigma2_
    return HypothesisTest(statistic, (float(slopes), found.freedom), float(fdtrc(slopes, found.freedom, statistic)))

"""The summary of a fit: coefficients with their uncertainty, in the same words for every family."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.statistics.result_table import ResultTable

COLUMNS = ("coef", "std_err", "stat", "p", "low", "high")


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One line of a summary; ``mark`` says why numbers are missing ("aliased", "infinite"), else it is empty."""

    name: str
    coef: float
    std_err: float
    stat: float
    p: float
    low: float
    high: float
    mark: str = ""

    @property
    def odds_ratio(self) -> float:
        """exp(coef), for coefficients of log-odds."""
        return _exp(self.coef)

    @property
    def odds_low(self) -> float:
        return _exp(self.low)

    @property
    def odds_high(self) -> float:
        return _exp(self.high)


def _exp(v: float) -> float:
    return math.inf if v >= 709 else math.exp(v)


@dataclass(frozen=True, kw_only=True, repr=False)
class Summary:
    """One line per coefficient, and the quality of the fit.

    ``coef``, ``std_err``, ``stat``, ``p``, ``low`` and ``high`` are arrays in the order of ``names``: the columns of
    X, then the intercept, whose name is "intercept" in as many parentheses as it takes to differ from the columns'.
    ``stat`` is what ``stat_name`` says: t, z, or the chi-squared statistic of a likelihood ratio, which ``p`` and the
    interval then belong to. Printed in a terminal, shown as HTML in a notebook.

    Attributes
    ----------
    marks : dict of names of coefficients that have no estimate, with the reason: "aliased" columns are linear
        combinations of columns before them; "infinite" and "undetermined" ones have no finite maximum
    level : of the intervals low to high
    intervals : "wald" or "profile"
    covariance, covariance_kind : the matrix, of the coefficients in the order of ``names``, and how it was estimated
    n, n_dropped : rows that count (the sum of frequencies), and rows left out for missing values
    df_model, df_resid : slopes, and rows less coefficients
    loglik, aic, bic : of the likelihood, without a penalty
    """

    title: str
    outcome: str
    names: tuple[str, ...]
    has_intercept: bool
    coef: Floats
    std_err: Floats
    stat: Floats
    stat_name: str
    p: Floats
    low: Floats
    high: Floats
    marks: dict[str, str]
    level: float
    intervals: str
    covariance: Floats
    covariance_kind: str
    n: float
    df_model: int
    df_resid: float
    loglik: float
    aic: float
    bic: float
    n_dropped: int = 0
    notes: tuple[str, ...] = ()

    @property
    def freedom(self) -> float:
        """Degrees of freedom of its t tests; infinite for z tests."""
        return math.inf

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """The lines, one object each."""
        rows = zip(*(getattr(self, name).tolist() for name in COLUMNS), strict=True)
        return tuple(
            Coefficient(name, **dict(zip(COLUMNS, row, strict=True)), mark=self.marks.get(name, ""))
            for name, row in zip(self.names, rows, strict=True)
        )

    def __getitem__(self, name: str) -> Coefficient:
        for row in self.coefficients:
            if row.name == name:
                return row
        raise KeyError(name)

    def _head(self) -> tuple[str, ...]:
        return (self.outcome,) if self.outcome else ()

    def _facts(self) -> list[str]:
        """The quality of the fit, in lines."""
        return []

    def _foot(self) -> tuple[str, ...]:
        one = self.n_dropped == 1
        dropped = (
            f"{self.n_dropped:,} {'row' if one else 'rows'} with missing values {'was' if one else 'were'} left out"
        )
        return (*self._facts(), *([dropped] if self.n_dropped else []), *self.notes)

    def table(self) -> ResultTable:
        """The lines as a table of results."""
        share = f"{100 * self.level:g}%"
        labels = {"stat": self.stat_name, "low": f"{share} low", "high": f"{share} high"}
        columns = {name: getattr(self, name) for name in COLUMNS}
        return ResultTable(self.title, self.names, columns, self._head(), self._foot(), labels, self.marks)

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def to_frame(self) -> Any:
        """The lines as a pandas frame with columns coef, std_err, stat, p, low, high."""
        return self.table().to_frame()

    def to_latex(self) -> str:
        """The lines as a ``tabular`` of the package booktabs."""
        return self.table().to_latex()

    def to_dict(self) -> dict[str, Any]:
        """Everything, as numbers, lists and text."""
        out: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name in COLUMNS:
                continue
            if isinstance(value, np.ndarray):
                value = value.tolist()
            elif hasattr(value, "to_dict"):
                value = value.to_dict()
            out[f.name] = list(value) if isinstance(value, tuple) else value
        rows = self.table()
        out["coefficients"] = [{"name": name, **rows._row(j)} for j, name in enumerate(self.names)]
        return out

"""The summary of a fit: coefficients with their uncertainty, in the same words for every family.

A table of results with a name for each row: as text, HTML, LaTeX, dict or frame.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.printable import printable

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


LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
LATEX |= {c: f"\\{c}" for c in "&%$#_{}"}


@dataclass(frozen=True, repr=False)
class ResultTable:
    """Columns of numbers by name; ``head`` stands above them, ``notes`` below.

    ``labels`` are the printed heads of columns, where these differ from their names. ``marks`` says of some rows why
    they have no numbers ("aliased"), in place of the missing ones. ``index`` is what frames are joined by, where the
    rows of the table are rows of data.
    """

    title: str
    names: tuple[str, ...]
    columns: Mapping[str, Floats]
    head: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    index: Any = None

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, key: str) -> Any:
        """A column, or the row of a name as a dict."""
        if key in self.columns:
            return self.columns[key]
        if key in self.names:
            j = self.names.index(key)
            return {name: float(values[j]) for name, values in self.columns.items()}
        raise KeyError(key)

    def _cells(self) -> list[list[str]]:
        shown = [[self.labels.get(name, name) for name in self.columns]]
        for j, row in enumerate(self.names):
            numbers = [float(values[j]) for values in self.columns.values()]
            cells = [cell(name, v) for name, v in zip(self.columns, numbers, strict=True)]
            mark = self.marks.get(row)
            if mark is not None and (math.isnan(numbers[0]) or len(self.columns) == 1):
                cells[0] = mark
            shown.append(cells)
        return shown

    def __str__(self) -> str:
        cells = self._cells()
        names = ["", *map(printable, self.names)]
        first = max(map(len, names))
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = [
            "  ".join([name.ljust(first), *(c.rjust(w) for c, w in zip(row, widths, strict=True))]).rstrip()
            for name, row in zip(names, cells, strict=True)
        ]
        rule = "─" * max(map(len, lines))
        top = [self.title, *self.head] if self.title else list(self.head)
        return "\n".join([*top, rule, lines[0], rule, *lines[1:], rule, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        top = "<th></th>" + "".join(f"<th>{escape(c)}</th>" for c in head)
        rows = "".join(
            f"<tr><th>{escape(printable(name))}</th>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>"
            for name, row in zip(self.names, body, strict=True)
        )
        caption = "<br>".join(escape(line) for line in (self.title, *self.head) if line)
        foot = "<br>".join(escape(line) for line in self.notes)
        table = f"<table><caption>{caption}</caption><thead><tr>{top}</tr></thead><tbody>{rows}</tbody></table>"
        return table + (f"<p>{foot}</p>" if foot else "")

    def to_latex(self) -> str:
        """A ``tabular`` of the package booktabs."""
        head, *body = self._cells()
        lines = [" & ".join(["", *map(latex, head)])]
        lines += [" & ".join([latex(printable(n)), *map(latex, row)]) for n, row in zip(self.names, body, strict=True)]
        rows = [line + r" \\" for line in lines]
        begin = r"\begin{tabular}{l" + "r" * len(head) + "}"
        return "\n".join([begin, r"\toprule", rows[0], r"\midrule", *rows[1:], r"\bottomrule", r"\end{tabular}"])

    def to_frame(self) -> Any:
        """The columns as a pandas frame; its index is that of the rows of data, or the names."""
        import pandas as pd

        index = list(self.names) if self.index is None else self.index
        return pd.DataFrame({name: list(values) for name, values in self.columns.items()}, index=index)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text."""
        rows = [{"name": name, **self._row(j)} for j, name in enumerate(self.names)]
        return {"title": self.title, "rows": rows, "notes": [*self.head, *self.notes]}

    def _row(self, j: int) -> dict[str, float]:
        return {name: float(values[j]) for name, values in self.columns.items()}


def row_names(index: Any) -> tuple[str, ...]:
    """Rows of data as their index, or their numbers, name them."""
    return tuple(map(str, index.tolist()))


def cell(column: str, v: float) -> str:
    """A number as the tables print it, by what its column is."""
    if math.isnan(v):
        return "–"
    if column == "p":
        return "<1e-4" if v < 1e-4 else f"{v:.4f}"
    if math.isinf(v):
        return "∞" if v > 0 else "−∞"
    if column == "stat":
        return f"{v:.3f}"
    return f"{v:.6g}"


def latex(text: str) -> str:
    """Text with what LaTeX reads as commands escaped."""
    out = "".join(LATEX.get(c, c) for c in text)
    return out.replace("−∞", r"$-\infty$").replace("∞", r"$\infty$").replace("–", "--").replace("<", "$<$")


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence, the first few of them."""
    return ", ".join(map(repr, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")

"""The scores of a fitted linear model as biases and weights of encoded columns, from which every export is made.

A feature is a number (imputed, shifted, scaled), a date in days since 1970, a missing-value flag, or a level of a
category. Free text and parts of dates have no such form and are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.errors import ParameterError
from separatrix.features.column_encoders import MISSING, RARE, CategoryColumn, NumberColumn
from separatrix.features.dates import DateColumn
from separatrix.features.table_model import TableModel

BASELINE = -1  # the level without a feature


@dataclass(frozen=True, slots=True)
class Scores:
    """Weights (K, d) and biases (K,) over encoded columns, and how classes are chosen from the K scores.

    The one score of two classes is for the positive class, as in predictions; that class is then the last.
    """

    coef: Any
    intercept: Any
    columns: tuple[NumberColumn | CategoryColumn, ...]
    classes: list[Any] | None
    boundary: str
    na: tuple[str, ...] = ()  # further words that mark a missing cell

    def blocks(self) -> list[tuple[NumberColumn | CategoryColumn, Any]]:
        """Each column with its part of the weights."""
        out, at = [], 0
        for column in self.columns:
            width = len(column.names())
            out.append((column, self.coef[:, at : at + width]))
            at += width
        return out


def scores_of(model: Any) -> Scores:
    """The scores of a model; one that is not linear, or reads free text, is refused."""
    table = model if isinstance(model, TableModel) else TableModel(model)
    learner = table.learner
    if not hasattr(learner, "coef_"):
        raise ParameterError(f"{type(learner).__name__} is not a linear model: it has no coefficients to export.")
    coef = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))
    intercept = np.atleast_1d(np.asarray(learner.intercept_, dtype=np.float64))
    classes = table.classes
    if classes is None and np.ndim(learner.coef_) == 2:
        raise ParameterError(f"the model has {len(coef)} targets: export models of one target each.")
    pairs = classes is not None and len(classes) > 2 and hasattr(learner, "pairs_")
    if pairs or (classes is not None and len(coef) != (1 if len(classes) <= 2 else len(classes))):
        raise ParameterError(f"{type(learner).__name__} compares classes in pairs; export needs one score a class.")
    if getattr(learner, "boundary", "positive") == "undefined":
        raise ParameterError("boundary='undefined' leaves some rows without a class, which an export cannot express.")
    columns = _columns(table, coef.shape[1])
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ParameterError(f"two columns are named {twice!r}: exports find columns by name, so rename one.")
    boundary = getattr(learner, "boundary", "positive")
    if classes is not None and len(classes) == 2 and table.positive is not None and table.positive == classes[0]:
        coef, intercept, classes = -coef, -intercept, classes[::-1]
        boundary = "positive" if boundary == "negative" else "negative"
    return Scores(coef, intercept, columns, classes, boundary, table.reading.na)


def _columns(table: TableModel, d: int) -> tuple[NumberColumn | CategoryColumn, ...]:
    if table.encoder is None:
        names = getattr(table.learner, "feature_names_in_", None)
        listed = [f"x{j}" for j in range(d)] if names is None else names.tolist()
        return tuple(NumberColumn(name, "number", 0.0, False) for name in listed)
    if table.encoder.map is not None:
        raise ParameterError(f"models with feature_map={table.encoder.map.kind!r} cannot be exported: fit without it.")
    columns: list[NumberColumn | CategoryColumn] = []
    for column in table.encoder.columns:
        if isinstance(column, DateColumn):
            raise ParameterError(
                f"{column.name!r} has parts of dates, which exports cannot encode: fit with dates='days'."
            )
        if not isinstance(column, (NumberColumn, CategoryColumn)):
            raise _refused(column.name, "free text")
        columns.append(column)
    return tuple(columns)


def _refused(name: str, what: str) -> ParameterError:
    return ParameterError(f"{name!r} is {what}, which exports cannot encode: fit with drop={name!r}.")


def levels_of(column: CategoryColumn) -> tuple[dict[str, int], int, int]:
    """The feature of each level, of a missing cell and of any other level; BASELINE where it has none."""
    place = {level: j for j, level in enumerate(column.levels)}
    place[column.baseline] = BASELINE
    other = place.get(RARE, BASELINE)
    place.update(dict.fromkeys(column.rare, other))
    missing = place.setdefault(MISSING, other)
    return place, missing, other


def need_plain_text(texts: list[Any], where: str) -> None:
    """Names and labels that a text file in UTF-8 can hold: no zero bytes, no half characters."""
    for text in texts:
        if isinstance(text, str) and ("\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text)):
            raise ParameterError(f"{text!r} has a zero byte or half a character, which {where} cannot hold: rename it.")

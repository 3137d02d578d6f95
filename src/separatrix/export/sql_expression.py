"""A linear model as expressions of a SQL SELECT."""

from __future__ import annotations

from typing import Any

from separatrix.data.number_writing import plain_number
from separatrix.errors import ParameterError
from separatrix.export.score_terms import Scores, levels_of, need_plain_text, scores_of
from separatrix.features.column_encoders import SECONDS, CategoryColumn, NumberColumn


def to_sql(model: Any) -> str:
    """Expressions for a SELECT: one for each score, and the prediction; sums run in the order of the features."""
    s = scores_of(model)
    _need_distinct(s)
    scores = []
    for k, bias in enumerate(s.intercept.tolist()):
        parts = [_number(bias)]
        for column, weights in s.blocks():
            parts += _terms(column, weights[k].tolist())
        scores.append("(" + "\n + ".join(parts) + ")")
    if s.classes is None:
        return f"{scores[0]} AS prediction"
    if len(scores) == 1:
        sign = ">" if s.boundary == "negative" else ">="
        chosen = f"CASE WHEN {scores[0]} {sign} 0 THEN {_literal(s.classes[-1])} ELSE {_literal(s.classes[0])} END"
        return f"{scores[0]} AS score,\n{chosen} AS prediction"
    named = [f"{score} AS {name}" for score, name in zip(scores, _score_names(s.classes), strict=True)]
    number, value, label = (_identifier(name) for name in _free_names(s))
    rows = [
        f"SELECT {k} AS {number}, {score} AS {value}, {_literal(c)} AS {label}"
        for k, (score, c) in enumerate(zip(scores, s.classes, strict=True))
    ]
    listed = "\nUNION ALL ".join(rows)
    chosen = f"(SELECT {label} FROM ({listed}) AS scores ORDER BY {value} DESC, {number} LIMIT 1)"
    return ",\n".join([*named, f"{chosen} AS prediction"])


def _free_names(s: Scores) -> list[str]:
    """Names for the columns of the subquery, which no column of the table has."""
    taken = {column.name.casefold() for column in s.columns}
    names = []
    for name in ("class_number", "class_score", "class_label"):
        while name in taken:
            name += "_"
        names.append(name)
    return names


def _need_distinct(s: Scores) -> None:
    """Names that a database tells apart: many ignore case even in quotes."""
    need_plain_text([column.name for column in s.columns], "SQL")
    need_plain_text([level for c in s.columns if isinstance(c, CategoryColumn) for level in levels_of(c)[0]], "SQL")
    need_plain_text(s.classes or [], "SQL")
    seen: dict[str, str] = {}
    for column in s.columns:
        if not column.name:
            raise ParameterError("a column has an empty name, which SQL cannot refer to: rename it.")
        twin = seen.setdefault(column.name.casefold(), column.name)
        if twin != column.name:
            raise ParameterError(
                f"columns {twin!r} and {column.name!r} differ in case only, which many databases ignore: rename one."
            )


def _score_names(classes: list[Any]) -> list[str]:
    taken: set[str] = {"prediction"}
    names = []
    for label in classes:
        name = f"score_{label}"
        while name.casefold() in taken:
            name += "_"
        taken.add(name.casefold())
        names.append(_identifier(name))
    return names


def _terms(column: NumberColumn | CategoryColumn, weights: list[float]) -> list[str]:
    cell = _identifier(column.name)
    if isinstance(column, CategoryColumn):
        return [_level_term(column, cell, [*weights, 0.0])]  # the last entry is the baseline's: index -1
    if column.source == "boolean":
        cell = f"(CASE WHEN {cell} THEN 1 WHEN NOT {cell} THEN 0 END)"
    if column.source == "date":
        cell = f"(EXTRACT(EPOCH FROM {cell}) / {SECONDS!r})"
    value = f"coalesce(CAST({cell} AS DOUBLE PRECISION), {_number(column.fill)})"
    if column.shift or column.scale != 1.0:
        value = f"(({value} - {_number(column.shift)}) / {_number(column.scale)})"
    terms = [f"{_number(weights[0])} * {value}"]
    if column.indicator:
        terms.append(f"CASE WHEN {cell} IS NULL THEN {_number(weights[1])} ELSE {_number(0.0)} END")
    return terms


def _level_term(column: CategoryColumn, cell: str, weights: list[float]) -> str:
    place, missing, other = levels_of(column)
    if column.source == "boolean":
        cell = f"(CASE WHEN {cell} THEN 'true' WHEN NOT {cell} THEN 'false' END)"
    elif column.source != "text":
        place = {level: j for level, j in place.items() if plain_number(level) is not None}
    whens = [f"WHEN {cell} IS NULL THEN {_number(weights[missing])}"]
    for level, j in place.items():
        literal = _literal(level) if column.source in ("text", "boolean") else _number(float(level))
        whens.append(f"WHEN {cell} = {literal} THEN {_number(weights[j])}")
    return f"CASE {' '.join(whens)} ELSE {_number(weights[other])} END"


def _number(x: float) -> str:
    """A float64 in SQL: with an exponent it is never taken for a decimal of few digits."""
    text = repr(x)
    return text if "e" in text else f"{text}e0"


def _literal(label: Any) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return str(label) if isinstance(label, (int, float)) else "'" + str(label).replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

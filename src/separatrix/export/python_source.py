"""A linear model as the source of a Python function."""

from __future__ import annotations

import keyword
from typing import Any

from separatrix.data.number_writing import MISSING, NO_VALUE, Writing
from separatrix.errors import ParameterError
from separatrix.export.score_terms import levels_of, scores_of
from separatrix.features.column_encoders import TRUTHS, CategoryColumn, NumberColumn


def to_python(model: Any, name: str = "predict") -> str:
    """Source of a function of one row that needs nothing but Python.

    The row is a dict with a cell for each column; None, NaN, empty text and the words for missing values that
    ``predict`` knows are missing.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ParameterError(f"name is {name!r}: it must be the name of a Python function.")
    s = scores_of(model)
    lines = list(DAYS) if any(getattr(own, "source", "") == "date" for own in s.columns) else []
    lines += [f"def {name}(row):", '    """The prediction of a linear model and its scores, from a dict of cells."""']
    lines += [f"    s{k} = {bias!r}" for k, bias in enumerate(s.intercept.tolist())]
    for column, weights in s.blocks():
        lines.append(f"    v = row[{column.name!r}]")
        words = ("", *MISSING, *s.na)
        lines += (
            _number(column, weights, words) if isinstance(column, NumberColumn) else _levels(column, weights, words)
        )
    lines.append("    scores = [" + ", ".join(f"s{k}" for k in range(len(s.intercept))) + "]")
    if s.classes is None:
        lines.append("    return s0, scores")
    elif len(s.intercept) == 1:
        sign = ">" if s.boundary == "negative" else ">="
        lines.append(f"    return ({s.classes[-1]!r} if s0 {sign} 0 else {s.classes[0]!r}), scores")
    else:
        lines.append(f"    return {s.classes!r}[scores.index(max(scores))], scores")
    return "\n".join(lines) + "\n"


DAYS = """\
def _days(v, form):
    \"\"\"Days since 1970 of a date, a moment, or text in the format of the training table.\"\"\"
    from datetime import date, datetime, timezone

    if isinstance(v, str):
        clocks = ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p")
        day, zones = form or "%Y-%m-%d", ("", "%z", " %z")
        for own in [day, *(day + mark + clock + zone for clock in clocks for mark in " T" for zone in zones)]:
            try:
                v = datetime.strptime(v.strip().replace("Sept", "Sep"), own)
                break
            except ValueError:
                continue
        else:
            raise ValueError(f"{v!r} is not a date like {form}")
    if not isinstance(v, datetime):
        v = datetime(v.year, v.month, v.day)
    v = v.astimezone(timezone.utc).replace(tzinfo=None) if v.tzinfo else v
    return (v - datetime(1970, 1, 1)).total_seconds() / 86400

""".splitlines()


def _number(column: NumberColumn, weights: Any, words: tuple[str, ...]) -> list[str]:
    lines = [f"    gone = v is None or v != v or v in {(*words, *sorted(NO_VALUE))!r}"]
    lines += [] if column.writing is None else _as_written(column.writing)
    lines += [f"    v = 0.0 if gone else _days(v, {column.format!r})"] if column.source == "date" else []
    if column.source == "boolean":
        lines.append(f"    v = {TRUTHS!r}.get(str(v).lower(), v)")
    lines.append(f"    x = {column.fill!r} if gone else float(v)")
    if column.shift or column.scale != 1.0:
        lines.append(f"    x = (x - {column.shift!r}) / {column.scale!r}")
    lines += [f"    s{k} += {w!r} * x" for k, w in enumerate(weights[:, 0].tolist())]
    if column.indicator:
        lines.append("    if gone:")
        lines += [f"        s{k} += {w!r}" for k, w in enumerate(weights[:, 1].tolist())]
    return lines


def _as_written(writing: Writing) -> list[str]:
    """Text as the training table has it, $1,234.50 or 12,5 %, as a number; numbers stay as they are."""
    steps = [(mark, "") for mark in (writing.unit, writing.group) if mark.strip()]
    steps += [("\u2019", "")] if writing.group == "'" else []
    steps += [(",", ".")] if writing.decimal == "," else []
    chain = "".join(f".replace({a!r}, {b!r})" for a, b in [*steps, ("\u2212", "-")])
    return ["    if isinstance(v, str):", f"        v = ''.join(v{chain}.split())"]


def _levels(column: CategoryColumn, weights: Any, words: tuple[str, ...]) -> list[str]:
    place, missing, other = levels_of(column)
    known = tuple(word for word in words if word not in place)
    empty = f" or v in {known!r}" if known else ""
    cell = {"text": "str(v)", "boolean": "(v.lower() if isinstance(v, str) else 'true' if v else 'false')"}.get(
        column.source, "'%.17g' % v"
    )
    lines = [f"    j = {missing} if v is None or v != v{empty} else {place!r}.get({cell}, {other})", "    if j >= 0:"]
    return lines + [f"        s{k} += {row!r}[j]" for k, row in enumerate(weights.tolist())]

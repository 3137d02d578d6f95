"""The answers on one screen of a terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from separatrix.auditing.words import count, seconds, share

WIDTH = 100
ANSWER = 43  # column in which answers begin
ORDER = ("existence", "best", "algorithm", "new_points", "assumptions")


def screen(content: dict[str, Any], style: Any = None) -> list[str]:
    """One screen: the table, what was guessed, five answers, the recommendation. ``style`` makes text bold."""
    bold = style or (lambda text: text)
    lines = [*_folded(opening(content["table"]), ""), *_guessed(content["table"]), ""]
    for number, key in enumerate(ORDER, 1):
        own = content["answers"][key]
        head = f"{number} {own['question']}"
        lines.append(f"{head:<{ANSWER}}{bold(_answer(key, own))}")
        for text in own["lines"][: 2 if key != "existence" else 3]:
            lines += _folded(text, "  ")
    return [*lines, "", *advice(content, bold)]


def opening(table: dict[str, Any]) -> str:
    """The table in a line."""
    columns = (
        f" · {count(table['columns'])} columns → {count(table['features'])} features"
        if table["columns"]
        else (f" · {count(table['features'])} features")
    )
    return f"{table['source']}   {count(table['rows'])} rows{columns} · {target(table)}"


def target(table: dict[str, Any]) -> str:
    """The target in a few words."""
    if table["kind"] == "regression":
        return f"{table['target']}: {table['range'][0]:g} to {table['range'][1]:g}"
    classes = table["classes"]
    if table["kind"] == "binary":
        first, second = sorted(classes, key=lambda own: own["label"] != table["positive"])
        part = share(first["rows"] / table["rows"])
        told = f"{first['label']} ({count(first['rows'])} rows, {part}), {second['label']} ({count(second['rows'])})"
        return f"{table['target']}: {told}"
    shown = ", ".join(f"{own['label']} ({count(own['rows'])})" for own in classes[:5])
    return f"{table['target']}: {shown}{f', … ({len(classes)} classes)' if len(classes) > 5 else ''}"


def _guessed(table: dict[str, Any]) -> list[str]:
    lines = []
    if table["notes"]:
        shown = table["notes"][:6]
        more = f" · and {len(table['notes']) - 6} more" if len(table["notes"]) > 6 else ""
        lines += _folded("guessed: " + " · ".join(shown) + more, "")
    for leak in table["leaks"]:
        aside = "set aside" if leak["set_aside"] else "kept"
        lines += _folded(f"suspected leak, {aside}: '{leak['column']}': {leak['evidence']}", "")
    return lines


def _answer(key: str, own: dict[str, Any]) -> str:
    if key != "algorithm" or not own["seconds"]:
        return str(own["answer"])
    name = own["answer"].removeprefix("yes: ")
    return f"{own['answer']}, {seconds(own['seconds'][name])}" if name in own["seconds"] else str(own["answer"])


def advice(content: dict[str, Any], bold: Any) -> list[str]:
    """The recommendation, what was left out, and nothing else."""
    told = content["recommendation"]
    lines = [bold(line) for line in _folded(told["use"], "")]
    for text in told["cautions"][:4]:
        lines += _folded(text, "")
    if content["left_out"]:
        listed = "; ".join(own["what"] for own in content["left_out"])
        lines += _folded(f"left out, with reasons in the report: {listed}.", "")
    return lines


def _folded(text: str, indent: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=True) or [""]

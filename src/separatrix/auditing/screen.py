"""The answers on one screen of a terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from separatrix.auditing.phrasing import count, number, plural, seconds, share, unbroken

WIDTH = 100
NARROWEST = 60
ANSWER = 43  # column in which answers begin
ORDER = ("existence", "best", "algorithm", "new_points", "assumptions")


def screen(content: dict[str, Any], style: Any = None, width: int = WIDTH) -> list[str]:
    """One screen: the table, what was guessed, five answers, the recommendation. ``style`` makes text bold."""
    bold = style or (lambda text: text)
    width = min(max(width, NARROWEST), WIDTH)

    def folded(text: str, indent: str = "") -> list[str]:
        lines = wrap(unbroken(text), width, initial_indent=indent, subsequent_indent=indent) or [""]
        return [line.replace("\u00a0", " ") for line in lines]

    table = content["table"]
    lines = [*folded(f"{table['source']}   {opening(table)}"), *_guessed(table, folded), ""]
    for k, key in enumerate(ORDER, 1):
        own = content["answers"][key]
        head, told = f"{k} {own['question']}", answer(key, own)
        if ANSWER + len(told) <= width:
            lines.append(f"{head:<{ANSWER}}{bold(told)}")
        else:
            lines += [head, *(f"  {bold(line.strip())}" for line in folded(told, "  "))]
        for text in own["lines"][: 2 if key != "existence" else 3]:
            lines += folded(text, "  ")
    return [*lines, "", *_advice(content, bold, folded)]


def opening(table: dict[str, Any]) -> str:
    """The table in a line, its name left out."""
    features = plural(table["features"], "feature")
    columns = f"{plural(table['columns'], 'column')} → {features}" if table["columns"] else features
    return f"{plural(table['rows'], 'row')} · {columns} · {target(table)}"


def target(table: dict[str, Any]) -> str:
    """The target in a few words."""
    if table["kind"] == "regression":
        return f"{table['target']}: {number(table['range'][0], 6)} to {number(table['range'][1], 6)}"
    classes = table["classes"]
    if table["kind"] == "binary":
        first, second = sorted(classes, key=lambda own: own["label"] != table["positive"])
        part = share(first["rows"] / table["rows"])
        told = f"{first['label']} ({count(first['rows'])} rows, {part}), {second['label']} ({count(second['rows'])})"
        return f"{table['target']}: {told}"
    shown = ", ".join(f"{own['label']} ({count(own['rows'])})" for own in classes[:5])
    return f"{table['target']}: {shown}{f', … ({len(classes)} classes)' if len(classes) > 5 else ''}"


def _guessed(table: dict[str, Any], folded: Any) -> list[str]:
    lines = []
    if table["notes"]:
        shown = table["notes"][:6]
        more = f" · and {len(table['notes']) - 6} more" if len(table["notes"]) > 6 else ""
        lines += folded("guessed: " + " · ".join(shown) + more)
    for leak in table["leaks"]:
        aside = "set aside" if leak["set_aside"] else "kept"
        lines += folded(f"suspected leak, {aside}: '{leak['column']}': {leak['evidence']}")
    return lines


def answer(key: str, own: dict[str, Any]) -> str:
    """An answer in a few words; that of the third question with the time that the learner took."""
    if key != "algorithm" or not own["seconds"]:
        return str(own["answer"])
    name = own["answer"].removeprefix("yes: ")
    return f"{own['answer']}, {seconds(own['seconds'][name])}" if name in own["seconds"] else str(own["answer"])


def _advice(content: dict[str, Any], bold: Any, folded: Any) -> list[str]:
    """The recommendation, what was left out, and nothing else."""
    told = content["recommendation"]
    lines = [bold(line) for line in folded(told["use"])]
    for text in told["cautions"][:4]:
        lines += folded(text)
    if content["left_out"]:
        listed = "; ".join(own["what"] for own in content["left_out"])
        lines += folded(f"left out, with reasons in the report: {listed}.")
    return lines

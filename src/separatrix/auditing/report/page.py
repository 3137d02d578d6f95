"""The page: a template filled with audit.json. Everything is escaped but the figures, which are drawn here."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from separatrix.auditing import phrasing as words
from separatrix.auditing.report import curves, figures, sparks
from separatrix.auditing.screen import ORDER, answer, opening

HERE = Path(__file__).parent / "templates"
BADGES = {
    "proved": "checked in exact arithmetic; anyone can check it again",
    "computed": "computed from the rows, within rounding",
    "measured": "measured on this table",
    "estimated": "an estimate with its interval",
    "tested": "tests and hints, no proof",
    "open": "could not be answered",
}


def page(content: dict[str, Any]) -> str:
    """The report as one HTML file that needs nothing else."""
    return str(_environment().get_template("report.html").render(**_given(content)))


def fragment(content: dict[str, Any]) -> str:
    """The first screen for a notebook."""
    return str(_environment().get_template("fragment.html").render(**_given(content, figures_too=False)))


def _given(content: dict[str, Any], figures_too: bool = True) -> dict[str, Any]:
    from markupsafe import Markup

    drawn = {}
    if figures_too:
        made = {name: getattr(figures, name) for name in FIGURES} | {name: getattr(curves, name) for name in CURVES}
        drawn = {name: Markup(svg) for name, make in made.items() if (svg := make(content))}
    small = {key: Markup(getattr(sparks, key)(content)) for key in ORDER}
    return {
        "a": content,
        "table": content["table"],
        "answers": content["answers"],
        "opening": opening(content["table"]),
        "told": {key: answer(key, own).removesuffix(f", {own['badge']}") for key, own in content["answers"].items()},
        "order": ORDER,
        "figures": drawn,
        "sparks": small,
        "badges": BADGES,
        "style": Markup((HERE / "report.css").read_text(encoding="utf-8")),
    }


FIGURES = ("projection", "fit", "coefficients", "mistakes", "learners", "growth", "split")
CURVES = ("roc", "precision_recall", "calibration", "scatter", "quantiles")


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: words.unbroken(value) if type(value) is str else value,
    )
    made.filters |= {
        "number": words.number,
        "count": words.count,
        "share": words.share,
        "seconds": words.seconds,
        "short": words.short,
        "p": words.p_value,
        "estimate": estimate,
        "percent": lambda e: estimate(e, True),
        "some": words.some,
        "metric": words.metric,
        "ends": lambda row: ends(row["low"], row["high"]),
        "bound": words.bound,
        "called": lambda label, content: figures.called(content, label, 32),
    }
    made.globals |= {"marks": {"holds": "✓", "fails": "✗", "look": "!", "unknown": "?"}}
    return made


def estimate(e: dict[str, Any] | None, as_share: bool = False) -> str:
    """A value with its interval."""
    if e is None or e["value"] is None:
        return "undefined"
    if as_share:
        return f"{words.share(e['value'])} {words.interval(e['low'], e['high'], True)}".strip()
    return words.with_interval(e["value"], e["low"], e["high"])


def ends(low: float | None, high: float | None) -> str:
    """An interval that may be open at either end, or nothing."""
    if low is None and high is None:
        return ""
    if low is not None and high is not None:
        return words.with_interval(low, low, high).split(" ", 1)[1]
    return f"[{'−∞' if low is None else words.number(low)}, {'∞' if high is None else words.number(high)}]"

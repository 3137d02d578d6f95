"""The page: a template filled with the facts and sentences of an audit. Everything is escaped but the figures."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

from separatrix.auditing import phrasing
from separatrix.auditing.assumption_answer import MARKS
from separatrix.auditing.audit_certificate import Certified
from separatrix.auditing.audit_facts import AuditFacts
from separatrix.auditing.report import curves, figures
from separatrix.auditing.report.drawing import spark
from separatrix.auditing.report.proof import content_policy, page_proof, rows_shown
from separatrix.auditing.screen import opening

HERE = Path(__file__).parent / "templates"
BADGES = {
    "proved": "checked in exact arithmetic; anyone can check it again",
    "computed": "computed from the rows, within rounding",
    "measured": "measured on this table",
    "estimated": "an estimate with its interval",
    "tested": "tests and hints, not a proof",
    "open": "could not be answered",
}
VERDICTS = {"holds": "holds", "fails": "fails", "look": "needs a look", "unknown": "unknown"}
FIGURES = {
    "projection": figures.projection,
    "coefficients": figures.coefficients,
    "mistakes": figures.mistakes,
    "learners": figures.learners,
    "learning_curve": figures.learning_curve,
    "split": figures.split,
    "fitted": curves.fitted,
    "predicted": curves.predicted,
    "roc": curves.roc,
    "precision_recall": curves.precision_recall,
    "calibration": curves.calibration,
    "quantiles": curves.quantiles,
}


def page(facts: AuditFacts, certified: Certified | None = None, with_rows: bool = True) -> str:
    """The report as one HTML file that needs nothing else; ``with_rows=False`` leaves rows of the table out."""
    proof = page_proof(facts, certified, with_rows)
    more = {
        "proof": proof,
        "policy": content_policy(proof),
        "with_rows": with_rows,
        "rows_shown": rows_shown(facts) if with_rows else 0,
    }
    return str(_environment().get_template("report.html").render(**_context(facts, with_figures=True), **more))


def fragment(facts: AuditFacts) -> str:
    """The first screen for a notebook."""
    return str(_environment().get_template("fragment.html").render(**_context(facts, with_figures=False)))


def _context(facts: AuditFacts, with_figures: bool) -> dict[str, Any]:
    from markupsafe import Markup

    answers = facts.answers
    drawn = {name: make(facts) for name, make in FIGURES.items()} if with_figures else {}
    return {
        "a": facts,
        "table": facts.table,
        "answers": answers,
        "opening": opening(facts.table),
        "figures": {name: Markup(svg) for name, svg in drawn.items() if svg},
        "sparks": {key: Markup(spark(key, facts) or "") for key in answers},
        "badges": BADGES,
        "verdicts": VERDICTS,
        "marks": MARKS,
        "level": phrasing.share(facts.table.level).replace(".0%", "%"),
        "style": Markup((HERE / "report.css").read_text(encoding="utf-8")),
    }


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=phrasing.unbroken_text,
    )
    made.filters |= {
        "number": phrasing.number,
        "count": phrasing.count,
        "share": phrasing.share,
        "seconds": phrasing.seconds,
        "short": phrasing.short,
        "estimate": phrasing.estimate,
        "percent": partial(phrasing.estimate, as_share=True),
        "metric": phrasing.metric_name,
        "ends": phrasing.open_interval,
        "bound": phrasing.bound,
        "called": figures.called,
    }
    return made

"""The page: a template filled with the facts and sentences of an audit. Everything is escaped but the figures.

It carries the certificate with the checker, and the rows that it needs, up to a stated size. Either all rows of the
certified file are in the page, so that every claim can be checked, or only those that rule a hyperplane out, or none,
and the reader gives the page the file.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import separatrix
from separatrix.auditing import phrasing
from separatrix.auditing.audit_certificate import Certified
from separatrix.auditing.audit_facts import AuditFacts, opening
from separatrix.auditing.prediction_answers import MARKS
from separatrix.auditing.report import curves, figures
from separatrix.auditing.report.drawing import spark
from separatrix.extras import need

HERE = Path(__file__).parent / "templates"
MOST_ROWS = 300_000  # bytes of rows in a page
MOST_CERTIFICATE = 300_000  # bytes of proofs in a page
WITNESS_CLAIMS = ("not-complete", "quasi", "overlap")
SCRIPTS = (
    Path(separatrix.__file__).with_name("checker.js"),
    HERE / "proof.js",
)
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
    need("jinja2")
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


@dataclass(frozen=True)
class PageProof:
    """What the page carries: claims of all, rows as printed, and the text of its scripts."""

    data: str  # JSON for the scripts
    claims: int
    claims_left_out: int
    rows: int  # in the page
    kind: str  # "whole", "witness" or "none"
    file: str
    file_rows: int
    checker: str
    script: str
    checker_sha256: str


def page_proof(facts: AuditFacts, certified: Certified | None, with_rows: bool) -> PageProof | None:
    """The proof for the page; None where nothing was certified or no claim is small enough."""
    if certified is None:
        return None
    content, left_out = _small_enough(certified.certificate.to_dict())
    if content is None:
        return None
    claims = len(content.get("certificates", [content]))
    text = certified.rows_text(None, MOST_ROWS) if with_rows else None
    numbers, kind = None, "none" if text is None else "whole"
    if with_rows and text is None:
        numbers = _witness(content)
        text = None if numbers is None else certified.rows_text(numbers, MOST_ROWS)
        kind = "none" if text is None else "witness"
    held = certified.size if kind == "whole" else len(numbers or []) if kind == "witness" else 0
    picture = facts.pictures.projection
    data = {
        "certificate": json.dumps(content, ensure_ascii=False),
        "kind": kind,
        "rows": text,
        "numbers": numbers if kind == "witness" else None,
        "file": certified.file_name,
        "of": None if certified.rows is None else certified.rows.tolist(),
        "marks": {} if picture is None else {"witness": picture.witness, "support": picture.support},
        "claimsLeftOut": left_out,
    }
    checker, script = (_script(path) for path in SCRIPTS)
    quoted = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")  # nothing in it can end the element
    digest = sha256(checker.encode()).hexdigest()
    return PageProof(quoted, claims, left_out, held, kind, certified.file_name, certified.size, checker, script, digest)


def _small_enough(content: dict[str, Any]) -> tuple[dict[str, Any] | None, int]:
    """The claims that come first, as many as the page holds, and the number left out.

    A first claim that is too long for the page is replaced by that of its witness alone.
    """
    parts = content.get("certificates", [content])
    whole = len(parts)
    if len(json.dumps(parts[0])) > MOST_CERTIFICATE and "witness" in parts[0]:
        parts, whole = [_about_the_witness(parts[0])], whole + 1
    kept, size = list[dict[str, Any]](), 0
    for part in parts:
        size += len(json.dumps(part))
        if size > MOST_CERTIFICATE:
            break
        kept.append(part)
    left_out = whole - len(kept)
    if not kept:
        return None, left_out
    return (kept[0] if "certificates" not in content else {**content, "certificates": kept}), left_out


def _about_the_witness(overlap: dict[str, Any]) -> dict[str, Any]:
    """The claim that these rows cannot be separated, from a proof of more."""
    head = {key: value for key, value in overlap.items() if key not in ("support", "lambda", "null", "near", "witness")}
    return {**head, "claim": "not-complete", **overlap["witness"]}


def _witness(content: dict[str, Any]) -> list[int] | None:
    """The rows of the certified file that the first claim needs; None where it needs all."""
    first = content.get("certificates", [content])[0]
    if first["claim"] not in WITNESS_CLAIMS:
        return None
    support = (first.get("witness") or first)["support"]
    return sorted({entry[0] if isinstance(entry, list) else entry for entry in support})


@cache
def _script(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if "</script" in text.lower() or "<!--" in text:
        raise ValueError(f"{path.name} cannot stand inside a page: it holds the end of a script or a comment.")
    return text


def content_policy(proof: PageProof | None) -> str:
    """What the page may do: draw itself, and run these scripts and no others; no network."""
    scripts = [] if proof is None else [proof.checker, proof.script]
    hashes = [base64.b64encode(sha256(text.encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes) or "'none'"
    closed = "base-uri 'none'; form-action 'none'"
    return f"default-src 'none'; script-src {allowed}; img-src data:; style-src 'unsafe-inline'; {closed}"


def rows_shown(facts: AuditFacts) -> int:
    """How many rows stand in the tables of the page."""
    best, separation = facts.best, facts.separation
    excerpts: list[Any] = [] if separation is None else [separation.excerpt]
    if best is not None:
        excerpts += [own.excerpt for own in (best.margin, best.mistakes) if own is not None]
    suspects = facts.assumptions.suspects
    excerpts += [] if suspects is None else [suspects.excerpt]
    return len({row.row for excerpt in excerpts if excerpt is not None for row in excerpt.rows})

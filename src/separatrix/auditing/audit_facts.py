"""All facts of an audit with the sentences made of them: the content of audit.json, and one screen of a terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from textwrap import wrap
from typing import Any

from separatrix.auditing import efficiency_answer, hyperplane_answers, prediction_answers
from separatrix.auditing.budget import Omission
from separatrix.auditing.efficiency_answer import AlgorithmFacts
from separatrix.auditing.facts import Pictures, TableFacts
from separatrix.auditing.hyperplane_answers import (
    BestFacts,
    CertificateFacts,
    ExactFitFacts,
    LeastSquaresFacts,
    SeparationFacts,
)
from separatrix.auditing.phrasing import Answer, count, number, plural, share, unbroken
from separatrix.auditing.prediction_answers import AssumptionFacts, PredictionFacts
from separatrix.auditing.recommendation import Recommendation
from separatrix.persistence.json_values import plain

FORMAT = "separatrix-audit/2"


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What depends on the day and the machine."""

    date: str
    version: str
    seconds: dict[str, float]
    test_use: str | None


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """What was found about a table; ``separation`` or ``exact_fit``, ``best`` or ``least_squares`` is None."""

    table: TableFacts
    separation: SeparationFacts | None
    exact_fit: ExactFitFacts | None
    best: BestFacts | None
    least_squares: LeastSquaresFacts | None
    algorithm: AlgorithmFacts
    prediction: PredictionFacts
    assumptions: AssumptionFacts
    recommendation: Recommendation
    pictures: Pictures
    certificate: CertificateFacts | None
    left_out: list[Omission]
    run: RunFacts

    @property
    def answers(self) -> dict[str, Answer]:
        """The five questions with their answers, in words."""
        if self.separation is not None and self.best is not None:
            first = hyperplane_answers.separation(self.separation, self.table)
            second = hyperplane_answers.best(self.best, self.table, self.separation.separable)
        else:
            assert self.exact_fit is not None  # a quantity has these two
            assert self.least_squares is not None
            first = hyperplane_answers.exact_fit(self.exact_fit, self.table)
            second = hyperplane_answers.least_squares(self.least_squares)
        return {
            "separation": first,
            "best": second,
            "algorithm": efficiency_answer.algorithm(self.algorithm, self.best, self.prediction.chosen),
            "prediction": prediction_answers.prediction(self.prediction, self.table),
            "assumptions": prediction_answers.assumptions(self.assumptions),
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as audit.json has them; numbers that are not finite are null."""
        answers = {key: asdict(answer) for key, answer in self.answers.items()}
        return {"format": FORMAT, "answers": answers, **plain(asdict(self))}


WIDTH = 80
WIDEST, NARROWEST = 100, 60
LINES = 3  # sentences below an answer
CAUTIONS = 4
NOTES = 6


def screen(facts: AuditFacts, style: Callable[[str], str] | None = None, width: int = WIDTH) -> list[str]:
    """The table, what was guessed, five answers, the recommendation; ``style`` makes text bold."""
    bold = style or (lambda text: text)
    width = min(max(width, NARROWEST), WIDEST)

    def folded(text: str, indent: str = "") -> list[str]:
        lines = wrap(unbroken(text), width, initial_indent=indent, subsequent_indent=indent) or [""]
        return [line.replace("\u00a0", " ") for line in lines]

    lines = [*folded(f"{facts.table.source}   {opening(facts.table)}"), *_guessed(facts.table, folded), ""]
    for k, answer in enumerate(facts.answers.values(), 1):
        lines.append(f"{k} {answer.question}")
        lines += [f"  {bold(line.strip())}" for line in folded(answer.answer, "  ")]
        for text in answer.lines[:LINES]:
            lines += folded(text, "  ")
    return [*lines, "", *_advice(facts, bold, folded)]


def opening(table: TableFacts) -> str:
    """The table in a line, without its name."""
    features = plural(table.features, "feature")
    columns = f"{plural(table.columns, 'column')} → {features}" if table.columns else features
    return f"{plural(table.rows, 'row')} · {columns} · {target(table)}"


def target(table: TableFacts) -> str:
    """The target in a few words."""
    if table.target_range is not None:
        return f"{table.target}: {number(table.target_range[0], 6)} to {number(table.target_range[1], 6)}"
    if table.task == "binary":
        first, second = sorted(table.classes, key=lambda c: c.label != table.positive)
        part = share(first.rows / table.rows)
        rest = f"{_named(second.label)} {count(second.rows)}"
        return f"{table.target}: {_named(first.label)} {count(first.rows)} ({part}), {rest}"
    shown = ", ".join(f"{_named(c.label)} {count(c.rows)}" for c in table.classes[:5])
    more = f", … ({len(table.classes)} classes)" if len(table.classes) > 5 else ""
    return f"{table.target}: {shown}{more}"


def _named(label: str) -> str:
    """A label beside a count: quoted where it is a number itself."""
    return f"'{label}'" if label[-1:].isdigit() else label


def _guessed(table: TableFacts, folded: Callable[[str], list[str]]) -> list[str]:
    lines = []
    if table.notes:
        more = f" · and {len(table.notes) - NOTES} more" if len(table.notes) > NOTES else ""
        lines += folded("guessed: " + " · ".join(table.notes[:NOTES]) + more)
    for leak in table.leaks:
        state = "set aside" if leak.set_aside else "kept"
        lines += folded(f"possible leak, {state}: '{leak.column}': {leak.evidence}")
    return lines


def _advice(facts: AuditFacts, bold: Callable[[str], str], folded: Callable[[str], list[str]]) -> list[str]:
    """The recommendation, and what was left out."""
    told = facts.recommendation
    lines = [bold(line) for line in folded(told.use)]
    if told.why:
        lines += folded(told.why)
    for text in told.cautions[:CAUTIONS]:
        lines += folded(f"- {text}")
    if facts.left_out:
        listed = "; ".join(dict.fromkeys(own.what for own in facts.left_out))
        lines += folded(f"left out, with reasons in the report: {listed}.")
    return lines

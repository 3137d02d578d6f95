"""Question 1: does a hyperplane without a mistake exist? The verdict with its proof, and the rows that decide it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.excerpt import cells
from separatrix.auditing.phrasing import count, named, nearly_one, number, plural, share, some
from separatrix.auditing.study import Study
from separatrix.proofs.multiclass import MulticlassSeparability, multiclass_separability
from separatrix.proofs.separability import Given, Separability, counted
from separatrix.validation.marks import value_marks

QUESTION = "Does a separating hyperplane exist?"
KESLER_ROWS = 100_000  # rows times other classes, up to which all classes are decided at once
CONTRADICTIONS = 8  # groups of equal rows shown


@dataclass(frozen=True)
class Existence:
    """What is known about separation, live for the questions that follow, and as plain values."""

    content: dict[str, Any]
    verdict: str
    given: Given
    two: Separability | None = None
    each: MulticlassSeparability | None = None
    together: Separability | None = None

    @property
    def exists(self) -> bool:
        return self.verdict == "complete"


def given_of(study: Study, X: Any = None, names: list[str] | None = None) -> Given:
    """The rows of a study as theory takes them."""
    called = None if names is None else tuple(names)
    table, labels, origin, source = counted(study.rows if X is None else X, study.codes, None, called)
    return Given(table, labels, origin, source, True, "binary64")


def ask(study: Study) -> Existence:
    """Decide and prove."""
    given = given_of(study, names=study.names)
    common = {"question": QUESTION, "badge": "proved", "contradictions": contradictions(study)}
    if not study.binary:
        return _many(study, given, common)
    positive = study.positive
    found = given.two_groups([positive], [1 - positive])
    content = common | _told(study, found) | {"parts": []}
    if found.verdict == "undecided":
        content["badge"] = "open"
    content["lines"] += _with_leaks(study) + _about_contradictions(content["contradictions"])
    return Existence(content, found.verdict, given, two=found)


def _told(study: Study, found: Separability) -> dict[str, Any]:
    """The answer about two classes."""
    n, strict = study.n, len(found.strict_rows)
    witness = found.witness.tolist()
    out: dict[str, Any] = {
        "verdict": found.verdict,
        "witness": {"rows": witness, "shown": cells(study, witness, even=True)},
        "strict_rows": strict,
        "tied_rows": len(found.tied_rows),
        "hyperplane": hyperplane(study, found.coef, found.intercept),
    }
    if found.verdict == "complete":
        return out | {
            "answer": "yes, proved",
            "lines": [f"A hyperplane has all {count(n)} rows strictly on their own side; checked in exact arithmetic."],
        }
    if found.verdict == "quasi":
        line = (
            f"None has every row strictly on its side ({plural(len(witness), 'row')} rule it out: "
            f"{some(witness)}), but one has no row on the wrong side: {count(strict)} of {count(n)} rows "
            "lie clear of it, the others on it or mixed within it."
        )
        return out | {"answer": "no, proved", "lines": [line]}
    if found.verdict == "overlap":
        line = (
            f"{plural(len(witness), 'row')} already {'rules' if len(witness) == 1 else 'rule'} it out "
            f"(rows {some(witness)}): however a hyperplane is put, it has one of them on the wrong side."
        )
        return out | {"answer": "no, proved", "lines": [line]}
    return out | {"answer": "undecided", "lines": [f"Neither could be proved; tried {'; '.join(found.tried)}."]}


def hyperplane(study: Study, coef: NDArray[np.float64] | None, intercept: float | None) -> dict[str, Any] | None:
    """The largest coefficients of a hyperplane, by their effect on standardised columns."""
    if coef is None or intercept is None:
        return None
    effect = np.abs(coef) * spreads(study)
    order = np.argsort(-effect, kind="stable")[: min(12, int(np.count_nonzero(effect)))]
    return {
        "features": [
            {"name": study.names[j], "coefficient": float(coef[j]), "effect": float(effect[j])} for j in order.tolist()
        ],
        "intercept": float(intercept),
        "of": int(np.count_nonzero(coef)),
    }


def spreads(study: Study) -> NDArray[np.float64]:
    """The standard deviation of every column."""
    if not study.sparse:
        return np.asarray(study.rows.std(axis=0))
    mean = np.asarray(study.rows.mean(axis=0)).ravel()
    square = np.asarray(study.rows.multiply(study.rows).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0)))


def contradictions(study: Study) -> dict[str, Any]:
    """Rows that are equal in every feature but not in the target."""
    _, group = np.unique(value_marks(study.rows), return_inverse=True)
    times = np.bincount(group)
    first = np.full(len(times), len(study.classes))
    np.minimum.at(first, group, study.codes)
    last = np.zeros(len(times), dtype=np.intp)
    np.maximum.at(last, group, study.codes)
    bad = np.flatnonzero(first != last)
    rows = np.flatnonzero(np.isin(group, bad))
    shown: list[list[dict[str, Any]]] = []
    if len(bad):
        by_group: dict[int, list[int]] = {}
        for i in rows.tolist():
            by_group.setdefault(int(group[i]), []).append(i)
        listed = sorted(by_group.values())[:CONTRADICTIONS]
        shown = [[{"row": i, "label": study.labels[int(study.codes[i])]} for i in own[:8]] for own in listed]
    return {
        "groups": len(bad),
        "rows": len(rows),
        "duplicates": int(study.n - len(times)),
        "shown": shown,
    }


def _about_contradictions(found: dict[str, Any]) -> list[str]:
    if not found["groups"]:
        return []
    first = found["shown"][0]
    pair = [first[0], next((own for own in first if own["label"] != first[0]["label"]), first[-1])]
    told = " and ".join(f"row {own['row']} ({own['label']})" for own in pair)
    return [
        f"{plural(found['rows'], 'row')} are equal to another row of another class (for example {told}): "
        "no rule of these features can be right on both."
    ]


def _with_leaks(study: Study) -> list[str]:
    """What the columns that were set aside would have done."""
    if not study.aside or study.frame is None or study.n * len(study.frame.columns) > 20_000_000:
        return []
    from dataclasses import replace

    from separatrix.features.encode import Encoder

    dropped = tuple(name for name in study.choices.drop if name not in study.aside)
    encoder = Encoder.fitted(study.frame, replace(study.choices, drop=dropped))
    positive = study.positive
    found = given_of(study, encoder.encode(study.frame)[0]).two_groups([positive], [1 - positive])
    says = {"complete": "would be separable (proved), which says nothing"}.get(found.verdict, "would not be separable")
    return [f"With {named(study.aside)}, set aside as a leak, the table {says}."]


def _many(study: Study, given: Given, common: dict[str, Any]) -> Existence:
    """More than two classes: each against the rest, and all at once."""
    each = multiclass_separability(given, "ovr")
    parts = [
        {
            "class": study.labels[k],
            "rows": int(study.counts[k]),
            "verdict": part.verdict,
            "witness": part.witness.tolist(),
            "strict_rows": len(part.strict_rows),
        }
        for k, part in enumerate(each.parts.values())
    ]
    apart = [part["class"] for part in parts if part["verdict"] == "complete"]
    together = None
    if study.n * (len(study.classes) - 1) <= KESLER_ROWS:
        together = multiclass_separability(given, "kesler").parts["all"]
    else:
        study.clock.leave_out("all classes at once", "too many rows and classes; each was decided against the rest")
    lines = []
    if together is not None:
        verdict = together.verdict
        tied = len(together.tied_rows)
        asked = tied + len(together.strict_rows)
        lines.append(_ALL_AT_ONCE[verdict].format(k=len(study.classes), tied=count(tied), asked=count(asked)))
    else:
        verdict = each.verdict
    lines.append(f"Each against the rest: {len(apart)} of {len(parts)} classes can be cut off by one hyperplane.")
    answer = {"complete": "yes, for all classes, proved", "undecided": "undecided"}.get(verdict, "no, proved")
    worst = next((part for part in parts if part["verdict"] != "complete"), None)
    witness = [] if worst is None else worst["witness"]
    content = common | {
        "answer": answer,
        "verdict": verdict,
        "badge": "open" if verdict == "undecided" else "proved",
        "lines": lines + _about_contradictions(common["contradictions"]),
        "parts": parts,
        "witness": {
            "rows": witness,
            "shown": cells(study, witness, even=True),
            "class": None if worst is None else worst["class"],
        },
        "strict_rows": None if together is None else len(together.strict_rows),
        "tied_rows": None if together is None else len(together.tied_rows),
        "hyperplane": None,
    }
    return Existence(content, verdict, given, each=each, together=together)


_ALL_AT_ONCE = {
    "complete": "One linear score for each of the {k} classes, largest wins, is right on every row (proved).",
    "quasi": (
        "No linear scores for the {k} classes are right on every row: where none is wrong, {tied} of the {asked} "
        "comparisons of a row's own class with another are tied (proved)."
    ),
    "overlap": "No linear scores for the {k} classes are right on every row (proved).",
    "undecided": "Whether linear scores can be right on every row was not decided.",
}


def ask_regression(study: Study, r2: float, rank: int) -> dict[str, Any]:
    """For a quantity: does a hyperplane go through every point?"""
    n = study.n
    exact = r2 > 1 - 1e-12
    many = rank >= n
    if many or exact:
        reason = f"there are {count(n)} rows and {count(rank)} free coefficients" if many else "R² is 1"
        answer, line = "yes, within rounding", f"Every row can be met, since {reason}: that is no evidence of a law."
    else:
        left = share(1 - r2) if r2 < 0.999 else f"{number(100 * (1 - r2), 2)} %"
        answer = f"no: {left} of the variance is left"
        line = (
            f"The best hyperplane explains all but {left} of the variance of the target "
            f"(R² = {nearly_one(r2)} on these rows); the rest is noise, or bends that no hyperplane has."
        )
    return {
        "question": "Does a hyperplane fit every row?",
        "badge": "computed",
        "answer": answer,
        "lines": [line],
        "verdict": "exact" if many or exact else "inexact",
        "r2": r2,
        "rank": rank,
    }

"""Question 2: is the hyperplane unique, and which is best?

Where the classes can be separated, the widest margin singles one hyperplane out; where they cannot, the fewest
mistakes are bracketed by a proof, and the rows that would have to go are named. Coefficients of the logistic
estimate are pinned, free, or run to infinity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.excerpt import cells
from separatrix.auditing.existence import Existence
from separatrix.auditing.phrasing import count, named, number, plural, share, some
from separatrix.auditing.proofs import Mistakes, fewest, widest
from separatrix.auditing.study import Study
from separatrix.errors import CertificateError
from separatrix.proofs.margin import Margin, margin

QUESTION = "Which hyperplane is best?"
LISTED = 10_000  # row numbers kept
FRAGILE = 0.01  # of a standard deviation: a margin that the next digit of a measurement could close


@dataclass(frozen=True)
class Best:
    """The answer as plain values, and the hyperplane that it speaks of, if there is one."""

    content: dict[str, Any]
    margin: Margin | None = None  # on standardised rows
    raw: Margin | None = None  # on the rows as they are
    mistakes: Mistakes | None = None


def ask(study: Study, existence: Existence) -> Best:
    """Margin or fewest mistakes, and what the logistic estimate does."""
    content: dict[str, Any] = {
        "question": QUESTION,
        "badge": "proved",
        "margin": None,
        "mistakes": None,
        "coefficients": fates(study, existence),
        "margins": [],
    }
    if not study.binary:
        return _many(study, existence, content)
    if existence.verdict == "complete":
        return _widest(study, existence, content)
    return _fewest(study, existence, content)


def _widest(study: Study, existence: Existence, content: dict[str, Any]) -> Best:
    if not study.plan.margins or study.clock.late(0.6):
        why = "too little of the time was left" if study.plan.margins else "too many rows and columns for this budget"
        study.clock.leave_out("the widest gap", why)
        line = f"Infinitely many separate the rows; which has the widest gap was not computed: {why}."
        return Best(content | {"answer": "not unique", "badge": "open", "lines": [line]})
    with study.clock.stage("margin"):
        raw = widest(study, existence)
        scaled = raw if study.sparse else margin(study.standardised, study.signs)
    support = np.sort(np.asarray(raw.support)).tolist()
    fragile = scaled.upper < FRAGILE
    content["margin"] = {
        "lower": raw.lower,
        "upper": raw.upper,
        "standardised": None if study.sparse else {"lower": scaled.lower, "upper": scaled.upper},
        "support": support,
        "shown": cells(study, support, even=True),
        "fragile": fragile,
    }
    reach = f"the nearest row is {number(raw.lower)} away, and no hyperplane does better than {number(raw.upper)}"
    if number(raw.lower) == number(raw.upper):
        reach = f"the nearest row is {number(raw.lower)} away, and no hyperplane does better (proved)"
    lines = [
        f"Infinitely many separate the rows; the widest gap singles one out, with {plural(len(support), 'row')} on its "
        f"edge: {reach}."
    ]
    if not study.sparse:
        wide = f"In standard deviations of the columns the gap is {number(scaled.lower)} on each side"
        lines.append(wide + (": fragile, a change in the next digit could close it." if fragile else "."))
    answer = f"the widest gap: {number(raw.lower)} each side"
    return Best(content | {"answer": answer, "lines": lines}, margin=scaled, raw=raw)


def _fewest(study: Study, existence: Existence, content: dict[str, Any]) -> Best:
    with study.clock.stage("fewest mistakes"):
        found = fewest(study, existence)
    wrong = found.rows.tolist()
    content["mistakes"] = {
        "lower": found.lower,
        "upper": found.upper,
        "proved": found.proved,
        "parts": found.parts,
        "rows": wrong[:LISTED],
        "shown": cells(study, wrong, even=True),
    }
    n, low, high = study.n, int(found.lower), int(found.upper)
    if low == high:
        answer = f"{plural(low, 'mistake is', 'mistakes are')} unavoidable, no fewer"
        lines = [
            f"The best has {count(high)} of {count(n)} rows wrong ({share(high / n)}); no hyperplane has fewer, proved."
        ]
    else:
        answer = f"between {count(low)} and {count(high)} mistakes are unavoidable"
        lines = [
            f"The best found has {count(high)} of {count(n)} rows wrong ({share(high / n)}); it is proved that none "
            f"has fewer than {count(low)}."
        ]
    lines.append(f"Without row{'s' * (len(wrong) > 1)} {some(wrong)} the others are separable." if wrong else "")
    lines += _running_away(content["coefficients"])
    return Best(content | {"answer": answer, "lines": [line for line in lines if line]}, mistakes=found)


def fates(study: Study, existence: Existence) -> dict[str, Any]:
    """What the logistic estimate does at each coefficient, decided exactly where that is affordable."""
    found = existence.two
    out: dict[str, Any] = {"decided": False, "counts": {}, "infinite": [], "fates": {}}
    if found is None or existence.verdict == "undecided":
        return out
    if existence.verdict == "overlap":
        return out | {"decided": True, "estimate": "exists"}
    if not study.plan.coefficient_fates or study.clock.late(0.5):
        why = "too little of the time was left" if study.plan.coefficient_fates else "too many to decide one by one"
        study.clock.leave_out("which coefficients run to infinity", why)
        return out | {"estimate": "does not exist"}
    with study.clock.stage("coefficients"):
        try:
            decided = {name: str(fate) for name, fate in found.coefficients.items()}
        except CertificateError as error:
            study.clock.leave_out("which coefficients run to infinity", str(error))
            return out | {"estimate": "does not exist"}
    counts: dict[str, int] = {}
    for fate in decided.values():
        counts[fate] = counts.get(fate, 0) + 1
    infinite = [{"name": name, "sign": fate} for name, fate in decided.items() if fate in ("+inf", "-inf")]
    return {"decided": True, "estimate": "does not exist", "counts": counts, "infinite": infinite, "fates": decided}


def _running_away(coefficients: dict[str, Any]) -> list[str]:
    if coefficients.get("estimate") != "does not exist":
        return []
    if not coefficients["infinite"]:
        return ["Logistic regression has no finite estimate here."]
    signs = {"+inf": "+∞", "-inf": "−∞"}
    listed = ", ".join(f"'{own['name']}' → {signs[own['sign']]}" for own in coefficients["infinite"][:4])
    more = len(coefficients["infinite"]) - 4
    return [f"Logistic regression has no finite estimate: {listed}{f' and {more} more' if more > 0 else ''} (proved)."]


def _many(study: Study, existence: Existence, content: dict[str, Any]) -> Best:
    """More than two classes: a margin for every class that can be cut off."""
    apart = [part for part in existence.content["parts"] if part["verdict"] == "complete"]
    if study.plan.allows(len(apart) * 2e-7 * study.plan.cells, 0.2):
        with study.clock.stage("margin"):
            for part in apart:
                k = study.labels.index(part["class"])
                own = margin(study.rows, np.where(study.codes == k, 1, -1))
                content["margins"].append({"class": part["class"], "lower": own.lower, "upper": own.upper})
    elif apart:
        study.clock.leave_out("margins of the classes", "too many rows for this budget")
    if existence.verdict == "complete":
        answer, line = "not unique: all rows can be right", "Infinitely many sets of scores are right on every row."
    else:
        answer = "none is right on every row"
        line = "Which makes the fewest mistakes was not bracketed: that is done for two classes only."
        study.clock.leave_out("the fewest mistakes", "bracketed for two classes only")
    lines = [line]
    if content["margins"]:
        widest = sorted(content["margins"], key=lambda own: -own["lower"])
        told = ", ".join(f"'{own['class']}' {number(own['lower'])}" for own in widest[:4])
        more = f" and {len(widest) - 4} more" if len(widest) > 4 else ""
        lines.append(f"Gaps of the classes that can be cut off, on each side: {told}{more}.")
    return Best(content | {"answer": answer, "lines": lines})


def ask_regression(study: Study, rank: int, dependent: tuple[str, ...]) -> dict[str, Any]:
    """For a quantity: the least-squares hyperplane, unique where no columns depend on each other."""
    unique = not dependent
    line = (
        f"The rows determine all {plural(rank, 'coefficient')}, the constant among them."
        if unique
        else f"{named(dependent)} depend on each other: of all minimisers the shortest is given."
    )
    return {
        "question": QUESTION,
        "badge": "computed",
        "answer": "least squares, and it is unique" if unique else "least squares, but not unique",
        "lines": [line],
        "unique": unique,
        "dependent": list(dependent),
    }


def standardised_hyperplane(study: Study, coef: NDArray[np.float64], intercept: float) -> tuple[Any, float]:
    """A hyperplane of the rows as one of standardised rows."""
    mean, deviation = study.rows.mean(axis=0), study.rows.std(axis=0)
    return coef * deviation, float(intercept + coef @ mean)

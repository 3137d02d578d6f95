"""The recommendation in plain words: which learner and why, and what not to trust."""

from __future__ import annotations

from typing import Any

from separatrix.auditing.best import Best
from separatrix.auditing.existence import Existence
from separatrix.auditing.new_points import NewPoints
from separatrix.auditing.phrasing import named, short
from separatrix.auditing.study import Study

READERS = ("coefficients one by one", "intervals of least squares")
TITLES = {
    "logistic": "logistic regression",
    "logistic (Firth)": "logistic regression with Firth's correction",
    "ridge logistic": "logistic regression with a ridge penalty (C = 1 on standardised columns)",
    "linear discriminant": "the linear discriminant",
    "averaged perceptron": "the averaged perceptron",
    "least squares": "least squares",
    "ridge": "least squares with a ridge penalty",
}


def recommend(
    study: Study, existence: Existence | None, best: Best | None, found: NewPoints, content: dict[str, Any]
) -> dict[str, Any]:
    """What to use, why, and what not to trust."""
    cautions = _cautions(study, existence, best, content)
    if found.chosen is None:
        use = "Do not choose a learner from this table: nothing can be said about new rows."
        return {"use": use, "learner": None, "why": "", "cautions": cautions}
    title = TITLES[found.chosen.name]
    if study.sparse:
        title = title.replace(" on standardised columns", "")
    if _useless(study, found):
        use = "Do not rely on any of these learners: none is shown to be better on new rows than a guess."
        return {"use": use, "learner": None, "why": "", "cautions": cautions}
    rivals = _rivals(found)
    why = f"{found.chosen.why[0].upper()}{found.chosen.why[1:]}"
    why += f"; no other learner is better by more than a standard error{rivals}."
    return {"use": f"Use {title}.", "learner": found.chosen.name, "why": why, "cautions": cautions}


def _useless(study: Study, found: NewPoints) -> bool:
    """Whether the chosen learner is not told apart from guessing."""
    content = found.content
    own = next(entry for entry in content["learners"] if entry["chosen"])["estimates"]
    if study.regression:
        error, guess = own["rmse"], float(study.task.y.std())
        return error["value"] is not None and (error["high"] or error["value"]) >= guess
    if content["metric"] == "roc_auc":
        return own["roc_auc"]["low"] is not None and own["roc_auc"]["low"] <= 0.5
    low = own["accuracy"]["low"]
    guess = content["majority"] if content["metric"] == "accuracy" else 0.0
    return low is not None and low <= guess


def _rivals(found: NewPoints) -> str:
    assert found.chosen is not None  # rivals are asked for where a learner was chosen
    own = found.chosen.name
    worse = [
        pair["second"] if pair["first"] == own else pair["first"]
        for pair in found.content["pairs"]
        if own in (pair["first"], pair["second"]) and pair["holm"] < 0.05
    ]
    return f" (surely worse: {', '.join(worse)})" if worse else ""


def _cautions(study: Study, existence: Existence | None, best: Best | None, content: dict[str, Any]) -> list[str]:
    out = []
    if study.aside:
        listed = named([short(name) for name in study.aside])
        out.append(f"{listed} gives the target away and was left out: a model with it would be worthless.")
    threshold = [short(leak.column) for leak in study.leaks if leak.kind == "threshold"]
    if threshold:
        out.append(f"{named(threshold)} alone separates the classes: make sure it is known before the target is.")
    if best is not None:
        out += _about_hyperplane(best.content, existence is not None and existence.exists)
    if existence is not None and existence.content["contradictions"]["groups"]:
        rows = existence.content["contradictions"]["rows"]
        out.append(f"Do not expect every row to be right: {rows:,} rows contradict an equal row of another class.")
    rare = _rare(study)
    if rare:
        out.append(rare)
    for line in content["assumptions"]["assumptions"]:
        if line["verdict"] == "fails" and line["needed_by"] in READERS:
            out.append(f"{line['advice']} (The assumption of {line['name']} fails: {line['evidence']}.)")
    return out


def _about_hyperplane(content: dict[str, Any], separable: bool) -> list[str]:
    out = []
    infinite = content["coefficients"]["infinite"]
    if separable:
        out.append("Do not report odds ratios of a fit without a penalty: separable classes make them infinite.")
    elif infinite:
        listed = named([own["name"] for own in infinite])
        out.append(
            f"Do not report the odds ratio of {listed} as a number: the maximum-likelihood estimate is infinite."
        )
    if content["margin"] is not None and content["margin"]["fragile"]:
        out.append("Do not take separability for a law: the gap is so small that a rounding could close it.")
    return out


def _rare(study: Study) -> str | None:
    if study.regression:
        return None
    few = [study.labels[k] for k, n in enumerate(study.counts.tolist()) if n < 5]
    return f"Say nothing about {named(few)}: fewer than five rows." if few else None

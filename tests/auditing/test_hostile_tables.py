"""Names, labels and values from strangers are harmless and readable; awkward tables get an answer or a sentence."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import separatrix
from separatrix.auditing.phrasing import p_value
from separatrix.auditing.report.page import SCRIPTS
from separatrix.cli.schema import schemas

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "{% for x in y %}",
    "$\\frac{1}{$",
    'a\nb,"c";--',
    "\x1b[31mred\x07",
    "x" * 10_000,
]


class Tags(HTMLParser):
    """The elements of a page, and its attributes that could run something."""

    def __init__(self):
        super().__init__()
        self.tags, self.bad, self.scripts = [], [], []

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script" and self.cdata_elem == "script":
            self.scripts.append(data)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.bad += [name for name, value in attrs if name.startswith("on") or str(value).startswith("javascript:")]
        self.bad += [value for name, value in attrs if name in ("src", "href") and not str(value).startswith("#")]


def check_page(found):
    """The schema holds, nothing runs, nothing is fetched, the page is small."""
    Draft202012Validator(json.loads(schemas()["audit"])).validate(found.to_dict())
    html = found.report()
    page = Tags()
    page.feed(html)
    assert page.tags.count("script") == len(page.scripts) == (0 if found.certificate is None else 3)
    if page.scripts:  # data, and our two scripts as they are
        assert json.loads(page.scripts[0])["file"] == found.certified.file_name
        assert page.scripts[1:] == [path.read_text() for path in SCRIPTS]
        html = html.replace(page.scripts[0], "")
    assert "img" not in page.tags
    assert page.bad == []
    assert 'xlink:href="http' not in html
    assert len(html.encode()) < 1_500_000
    assert "x" * 200 not in html
    return html


NAMES = [*HOSTILE[:3], *(pytest.param(name, marks=pytest.mark.slow) for name in HOSTILE[3:])]


@pytest.mark.parametrize("name", NAMES, ids=range(len(HOSTILE)))
def test_hostile_columns_targets_labels_and_values(name, ledger, tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=48)
    y = np.where(x + rng.normal(size=48) > 0, name, "other")
    level = np.where(rng.random(48) < 0.5, name, "b")
    table = {name: x, f"{name}2": level, "plain": rng.normal(size=48), f"target {name}": y}
    found = separatrix.audit(table, f"target {name}", ledger=ledger)
    html = check_page(found)
    assert ("{{7*7}}" in html) == (name == "{{7*7}}")  # shown as it is, never evaluated
    assert "\x1b" not in html + str(found)
    assert max(map(len, str(found).splitlines())) <= 100
    out = found.save(tmp_path / "audit")
    from separatrix import checker

    assert checker.main([str(out / "certificate.json"), str(out / "certified.csv")]) == 0
    assert separatrix.load(out / "model.sepx").target == f"target {name}"


def test_the_schema_holds_for_every_kind_of_audit(audited):
    schema = Draft202012Validator(json.loads(schemas()["audit"]))
    kinds = [("example:spam", None), ("example:xor", None), ("iris.csv", "species"), ("diabetes.csv", "progression")]
    for source, target in kinds:
        schema.validate(audited(source, target).to_dict())


def test_the_page_is_made_of_the_facts(audited):
    """With other facts the page shows other numbers."""
    from dataclasses import replace

    from separatrix.auditing.report.page import page

    facts = audited("example:spam").facts
    mistakes = replace(facts.best.mistakes, lower=77777, upper=77777)
    changed = page(replace(facts, best=replace(facts.best, mistakes=mistakes)))
    assert "77,777" in changed
    assert "77,777" not in page(facts)
    assert page(facts).count("<svg") == 5 + 10


def table_of(n=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return X, y


def test_more_columns_than_rows(ledger):
    X, y = table_of(n=40, d=90)
    found = separatrix.audit(X, y, ledger=ledger)
    assert found.facts.separation.verdict == "complete"
    verdicts = {line.name: line.verdict for line in found.facts.assumptions.lines}
    assert verdicts["full rank"] == verdicts["enough rows"] == "fails"
    check_page(found)


@pytest.mark.parametrize("few", [1, 2, 4])
def test_a_class_with_few_rows(few, ledger):
    X, y = table_of()
    y[:] = 0
    y[:few] = 1
    found = separatrix.audit(X, y, ledger=ledger)
    assert found.facts.prediction.test is None
    if few == 1:
        assert found.answers["prediction"].answer == "Cannot be estimated"
    assert any("fewer than five rows" in text for text in found.facts.recommendation.cautions)
    check_page(found)


def test_a_rare_third_class_is_left_out_of_estimates_and_named(ledger):
    X, y = table_of()
    y[3] = 7
    found = separatrix.audit(X, y, ledger=ledger)
    assert "classes with a single row" in " ".join(own.what for own in found.facts.left_out)
    assert found.facts.prediction.chosen is not None
    check_page(found)


def test_every_column_a_leak(ledger):
    y = np.arange(60) % 2
    found = separatrix.audit({"a": y.astype(str), "b": 5 - y * 2, "y": y}, ledger=ledger)
    assert "every column gives the target away; none was set aside" in found.facts.table.notes
    assert found.facts.separation.verdict == "complete"
    check_page(found)


def test_one_column_missing_values_dates_and_text(ledger):
    import pandas as pd

    rng = np.random.default_rng(1)
    n = 80
    frame = pd.DataFrame(
        {
            "when": pd.date_range("2024-01-01", periods=n),
            "amount": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "ward": rng.choice(["A", "B", None], n),
            "told": [" ".join(rng.choice(["pain", "no", "fever", "cough", "well"], 5)) + f" {i}" for i in range(n)],
            "relapse": rng.random(n) < 0.4,
        }
    )
    found = separatrix.audit(frame, "relapse", ledger=ledger)
    verdicts = {line.name: line.verdict for line in found.facts.assumptions.lines}
    assert verdicts["time"] == "look"
    check_page(found)
    one = separatrix.audit(frame[["amount", "relapse"]], "relapse", ledger=ledger)
    check_page(one)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "needs target=, the column to learn"),
        ({"target": "q", "positive": "z"}, "positive is 'z', which is not a class of 'q'"),
        ({"target": "part"}, "missing in 1 row (first: row 3, counted from 0): drop those rows"),
        ({"target": "q", "feature_map": "poly:9"}, "feature_map is 'poly:9'"),
        ({"target": "q", "level": 2}, "level is 2"),
        ({"target": "n", "task": "classification"}, "by regression, or choose another target"),
    ],
)
def test_errors_in_python_name_parameters_and_no_flags(options, says, tmp_path):
    table = {"n": list(range(30)), "q": [0, 1] * 15, "part": [0, 1, 0, None, *[0, 1] * 13]}
    with pytest.raises(separatrix.errors.SeparatrixError) as refused:
        separatrix.audit(table, **options, ledger=tmp_path / "ledger")
    assert says in str(refused.value)
    assert " --" not in f" {refused.value}"


NEARLY_ONE = np.where(np.arange(100) == 37, 1.0000000000000002, 1.0)
NEAR_TWO_53 = 2.0**53 + np.random.default_rng(0).integers(-1, 2, 100)


@pytest.mark.parametrize("column", [NEARLY_ONE, NEAR_TWO_53], ids=["nearly constant", "near 2^53"])
@pytest.mark.parametrize("target", ["two", "three", "quantity"])
def test_a_column_that_varies_by_rounding_errors_alone_is_said_to_be_constant(column, target, ledger):
    rng = np.random.default_rng(1)
    y = {"two": rng.integers(0, 2, 100), "three": rng.integers(0, 3, 100), "quantity": rng.normal(size=100)}[target]
    found = separatrix.audit({"x": column, "y": y}, ledger=ledger, budget=20)
    evidence = {line.name: line.evidence for line in found.facts.assumptions.lines}
    assert evidence["full rank"] == "'x' is constant within rounding errors; the model already has an intercept"
    if target != "quantity":
        assert evidence["normal classes"] == "not testable: no column varies by more than rounding errors"
    check_page(found)


def test_noise_of_an_exact_fit_is_not_tested(ledger):
    x = np.arange(30.0)
    found = separatrix.audit({"x": x, "y": 2 + 6 * x}, task="regression", ledger=ledger, budget=20)
    verdicts = {line.name: line.verdict for line in found.facts.assumptions.lines}
    assert {verdicts[name] for name in ("linear mean", "constant variance", "normal noise")} == {"unknown"}


@pytest.mark.parametrize(("p", "text"), [(0.00021, "p = 0.0002"), (0.0004, "p = 0.0004"), (0.0123, "p = 0.012")])
def test_a_small_p_value_is_not_printed_as_zero(p, text):
    assert p_value(p) == text

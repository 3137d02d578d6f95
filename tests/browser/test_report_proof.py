"""The button "Check this proof" in a real browser: true reports, tampered ones, rows left out."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import separatrix
from separatrix import checker
from separatrix.auditing.report import page as report_page


@pytest.fixture(scope="module")
def audits(tmp_path_factory):
    """Two audits and their folders: forty rows that nothing separates, and six with a margin."""
    folder = tmp_path_factory.mktemp("audits")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    noisy = {"a": X[:, 0], "b": X[:, 1], "label": np.where(X[:, 0] + rng.standard_normal(40) > 0, "yes", "no")}
    made = {}
    for name, table in (("noisy", noisy), ("six", "example:six-points")):
        target = "label" if name == "noisy" else None
        found = separatrix.audit(table, target, ledger=folder / "ledger.jsonl", budget=10)
        made[name] = found, found.save(folder / name)
    return made


@pytest.fixture
def opened(page, tmp_path):
    """A function that opens the text of a report."""

    def show(html):
        path = tmp_path / "report.html"
        path.write_text(html, encoding="utf-8")
        page.goto(path.as_uri())
        return page

    return show


def verdict(page):
    page.wait_for_selector("#proof-result .verdict")
    return page.inner_text("#proof-result .verdict")


def press(page):
    page.get_by_role("button", name="Check this proof").click()
    return verdict(page)


def test_a_true_report_proves_itself(audits, opened):
    found, folder = audits["noisy"]
    page = opened((folder / "report.html").read_text())
    assert re.match(r"✓ Proved: \d claims about the rows in this page", press(page))
    text = page.inner_text("#proof-result")
    for sentence in checker.check(*checker.read(str(folder / "certificate.json"), str(folder / "certified.csv"), None)):
        assert sentence.partition(" [")[0][1:] in text  # the first letter is a capital
    assert len(page.query_selector_all("#rows-witness use.checked")) == len(found.facts.pictures.projection.witness)
    page.set_input_files("#proof-file", folder / "certified.csv")
    page.wait_for_selector("#proof-result .verdict:has-text('certified.csv')")
    assert "Proved" in verdict(page)


def test_separable_rows(audits, opened):
    _, folder = audits["six"]
    page = opened((folder / "report.html").read_text())
    page.focus("#proof-check")
    page.keyboard.press("Enter")  # as well as with the mouse
    assert "Proved" in verdict(page)
    assert "completely separable" in page.inner_text("#proof-result")
    assert "known exactly" in page.inner_text("#proof-result")
    assert len(page.query_selector_all("#rows-support use.checked")) >= 2


def data_of(html):
    found = re.search(r'<script type="application/json" id="proof-data">(.*?)</script>', html, re.DOTALL)
    return found[1], json.loads(found[1])


def tampered(html, **changes):
    text, data = data_of(html)
    return html.replace(text, json.dumps({**data, **changes}).replace("<", "\\u003c"))


@pytest.mark.parametrize("name", ["noisy", "six"])
def test_tampered_data_and_certificates_are_refused(audits, opened, name):
    _, folder = audits[name]
    html = (folder / "report.html").read_text()
    _, data = data_of(html)
    lines = data["rows"].splitlines()
    other = [*lines[:-1], "7.5," + lines[-1].split(",", 1)[1]]
    assert press(opened(tampered(html, rows="\n".join(other)))).startswith("✗ Not proved: it is about other data")
    fewer = "\n".join(lines[:-1])
    assert press(opened(tampered(html, rows=fewer))).startswith("✗ Not proved: it is about other data")
    for k, part in enumerate(json.loads(data["certificate"])["certificates"]):
        for key in {"w", "support", "lambda", "wrong"} & set(part):
            changed = json.loads(data["certificate"])
            own = changed["certificates"][k]
            own[key] = own[key] + own[key][:1] if isinstance(own[key][0], int) else ["0x0"] * len(own[key])
            text = json.dumps(changed)
            assert press(opened(tampered(html, certificate=text))).startswith("✗ Not proved"), (part["claim"], key)
    assert press(opened(tampered(html, certificate="{}"))).startswith("✗ This cannot be checked")


def test_a_file_that_is_not_the_certified_one_is_refused(audits, opened, tmp_path):
    _, folder = audits["noisy"]
    page = opened((folder / "report.html").read_text())
    rows = (folder / "certified.csv").read_text()
    for name, content, says in (
        ("changed.csv", rows.replace('"yes"', '"no"', 1).encode(), "✗ Not proved: it is about other data"),
        ("words.csv", b"a,b\nx,y\n", "✗ This cannot be checked"),
        ("image.csv", b"\xff\xfe\x00", "✗ This cannot be checked: image.csv is not text"),
        ("<img src=x onerror=alert(1)>.csv", b"", "✗ This cannot be checked"),
    ):
        page.set_input_files("#proof-file", {"name": name, "mimeType": "text/csv", "buffer": content})
        page.wait_for_timeout(200)
        assert verdict(page).startswith(says)
    assert page.query_selector("img") is None


def test_a_changed_script_does_not_run(audits, opened):
    """The policy of the page names the scripts by their hashes."""
    _, folder = audits["noisy"]
    html = (folder / "report.html").read_text()
    changed = html.replace("function verify(", "function verify_(", 1)
    assert changed != html
    page = opened(changed)
    page.get_by_role("button", name="Check this proof").click()
    page.wait_for_timeout(300)
    assert page.query_selector("#proof-result.holds-box") is None
    assert any("Content Security Policy" in text for text in page.troubles)
    page.troubles.clear()


def test_from_some_rows_the_page_concludes_about_these_rows_alone(audits, opened, monkeypatch):
    found, folder = audits["noisy"]
    count = len(found.facts.separation.witness)
    monkeypatch.setattr(report_page, "MOST_ROWS", 60 * count)
    html = found.report()
    assert data_of(html)[1]["kind"] == "witness"
    page = opened(html)
    assert press(page).startswith(f"✓ These {count} rows, as printed, cannot be separated")
    assert "Not checked: that they are rows of certified.csv" in page.inner_text("#proof-result")
    page.set_input_files("#proof-file", folder / "certified.csv")
    page.wait_for_selector("#proof-result .verdict:has-text('the file')")
    assert "Proved" in verdict(page)
    lines = data_of(html)[1]["rows"].splitlines()
    other = "\n".join([lines[0], lines[1].replace("yes", "no"), *lines[2:]])
    assert press(opened(tampered(html, rows=other))).startswith("✗ Not proved")


def test_without_rows(audits, opened):
    found, folder = audits["noisy"]
    html = found.report(rows=False)
    data = data_of(html)[1]
    assert (data["kind"], data["rows"]) == ("none", None)
    assert "Rows of the table in this page: 0" in html
    values = [line.split(",")[0] for line in (folder / "certified.csv").read_text().splitlines()[1:]]
    assert not any(value[:7] in html for value in values)
    assert "Their values are not in this page" in html
    page = opened(html)
    assert page.query_selector("#proof-check") is None
    page.set_input_files("#proof-file", folder / "certified.csv")
    assert "Proved" in verdict(page)


def test_the_page_fits_a_telephone(audits, opened):
    _, folder = audits["noisy"]
    page = opened((folder / "report.html").read_text())
    page.set_viewport_size({"width": 390, "height": 844})
    press(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390

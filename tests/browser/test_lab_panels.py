"""The panels of the lab: what they show is what the library gives, and what is taken along gives it again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hands import frame, settled

from lab_server import lab_server
from separatrix import LinearDiscriminant, LogisticRegression, MaxMargin, evaluate
from separatrix.lab import presets

PRESETS = {one.name: one for one in presets.presets()}


@pytest.fixture
def opened(page, lab):
    """A function that opens a panel with a scene."""
    page.goto(lab.address)
    settled(page)

    def show(panel, preset):
        page.select_option("#preset", preset)
        page.click(f"#tab-{panel}")
        settled(page)
        return page

    return show


def rows_of(name):
    points = PRESETS[name].points
    return np.array([(p.x, p.y) for p in points]), np.array([p.label for p in points])


def cells(page, selector):
    return [int(re.sub(r"\D", "", text)) for text in page.locator(f"{selector} td:not(.corner)").all_inner_texts()]


def test_learners_side_by_side(opened):
    page = opened("learners", "gaussians")
    X, y = rows_of("gaussians")
    shown = []
    for learner in (LinearDiscriminant(), LogisticRegression(), MaxMargin()):
        said = learner.fit(X, y).predict(X)
        shown += [int(np.sum((y == t) & (said == s))) for t in (1, -1) for s in (1, -1)]
    assert cells(page, "#fits") == shown
    assert page.locator("#plane line.boundary").count() == 3
    assert page.locator("#plane .line-name").all_text_contents() == ["①", "②", "③"]
    page.check("input[name=shade][value='2']")
    frame(page)
    assert page.locator("#plane .shade").count() > 6  # tenths of probability
    page.select_option("#learner-1", "fewest-mistakes")
    page.select_option("#learner-3", "")
    settled(page)
    assert page.locator("#fits h3").all_inner_texts() == ["① Fewest mistakes", "② Logistic"]


def test_choices_stay_when_the_points_change(opened):
    page = opened("perceptron", "six-points")
    page.select_option("#recipe", "normalised")
    settled(page)
    page.select_option("#preset", "bias")
    settled(page)
    assert page.input_value("#recipe") == "normalised"
    assert page.is_checked("#choice-normalize_rows")
    page.check("#choice-fit_intercept")
    settled(page)
    assert page.input_value("#recipe") == "custom"
    page.click("#lesson-2")
    settled(page)
    assert page.input_value("#recipe") == "default"


def test_features_bend_the_boundary_and_change_the_verdict(opened):
    page = opened("features", "xor")
    assert page.inner_text("#verdict") == "No line separates the classes (proved)."
    page.check("#features-single-xy")
    settled(page)
    assert page.inner_text("#verdict") == "A plane in the 3 columns separates the classes (proved)."
    assert page.inner_text("#columns-text") == "3 columns: x, y, xy."
    assert page.locator("#plane path.boundary.widest").count() == 1
    page.click("#tab-proof")
    page.wait_for_selector("#checked .verdict.holds")


def test_points_are_held_out_and_the_threshold_moves(opened):
    page = opened("validation", "imbalanced")
    page.fill("#study-choices-share", "0.3")
    settled(page)
    assert page.locator("#plane .point.held").count() == 21
    page.fill("#study-choices-share", "0")
    settled(page)
    X, y = rows_of("imbalanced")
    scores = LinearDiscriminant().fit(X, y).decision_function(X)
    found = evaluate(y, scores=scores, positive=1)
    assert f"AUC {found.roc_auc.value:.3g}" in page.inner_text("#auc")
    for step in (60, 130, 180):
        page.fill("#threshold", str(step))
        frame(page)
        at = float(page.inner_text("#threshold-number").replace("−", "-"))
        low, high = min(0, scores.min()), max(0, scores.max())
        room = 0.02 * (high - low)
        exact = low - room + step / 200 * (high - low + 2 * room)
        assert at == pytest.approx(exact, rel=5e-3)
        said = scores >= exact
        assert cells(page, "#rates-table") == [
            int(np.sum((y == t) & (said == s))) for t in (1, -1) for s in (True, False)
        ]
        recall, precision = np.mean(said[y > 0]), np.mean(y[said] > 0)
        assert page.inner_text("#rates").startswith(f"Recall {100 * recall:.3g}%, precision {100 * precision:.3g}%")
    page.check("#show-folds")
    frame(page)
    assert page.locator("#plane .note").count() == len(y)


def test_descent_is_seen_to_diverge(opened):
    page = opened("descent", "gaussians")
    assert page.inner_text("#descent-verdict").startswith("✓ The loss falls from 1 ")
    page.fill("#descent-choices-step", "0.5")
    settled(page)
    assert page.inner_text("#descent-verdict").startswith("✗ Diverges")
    page.select_option("#descent-choices-loss", "logistic")
    settled(page)
    assert page.inner_text("#descent-verdict").startswith("✓")
    assert page.locator("#surface .height").count() > 3


def test_the_code_gives_the_numbers_of_the_page(opened, tmp_path):
    page = opened("features", "ring")
    page.fill("#features-more-degree", "2")
    page.fill("#features-more-bumps", "2")
    settled(page)
    page.click("#tab-learners")
    settled(page)
    shown = cells(page, "#fits")
    page.click("#tab-perceptron")
    page.click("#end")
    ended = page.inner_text("#ended")
    page.click("#tab-share")
    frame(page)
    (tmp_path / "scene.py").write_text(page.inner_text("#code"))
    run = subprocess.run(
        [sys.executable, "-W", "ignore", tmp_path / "scene.py"], capture_output=True, text=True, timeout=120, check=True
    )
    assert ended.partition(";")[2] in run.stdout
    mistakes = [int(text) for text in re.findall(r"mistakes (\d+)", run.stdout)]
    assert mistakes == [b + c for _, b, c, _ in zip(*[iter(shown)] * 4, strict=True)]


def download(page, selector, folder):
    with page.expect_download() as found:
        page.click(selector)
    path = folder / found.value.suggested_filename
    found.value.save_as(path)
    return path


def test_a_scene_is_saved_opened_and_drawn(opened, tmp_path):
    page = opened("share", "iris")
    kept = download(page, "#export-json", tmp_path)
    scene = json.loads(kept.read_text())
    assert len(scene["points"]) == 100
    picture = download(page, "#export-svg", tmp_path).read_text()
    assert picture.startswith("<svg")
    assert "class=" not in picture
    assert "fill=" in picture
    assert download(page, "#export-png", tmp_path).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    page.select_option("#preset", "xor")
    settled(page)
    page.set_input_files("#open-json", kept)
    page.wait_for_selector("#status:has-text('was opened')")
    settled(page)
    assert page.locator("#status").inner_text() == "The scene was opened."  # until the scene changes
    assert page.locator("#plane .point").count() == 100
    bad = {"points": [{"x": "<img src=x onerror=alert(1)>", "y": 0, "label": 1}]}
    for name, content in (
        ("<img src=x onerror=alert(1)>.json", b"<img src=x onerror=alert(1)>"),
        ("bad.json", json.dumps(bad).encode()),
        ("large.json", b" " * 300_000),
        ("deep.json", b"[" * 20_000),
    ):
        page.set_input_files("#open-json", {"name": name, "mimeType": "application/json", "buffer": content})
        page.wait_for_selector("#status:has-text('does not hold a scene')")
        page.evaluate("document.getElementById('status').textContent = ''")
        assert page.locator("#plane .point").count() == 100
    assert page.query_selector("img") is None
    odd = {**scene, "learners": ["<script>alert(1)</script>"], "features": {"degree": 2, "__proto__": {"x": 1}}}
    page.set_input_files("#open-json", {"name": "odd.json", "mimeType": "", "buffer": json.dumps(odd).encode()})
    settled(page)
    page.click("#tab-learners")
    settled(page)
    assert "learner 0 is" in page.inner_text("#fits-status")
    assert page.evaluate("({}).x") is None
    page.troubles.clear()  # the server refused the learner, which the console reports


def test_names_of_a_table_are_text(browser, tmp_path):
    evil = '<img src=x onerror="document.title=1">'
    rows = "".join(f"{k % 7},{k * k % 11},{k % 3},{'<b>yes</b>' if k % 2 else 'no'}\n" for k in range(40))
    Path(tmp_path / "t.csv").write_text(f'"{evil.replace(chr(34), chr(34) * 2)}",b,c,ok\n' + rows)
    with lab_server(str(tmp_path / "t.csv"), "--target", "ok", "--directions") as lab:
        page = browser.new_page()
        page.goto(lab.address)
        settled(page)
        assert page.input_value("#table-x") == "discriminant direction"
        page.select_option("#table-x", evil)
        page.select_option("#table-y", "c")
        settled(page)
        page.click("#tab-proof")
        assert evil in page.locator("#plane .name").first.text_content()
        assert "<b>yes</b> (-)" in page.inner_text("#about")
        assert page.query_selector("img, b") is None
        assert page.title() == "separatrix lab"
        page.close()

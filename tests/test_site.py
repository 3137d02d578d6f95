"""The documentation site: a reference of every public name, scripts of the course and the gallery that run."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

from separatrix.errors import SeparatrixWarning

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "examples").rglob("*.py"))
# make docs runs them too, and stops at an error; test_course.py runs the chapters for their numbers.
RUN = [path if path.stem == "slips" else pytest.param(path, marks=pytest.mark.slow) for path in SCRIPTS]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
mpl.use("agg")


@pytest.mark.parametrize("script", RUN, ids=[str(path.relative_to(ROOT / "examples")) for path in SCRIPTS])
def test_scripts_of_course_and_gallery_run(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "ledger.jsonl"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")


def test_the_gallery_is_not_small():
    assert len([script for script in SCRIPTS if "gallery" in script.parts]) >= 20


def test_the_reference_has_every_public_name():
    from public_reference import grouped, page, public_names

    listed = [name for names in grouped(public_names()).values() for name in names]
    assert sorted(listed) == sorted(public_names())
    assert {"Perceptron", "evaluation.Holdout", "models.perceptron.step_trace", "errors"} <= set(listed)
    assert len({name.lower() for name in listed}) == len(listed)  # a page is a file, and some systems ignore case
    text = page(public_names())
    assert all(re.search(rf"^   {re.escape(name)}$", text, re.MULTILINE) for name in listed)


def test_every_page_has_a_place_in_the_site():
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {
        "index",
        "results",
    }  # the reference, which is generated, has results
    trees = [page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")]
    found = [tree for text in trees for tree in re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL)]
    placed = {re.sub(r".*<(.+)>", r"\1", line.strip()) for tree in found for line in tree.splitlines()}
    assert pages <= placed


DRAWN = ("benchmark-ratios.svg",)  # by the build of the site, from the table below it


def test_links_between_pages_and_files_lead_somewhere():
    for page in [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
            if target.startswith(("http", "gallery/", "course/", "mailto:")) or target in DRAWN:
                continue
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
        for target in re.findall(r"\{doc\}`(?:[^`<]*<)?/?([^`>]+)>?`", page.read_text(encoding="utf-8")):
            made = target.startswith(("gallery/index", "course/index", "reference/index"))
            source = ROOT / "examples" / f"{target}.py"
            assert made or source.exists() or (ROOT / "docs" / f"{target}.md").exists(), f"{page.name}: {target}"

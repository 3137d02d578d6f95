"""One Chromium for all tests in a browser; without it they are skipped with the reason."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lab_server import lab_server

AXE = Path(__file__).parents[2] / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("needs Chromium: .ci/browser installs it")
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright: .ci/browser installs it")
    with api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="session")
def lab():
    """One lab for all tests: it keeps nothing between requests."""
    with lab_server() as made:
        yield made


@pytest.fixture
def axe():
    """A function that has axe-core look at a page: what it finds, and where."""
    if not AXE.exists():
        pytest.skip("needs axe-core: .ci/browser installs it")
    source = AXE.read_text(encoding="utf-8")

    def look(page):
        page.evaluate(source)
        return page.evaluate(
            "async () => (await axe.run(document, { resultTypes: ['violations'], preload: false })).violations"
            ".map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])"
        )

    return look


@pytest.fixture
def page(browser):
    """A page; the test fails where it reports an error, unless the test has taken it out of ``page.troubles``."""
    made = browser.new_page(viewport={"width": 1280, "height": 900})
    made.troubles = []
    made.on("console", lambda message: made.troubles.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: made.troubles.append(str(error)))
    yield made
    made.close()
    assert made.troubles == []

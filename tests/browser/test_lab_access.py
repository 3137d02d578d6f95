"""The lab for everyone: contrast, names, focus order, and nothing by colour alone; every lesson fits its screen."""

from __future__ import annotations

import pytest
from hands import frame, settled

SIZES = {"wide": (1440, 900), "narrow": (390, 844)}

# Contrast of every text that is shown against what lies behind it, by WCAG's formula: those below 4.5 (3 if large).
CONTRAST = """() => {
    const parse = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
    const behind = (e) => {
        if (e.classList.contains("number")) return parse(getComputedStyle(e.parentNode.querySelector(".sign")).fill);
        for (let at = e; at !== null; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length < 4 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const e of document.querySelectorAll("body *")) {
        const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim() !== "");
        if (!own || e.getClientRects().length === 0 || e.disabled || e.tagName === "OPTION") continue;
        const style = getComputedStyle(e);
        const text = parse(e instanceof SVGElement ? style.fill : style.color);
        const [a, b] = [light(text), light(behind(e))].sort((x, y) => y - x);
        const size = parseFloat(style.fontSize);
        const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
        const ratio = (a + 0.05) / (b + 0.05);
        if (ratio < (large ? 3 : 4.5)) found.push(`${e.tagName} ${e.id || e.className} ${ratio.toFixed(2)}`);
    }
    return [...new Set(found)];
}"""


@pytest.fixture
def at(browser, lab):
    """A function that opens the lab at a size, in light or dark colours."""
    made = []

    def show(size, scheme="light"):
        width, height = SIZES[size]
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(lab.address)
        settled(page)
        made.append(page)
        return page

    yield show
    for page in made:
        page.close()


def panels(page):
    return page.eval_on_selector_all("[role=tab]", "tabs => tabs.map((tab) => tab.dataset.panel)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(at, scheme):
    page = at("wide", scheme)
    page.select_option("#preset", "gaussians")
    for name in panels(page):
        page.click(f"#tab-{name}")
        settled(page)
        assert page.evaluate(CONTRAST) == [], name
    page.click("#lesson-4")
    settled(page)
    assert page.evaluate(CONTRAST) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(at, scheme, axe):
    page = at("wide", scheme)
    for name in panels(page):
        page.click(f"#tab-{name}")
        settled(page)
        assert axe(page) == [], name
    for number in (0, 1, 2):
        page.click(f"#lesson-{number}")
        settled(page)
        assert axe(page) == [], number


@pytest.mark.parametrize("size", SIZES)
def test_lessons_and_panels_fit_the_screen(at, size):
    page = at(size)
    width = SIZES[size][0]
    for number in range(9):
        page.click(f"#lesson-{number}")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, number
    page.click("#lesson-close")
    for name in panels(page):
        page.click(f"#tab-{name}")
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, select")].filter((e) => e.getClientRects().length > 0
                && e.getBoundingClientRect().height < (innerWidth < 500 ? 34 : 24)).map((e) => e.id)"""
        )
        assert small == []


def test_tab_visits_controls_in_the_order_of_the_page(at):
    page = at("wide")
    page.evaluate("document.body.focus()")
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(({ id, dataset, name }) => id || dataset.index || name || 'other')(document.activeElement)"
        )
        if found in seen and found != "other":
            break
        seen.append(found)
    order = [
        "lesson-0",
        "lesson-8",
        "preset",
        "label",
        "undo",
        "plane",
        "0",
        "5",
        "tab-hand",
        "hand-scores",
    ]
    assert [name for name in seen if name in order] == order


def test_signs_do_not_depend_on_colour(at):
    page = at("wide")
    assert {"circle", "rect"} == set(page.eval_on_selector_all(".sign", "all => all.map((e) => e.tagName)"))
    labels = page.eval_on_selector_all(".point", "all => all.map((e) => e.getAttribute('aria-label'))")
    assert labels[0] == "point 0, minus, at -1, 2"
    assert "plus" in labels[1]
    mark = "getComputedStyle(document.getElementById('verdict'), '::before').content"
    assert "✓" in page.evaluate(mark)
    page.select_option("#preset", "xor")
    settled(page)
    assert "✗" in page.evaluate(mark)
    page.click("#tab-proof")
    frame(page)
    hulls = page.eval_on_selector_all("#plane .hull", "all => all.map((e) => getComputedStyle(e).strokeDasharray)")
    assert len(set(hulls)) == 2
    page.select_option("#preset", "gaussians")
    page.click("#tab-learners")
    settled(page)
    dashes = page.eval_on_selector_all("#plane .boundary", "all => all.map((e) => getComputedStyle(e).strokeDasharray)")
    assert len(set(dashes)) == len(dashes) > 1


def test_every_control_and_picture_has_a_name(at):
    page = at("wide")
    script = """() => {
        const there = (id) => document.getElementById(id) !== null;
        const named = (e) => (e.getAttribute("aria-labelledby") ?? "").split(" ").some(there);
        const own = (e) => e.tagName === "BUTTON" && e.textContent.trim();
        const said = (e) => e.ariaLabel || e.labels?.[0]?.textContent.trim() || own(e);
        const all = document.querySelectorAll('button, input, select, svg, progress, pre, [role=tabpanel]');
        return [...all].filter((e) => !named(e) && !said(e)).map((e) => e.id);
    }"""
    assert page.evaluate(script) == []
    page.click("#tab-perceptron")
    tree = page.locator("#choices").aria_snapshot()
    for name in ("Recipe", "Start", "Order of rows", "Bias", "Seed"):
        assert name in tree

"""The lab in a real browser, by mouse, keyboard and touch."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from separatrix import separability


@pytest.fixture
def opened(page, lab):
    def show(fragment=""):
        page.goto("about:blank")
        page.goto(lab.address + fragment)
        page.wait_for_selector("html[data-ready]")
        settled(page)
        return page

    return show


def settled(page):
    """Wait for the answers about the scene that is shown."""
    page.wait_for_selector("html[data-state=answered]")


def panel(page, name):
    page.click(f"#tab-{name}")


def frame(page):
    """Wait until what changed is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def code(page):
    """The Python code of the scene, whichever panel is open."""
    was = page.get_attribute("[role=tab][aria-selected=true]", "data-panel")
    panel(page, "share")
    frame(page)
    text = page.inner_text("#code")
    panel(page, was)
    return text


def points(page):
    text = code(page)
    return json.loads(text.split("X = ")[1].split("\n")[0].replace("(", "[").replace(")", "]"))


def place(page, u, v):
    """Pixels of a place in the plane, given in 600ths."""
    box = page.locator("#plane").bounding_box()
    side = min(box["width"], box["height"])
    return box["x"] + (box["width"] - side) / 2 + side * u / 600, box["y"] + (box["height"] - side) / 2 + side * v / 600


def test_every_scene_is_decided_and_its_certificates_check(opened):
    page = opened()
    names = page.eval_on_selector_all("#preset option", "options => options.map(o => o.value)")
    assert len(names) == 11
    panel(page, "proof")
    for name in names:
        page.select_option("#preset", name)
        settled(page)
        page.click("#check")
        page.wait_for_selector("#checked .verdict.holds", timeout=20_000)
        for width, height in ((1440, 900), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_mouse_adds_drags_undoes_and_deletes(opened):
    page = opened()
    page.click("#clear")
    page.mouse.click(*place(page, 150, 300))
    page.check("input[name=label][value='-1']")
    page.mouse.click(*place(page, 450, 300))
    settled(page)
    assert page.inner_text("#verdict") == "A line separates the classes (proved)."
    before = points(page)
    assert len(before) == 2
    page.mouse.move(*place(page, 450, 300))
    page.mouse.down()
    page.mouse.move(*place(page, 300, 100), steps=5)
    page.mouse.up()
    settled(page)
    after = points(page)
    assert after[0] == before[0]
    assert after[1][1] > before[1][1]
    page.click("#undo")
    assert points(page) == before
    page.click("#redo")
    assert points(page) == after
    page.mouse.click(*place(page, 300, 100))
    page.click("#delete")
    settled(page)
    assert len(points(page)) == 1
    assert page.inner_text("#verdict") == "There must be points of both classes."


def test_the_keyboard_makes_xor(opened):
    page = opened()
    page.click("#clear")
    page.focus("#plane")
    for label, keys in (("p", []), ("n", ["ArrowRight"] * 9), ("p", ["ArrowUp"] * 9), ("n", ["ArrowLeft"] * 9)):
        for key in keys:
            page.keyboard.press(key)
        page.keyboard.press(label)
        page.focus("#plane")
    settled(page)
    assert page.inner_text("#verdict") == "No line separates the classes (proved)."
    assert "minimum number of mistakes is 1 (proved)" in page.text_content("#facts")
    assert len(page.query_selector_all(".hull")) == 2
    page.focus("[data-index='3']")
    page.keyboard.press("Delete")
    settled(page)
    assert page.inner_text("#verdict") == "A line separates the classes (proved)."
    was = points(page)[0]
    page.focus("[data-index='0']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    settled(page)
    assert points(page)[0][0] > was[0]


def test_touch_adds_points(browser, lab):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(lab.address)
    page.wait_for_selector("html[data-ready]")
    settled(page)
    count = len(points(page))
    page.locator("#plane").scroll_into_view_if_needed()
    page.touchscreen.tap(*place(page, 200, 450))
    settled(page)
    assert len(points(page)) == count + 1
    context.close()


def test_the_run_is_stepped_scrubbed_and_ended(opened):
    page = opened()
    assert page.inner_text("#look").startswith("start: ŵ = (0, 0; 0)")
    page.click("#update")
    assert "mistake 1" in page.inner_text("#look")
    assert page.query_selector("line.boundary") is not None
    page.click("#step")
    assert page.inner_text("#look-number") == "2 of 12"
    page.click("#pass")
    assert page.inner_text("#look-number") == "6 of 12"
    page.click("#end")
    frame(page)
    assert "4 mistakes so far, of at most 6" in page.text_content("#bound-text")
    page.fill("#scrub", "1")
    assert page.inner_text("#look-number") == "1 of 12"
    page.click("#reset")
    page.click("#play")
    page.wait_for_selector("#look-number:has-text('12 of 12')")
    page.select_option("#recipe", "online")
    settled(page)
    assert page.inner_text("#ended").startswith("3 updates in 6 looks")


def test_a_link_holds_the_scene_and_nothing_else(opened):
    page = opened()
    page.click("#clear")
    page.mouse.click(*place(page, 100, 100))
    panel(page, "share")
    page.click("#link")
    held = page.evaluate("location.hash")
    was = points(page)
    assert "token" not in held
    again = opened("&" + held[1:])
    assert points(again) == was
    for bad in ("<img src=x onerror=alert(1)>", '{"points": [{"x": "<b>", "y": 0, "label": 1}]}', "[]", "%"):
        assert len(points(opened("&scene=" + quote(bad)))) == 6
    choices = {"order": "<img src=x>", "start": "ones"}
    scene = {"points": [{"x": 0, "y": 0, "label": 1}, {"x": 1, "y": 1, "label": -1}], "choices": choices}
    page = opened("&scene=" + quote(json.dumps(scene)))
    assert page.query_selector("img") is None
    assert "order is" in page.inner_text("#verdict")
    page.troubles.clear()  # the server refused the order, which the console reports


def test_without_the_token_the_page_says_so(page, lab):
    page.goto(f"http://{lab.host}:{lab.port}/")
    page.wait_for_selector("html[data-ready]")
    assert "token is missing or wrong" in page.inner_text("#status")
    page.troubles.clear()


def test_every_control_has_a_name_and_the_verdict_is_the_library_s(opened):
    page = opened()
    script = """[...document.querySelectorAll('button, input, select')]
        .filter((e) => !(e.textContent || e.labels?.[0]?.textContent || e.ariaLabel)).map((e) => e.id)"""
    assert page.evaluate(script) == []
    page.select_option("#preset", "iris")
    settled(page)
    X = points(page)
    y = json.loads(code(page).split("y = ")[1].split("\n")[0])
    separable = page.inner_text("#verdict").startswith("A line separates")
    assert separable == (separability(X, y).verdict == "complete")

"""The lab in a real browser, by mouse, keyboard and touch."""

from __future__ import annotations

import json
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

import pytest

from separatrix import separability
from separatrix.lab.static_files import write_lab


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


class Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a line for each request."""

    def log_message(self, *args):
        """Nothing is logged."""


def served(folder):
    """The address of a plain web server for a folder, which ends with the tests."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/"


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
    assert "minimum number of mistakes is 1: every way" in page.text_content("#facts")
    panel(page, "proof")
    frame(page)
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
    panel(page, "perceptron")
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
    for bad in ("<img src=x onerror=alert(1)>", "1,2", "a,b,p", "1,2,x", "1e9,0,p", "%"):
        assert len(points(opened("&points=" + quote(bad)))) == 6
    page = opened("&points=0,0,p;1,1,n&choices.order=<img src=x>&choices.start=ones")
    assert page.query_selector("img") is None
    panel(page, "perceptron")
    assert page.input_value("#choice-order") == "cyclic"
    assert page.input_value("#choice-start") == "ones"


def test_a_link_opens_without_a_token_and_without_a_server(page, lab, tmp_path):
    write_lab(tmp_path / "lab")
    for address in (f"http://{lab.host}:{lab.port}/", served(tmp_path / "lab")):
        page.goto("about:blank")
        page.goto(address + "#points=0,0,p;1,1,p;1,0,n;0,1,n&choices.tie=positive")
        settled(page)
        assert page.inner_text("#verdict") == "No line separates the classes (proved)."
        assert page.query_selector_all("#plane .point")[3] is not None
        panel(page, "perceptron")
        assert page.input_value("#choice-tie") == "positive"
        panel(page, "features")
        page.check("#features-single-xy")
        settled(page)
        assert page.inner_text("#verdict") == "A plane in the 3 columns separates the classes (proved)."
        panel(page, "learners")
        settled(page)
        assert page.locator("#fits h3").all_inner_texts() == ["① LDA", "② Logistic", "③ Maximum margin"]
        panel(page, "validation")
        assert page.locator("#panel-validation .python").is_visible()
        page.wait_for_selector("#study-status:has-text('needs Python')")
        assert page.locator("#lesson-7").is_disabled()
        assert page.locator("#lesson-2").is_enabled()
        page.evaluate("sessionStorage.clear()")


def test_the_page_opens_from_a_folder(page, tmp_path):
    write_lab(tmp_path)
    page.goto(f"file://{tmp_path}/index.html#points=0,0,p;1,1,p;1,0,n;0,1,n&lesson=2")
    settled(page)
    assert page.inner_text("#lesson-title") == "2. Margin and bound"
    page.goto("about:blank")
    page.goto(f"file://{tmp_path}/index.html#points=0,0,p;1,1,p;1,0,n;0,1,n")
    settled(page)
    assert page.inner_text("#verdict") == "No line separates the classes (proved)."


def test_a_qr_code_of_the_address_fills_the_screen(opened):
    page = opened()
    panel(page, "share")
    page.click("#show-qr")
    assert page.locator("#qr").bounding_box()["width"] > 400
    assert page.inner_text("#qr-text") == page.evaluate("location.href")
    assert len(page.get_attribute("#qr path", "d")) > 1000
    page.keyboard.press("Escape")
    assert not page.locator("#qr-part").is_visible()


def test_the_address_follows_the_scene_and_ctrl_z_goes_back(opened):
    page = opened()
    page.mouse.click(*place(page, 100, 480))
    settled(page)
    assert points_in_address(page, 7)
    page.keyboard.press("Control+z")
    settled(page)
    assert points_in_address(page, 6)


def points_in_address(page, count):
    for _ in range(40):
        if len(page.evaluate("location.hash").split(";")) == count:
            return True
        page.wait_for_timeout(50)
    return False


def test_an_empty_plane_says_what_to_do(opened):
    page = opened()
    page.click("#clear")
    assert page.text_content("#plane .empty") == "click or tap to add points"


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

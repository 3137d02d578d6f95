"""The plane in a page of its own, as in the chapters of the course: opened from a folder, by pointer and keys."""

from __future__ import annotations

import pytest

from separatrix.lab.static_files import write_lab

SIX = "-1 2 -, 1 0 +, 1 1 +, -1 0 -, -1 -2 -, 1 -1 +"


@pytest.fixture
def plane(page, tmp_path):
    """A function that opens a page with one plane of these attributes."""
    write_lab(tmp_path)

    def show(points=SIX, **attributes):
        rest = " ".join(f'{name}="{value}"' for name, value in attributes.items())
        (tmp_path / "page.html").write_text(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>a page</title>'
            '<link rel="icon" href="data:,"><meta name="viewport" content="width=device-width">'
            '<body style="background: var(--paper)">'
            f'<main><h1>A page</h1><separatrix-plane points="{points}" {rest}></separatrix-plane></main>'
            '<script src="separatrix-plane.js"></script></html>',
            encoding="utf-8",
        )
        page.goto(f"file://{tmp_path}/page.html")
        page.wait_for_selector(".said:not(:empty), .facts li, svg.plane .point")
        return page

    return show


def said(page, text):
    page.locator(".said", has_text=text).wait_for(timeout=5000)


def test_a_verdict_follows_a_drag_and_ctrl_z_takes_it_back(plane):
    page = plane(show="verdict margin hulls")
    said(page, "A line separates the classes (proved).")
    assert page.locator(".ring.support").count() == 6  # all rows on the edges
    box = page.locator("[data-index='1']").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] - 400, box["y"], steps=4)
    page.mouse.up()
    said(page, "No line separates the classes (proved).")
    page.keyboard.press("Control+z")
    said(page, "A line separates the classes (proved).")


def test_a_line_is_moved_by_keys(plane):
    page = plane(line="0.6 1 -0.5", show="scores")
    said(page, "2 of 6 misclassified (points 0, 5)")
    page.focus("[data-handle='tip']")
    for _ in range(20):
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("ArrowDown")
    assert "misclassified (points 0, 5)" not in page.inner_text(".said")
    assert page.locator(".note").count() == 6


def test_the_run_of_the_six_points_is_stepped(plane):
    page = plane(show="perceptron bound", recipe="repeated", bias="off")
    for text in ("ŵ (0, 0) → (1, −2)", "ŵ (1, −2) → (2, −1)", "ŵ (2, −1) → (3, 1)"):
        page.click("button:text('Next update')")
        said(page, text)
    page.click("button:text('End')")
    said(page, "3 updates in 12 looks")
    assert "so 5 mistakes (proved); this run makes 3." in page.inner_text(".facts")


def test_neighbours_shade_the_plane_beside_a_line(plane):
    page = plane(points="-1 0 -, -1 1 -, 1 0 +, 1 1 +, 0.9 0.5 -", show="neighbours squares", neighbours="1")
    page.wait_for_selector(".shade.plus-mark")
    island = page.get_attribute(".shade.minus-mark", "d")
    page.evaluate("document.querySelector('separatrix-plane').setAttribute('neighbours', '3')")
    page.focus("[data-index='4']")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("d => document.querySelector('.shade.minus-mark').getAttribute('d') !== d", arg=island)
    assert page.locator(".boundary.line-1").count() == 1


def test_each_row_pulls_along_itself(plane):
    page = plane(points="2 1 +, -1 -1 -", line="1 1 0", show="pull")
    said(page, "0 of 2 misclassified")
    assert page.locator(".note").all_text_contents() == ["0.047", "0.12"]  # 1 - φ(3), 1 - φ(2)


def test_an_empty_plane_says_what_to_do(plane):
    page = plane(points="", show="verdict")
    assert page.text_content(".empty") == "click or tap to add points"
    page.mouse.click(*centre(page))
    assert page.locator(".point").count() == 1


def centre(page):
    box = page.locator("svg.plane").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_has_room_and_axe_finds_nothing(browser, plane, page, axe, scheme):
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    plane(line="0.6 1 -0.5", show="scores verdict fewest perceptron")
    said(page, "misclassified")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert axe(page) == []
    targets = page.eval_on_selector_all(
        "button, .point .target, .handle .target",
        "all => all.map((e) => Math.min(...['width', 'height'].map((k) => e.getBoundingClientRect()[k])))",
    )
    assert min(targets) >= 24

"""Every lesson's task solved in a real browser: by mouse, by keyboard and by touch."""

from __future__ import annotations

import pytest
from hands import WAYS, be_the_perceptron, frame, settled


@pytest.fixture
def hand(request, browser, lab):
    """A hand over the lab's page; touch has a small screen."""
    way = request.param
    sizes = (
        {"viewport": {"width": 1440, "height": 900}} if way != "touch" else {"viewport": {"width": 390, "height": 844}}
    )
    context = browser.new_context(has_touch=way == "touch", is_mobile=way == "touch", **sizes)
    page, troubles = context.new_page(), []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.goto(lab.address)
    settled(page)
    yield WAYS[way](page)
    context.close()
    assert troubles == []


def by_hand(hand):
    page = hand.page
    assert "the minimum is 2" in page.inner_text("#lesson-status")
    hand.drag_handle("tip", -72, -120)  # from (3, -1) to the direction of (1, 2)
    settled(page)
    for _ in range(8):  # then to and fro
        if page.inner_text("#lesson-status").startswith("✓"):
            return
        hand.drag_handle("foot", 12, -12)
        frame(page)


def the_perceptron(hand):
    be_the_perceptron(hand, wrong=True)


def squeeze(hand):
    hand.drag(1, -150, 0)  # a plus point towards the minus points
    settled(hand.page)
    hand.press("#end")
    hand.page.locator("#lesson-status", has_text="The run ended within the bound").wait_for(timeout=3000)
    hand.press("#break-start")
    settled(hand.page)
    assert "Broken: after 0 mistakes" in hand.page.inner_text("#squeeze-text")


def bias(hand):
    assert hand.page.inner_text("#verdict") == "No line through the origin separates the classes (proved)."
    hand.press("#choice-fit_intercept")
    settled(hand.page)
    hand.press("#end")


def xor(hand):
    hand.press("#features-single-x2")  # does not help
    settled(hand.page)
    assert "try another" in hand.page.inner_text("#lesson-status")
    hand.press("#features-single-x2")
    hand.press("#features-single-xy")


def maximum_margin(hand):
    for _ in range(4):  # a plus point, away from the line: how far it must go depends on the whole run
        hand.drag(0, 48, -24)
        settled(hand.page)
        if hand.page.inner_text("#lesson-status").startswith("✓"):
            return


def lda(hand):
    for u, v in ((588, 312), (576, 336)):  # far to the right, on the plus side
        hand.add(u, v, 1)


def overfitting(hand):
    hand.slide("#study-degree-degree", 0.2)  # the second of six


def precision(hand):
    hand.slide("#threshold", 0.61)


LESSONS = [by_hand, the_perceptron, squeeze, bias, xor, maximum_margin, lda, overfitting, precision]


@pytest.mark.parametrize("hand", WAYS, indirect=True)
@pytest.mark.parametrize("number", range(9), ids=[task.__name__ for task in LESSONS])
def test_the_task_is_solved(hand, number):
    page = hand.page
    hand.press(f"#lesson-{number}")
    settled(page)
    assert page.inner_text("#lesson-status").startswith("○")
    LESSONS[number](hand)
    settled(page)
    page.locator("#lesson-status", has_text="✓ Solved").wait_for(timeout=10_000)
    assert page.inner_text(f"#lesson-{number}").startswith("✓")


def test_exercises_have_other_numbers_on_request_and_their_solutions_closed(page, lab):
    page.goto(lab.address)
    settled(page)
    page.evaluate("() => { window.print = () => { window.printed = document.querySelector('#sheet').innerText; }; }")
    for number in range(9):
        page.click(f"#lesson-{number}")
        settled(page)
        page.locator("#lesson-more").evaluate("e => { e.open = true; }")
        assert page.locator("#exercises > li").count() == 2
        assert page.locator("#exercises details[open]").count() == 0
        before = page.inner_text("#exercises")
        changed = False
        for _ in range(5):
            page.click("#exercises-anew")
            changed = changed or page.inner_text("#exercises") != before
        assert changed or "Prove without a picture" in before
        page.click("#print")
        assert f"Key: {page.inner_text('#lesson-title').split('. ')[1]}" in page.evaluate("window.printed")

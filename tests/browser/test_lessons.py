"""Every lesson's task solved in a real browser: by mouse, by keyboard and by touch."""

from __future__ import annotations

import pytest
from hands import WAYS, settled


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


def bias(hand):
    assert hand.page.inner_text("#verdict") == "No line through the origin separates the classes (proved)."
    hand.press("#choice-fit_intercept")
    settled(hand.page)
    hand.press("#end")


def mistakes(hand):
    for _ in range(4):
        hand.press("#update")


def bound(hand):
    hand.drag(1, -150, 0)  # a plus point towards the minus points
    settled(hand.page)
    hand.press("#tab-perceptron")
    hand.press("#end")


def xor(hand):
    hand.press("#features-single-x2")  # does not help
    settled(hand.page)
    assert "try another" in hand.page.inner_text("#lesson-status")
    hand.press("#features-single-x2")
    hand.press("#features-single-xy")


def maximum_margin(hand):
    hand.drag(0, 60, -36)  # a plus point, away from the line


def lda(hand):
    for u, v in ((588, 312), (576, 336)):  # far to the right, on the plus side
        hand.add(u, v, 1)


def overfitting(hand):
    hand.slide("#study-degree-degree", 0.2)  # the second of six


def precision(hand):
    hand.slide("#threshold", 0.61)


LESSONS = [bias, mistakes, bound, xor, maximum_margin, lda, overfitting, precision]


@pytest.mark.parametrize("hand", WAYS, indirect=True)
@pytest.mark.parametrize("number", range(1, 9), ids=[own.__name__ for own in LESSONS])
def test_the_task_is_solved(hand, number):
    page = hand.page
    hand.press(f"#lesson-{number}")
    settled(page)
    assert page.inner_text("#lesson-status").startswith("○")
    hand.press("#lesson-next")
    assert page.inner_text("#lesson-stop").startswith("2 of")
    LESSONS[number - 1](hand)
    settled(page)
    page.locator("#lesson-status", has_text="✓ Solved").wait_for(timeout=10_000)
    assert page.inner_text(f"#lesson-{number}").startswith("✓")

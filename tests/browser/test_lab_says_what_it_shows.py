"""Sentences of the lab agree with the numbers beside them."""

from __future__ import annotations

import re

import pytest
from hands import Mouse, be_the_perceptron, frame, settled


@pytest.fixture
def opened(page, lab):
    """The lab, with its first answers."""
    page.goto(lab.address)
    settled(page)
    page.click("#tab-perceptron")
    return page


def test_all_points_on_the_edges_of_the_band_are_ringed(opened):
    frame(opened)
    assert opened.locator("#plane .ring.support").count() == 6
    assert "points 0, 1, 2, 3, 4, 5 lie on its edges" in opened.text_content("#facts")


def test_the_lesson_counts_the_updates_that_were_made(opened):
    hand = Mouse(opened)
    for number in (1, 2, 3):
        hand.press("#lesson-1" if number == 1 else "#lesson-anew")
        settled(opened)
        updates = be_the_perceptron(hand)
        opened.locator("#lesson-status", has_text=f"{updates} updates were enough here").wait_for(timeout=3000)


def test_a_loss_that_does_not_change_is_not_said_to_fall(opened):
    opened.select_option("#preset", "xor")  # the mean of y·x is zero: so is the gradient at the start
    opened.click("#tab-descent")
    settled(opened)
    assert opened.inner_text("#descent-verdict").startswith("The loss stays at 1.")


def test_a_path_that_is_cut_is_not_said_to_end_at_its_last_loss(opened):
    opened.click("#tab-descent")
    settled(opened)
    opened.locator("#descent-choices-steps").fill("300")
    opened.locator("#descent-choices-step").fill("1.5")
    settled(opened)
    said = opened.inner_text("#descent-verdict")
    assert "Diverges" in said
    assert "rises" not in said
    assert "the weights pass 10⁶" in said


def test_a_boundary_in_three_columns_is_a_plane_and_its_branches_meet(opened):
    opened.select_option("#preset", "xor")
    opened.click("#tab-features")
    opened.check("#features-single-xy")
    settled(opened)
    frame(opened)
    assert opened.inner_text("#verdict") == "A plane in the 3 columns separates the classes (proved)."
    opened.check("#features-single-x2")
    settled(opened)
    assert opened.inner_text("#verdict") == "A hyperplane in the 4 columns separates the classes (proved)."
    opened.uncheck("#features-single-x2")
    settled(opened)
    frame(opened)
    path = opened.get_attribute("#plane path.boundary.widest", "d")
    parts = [tuple(map(float, part)) for part in re.findall(r"M([-\d.]+) ([-\d.]+)L([-\d.]+) ([-\d.]+)", path)]
    ends = [end for u, v, s, t in parts for end in ((u, v), (s, t))]
    inside = [end for end in ends if all(1 < part < 599 for part in end)]
    assert all(sum(abs(a - u) + abs(b - v) < 0.3 for a, b in ends) >= 2 for u, v in inside)  # no gap within the window

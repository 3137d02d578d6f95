"""The drift test: its tail is exact, its false alarms are as rare as it says, and a risen rate is noticed."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.stream.growing_encoder import GrowingEncoder, boundary
from separatrix.stream.outputs import braille, describe, percent
from separatrix.stream.scorecard import Drift, Scorecard, tail


@given(st.integers(1, 60), st.data())
def test_the_tail_is_that_of_the_hypergeometric_distribution(n, data):
    marked, drawn = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    found = data.draw(st.integers(0, drawn))
    exact = sum(
        Fraction(comb(marked, k) * comb(n - marked, drawn - k), comb(n, drawn))
        for k in range(found, drawn + 1)
        if drawn - k <= n - marked
    )
    assert tail(n, marked, drawn, found) == pytest.approx(float(exact), rel=1e-9, abs=1e-12)


def test_tails_of_many_rows_stay_numbers():
    assert tail(10**9, 10**8, 1000, 100) == pytest.approx(0.5, abs=0.03)
    assert tail(10**9, 10**8, 1000, 0) == 1.0
    assert tail(10**6, 900_000, 1000, 1) == pytest.approx(1.0)
    assert tail(10**6, 10, 1000, 10) < 1e-20


def test_false_warnings_are_no_more_frequent_than_stated():
    rng = np.random.default_rng(0)
    warned = 0
    for _ in range(2000):
        rate = rng.choice([0.02, 0.1, 0.5])
        drift = Drift(50, 0.05)
        warned += bool(drift.add(rng.random(2000) < rate))
    assert warned <= 2000 * 0.05  # the expected number at most; the exact test and falling levels stay well below


def test_a_rate_that_falls_gives_no_more_warnings():
    rng = np.random.default_rng(1)
    rates = np.linspace(0.5, 0.05, 3000)
    assert sum(bool(Drift(50, 0.05).add(rng.random(3000) < rates)) for _ in range(500)) <= 25


@given(st.lists(st.integers(1, 999), max_size=6))
def test_a_risen_rate_is_noticed_wherever_chunks_are_cut(cuts):
    rng = np.random.default_rng(2)
    wrong = np.concatenate([rng.random(5000) < 0.1, rng.random(2000) < 0.3])
    whole, parts = Drift(500, 0.01), Drift(500, 0.01)
    expected = whole.add(wrong)
    assert expected
    assert 5000 < expected[0] <= 6000
    begin = 0
    for cut in [*cuts, len(wrong)]:
        parts.add(wrong[begin : begin + cut])
        begin += cut
    assert parts == whole


@given(st.lists(st.integers(1, 700), max_size=8), st.booleans())
def test_scorecards_do_not_depend_on_chunks(cuts, regression):
    rng = np.random.default_rng(3)
    loss = rng.random(4000) if regression else rng.random(4000) < 0.2
    whole, parts = (Scorecard(100, 0.01, regression) for _ in range(2))
    whole.add(4000, loss)
    begin = 0
    for cut in [*cuts, 4000]:
        parts.add(len(loss[begin : begin + cut]), loss[begin : begin + cut])
        begin += cut
    assert whole.curve == parts.curve
    assert (whole.mistakes, whole.squares, whole.rows) == (parts.mistakes, parts.squares, parts.rows)
    assert np.array_equal(whole.recent, parts.recent)
    assert whole.drift == parts.drift


@given(st.lists(st.integers(1, 300), max_size=8))
def test_the_running_standardiser_does_not_depend_on_chunks(cuts):
    rng = np.random.default_rng(4)
    table = np.round(rng.normal([1e6, -3.0, 0.0], [1.0, 50.0, 0.0], size=(900, 3)), 2)
    table[rng.random(table.shape) < 0.05] = np.nan
    made = []
    for ends in ([900], [*cuts, 900]):
        encoder = GrowingEncoder(standard=True)
        encoder.begin(["a", "b", "c"])
        out, begin = [], 0
        for cut in ends:
            part = table[begin : begin + cut]
            out.append(encoder.standardised(part))
            begin += cut
        made.append((np.concatenate(out), encoder.moments))
    assert np.array_equal(made[0][0], made[1][0])
    assert np.array_equal(made[0][1].mean, made[1][1].mean)
    assert np.array_equal(made[0][1].square, made[1][1].square)
    settled = table[: 900 // 256 * 256]
    assert made[0][1].mean[:3] == pytest.approx(np.nanmean(settled, axis=0), rel=1e-12)
    assert made[0][1].deviation(slice(3)) == pytest.approx(np.nanstd(settled, axis=0), rel=1e-9)
    assert np.abs(np.nanmean(made[0][0][256:], axis=0)).max() < 0.2


def test_boundaries():
    assert [boundary(row) for row in (0, 1, 2, 3, 4, 7, 128, 255, 256, 511, 512)] == [
        2, 2, 4, 4, 8, 8, 256, 256, 512, 512, 768,
    ]  # fmt: skip


def test_the_status_line():
    card = Scorecard(100)
    rng = np.random.default_rng(5)
    card.add(3000, rng.random(3000) < np.linspace(0.5, 0.01, 3000))
    line = describe(card, 1.25e6, 7)
    assert line.startswith("3,000 rows  1.2 M rows/s")
    assert "7 rejected" in line
    assert any("\u2800" < letter <= "\u28ff" for letter in line)
    assert len(line) < 120
    assert braille([0.0, 1.0], 4) == chr(0x2800 + 0x40 + 0x08)
    assert braille([], 4) == ""
    assert (percent(0.99999), percent(1.0), percent(1e-9), percent(0.0)) == (">99.9%", "100.0%", "<0.1%", "0.0%")

"""Columns whose names collide with each other or with the intercept's: coefficients go by position."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import SeparationWarning
from separatrix.validation import distinct_names

pd = pytest.importorskip("pandas")

Y = [0, 0, 0, 1, 1, 1]


def table(name):
    return pd.DataFrame({name: [1.0, 2, 3, 4, 5, 6], "z": [1.0, 5, 2, 7, 3, 1]})


def test_distinct_names():
    assert distinct_names(["a", "b", "intercept"]) == ["a", "b", "intercept"]
    assert distinct_names(["intercept", "intercept"]) == ["intercept", "(intercept)"]
    assert distinct_names(["(intercept)", "intercept", "intercept"]) == ["(intercept)", "intercept", "((intercept))"]
    assert distinct_names(["a", "a", "(a)"]) == ["a", "((a))", "(a)"]


@pytest.mark.parametrize("name", ["x", "intercept", "(intercept)"])
def test_a_verdict_has_one_fate_for_each_coefficient(name):
    found = sx.separability(table(name), Y)
    assert list(found.coefficients.values()) == ["+inf", "undetermined", "-inf"]
    assert found.coefficients[name] == "+inf"
    with pytest.warns(SeparationWarning, match=re.escape(f"'{name}' tends to +∞, ")):
        model = sx.LogisticRegression().fit(table(name), Y)
    assert list(model.separation_.coefficients.values()) == ["+inf", "undetermined", "-inf"]


@pytest.mark.parametrize("name", ["x", "intercept", "(intercept)"])
def test_a_profile_summary_of_separated_classes_goes_by_position(name):
    model = sx.LogisticRegression(on_separation="ignore").fit(table(name), Y)
    rows = model.summary(intervals="profile").coefficients
    assert [row.coef for row in rows][::2] == [math.inf, -math.inf]
    assert math.isnan(rows[1].coef)
    assert len({row.name for row in rows}) == 3


@pytest.mark.parametrize("classes", [2, 3])
def test_estimates_do_not_depend_on_names(classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, classes, 200)
    plain = sx.LogisticRegression().fit(X, y)
    named = sx.LogisticRegression().fit(pd.DataFrame(X, columns=["intercept", "(intercept)"]), y)
    ours, theirs = named.summary(), plain.summary()
    assert [row.coef for row in ours.coefficients] == [row.coef for row in theirs.coefficients]
    assert len({row.name for row in ours.coefficients}) == len(theirs.coefficients)
    assert all(ours[row.name] == row for row in ours.coefficients)
    np.testing.assert_array_equal(named.influence().dfbeta, plain.influence().dfbeta)

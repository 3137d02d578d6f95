"""Marginal effects of factors, at weighted medians, and beside interactions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from separatrix import LogisticRegression


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    made = pd.DataFrame({"age": rng.normal(60, 8, 200), "ward": rng.choice(list("ABC"), 200)})
    made["count"] = rng.integers(1, 4, 200)
    score = 0.05 * (made["age"] - 60) + 1.5 * (made["ward"] == "B") - 2 * (made["ward"] == "C")
    made["ill"] = (score + rng.logistic(size=200) > 0).astype(int)
    made["age_twice"] = 2 * made["age"]
    return made


@pytest.mark.filterwarnings("ignore:columns are linearly dependent")
@pytest.mark.parametrize("formula", ["ill ~ age + ward", "ill ~ age + age_twice + ward"])
def test_a_level_is_compared_with_the_reference(frame, formula):
    """Every row in ward B against every row in ward A: no row is in wards B and C; errors by the delta method."""
    model = LogisticRegression.from_formula(formula, frame)
    table = model.marginal_effects(dummy=True)
    mean = {ward: model.predict_proba(frame.assign(ward=ward))[:, 1].mean() for ward in "ABC"}
    for ward in "BC":
        assert table[f"ward[T.{ward}]"]["effect"] == pytest.approx(mean[ward] - mean["A"], rel=1e-9)
    small = LogisticRegression.from_formula("ill ~ age + ward", frame)
    V, coef = small.summary().covariance, small.summary().coef
    assert list(small.summary().names) == ["age", "ward[T.B]", "ward[T.C]", "intercept"]
    J = np.zeros(4)
    for in_b, sign in ((1.0, 1.0), (0.0, -1.0)):
        rows = np.column_stack([frame["age"], np.full(200, in_b), np.zeros(200), np.ones(200)])
        p = 1 / (1 + np.exp(-rows @ coef))
        J += sign * (p * (1 - p)) @ rows / 200
    assert table["ward[T.B]"]["std_err"] == pytest.approx(np.sqrt(J @ V @ J), rel=1e-6)
    coded = LogisticRegression(categorical="dummies").fit(frame[["age", "ward"]], frame["ill"])
    np.testing.assert_allclose(coded.marginal_effects(dummy=True)["effect"][1:], table["effect"][-2:], rtol=1e-8)


@pytest.mark.parametrize("at", ["overall", "mean", "median", "zero"])
def test_weights_are_counts_of_rows(frame, at):
    weighted = LogisticRegression.from_formula("ill ~ age + ward", frame, sample_weight="count")
    repeated = LogisticRegression.from_formula("ill ~ age + ward", frame.loc[np.repeat(frame.index, frame["count"])])
    np.testing.assert_allclose(
        weighted.marginal_effects(at=at)["effect"], repeated.marginal_effects(at=at)["effect"], rtol=1e-9, atol=1e-12
    )


def test_a_table_with_interactions_says_what_it_moves(frame):
    said = str(LogisticRegression.from_formula("ill ~ age * ward", frame).marginal_effects())
    assert "columns of interactions and powers are moved alone" in said
    assert "moved alone" not in str(LogisticRegression.from_formula("ill ~ age + ward", frame).marginal_effects())

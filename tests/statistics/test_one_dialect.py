"""Summaries of all families have the same names and the same ways out, before and after a file."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import CollinearWarning, InferenceError
from separatrix.statistics.summary import COLUMNS


def rows(n=120, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=["a_1", "b&c", "d"][:d])
    score = X.to_numpy() @ [1.0, -0.5, 0.0][:d] + 0.3
    return X, (score + rng.logistic(size=n) > 0).astype(int), score + rng.normal(size=n)


def fitted(kind):
    X, labels, target = rows()
    if kind == "least squares":
        return sx.LeastSquares().fit(X, target)
    return sx.LogisticRegression(bias_reduction="firth" if kind == "firth" else None).fit(X, labels)


@pytest.mark.parametrize("kind", ["least squares", "logistic", "firth"])
def test_every_family_has_the_same_names_and_ways_out(kind, tmp_path):
    model = fitted(kind)
    summary = model.summary()
    frame = summary.to_frame()
    assert list(frame.columns) == list(COLUMNS) == ["coef", "std_err", "stat", "p", "low", "high"]
    assert list(frame.index) == ["a_1", "b&c", "d", "intercept"]
    assert repr(summary) == str(summary)
    assert max(map(len, str(summary).splitlines())) <= 100
    assert "<td>" in summary._repr_html_()
    assert "b&amp;c" in summary._repr_html_()
    assert r"a\_1 & " in summary.to_latex()
    assert r"b\&c & " in summary.to_latex()
    assert summary.to_latex().count(r"\\") == 5
    plain = json.loads(json.dumps(summary.to_dict()))
    assert [row["coef"] for row in plain["coefficients"]] == summary.coef.tolist()
    assert summary["d"].coef == summary.coef[2] == np.ravel(model.coef_)[2]
    sx.save(model, tmp_path / "model.sepx")
    for twin in (pickle.loads(pickle.dumps(model)), sx.load(tmp_path / "model.sepx")):
        assert str(twin.summary()) == str(summary)


def test_a_stored_firth_fit_says_that_profiles_need_the_rows():
    twin = pickle.loads(pickle.dumps(fitted("firth")))
    assert twin.summary().intervals == "wald"
    assert "profile intervals need the rows of the fit" in str(twin.summary())
    with pytest.raises(InferenceError, match="ask for intervals='wald', or fit again"):
        twin.summary(intervals="profile")


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "cluster", "HAC"])
def test_least_squares_agrees_with_statsmodels(kind):
    X, _, y = rows()
    groups = np.arange(120) // 6
    given = {"cluster": {"groups": groups}, "HAC": {"maxlags": 3}}.get(kind)
    theirs = sm.OLS(y, np.column_stack([X, np.ones(120)])).fit(cov_type=kind, cov_kwds=given, use_t=True)
    model = sx.LeastSquares().fit(X, y)
    ours = model.summary(covariance=kind, groups=groups if kind == "cluster" else None, lags=3)
    np.testing.assert_allclose(ours.std_err, theirs.bse, rtol=1e-9)
    if kind != "cluster":
        np.testing.assert_allclose(ours.p, theirs.pvalues, rtol=1e-7)


@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "HAC"])
def test_logistic_regression_agrees_with_an_oracle(kind):
    X, y, _ = rows()
    design = np.column_stack([X, np.ones(120)])
    ours = sx.LogisticRegression().fit(X, y).summary(covariance=kind, lags=2).covariance
    if kind in ("HC0", "HC1", "HAC"):
        given = {"cov_kwds": {"maxlags": 2}} if kind == "HAC" else {}
        name = "HC0" if kind == "HC1" else kind  # statsmodels leaves the factor of HC1 out, R's sandwich has it
        theirs = sm.Logit(y, design).fit(disp=0, tol=1e-14, cov_type=name, **given).cov_params()
        theirs = theirs * (120 / 116 if kind == "HC1" else 1.0)
    else:  # sandwich::vcovHC(glm): working residuals divided by 1 - h or by its root
        fit = sm.GLM(y, design, family=sm.families.Binomial()).fit(tol=1e-14)
        h = fit.get_influence(observed=False).hat_matrix_diag
        scores = (fit.resid_response / (1 - h) ** (0.5 if kind == "HC2" else 1.0))[:, None] * design
        theirs = fit.cov_params() @ (scores.T @ scores) @ fit.cov_params()
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_likelihood_and_criteria_agree_with_statsmodels():
    X, _, y = rows()
    c = np.random.default_rng(1).uniform(0.5, 2.0, 120)
    theirs = sm.WLS(y, np.column_stack([X, np.ones(120)]), weights=c).fit()
    ours = sx.LeastSquares().fit(X, y, sample_weight=c).summary()
    assert ours.loglik == pytest.approx(theirs.llf, rel=1e-10)
    assert ours.adjusted_r_squared == pytest.approx(theirs.rsquared_adj, rel=1e-10)
    # R counts the variance of the noise as a parameter, and statsmodels does not
    assert ours.aic == pytest.approx(theirs.aic + 2, rel=1e-10)
    assert ours.bic == pytest.approx(theirs.bic + np.log(120), rel=1e-10)


def test_an_own_constant_is_noticed_and_said():
    X, labels, y = rows()
    design = X.assign(one=1.0)
    ours, plain = sx.LeastSquares(fit_intercept=False).fit(design, y).summary(), sx.LeastSquares().fit(X, y).summary()
    assert (ours.r_squared, ours.adjusted_r_squared) == pytest.approx((plain.r_squared, plain.adjusted_r_squared))
    assert ours.f_test.statistic == pytest.approx(plain.f_test.statistic)
    assert any("contain a constant" in note for note in ours.notes)
    assert not sx.LeastSquares(fit_intercept=False).fit(X, y).summary().notes
    for options in ({}, {"bias_reduction": "firth"}):
        ours = sx.LogisticRegression(fit_intercept=False, **options).fit(design, labels).summary()
        plain = sx.LogisticRegression(**options).fit(X, labels).summary()
        assert (ours.lr_statistic, ours.lr_df) == (pytest.approx(plain.lr_statistic, rel=1e-7), 3)
        assert any("contain a constant" in note for note in ours.notes)


def test_dummies_of_all_levels_contain_a_constant():
    X, _, y = rows()
    levels = np.arange(120) % 3
    dummies = np.column_stack([X.iloc[:, 0], np.eye(3)[levels]])
    theirs = sm.OLS(y, dummies).fit()
    ours = sx.LeastSquares(fit_intercept=False).fit(dummies, y).summary()
    assert (ours.r_squared, ours.f_test.statistic) == pytest.approx((theirs.rsquared, theirs.fvalue))


def test_aliased_columns_are_marked_and_the_others_are_those_without():
    X, _, y = rows()
    wide = pd.DataFrame({"a": X.iloc[:, 0], "one": 1.0, "b": X.iloc[:, 1], "sum": X.iloc[:, 0] + X.iloc[:, 1]})
    with pytest.warns(CollinearWarning):
        model = sx.LeastSquares().fit(wide, y)
    ours, plain = model.summary(covariance="HC3"), sx.LeastSquares().fit(X.iloc[:, :2], y).summary(covariance="HC3")
    assert ours.marks == {"one": "aliased", "sum": "aliased"}
    np.testing.assert_allclose(ours.coef[[0, 2, 4]], plain.coef, rtol=1e-10)
    np.testing.assert_allclose(ours.std_err[[0, 2, 4]], plain.std_err, rtol=1e-10)
    assert np.isnan(ours["sum"].coef)
    assert (ours.r_squared, ours.df_resid) == (pytest.approx(plain.r_squared), 117)
    assert "aliased" in str(ours)


def test_the_odds_ratios_leave_the_intercept_out():
    summary = fitted("logistic").summary()
    table = summary.odds_ratios()
    assert table.names == ("a_1", "b&c", "d")
    np.testing.assert_allclose(table["odds_ratio"], np.exp(summary.coef[:3]))
    np.testing.assert_allclose(table["low"], np.exp(summary.low[:3]))
    X, _, y = rows()
    classes = np.digitize(y, [-0.5, 0.8])
    several = sx.LogisticRegression().fit(X, classes).summary()
    assert several.odds_ratios().names == tuple(name for name in several.names if "intercept" not in name)

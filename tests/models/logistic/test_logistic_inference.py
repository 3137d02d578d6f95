"""Inference from logistic fits: one-sided intervals, profiles and influence of many classes, nested tests."""

from __future__ import annotations

import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ParameterError

CHI2_95 = 3.841458820694124  # of one degree of freedom


def rows(n=200, d=2, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, d)), rng.integers(0, classes, n)
    X[:, 0] += 0.6 * y
    return X, y, rng.integers(1, 4, n).astype(float)


def against_first(model):
    vectors = np.column_stack([model.coef_, model.intercept_])
    return (vectors if len(vectors) == 1 else vectors[1:] - vectors[0]).reshape(-1)


# -- one-sided intervals --------------------------------------------------------------------------------


def test_endometrial_has_a_one_sided_interval(real_data):
    """The interval of NV is (a, ∞): with NV held at a, the deviance is greater by the quantile."""
    frame = pd.read_csv(real_data("endometrial.csv"))
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    model = sx.LogisticRegression(on_separation="ignore").fit(X, y)
    summary = model.summary(intervals="profile")
    row = summary["NV"]
    assert (row.coef, row.high, row.odds_ratio, row.odds_high) == (math.inf,) * 4
    assert math.isnan(row.std_err)
    held = sx.LogisticRegression().fit(X.drop(columns="NV"), y, offset=row.low * X["NV"])
    assert 2 * (summary.loglik - held.loglik_) == pytest.approx(CHI2_95, rel=1e-7)
    assert re.search(rf"{row.low:.6g} +∞$", str(summary), flags=re.MULTILINE)
    assert "their limits" in str(summary)
    tied = X["NV"] == 0  # the finite part is the fit on the tied rows
    part = sx.LogisticRegression().fit(X.loc[tied, ["PI", "EH"]], y[tied])
    limits = [summary[name].coef for name in ("PI", "EH", "intercept")]
    np.testing.assert_allclose(limits, [*part.coef_[0], part.intercept_[0]], rtol=1e-9)
    errors = [summary[name].std_err for name in ("PI", "EH", "intercept")]
    np.testing.assert_allclose(errors, [r.std_err for r in part.summary().coefficients], rtol=1e-6)


def test_both_signs_and_paths_that_are_not_determined():
    X = np.array([[0.0, 1.0], [1.0, -1.0], [2.0, 0.5], [3.0, -2.0], [4.0, 0.0], [5.0, 1.0]])
    model = sx.LogisticRegression(on_separation="ignore").fit(X, [1, 1, 1, 0, 0, 0])
    summary = model.summary(intervals="profile")
    assert summary["x0"].coef == -math.inf
    assert summary["x0"].low == -math.inf
    assert summary["x0"].high < 0
    assert summary["x0"].odds_low == 0
    for name, fate in model.separation_.coefficients.items():
        if fate == "undetermined":
            assert math.isnan(summary[name].coef)
            assert (summary[name].low, summary[name].high) == (-math.inf, math.inf)
    assert "−∞" in str(summary)


def test_what_has_no_limit_is_refused():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    apart = sx.LogisticRegression(on_separation="ignore").fit(X, [0, 0, 1, 1])
    with pytest.raises(InferenceError, match="intervals='profile'"):
        apart.summary(intervals="wald")
    for ask in (apart.influence, lambda: apart.likelihood_ratio_test(apart)):
        with pytest.raises(InferenceError, match="did not end at a maximum"):
            ask()
    X = np.array([[0.0], [1.0], [3.0], [4.5], [5.0], [7.0]])
    rest = sx.LogisticRegression(on_separation="ignore", multiclass="ovr").fit(X, [0, 0, 1, 1, 2, 2])
    with pytest.raises(InferenceError, match="no common likelihood"):
        rest.summary(intervals="profile")


def test_three_classes_of_which_one_is_apart_have_the_fit_of_the_others_as_their_finite_part():
    """Iris: setosa is apart; the others compared with the last class are the fit of these two alone."""
    iris = pytest.importorskip("sklearn.datasets").load_iris()
    X, y = iris.data, iris.target
    model = sx.LogisticRegression(on_separation="ignore").fit(X, y)
    summary = model.summary(intervals="profile")
    assert "log-odds against 2" in str(summary)
    assert [row.name for row in summary.coefficients] == list(model.separation_.coefficients)
    alone = sx.LogisticRegression().fit(X[50:], 2 - y[50:]).summary(intervals="profile")
    for row in alone.coefficients:
        own = summary[f"1:{row.name}"]
        assert own.coef == pytest.approx(row.coef, rel=1e-7)
        assert own.std_err == pytest.approx(row.std_err, rel=1e-6)
        assert own.low == pytest.approx(row.low, abs=1e-2)
        assert own.high == pytest.approx(row.high, abs=1e-2)
    assert summary.loglik == pytest.approx(alone.loglik, rel=1e-9)
    for row in summary.coefficients[:5]:
        assert math.isnan(row.coef)
        assert math.isnan(row.p)
        assert (row.low, row.high) == (-math.inf, math.inf)


def test_three_classes_with_one_infinite_coefficient_have_a_one_sided_interval():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 2, 300)])
    y = rng.integers(0, 3, 300)
    y[(X[:, 1] == 1) & (y == 0)] = 1
    offset = 0.1 * rng.normal(size=(300, 3))
    for o in (None, offset):
        model = sx.LogisticRegression(on_separation="ignore").fit(X, y, offset=o)
        row = model.summary(intervals="profile")["0:x1"]
        assert (row.coef, row.low) == (-math.inf, -math.inf)
        assert -10 < row.high < 0
        held = model.summary(intervals="profile")["1:x1"]
        assert held.low < held.coef < held.high


# -- more than two classes --------------------------------------------------------------------------------


def test_profiles_of_three_classes_end_where_the_test_turns():
    """Held by an offset: class 1's coefficient of x0 at an end leaves a deviance greater by the quantile."""
    X, y, _ = rows()
    model = sx.LogisticRegression().fit(X, y)
    row = model.summary(intervals="profile")["1:x0"]
    assert row.low < row.coef < row.high
    from scipy import optimize

    for end in (row.low, row.high):

        def loss(b, end=end):
            B = np.zeros((3, 3))
            B[1] = [end, b[0], b[1]]
            B[2] = b[2:]
            s = np.column_stack([X, np.ones(len(y))]) @ B.T
            return -(s[np.arange(len(y)), y] - np.logaddexp.reduce(s, axis=1)).sum()

        held = optimize.minimize(loss, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
        assert 2 * (model.loglik_ + held.fun) == pytest.approx(CHI2_95, rel=1e-6)


@pytest.mark.parametrize("options", [{}, {"bias_reduction": "firth"}])
def test_profiles_are_near_wald_on_many_rows(options):
    X, y, c = rows(4000)
    model = sx.LogisticRegression(**options).fit(X, y, sample_weight=c)
    wald, profile = model.summary(), model.summary(intervals="profile")
    for a, b in zip(wald.coefficients, profile.coefficients, strict=True):
        np.testing.assert_allclose([b.low, b.high], [a.low, a.high], atol=0.02 * a.std_err)


def test_influence_of_many_classes_is_what_happens_without_the_row():
    X, y, c = rows(60)
    model = sx.LogisticRegression().fit(X, y, sample_weight=c)
    found = model.influence()
    assert found.leverage.sum() == pytest.approx(6.0)
    assert found.dfbeta.shape == (60, 6)
    order = np.argsort(found.cooks)
    for k in (*order[:3], *order[-3:]):
        kept = np.arange(60) != k
        without = sx.LogisticRegression().fit(X[kept], y[kept], sample_weight=c[kept])
        change = against_first(model) - against_first(without)
        size = np.abs(change).max()
        np.testing.assert_allclose(found.dfbeta[k], change, atol=0.25 * size + 1e-12)
    P = model.predict_proba(X)
    own = P[np.arange(60), y]
    np.testing.assert_allclose(found.deviance**2, -2 * c * np.log(own), rtol=1e-9)
    Y = np.eye(3)[y]
    np.testing.assert_allclose(found.pearson**2, c * ((Y - P) ** 2 / P).sum(axis=1), rtol=1e-9)


# -- nested models -------------------------------------------------------------------------------------------


def test_nested_models_agree_with_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    X, y, _ = rows(300, 4)
    large, small = sx.LogisticRegression().fit(X, y), sx.LogisticRegression().fit(X[:, :2], y)
    statistic, df, p = large.likelihood_ratio_test(small)
    theirs = [sm.MNLogit(y, sm.add_constant(part)).fit(disp=0, tol=1e-14).llf for part in (X, X[:, :2])]
    assert (statistic, df) == (pytest.approx(2 * (theirs[0] - theirs[1]), rel=1e-7), 4)
    assert 0 < p < 1


def test_models_that_are_not_nested_are_refused():
    X, y, c = rows(100, 4, classes=2)
    large = sx.LogisticRegression().fit(X[:, :3], y)
    with pytest.raises(DataError, match="not nested"):
        large.likelihood_ratio_test(sx.LogisticRegression().fit(X[:, 2:], y))
    with pytest.raises(DataError, match="not nested"):
        large.likelihood_ratio_test(large)
    with pytest.raises(DataError, match="different weights"):
        large.likelihood_ratio_test(sx.LogisticRegression().fit(X[:, :2], y, sample_weight=c))
    with pytest.raises(DataError, match="different rows"):
        large.likelihood_ratio_test(sx.LogisticRegression().fit(X[:50, :2], y[:50]))
    sums = sx.LogisticRegression().fit(X[:, :1] + X[:, 1:2], y)  # a combination of columns is nested
    assert large.likelihood_ratio_test(sums)[1] == 2


# -- robust covariances ----------------------------------------------------------------------------------------


def test_robust_and_clustered_errors_of_weighted_rows_are_those_of_repeated_rows():
    X, y, c = rows(150, 2, classes=2)
    again = np.repeat(np.arange(150), c.astype(int))
    groups = np.arange(150) % 9
    weighted = sx.LogisticRegression().fit(X, y, sample_weight=c)
    repeated = sx.LogisticRegression().fit(X[again], y[again])
    for options in ({"covariance": "HC0"}, {"covariance": "cluster"}):
        given = {"groups": groups} if options["covariance"] == "cluster" else {}
        repeat = {"groups": groups[again]} if given else {}
        a, b = weighted.summary(**options, **given), repeated.summary(**options, **repeat)
        np.testing.assert_allclose(a.covariance, b.covariance, rtol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_statsmodels_agrees_on_robust_covariances(classes):
    sm = pytest.importorskip("statsmodels.api")
    X, y, _ = rows(250, 3, classes=classes)
    design, groups = np.column_stack([X, np.ones(250)]), np.arange(250) % 17
    model = sx.LogisticRegression().fit(X, y)
    kind = sm.Logit if classes == 2 else sm.MNLogit
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robust = kind(y, design).fit(disp=0, tol=1e-14, cov_type="HC0")
        cluster = kind(y, design).fit(disp=0, tol=1e-14, cov_type="cluster", cov_kwds={"groups": groups})
    np.testing.assert_allclose(model.summary(covariance="HC0").covariance, robust.cov_params(), rtol=1e-6)
    ours = model.summary(covariance="cluster", groups=groups).covariance
    np.testing.assert_allclose(ours, cluster.cov_params(), rtol=1e-6)


def test_profiles_have_no_covariance_of_their_own():
    X, y, _ = rows()
    with pytest.raises(ParameterError, match="no covariance of their own"):
        sx.LogisticRegression().fit(X, y).summary(intervals="profile", covariance="HC0")


@pytest.mark.parametrize("options", [{"C": 1.0}, {"C": 1.0, "l1_ratio": 1.0}, {"class_weight": {0: 2.0, 1: 1.0}}])
def test_penalised_and_class_weighted_fits_have_no_errors(options):
    X, y, _ = rows(classes=2)
    model = sx.LogisticRegression(**options).fit(X, y)
    for ask in (model.summary, model.influence, lambda: model.likelihood_ratio_test(model)):
        with pytest.raises(InferenceError, match=r"penalty|class weights"):
            ask()

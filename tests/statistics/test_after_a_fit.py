"""What follows a fit, beside statsmodels: tests, contrasts, effects, predictions, tables of terms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ParameterError


def frame(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "d": rng.integers(0, 2, n).astype(float)})
    X["b"] += 0.5 * X["a"]
    score = 0.8 * X["a"] - 0.4 * X["b"] + 0.6 * X["d"]
    return X, (score + rng.logistic(size=n) > 0).astype(int), score + rng.normal(size=n)


@pytest.mark.parametrize("hypothesis", ["a = b", "2*a - b/2 = 1", "a = b = 0", "a = 0, d = 0.5"])
def test_wald_tests_agree_with_statsmodels(hypothesis):
    X, labels, y = frame()
    design = X.assign(intercept=1.0)
    for ours, theirs in [
        (sx.LeastSquares().fit(X, y), sm.OLS(y, design).fit()),
        (sx.LogisticRegression().fit(X, labels), sm.Logit(labels, design).fit(disp=0, tol=1e-14)),
    ]:
        mine = ours.wald_test(hypothesis)
        other = theirs.wald_test(hypothesis.replace("b/2", "0.5*b"), scalar=True)
        assert mine.statistic == pytest.approx(float(other.statistic), rel=1e-8)
        assert mine.p == pytest.approx(float(other.pvalue), rel=1e-7)
        robust = ours.wald_test(hypothesis, covariance="HC0").statistic
        assert robust != mine.statistic


def test_contrasts_agree_with_statsmodels():
    X, _, y = frame()
    ours = sx.LeastSquares().fit(X, y).contrast(["a - b", "a = 1"], level=0.9)
    theirs = sm.OLS(y, X.assign(intercept=1.0)).fit().t_test("a - b = 0, a = 1")
    np.testing.assert_allclose(ours["coef"], theirs.effect - [0, 1], rtol=1e-10)
    np.testing.assert_allclose(ours["std_err"], theirs.sd.ravel(), rtol=1e-10)
    np.testing.assert_allclose(ours["p"], theirs.pvalue, rtol=1e-8)
    assert ours.names == ("a - b", "a = 1")


@pytest.mark.parametrize(
    ("hypothesis", "message"),
    [
        ("age = 0", "names no coefficient"),
        ("a", "needs '='"),
        ("a = 0 b", "is not understood"),
        ("a = 0, a = 0", "dependent"),
    ],
)
def test_a_hypothesis_that_means_nothing_gets_one_sentence(hypothesis, message):
    X, _, y = frame()
    with pytest.raises((ParameterError, InferenceError), match=message) as said:
        sx.LeastSquares().fit(X, y).wald_test(hypothesis)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("at", "dummy"),
    [("overall", False), ("mean", False), ("median", False), ("zero", False), ("overall", True), ("mean", True)],
)
def test_marginal_effects_agree_with_statsmodels(at, dummy):
    X, y, _ = frame()
    ours = sx.LogisticRegression().fit(X, y).marginal_effects(at=at, dummy=dummy)
    theirs = sm.Logit(y, X.assign(intercept=1.0)).fit(disp=0, tol=1e-14).get_margeff(at=at, dummy=dummy)
    np.testing.assert_allclose(ours["effect"], theirs.margeff, rtol=1e-7)
    np.testing.assert_allclose(ours["std_err"], theirs.margeff_se, rtol=1e-7)
    np.testing.assert_allclose(np.column_stack([ours["low"], ours["high"]]), theirs.conf_int(), rtol=1e-6)


def test_predictions_with_errors_agree_with_statsmodels():
    X, labels, y = frame()
    new, design = X.iloc[:7], X.assign(intercept=1.0)
    ours = sx.LeastSquares().fit(X, y).predict_table(new, level=0.9)
    theirs = sm.OLS(y, design).fit().get_prediction(design.iloc[:7]).summary_frame(alpha=0.1)
    names = {"mean": "mean", "std_err": "mean_se", "low": "mean_ci_lower", "high": "mean_ci_upper"}
    for mine, other in {**names, "new_low": "obs_ci_lower", "new_high": "obs_ci_upper"}.items():
        np.testing.assert_allclose(ours[mine], theirs[other], rtol=1e-9)
    ours = sx.LogisticRegression().fit(X, labels).predict_table(new, level=0.9)
    fit = sm.GLM(labels, design, family=sm.families.Binomial()).fit(tol=1e-14)
    theirs = fit.get_prediction(design.iloc[:7]).summary_frame(alpha=0.1)
    for mine, other in names.items():
        np.testing.assert_allclose(ours[mine], theirs[other], rtol=1e-7)


@pytest.mark.parametrize(("kind", "number"), [("I", 1), ("II", 2), ("III", 3)])
def test_analysis_of_variance_agrees_with_statsmodels(kind, number):
    X, _, y = frame()
    X = X.assign(**{"a:d": X["a"] * X["d"]})
    ours = sx.LeastSquares().fit(X, y).anova(kind=kind)
    fit = smf.ols("y ~ a + b + d + a:d", X.assign(y=y)).fit()
    theirs = anova_lm(fit, typ=number).drop(index="Intercept", errors="ignore")
    np.testing.assert_allclose(ours["sum_sq"], theirs["sum_sq"], rtol=1e-9)
    np.testing.assert_allclose(ours["df"], theirs["df"])
    np.testing.assert_allclose(ours["p"][:-1], theirs["PR(>F)"].iloc[:-1], rtol=1e-7)
    assert ours.names[-1] == "residuals"


def test_analysis_of_deviance_and_deletions_are_refits():
    X, y, target = frame()
    model = sx.LogisticRegression().fit(X, y)
    fits = {
        part: sm.Logit(y, X[list(part)].assign(one=1.0)).fit(disp=0, tol=1e-14) for part in ("ab", "ad", "bd", "abd")
    }
    null = fits["abd"].llnull
    first = sm.Logit(y, X[["a"]].assign(one=1.0)).fit(disp=0, tol=1e-14).llf
    stages = [null, first, fits["ab"].llf, fits["abd"].llf]
    np.testing.assert_allclose(model.anova()["stat"], 2 * np.diff(stages), rtol=1e-6, atol=1e-9)
    dropped = model.drop1()
    assert dropped.names == ("<none>", "a", "b", "d")
    np.testing.assert_allclose(dropped["aic"], [fits[part].aic for part in ("abd", "bd", "ad", "ab")], rtol=1e-9)
    linear = sx.LeastSquares().fit(X, target)
    aics = [sm.OLS(target, X[list(part)].assign(one=1.0)).fit().aic + 2 for part in ("abd", "bd", "ad", "ab")]
    np.testing.assert_allclose(linear.drop1()["aic"], aics, rtol=1e-9)


def test_penalised_ratios_are_those_of_the_summary_and_of_nested_fits():
    X, y, _ = frame(60)
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    p = model.summary().p[:3]
    np.testing.assert_allclose(model.drop1()["p"][1:], p, rtol=1e-5)
    smaller = sx.LogisticRegression(bias_reduction="firth").fit(X[["a", "b"]], y)
    statistic, df, own = model.likelihood_ratio_test(smaller)
    assert (df, own) == (1, pytest.approx(p[2], rel=1e-5))
    assert statistic == pytest.approx(model.drop1()["stat"][3], rel=1e-5)
    with pytest.raises(DataError, match="compared by columns"):
        model.likelihood_ratio_test(
            sx.LogisticRegression(bias_reduction="firth").fit(X[["a"]] + X[["b"]].to_numpy(), y)
        )
    with pytest.raises(InferenceError, match="fits of one kind"):
        model.likelihood_ratio_test(sx.LogisticRegression().fit(X[["a"]], y))


def test_influence_is_one_table_and_agrees_with_statsmodels():
    X, _, y = frame(40)
    model = sx.LeastSquares().fit(X, y)
    design = X.assign(intercept=1.0)
    theirs = OLSInfluence(sm.OLS(y, design).fit())
    ours = model.influence().to_frame()
    np.testing.assert_allclose(ours["leverage"], theirs.hat_matrix_diag, rtol=1e-9)
    np.testing.assert_allclose(ours["cooks_distance"], theirs.cooks_distance[0], rtol=1e-9)
    np.testing.assert_allclose(ours["studentized_outside"], theirs.resid_studentized_external, rtol=1e-9)
    np.testing.assert_allclose(ours.filter(like="dfbetas").to_numpy(), theirs.dfbetas, rtol=1e-7, atol=1e-12)
    inflation = [variance_inflation_factor(design.to_numpy(), j) for j in range(3)]
    np.testing.assert_allclose(model.vif()["vif"], inflation, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_take_the_offset_of_the_fit(classes):
    X, labels, y = frame()
    labels = labels if classes == 2 else np.digitize(y, [-0.5, 0.8])
    offset = np.random.default_rng(2).normal(size=150 if classes == 2 else (150, 3))
    model = sx.LogisticRegression().fit(X, labels, offset=offset)
    P = model.predict_proba(X, offset=offset)
    assert np.log(P[np.arange(150), labels]).sum() == pytest.approx(model.loglik_, rel=1e-10)
    if classes == 2:
        np.testing.assert_allclose(P[:, 1], model.predict_table(X, offset=offset)["mean"], rtol=1e-12)
    with pytest.raises(DataError, match="offset"):
        model.predict_proba(X, offset=offset[:3])

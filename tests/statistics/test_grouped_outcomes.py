"""Successes out of trials, beside statsmodels and published R output."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import DataError, ParameterError

# Beetles killed by carbon disulphide (Bliss 1935): Dobson, An Introduction to Generalized Linear Models, table 7.2.
BEETLES = pd.DataFrame(
    {
        "dose": [1.6907, 1.7242, 1.7552, 1.7842, 1.8113, 1.8369, 1.8610, 1.8839],
        "n": [59, 60, 62, 56, 63, 59, 62, 60],
        "killed": [6, 13, 18, 28, 52, 53, 61, 60],
    }
).assign(alive=lambda data: data["n"] - data["killed"])
FAMILY = sm.families.Binomial()


def fits():
    yield sx.LogisticRegression().fit(BEETLES[["dose"]], BEETLES["killed"], trials=BEETLES["n"])
    yield sx.LogisticRegression.from_formula("cbind(killed, alive) ~ dose", BEETLES)
    yield sx.LogisticRegression.from_formula("killed ~ dose", BEETLES, trials="n")


def statsmodels_fit(**options):
    counts, design = BEETLES[["killed", "alive"]], BEETLES[["dose"]].assign(intercept=1.0)
    return sm.GLM(counts, design, family=FAMILY).fit(tol=1e-14, **options)


def test_the_summary_is_that_of_R_and_statsmodels():
    theirs = statsmodels_fit()
    for model in fits():
        ours = model.summary()
        # Dobson's table 7.4, made with R: -60.72 (5.18), 34.27 (2.91), deviance 11.23; R prints AIC 41.43
        np.testing.assert_allclose(ours.coef, [34.27, -60.72], atol=0.005)
        np.testing.assert_allclose(ours.std_err, [2.91, 5.18], atol=0.005)
        assert ours.aic == pytest.approx(41.43, abs=0.005)
        np.testing.assert_allclose(ours.coef, theirs.params, rtol=1e-9)
        np.testing.assert_allclose(ours.std_err, theirs.bse, rtol=1e-7)
        assert (ours.loglik, ours.aic) == (pytest.approx(theirs.llf), pytest.approx(theirs.aic))
        assert (ours.bic, ours.df_resid) == (pytest.approx(theirs.bic_llf), theirs.df_resid)
        assert ours.lr_statistic == pytest.approx(theirs.null_deviance - theirs.deviance)
        assert "481 trials, 291 successes" in str(ours)
        assert model.classes_.tolist() == [0, 1]


def test_residuals_and_influence_are_of_the_groups():
    model, theirs = next(fits()), statsmodels_fit()
    ours, influence = model.influence().to_frame(), statsmodels_fit().get_influence()
    assert len(ours) == 8
    np.testing.assert_allclose(ours["leverage"], influence.hat_matrix_diag, rtol=1e-7)
    np.testing.assert_allclose(ours["cooks_distance"], influence.cooks_distance[0], rtol=1e-6)
    np.testing.assert_allclose(ours["pearson"], theirs.resid_pearson, rtol=1e-6)
    np.testing.assert_allclose(ours["deviance"], theirs.resid_deviance, rtol=1e-6)
    assert (ours["deviance"] ** 2).sum() == pytest.approx(11.23, abs=0.005)
    np.testing.assert_allclose(ours.filter(like="dfbetas"), influence.dfbetas, rtol=1e-6)


def test_robust_covariances_have_the_groups_as_units():
    model = next(fits())
    for kind, name, given in (("HC0", "HC0", {}), ("HAC", "HAC", {"cov_kwds": {"maxlags": 2}})):
        theirs = statsmodels_fit(cov_type=name, **given)
        np.testing.assert_allclose(model.summary(covariance=kind, lags=2).std_err, theirs.bse, rtol=1e-6)
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    theirs = statsmodels_fit(cov_type="cluster", cov_kwds={"groups": np.array(groups)})
    np.testing.assert_allclose(model.summary(covariance="cluster", groups=groups).std_err, theirs.bse, rtol=1e-6)
    h = model.influence().leverage
    scores = (BEETLES["killed"] - BEETLES["n"] * model.predict_proba(BEETLES[["dose"]])[:, 1]) / (1 - h)
    rows = scores.to_numpy()[:, None] * np.column_stack([BEETLES["dose"], np.ones(8)])
    V = model.summary().covariance
    np.testing.assert_allclose(model.summary(covariance="HC3").covariance, V @ rows.T @ rows @ V, rtol=1e-9)


def test_groups_are_the_same_as_single_trials():
    grouped = next(fits())
    rows = BEETLES.loc[BEETLES.index.repeat(BEETLES["n"])]
    outcome = np.concatenate([[1] * s + [0] * f for s, f in zip(BEETLES["killed"], BEETLES["alive"], strict=True)])
    single = sx.LogisticRegression().fit(rows[["dose"]].to_numpy(), outcome)
    np.testing.assert_allclose(grouped.coef_, single.coef_, rtol=1e-9)
    assert grouped.summary().mcfadden == pytest.approx(single.summary().mcfadden)
    firth = sx.LogisticRegression(bias_reduction="firth")
    by_groups = firth.fit(BEETLES[["dose"]], BEETLES["killed"], trials=BEETLES["n"]).summary()
    np.testing.assert_allclose(by_groups.low, firth.fit(rows[["dose"]].to_numpy(), outcome).summary().low, rtol=1e-6)
    np.testing.assert_allclose(grouped.marginal_effects()["std_err"], single.marginal_effects()["std_err"], rtol=1e-6)


def test_an_offset_and_a_file(tmp_path):
    shift = np.linspace(-1, 1, 8)
    model = sx.LogisticRegression().fit(BEETLES[["dose"]], BEETLES["killed"], trials=BEETLES["n"], offset=shift)
    counts, design = BEETLES[["killed", "alive"]], BEETLES[["dose"]].assign(one=1.0)
    theirs = sm.GLM(counts, design, family=FAMILY, offset=shift).fit(tol=1e-14)
    np.testing.assert_allclose(model.summary().coef, theirs.params, rtol=1e-8)
    sx.save(model, tmp_path / "model.sepx")
    assert str(sx.load(tmp_path / "model.sepx").summary()) == str(model.summary())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"killed": [70, 13, 18, 28, 52, 53, 61, 60]}, "row 0 has 70 successes in 59 trials"),
        ({"killed": [-1, 13, 18, 28, 52, 53, 61, 60]}, "y is -1 at row 0: with trials it counts successes"),
        ({"killed": [0.5, 13, 18, 28, 52, 53, 61, 60]}, "y is 0.5 at row 0"),
        ({"n": [59.5, 60, 62, 56, 63, 59, 62, 60]}, "trials is 59.5 at row 0"),
        ({"killed": 0}, "every trial is a failure"),
    ],
)
def test_counts_that_cannot_be_get_one_sentence(change, message):
    data = BEETLES.assign(**change)
    with pytest.raises(DataError, match=message) as said:
        sx.LogisticRegression().fit(data[["dose"]], data["killed"], trials=data["n"])
    assert "\n" not in str(said.value)


def test_other_wrong_uses():
    X, y, n = BEETLES[["dose"]], BEETLES["killed"], BEETLES["n"]
    with pytest.raises(DataError, match="trials has 3"):
        sx.LogisticRegression().fit(X, y, trials=[1, 2, 3])
    with pytest.raises(DataError, match="different pandas indexes"):
        sx.LogisticRegression().fit(X, y, trials=n[::-1])
    with pytest.raises(ParameterError, match="leave sample_weight"):
        sx.LogisticRegression().fit(X, y, trials=n, sample_weight=np.ones(8))
    with pytest.raises(ParameterError, match="takes no trials"):
        sx.LeastSquares.from_formula("cbind(killed, alive) ~ dose", BEETLES)
    with pytest.raises(DataError, match="pass y=successes, trials="):
        sx.LogisticRegression().fit(X, BEETLES[["killed", "alive"]])

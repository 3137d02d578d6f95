"""Ridge and maximum-likelihood fits against scikit-learn, statsmodels and firthmodels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs
from tests.models.logistic.test_logistic import overlapping, quiet

import separatrix as sx


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", ["dense", "sparse", "wide"])
def test_ridge_against_scikit_learn(C, classes, kind):
    X, y = overlapping(60 if kind == "wide" else 300, 400 if kind == "wide" else 4, classes=classes)
    given = X if kind == "dense" else sparse.csr_array(np.where(np.abs(X) > 0.4, X, 0.0))
    c = np.random.default_rng(9).random(len(y)) + 0.2
    ours = sx.LogisticRegression(C=C, tol=1e-13).fit(given, y, sample_weight=c)
    theirs = Theirs(C=C, tol=1e-12, max_iter=100_000, solver="newton-cg")
    quiet(theirs, given, y, sample_weight=c)

    def objective(coef, intercept):
        s = given @ coef.T + intercept
        s = np.column_stack([np.zeros(len(y)), s]) if classes == 2 else s
        behind = s - s[np.arange(len(y)), y][:, None]
        behind[np.arange(len(y)), y] = -np.inf
        loss = np.log1p(np.exp(behind).sum(axis=1))
        return C * (c @ loss) + 0.5 * (coef**2).sum()

    mine = objective(ours.coef_, ours.intercept_)
    assert mine <= objective(theirs.coef_, theirs.intercept_) * (1 + 1e-13)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-5)
    assert ours.gap_ <= 1e-13
    # stationarity by independent code
    P = ours.predict_proba(given)
    R = c[:, None] * (P - np.eye(classes)[y])
    slope = C * (given.T @ R).T[1:] + ours.coef_ if classes == 2 else C * (given.T @ R).T + ours.coef_
    assert np.abs(slope).max() < 1e-5 * (1 + C)
    assert np.abs(R.sum(axis=0)).max() < 1e-5


def test_the_gap_bounds_the_distance_to_the_minimum():
    X, y = overlapping(3000, 6, seed=4)
    best = sx.LogisticRegression(C=0.5, tol=1e-15).fit(X, y)

    def value(m):
        return -m.loglik_ + (m.coef_**2).sum()

    for tol in (1e-2, 1e-4, 1e-6):
        rough = sx.LogisticRegression(C=0.5, tol=tol).fit(X, y)
        assert rough.gap_ <= tol
        assert value(rough) - value(best) <= rough.gap_ * value(rough) + 1e-12


def test_the_sampled_start_ends_at_the_same_minimum():
    """Enough rows for a sample; correlated, heavy-tailed and rare columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 8))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[:, 2] = rng.standard_t(2, 20_000)
    X[:, 3] = rng.random(20_000) < 0.001
    y = (rng.random(20_000) < 1 / (1 + np.exp(-X @ np.linspace(-1, 1, 8)))).astype(int)
    fast = sx.LogisticRegression(C=1.0, tol=1e-12).fit(X, y)
    theirs = Theirs(C=1.0, solver="newton-cholesky", tol=1e-10).fit(X, y)
    np.testing.assert_allclose(fast.coef_, theirs.coef_, rtol=1e-5, atol=1e-6)
    ml = sx.LogisticRegression().fit(X, y)
    assert ml.separation_.by == "bound"
    assert np.abs(np.column_stack([X, np.ones(len(y))]).T @ (y - ml.predict_proba(X)[:, 1])).max() < 1e-8


def test_statsmodels_agrees_on_everything_it_has():
    sm = pytest.importorskip("statsmodels.api")
    X, y = overlapping(300, 3, seed=8)
    ours, design = sx.LogisticRegression().fit(X, y), np.column_stack([X, np.ones(300)])
    theirs = sm.Logit(y, design).fit(disp=0, tol=1e-14)
    summary = ours.summary()
    np.testing.assert_allclose([r.coef for r in summary.coefficients], theirs.params, rtol=1e-8)
    np.testing.assert_allclose(summary.covariance, theirs.cov_params(), rtol=1e-8)
    np.testing.assert_allclose([r.p for r in summary.coefficients], theirs.pvalues, rtol=1e-6)
    np.testing.assert_allclose([[r.low, r.high] for r in summary.coefficients], theirs.conf_int(), rtol=1e-7)
    for mine, other in (("loglik", "llf"), ("null_loglik", "llnull"), ("aic", "aic"), ("bic", "bic")):
        assert getattr(summary, mine) == pytest.approx(getattr(theirs, other), rel=1e-9)
    assert (summary.mcfadden, summary.lr_p) == pytest.approx((theirs.prsquared, theirs.llr_pvalue), rel=1e-7)
    robust = sm.Logit(y, design).fit(disp=0, tol=1e-14, cov_type="HC0")
    np.testing.assert_allclose(ours.summary(covariance="HC0").covariance, robust.cov_params(), rtol=1e-7)
    groups = np.arange(300) // 7
    clustered = sm.Logit(y, design).fit(disp=0, tol=1e-14, cov_type="cluster", cov_kwds={"groups": groups})
    mine = ours.summary(covariance="cluster", groups=groups)
    np.testing.assert_allclose(mine.covariance, clustered.cov_params(), rtol=1e-7)
    influence = sm.GLM(y, design, family=sm.families.Binomial()).fit(tol=1e-14).get_influence()
    np.testing.assert_allclose(ours.influence().leverage, influence.hat_matrix_diag, rtol=1e-7)
    np.testing.assert_allclose(ours.influence().cooks, influence.cooks_distance[0], rtol=1e-6)
    several = sx.LogisticRegression().fit(X, np.arange(300) % 3)
    multinomial = sm.MNLogit(np.arange(300) % 3, design).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(
        [r.coef for r in several.summary().coefficients], multinomial.params.T.reshape(-1), rtol=1e-6
    )
    np.testing.assert_allclose(
        [r.std_err for r in several.summary().coefficients], multinomial.bse.T.reshape(-1), rtol=1e-7
    )


def test_statsmodels_agrees_on_offsets_and_frequencies():
    sm = pytest.importorskip("statsmodels.api")
    X, y = overlapping(250, 3, seed=12)
    rng = np.random.default_rng(3)
    c, o = rng.integers(1, 5, 250).astype(float), rng.standard_normal(250)
    ours = sx.LogisticRegression().fit(X, y, sample_weight=c, offset=o)
    design = np.column_stack([X, np.ones(250)])
    family = sm.families.Binomial()
    theirs = sm.GLM(y, design, family=family, freq_weights=c, offset=o).fit(tol=1e-15, tol_criterion="params")
    summary = ours.summary()
    np.testing.assert_allclose([r.coef for r in summary.coefficients], theirs.params, rtol=1e-8)
    np.testing.assert_allclose([r.std_err for r in summary.coefficients], theirs.bse, rtol=1e-8)
    assert summary.loglik == pytest.approx(theirs.llf, rel=1e-10)


def test_firthmodels_agrees():
    firthmodels = pytest.importorskip("firthmodels")
    X, y = overlapping(60, 2, seed=2)
    X[:, 0] += 8 * y
    theirs = quiet(firthmodels.FirthLogisticRegression(gtol=1e-10, xtol=1e-10, max_iter=500), X, y)
    ours = quiet(sx.LogisticRegression(), X, y)
    np.testing.assert_allclose(ours.coef_[0], np.ravel(theirs.coef_), rtol=1e-5)


def test_profile_ends_are_where_the_test_turns():
    X, y = overlapping(120, 2, seed=6)
    model = sx.LogisticRegression().fit(X, y)
    row = model.summary(intervals="profile", level=0.9)["x0"]
    for end in (row.low, row.high):
        held = sx.LogisticRegression().fit(X[:, 1:], y, offset=end * X[:, 0])
        assert 2 * (model.loglik_ - held.loglik_) == pytest.approx(2.705543454095404, rel=1e-7)
    small = sx.LogisticRegression().fit(X[:, 1:], y)
    statistic, df, p = model.likelihood_ratio_test(small)
    assert (df, p) == (1, pytest.approx(row.p, rel=1e-6))
    assert statistic == pytest.approx(2 * (model.loglik_ - small.loglik_))

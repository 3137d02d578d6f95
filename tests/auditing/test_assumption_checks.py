"""The tests of assumptions against published values, and against other implementations and formulas."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats
from sklearn.datasets import load_iris
from statsmodels.stats import diagnostic
from statsmodels.stats.outliers_influence import reset_ramsey

from separatrix.auditing.checks import log_odds, noise, normality

IRIS = load_iris()
SPECIES = [IRIS.data[IRIS.target == k] for k in range(3)]


def test_mardia_of_setosa_is_that_of_the_literature():
    """Korkmaz, Goksuluk and Zararsiz (2014): skewness 25.66, p 0.1772; kurtosis 1.295, p 0.1953."""
    skewness, kurtosis = normality.mardia(SPECIES[0])
    assert skewness == pytest.approx(0.1771859, rel=1e-6)
    assert kurtosis == pytest.approx(0.1953229, rel=1e-6)
    assert stats.chi2.isf(skewness, 20) == pytest.approx(25.66435, rel=1e-6)


def test_mardia_is_its_definition():
    """Mardia (1970): the mean of ((x - m)' S^-1 (z - m))^3 over pairs of rows, and of squared distances over rows."""
    X = np.random.default_rng(0).gamma(3.0, size=(60, 3))
    n, d = X.shape
    inverse = np.linalg.inv(np.cov(X, rowvar=False, bias=True))
    rows = X - X.mean(axis=0)
    skewness = sum((x @ inverse @ z) ** 3 for x in rows for z in rows) / n**2
    kurtosis = sum((x @ inverse @ x) ** 2 for x in rows) / n
    z = (kurtosis - d * (d + 2)) / np.sqrt(8 * d * (d + 2) / n)
    wanted = (stats.chi2.sf(n * skewness / 6, d * (d + 1) * (d + 2) / 6), 2 * stats.norm.sf(abs(z)))
    assert normality.mardia(X) == pytest.approx(wanted, rel=1e-9)


def test_box_m_of_iris_is_that_of_the_literature():
    """Friendly and Sigal (2020): chi-square 140.94 on 20 degrees of freedom."""
    p, _ = normality.box_m(SPECIES)
    assert stats.chi2.isf(p, 20) == pytest.approx(140.943, abs=2e-3)


def test_box_m_is_its_definition():
    """Box (1949), with the determinants of covariance matrices."""
    rng = np.random.default_rng(1)
    groups = [rng.normal(size=(n, 2)) * scale for n, scale in ((30, 1.0), (50, 1.2), (25, 0.9))]
    free, spreads = [len(g) - 1 for g in groups], [np.cov(g, rowvar=False) for g in groups]
    pooled = sum(f * s for f, s in zip(free, spreads, strict=True)) / sum(free)
    m = sum(f * np.log(np.linalg.det(pooled) / np.linalg.det(s)) for f, s in zip(free, spreads, strict=True))
    c = (2 * 4 + 3 * 2 - 1) / (6 * 3 * 2) * (sum(1 / f for f in free) - 1 / sum(free))
    assert normality.box_m(groups)[0] == pytest.approx(stats.chi2.sf(m * (1 - c), 6), rel=1e-6)


@pytest.fixture(scope="module")
def regression():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    Z = sm.add_constant(X)
    y = Z @ [1.0, 2.0, -1.0, 0.5] + rng.normal(size=200) * np.exp(0.4 * X[:, 0]) + 0.3 * X[:, 1] ** 2
    return Z, sm.OLS(y, Z).fit()


def test_the_test_of_constant_variance_is_that_of_statsmodels(regression):
    Z, fit = regression
    statistic, p, _, _ = diagnostic.het_breuschpagan(fit.resid, Z, robust=True)
    assert noise.koenker(Z, 4, fit.resid) == pytest.approx((statistic, p), rel=1e-9)


def test_the_test_of_a_linear_mean_is_that_of_statsmodels(regression):
    Z, fit = regression
    wanted = reset_ramsey(fit, degree=3)
    assert noise.ramsey(Z, 4, fit.resid, fit.fittedvalues) == pytest.approx(
        (float(wanted.statistic), float(wanted.pvalue)), rel=1e-6
    )


def test_the_test_of_normal_noise_is_that_of_statsmodels(regression):
    _, fit = regression
    statistic, p, _, _ = sm.stats.jarque_bera(fit.resid)
    assert noise.jarque_bera(fit.resid) == pytest.approx((statistic, p), rel=1e-9)


def test_score_statistics_are_those_of_statsmodels():
    """Rao's test of one more column in a logistic model."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 2))
    Z = sm.add_constant(X)
    y = (rng.random(300) < 1 / (1 + np.exp(-X[:, 0] - 0.7 * X[:, 1] ** 2))).astype(float)
    fit = sm.GLM(y, Z, family=sm.families.Binomial()).fit(tol=1e-12)
    mean = fit.fittedvalues
    terms = [X[:, 0] ** 2, X[:, 1] ** 2, X[:, 0] * X[:, 1]]
    found = log_odds.score_statistics(Z, y - mean, mean * (1 - mean), terms)
    for statistic, term in zip(found, terms, strict=True):
        wanted, p = fit.score_test(exog_extra=term[:, None])[:2]
        assert statistic == pytest.approx(float(np.squeeze(wanted)), rel=1e-6)
        assert log_odds.chi2_tail(statistic, 1) == pytest.approx(float(np.squeeze(p)), rel=1e-6)

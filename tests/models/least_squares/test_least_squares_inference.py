"""Standard errors, tests and intervals: NIST to twelve digits, statsmodels as the oracle, and refusals."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
import statsmodels.api as sm
from exact_fit import exact_fit
from scipy import stats
from statsmodels.stats.outliers_influence import OLSInfluence, variance_inflation_factor

import separatrix as sx
from separatrix.errors import CollinearWarning, DataError, InferenceError, ParameterError
from separatrix.models.least_squares.covariance import coefficient_covariance
from separatrix.models.least_squares.influence import influence, variance_inflation
from separatrix.models.least_squares.least_squares_summary import linear_hypothesis, summarise


def right_digits(got, want):
    want = Fraction(want)
    error = abs(Fraction(float(got)) - want) / abs(want)
    return 17.0 if error == 0 else -float(np.log10(float(error)))


@pytest.mark.parametrize("name", ["longley", "norris"])
def test_nist_standard_deviations_to_twelve_digits(real_data, name):
    path = real_data(f"nist_{name}.csv")
    rows = np.array([[float(v) for v in line.split(",")] for line in path.read_text().split()[1:]])
    exact, found = exact_fit(rows[:, :-1], rows[:, -1]), sx.LeastSquares().fit(rows[:, :-1], rows[:, -1]).summary()
    for got, want in zip(found.std_err, exact.errors, strict=True):
        assert right_digits(got, want) >= 12
    assert right_digits(np.sqrt(found.sigma2), exact.residual_sd) >= 12
    assert right_digits(found.r_squared, 1 - exact.rss / exact.total) >= 12
    assert right_digits(found.f_test.statistic, exact.f_statistic) >= 12


def problem(n=80, d=4, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2
    y = X @ np.arange(1.0, d + 1) + 3 + rng.normal(size=n) * (1 + np.abs(X[:, 0]))
    return X, y, rng.integers(1, 5, n) / 2 if weighted else None


def oracle(X, y, c, intercept):
    A = np.column_stack([X, np.ones(len(X))]) if intercept else X
    return sm.OLS(y, A).fit() if c is None else sm.WLS(y, A, weights=c).fit()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_statsmodels_agrees_on_the_summary(weighted, intercept):
    X, y, c = problem(weighted=weighted)
    theirs = oracle(X, y, c, intercept)
    found = sx.LeastSquares(fit_intercept=intercept).fit(X, y, sample_weight=c).summary(level=0.9)
    np.testing.assert_allclose(found.coef, theirs.params, rtol=1e-10)
    np.testing.assert_allclose(found.std_err, theirs.bse, rtol=1e-10)
    np.testing.assert_allclose(found.stat, theirs.tvalues, rtol=1e-10)
    np.testing.assert_allclose(found.p, theirs.pvalues, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), theirs.conf_int(0.1), rtol=1e-10)
    np.testing.assert_allclose(found.r_squared, theirs.rsquared, rtol=1e-10)
    np.testing.assert_allclose(found.adjusted_r_squared, theirs.rsquared_adj, rtol=1e-10)
    np.testing.assert_allclose(found.f_test.statistic, theirs.fvalue, rtol=1e-10)
    np.testing.assert_allclose(found.f_test.p_value, theirs.f_pvalue, rtol=1e-7)
    np.testing.assert_allclose(found.sigma2, theirs.scale, rtol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["HC0", "HC1", "HC2", "HC3", "cluster"])
def test_statsmodels_agrees_on_robust_covariances(kind, weighted):
    X, y, c = problem(weighted=weighted)
    model = sx.LeastSquares().fit(X, y, sample_weight=c)
    groups = np.arange(80) // 7
    options = {"groups": groups} if kind == "cluster" else {}
    theirs = oracle(X, y, c, True).get_robustcov_results(kind, **options)
    labels = groups if kind == "cluster" else None
    found = coefficient_covariance(model, X, y, sample_weight=c, kind=kind, groups=labels)
    np.testing.assert_allclose(found.matrix, theirs.cov_params(), rtol=1e-9, atol=1e-13)
    lines = model.summary(X, y, sample_weight=c, covariance=kind, groups=labels)
    np.testing.assert_allclose(lines.std_err, theirs.bse, rtol=1e-10)
    np.testing.assert_allclose(lines.f_test.statistic, np.squeeze(theirs.fvalue), rtol=1e-9)


def test_hypotheses():
    X, y, _ = problem()
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = sx.LeastSquares().fit(frame, y)
    theirs = oracle(X, y, None, True)
    R = np.array([[1.0, -1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0, -1.0]])
    want = theirs.f_test((R, np.array([1.0, 2.0])))
    got = linear_hypothesis(model, R, [1.0, 2.0])
    np.testing.assert_allclose([got.statistic, got.p_value], [want.fvalue, want.pvalue], rtol=1e-9)
    want = theirs.f_test(np.eye(5)[[1, 3]])
    assert linear_hypothesis(model, ["b", "d"]).statistic == pytest.approx(want.fvalue, rel=1e-9)
    assert linear_hypothesis(model, np.eye(4)[[1, 3]]).statistic == pytest.approx(want.fvalue, rel=1e-9)
    one = linear_hypothesis(model, "a", X=frame, y=y, covariance="HC3")
    assert one.statistic == pytest.approx(model.summary(frame, y, covariance="HC3").stat[0] ** 2)
    assert "F(1, 75) =" in str(one)
    with pytest.raises(ParameterError, match="'zz', which is not a column"):
        linear_hypothesis(model, ["zz"])
    with pytest.raises(ParameterError, match="R has 3 columns"):
        linear_hypothesis(model, np.eye(3))
    with pytest.raises(InferenceError, match="give each restriction once"):
        linear_hypothesis(model, ["a", "a"])


def test_influence_and_inflation():
    X, y, _ = problem()
    model, theirs = sx.LeastSquares().fit(X, y), OLSInfluence(oracle(X, y, None, True))
    found = influence(model, X, y)
    np.testing.assert_allclose(found.leverage, theirs.hat_matrix_diag, rtol=1e-10)
    np.testing.assert_allclose(found.leverage.sum(), 5, rtol=1e-12)
    np.testing.assert_allclose(found.studentized, theirs.resid_studentized_internal, rtol=1e-9)
    np.testing.assert_allclose(found.studentized_outside, theirs.resid_studentized_external, rtol=1e-9)
    np.testing.assert_allclose(found.cooks_distance, theirs.cooks_distance[0], rtol=1e-9)
    A = np.column_stack([X, np.ones(80)])
    np.testing.assert_allclose(
        variance_inflation(model), [variance_inflation_factor(A, j) for j in range(4)], rtol=1e-9
    )


def test_cook_is_what_happens_without_the_row():
    X, y, c = problem(weighted=True)
    c[5] = 0.0
    model = sx.LeastSquares().fit(X, y, sample_weight=c)
    found = influence(model, X, y, sample_weight=c)
    assert np.isnan(found.leverage[5])
    without = c.copy()
    without[9] = 0.0
    moved = sx.LeastSquares().fit(X, y, sample_weight=without).predict(X) - model.predict(X)
    assert found.cooks_distance[9] == pytest.approx((c @ moved**2) / (5 * model.sigma2_), rel=1e-9)


@pytest.mark.parametrize("kind", ["mean", "prediction"])
@pytest.mark.parametrize("weighted", [False, True])
def test_prediction_intervals(kind, weighted):
    X, y, c = problem(weighted=weighted)
    model = sx.LeastSquares().fit(X, y, sample_weight=c)
    new = np.random.default_rng(1).normal(size=(9, 4))
    theirs = oracle(X, y, c, True).get_prediction(np.column_stack([new, np.ones(9)]))
    want = theirs.summary_frame(0.2)
    columns = ("mean_ci_lower", "mean_ci_upper") if kind == "mean" else ("obs_ci_lower", "obs_ci_upper")
    low, high = model.predict_interval(new, level=0.8, kind=kind)
    np.testing.assert_allclose(low, want[columns[0]], rtol=1e-9)
    np.testing.assert_allclose(high, want[columns[1]], rtol=1e-9)


def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(25, 3))
    true = np.array([1.0, -2.0, 0.5])
    hits = []
    for _ in range(2000):
        found = sx.LeastSquares(solver="moments").fit(X, X @ true + 4 + rng.normal(size=25)).summary(level=0.8)
        hits.append((found.low <= [*true, 4]) & ([*true, 4] <= found.high))
    share = np.mean(hits, axis=0)
    assert np.all(np.abs(share - 0.8) < 4 * np.sqrt(0.8 * 0.2 / 2000))
    assert stats.norm.sf(4) < 1e-4  # what four deviations mean


def test_a_large_condition_asks_for_the_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40_000, 40))
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    y = X.sum(axis=1) + rng.normal(size=40_000)
    model = sx.LeastSquares().fit(X, y)
    assert model.solver_ == "refined"
    alone, again = model.summary(), model.summary(X, y)
    assert "digits" in str(alone)
    assert again.notes == ()
    exact = sx.LeastSquares(solver="qr").fit(X, y).summary()
    np.testing.assert_allclose(again.std_err, exact.std_err, rtol=1e-12)


def test_summaries_as_text_html_dict_and_frame():
    pd = pytest.importorskip("pandas")
    X, y, _ = problem()
    frame = pd.DataFrame(X, columns=["age", "<b>", "c", "d"])
    found = sx.LeastSquares().fit(frame, y).summary()
    text = str(found)
    assert "intercept" in text
    assert "95% low" in text
    assert "R²" in text
    assert len({len(line) for line in text.splitlines()[1:5]}) == 1
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<b>" not in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["names"][0] == "age"
    table = found.to_frame()
    assert table.loc["age", "std_err"] == found.std_err[0]
    assert list(table.index) == ["age", "<b>", "c", "d", "intercept"]


def test_refusals_have_reasons():
    X, y, _ = problem()
    with pytest.raises(InferenceError, match="penalised"):
        sx.LeastSquares(1.0).fit(X, y).summary()
    with pytest.raises(InferenceError, match="penalised"):
        sx.LeastSquares(1.0).fit(X, y).predict_interval(X)
    with pytest.raises(InferenceError, match="leave nothing to estimate the noise"):
        sx.LeastSquares(solver="qr").fit(X[:5], y[:5]).summary()
    with pytest.raises(InferenceError, match="not unique"):
        sx.LeastSquares().fit(X[:3], y[:3]).summary()
    with pytest.warns(CollinearWarning):
        twice = sx.LeastSquares().fit(np.column_stack([X, X[:, 0]]), y)
    with pytest.raises(InferenceError, match="pass X and y"):
        summarise(pickle.loads(pickle.dumps(twice)))
    with pytest.raises(InferenceError, match="solver='auto'"):
        sx.LeastSquares(solver="svd").fit(X, y).summary()
    model = sx.LeastSquares().fit(X, y)
    for options, message in [
        ({"covariance": "HC9"}, "covariance is"),
        ({"covariance": "cluster"}, "groups"),
        ({"groups": np.zeros(80)}, "groups"),
        ({"X": X}, "go together"),
        ({"level": 1.0}, "level is"),
    ]:
        with pytest.raises(ParameterError, match=message):
            model.summary(**options)
    with pytest.raises(ParameterError, match="kind is"):
        model.predict_interval(X, kind="both")
    with pytest.raises(DataError, match="not those of the fit"):
        model.summary(X[::-1], y, covariance="HC0")
    with pytest.raises(InferenceError, match="one group"):
        model.summary(X, y, covariance="cluster", groups=np.zeros(80, dtype=int))
    lone = np.zeros((80, 1))
    lone[3] = 1.0
    with pytest.raises(InferenceError, match="row 3 has leverage 1"):
        sx.LeastSquares().fit(lone, y).summary(lone, y, covariance="HC3")


def test_the_noise_of_ridge_uses_effective_degrees_of_freedom():
    X, y, _ = problem()
    model = sx.LeastSquares(5.0).fit(X, y)
    centred = X - X.mean(axis=0)
    hat = centred @ np.linalg.solve(centred.T @ centred + 5 * np.eye(4), centred.T) + 1 / 80
    assert model.effective_rank_ == pytest.approx(np.trace(hat), rel=1e-10)
    assert model.sigma2_ == pytest.approx(model.rss_ / (80 - np.trace(hat)), rel=1e-10)
    assert np.isnan(sx.LeastSquares().fit(X[:2], y[:2]).sigma2_)


def test_robust_errors_and_leverages_of_columns_far_from_zero():
    rng = np.random.default_rng(141)
    near, y = np.ldexp(rng.integers(-(2**12), 2**12, (7, 3)), -10).astype(float), rng.normal(size=7)
    near[0] *= 64.0
    wanted = sx.LeastSquares().fit(near, y)
    far = sx.LeastSquares().fit(near + np.array([2.0**38, 0.0, 2.0**38]), y)  # exact
    for kind in ("HC0", "HC2", "HC3"):
        errors = wanted.summary(covariance=kind).std_err[:3]
        np.testing.assert_allclose(far.summary(covariance=kind).std_err[:3], errors, rtol=1e-4)
    np.testing.assert_allclose(far.influence()["leverage"], wanted.influence()["leverage"], atol=1e-12)


@pytest.mark.filterwarnings("error")
def test_a_column_that_one_row_holds_alone_has_a_robust_summary():
    rng = np.random.default_rng(1)
    X, y = np.column_stack([rng.normal(size=8), np.eye(8)[0]]), rng.normal(size=8)
    model = sx.LeastSquares(fit_intercept=False).fit(X, y)
    for kind in ("HC0", "HC1"):
        lines = model.summary(covariance=kind)
        assert np.isfinite(lines.std_err).all()
        assert lines.f_test is None  # the robust covariance is singular


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_nothing_but_an_intercept_has_no_summary():
    model = sx.LeastSquares().fit([[3.0], [3.0], [3.0]], [1.0, 2.0, 4.0])
    with pytest.raises(InferenceError, match="no column varies"):
        model.summary()

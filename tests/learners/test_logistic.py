"""Logistic regression: published estimates, theorems, oracles, separation, and bad input."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression as Theirs

import separatrix as sx
from separatrix.errors import (
    CollinearWarning,
    DataError,
    InferenceError,
    IterationWarning,
    ParameterError,
    SeparationError,
    SeparationWarning,
)


@pytest.fixture(scope="module")
def reference(real_data):
    return json.loads(real_data("logistic_reference.json").read_text())["entries"]


def table(real_data, name):
    frame = pd.read_csv(real_data(f"{name}.csv"))
    return frame.iloc[:, :-1], frame.iloc[:, -1]


def numbers(block, names):
    at = {name: k for k, name in enumerate(block["parameters"])}
    return tuple(np.array([float(block[key][at[n]]) for n in names]) for key in ("estimate", "se"))


def overlapping(n=200, d=3, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = rng.integers(0, classes, n)
    X[:, 0] += 0.7 * y
    return X, y


def quiet(model, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*args, **kwargs)


# -- published and computed estimates ------------------------------------------------------------


@pytest.mark.parametrize("name", ["spector", "banknote", "titanic_numeric", "spambase"])
def test_estimates_to_ten_digits_and_errors_to_eight(reference, real_data, name):
    X, y = table(real_data, name)
    model = sx.LogisticRegression().fit(X, y)
    estimate, error = numbers(reference[name]["computed_ml"], [*X.columns, "intercept"])
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-11)
    assert model.loglik_ == pytest.approx(float(reference[name]["computed_ml"]["loglik"]), rel=1e-12)
    assert model.status_ is sx.Status.OPTIMAL
    assert model.separation_.verdict == "overlap"
    assert model.separation_.by == "circulation"
    rows = model.summary().coefficients
    np.testing.assert_allclose([row.error for row in rows], error, rtol=1e-9)


def test_endometrial_is_told_and_answered(reference, real_data):
    X, y = table(real_data, "endometrial")
    with pytest.warns(SeparationWarning, match=r"quasi-completely separated: 'NV' tends to \+∞\. Fitted Firth") as told:
        model = sx.LogisticRegression().fit(X, y)
    assert len(told) == 1
    assert model.status_ is sx.Status.NO_MAXIMUM
    assert "fitted by Firth" in repr(model)
    assert dict(model.separation_.coefficients) == {
        "NV": "+inf",
        "PI": "finite",
        "EH": "finite",
        "intercept": "finite",
    }
    assert model.separation_.certificate.claim == "quasi"
    names = [*X.columns, "intercept"]
    estimate, error = numbers(reference["endometrial"]["computed_firth"], names)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-12)
    published = reference["endometrial"]["published"]["firth_mean_bias_reduction"]
    summary = model.summary(intervals="profile")
    for name, row in zip(names, summary.coefficients, strict=True):
        assert round(row.estimate, 5) == published["estimate"][name]
        assert round(row.error, 5) == published["se"][name]
    np.testing.assert_allclose([row.error for row in summary.coefficients], error, rtol=1e-10)
    ends = reference["endometrial"]["published"]["firth_logistf"]["profile_penalized_likelihood_95ci"]
    for name in names:
        # logistf's own search ends within about 1e-5
        np.testing.assert_allclose([summary[name].lower, summary[name].upper], ends[name], rtol=3e-5)


def test_the_finite_part_is_the_fit_on_the_tied_rows(reference, real_data):
    X, y = table(real_data, "endometrial")
    model = quiet(sx.LogisticRegression(), X, y)
    tied = model.separation_.evidence.tied_rows
    part = sx.LogisticRegression().fit(X.iloc[tied][["PI", "EH"]], y.iloc[tied])
    estimate, _ = numbers(reference["endometrial"]["computed_ml_limit"], ["PI", "EH", "intercept"])
    np.testing.assert_allclose(np.append(part.coef_, part.intercept_), estimate, rtol=1e-11)


def test_firth_on_overlapping_rows(reference, real_data):
    X, y = table(real_data, "spector")
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    estimate, _ = numbers(reference["spector"]["computed_firth"], [*X.columns, "intercept"])
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-11)
    assert model.separation_ is None
    assert model.method_ == "Firth"


def test_iris_gets_a_stated_finite_useful_answer(real_data):
    X, y = table(real_data, "iris")
    with pytest.warns(SeparationWarning, match="quasi-completely separated"):
        model = sx.LogisticRegression().fit(X, y)
    assert model.status_ is sx.Status.NO_MAXIMUM
    assert model.score(X, y) == 0.98
    assert np.abs(model.coef_).max() < 20
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("name", ["sms_spam_bow", "rcv1_small"])
def test_more_columns_than_rows_fall_back_to_a_ridge(real_data, name):
    X, y = load_svmlight_file(real_data(f"{name}.svm"))
    with pytest.warns(SeparationWarning, match="completely separated .*a ridge"):
        model = sx.LogisticRegression().fit(X.tocsr(), y)
    assert model.separation_.verdict == "complete"
    assert "ridge" in repr(model)
    assert model.score(X, y) > 0.99


@pytest.mark.slow
def test_a9a_names_the_rare_dummies_that_separate(real_data):
    X, y = load_svmlight_file(real_data("a9a.svm"))
    with pytest.warns(SeparationWarning, match="'x12' tends to −∞, 'x88' tends to −∞, 'x122' tends to −∞"):
        model = sx.LogisticRegression().fit(X.tocsr(), y)
    assert len(model.unidentifiable_) >= 81
    assert model.score(X, y) > 0.849


# -- theorems ------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_fitted_probabilities_add_up_to_the_counts_for_likelihood_and_flic_but_not_firth(classes):
    X, y = overlapping(classes=classes)
    counts = np.bincount(y)
    ml = sx.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(ml.predict_proba(X).sum(axis=0), counts, rtol=1e-10)
    firth = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    assert np.abs(firth.predict_proba(X).sum(axis=0) - counts).max() > 1e-3
    flic = sx.LogisticRegression(bias_reduction="firth", flic=True).fit(X, y)
    np.testing.assert_allclose(flic.predict_proba(X).sum(axis=0), counts, rtol=1e-9)
    np.testing.assert_allclose(flic.coef_, firth.coef_, rtol=1e-12)


def test_both_forms_of_the_gradient_agree_and_vanish():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    lifted, sign = np.column_stack([X, np.ones(len(X))]), 2 * y - 1
    P = model.predict_proba(X)
    first = lifted.T @ (y - P[:, 1])
    second = lifted.T @ ((1 - P[np.arange(len(y)), y]) * sign)
    np.testing.assert_allclose(first, second, atol=1e-12)
    assert np.abs(first).max() < 1e-11


@pytest.mark.parametrize("classes", [2, 3])
def test_firth_moves_with_the_basis(classes):
    """Finite on separated rows, and equivariant under any change of the columns' basis."""
    X, y = overlapping(60, 3, classes=classes)
    X[:, 0] += 10 * y
    A = np.random.default_rng(5).standard_normal((3, 3))
    plain = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    moved = sx.LogisticRegression(bias_reduction="firth").fit(X @ A + 3.0, y)
    np.testing.assert_allclose(moved.coef_ @ A.T, plain.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(moved.predict_proba(X @ A + 3.0), plain.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_firth_maximises_the_penalised_likelihood_of_three_classes():
    """Against a general optimiser on the formula itself."""
    X, y = overlapping(50, 2, seed=3, classes=3)
    L, truth = np.column_stack([X, np.ones(50)]), np.eye(3)[y]

    def minus(b):
        s = np.column_stack([np.zeros(50), L @ b.reshape(2, 3).T])
        P = np.exp(s - np.logaddexp.reduce(s, axis=1)[:, None])
        info = sum(np.kron(np.diag(p[1:]) - np.outer(p[1:], p[1:]), np.outer(x, x)) for p, x in zip(P, L, strict=True))
        return -(np.log(P) * truth).sum() - 0.5 * np.linalg.slogdet(info)[1]

    best = optimize.minimize(minus, np.zeros(6), method="BFGS", options={"gtol": 1e-7})
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    lifted = np.column_stack([model.coef_, model.intercept_])
    ours = (lifted[1:] - lifted[0]).reshape(-1)
    assert minus(ours) <= best.fun + 1e-10
    np.testing.assert_allclose(ours, best.x, atol=1e-5)


@pytest.mark.parametrize("options", [{}, {"C": 0.7}, {"bias_reduction": "firth"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_of_two_is_the_row_twice(options, classes):
    X, y = overlapping(80, classes=classes)
    c = np.random.default_rng(1).integers(0, 4, 80)
    weighted = sx.LogisticRegression(tol=1e-14, **options).fit(X, y, sample_weight=c)
    repeated = sx.LogisticRegression(tol=1e-14, **options).fit(np.repeat(X, c, axis=0), np.repeat(y, c))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-7, atol=1e-9)
    if not options:
        errors = [[row.error for row in m.summary().coefficients] for m in (weighted, repeated)]
        np.testing.assert_allclose(*errors, rtol=1e-9)


def test_analytic_weights_do_not_change_errors_when_doubled():
    X, y = overlapping()
    c = np.random.default_rng(2).random(200) + 0.1
    once, twice = (sx.LogisticRegression(weights="analytic").fit(X, y, sample_weight=k * c).summary() for k in (1, 2))
    counted = sx.LogisticRegression().fit(X, y, sample_weight=2 * c).summary()
    assert once["x0"].error == pytest.approx(twice["x0"].error, rel=1e-12)
    assert counted["x0"].error == pytest.approx(once["x0"].error * np.sqrt(200 / (2 * c.sum())), rel=1e-9)


def test_offset_takes_a_known_part_of_the_score():
    X, y = overlapping()
    free = sx.LogisticRegression().fit(X, y)
    held = sx.LogisticRegression().fit(X[:, 1:], y, offset=X[:, 0] * free.coef_[0, 0])
    np.testing.assert_allclose(held.coef_[0], free.coef_[0, 1:], rtol=1e-9)
    np.testing.assert_allclose(held.intercept_, free.intercept_, rtol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes_and_columns_renamed_move_nothing(classes):
    X, y = overlapping(classes=classes)
    plain = sx.LogisticRegression().fit(X, y)
    other = sx.LogisticRegression().fit(X[:, ::-1].copy(), np.array(["c", "b", "a"])[y])
    np.testing.assert_allclose(other.predict_proba(X[:, ::-1].copy())[:, ::-1], plain.predict_proba(X), atol=1e-10)


def test_float32_and_csr_are_the_same_numbers():
    X, y = overlapping()
    X32 = X.astype(np.float32)
    dense = sx.LogisticRegression().fit(X32.astype(np.float64), y)
    for other in (X32, sparse.csr_array(X32.astype(np.float64)), sparse.csc_array(X32)):
        np.testing.assert_allclose(sx.LogisticRegression().fit(other, y).coef_, dense.coef_, rtol=1e-9)


# -- penalties and oracles -------------------------------------------------------------------------


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
    assert ml.separation_.by == "circulation"
    assert np.abs(np.column_stack([X, np.ones(len(y))]).T @ (y - ml.predict_proba(X)[:, 1])).max() < 1e-8


def test_statsmodels_agrees_on_everything_it_has():
    sm = pytest.importorskip("statsmodels.api")
    X, y = overlapping(300, 3, seed=8)
    ours, design = sx.LogisticRegression().fit(X, y), np.column_stack([X, np.ones(300)])
    theirs = sm.Logit(y, design).fit(disp=0, tol=1e-14)
    summary = ours.summary()
    np.testing.assert_allclose([r.estimate for r in summary.coefficients], theirs.params, rtol=1e-8)
    np.testing.assert_allclose(summary.covariance, theirs.cov_params(), rtol=1e-8)
    np.testing.assert_allclose([r.p for r in summary.coefficients], theirs.pvalues, rtol=1e-6)
    np.testing.assert_allclose([[r.lower, r.upper] for r in summary.coefficients], theirs.conf_int(), rtol=1e-7)
    for mine, other in (("loglik", "llf"), ("null_loglik", "llnull"), ("aic", "aic"), ("bic", "bic")):
        assert getattr(summary, mine) == pytest.approx(getattr(theirs, other), rel=1e-9)
    assert (summary.mcfadden, summary.lr_p) == pytest.approx((theirs.prsquared, theirs.llr_pvalue), rel=1e-7)
    robust = sm.Logit(y, design).fit(disp=0, tol=1e-14, cov_type="HC0")
    np.testing.assert_allclose(ours.summary(covariance="robust").covariance, robust.cov_params(), rtol=1e-7)
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
        [r.estimate for r in several.summary().coefficients], multinomial.params.T.reshape(-1), rtol=1e-6
    )
    np.testing.assert_allclose(
        [r.error for r in several.summary().coefficients], multinomial.bse.T.reshape(-1), rtol=1e-7
    )


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
    for end in (row.lower, row.upper):
        held = sx.LogisticRegression().fit(X[:, 1:], y, offset=end * X[:, 0])
        assert 2 * (model.loglik_ - held.loglik_) == pytest.approx(2.705543454095404, rel=1e-7)
    small = sx.LogisticRegression().fit(X[:, 1:], y)
    statistic, df, p = model.likelihood_ratio_test(small)
    assert (df, p) == (1, pytest.approx(row.p_lr, rel=1e-6))
    assert statistic == pytest.approx(2 * (model.loglik_ - small.loglik_))


# -- separation ------------------------------------------------------------------------------------

SEPARATED = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])


def test_what_on_separation_says_is_done():
    X, y = SEPARATED
    with pytest.raises(SeparationError, match="completely separated: 'x0' tends to"):
        sx.LogisticRegression(on_separation="raise").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = sx.LogisticRegression(on_separation="ignore").fit(X, y)
    assert kept.status_ is sx.Status.NO_MAXIMUM
    assert "stopped" in kept.method_
    assert kept.score(X, y) == 1.0
    with pytest.warns(SeparationWarning, match="a ridge"):
        ridge = sx.LogisticRegression(on_separation="ridge").fit(X, y)
    scaled = sx.LogisticRegression(C=1.0).fit(X / X.std(), y)
    np.testing.assert_allclose(ridge.coef_, scaled.coef_ / X.std(), rtol=1e-5)
    with pytest.warns(SeparationWarning, match="Firth"):
        firth = sx.LogisticRegression(on_separation="firth").fit(X, y)
    plain = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    np.testing.assert_allclose(firth.coef_, plain.coef_, rtol=1e-10)


def test_a_row_of_weight_zero_does_not_hide_separation():
    X, y = SEPARATED
    X, y = np.vstack([X, [[5.0]], [[-5.0]]]), np.append(y, [0, 1])
    assert sx.LogisticRegression().fit(X, y).separation_.verdict == "overlap"
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression().fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])
    assert model.separation_.verdict == "complete"
    assert set(model.separation_.evidence.strict_rows.tolist()) == {0, 1, 2, 3}


def test_one_against_rest_says_which_class_is_separated(real_data):
    X, y = table(real_data, "iris")
    with pytest.warns(SeparationWarning, match="class 'setosa' against the rest") as told:
        model = sx.LogisticRegression(multiclass="ovr").fit(X, y)
    assert len(told) == 1
    assert {k: v.verdict for k, v in model.separation_.items()} == {
        "setosa": "complete",
        "versicolor": "overlap",
        "virginica": "overlap",
    }
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_verdicts_agree_with_separability_on_small_grids():
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(150):
        n, d, classes = int(rng.integers(5, 25)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.integers(0, classes, n)
        if len(np.unique(y)) < 2:
            continue
        kind = {"multiclass": "kesler"} if len(np.unique(y)) > 2 else {}
        truth = sx.separability(X, y, **kind).verdict
        model = quiet(sx.LogisticRegression(), X, y)
        assert model.separation_.verdict == truth
        assert (model.status_ is sx.Status.NO_MAXIMUM) == (truth != "overlap")
        assert np.isfinite(model.coef_).all()
        seen.add(truth)
    assert seen == {"complete", "quasi", "overlap"}


# -- rank ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"bias_reduction": "firth"}])
def test_dependent_columns_get_the_shortest_answer_and_are_named(options):
    X, y = overlapping(200, 2)
    wide = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 0] + 2 * X[:, 1], "one": np.ones(200)})
    with pytest.warns(CollinearWarning, match="'a', 'b', 'c', 'one'"):
        model = sx.LogisticRegression(**options).fit(wide, y)
    plain = sx.LogisticRegression(**options).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-10)
    null = np.array([[1, 2, -1, 0], [0, 0, 0, 1.0]])
    np.testing.assert_allclose(null @ model.coef_[0], 0, atol=1e-10)
    assert model.unidentifiable_ == ("a", "b", "c", "one")
    with pytest.raises(InferenceError, match="depend on each other"):
        model.summary()


# -- bad input, and what a failed fit leaves --------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"C": -1.0}, "C is -1"),
        ({"C": float("nan")}, "C is nan"),
        ({"C": "1"}, "C is '1'"),
        ({"C": True}, "C is True"),
        ({"bias_reduction": "jeffreys"}, "bias_reduction"),
        ({"bias_reduction": "firth", "C": 1.0}, "leave C at inf"),
        ({"on_separation": "warn"}, "on_separation"),
        ({"multiclass": "auto"}, "multiclass"),
        ({"weights": "probability"}, "weights"),
        ({"tol": 0.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"flic": True, "fit_intercept": False}, "flic"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ParameterError, match=message):
        sx.LogisticRegression(**options).fit(*SEPARATED)


def test_offsets_and_weights_that_cannot_be():
    X, y = overlapping(classes=3)
    with pytest.raises(DataError, match=r"offset has shape \(200,\) and needs \(200, 3\)"):
        sx.LogisticRegression().fit(X, y, offset=np.zeros(200))
    with pytest.raises(DataError, match="offset has 2 columns"):
        sx.LogisticRegression().fit(X, y, offset=np.zeros((200, 2)))
    with pytest.raises(DataError, match="offset has 199"):
        sx.LogisticRegression().fit(X, y > 0, offset=np.zeros(199))
    with pytest.raises(DataError, match="offset"):
        sx.LogisticRegression().fit(X, y > 0, offset=np.full(200, np.nan))
    with pytest.raises(DataError, match="class 1 has weight zero in all its rows"):
        sx.LogisticRegression().fit(X, y, sample_weight=y != 1)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = overlapping()
    model = sx.LogisticRegression(on_separation="raise").fit(X, y)
    before = dict(model.__dict__)
    with pytest.raises(SeparationError):
        model.fit(*SEPARATED)
    assert model.__dict__ == before


def test_an_interrupt_is_a_status(monkeypatch):
    from separatrix.learners import logistic_task

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    X, y = overlapping()
    monkeypatch.setattr(logistic_task, "newton", stop)
    model = sx.LogisticRegression()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ is sx.Status.INTERRUPTED
    assert model.predict(X).shape == (200,)


def test_too_few_iterations_are_told():
    X, y = overlapping()
    with pytest.warns(IterationWarning, match="iterations ran out"):
        model = sx.LogisticRegression(max_iter=1).fit(X, y)
    assert model.status_ is sx.Status.MAX_ITERATIONS


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"C": 1.0}, "shrunk by a penalty"),
        ({"class_weight": "balanced"}, "class weights"),
        ({"multiclass": "ovr"}, "no common likelihood"),
        ({"bias_reduction": "firth", "flic": True}, "flic=False"),
    ],
)
def test_a_summary_that_would_mean_nothing_is_refused(options, reason):
    model = sx.LogisticRegression(**options).fit(*overlapping(classes=3))
    with pytest.raises(InferenceError, match=reason):
        model.summary()


def test_a_stored_model_predicts_but_has_no_rows():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.separation_.verdict == "overlap"
    with pytest.raises(InferenceError, match="fit again"):
        again.summary()
    with pytest.raises(DataError, match="no rows to prove it"):
        _ = again.separation_.certificate


def test_rows_that_changed_since_the_fit_are_noticed():
    X, y = overlapping()
    model = sx.LogisticRegression().fit(X, y)
    X[0] += 1.0
    with pytest.raises(DataError, match="have changed"):
        model.summary()


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = overlapping()
    model = sx.LogisticRegression(C=1.0, warm_start=True).fit(X, y)
    assert model.fit(X, y).n_iter_ <= 1
    with pytest.raises(DataError, match="have changed"):
        model.fit(X[:, 1:], y)


def test_the_table_is_printed():
    text = str(sx.LogisticRegression().fit(*overlapping()).summary())
    assert "coefficient" in text
    assert "McFadden" in text
    assert all(len(line) <= 100 for line in text.splitlines())


def test_extreme_values_neither_hang_nor_pass_silently():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 2)), rng.integers(0, 2, 50)
    tiny = sx.LogisticRegression().fit(X * 1e-150, y)
    plain = sx.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(tiny.coef_ * 1e-150, plain.coef_, rtol=1e-9)
    huge = sx.LogisticRegression().fit(X * 1e150, y)
    np.testing.assert_allclose(huge.coef_ * 1e150, plain.coef_, rtol=1e-9)

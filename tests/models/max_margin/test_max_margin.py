"""MaxMargin: never a smaller margin than scikit-learn or a quadratic programme; least slack where none separates."""

from __future__ import annotations

import _thread
import threading
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import LinearConstraint, linprog, minimize
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.svm import SVC, LinearSVC

from separatrix import MaxMargin, load, margin, save
from separatrix.errors import DataError, IterationWarning, ParameterError
from separatrix.export import to_python
from separatrix.numerics import Status


def objective(w, b, X, y, C, weights=1.0):
    return 0.5 * w @ w + C * (weights * np.maximum(0.0, 1 - y * (X @ w + b))).sum()


def half_width(w, b, X, y):
    return (y * (X @ w + b)).min() / np.linalg.norm(w)


def draw(rng, noise):
    n, d = int(rng.integers(8, 60)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-2, 2)
    s = X @ rng.standard_normal(d)
    y = np.where(s / s.std() + noise * rng.standard_normal(n) > 0.1, 1, -1)
    if abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y


def programme(X, y, C):
    """The same quadratic programme by sequential least squares; weights, bias, slacks."""
    n, d = X.shape
    A = np.hstack([y[:, None] * X, y[:, None], np.eye(n)])
    start = np.concatenate([np.zeros(d + 1), np.ones(n)])
    done = minimize(
        lambda v: 0.5 * v[:d] @ v[:d] + C * v[d + 1 :].sum(),
        start,
        jac=lambda v: np.concatenate([v[:d], [0.0], np.full(n, C)]),
        constraints=[LinearConstraint(A, 1.0, np.inf)],
        bounds=[(None, None)] * (d + 1) + [(0, None)] * n,
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    return done.x[:d], done.x[d]


def hard_programme(X, y):
    """min |w|^2/2 with every score at least 1, by the same method from a least-squares start."""
    d = X.shape[1]
    A = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    done = minimize(
        lambda v: 0.5 * v[:d] @ v[:d],
        np.linalg.lstsq(A, np.ones(len(A)), rcond=None)[0],
        jac=lambda v: np.append(v[:d], 0.0),
        constraints=[LinearConstraint(A, 1.0, np.inf)],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-11},
    )
    return done.x[:d], done.x[d], done.success


@pytest.mark.parametrize("seed", range(4))
def test_the_hard_margin_is_never_smaller_than_others(seed):
    rng = np.random.default_rng(seed)
    seen = met = 0
    for _ in range(15):
        X, y = draw(rng, 0.0)
        model = MaxMargin().fit(X, y)
        if model.status_ is not Status.OPTIMAL:
            continue
        seen += 1
        w, b = model.coef_[0], model.intercept_[0]
        mine = half_width(w, b, X, y)
        assert model.margin_[0, 0] <= model.margin_[0, 1] <= model.margin_[0, 0] * (1 + 1e-8)
        assert mine == pytest.approx(model.half_width_[0], rel=1e-9)
        other = SVC(kernel="linear", C=1e10, tol=1e-8, max_iter=200_000).fit(X, y)
        assert mine >= half_width(other.coef_[0], other.intercept_[0], X, y) * (1 - 1e-9)
        v, c, success = hard_programme(X / X.std(), y)
        theirs = half_width(v, c, X / X.std(), y) * X.std()
        assert mine >= theirs * (1 - 1e-9)
        met += success and mine <= theirs * (1 + 1e-4)
        np.testing.assert_allclose((y * (X @ w + b))[model.support_], 1.0, rtol=1e-7)
        assert (y * (X @ w + b)).min() >= 1 - 1e-9
    assert seen > 8
    assert met > seen / 2  # the programme is an oracle only where it ends well


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(4))
def test_the_soft_margin_is_never_worse_than_others(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        X, y = draw(rng, 0.7)
        C = 10.0 ** rng.uniform(-3, 4) / X.var()
        model = MaxMargin(C).fit(X, y)
        assert model.status_ is Status.OPTIMAL
        mine = objective(model.coef_[0], model.intercept_[0], X, y, C)
        other = SVC(kernel="linear", C=C, tol=1e-8, max_iter=200_000).fit(X, y)
        assert mine <= objective(other.coef_[0], other.intercept_[0], X, y, C) * (1 + 1e-12)
        assert mine <= objective(*programme(X, y, C), X, y, C) * (1 + 1e-12)
        assert model.gap_[0] <= 1e-10


def test_without_an_intercept():
    rng = np.random.default_rng(5)
    for C in (0.1, 10.0):
        X, y = draw(rng, 0.5)
        model = MaxMargin(C, fit_intercept=False).fit(X, y)
        assert model.intercept_[0] == 0
        other = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-10, max_iter=10**6).fit(X, y)
        best = objective(other.coef_[0], 0.0, X, y, C)
        assert best * (1 - 1e-4) <= objective(model.coef_[0], 0.0, X, y, C) <= best * (1 + 1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_least_slack_first_then_the_largest_margin(seed):
    rng = np.random.default_rng(seed)
    for _ in range(6):
        X, y = draw(rng, 0.8)
        n, d = X.shape
        model = MaxMargin().fit(X, y)
        if model.status_ is Status.OPTIMAL:
            continue
        assert model.status_ is Status.LEAST_SLACK
        assert "slack" in model.status_.value
        assert model.margin_.tolist() == [[0.0, 0.0]]
        A = np.hstack([y[:, None] * X, y[:, None], np.eye(n)])
        bounds = [(None, None)] * (d + 1) + [(0, None)] * n
        lp = linprog(np.r_[np.zeros(d + 1), np.ones(n)], A_ub=-A, b_ub=-np.ones(n), bounds=bounds)
        assert model.slack_[0] == pytest.approx(lp.fun, rel=1e-7)
        w, b = model.coef_[0], model.intercept_[0]
        assert np.maximum(0, 1 - y * (X @ w + b)).sum() == pytest.approx(lp.fun, rel=1e-7)
        assert np.linalg.norm(w) <= np.linalg.norm(lp.x[:d]) * (1 + 1e-6)


def test_least_slack_where_many_hyperplanes_have_it():
    """One wrong row far out: on a line the slack is 2 + 2 |w| at the least ... by hand."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([-1, 1, -1, 1])
    model = MaxMargin().fit(X, y)
    assert model.status_ is Status.LEAST_SLACK
    lp = linprog([0, 0, 1, 1, 1, 1], A_ub=-np.hstack([y[:, None] * X, y[:, None], np.eye(4)]), b_ub=-np.ones(4),
                 bounds=[(None, None)] * 2 + [(0, None)] * 4)  # fmt: skip
    assert model.slack_[0] == pytest.approx(lp.fun)
    contradiction = MaxMargin().fit(np.array([[1.0, 2.0], [1.0, 2.0]]), [0, 1])
    assert contradiction.status_ is Status.LEAST_SLACK
    np.testing.assert_allclose(contradiction.coef_, 0.0, atol=1e-9)
    assert contradiction.slack_[0] == pytest.approx(2.0)


def test_breast_cancer_where_others_fail():
    cancer = load_breast_cancer()
    y = np.where(cancer.target == 1, 1, -1)
    model = MaxMargin().fit(cancer.data, y)
    assert model.status_ is Status.OPTIMAL
    assert model.margin_[0, 0] == pytest.approx(4.13713684254531e-05, rel=1e-12)
    assert model.score(cancer.data, y) == 1.0
    assert half_width(model.coef_[0], model.intercept_[0], cancer.data, y) == pytest.approx(4.1371e-05, rel=1e-3)


def test_pairs_of_classes():
    iris = load_iris()
    model = MaxMargin(1.0).fit(iris.data, iris.target_names[iris.target])
    assert model.coef_.shape == (3, 4)
    assert model.pairs_.tolist() == [["setosa", "versicolor"], ["setosa", "virginica"], ["versicolor", "virginica"]]
    other = SVC(kernel="linear", C=1.0, tol=1e-10).fit(iris.data, iris.target_names[iris.target])
    np.testing.assert_array_equal(model.predict(iris.data), other.predict(iris.data))
    np.testing.assert_allclose(-model.coef_, other.coef_, atol=1e-4)
    hard = MaxMargin().fit(iris.data, iris.target)
    assert hard.status_ is Status.LEAST_SLACK
    assert (hard.margin_[:, 0] > 0).tolist() == [True, True, False]
    assert hard.decision_function(iris.data).shape == (150, 3)
    assert hard.score(iris.data, iris.target) > 0.97


def test_ten_classes():
    digits = load_digits()
    model = MaxMargin().fit(digits.data, digits.target)
    assert model.status_ is Status.OPTIMAL  # every pair of digits is separable
    assert model.coef_.shape == (45, 64)
    assert model.score(digits.data, digits.target) == 1.0
    assert (model.gap_ <= 1e-9).all()


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_forms_of_the_same_rows_agree(C):
    rng = np.random.default_rng(2)
    X, y = np.round(rng.standard_normal((80, 5)), 2), rng.integers(0, 2, 80)
    one = MaxMargin(C).fit(X, y)
    for other in (sparse.csr_array(X), np.asfortranarray(X)):
        np.testing.assert_allclose(MaxMargin(C).fit(other, y).coef_, one.coef_, rtol=1e-5, atol=1e-7)
    thick = MaxMargin(C).fit(X.astype(np.float32), y)
    same = MaxMargin(C).fit(X.astype(np.float32).astype(float), y)
    np.testing.assert_allclose(thick.coef_, same.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("C", [0.5, np.inf])
def test_more_columns_than_rows(C):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 100)), np.repeat([0, 1], 15)
    model = MaxMargin(C).fit(X, y)
    thin = MaxMargin(C).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(model.coef_, thin.coef_, atol=1e-7)
    signs = np.where(y, 1, -1)
    other = SVC(kernel="linear", C=min(C, 1e6), tol=1e-10).fit(X, y)
    if np.isinf(C):
        mine = half_width(model.coef_[0], model.intercept_[0], X, signs)
        assert mine >= half_width(other.coef_[0], other.intercept_[0], X, signs) * (1 - 1e-10)
    else:
        best = objective(other.coef_[0], other.intercept_[0], X, signs, C)
        assert objective(model.coef_[0], model.intercept_[0], X, signs, C) <= best * (1 + 1e-10)


def test_weights():
    rng = np.random.default_rng(4)
    X, y = draw(rng, 0.8)
    weights = rng.integers(0, 3, len(y)).astype(float)
    weights[:2] = 1.0
    y[:2] = 1, -1
    for C in (2.0, np.inf):
        weighted = MaxMargin(C).fit(X, y, sample_weight=weights)
        repeated = MaxMargin(C).fit(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int)))
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-5, atol=1e-8)
        assert set(weighted.support_.tolist()) <= set(np.flatnonzero(weights).tolist())
    tilted = MaxMargin(1.0, class_weight={1: 50.0, -1: 1.0}).fit(X, y)
    assert (tilted.predict(X) == 1).sum() > (MaxMargin(1.0).fit(X, y).predict(X) == 1).sum()


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_units_do_not_matter(scale):
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((60, 3)), rng.integers(0, 2, 60)
    one, other = MaxMargin().fit(X, y), MaxMargin().fit(X * scale, y)
    np.testing.assert_allclose(other.coef_ * scale, one.coef_, rtol=1e-6)
    y = X[:, 0] > 0
    one, other = MaxMargin().fit(X, y), MaxMargin().fit(X * scale, y)
    np.testing.assert_allclose(other.coef_ * scale, one.coef_, rtol=1e-9)


def test_limits_end_with_a_status_and_a_warning():
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((100, 3)), rng.integers(0, 2, 100)
    model = MaxMargin(1.0, max_iter=2)
    with pytest.warns(IterationWarning, match="limit of iterations"):
        model.fit(X, y)
    assert model.status_ is Status.MAX_ITERATIONS
    assert model.gap_[0] > 1e-6


def test_an_interruption_keeps_what_there_is():
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((100_000, 60)), rng.integers(0, 2, 100_000)
    model = MaxMargin(1.0)
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    if hasattr(model, "status_"):
        assert model.status_ is Status.INTERRUPTED
        assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("C", [0, -1.0, "1", None, True, np.nan])
def test_bad_costs(C):
    with pytest.raises(ParameterError, match="C is"):
        MaxMargin(C).fit([[0.0], [1.0]], [0, 1])


def test_bad_input_leaves_the_estimator_as_it_was():
    model = MaxMargin().fit([[0.0], [1.0]], [0, 1])
    before = dict(vars(model))
    for X, y in [([[0.0], [np.nan]], [0, 1]), ([[0.0], [1.0]], [1, 1]), ([[0.0], [1.0]], [0, 1, 1])]:
        with pytest.raises(DataError):
            model.fit(X, y)
    assert vars(model) == before
    assert model.half_width_[0] == margin([[0.0], [1.0]], [0, 1]).lower == 0.5


def test_sizes_beyond_the_doubles_are_said():
    X = np.array([[1.7e308], [-1.7e308], [0.0]])
    with pytest.raises(DataError, match="scale X"):
        MaxMargin(1.0).fit(X, [0, 1, 1])
    with pytest.raises(DataError, match="scale X"):
        MaxMargin().fit(np.array([[5e-324], [0.0]]), [0, 1])
    far = MaxMargin().fit(X, [0, 1, 0])
    assert far.status_ is Status.OPTIMAL
    assert MaxMargin().fit(np.vstack([X, X]), [0, 1, 0, 1, 0, 1]).status_ is Status.LEAST_SLACK


def test_rows_that_are_all_zero():
    for intercept in (True, False):
        model = MaxMargin(fit_intercept=intercept).fit(np.zeros((4, 2)), [0, 1, 0, 1])
        assert model.status_ is Status.LEAST_SLACK
        assert model.slack_[0] == pytest.approx(4.0)
        assert model.half_width_[0] == np.inf


def test_saved_and_loaded(tmp_path):
    iris = load_iris()
    for target in (iris.target, iris.target == 0):
        model = MaxMargin().fit(iris.data, target)
        save(model, tmp_path / "m.sepx")
        again = load(tmp_path / "m.sepx")
        np.testing.assert_array_equal(again.decision_function(iris.data), model.decision_function(iris.data))
        assert again.status_ is model.status_


def test_pairs_are_not_exported_as_scores_of_classes():
    iris = load_iris()
    with pytest.raises(ParameterError, match="pairs"):
        to_python(MaxMargin().fit(iris.data, iris.target))
    assert "def predict" in to_python(MaxMargin().fit(iris.data, iris.target == 0))


def test_an_enormous_cost_is_that_of_the_least_slack():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.where(rng.random(40) < 0.5, 1, -1)
    expected = MaxMargin(C=1e10).fit(X, y)
    for C in (1e20, 1e30, 1e200, 1e308):
        model = MaxMargin(C=C).fit(X, y)
        assert model.status_ is Status.OPTIMAL
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-6)


def soft_objective(model, X, y, cost):
    """The soft objective at the coefficients as they are, in rational numbers."""
    w, b = [Fraction(v) for v in model.coef_[0].tolist()], Fraction(float(model.intercept_[0]))
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    scores = [sum((u * v for u, v in zip(w, row, strict=True)), b) for row in rows]
    slack = [max(Fraction(0), 1 - int(side) * s) for side, s in zip(y, scores, strict=True)]
    return sum(v * v for v in w) / 2 + sum(Fraction(c) * t for c, t in zip(cost.tolist(), slack, strict=True))


@pytest.mark.parametrize("seed", range(1, 9))
def test_weights_from_a_millionth_to_a_million(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(15, 3)), rng.choice([-1, 1], 15)
    for C in (1e-4, 1.0, 1e4):
        model = MaxMargin(C).fit(X, y, sample_weight=10.0 ** rng.uniform(-6, 6, 15))
        assert model.status_ is Status.OPTIMAL
        assert model.gap_[0] <= 1e-6


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_the_gap_is_that_of_the_rounded_coefficients():
    rng = np.random.default_rng(620)
    X, y = rng.normal(size=(20, 2)) + np.array([1e9, 0.0]), rng.choice([-1, 1], 20)
    for C in (1e2, 1e6):
        near, far = MaxMargin(C).fit(X - np.array([1e9, 0.0]), y), MaxMargin(C).fit(X, y)
        least = soft_objective(near, X - np.array([1e9, 0.0]), y, np.full(20, C))
        reached = soft_objective(far, X, y, np.full(20, C))
        assert float((reached - least) / reached) <= 1.001 * float(far.gap_[0]) + 1e-11
        assert (far.status_ is Status.OPTIMAL) == (far.gap_[0] <= 1e-6)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_the_least_slack_of_columns_in_very_different_units(convert):
    rng = np.random.default_rng(398)
    alike, y = rng.normal(size=(22, 3)), rng.choice([-1, 1], 22)
    X = alike * np.array([1e4, 1.0, 1e-3])
    wanted = MaxMargin().fit(alike, y)
    model = MaxMargin().fit(convert(X), y)
    assert wanted.status_ is model.status_ is Status.LEAST_SLACK
    assert model.slack_[0] == pytest.approx(wanted.slack_[0], rel=1e-6)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_no_weight_is_left_to_rounding():
    X = np.array(
        [[14754.944463406331, 286.3849560881566, 200224599.578984], [14754.8760277844, 285.89692, 200224600.63888448]]
    )
    model = MaxMargin(401.5849756869618).fit(sparse.csr_array(X), [1, -1], sample_weight=np.full(2, 3.70664457e-05))
    assert model.gap_[0] <= 1

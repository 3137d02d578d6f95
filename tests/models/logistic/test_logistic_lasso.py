"""L1 and elastic-net logistic regression: optimality by independent code, oracles, theorems, and the path."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs

import separatrix as sx
from separatrix.errors import DataError, IterationWarning, ParameterError
from separatrix.models.logistic import net_step
from separatrix.models.logistic.firth import fitted_intercepts


def task(kind, classes, seed=0):
    rng = np.random.default_rng(seed)
    n, d = (80, 300) if kind == "wide" else (250, 12)
    X = rng.standard_normal((n, d)) + 0.5
    y = rng.integers(0, classes, n)
    X[:, 0] += y
    X[:, 1] -= 2.0 * (y == 1)
    c, o = rng.random(n) * 2 + 0.1, 0.3 * rng.standard_normal(n if classes == 2 else (n, classes))
    if kind == "float32":
        return X.astype(np.float32), y, c, o
    if kind in ("sparse", "csc", "wide"):
        X = np.where(np.abs(X) > 0.8, X, 0.0)
        return (sparse.csc_array if kind == "csc" else sparse.csr_array)(X), y, c, o
    return X, y, c, o


def probabilities(X, coef, intercept, o, classes):
    s = np.asarray(X @ coef.T, dtype=np.float64) + intercept
    s = np.column_stack([np.zeros(len(s)), s[:, 0] + o]) if classes == 2 else s + o
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def objective(X, y, c, o, coef, intercept, C, ratio, classes):
    P = probabilities(X, coef, intercept, o, classes)
    penalty = ratio * np.abs(coef).sum() + (1 - ratio) / 2 * (coef**2).sum()
    return -C * c @ np.log(P[np.arange(len(y)), y]) + penalty


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "csc", "wide"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_conditions_of_optimality_hold(kind, classes, ratio, intercept):
    """Karush-Kuhn-Tucker: a slope equals minus the penalty's where a weight is not zero, and is below it elsewhere."""
    X, y, c, o = task(kind, classes)
    for C in (0.1, 0.3) if kind == "wide" else (0.02, 0.3):
        model = sx.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-12, fit_intercept=intercept)
        model.fit(X, y, sample_weight=c, offset=o)
        assert model.status_ is sx.numerics.Status.OPTIMAL
        assert model.gap_ <= 1e-12
        P = probabilities(X, model.coef_, model.intercept_, o, classes)
        R = C * c[:, None] * (P - np.eye(classes)[y])
        slopes = np.asarray(X.T @ R, dtype=np.float64).T[1:] if classes == 2 else np.asarray(X.T @ R).T
        slopes = slopes + (1 - ratio) * model.coef_
        used = model.coef_ != 0
        assert used.any()
        assert not used.all()
        size = 1e-5 * C * len(y)
        np.testing.assert_allclose(slopes[used], -ratio * np.sign(model.coef_[used]), atol=size)
        assert np.abs(slopes[~used]).max() <= ratio + size
        if intercept:
            assert np.abs(R.sum(axis=0)).max() < 1e-7
        else:
            assert not model.intercept_.any()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_saga_is_not_better(classes, ratio, kind):
    X, y, c, _ = task(kind, classes)
    zero = np.zeros(len(y) if classes == 2 else (len(y), classes))
    for C in (0.05, 1.0):
        ours = sx.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-12).fit(X, y, sample_weight=c)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = Theirs(C=C, l1_ratio=ratio, solver="saga", tol=1e-9, max_iter=5000, random_state=0)
            theirs.fit(X, y, sample_weight=c)
        mine = objective(X, y, c, zero, ours.coef_, ours.intercept_, C, ratio, classes)
        assert mine <= objective(X, y, c, zero, theirs.coef_, theirs.intercept_, C, ratio, classes) * (1 + 1e-12)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)


def test_liblinear_agrees_without_an_intercept():
    X, y, c, _ = task("sparse", 2)
    ours = sx.LogisticRegression(C=0.2, l1_ratio=1.0, tol=1e-13, fit_intercept=False).fit(X, y, sample_weight=c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn is renaming the option
        theirs = Theirs(C=0.2, l1_ratio=1.0, solver="liblinear", tol=1e-10, max_iter=10_000, fit_intercept=False)
        theirs.fit(X, y, sample_weight=c)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_dense_sparse_and_float32_are_the_same_fit(classes):
    X, y, c, o = task("float32", classes)
    fits = [
        sx.LogisticRegression(C=0.1, l1_ratio=0.8, tol=1e-13).fit(given, y, c, o)
        for given in (X, X.astype(np.float64), sparse.csr_array(X.astype(np.float64)))
    ]
    first = fits[0]
    F = objective(X, y, c, o, first.coef_, first.intercept_, 0.1, 0.8, classes)
    for other in fits[1:]:
        away = [np.sqrt(2 * fit.gap_ * F / (1 - 0.8)) for fit in (first, other)]  # from the minimum, by their gaps
        assert np.linalg.norm(other.coef_ - first.coef_) <= sum(away) + 1e-9
        np.testing.assert_allclose(other.intercept_, first.intercept_, atol=2e-6)


def test_the_gap_bounds_the_distance_to_the_minimum():
    X, y, c, o = task("wide", 2)
    best = sx.LogisticRegression(C=0.5, l1_ratio=1.0, tol=1e-13).fit(X, y, c, o)
    floor = objective(X, y, c, o, best.coef_, best.intercept_, 0.5, 1.0, 2)
    for tol in (1e-1, 1e-3, 1e-6):
        rough = sx.LogisticRegression(C=0.5, l1_ratio=1.0, tol=tol).fit(X, y, c, o)
        value = objective(X, y, c, o, rough.coef_, rough.intercept_, 0.5, 1.0, 2)
        assert rough.gap_ <= tol
        assert 0 <= value - floor + 1e-12 <= rough.gap_ * value + 1e-9


def test_a_ridge_is_the_limit_of_elastic_nets():
    X, y, c, o = task("dense", 3)
    ridge = sx.LogisticRegression(C=0.3, tol=1e-13).fit(X, y, c, o)
    near = sx.LogisticRegression(C=0.3, l1_ratio=1e-9, tol=1e-12).fit(X, y, c, o)
    np.testing.assert_allclose(near.coef_, ridge.coef_, atol=1e-5)


def test_weights_count_rows_and_labels_may_be_swapped():
    X, y, _, _ = task("dense", 2)
    c = np.ones(len(y))
    c[:7] = 2.0
    options = {"C": 0.1, "l1_ratio": 0.7, "tol": 1e-13}
    once = sx.LogisticRegression(**options).fit(X, y, sample_weight=c)
    twice = sx.LogisticRegression(**options).fit(np.vstack([X, X[:7]]), np.append(y, y[:7]))
    np.testing.assert_allclose(once.coef_, twice.coef_, atol=1e-8)
    swapped = sx.LogisticRegression(**options).fit(X, 1 - y, sample_weight=c)
    np.testing.assert_allclose(swapped.coef_, -once.coef_, atol=1e-8)


def test_many_columns_on_many_rows_use_neither_matrix_nor_luck():
    """More columns than the matrix of a dense model may have; duplicated and constant columns among them."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 700))
    X[:, 5], X[:, 6] = X[:, 4], 1.0
    y = (X[:, :8].sum(axis=1) + rng.standard_normal(400) > 0).astype(int)
    model = sx.LogisticRegression(C=20.0, l1_ratio=1.0, tol=1e-9).fit(X, y)
    assert model.gap_ <= 1e-9
    assert model.coef_[0, 6] == 0
    other = sx.LogisticRegression(C=20.0, l1_ratio=1.0, tol=1e-9).fit(sparse.csr_array(X), y)
    ends = [np.abs(m.coef_).sum() / 20.0 - m.loglik_ for m in (model, other)]
    assert abs(ends[0] - ends[1]) <= 1e-9 * max(ends)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_matrix_of_sparse_columns_gives_the_fit_of_dense_ones(intercept, ratio):
    """Few columns in use of many rows: the model is made row by row, and columns are never asked for."""
    rng = np.random.default_rng(8)
    X = np.where(rng.random((3000, 60)) < 0.2, np.abs(rng.standard_normal((3000, 60))), 0.0)
    X[:, 9] = 3.0
    y = (X[:, :6] @ [2, -2, 1, -1, 1, 1] + rng.logistic(size=3000) > 0.5).astype(int)
    c, o = rng.integers(1, 4, 3000).astype(float), 0.2 * rng.standard_normal(3000)
    options = {"C": 0.05, "l1_ratio": ratio, "tol": 1e-11, "fit_intercept": intercept}
    few = sx.LogisticRegression(**options).fit(sparse.csr_array(X), y, sample_weight=c, offset=o)
    whole = sx.LogisticRegression(**options).fit(X, y, sample_weight=c, offset=o)
    assert 0 < np.count_nonzero(few.coef_) < 60
    assert few.gap_ <= 1e-11
    assert not intercept or few.coef_[0, 9] == 0  # of a constant, which the bias is
    np.testing.assert_allclose(few.coef_, whole.coef_, atol=1e-5)
    np.testing.assert_allclose(few.intercept_, whole.intercept_, atol=1e-5)
    assert few.loglik_ == pytest.approx(whole.loglik_, rel=1e-7)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("C", [1e12, 1e30, 1e300])
def test_penalties_below_rounding_end_at_the_maximum_likelihood(kind, ratio, C):
    """The slopes would have to be known to 1/C for a dual point: the curvature proves it instead."""
    X, y, c, o = task(kind, 2)
    model = sx.LogisticRegression(C=C, l1_ratio=ratio).fit(X, y, sample_weight=c, offset=o)
    free = sx.LogisticRegression().fit(X, y, sample_weight=c, offset=o)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    assert free.loglik_ - model.loglik_ <= (model.gap_ + 1e-14) * abs(model.loglik_)
    np.testing.assert_allclose(model.coef_, free.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_that_only_a_lost_penalty_would_determine_are_told(classes):
    """Equal columns, or a common vector of all classes: how they share is not seen at C = 1e30."""
    X, y, _, _ = task("dense", classes)
    X = np.column_stack([X, X[:, 0]])
    with pytest.warns(IterationWarning, match=r"only proved to a relative gap of .* lower C"):
        model = sx.LogisticRegression(C=1e30, l1_ratio=1.0).fit(X, y)
    assert model.status_ is sx.numerics.Status.ILL_CONDITIONED
    assert model.gap_ > 1e-8


# -- the path ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratio", "classes", "multiclass"), [(1.0, 2, "ovr"), (0.5, 3, "multinomial"), (0.0, 3, "ovr")]
)
def test_a_path_is_the_fits_one_by_one(ratio, classes, multiclass):
    X, y, c, _ = task("sparse", classes)
    model = sx.LogisticRegression(l1_ratio=ratio, tol=1e-12, multiclass=multiclass)
    path = model.path(X, y, [1.0, 0.05, 0.2], sample_weight=c)
    np.testing.assert_array_equal(path.C, [0.05, 0.2, 1.0])
    assert not hasattr(model, "coef_")
    for C, coef, intercept, gap in zip(path.C, path.coef, path.intercept, path.gap, strict=True):
        alone = sx.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-12, multiclass=multiclass).fit(X, y, c)
        np.testing.assert_allclose(coef, alone.coef_, atol=1e-5)
        np.testing.assert_allclose(intercept, alone.intercept_, atol=1e-5)
        assert gap <= 1e-12


def test_a_path_begins_where_all_weights_are_zero():
    X, y, _, _ = task("dense", 2)
    path = sx.LogisticRegression(l1_ratio=1.0).path(X, y, 8)
    assert path.nonzero[0] == 0
    assert path.nonzero[1] > 0
    assert (np.diff(path.C) > 0).all()
    assert set(path.status) == {sx.numerics.Status.OPTIMAL}
    assert len(str(path).splitlines()) == 9
    assert path.to_dict()["nonzero"] == path.nonzero.tolist()


def test_a_path_costs_less_than_its_fits():
    X, y, _, _ = task("wide", 2)
    grid = np.geomspace(0.05, 5, 12)
    path = sx.LogisticRegression(l1_ratio=1.0).path(X, y, grid)
    alone = sum(sx.LogisticRegression(C=C, l1_ratio=1.0).fit(X, y).n_iter_ for C in grid)
    assert path.steps.sum() < alone


@pytest.mark.parametrize("Cs", [[], [0.0], [-1.0], [np.nan], [np.inf], 0, True, "many"])
def test_grids_that_cannot_be(Cs):
    X, y, _, _ = task("dense", 2)
    with pytest.raises(ParameterError):
        sx.LogisticRegression(l1_ratio=1.0).path(X, y, Cs)


def test_a_path_of_columns_that_say_nothing_asks_for_penalties():
    with pytest.raises(DataError, match="pass Cs"):
        sx.LogisticRegression(l1_ratio=1.0).path(np.ones((4, 2)), [0, 1, 0, 1], 3)


# -- hostile ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [-0.1, 1.1, np.nan, np.inf, "half", None, True])
def test_shares_that_cannot_be(ratio):
    X, y, _, _ = task("dense", 2)
    with pytest.raises(ParameterError, match="l1_ratio"):
        sx.LogisticRegression(C=1.0, l1_ratio=ratio).fit(X, y)


def test_separated_and_extreme_rows_have_a_finite_answer():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = sx.LogisticRegression(C=1e3, l1_ratio=1.0).fit(X, [0, 0, 1, 1])
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert np.isfinite(model.coef_).all()
    for scale in (1e-100, 1e100):
        tiny = sx.LogisticRegression(C=1e3 / scale, l1_ratio=1.0).fit(X * scale, [0, 0, 1, 1])
        np.testing.assert_allclose(tiny.coef_ * scale, model.coef_, rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_hard_rows_reach_the_gap(classes):
    """Separated rows with hardly any penalty, and columns far from zero, where the bias is far off at first."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 10))
    y = np.digitize(X[:, 0], [0.0] if classes == 2 else [-0.5, 0.5])
    assert sx.LogisticRegression(C=1e8, l1_ratio=1.0).fit(X, y).gap_ <= 1e-8
    noisy = np.where(rng.random(60) < 0.2, rng.integers(0, classes, 60), y)
    near = sx.LogisticRegression(C=0.5, l1_ratio=1.0).fit(X, noisy)
    for given in (X + 1e3, sparse.csr_array(X + 1e3)):
        far = sx.LogisticRegression(C=0.5, l1_ratio=1.0).fit(given, noisy)
        assert far.gap_ <= 1e-8
        assert far.loglik_ == pytest.approx(near.loglik_, rel=1e-4)


def test_too_few_steps_are_told():
    X, y, _, _ = task("wide", 2)
    with pytest.warns(IterationWarning, match="limit of iterations"):
        model = sx.LogisticRegression(C=5.0, l1_ratio=1.0, max_iter=1).fit(X, y)
    assert model.gap_ > 1e-8


@pytest.mark.parametrize("far", [0.0, 3.0, 60.0])
def test_intercepts_of_several_classes_are_the_best_from_any_start(far):
    rng = np.random.default_rng(4)
    scores, codes, c = 2.0 * rng.standard_normal((90, 4)), rng.integers(0, 4, 90), rng.random(90) + 0.1
    b, P, _, loss = fitted_intercepts(scores, codes, c, np.array([0.0, far, -far, far]), lambda: np.zeros(4))
    np.testing.assert_allclose(c @ P, np.bincount(codes, weights=c), rtol=1e-13)
    np.testing.assert_allclose(loss, -np.log(P[np.arange(90), codes]), rtol=1e-12)
    E = np.exp(scores + b)
    np.testing.assert_allclose(P, E / E.sum(axis=1, keepdims=True), rtol=1e-13)


def test_a_late_matrix_of_many_classes_gives_the_fit_of_passes_over_columns(monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((900, 70))
    y = np.argmax(X @ rng.standard_normal((70, 10)) + 6.0 * rng.gumbel(size=(900, 10)), axis=1)
    made, gram = [], net_step.gram_of_many
    monkeypatch.setattr(net_step, "gram_of_many", lambda *given: made.append(1) or gram(*given))
    fits = []
    for most in (net_step.MOST_LATE, 0):
        monkeypatch.setattr(net_step, "MOST_LATE", most)
        made.clear()
        fits.append(sx.LogisticRegression(C=0.2, l1_ratio=1.0, tol=1e-11).fit(X, y))
        assert bool(made) == bool(most)  # 700 coordinates: none at the first steps
        assert fits[-1].gap_ <= 1e-11
        assert len(made) < fits[-1].n_iter_
    # weights of a column with as many positive ones as negative may all move together
    np.testing.assert_allclose(fits[0].predict_proba(X), fits[1].predict_proba(X), atol=1e-4)
    ends = [np.abs(m.coef_).sum() / 0.2 - m.loglik_ for m in fits]
    assert abs(ends[0] - ends[1]) <= 1e-11 * max(ends)


@pytest.mark.parametrize("dense", [True, False])
def test_a_weight_whose_rows_are_all_certain_comes_back(dense):
    """Scores of thousands have no curvature in doubles: no model of the loss moves the weight."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((60, 2)), np.zeros(60)])
    y = (X[:, 0] + rng.standard_normal(60) > 0).astype(int)
    X[:2, 2] = np.where(y[:2] == 1, 1.0, -1.0)
    model = sx.LogisticRegression(C=1.0, l1_ratio=1.0, warm_start=True)
    table = X if dense else sparse.csr_array(X)
    model.fit(table, y)
    wanted = model.coef_.copy()
    model.coef_ = np.array([[0.5, 0.0, 2000.0]])
    model.fit(table, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8
    np.testing.assert_allclose(model.coef_, wanted, atol=1e-3)


@pytest.mark.parametrize("seed", [0, 3, 5])
def test_a_matrix_whose_curvature_rows_have_lost_is_not_kept(seed):
    """A row far out is certain after a step, and the matrix of that step would make the next ones far too short."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    X[7, 1] *= 1e5
    y = np.argmax(X[:, :1] * [0.0, 0.5, 1.0] + rng.gumbel(size=(60, 3)), axis=1)
    model = sx.LogisticRegression(C=2.0, l1_ratio=1.0).fit(X, y)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.n_iter_ <= 40


def test_dependent_columns_in_their_own_units_take_few_steps():
    rng = np.random.default_rng(5)
    X = rng.standard_t(1, (300, 6)) @ rng.standard_normal((6, 12)) * 10 ** rng.uniform(-4, 4, 12)
    y = np.clip(X / np.abs(X).mean(axis=0), -3, 3) @ rng.standard_normal(12) + rng.standard_normal(300) > 0
    model = sx.LogisticRegression(C=30.0, l1_ratio=1.0).fit(X, y.astype(int))
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.n_iter_ <= 40


def test_many_classes_take_few_arrays_of_rows_by_classes():
    """Their probabilities, scores and residuals are most of the memory of a fit."""
    rng = np.random.default_rng(0)
    n, d, K = 5000, 20, 100
    X = rng.standard_normal((n, d))
    y = np.argmax(X @ rng.standard_normal((d, K)) + rng.gumbel(size=(n, K)), axis=1)
    model = sx.LogisticRegression(C=0.1, l1_ratio=1.0, tol=1e-3)
    tracemalloc.start()
    model.fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most <= 8.5 * (n * K * 8)

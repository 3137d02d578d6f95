"""The model of many sparse columns: optimality by independent code, bounds that hold, and when it is chosen."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs

import separatrix as sx
from separatrix.errors import IterationWarning
from separatrix.models.logistic import elastic_net as proximal
from separatrix.models.logistic import net_step
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.centred_loss import CentredLoss, lower_bound
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.models.logistic.sparse_coordinate_descent import SparseQuadratic


@pytest.fixture
def columns_only(monkeypatch):
    """No matrix is small enough."""
    monkeypatch.setattr(net_step, "FEW_ADDED", -1)
    monkeypatch.setattr(net_step, "MOST_ADDED", -1.0)


def rows(n=150, d=400, seed=0, dtype=np.float64, index=np.int32):
    """Frequent and rare columns, all numbers above zero, as in a table of words; labels of both kinds."""
    rng = np.random.default_rng(seed)
    X = np.abs(rng.standard_normal((n, d))) * (rng.random((n, d)) < np.minimum(1.0, 4.0 / np.arange(1, d + 1)))
    X = sparse.csr_array(X.astype(dtype))
    X = sparse.csr_array((X.data, X.indices.astype(index), X.indptr.astype(index)), shape=X.shape)
    y = (X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0).astype(int)
    return X, y, rng.random(n) * 2 + 0.1, 0.3 * rng.standard_normal(n)


def objective(X, y, c, o, coef, intercept, C, ratio):
    s = np.asarray(X @ np.ravel(coef), dtype=np.float64) + intercept + o
    penalty = ratio * np.abs(coef).sum() + (1 - ratio) / 2 * (coef**2).sum()
    return float(c @ np.logaddexp(0, np.where(y == 1, -s, s)) + penalty / C)


@pytest.mark.parametrize(("dtype", "index"), [(np.float64, np.int32), (np.float64, np.int64), (np.float32, np.int32)])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_conditions_of_optimality_hold(columns_only, dtype, index, ratio, intercept):
    X, y, c, o = rows(dtype=dtype, index=index)
    C = 1.0
    model = sx.LogisticRegression(C=C, l1_ratio=ratio, tol=1e-13, fit_intercept=intercept)
    model.fit(X, y, sample_weight=c, offset=o)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    w = np.ravel(model.coef_)
    p = 1 / (1 + np.exp(-(np.asarray(X @ w, dtype=np.float64) + model.intercept_ + o)))
    slopes = C * np.asarray(X.T @ (c * (p - y)), dtype=np.float64) + (1 - ratio) * w
    used = w != 0
    assert 0 < used.sum() < len(w)
    np.testing.assert_allclose(slopes[used], -ratio * np.sign(w[used]), atol=1e-5)
    assert np.abs(slopes[~used]).max() <= ratio + 1e-5


@pytest.mark.parametrize("ratio", [1.0, 0.4])
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-11])
def test_columns_and_matrices_give_the_same_fit_within_their_gaps(monkeypatch, ratio, tol):
    X, y, c, o = rows(seed=1)
    options = {"C": 3.0, "l1_ratio": ratio, "tol": tol}
    matrix = sx.LogisticRegression(**options).fit(X, y, c, o)
    monkeypatch.setattr(proximal, "by_matrix", lambda *_: False)
    columns = sx.LogisticRegression(**options).fit(X, y, c, o)
    values = [objective(X, y, c, o, m.coef_, m.intercept_, 3.0, ratio) for m in (matrix, columns)]
    assert max(matrix.gap_, columns.gap_) <= tol
    assert abs(values[0] - values[1]) <= 2 * tol * max(values)


def test_liblinear_is_not_better(columns_only):
    X, y, c, _ = rows(n=400, d=900, seed=2)
    ours = sx.LogisticRegression(C=0.5, l1_ratio=1.0, tol=1e-10, fit_intercept=False).fit(X, y, sample_weight=c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn is renaming the option
        theirs = Theirs(C=0.5, l1_ratio=1.0, solver="liblinear", tol=1e-8, max_iter=10_000, fit_intercept=False)
        theirs.fit(X, y, sample_weight=c)
    ends = [objective(X, y, c, 0.0, m.coef_, 0.0, 0.5, 1.0) for m in (ours, theirs)]
    assert ends[0] <= ends[1] * (1 + 1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def model_of(X, y, c, o, net, lift=True):
    problem = CentredLoss(LogisticProblem.of(X, y, 2, c, o, lift))
    place = problem.place(np.zeros((1, X.shape[1])), np.zeros(1))
    chosen = np.flatnonzero(np.abs(place.slopes[0]) > net.alpha)
    return problem, place, SparseQuadratic(problem, place, net, chosen, np.random.default_rng(0))


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_passes_and_solutions_minimise_the_model_of_the_chosen_columns(lift, ridge):
    X, y, c, o = rows(seed=3)
    net = ElasticNet(1.0, ridge)
    _, place, model = model_of(X, y, c, o, net, lift)
    Z, h = X.toarray(), place.curvature
    mean = h @ Z / h.sum() if lift else 0.0
    H = (Z - mean).T @ (h[:, None] * (Z - mean))

    def value(v):
        return place.slopes[0] @ v + 0.5 * v @ H @ v + net.value(v)

    assert model.value() == 0.0
    for _ in range(3):
        before = value(model.v)
        change = model.sweep(model.draws.permutation(model.chosen))
        assert value(model.v) <= before - 0.5 * change + 1e-12
        assert model.value() == pytest.approx(value(model.v), rel=1e-10)
    used = np.flatnonzero(model.v)
    np.testing.assert_allclose(model.slopes(used), (place.slopes[0] + H @ model.v)[used], atol=1e-10)
    before = model.value()
    model.leap(used)
    assert model.value() <= before
    assert model.value() == pytest.approx(value(model.v), rel=1e-10)
    used = np.flatnonzero(model.v)
    model.solve(used, np.sign(model.v[used]), 1e-9)
    ends = model.slopes(used) + ridge * model.v[used]
    np.testing.assert_allclose(ends, (place.slopes[0] + H @ model.v + ridge * model.v)[used], atol=1e-10)
    np.testing.assert_allclose(np.abs(ends), 1.0, atol=1e-8)


@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_a_bound_holds_however_far_the_model_is_from_the_loss(lift, ridge):
    """Tried for from zero, where no run would try: below the minimum all the same, and near it close to it."""
    X, y, c, o = rows(seed=4)
    net = ElasticNet(2.0, ridge)
    problem, place, model = model_of(X, y, c, o, net, lift)
    best = proximal.proximal_newton(problem, net, 1e-12, 100)
    least = best.loss + net.value(best.vectors[:, :-1])
    model.descend()
    far = model.prove(place.loss, 1e-6)
    assert far <= least
    near = problem.place(best.vectors[:, :-1] * (1 + 1e-4), best.vectors[:, -1])
    model = SparseQuadratic(problem, near, net, np.flatnonzero(best.vectors[0, :-1]), np.random.default_rng(0))
    model.descend()
    assert model.beyond() < 1e-6 * least
    plain, proved = lower_bound(problem, near, net)[0], model.prove(least, 1e-8)
    assert plain < proved <= least * (1 + 1e-12)
    assert least - proved <= 1e-8 * least
    assert ridge > 0 or least - plain > 1e-6 * least  # where nothing but scaling makes it feasible


def test_the_choice_follows_counts():
    """Few numbers a row in the columns: their matrix; many: the columns; and those alone once they have been made."""
    X, y, c, o = rows(n=4000, d=3000, seed=5)
    problem = CentredLoss(LogisticProblem.of(X, y, 2, c, o, True))
    assert net_step.by_matrix(problem, np.arange(200, 210))
    every = np.arange(3000)
    assert net_step.additions(problem, every) == pytest.approx(0.5 * 4000 * (X.nnz / 4000) ** 2 + 3000**2)
    assert not net_step.by_matrix(problem, every)
    assert problem.across.shape == (3000, 4000)
    assert not net_step.by_matrix(problem, np.arange(200, 210))


@pytest.mark.parametrize("noise", [1e-6, 1e-3])
def test_columns_that_are_alike_are_left_to_the_matrix_when_no_bound_comes_about(columns_only, noise):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((120, 3))
    X = sparse.csr_array(np.repeat(B, 30, axis=1) + noise * rng.standard_normal((120, 90)))
    y = (B @ rng.standard_normal(3) + rng.standard_normal(120) > 0).astype(int)
    for most in (36.0, -1.0):  # by the matrix, and by scaled columns
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(net_step, "MOST_SOLVED", most)
            model = sx.LogisticRegression(C=30.0, l1_ratio=1.0).fit(X, y)
        assert model.status_ is sx.numerics.Status.OPTIMAL
        assert model.gap_ <= 1e-8


def test_constant_equal_and_empty_columns_do_no_harm(columns_only):
    X, y, c, o = rows(seed=6)
    Z = X.toarray()
    Z[:, 5], Z[:, 6], Z[:, 7] = Z[:, 4], 1.0, 0.0
    model = sx.LogisticRegression(C=5.0, l1_ratio=1.0, tol=1e-10).fit(sparse.csr_array(Z), y, c, o)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.coef_[0, 6] == 0
    assert model.coef_[0, 7] == 0


def test_a_fit_can_be_repeated_to_the_bit(columns_only):
    """The order of the columns is drawn from a seed of its own."""
    X, y, c, o = rows(seed=7)
    fits = [sx.LogisticRegression(C=2.0, l1_ratio=1.0).fit(X, y, c, o) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


@pytest.mark.parametrize("intercept", [True, False])
def test_more_digits_than_there_are_end_the_run_with_what_was_proved(columns_only, intercept):
    """No step gains any more: matrices are tried, and the fit says what gap it has."""
    X, y, c, o = rows(seed=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IterationWarning)
        model = sx.LogisticRegression(C=2.0, l1_ratio=1.0, tol=1e-17, fit_intercept=intercept).fit(X, y, c, o)
    assert model.status_ in (sx.numerics.Status.OPTIMAL, sx.numerics.Status.ILL_CONDITIONED)
    assert model.gap_ <= 1e-13


def test_where_no_step_by_columns_gains_the_matrix_goes_on(columns_only, monkeypatch):
    """Rounding alone can bring that about, which no table here does."""
    X, y, c, o = rows(seed=9)
    monkeypatch.setattr(proximal, "step_by_columns", lambda *_: (None, -np.inf))
    model = sx.LogisticRegression(C=2.0, l1_ratio=1.0).fit(X, y, c, o)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-8

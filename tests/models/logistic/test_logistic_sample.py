"""Samples of rows that stand for all, with all rows of rare columns."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import CollinearWarning
from separatrix.losses.objective import Objective
from separatrix.rows.places import TableRows
from separatrix.solvers.rough_hessians import COLUMNS
from separatrix.solvers.samples import MOST, exceeding, rare_limits, sampled


def rows(n=40_000, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 2] = rng.random(n) < 0.002
    X[:, 5] = 0.0
    X[7, 5] = 3.0
    y = X @ np.array([1, -1, 2, 0.5, 0, 1, 0, 0.3]) + rng.logistic(size=n) > 0
    return X, y.astype(np.intp)


def test_every_row_of_a_rare_column_is_in_the_sample():
    X, y = rows()
    _, part, share = sampled(TableRows(X, y, 2), True, 20)
    assert part.n < 2 * len(X) // 20
    np.testing.assert_array_equal(part.X[:, 2].sum(), X[:, 2].sum())
    assert part.X[:, 5].sum() == 3.0
    H, whole = part.X.T @ (part.weights[:, None] * part.X) / share, X.T @ X
    used = np.sqrt(np.diagonal(whole))
    assert np.linalg.norm((H - whole) / used / used[:, None], 2) < 0.2


def test_weights_and_offsets_go_with_their_rows():
    X, y = rows()
    c = np.linspace(1.0, 2.0, len(y))
    _, part, share = sampled(TableRows(X, y, 2, c, c * 10), True, 20)
    rare = part.X[:, 2] > 0
    np.testing.assert_allclose(part.weights[rare] / share * 10, part.offset[rare])


def test_columns_that_many_tableuse_leave_the_sample_as_it_is():
    X, y = rows()
    X = np.ascontiguousarray(X[:, [0, 1, 3]])
    _, part, share = sampled(TableRows(X, y, 2), True, 20)
    assert part.weights is None
    assert share == pytest.approx(1 / 20)
    assert not np.isfinite(rare_limits(X)).any()


def test_a_column_that_the_stride_always_misses_is_not_taken_for_rare():
    """Every other row has it, none of the sample: its rows are too many to be taken."""
    X, y = rows()
    X[:, 5] = np.arange(len(X)) % 2
    table = TableRows(X, y, 2)
    needed = exceeding(table.whole, np.where(np.arange(X.shape[1]) == 5, 0.0, np.inf))
    assert needed.sum() * MOST > len(X)
    part = sampled(table, True, 20)[1]
    assert part.n == len(X) // 20


@pytest.mark.parametrize("C", [1.0, 1e6])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rare_columns_reach_the_same_minimum(C, dtype):
    X, y = rows()
    X = X.astype(dtype)
    fast = sx.LogisticRegression(C=C, tol=1e-10).fit(X, y)
    slow = sx.LogisticRegression(C=C, tol=1e-10, warm_start=True)  # from given vectors there is no sample
    slow.fit(X[:400], y[:400]).fit(X, y)
    assert fast.gap_ <= 1e-10
    known = np.arange(8) != 5  # one row has column 5: hardly anything determines its weight
    np.testing.assert_allclose(fast.coef_[0, known], slow.coef_[0, known], rtol=1e-4, atol=1e-5)
    assert fast.loglik_ == pytest.approx(slow.loglik_, rel=1e-8)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("hard", [False, True])
def test_the_gap_that_a_sample_proves_is_true(C, intercept, hard):
    """Far beyond what the gradient alone would prove, and also where the sample says little of the other rows."""
    X, y = rows(d=8, seed=2)
    if hard:
        X = np.exp(2.0 * X)
    rng = np.random.default_rng(3)
    c, o = rng.integers(1, 4, len(y)).astype(float), 0.5 * rng.standard_normal(len(y))
    exact = sx.LogisticRegression(C=C, tol=1e-13, fit_intercept=intercept).fit(X, y, sample_weight=c, offset=o)

    def value(model):
        return -C * model.loglik_ + 0.5 * float((model.coef_**2).sum())

    for tol in (1e-3, 1e-6, 1e-9):
        model = sx.LogisticRegression(C=C, tol=tol, fit_intercept=intercept).fit(X, y, sample_weight=c, offset=o)
        assert model.status_ is sx.numerics.Status.OPTIMAL
        assert value(model) <= (1 + model.gap_) * value(exact) + 1e-12 * value(exact)
        assert model.gap_ <= tol


def test_a_sample_that_proves_enough_spares_passes(monkeypatch):
    """To 1e-6, all rows are read a handful of times whatever the penalty."""
    X, y = rows()
    X = np.ascontiguousarray(X[:, :5])
    passes = []
    point = Objective.point
    monkeypatch.setattr(Objective, "point", lambda self, at: passes.append(self.n == len(y)) or point(self, at))
    for C in (1.0, 1e6, 1e12):
        passes.clear()
        assert sx.LogisticRegression(C=C, tol=1e-6).fit(X, y).gap_ <= 1e-6
        assert sum(passes) <= 5


def test_columns_that_are_independent_in_a_sample_need_no_matrix_of_all_rows(monkeypatch):
    looked, plain = [], TableRows.reduce

    def reduce(self, work, *given):
        if work is COLUMNS:
            looked.append(self.n)
        return plain(self, work, *given)

    monkeypatch.setattr(TableRows, "reduce", reduce)
    X, y = rows(20_000)
    X = X[:, [0, 1, 3, 4, 6, 7]]
    assert sx.LogisticRegression().fit(X, y).unidentifiable_ == ()
    assert max(looked) < 20_000
    looked.clear()
    X[:, 5] = X[:, 0] + X[:, 1]
    X[1:3001:15, 5] += np.linspace(-1.0, 1.0, 200)  # rows that the sample, each 15th row, does not have
    assert sx.LogisticRegression().fit(X, y).unidentifiable_ == ()
    assert max(looked) == 20_000
    X[:, 5] = X[:, 0] + X[:, 1]
    with pytest.warns(CollinearWarning):
        assert len(sx.LogisticRegression().fit(X, y).unidentifiable_) == 3


def test_classes_that_are_nearly_separated_take_two_hessians(monkeypatch):
    made, hessian = [], Objective.hessian
    monkeypatch.setattr(Objective, "hessian", lambda self, *given: made.append(1) or hessian(self, *given))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 50))
    fitted = sx.LogisticRegression(C=1.0).fit(X, (X @ rng.standard_normal(50) > 0).astype(int))
    assert fitted.gap_ <= 1e-8
    assert len(made) <= 2

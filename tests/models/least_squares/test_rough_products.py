"""Inner products of rows in single precision: the weights are those of products in double precision."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.errors import DataError
from separatrix.models.least_squares import row_products
from separatrix.models.least_squares.row_products import CopiedRows, RowProducts, large_and_unlike

N, D = 90, 400


@pytest.fixture
def rough(monkeypatch):
    """Small tables go that way too; returns a list with an entry for each solution that was corrected."""
    monkeypatch.setattr(row_products, "MANY", 1)
    corrected = []
    refined = RowProducts._refined

    def noted(self, x, right):
        corrected.append(refined(self, x, right))
        return corrected[-1]

    monkeypatch.setattr(RowProducts, "_refined", noted)
    return corrected


def table(seed=0, kind=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, D)).astype(kind)
    return X, X @ rng.standard_normal(D) + rng.standard_normal(N), rng


def weights_of(X, y, monkeypatch, **options):
    """Rough weights, and those by products in double precision."""
    first = sx.LeastSquares(options.pop("alpha", 1.0), **options).fit(X, y)
    monkeypatch.setattr(row_products, "MANY", 2**62)
    second = sx.LeastSquares(first.alpha, **options).fit(X, y)
    return first, second


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e4])
def test_the_weights_have_all_digits(kind, fit_intercept, alpha, rough, monkeypatch):
    X, y, _ = table(kind=kind)
    first, second = weights_of(X, y, monkeypatch, alpha=alpha, fit_intercept=fit_intercept)
    assert rough
    assert all(rough)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-14, atol=1e-17)
    assert first.condition_ == pytest.approx(second.condition_, rel=1e-5)


def test_several_targets_and_weights(rough, monkeypatch):
    X, y, rng = table()
    Y, c = np.column_stack([y, X[:, 0] ** 2, rng.standard_normal(N)]), rng.uniform(0.5, 2.0, N)
    first = sx.LeastSquares(1.0).fit(X, Y, sample_weight=c)
    monkeypatch.setattr(row_products, "MANY", 2**62)
    second = sx.LeastSquares(1.0).fit(X, Y, sample_weight=c)
    assert all(rough)
    assert rough
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-13, atol=1e-16)


def test_rows_that_are_alike_have_products_in_double_precision(rough):
    X, y, rng = table()
    assert large_and_unlike(CopiedRows(X))
    factor = X + 3.0 * rng.standard_normal((N, 1))
    assert not large_and_unlike(CopiedRows(factor))
    assert not large_and_unlike(CopiedRows(np.zeros((N, D))))
    sx.LeastSquares(1.0).fit(factor, y)
    assert not rough


def test_rows_that_few_of_them_do_not_show_to_be_alike(rough, monkeypatch):
    X, y, _ = table()
    X[1] = X[3] * (1 + 1e-3)  # every second row is looked at
    first, second = weights_of(X, y, monkeypatch, alpha=1e-5)
    assert not (rough and all(rough))  # not corrected, or not even factored
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_numbers_beyond_single_precision(unit, rough, monkeypatch):
    X, y, _ = table()
    first, second = weights_of(X * unit, y, monkeypatch, alpha=unit**2)
    assert not any(rough)
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-13, atol=0)


@pytest.mark.parametrize(
    ("number", "says"), [(np.nan, "NaN at row 2, column 7"), (np.inf, "row 2, column 7"), (1e200, "overflow")]
)
@pytest.mark.parametrize("row", [2, 3])
def test_rows_that_have_no_products_are_refused_in_words(number, says, row, rough):
    X, y, _ = table()  # every second row is looked at
    X[row, 7] = number
    with pytest.raises(DataError, match=says.replace("row 2", f"row {row}")):
        sx.LeastSquares(1.0).fit(X, y)

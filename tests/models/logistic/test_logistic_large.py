"""Logistic fits where methods change: conjugate gradients, bounded memory, and ten thousand separated sets."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.errors import DataError, SeparationWarning


def stationarity(model, X, y, c, o):
    """Independent code: the slopes of C sum c loss + |w|^2/2, weights and bias."""
    s = np.asarray(X @ model.coef_[0]) + model.intercept_[0] + o
    R = model.C * c * (1 / (1 + np.exp(-s)) - y)
    return np.asarray(X.T @ R) + model.coef_[0], R.sum()


@pytest.mark.parametrize("kind", ["correlated", "shifted", "rare", "sparse"])
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_conjugate_gradients_reach_the_gap(kind, C):
    """Dense rows with a preconditioner from a sample, and sparse ones of positive numbers with a bias."""
    rng = np.random.default_rng(1)
    n, d = (2500, 220) if kind != "sparse" else (3000, 400)
    X = rng.standard_normal((n, d))
    if kind == "correlated":
        X += 3.0 * X[:, :1]
    elif kind == "shifted":
        X += 50.0
    elif kind == "rare":
        X[:, ::3] = rng.random((n, len(range(0, d, 3)))) < 0.003
    else:
        X = sparse.csr_array(np.where(rng.random((n, d)) < 0.05, np.abs(X), 0.0))
    y, c, o = (rng.random(n) < 0.3).astype(int), rng.random(n) + 0.5, 0.1 * rng.standard_normal(n)
    model = sx.LogisticRegression(C=C, tol=1e-10).fit(X, y, sample_weight=c, offset=o)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-10
    slopes, bias = stationarity(model, X, y, c, o)
    size = C * (c @ np.abs(X)).max() if kind != "sparse" else C * n
    assert np.abs(slopes).max() <= 1e-5 * size
    assert abs(bias) <= 1e-5 * C * n


MEMORY = """
import resource, sys, warnings
import separatrix as sx
from sklearn.datasets import load_svmlight_file
warnings.simplefilter("ignore")
X, y = load_svmlight_file(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = sx.LogisticRegression().fit(X, y)
more = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(model.status_.name, model.score(X, y) > 0.99, more // 1024)
"""


@pytest.mark.parametrize("name", ["sms_spam_bow", pytest.param("rcv1_small", marks=pytest.mark.slow)])
def test_wide_text_is_answered_in_little_memory(real_data, name):
    """Neither the Hessian nor a dense copy of the table is made: they would take gigabytes."""
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, str(real_data(f"{name}.svm"))], capture_output=True, text=True, check=True
    )
    status, good, megabytes = run.stdout.split()
    assert (status, good) == ("NO_MAXIMUM", "True")
    assert int(megabytes) < 700


@pytest.mark.slow
def test_existence_on_ten_thousand_sets():
    """Quasi-separated by construction: never "exists". Overlapping by construction: never "no"."""
    rng, seen = np.random.default_rng(5), set()
    for k in range(10_000):
        n, d = int(rng.integers(8, 40)), int(rng.integers(1, 5))
        X = rng.integers(-3, 4, (n, d)).astype(float)
        direction = rng.integers(-2, 3, d).astype(float)
        y = rng.integers(0, 2, n)
        side = X @ direction
        if k % 2:
            y = np.where(side > 0, 1, np.where(side < 0, 0, y))
            apart = bool(side.any())
        else:  # every row twice, with both labels
            X, y = np.vstack([X, X]), np.append(y, 1 - y)
            apart = False
        if len(np.unique(y)) < 2:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of dependent columns
            found = sx.LogisticRegression(on_separation="ignore").fit(X, y).separation_
        if apart:
            assert not found.exists
        elif k % 2 == 0:
            assert found.exists
        seen.add((apart, found.verdict))
    assert {verdict for apart, verdict in seen if apart} == {"complete", "quasi"}


def test_a_million_to_one_imbalance_is_settled():
    """One row of a class among many, inside the others: overlap; beyond them: separated."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = np.zeros(20_000, dtype=int)
    y[7], X[7] = 1, 0.0
    model = sx.LogisticRegression().fit(X, y)
    assert model.separation_.exists
    assert model.predict_proba(X)[:, 1].sum() == pytest.approx(1.0)
    X[7] = 30.0
    with pytest.warns(SeparationWarning):
        assert not sx.LogisticRegression().fit(X, y).separation_.exists


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, "both"])
@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("row", [0, 7777, 11_999])
def test_a_large_ridge_fit_names_the_number_that_is_not_finite(row, C, bad):
    rng = np.random.default_rng(row)
    X = rng.normal(size=(12_000, 6))
    X[:, 4] = 0.0  # a column whose weight stays zero
    y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
    for column in (0, 4):
        spoiled = X.copy()
        spoiled[row, column] = np.inf if bad == "both" else bad
        if bad == "both":  # two infinities that could cancel
            spoiled[row + 1 if row < 11_999 else 5, column] = -np.inf
        first = min(row, 5) if bad == "both" and row == 11_999 else row
        for model in (
            sx.LogisticRegression(C=C),
            sx.LogisticRegression(C=C, max_iter=1),
            sx.LogisticRegression(C=C, tol=1e-2),
        ):
            with pytest.raises(DataError, match=rf"at row {first}, column {column}"):
                model.fit(spoiled, y)
            assert not hasattr(model, "coef_")


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e4])
@pytest.mark.parametrize("units", [0.0, 4.0])
def test_sparse_ridges_go_by_products_and_end_where_dense_ones_do(C, units):
    rng = np.random.default_rng(0)
    X = (rng.random((400, 60)) < 0.1) * rng.standard_normal((400, 60)) * 10.0 ** rng.uniform(-units, units, 60)
    y = (X[:, 0] / (X[:, 0].std() or 1.0) + rng.logistic(size=400) > 0).astype(int)
    model, dense = (sx.LogisticRegression(C=C, tol=1e-10).fit(Z, y) for Z in (sparse.csr_array(X), X))
    assert "conjugate gradients" in model.plan_
    assert "conjugate gradients" not in dense.plan_
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.gap_ <= 1e-10
    np.testing.assert_allclose(model.decision_function(X), dense.decision_function(X), atol=1e-3)
    full = sparse.csr_array(X + 1.0)  # stored, and not sparse
    assert "conjugate gradients" not in sx.LogisticRegression(C=C, tol=1e-6).fit(full, y).plan_

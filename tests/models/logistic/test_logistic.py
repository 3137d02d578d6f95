"""Logistic regression: theorems, weights and offsets."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse

import separatrix as sx

SEPARATED = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])


def table(real_data, name):
    frame = pd.read_csv(real_data(f"{name}.csv"))
    return frame.iloc[:, :-1], frame.iloc[:, -1]


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


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_fitted_probabilities_add_up_to_the_counts_for_likelihood_and_flic_but_not_firth(classes):
    X, y = overlapping(classes=classes)
    counts = np.bincount(y)
    ml = sx.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(ml.predict_proba(X).sum(axis=0), counts, rtol=1e-10)
    firth = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    assert np.abs(firth.predict_proba(X).sum(axis=0) - counts).max() > 1e-3
    flic = sx.LogisticRegression(bias_reduction="flic").fit(X, y)
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
        errors = [[row.std_err for row in m.summary().coefficients] for m in (weighted, repeated)]
        np.testing.assert_allclose(*errors, rtol=1e-9)


def test_analytic_weights_do_not_change_errors_when_doubled():
    X, y = overlapping()
    c = np.random.default_rng(2).integers(1, 9, 200).astype(float)
    once, twice = (sx.LogisticRegression(weights="analytic").fit(X, y, sample_weight=k * c).summary() for k in (1, 2))
    counted = sx.LogisticRegression().fit(X, y, sample_weight=2 * c).summary()
    assert once["x0"].std_err == pytest.approx(twice["x0"].std_err, rel=1e-12)
    assert counted["x0"].std_err == pytest.approx(once["x0"].std_err * np.sqrt(200 / (2 * c.sum())), rel=1e-9)


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

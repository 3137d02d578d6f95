"""Maximum likelihood of several classes with more parameters than a Hessian is made for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from separatrix import LogisticRegression
from separatrix.models.logistic.class_newton import SharedHessian
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.numerics.status import Status


def drawn(n=400, d=6, K=4, *, far=0.0, noise=1.0):
    """Rows with columns of many units, and classes that overlap; ``far`` moves the means away from zero."""
    rng = np.random.default_rng(n + d + K)
    Z = rng.standard_normal((n, d))
    codes = np.argmax(Z @ rng.standard_normal((d, K)) + noise * rng.gumbel(size=(n, K)), axis=1)
    return (Z + far) * 10.0 ** rng.uniform(-3, 3, d), codes, rng.random(n) + 0.5, rng.standard_normal((n, K))


@pytest.mark.parametrize("tol", [None, 1e-10])
@pytest.mark.parametrize(("weighted", "shifted"), [(False, False), (True, True)])
@pytest.mark.parametrize("far", [0.0, 100.0])
def test_at_the_maximum_residuals_are_orthogonal_to_the_columns(weighted, shifted, far, tol):
    X, codes, c, o = drawn(far=far)
    c, o = c if weighted else np.ones(len(X)), o if shifted else None
    model = LogisticRegression(tol=tol).fit(X, codes, sample_weight=c, offset=o)
    assert model.status_ is Status.OPTIMAL
    S = X @ model.coef_.T + model.intercept_ + (0.0 if o is None else o)
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    Z = np.column_stack([(X - X.mean(axis=0)) / X.std(axis=0), np.ones(len(X))])
    slopes = ((P - np.eye(4)[codes]) * c[:, None]).T @ Z
    assert np.abs(slopes).max() <= (1e-8 if tol is None else 1e-3) * c.sum()


def test_the_matrix_at_zero_is_the_hessian_to_four_digits():
    X, codes, c, _ = drawn(far=3.0)
    loss = MultinomialLoss(X, codes, 4, c, None, 0.5)
    point = loss.point(np.zeros(loss.length))
    exact = loss.model(point).correction(point.gradient).reshape(4, -1)
    step = SharedHessian(loss, loss.narrow).correction(point.gradient).reshape(4, -1)
    exact = exact - exact.mean(axis=0)
    scale = np.abs(exact).max(axis=0)
    np.testing.assert_allclose(step / scale, exact / scale, atol=1e-4)


def test_nearly_separated_classes_end_at_the_maximum():
    X, codes, _, _ = drawn(600, 8, 3, noise=0.05)
    rng = np.random.default_rng(1)
    mixed = rng.choice(600, 12, replace=False)
    codes[mixed] = (codes[mixed] + 1) % 3
    model = LogisticRegression().fit(X, codes)
    assert model.status_ is Status.OPTIMAL
    sums = model.predict_proba(X).sum(axis=0)
    np.testing.assert_allclose(sums, np.bincount(codes), rtol=1e-9)


def test_a_last_step_ends_where_products_have_no_more_digits(monkeypatch):
    X, y = load_digits(return_X_y=True)
    products, made = MultinomialLoss.product, []
    monkeypatch.setattr(MultinomialLoss, "product", lambda self, point, v: made.append(1) or products(self, point, v))
    model = LogisticRegression(C=1e4).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.gap_ <= 1e-8
    assert len(made) <= 1000  # 1,606 where the residual alone ended it

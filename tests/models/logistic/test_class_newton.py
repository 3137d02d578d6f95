"""Few Hessians of several classes, kept for many steps: the same minimum as Newton's method in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from separatrix import LogisticRegression
from separatrix.models.logistic import class_newton
from separatrix.models.logistic.class_newton import KeptHessian, SharedHessian
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import newton
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.numerics.status import Status


def drawn(n=400, d=6, K=4, *, far=0.0, noise=1.0):
    """Rows with columns of many units, and classes that overlap; ``far`` moves the means away from zero."""
    rng = np.random.default_rng(n + d + K)
    Z = rng.standard_normal((n, d))
    codes = np.argmax(Z @ rng.standard_normal((d, K)) + noise * rng.gumbel(size=(n, K)), axis=1)
    return (Z + far) * 10.0 ** rng.uniform(-3, 3, d), codes, rng.random(n) + 0.5, rng.standard_normal((n, K))


@pytest.mark.parametrize("ridge", [0.0, 1e-3])
@pytest.mark.parametrize(("weighted", "shifted"), [(False, False), (True, True)])
@pytest.mark.parametrize("far", [0.0, 100.0])
def test_the_minimum_is_that_of_newton(ridge, weighted, shifted, far):
    X, codes, c, o = drawn(far=far)
    loss = MultinomialLoss(X, codes, 4, c if weighted else None, o if shifted else None, ridge)
    start = np.zeros(loss.length)
    exact = newton(loss, loss.point(start), 100)
    found = class_newton.class_newton(loss, loss.point(start), 100)
    assert found.status is Status.OPTIMAL
    P, Q = exact.state.point.curvature, found.state.point.curvature
    np.testing.assert_allclose(Q, P, rtol=1e-7, atol=1e-12)
    assert found.state.point.value <= exact.state.point.value * (1 + 1e-14)


def test_models_are_the_hessian_to_six_digits():
    X, codes, c, _ = drawn(far=3.0)
    rng = np.random.default_rng(0)
    loss = MultinomialLoss(X, codes, 4, c, None, 0.5)
    at = rng.standard_normal((4, 7)) / np.append(X.std(axis=0), 1.0)
    zero, there = loss.point(np.zeros(loss.length)), loss.point((at - at.mean(axis=0)).reshape(-1))
    kept = KeptHessian(loss, loss.narrow, there)
    for model, point in ((SharedHessian(loss, loss.narrow), zero), (kept, there)):
        exact = loss.model(point).correction(point.gradient).reshape(4, -1)
        step = model.correction(point.gradient).reshape(4, -1)
        exact = exact - exact.mean(axis=0)
        scale = np.abs(exact).max(axis=0)
        np.testing.assert_allclose(step / scale, exact / scale, atol=1e-4)


def test_few_hessians_are_made(monkeypatch):
    made = []
    monkeypatch.setattr(class_newton, "KeptHessian", lambda *given: made.append(1) or KeptHessian(*given))
    X, codes, _, _ = drawn(2000, 12, 5)
    model = LogisticRegression().fit(X, codes)
    assert "kept" in model.plan_
    assert 1 <= len(made) <= 2


def test_nearly_separated_classes_end_at_the_maximum():
    X, codes, _, _ = drawn(600, 8, 3, noise=0.05)
    rng = np.random.default_rng(1)
    mixed = rng.choice(600, 12, replace=False)
    codes[mixed] = (codes[mixed] + 1) % 3
    problem = LogisticProblem(X, codes, 3, None, None, True)
    loss = problem.loss()
    exact = newton(loss, loss.point(np.zeros(loss.length)), 200)
    found = class_newton.class_newton(loss, loss.point(np.zeros(loss.length)), 200)
    assert exact.status is Status.OPTIMAL
    assert found.state.point.value <= exact.state.point.value * (1 + 1e-12)


def test_sizes_decide_who_keeps_hessians():
    def keeps(n, d, K, lift=True):
        return LogisticProblem(np.zeros((n, d)), np.zeros(n, dtype=np.intp), K, None, None, lift).keeps

    assert keeps(2000, 20, 10)
    assert keeps(20_000, 50, 3)
    assert not keeps(2000, 20, 2)  # two classes have kept_newton
    assert not keeps(150, 4, 3)  # every Hessian is cheap
    assert not keeps(2000, 60, 10)  # too many parameters
    assert not keeps(2000, 20, 10, lift=False)


def test_a_last_step_ends_where_products_have_no_more_digits(monkeypatch):
    X, y = load_digits(return_X_y=True)
    products, made = MultinomialLoss.product, []
    monkeypatch.setattr(MultinomialLoss, "product", lambda self, point, v: made.append(1) or products(self, point, v))
    model = LogisticRegression(C=1e4).fit(X, y)
    assert model.status_ is Status.OPTIMAL
    assert model.gap_ <= 1e-8
    assert len(made) <= 1000  # 1,606 where the residual alone ended it

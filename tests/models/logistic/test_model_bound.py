"""Lower bounds from the minima of quadratic models: they hold wherever the model is from, and lack the fourth order."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.models.logistic.active_newton import ElasticNet, descend
from separatrix.models.logistic.centred_loss import CentredLoss, lower_bound
from separatrix.models.logistic.model_bound import model_bound
from separatrix.models.logistic.net_step import quadratic_of
from separatrix.models.logistic.problem import LogisticProblem

NET = ElasticNet(3.0, 0.0)


def problem_of(classes, lift=True, weighted=False):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((300, 6)) + rng.standard_normal(6)
    y = np.argmax(X @ rng.standard_normal((6, classes)) + 2 * rng.gumbel(size=(300, classes)), axis=1)
    c = rng.integers(1, 4, 300).astype(float) if weighted else None
    o = 0.5 * rng.standard_normal(300 if classes == 2 else (300, classes)) if weighted else None
    return LogisticProblem.of(X, y, classes, c, o, lift)


def least(problem, net):
    r = net.alpha / (net.alpha + net.ridge)
    C = 1.0 / (net.alpha + net.ridge)
    model = LogisticRegression(C=C, l1_ratio=r, tol=1e-13, fit_intercept=problem.lift)
    model.fit(problem.X, problem.codes, sample_weight=problem.weights, offset=problem.offset)
    return np.column_stack([model.coef_, model.intercept_])


def value(place, net):
    return place.loss + net.value(place.V)


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("lift", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("net", [NET, ElasticNet(2.0, 1.0)])
def test_a_bound_holds_for_any_step_and_any_curvatures(classes, lift, weighted, net):
    problem = problem_of(classes, lift, weighted)
    loss, best = CentredLoss(problem), least(problem, net)
    floor = value(loss.place(best[:, :-1].copy(), best[:, -1].copy()), net)
    rng, bounds = np.random.default_rng(0), []
    for size in (0.0, 1e-6, 1e-3, 0.05, 0.3, 1.0):
        place = loss.place(best[:, :-1] + size * rng.standard_normal((problem.vectors, 6)), best[:, -1].copy())
        other = loss.place(best[:, :-1] * rng.random(), best[:, -1].copy())
        for step in (best[:, :-1] - place.V, size * rng.standard_normal(place.V.shape), -0.5 * place.V):
            for curvature in (place.curvature, other.curvature):
                bounds.append(model_bound(loss, place, net, curvature, np.ascontiguousarray(step)))
                assert bounds[-1] <= floor * (1 + 1e-12)
    assert max(bounds) >= floor * (1 - 1e-4)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("net", [NET, ElasticNet(2.0, 1.0)])
def test_what_it_lacks_is_of_the_fourth_order(classes, net):
    problem = problem_of(classes)
    loss, best = CentredLoss(problem), least(problem, net)
    floor = value(loss.place(best[:, :-1].copy(), best[:, -1].copy()), net)
    lacks, next_ones = [], []
    for share in (0.96, 0.98):  # twice as far from the minimum, and once
        place = loss.place(share * best[:, :-1], best[:, -1].copy())
        model = quadratic_of(loss, place, net, np.arange(6), 1.0, None)
        descend(model, net, model.movable, 1e-20)
        step = model.weights - place.V
        lacks.append(floor - model_bound(loss, place, net, place.curvature, step))
        moved = loss.place(place.V + step, place.b)
        next_ones.append(floor - lower_bound(loss, moved, net)[0])
    assert 10 < lacks[0] / lacks[1] < 24
    assert lacks[0] < 0.2 * next_ones[0]
    assert lacks[1] < 0.2 * next_ones[1]


def test_where_the_step_leaves_the_probabilities_there_is_none():
    problem = problem_of(2)
    loss = CentredLoss(problem)
    place = loss.place(np.zeros((1, 6)), np.zeros(1))
    assert model_bound(loss, place, NET, place.curvature, np.full((1, 6), 50.0)) == -np.inf


@pytest.mark.parametrize("K", [2, 3, 10])
def test_a_bound_ends_a_fit_before_the_slopes_of_its_place_would(K):
    """Of the last place the own bound does not reach the gap that is proved."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 8))
    y = np.argmax(X @ rng.standard_normal((8, K)) + 2.0 * rng.gumbel(size=(400, K)), axis=1)
    model = LogisticRegression(C=0.1, l1_ratio=1.0, tol=1e-6).fit(X, y)
    loss = CentredLoss(LogisticProblem.of(X, y, K, None, None, True))
    place = loss.place(model.coef_, model.intercept_)
    here = lower_bound(loss, place, ElasticNet(10.0, 0.0))[0]
    exact = LogisticRegression(C=0.1, l1_ratio=1.0, tol=1e-12).fit(X, y)
    ends = [np.abs(m.coef_).sum() - 0.1 * m.loglik_ for m in (model, exact)]
    assert model.gap_ <= 1e-6
    assert ends[0] - ends[1] <= model.gap_ * ends[0] * (1 + 1e-9)
    assert value(place, ElasticNet(10.0, 0.0)) - here > 1e-5 * value(place, ElasticNet(10.0, 0.0))

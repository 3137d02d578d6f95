"""Ridge fits along a path of penalties: each is within its proved gap of the minimum, which other code finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, sparse
from scipy.special import log_softmax

import separatrix as sx
from separatrix.models.logistic.penalty_path import fits_of
from separatrix.models.logistic.problem import FitOptions, LogisticProblem
from separatrix.solvers.ridge_path import RidgePath

GRID = [1e-4, 1e-2, 0.1, 1.0, 10.0, 1e4]


def table(n, d, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    scores = X @ rng.standard_normal((d, classes)) / np.sqrt(d)
    return X, np.argmax(scores + 0.7 * rng.standard_normal(scores.shape), axis=1)


def objective(vectors, X, y, penalty, weights=None, classes=2):
    """The penalised loss, in numpy alone."""
    V = np.asarray(vectors).reshape(-1, X.shape[1] + 1)
    S = X @ V[:, :-1].T + V[:, -1]
    S = np.column_stack([np.zeros(len(y)), S]) if classes == 2 else S
    losses = -log_softmax(S, axis=1)[np.arange(len(y)), y]
    return float(losses @ (np.ones(len(y)) if weights is None else weights) + penalty / 2 * (V[:, :-1] ** 2).sum())


def least(X, y, penalty, start, weights=None, classes=2):
    """The minimum as scipy finds it from the fit on."""
    work = optimize.minimize(
        objective, start.ravel(), (X, y, penalty, weights, classes), method="BFGS", options={"gtol": 1e-7}
    )
    return min(work.fun, objective(start, X, y, penalty, weights, classes))


@pytest.mark.parametrize("shape", [(400, 4, 2), (3000, 6, 2), (400, 4, 3)])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_fit_is_within_its_gap_of_the_minimum(shape, weighted):
    n, d, classes = shape
    X, y = table(n, d, classes)
    c = np.random.default_rng(1).uniform(0.2, 3, n) if weighted else None
    path = sx.LogisticRegression().path(X, y, GRID, sample_weight=c)
    assert set(path.status) == {sx.numerics.Status.OPTIMAL}
    assert (path.gap <= 1e-8).all()
    for C, coef, intercept, gap in zip(path.C, path.coef, path.intercept, path.gap, strict=True):
        vectors = np.column_stack([coef, intercept])
        value, best = objective(vectors, X, y, 1 / C, c, classes), least(X, y, 1 / C, vectors, c, classes)
        assert value - best <= gap * value + 1e-12 * value


KINDS = {
    "many columns": lambda X: X,
    "units": lambda X: (X + 3.0) * 10.0 ** np.linspace(-3, 3, X.shape[1]),
    "equal columns": lambda X: np.column_stack([X, X[:, :2], np.ones(len(X))]),
    "float32": lambda X: X.astype(np.float32),
    "sparse": lambda X: sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("intercept", [True, False])
def test_paths_are_the_single_fits(kind, intercept):
    X, y = table(1500, 120 if kind == "many columns" else 8, seed=2)
    X = KINDS[kind](X)
    path = sx.LogisticRegression(fit_intercept=intercept).path(X, y, GRID)
    assert (path.gap <= 1e-8).all()
    for C, coef, b in zip(path.C, path.coef, path.intercept, strict=True):
        alone = sx.LogisticRegression(C=C, fit_intercept=intercept, tol=1e-12).fit(X, y)
        scores = [np.ravel(X @ w.T + i) for w, i in ((coef, b), (alone.coef_, alone.intercept_))]
        size = 2 * 1e-8 * len(y) * np.log(2)  # |s - s'|^2 h is at most twice the excess, about
        h = 1 / (4 * np.cosh(scores[1] / 2) ** 2)
        assert float(h @ (scores[0] - scores[1]) ** 2) <= 2 * size


def test_separated_rows_and_penalties_out_of_reach_end_as_single_fits_do():
    X, y = table(300, 5)
    y = (X[:, 0] > 0).astype(int)
    path = sx.LogisticRegression().path(X, y, [1e-300, 1e-6, 1.0, 1e8, 1e300])
    for C, status, gap in zip(path.C, path.status, path.gap, strict=True):
        alone = sx.LogisticRegression(C=C, on_separation="ignore")
        with np.errstate(all="ignore"):
            alone.fit(X, y)
        assert status is alone.status_ or gap <= 1e-8


def test_a_limit_of_steps_is_kept():
    X, y = table(300, 5)
    path = sx.LogisticRegression(max_iter=1, tol=1e-13).path(X, y, [1.0, 100.0])
    assert path.steps.max() <= 1
    assert path.status[0] is sx.numerics.Status.MAX_ITERATIONS
    value = [objective(np.append(w, b), X, y, 1 / C) for C, w, b in zip(path.C, path.coef, path.intercept, strict=True)]
    full = sx.LogisticRegression(tol=1e-13).path(X, y, [1.0, 100.0])
    for k, C in enumerate(path.C):
        best = objective(np.append(full.coef[k], full.intercept[k]), X, y, 1 / C)
        assert value[k] - best <= path.gap[k] * value[k] * (1 + 1e-9)


def test_few_hessians_serve_a_whole_path(monkeypatch):
    X, y = table(6000, 10)
    problem = LogisticProblem.of(X, y, 2, None, None, True)
    path, made = RidgePath(problem.objective(), 1e-8, 1000), []
    hessian = path.loss.hessian
    monkeypatch.setattr(path.loss, "hessian", lambda point: made.append(point) or hessian(point))
    steps = [path.fit(1 / C).steps for C in np.geomspace(1e-4, 1e4, 30)]
    assert len(made) <= 8
    assert sum(steps) <= 2.5 * len(steps)
    assert min(steps) == 1  # every point is evaluated with its own penalty


def test_fits_are_made_one_at_a_time():
    X, y = table(200, 3)
    options = FitOptions(1.0, 0.0, False, "auto", True, None, 1e-8, 1000)
    fits = fits_of(LogisticProblem.of(X, y, 2, None, None, True), [0.1, -1.0], options)
    assert next(fits).status is sx.numerics.Status.OPTIMAL  # the second has not been looked at

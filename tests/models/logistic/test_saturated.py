"""Tables with as many parameters as rows: any labels can be separated, and Firth's estimate has a closed form."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.models.logistic.test_firth_maxima import penalised
from tests.models.logistic.test_logistic import quiet

import separatrix as sx
from separatrix.errors import SeparationWarning
from separatrix.models.logistic.existence import separates
from separatrix.models.logistic.problem import LogisticProblem


def wide(n, d, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.arange(n) % classes


def problem_of(X, y):
    return LogisticProblem.of(X, y, int(y.max()) + 1, None, None, True)


def test_auto_is_a_ridge_whose_scores_prove_separation():
    X, y = wide(30, 40)
    with pytest.warns(SeparationWarning, match="a ridge"):
        model = sx.LogisticRegression().fit(X, y)
    assert (model.separation_.verdict, model.separation_.by) == ("complete", "scores")
    assert model.status_ is sx.numerics.Status.NO_MAXIMUM
    assert "all 30 rows" in sx.verify(model.separation_.certificate, X, y)
    scaled = sx.LogisticRegression(C=1.0).fit(X / X.std(axis=0), y)
    np.testing.assert_allclose(model.coef_, scaled.coef_ / X.std(axis=0), rtol=1e-4, atol=1e-5)
    more, _ = wide(60, 4)
    assert "Firth" in quiet(sx.LogisticRegression(), more, (more[:, 0] > 0).astype(int)).method_


@pytest.mark.parametrize(("n", "d", "classes"), [(12, 11, 2), (12, 30, 2), (15, 14, 3), (15, 40, 3)])
def test_firth_gives_all_rows_the_same_probability_by_the_shortest_weights(n, d, classes):
    X, y = wide(n, d, classes)
    model = quiet(sx.LogisticRegression(bias_reduction="firth"), X, y)
    own = model.predict_proba(X)[np.arange(n), y]
    np.testing.assert_allclose(own, 1.5 / (1.0 + classes / 2.0), rtol=1e-9)
    if classes == 2 and d > n:
        scores, b = np.where(y == 1, 1.0, -1.0) * np.log(3.0), model.intercept_[0]
        for shift in (0.0, 0.1, -0.1):  # of all intercepts the one with the shortest weights
            shortest = np.linalg.lstsq(X, scores - b - shift, rcond=None)[0]
            assert np.linalg.norm(shortest) >= np.linalg.norm(model.coef_) * (1 - 1e-9)


def test_the_closed_form_is_the_maximum_with_weights_and_an_offset():
    X, y = wide(4, 3)
    best = minimize(lambda b: -penalised(b, X, y), np.zeros(4), tol=1e-12)
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), best.x, rtol=1e-4)
    weights, offset = np.array([1.0, 2.0, 3.0, 1.0]), np.array([0.5, -1.0, 0.0, 2.0])
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y, sample_weight=weights, offset=offset)
    scores = X @ model.coef_[0] + model.intercept_ + offset
    np.testing.assert_allclose(scores, np.where(y == 1, 1, -1) * np.log(2 * weights + 1), rtol=1e-9)


def test_verdicts_agree_with_separability_where_rows_repeat():
    rng, seen = np.random.default_rng(3), set()
    for _ in range(120):
        n, d, classes = int(rng.integers(4, 9)), int(rng.integers(8, 11)), int(rng.integers(2, 4))
        X = rng.integers(-1, 2, (n, d)).astype(float)[rng.integers(0, max(2, n // 2), n)]
        y = rng.integers(0, classes, n)
        if len(np.unique(y)) < 2:
            continue
        kind = {"multiclass": "kesler"} if len(np.unique(y)) > 2 else {}
        truth = sx.separability(X, y, **kind).verdict
        for choice in ("auto", "firth", "ignore"):
            model = quiet(sx.LogisticRegression(on_separation=choice), X, y)
            assert model.separation_.verdict == truth
            assert (model.status_ is sx.numerics.Status.NO_MAXIMUM) == (truth != "overlap")
        seen.add(truth)
    assert seen == {"complete", "quasi", "overlap"}


def test_a_search_that_was_not_put_off_is_kept():
    X, y = wide(20, 30)
    kept = quiet(sx.LogisticRegression(on_separation="ignore"), X, y)
    assert kept.score(X, y) == 1.0


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_within_rounding_prove_nothing(dtype):
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], dtype=dtype)
    y = np.array([1, 1, 0, 0])
    assert separates(problem_of(X, y), np.array([[1.0, 0.0, 0.0]]))
    for bias in (1.0, -1.0, np.nextafter(1.0, 0.0), np.nan):  # a row on the plane, or nearer to it than rounding
        assert not separates(problem_of(X, y), np.array([[1.0, 0.0, bias]]))
    assert not separates(problem_of(X, y), np.array([[-1.0, 0.0, 0.0]]))
    three, vectors = np.array([0, 1, 2, 2]), np.array([[2.0, 2.0, 0.0], [2.0, -2.0, 0.0], [-3.0, 0.0, 0.0]])
    assert separates(problem_of(X, three), vectors)
    assert not separates(problem_of(X, three), vectors * [1.0, 0.0, 1.0])  # a tie of two classes


@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e150])
def test_scores_within_rounding_of_zero_prove_nothing(scale):
    """Rows on the hyperplane but for rounding, held against exact arithmetic; squares of tiny rows underflow."""
    rng = np.random.default_rng(0)
    wrong = near = 0
    for _ in range(400):
        w = rng.standard_normal(4)
        x = rng.standard_normal(4)
        x[3] = -(x[:3] @ w[:3]) / w[3]
        X = np.vstack([x * scale, 10 * w * scale])
        problem = LogisticProblem.of(X, np.array([1, 1]), 2, None, None, False)
        said = separates(problem, np.append(w, 0.0)[None])
        exact = sum(Fraction(float(a)) * Fraction(float(c)) for a, c in zip(X[0], w, strict=True))
        wrong += said and exact <= 0
        near += exact <= 0
    assert near > 100
    assert not wrong

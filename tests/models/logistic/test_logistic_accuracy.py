"""What OPTIMAL promises of a logistic fit: digits of the estimate, not only of the likelihood."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest
from tests.models.logistic.test_logistic import overlapping

import separatrix as sx
from separatrix.errors import InferenceError, IterationWarning


def exact(X, codes, classes):
    """The maximum-likelihood estimate against the first class, in eighty digits: Newton's method with halving."""
    with mpmath.workdps(80):
        lifted = [[mpmath.mpf(float(v)) for v in row] + [mpmath.mpf(1)] for row in X]
        p, free = X.shape[1] + 1, (X.shape[1] + 1) * (classes - 1)

        def at(b):
            value, g, H = mpmath.mpf(0), mpmath.matrix(free, 1), mpmath.matrix(free, free)
            for x, c in zip(lifted, codes, strict=True):
                scores = [mpmath.mpf(0)] + [sum(b[k * p + j] * x[j] for j in range(p)) for k in range(classes - 1)]
                e = [mpmath.exp(s) for s in scores]
                P = [v / sum(e) for v in e]
                value -= mpmath.log(P[c])
                for k in range(classes - 1):
                    for j in range(p):
                        g[k * p + j] += (P[k + 1] - int(c == k + 1)) * x[j]
                        for m in range(classes - 1):
                            for q in range(p):
                                H[k * p + j, m * p + q] += P[k + 1] * (int(k == m) - P[m + 1]) * x[j] * x[q]
            return value, g, H

        b = mpmath.matrix(free, 1)
        value, g, H = at(b)
        while True:
            step = mpmath.lu_solve(H, g)
            gain = (g.T * step)[0]
            if gain < mpmath.mpf(10) ** -60:
                return np.array([float(v) for v in b]).reshape(classes - 1, p)
            while (ahead := at(b - step))[0] > value:
                step /= 2
            b, (value, g, H) = b - step, ahead


def near(classes, gap):
    """Rows that overlap by a gap alone."""
    if classes == 2:
        return np.array([[0.0], [1.0], [1.0 + gap], [2.5]]), np.array([0, 1, 0, 1])
    return np.array([[0.0], [1.0], [1.0 + gap], [2.5], [4.0], [4.5], [3.0], [6.0]]), np.array([0, 1, 0, 1, 2, 1, 2, 2])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bits", [8, 20, 30, 40, 46, 52])
def test_an_estimate_called_optimal_has_its_digits_however_nearly_the_classes_separate(classes, bits):
    X, y = near(classes, 2.0**-bits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IterationWarning)
        model = sx.LogisticRegression().fit(X, y)
    assert model.separation_.verdict == "overlap"
    vectors = np.column_stack([model.coef_, model.intercept_])
    vectors = vectors if classes == 2 else vectors[1:] - vectors[0]
    right = np.allclose(vectors, exact(X, y, classes), rtol=1e-6)
    assert model.status_ is sx.numerics.Status.OPTIMAL or bits > 30
    assert right or model.status_ is sx.numerics.Status.ILL_CONDITIONED


def test_an_estimate_without_digits_is_called_so():
    X, y = near(2, 2.0**-52)
    with pytest.warns(IterationWarning, match="few correct digits: the classes are nearly separated"):
        model = sx.LogisticRegression().fit(X, y)
    assert model.status_ is sx.numerics.Status.ILL_CONDITIONED


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_a_ridge_of_several_classes_has_six_digits_at_the_default_tolerance(C):
    iris = pytest.importorskip("sklearn.datasets").load_iris()
    loose = sx.LogisticRegression(C=C).fit(iris.data, iris.target)
    tight = sx.LogisticRegression(C=C, tol=1e-14).fit(iris.data, iris.target)
    np.testing.assert_allclose(loose.intercept_, tight.intercept_, rtol=1e-6)
    np.testing.assert_allclose(loose.coef_, tight.coef_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("options", [{"C": 1.0}, {"C": 1.0, "l1_ratio": 0.5}, {}, {"bias_reduction": "firth"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_an_intercept_it_is_exactly_zero(options, classes):
    X, y = overlapping(classes=classes)
    model = sx.LogisticRegression(fit_intercept=False, **options).fit(X, y)
    assert model.intercept_.tolist() == [0.0] * len(model.coef_)


def test_a_score_of_zero_is_the_second_class_in_prediction_and_probabilities():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [0.0]])
    model = sx.LogisticRegression(C=1.0, fit_intercept=False).fit(X[:4], ["a", "b", "a", "b"])
    P = model.predict_proba(X)
    assert P[4].tolist() == [0.5, np.nextafter(0.5, 1.0)]
    assert model.predict(X[4:]).tolist() == ["b"]
    assert model.predict(X).tolist() == model.classes_[P.argmax(axis=1)].tolist()


def test_fractions_are_not_frequencies():
    X, y = overlapping()
    half = np.full(len(y), 1.5)
    with pytest.raises(InferenceError, match="fractions, which count no rows: fit with weights='analytic'"):
        sx.LogisticRegression().fit(X, y, sample_weight=half).summary()
    assert sx.LogisticRegression(weights="analytic").fit(X, y, sample_weight=half).summary().n == len(y)

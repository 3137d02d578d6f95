"""XOR: no hyperplane over (x1, x2), one over (x1, x2, x1 x2); both proved."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.errors import IterationWarning

X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = np.array([-1, 1, 1, -1])


def test_xor_is_proved_not_separable_as_it_is():
    verdict = sx.separability(X, y)
    assert verdict.verdict == "overlap"
    assert sorted(verdict.witness) == [0, 1, 2, 3]
    assert sx.verify(verdict.certificate, X, y)


def test_xor_is_proved_separable_with_the_product():
    mapped = sx.PolynomialMap(2, interactions_only=True).fit_transform(X)
    verdict = sx.separability(mapped, y)
    assert verdict.verdict == "complete"
    assert sx.verify(verdict.certificate, mapped, y)
    learner = make_pipeline(sx.PolynomialMap(2, interactions_only=True), sx.Perceptron()).fit(X, y)
    assert learner[-1].status_ is sx.numerics.Status.CONVERGED
    assert learner.score(X, y) == 1
    with pytest.warns(IterationWarning):
        assert sx.Perceptron().fit(X, y).status_ is sx.numerics.Status.MAX_ITERATIONS

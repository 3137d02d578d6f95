"""Predictions and probabilities agree in every classifier that has both: at ties, and where rounding makes some."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.models.registry import learner_class, learner_names

RNG = np.random.default_rng(0)
MIRRORED = RNG.normal(size=(40, 2)) + np.array([2.0, 0.5])


def fitted(learner, classes):
    """A fit on classes that are turned into each other by changes of sign, so that they tie at the origin."""
    signs = [(-1, -1), (1, 1)] if classes == 2 else [(-1, -1), (1, 1), (-1, 1), (1, -1)]
    X = np.concatenate([MIRRORED * sign for sign in signs])
    return learner.fit(X, np.repeat(list("abcd")[: len(signs)], 40))


def options_of(name):
    return [{"loss": "logistic", "random_state": 0}] if name == "linear-descent" else [{}]


def probabilistic():
    for name in learner_names():
        for options in options_of(name):
            learner = learner_class(name)(**options)
            if hasattr(learner, "predict_proba"):
                yield name, options


LEARNERS = list(probabilistic())
ROWS = np.concatenate(
    [
        np.zeros((1, 2)),
        np.outer([1e-300, 1e-40, 1e-20, 1e-17, 1e-16, 3e-16, 1e-15, 1e-9, 1.0, 30.0, 1e3, 1e6], [1.0, 1.0]),
        RNG.normal(size=(500, 2)) * 10.0 ** RNG.uniform(-18, 4, (500, 1)),
    ]
)
ROWS = np.concatenate([ROWS, -ROWS, ROWS * [1, -1], ROWS * [-1, 1], ROWS * [1, 0], ROWS * [0, 1]])


def test_the_list_is_that_of_the_models_with_probabilities():
    assert {name for name, _ in LEARNERS} == {
        "linear-descent",
        "linear-discriminant",
        "logistic-regression",
        "quadratic-discriminant",
    }


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize(("name", "options"), LEARNERS)
def test_the_first_class_with_the_greatest_probability_is_predicted(name, options, classes):
    model = fitted(learner_class(name)(**options), classes)
    P = model.predict_proba(ROWS)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(ROWS))
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-14, atol=0)


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize(("name", "options"), LEARNERS)
def test_scores_that_are_equal(name, options):
    model = fitted(learner_class(name)(**options), 2)
    if hasattr(model, "coef_"):
        model.coef_, model.intercept_ = np.array([[1.0, -1.0]]), np.zeros(1)
    rows = np.array([[0.0, 0.0]]) if name == "quadratic-discriminant" else np.array([[0.0, 0.0], [3.0, 3.0]])
    assert not model.decision_function(rows).any()
    assert set(model.predict(rows)) == {"b"}  # a score of zero is on the positive side, in every learner
    assert set(model.classes_[model.predict_proba(rows).argmax(axis=1)]) == {"b"}
    np.testing.assert_allclose(model.predict_proba(rows), 0.5, rtol=1e-15)
    if "boundary" in model.get_params():
        for boundary, label in (("negative", "a"), ("positive", "b")):
            model.set_params(boundary=boundary)
            assert set(model.predict(rows)) == {label}
            assert set(model.classes_[model.predict_proba(rows).argmax(axis=1)]) == {label}


@pytest.mark.parametrize("learner", [sx.LogisticRegression(C=1.0), sx.LogisticRegression(C=1.0, multiclass="ovr")])
def test_saturated_probabilities_of_many_classes(learner):
    model = fitted(learner, 4)
    model.coef_ = np.array([[1.0, 0.0], [1.0, 2.0**-40], [0.5, 0.0], [1.0, 0.0]])
    model.intercept_ = np.zeros(4)
    rows = np.array([[1e3, 1.0], [1e3, 0.0], [50.0, 1e-3], [1e-17, 0.0]])
    P = model.predict_proba(rows)
    assert np.array_equal(model.classes_[P.argmax(axis=1)], model.predict(rows))
    assert list(model.predict(rows[:2])) == ["b", "a"]

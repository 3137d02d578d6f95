"""Predict, reveal, update: before the first row a learner answers by the rule sign(0) = +1."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
)
from separatrix.errors import DataError

SIX = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
SIGNS = [-1, 1, 1, -1, -1, 1]
LEARNERS = [
    AROW, AveragedPerceptron, KernelPerceptron, MarginPerceptron, PassiveAggressive, Perceptron, VotedPerceptron
]  # fmt: skip


def test_the_worked_example_makes_its_first_mistake_at_row_0():
    model = Perceptron.recipe("online")
    wrong, path = [], []
    for i, (x, label) in enumerate(zip(SIX, SIGNS, strict=True)):
        if model.predict_one(x, classes=[-1, 1]) != label:
            wrong.append(i)
        model.learn_one(x, label, classes=[-1, 1])
        path.append(model.coef_[0].tolist())
        assert model.mistakes_ == len(wrong)
    assert wrong == [0, 2, 4]
    assert path == [[1, -2], [1, -2], [2, -1], [2, -1], [3, 1], [3, 1]]
    fitted = Perceptron.recipe("online").fit(SIX, SIGNS)
    assert model.coef_.tobytes() == fitted.coef_.tobytes()


@pytest.mark.parametrize("learner", LEARNERS)
def test_before_the_first_row(learner):
    model = learner()
    assert model.predict_one([1.0, 2.0]) is None
    assert model.predict_one([1.0, 2.0], classes=["no", "yes"]) == "yes"
    assert model.predict_one([1.0, 2.0], classes=["c", "a", "b"]) == "a"
    assert learner(boundary="negative").predict_one([1.0, 2.0], classes=["no", "yes"]) == "no"
    assert learner(boundary="undefined").predict_one([1.0, 2.0], classes=["no", "yes"]) is None
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(DataError, match="NaN at row 0"):
        model.predict_one([np.nan, 2.0], classes=["no", "yes"])


@pytest.mark.parametrize("start", ["ones", "random", [0.5, -2.0], [0.5, -2.0, 0.25]])
def test_the_guess_is_that_of_the_start(start):
    x = np.array([1.0, 0.3])
    model = Perceptron(start=start, random_state=7)
    guess = model.predict_one(x, classes=[0, 1])
    begun = Perceptron(start=start, random_state=7).learn_one([0.0, 0.0], 1, sample_weight=1e-300, classes=[0, 1])
    assert guess == begun.predict_one(x)
    assert model.predict_one(x.tolist(), classes=[0, 1]) == guess


def test_dicts_before_the_first_row():
    assert Perceptron().predict_one({"a": 1.0}, classes=[0, 1]) == 1
    assert Perceptron(hashing=16, start="ones").predict_one({"a": -3.0}, classes=[0, 1]) == 0
    model = Perceptron().learn_one({"a": 1.0}, 0, classes=[0, 1])
    assert (model.mistakes_, model.predict_one({"a": 1.0})) == (1, 0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_declared_classes_are_those_of_partial_fit(learner):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.choice(["a", "b", "c"], size=30)
    single, whole = learner(), learner().partial_fit(X, y, classes=["a", "b", "c"])
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label, classes=["a", "b", "c"])
    assert np.array_equal(single.decision_function(X), whole.decision_function(X))
    assert single.classes_.tolist() == ["a", "b", "c"]
    with pytest.raises(DataError, match="is not one of"):
        single.learn_one(X[0], "z")
    with pytest.raises(DataError, match="not the same as on the last call"):
        single.learn_one(X[0], "a", classes=["a", "b"])

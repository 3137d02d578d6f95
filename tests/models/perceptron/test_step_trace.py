"""A step trace shows every look of a run, and ends at the weights of the fit, to the bit."""

from __future__ import annotations

import doctest
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    LogisticRegression,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
)
from separatrix.errors import DataError, ParameterError, SeparatrixWarning
from separatrix.models.perceptron import step_tables as module
from separatrix.models.perceptron import step_trace

SIX = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
SIGNS = np.array([-1, 1, 1, -1, -1, 1])


@pytest.fixture
def data():
    rng = np.random.default_rng(8)
    return np.round(rng.normal(size=(40, 3)), 1), rng.choice(["a", "b"], size=40)


def fitted(learner, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        return learner.fit(*data, **more)


def test_the_worked_example_row_by_row():
    steps = step_trace(Perceptron.recipe("online"), SIX, SIGNS)
    assert steps.row.tolist() == [0, 1, 2, 3, 4, 5]
    assert steps.row[steps.mistake].tolist() == [0, 2, 4]
    assert steps.coef[steps.mistake].tolist() == [[1, -2], [2, -1], [3, 1]]
    assert steps.predicted.tolist() == [1, 1, -1, -1, 1, 1]
    assert steps.complete


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "restart", "any", "worst"])
@pytest.mark.parametrize("normalize_rows", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_it_ends_at_the_weights_of_the_fit(data, order, normalize_rows, container):
    X, y = data
    X = container(X)
    learner = Perceptron(
        order=order, normalize_rows=normalize_rows, start="random", max_iter=9, max_updates=77, random_state=5
    )
    steps = step_trace(learner, X, y, max_steps=10**6)
    model = fitted(learner, X, y)
    assert steps.complete
    assert steps.coef[-1].tobytes() == model.coef_[0].tobytes()
    assert steps.intercept[-1] == model.intercept_[0]
    assert int(steps.update.sum()) == model.mistakes_
    assert steps.visits == model.visits_
    assert steps.status is model.status_
    if order in ("cyclic", "shuffle", "restart"):
        assert len(steps) == model.visits_


@pytest.mark.parametrize(
    "learner",
    [
        AROW(max_iter=4),
        MarginPerceptron(max_iter=4),
        PassiveAggressive(max_iter=4),
        Perceptron(order="cyclic", stop="streak"),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_other_rules_end_at_the_weights_of_their_fit(data, learner):
    X, y = data
    steps = step_trace(learner, X, y, max_steps=10**6)
    model = fitted(learner, X, y)
    assert steps.coef[-1].tobytes() == model.coef_[0].tobytes()
    assert len(steps) == model.visits_
    assert int(steps.update.sum()) == model.mistakes_
    assert not (steps.mistake & ~steps.update).any()


def test_the_vector_that_moves_where_the_model_is_another(data):
    X, y = data
    for learner in (AveragedPerceptron(max_iter=3), VotedPerceptron(max_iter=3), PocketPerceptron(max_iter=3)):
        steps = step_trace(learner, X, y)
        plain = fitted(Perceptron(order="shuffle", random_state=0, max_iter=3), X, y)
        assert steps.coef[-1].tobytes() == plain.coef_[0].tobytes()
    voted = fitted(VotedPerceptron(max_iter=3), X, y)
    assert voted.vectors_[0][-1, :-1].tobytes() == steps.coef[-1].tobytes()


def test_each_look_is_the_arithmetic_of_the_rule(data):
    X, y = data
    steps = step_trace(Perceptron(max_iter=3), X, y)
    w, b = np.zeros(3), 0.0
    for step in steps:
        s = float(w @ X[step.row] + b)
        sign = 1.0 if step.label == "b" else -1.0
        assert step.score == pytest.approx(s, abs=1e-12)
        assert step.label == y[step.row]
        assert step.predicted == ("b" if step.score >= 0 else "a")
        assert step.mistake == (sign * step.score <= 0) == step.update
        if step.update:
            w, b = w + sign * X[step.row], b + sign
        assert np.allclose(step.coef, w)
        assert step.intercept == b


def test_weights_of_rows_and_classes(data):
    X, y = data
    weight = np.where(np.arange(40) % 5 == 0, 0.0, 1.5)
    learner = Perceptron(order="shuffle", random_state=2, class_weight={"a": 2.0}, max_iter=5)
    steps = step_trace(learner, X, y, sample_weight=weight)
    model = fitted(learner, X, y, sample_weight=weight)
    assert steps.coef[-1].tobytes() == model.coef_[0].tobytes()
    assert not np.isin(steps.row, np.flatnonzero(weight == 0)).any()


def test_one_class_of_three():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 3
    learner = Perceptron(max_iter=4, random_state=1, order="shuffle")
    model = fitted(learner, X, y)
    steps = step_trace(learner, X, y, positive=1)
    assert steps.coef[-1].tobytes() == model.coef_[1].tobytes()
    assert set(steps.label.tolist()) == {1, "not 1"}
    with pytest.raises(DataError, match=r"y has 3 classes, each with a vector of its own: choose one with positive="):
        step_trace(learner, X, y)
    with pytest.raises(ParameterError, match="positive is 7, which is not a class"):
        step_trace(learner, X, y, positive=7)


def test_what_is_kept_and_printed():
    steps = step_trace(Perceptron(order="cyclic"), SIX, SIGNS, max_steps=3)
    assert (len(steps), steps.complete, steps.visits) == (3, False, 12)
    assert "the first 3 of 12 looks" in str(steps)
    assert list(steps.to_dict()) == [
        "step", "epoch", "row", "label", "score", "predicted", "mistake", "update", "w0", "w1", "b"
    ]  # fmt: skip
    assert steps.to_frame()["w0"].tolist() == [1, 2, 3]
    wide = step_trace(Perceptron(order="cyclic", max_iter=1), np.eye(30), np.arange(30) % 2)
    assert "…" in next(line for line in wide.lines() if "yes" in line)
    moved = step_trace(PassiveAggressive(max_iter=4), np.random.default_rng(8).normal(size=(40, 3)), np.arange(40) % 2)
    assert "update" in next(moved.lines())
    still = step_trace(Perceptron(order="worst", start=[1.0, 0.0]), SIX, SIGNS)
    assert len(still) == 0
    assert "0 updates in 0 looks" in str(still)


def test_what_it_refuses():
    for learner in (LogisticRegression(), KernelPerceptron()):
        with pytest.raises(ParameterError, match="keeps no weights w that move row by row"):
            step_trace(learner, SIX, SIGNS)
    with pytest.raises(ParameterError, match="needs multiclass='ovr'"):
        step_trace(Perceptron(multiclass="kesler"), SIX, SIGNS)
    with pytest.raises(ParameterError, match="max_steps is 0"):
        step_trace(Perceptron(), SIX, SIGNS, max_steps=0)
    with pytest.raises(DataError, match="one class only"):
        step_trace(Perceptron(), SIX, np.ones(6))


def test_the_learner_is_not_changed():
    learner = Perceptron(random_state=3, order="shuffle")
    before = learner.get_params()
    step_trace(learner, SIX, SIGNS)
    assert learner.get_params() == before
    assert not hasattr(learner, "coef_")


def test_the_example_of_the_docstring():
    assert doctest.testmod(module).failed == 0

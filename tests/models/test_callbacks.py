"""scikit-learn's callbacks: every task begins and ends, steps are those of the solver, searches hand them on."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.models.registry import homes

pytest.importorskip("sklearn.callback")

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 3)), RNG.integers(0, 2, 40)


class Recorder:
    """What a fit tells, in order."""

    max_propagation_depth = None

    def __init__(self):
        self.told = []

    def setup(self, estimator, context):
        self.told.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.told.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.told.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "fit" and fitted_estimator is not None:
            fitted_estimator.predict(np.zeros((1, 3)))
        self.told.append(("end", context.task_name))

    def steps(self):
        return self.told.count(("end", "step"))


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("name", sorted(homes()))
def test_every_learner_tells_its_fit(name):
    recorder = Recorder()
    seeded = {"random_state": 0} if "random_state" in getattr(sx, name)().get_params() else {}
    learner = getattr(sx, name)(**seeded)
    assert learner.set_callbacks(recorder) is learner
    learner.fit(X, Y)
    assert recorder.told[:2] == [("setup", "fit"), ("begin", "fit")]
    assert recorder.told[-2:] == [("end", "fit"), ("teardown", "fit")]
    inside = recorder.told[2:-2]
    assert inside == [("begin", "step"), ("end", "step")] * recorder.steps()
    plain = getattr(sx, name)(**seeded).fit(X, Y)
    assert plain.predict(X).tolist() == learner.predict(X).tolist()


def test_steps_are_those_of_the_solver():
    passes, newton = Recorder(), Recorder()
    perceptron = sx.Perceptron(max_iter=7).set_callbacks(passes)
    with pytest.warns(sx.errors.IterationWarning):
        perceptron.fit(X, Y)
    assert passes.steps() == perceptron.n_iter_ == 7
    sx.LogisticRegression(C=1.0).set_callbacks(newton).fit(X, Y)
    assert newton.steps() >= 1
    count = newton.steps()
    sx.LogisticRegression(C=1.0).fit(X, Y)
    assert newton.steps() == count


def test_searches_and_pipelines_hand_callbacks_on():
    from sklearn.model_selection import GridSearchCV

    recorder = Recorder()
    search = GridSearchCV(sx.LogisticRegression(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(recorder)
    search.fit(X, Y)
    assert recorder.steps() >= 2 * 2 + 1
    assert recorder.told.count(("setup", "fit")) == 1


def test_a_fit_that_fails_tears_down():
    recorder = Recorder()
    learner = sx.Perceptron().set_callbacks(recorder)
    with pytest.raises(sx.errors.DataError):
        learner.fit(X * np.nan, Y)
    assert recorder.told[-1] == ("teardown", "fit")
    learner.set_callbacks().fit(X[:2], [0, 1])
    assert recorder.told[-1] == ("teardown", "fit")
    with pytest.raises(TypeError, match="FitCallback"):
        learner.set_callbacks("progress")

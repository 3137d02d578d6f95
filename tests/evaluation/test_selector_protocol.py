"""``Selector`` beside scikit-learn's GridSearchCV: methods before fit, nested parameters, routing, names, errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import separatrix as sx
from separatrix.errors import FoldError, NotFittedError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "transform", "score", "classes_")
LEARNERS = [LogisticRegression(), LinearSVC(), Ridge()]
LEARNERS += [sx.LogisticRegression(C=1.0), sx.AROW(), sx.LinearDiscriminant()]


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: f"{type(learner).__module__.split('.')[0]} {learner}")
def test_methods_are_there_when_grid_search_has_them(learner):
    ours, theirs = sx.Selector(learner, random_state=0), GridSearchCV(learner, {})
    y = X[:, 1] if isinstance(learner, Ridge) else Y
    for _ in range(2):  # before fit, and after
        for name in METHODS:
            assert hasattr(ours, name) == hasattr(theirs, name), name
        for name in ("n_features_in_", "feature_names_in_"):
            assert hasattr(ours, name) == hasattr(theirs, name), name
        ours.fit(X, y)
        theirs.fit(X, y)


def test_methods_before_fit_say_that_it_is_not_fitted():
    selector = sx.Selector(LogisticRegression())
    for name in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(selector, name)(X)
    with pytest.raises(NotFittedError):
        selector.score(X, Y)
    several = sx.Selector({"a": LogisticRegression(), "b": LinearSVC()})
    assert not hasattr(several, "predict_proba")
    assert hasattr(several, "decision_function")


def test_nested_parameters():
    selector = sx.Selector(make_pipeline(StandardScaler(), LogisticRegression()), folds=3)
    assert selector.get_params()["learner__logisticregression__C"] == 1.0
    assert "learner__logisticregression__C" not in selector.get_params(deep=False)
    selector.set_params(learner__logisticregression__C=7.0, folds=4)
    assert selector.learner[-1].C == 7.0
    assert selector.folds == 4
    assert clone(selector).get_params()["learner__logisticregression__C"] == 7.0
    selector.set_params(learner=LogisticRegression(), learner__C=3.0)
    assert selector.learner.C == 3.0
    with pytest.raises(ValueError, match="nothing"):
        selector.set_params(learner__nothing=1)
    with pytest.raises(ParameterError, match="nothing"):
        selector.set_params(nothing=1)
    with pytest.raises(ParameterError, match="needs one learner"):
        sx.Selector({"a": LogisticRegression()}).set_params(learner__C=1)
    outer = GridSearchCV(sx.Selector(Ridge(), random_state=0), {"learner__alpha": [1e-3, 1e3]}, cv=3).fit(X, X[:, 1])
    assert outer.best_params_ == {"learner__alpha": 1e-3}


def test_names_of_features_pass_through():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    selector = sx.Selector(LogisticRegression(), {"C": [0.1, 1.0]}, random_state=0).fit(frame, Y)
    assert selector.feature_names_in_.tolist() == ["a", "b", "c"]
    assert selector.n_features_in_ == 3
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(frame[["c", "b", "a"]])
    with pytest.raises(ValueError, match="feature names"):
        selector.predict(frame[["a", "b"]])


def test_groups_are_routed():
    groups = np.arange(60) // 6
    with sklearn.config_context(enable_metadata_routing=True):
        selector = sx.Selector(LogisticRegression(), {"C": [0.1, 1.0]}, folds=GroupKFold(3), random_state=0)
        selector.set_fit_request(groups=True)
        assert selector.get_metadata_routing().fit.requests["groups"] is True
        found = cross_validate(selector, X, Y, cv=GroupKFold(4), params={"groups": groups}, error_score="raise")
    assert len(found["test_score"]) == 4


def test_what_cannot_be_learned_is_a_value_error():
    broken = X.copy()
    broken[3, 1] = np.nan
    for learner in (LogisticRegression(), sx.Perceptron()):
        with pytest.raises(ValueError, match=r"NaN|nan"):
            sx.Selector(learner, random_state=0).fit(broken, Y)
    with pytest.raises(FoldError) as failed:
        sx.Selector(LogisticRegression(C=-1.0), random_state=0).fit(X, Y)
    assert isinstance(failed.value, ValueError)

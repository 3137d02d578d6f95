"""Curves and paired tests agree with scikit-learn and scipy, which are not imported for them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.metrics import precision_recall_curve, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.evaluation.curves import counts_above
from separatrix.evaluation.intervals import mcnemar, paired
from separatrix.evaluation.predictions import is_regressor
from separatrix.models.registry import learner_class, learner_names
from separatrix.protocol import unfitted_copy


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_at_every_threshold_with_ties(weighted):
    rng = np.random.default_rng(0)
    positive, ranking = rng.random(200) < 0.3, rng.integers(0, 30, 200) / 7
    weights = rng.integers(0, 3, 200).astype(float) if weighted else None
    thresholds, hits, alarms = counts_above(positive, ranking, weights)
    fpr, tpr, theirs = roc_curve(positive, ranking, sample_weight=weights, drop_intermediate=False)
    assert thresholds.tolist() == theirs[1:].tolist()
    assert hits / hits[-1] == pytest.approx(tpr[1:], abs=1e-15)
    assert alarms / alarms[-1] == pytest.approx(fpr[1:], abs=1e-15)
    precision, recall, _ = precision_recall_curve(positive, ranking, sample_weight=weights)
    assert hits / (hits + alarms) == pytest.approx(precision[-2::-1], abs=1e-15)
    assert hits / hits[-1] == pytest.approx(recall[-2::-1], abs=1e-15)


def test_paired_tests_are_those_of_scipy():
    gaps = np.array([0.02, 0.05, -0.01, 0.03, 0.04])
    found, p = paired(gaps, 0.25, 0.95)
    error = gaps.std(ddof=1) * np.sqrt(0.2 + 0.25)
    assert p == pytest.approx(2 * stats.t.sf(gaps.mean() / error, 4), rel=1e-12)
    assert found.high == pytest.approx(gaps.mean() + stats.t.ppf(0.975, 4) * error, rel=1e-12)
    for b, c in ((0, 0), (0, 7), (3, 3), (4, 11)):
        first = np.array([True] * b + [False] * c, dtype=bool)
        expected = stats.binomtest(b, b + c).pvalue if b + c else 1.0
        assert mcnemar(first, ~first).p == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", sorted(learner_names()))
def test_copies_have_the_parameters_of_scikit_learns_clones(name):
    made = learner_class(name)()
    copy = unfitted_copy(made)
    assert type(copy) is type(made)
    assert repr(copy.get_params()) == repr(clone(made).get_params())
    assert not hasattr(copy, "n_features_in_")


def test_copies_of_pipelines_and_of_estimators_that_hold_others_are_scikit_learns():
    pipeline = make_pipeline(StandardScaler(), sx.Perceptron(max_iter=3))
    copy = unfitted_copy(pipeline)
    assert copy is not pipeline
    assert copy[-1] is not pipeline[-1]
    assert copy[-1].max_iter == 3
    held = sx.Selector(pipeline, {"perceptron__max_iter": [1, 2]})
    assert unfitted_copy(held).learner is not pipeline
    with config_context(enable_metadata_routing=True):
        routed = unfitted_copy(sx.Perceptron().set_fit_request(sample_weight=True))
    assert routed.get_metadata_routing().fit.requests["sample_weight"] is True


def test_whether_a_learner_predicts_numbers_is_read_from_it():
    assert is_regressor(sx.LeastSquares())
    assert not is_regressor(sx.LinearDiscriminant())
    assert is_regressor(sx.LinearDescent(loss="squared_error"))
    assert is_regressor(make_pipeline(StandardScaler(), sx.LeastSquares()))

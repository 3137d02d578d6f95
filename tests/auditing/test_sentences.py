"""Sentences that were false or contradicted the line beside them, each made of facts by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import separatrix
from separatrix.auditing import efficiency_answer, hyperplane_answers, prediction_answers, recommendation
from separatrix.auditing.efficiency_answer import AlgorithmFacts
from separatrix.auditing.facts import ClassCount, Contradictions, Excerpt, TableFacts
from separatrix.auditing.hyperplane_answers import (
    BestFacts,
    ClassVerdict,
    CoefficientFates,
    InfiniteCoefficient,
    SeparationFacts,
)
from separatrix.auditing.inputs import SplitRule
from separatrix.auditing.paired_tests import against_constant
from separatrix.auditing.phrasing import EstimateFacts, with_interval
from separatrix.auditing.prediction_answers import AlarmFacts
from separatrix.errors import DataError
from separatrix.evaluation.cross_validation import cross_validate
from separatrix.protocol import Estimator


def test_the_end_of_an_interval_may_be_rounded_to_one_and_the_value_not():
    assert with_interval(0.978304458, 0.946577193, 0.9999999999) == "0.978 [0.947, 1.000]"
    assert with_interval(0.9997, 0.99, 1.0) == "0.9997 [0.9900, 1.0000]"


def test_the_intercept_has_no_odds_ratio_and_several_have_their_estimates():
    infinite = [InfiniteCoefficient("a1", "+inf"), InfiniteCoefficient("intercept", "-inf")]
    best = BestFacts(None, None, CoefficientFates(False, {}, infinite), [], None)
    assert recommendation._about_hyperplane(None, best) == [
        "Do not report the odds ratio of 'a1' as a number: its estimate is infinite."
    ]
    infinite.append(InfiniteCoefficient("b", "+inf"))
    assert recommendation._about_hyperplane(None, best) == [
        "Do not report the odds ratios of 'a1' and 'b' as a number: their estimates are infinite."
    ]


def test_classes_that_were_not_decided_are_not_counted_as_inseparable():
    classes = [ClassVerdict("a", 5, "overlap", [1], 0), *(ClassVerdict(c, 5, "undecided", [], 0) for c in "bc")]
    facts = SeparationFacts(
        "overlap", [1], "a", Excerpt([], []), None, None, None, classes, False, Contradictions(0, 0, 0, []), None, []
    )
    counts = [ClassCount(c, 5) for c in "abc"]
    table = TableFacts("t", 15, 2, 2, "y", "multiclass", counts, None, None, [], [], None, 0, 0.95, 60.0)
    assert hyperplane_answers.separation(facts, table).lines[0] == (
        "One against the rest: 0 of 1 class can be separated by one hyperplane (proved); 2 other classes not decided."
    )


def test_what_was_not_timed_is_not_called_efficient():
    answer = efficiency_answer.algorithm(AlgorithmFacts({}, {}, [], None, None, None), None, "ridge")
    assert (answer.answer, answer.badge) == ("Not measured within the time budget", "open")


class Contrary(Estimator):
    """Predicts the rarer class of the training rows for every row."""

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.label_ = self.classes_[counts.argmin()]
        self.n_features_in_ = 1
        return self

    def predict(self, X):
        return np.full(len(X), self.label_)


def test_a_learner_that_is_shown_to_be_worse_is_no_evidence_of_a_better_one():
    y = np.repeat([0, 1], [300, 100])
    run = cross_validate(Contrary(), np.zeros((400, 1)), y, folds=5)
    table = SimpleNamespace(
        regression=False, task=SimpleNamespace(y=y), codes=y, classes=np.array([0, 1]), split_rule=SplitRule()
    )
    (test,) = against_constant(table, np.arange(400), {"contrary": run}, "accuracy", 1, 0.95)
    assert not test.better
    assert test.holm == 1.0


def test_the_last_column_is_among_those_that_may_be_the_target():
    table = {f"c{j}": np.arange(4.0) for j in range(12)} | {"fraud": np.array([0, 1, 0, 1])}
    with pytest.raises(DataError, match=r"Columns: c0, c1, c2, c3, c4, c5, c6, …, fraud\."):
        separatrix.audit(table)


def test_counts_of_found_rows_are_written_like_other_counts():
    found = AlarmFacts("1", 0.5, 1011, 2092, EstimateFacts(0.483, 0.46, 0.5))
    assert prediction_answers._alarms(found).startswith(
        "When 50.0% of the alarms for '1' are correct, 1,011 of 2,092 such rows are found"
    )

"""Estimates and advice on generated tables, held against what is true of them."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix


def audit_of(X, y, tmp_path, **options):
    columns = {f"x{j}": X[:, j].round(4) for j in range(X.shape[1])} | {"y": y}
    return separatrix.audit(columns, "y", ledger=tmp_path / "ledger", **options)


def rare(n, share, shift, seed, d=8):
    """A rare class that a few columns shift."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    X = rng.normal(size=(n, d))
    X[:, :4] += shift * y[:, None]
    return X, y


@pytest.mark.parametrize(
    ("n", "budget"), [(60_000, 3), pytest.param(400_000, 10, marks=pytest.mark.slow, id="400,000 rows")]
)
def test_estimates_of_a_rare_class_agree_with_held_out_rows_where_learners_saw_a_sample(tmp_path, n, budget):
    facts = audit_of(*rare(n, 0.007, 0.8, 0), tmp_path, budget=budget).facts.prediction
    assert facts.sampled
    in_folds, held_out = facts.estimate, facts.test.estimates["average_precision"]
    half = (in_folds.high - in_folds.low + held_out.high - held_out.low) / 2
    assert abs(in_folds.value - held_out.value) < half
    everything = audit_of(*rare(n, 0.007, 0.8, 0), tmp_path, budget=60 * n / 60_000).facts.prediction
    assert not everything.sampled
    assert in_folds.value == pytest.approx(everything.estimate.value, rel=0.1)
    assert facts.alarms.of == pytest.approx(0.8 * 0.007 * n, rel=0.15)  # of all rows that were not held out


def test_noise_with_a_rare_class_is_noise_where_learners_saw_a_sample(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(60_000) < 24).astype(int)
    found = audit_of(rng.normal(size=(60_000, 8)), y, tmp_path, budget=3)
    facts = found.facts.prediction
    assert facts.sampled
    assert facts.estimate.value < 0.005
    assert found.facts.recommendation.learner is None


@pytest.mark.slow
def test_noise_is_rarely_called_a_signal(tmp_path):
    """Both kinds of tests, each at 5% over all learners: of 80 tables of noise at most 15% are expected to pass."""
    called = []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        y = (rng.random(120) < (0.5 if seed % 2 else 0.12)).astype(int)
        facts = audit_of(rng.normal(size=(120, 3)), y, tmp_path, budget=3).facts.prediction
        called.append(facts.better or facts.ranks)
    assert np.mean(called) <= 0.15


def test_a_learner_whose_interval_lies_above_the_most_common_class_is_recommended(tmp_path):
    """A clear signal in 300 rows of noise columns: the choice is among the learners that are shown to be better."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 7))
    y = np.where(X @ np.r_[1.2, -0.9, np.zeros(5)] + rng.logistic(size=300) > 0, "sick", "well")
    found = audit_of(X, y, tmp_path, budget=4)
    facts = found.facts.prediction
    assert facts.better
    shown = {test.learner for test in facts.by_metric if test.better}
    assert found.facts.recommendation.learner in shown
    assert "shown" not in found.answers["prediction"].answer


def test_worse_is_said_of_learners_that_are_shown_to_be_worse_alone(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=400) > 0, "in", "out")
    found = audit_of(X, y, tmp_path)
    facts, why = found.facts.prediction, found.facts.recommendation.why
    assert facts.chosen == "ridge logistic on poly:2"
    worse = why.split("worse: ")[1]
    for pair in facts.pairs:
        if facts.chosen in (pair.first, pair.second):
            rival = pair.first if pair.second == facts.chosen else pair.second
            clear = not pair.difference.low <= 0 <= pair.difference.high
            assert (rival in worse.replace(" and ", ", ").rstrip(".").split(", ")) == clear, rival


def test_what_failed_is_said_with_its_reason_and_not_as_a_matter_of_time(tmp_path, monkeypatch):
    from separatrix import LinearDiscriminant
    from separatrix.errors import DataError

    def refuse(self, X, y, sample_weight=None):
        raise DataError("the covariance of class 'in' is singular.")

    monkeypatch.setattr(LinearDiscriminant, "fit", refuse)
    monkeypatch.setattr(LinearDiscriminant, "_fit_moments", refuse, raising=False)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, "in", "out")
    cautions = audit_of(X, y, tmp_path).facts.recommendation.cautions
    (said,) = [text for text in cautions if "inear discriminant" in text]
    assert "the covariance of class 'in' is singular" in said
    assert "budget" not in said


@pytest.mark.parametrize(("columns", "offered"), [(60, True), (400, False)])
def test_firths_estimate_is_offered_for_many_coefficients_and_a_reason_is_given_where_not(tmp_path, columns, offered):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(450, columns))
    found = audit_of(X, np.where(X @ rng.normal(size=columns) > 0, "in", "out"), tmp_path, budget=5)
    left = {omission.what: omission.why for omission in found.facts.left_out}
    assert "not finite: proved" in left["unpenalised logistic regression"]
    assert ("logistic (Firth)" in {own.name for own in found.facts.prediction.learners}) == offered
    if not offered:
        why = left["logistic regression with Firth's correction"]
        assert why == "400 coefficients have fewer than 5 rows each"

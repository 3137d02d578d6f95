"""The time budget, with a clock that the test moves: no result depends on how fast the machine is."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from separatrix.auditing import audit, learner_choice, prediction, separation
from separatrix.auditing.audit import _keep_fit
from separatrix.auditing.audit_table import encode_table
from separatrix.auditing.budget import REPORT, AuditPlan, Clock, Session
from separatrix.auditing.candidate_learners import FullFits, candidates
from separatrix.auditing.efficiency import perceptron_runs
from separatrix.auditing.fitted_hyperplanes import FittedLearners
from separatrix.auditing.inputs import SplitRule, task_for_audit
from separatrix.auditing.minimum_mistakes import bracket_mistakes
from separatrix.features.encoder import Choices
from separatrix.models.logistic.logistic_regression import LogisticRegression


class Hand:
    """The hand of a clock, moved by the test."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)).round(3)
    y = np.where(X @ [1.0, -1.0, 0.5] + rng.normal(size=4000) > 0, "yes", "no")
    columns = {f"x{j}": X[:, j] for j in range(3)} | {"y": y}
    task = task_for_audit(columns, "y", None, None)
    return encode_table(task, Choices((), (), (), (), words="tfidf"), (), SplitRule())


def session_of(table, clock):
    plan = AuditPlan.for_table(table.n, table.d, table.cells, table.score_vectors, clock.allowed)
    return Session(clock, plan, 0, 0.95)


def test_steps_have_a_quarter_of_the_budget_after_a_slow_read(hand):
    clock = Clock(20.0, now=hand)
    hand.at += 14.0
    assert clock.late(0.79)  # of the seconds without the report, by the clock alone
    clock.start_steps()
    assert clock.budget == 19.0
    assert clock.left == 5.0
    assert not clock.late(0.1)
    assert clock.part(0.3) == pytest.approx(1.5)
    hand.at += 3.0
    assert clock.late(0.5)
    assert clock.budget + REPORT <= 1.2 * 20.0


def test_a_smaller_budget_fits_learners_on_fewer_rows():
    rows = [AuditPlan.for_table(10**6, 20, 2 * 10**7, 1, allowed).comparison_rows for allowed in (60.0, 30.0, 10.0)]
    assert rows[0] > rows[1] > rows[2] >= 2000


def test_a_small_budget_still_tries_feature_maps_on_few_rows(table, hand):
    rows = np.arange(300)
    columns = {name: table.X[rows, j] for j, name in enumerate(table.names)} | {"y": table.task.y[rows]}
    task = task_for_audit(columns, "y", None, None)
    small = encode_table(task, Choices((), (), (), (), words="tfidf"), (), SplitRule())
    listed = candidates(small, session_of(small, Clock(1.0, now=hand)), "overlap")
    assert {"ridge logistic on poly:2", "ridge logistic on splines"} <= {own.name for own in listed}


def slow_fits(monkeypatch, hand, seconds):
    """Each fit of ridge logistic regression moves the hand by so many seconds for each row."""
    fit, sizes = LogisticRegression.fit, []

    def slow(self, X, y, *more, **options):
        sizes.append(len(y))
        hand.at += seconds * len(y)
        return fit(self, X, y, *more, **options)

    monkeypatch.setattr(LogisticRegression, "fit", slow)
    return sizes


def estimated(table, clock, folder):
    session = session_of(table, clock)
    listed = [own for own in candidates(table, session, "overlap") if own.name in ("ridge logistic", "logistic")]
    return session, prediction.estimate(table, session, listed, folder / "ledger")


def test_the_first_comparison_is_cut_and_repeated_on_fewer_rows(table, hand, monkeypatch, tmp_path):
    clock = Clock(10.0, now=hand)
    sizes = slow_fits(monkeypatch, hand, 1e-3)  # five folds of 2,560 rows: 13 seconds
    _, predicted = estimated(table, clock, tmp_path)
    assert sizes[0] == 2560
    assert sizes[1] < 1000
    facts = predicted.facts
    assert facts.chosen == "ridge logistic"
    assert facts.sampled
    assert facts.rows_learned < 1500
    assert facts.rows_compared == 3200  # every row is predicted all the same
    assert [(own.learner, own.cut) for own in facts.not_compared] == [("logistic", True)]
    reasons = [omission.why for omission in clock.omissions if omission.what == "a comparison on the planned rows"]
    assert "the clock cut it" in reasons[0]
    assert clock.spent < 1.2 * clock.allowed


def test_a_fast_comparison_uses_all_rows(table, hand, tmp_path):
    _, predicted = estimated(table, Clock(10.0, now=hand), tmp_path)
    assert not predicted.facts.sampled
    assert predicted.facts.rows_compared == 3200
    assert predicted.learned_from == 3200
    assert len(predicted.facts.learners) == 2


def test_few_rows_are_never_cut(hand, monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=60), "y": np.arange(60) % 2}
    task = task_for_audit(columns, "y", None, None)
    small = encode_table(task, Choices((), (), (), (), words="tfidf"), (), SplitRule())
    slow_fits(monkeypatch, hand, 1.0)
    _, predicted = estimated(small, Clock(10.0, now=hand), tmp_path)
    assert [own.name for own in predicted.facts.learners] == ["ridge logistic"]


def test_without_time_the_fit_on_the_training_rows_is_kept(table, hand, tmp_path):
    clock = Clock(10.0, now=hand)
    session, predicted = estimated(table, clock, tmp_path)
    fits = FullFits(table)
    _keep_fit(session, fits, predicted)
    assert not fits.done
    hand.at += 9.0
    _keep_fit(session, fits, predicted)
    assert fits.of(predicted.chosen)[0] is predicted.model
    assert clock.omissions[-1].why.startswith("the model is the one that was fitted on 3,200 training rows")


def test_without_time_nothing_more_is_begun(table, hand):
    clock = Clock(10.0, now=hand)
    session = session_of(table, clock)
    hand.at += 9.0
    nothing = SimpleNamespace(margin=None, standardised=None)
    assert perceptron_runs(table, session, nothing, False) == (None, None)
    assert clock.omissions[-1].what == "the perceptron's run"
    with pytest.raises(learner_choice.OutOfTime, match="the clock ended"):
        learner_choice._until(session, clock.spent - 1)


def test_a_kept_fit_may_have_fewer_columns_than_the_table(monkeypatch, tmp_path):
    """Words that occur in the test rows alone have no coefficient in a model of the training rows."""

    def kept(session, fits, predicted):
        fits.done[predicted.chosen.name] = predicted.model, predicted.seconds

    monkeypatch.setattr(audit, "_keep_fit", kept)
    rng = np.random.default_rng(0)
    words = [f"word{k % 80} {'good' if k % 3 else 'bad'} {'fine' if k % 2 else 'dull'} text" for k in range(240)]
    columns = {"x": rng.normal(size=240), "said": words, "y": [int(k % 3 > 0) for k in range(240)]}
    found = audit.audit(columns, "y", text=("said",), ledger=tmp_path / "ledger")
    drawn = found.facts.pictures.coefficients
    assert 0 < drawn.of < found.facts.table.features
    assert any("good" in row.name for row in drawn.features)


def test_disjoint_witnesses_have_time_of_their_own_when_all_is_spent(hand, table):
    """A busy machine had "between 1 and 139,345 mistakes" of a table whose equal rows alone cost 137,936."""
    clock = Clock(60.0, now=hand)
    clock.start_steps()
    session = session_of(table, clock)
    decided = separation.decide(table, session)
    hand.at += 300.0
    found = bracket_mistakes(table, session, decided, FittedLearners({}, {}, {}))
    assert found.lower > 100

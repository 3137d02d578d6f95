"""Groups stay together and time runs forward, in folds, in the held-out test rows and in what is said about them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import separatrix
from separatrix.auditing.audit_table import encode_table
from separatrix.auditing.budget import AuditPlan, Clock, Session
from separatrix.auditing.candidate_learners import candidates
from separatrix.auditing.inputs import split_rule_of, task_for_audit
from separatrix.auditing.prediction import estimate
from separatrix.auditing.separation import decide
from separatrix.errors import DataError, ParameterError
from separatrix.features.encoder import Choices


def patients(seed=0, each=6, many=30):
    """Rows of a patient are nearly copies of each other, and labels are the patients' own coins."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(many), each)
    centre = rng.normal(size=(many, 4))
    X = centre[person] + 0.01 * rng.normal(size=(many * each, 4))
    ill = np.where(rng.permutation(many) % 2, "ill", "well")[person]
    shuffled = rng.permutation(len(person))
    names = np.array([f"p{k}" for k in range(many)])[person]
    columns = {f"x{j}": X[shuffled, j] for j in range(4)}
    return {"patient": names[shuffled], **columns, "state": ill[shuffled]}


def verdict(audit, name):
    return {line.name: line.verdict for line in audit.facts.assumptions.lines}.get(name)


def test_groups_stay_together_and_copies_no_longer_help(ledger):
    table = patients()
    at_random = separatrix.audit(table, "state", ledger=ledger, drop=("patient",))
    by_patient = separatrix.audit(table, "state", groups="patient", ledger=ledger)
    near = [own.facts.algorithm.neighbour.estimate.value for own in (at_random, by_patient)]
    assert near[0] > 0.95  # the nearest neighbour finds the patient's other rows
    assert near[1] < 0.75
    rule = by_patient.facts.table.split_rule
    assert (rule.by, rule.column, rule.values) == ("groups", "patient", 30)
    assert by_patient.facts.table.features == 4
    assert verdict(by_patient, "groups") == "holds"
    assert verdict(by_patient, "no groups") is None
    assert "whole groups of 'patient'" in by_patient.answers["prediction"].lines[0]
    assert "patient" not in {row.name for row in by_patient.facts.pictures.coefficients.features}
    passed = separatrix.audit(
        {k: v for k, v in table.items() if k != "patient"}, "state", groups=table["patient"], ledger=ledger
    )
    assert passed.facts.prediction.estimate == by_patient.facts.prediction.estimate


def dealt(table, target, ledger, **ruled):
    """The live comparison, for a look at who was judged by whom."""
    task, rule = split_rule_of(task_for_audit(table, target, None, None), ruled.get("groups"), ruled.get("time"))
    made = encode_table(task, Choices(), (), rule)
    session = Session(Clock(60.0), AuditPlan(made.n, made.d, made.cells, made.score_vectors, 60.0), 0, 0.95)
    return made, estimate(made, session, candidates(made, session, decide(made, session).verdict), ledger).comparison


def test_no_group_is_in_two_folds_or_sealed_and_learned_from(ledger):
    study, found = dealt(patients(), "state", ledger, groups="patient")
    marks = study.split_rule.marks
    for run in found.runs.values():
        homes = [set(marks[found.rows[fold.rows]].tolist()) for fold in run.results]
        assert sum(map(len, homes)) == len(set.union(*homes))
    assert not set(marks[found.rows].tolist()) & set(np.delete(marks, found.rows).tolist())


def drifting(n=240):
    rng = np.random.default_rng(3)
    day = rng.permutation(n)
    x = rng.normal(size=n)
    y = np.where(np.where(day < n // 2, x, -x) + 0.3 * rng.normal(size=n) > 0, "up", "down")
    moments = np.datetime64("2024-01-01") + day.astype("timedelta64[D]")
    return {"when": moments, "x": x, "z": rng.normal(size=n), "y": y}, day


def test_later_rows_are_judged_by_earlier_ones(ledger):
    table, day = drifting()
    study, found = dealt(table, "y", ledger, time="when")
    assert study.inputs == ["x", "z"]
    learned = set(found.rows.tolist())
    sealed = [i for i in range(len(day)) if i not in learned]
    assert day[sealed].min() > day[found.rows].max()
    for run in found.runs.values():
        judged = [day[found.rows[fold.rows]] for fold in run.results]
        assert all(a.max() < b.min() for a, b in pairwise(judged))
    audit = separatrix.audit(table, "y", time="when", ledger=ledger)
    assert verdict(audit, "time") == "holds"
    assert audit.facts.prediction.estimate.value < 0.75  # the law changes half-way; at random it is 0.5
    assert "later rows are predicted from earlier ones" in audit.report()


@pytest.mark.parametrize(
    ("ruled", "error", "says"),
    [
        ({"groups": "patient", "time": "x0"}, ParameterError, "are both given"),
        ({"groups": "patent"}, DataError, "did you mean 'patient'"),
        ({"groups": "state"}, DataError, "which is the target"),
        ({"time": "patient"}, DataError, "has no order in time"),
        ({"groups": np.zeros(180)}, DataError, "has 1 value in 180 rows"),
        ({"groups": np.arange(5)}, DataError, "groups"),
        ({"time": np.where(np.arange(180) == 7, np.nan, 1.0)}, DataError, r"missing in 1 row \(first: row 7"),
        ({"groups": np.zeros((180, 2))}, DataError, "one value a row"),
    ],
)
def test_bad_groups_and_times(ruled, error, says):
    with pytest.raises(error, match=says):
        separatrix.audit(patients(), "state", **ruled)


def test_a_class_that_lives_in_one_group_leaves_no_estimate_but_an_audit(ledger):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 10)
    table = {"g": group, "x": rng.normal(size=60), "y": np.where(group == 2, "a", "b")}
    found = separatrix.audit(table, "y", groups="g", ledger=ledger)
    assert found.answers["prediction"].answer == "Cannot be estimated"
    assert found.answers["separation"].badge == "proved"
    assert "no two folds with every class" in found.answers["prediction"].lines[0]

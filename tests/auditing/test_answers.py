"""The five answers are right about sets whose truth is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import separatrix

CHECKER = Path(separatrix.__file__).with_name("checker.py")


def lines_of(audit, key):
    return " ".join(audit.answers[key].lines)


def verdicts(audit):
    return {line.name: line.verdict for line in audit.facts.assumptions.lines}


def checked(audit, folder):
    """What the stand-alone checker says of the files of an audit, in a process of its own."""
    audit.certified.save(folder)
    command = [sys.executable, "-I", str(CHECKER), str(folder / "certificate.json")]
    done = subprocess.run(
        [*command, str(folder / audit.certified.file_name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_spam_overlaps_and_every_answer_names_its_evidence(audited, tmp_path):
    found = audited("example:spam")
    facts, first = found.facts, found.answers["separation"]
    assert (facts.separation.verdict, first.answer, first.badge) == ("overlap", "No (proved)", "proved")
    assert 2 <= len(facts.separation.witness) <= 6
    assert (facts.best.mistakes.lower, facts.best.mistakes.upper) == (16, 16)
    assert facts.best.mistakes.labelings >= 1
    assert facts.prediction.chosen == "ridge logistic on poly:2"  # the log-odds are not linear in the columns
    assert facts.prediction.within_one_error[0] == facts.prediction.chosen
    assert facts.prediction.estimate.low > 0.85
    assert facts.prediction.test.rows == 80
    told = checked(found, tmp_path)
    assert "overlap" in told
    assert "16" in told


def test_xor_needs_all_four_rows_and_is_too_small_for_estimates(audited, tmp_path):
    found = audited("example:xor")
    assert found.facts.separation.witness == [0, 1, 2, 3]
    assert found.facts.best.mistakes.lower == found.facts.best.mistakes.upper == 1
    assert found.facts.best.mistakes.labelings == 4  # any of the four rows may be the mistake
    assert "It is not unique: 4 different sets of 1 mistake were found" in lines_of(found, "best")
    assert verdicts(found)["linear log-odds"] == "unknown"  # four rows cannot reject anything
    assert found.answers["prediction"].answer == "Cannot be estimated"
    assert "No learner is recommended" in found.facts.recommendation.use
    assert "overlap" in checked(found, tmp_path)


def test_iris_has_three_classes_and_one_that_can_be_separated(audited, tmp_path):
    found = audited("iris.csv", "species")
    parts = {part.label: part.verdict for part in found.facts.separation.classes}
    assert parts == {"setosa": "complete", "versicolor": "overlap", "virginica": "overlap"}
    assert found.facts.prediction.estimate.value > 0.9
    assert {score.label for score in found.facts.prediction.class_scores} == set(parts)
    assert checked(found, tmp_path).count("proved:") == 4


def test_titanic_has_a_leak_that_is_set_aside(audited, tmp_path):
    found = audited("titanic.csv", "survived", budget=20)
    (leak,) = found.facts.table.leaks
    assert (leak.column, leak.set_aside) == ("alive", True)
    assert "With 'alive', set aside as a leak, the table would be separable (proved)" in lines_of(found, "separation")
    assert 0.75 < found.facts.prediction.estimate.value < 0.88
    assert verdicts(found)["no leak"] == "fails"
    assert verdicts(found)["full rank"] == "fails"
    assert any("'alive'" in text for text in found.facts.recommendation.cautions)
    checked(found, tmp_path)


def test_a_leak_can_be_kept_and_is_then_used(audited):
    found = audited("titanic.csv", "survived", keep=("alive",))
    assert found.facts.separation.verdict == "complete"


def test_endometrial_has_one_infinite_coefficient(audited, tmp_path):
    found = audited("endometrial.csv", "HG")
    assert found.facts.separation.verdict == "quasi"
    assert found.facts.separation.strict_rows == 13
    (infinite,) = found.facts.best.coefficients.infinite
    assert (infinite.name, infinite.sign) == ("NV", "+inf")
    assert found.facts.prediction.chosen == "logistic (Firth)"
    assert any("odds ratio of 'NV'" in text for text in found.facts.recommendation.cautions)
    told = checked(found, tmp_path)
    assert "quasi-complete" in told


def test_breast_cancer_is_separable_but_fragile(audited, tmp_path):
    found = audited("breast_cancer.csv", "malignant")
    assert found.answers["separation"].answer == "Yes (proved)"
    margin = found.facts.best.margin
    assert margin.lower <= 4.13713684254531e-05 * (1 + 1e-14)
    assert margin.upper >= 4.13713684254530e-05
    assert margin.standardised.lower == pytest.approx(0.00139985, rel=1e-5)
    assert margin.fragile
    assert "unique" in found.answers["best"].answer
    run, scaled = found.facts.algorithm.perceptron, found.facts.algorithm.perceptron_standardised
    assert run.bound.mistakes == pytest.approx(1.45e16, rel=0.01)
    assert scaled.bound.mistakes == pytest.approx(2.182e8, rel=1e-3)
    assert scaled.bound.radius == pytest.approx(20.5699, rel=1e-5)
    assert found.facts.prediction.estimate.value > 0.96
    assert any("rounding the data could close it" in text for text in found.facts.recommendation.cautions)
    told = checked(found, tmp_path)
    assert "completely separable" in told
    assert "half-width" in told
    assert "4.13713684254530" in told


def test_a_perfect_score_keeps_an_interval(audited):
    found = audited("example:separable")
    e = found.facts.prediction.estimate
    assert e.value == 1
    assert 0.95 < e.low < 1


def test_diabetes_is_a_quantity(audited):
    found = audited("diabetes.csv", "progression")
    assert found.facts.table.task == "regression"
    assert found.facts.least_squares.unique
    assert found.facts.exact_fit.r2 == pytest.approx(0.51775, abs=1e-4)
    assert 50 < found.facts.prediction.estimate.value < 60
    assert found.facts.recommendation.use.startswith("Use least squares")
    assert found.certificate is None
    names = {row.name for row in found.facts.pictures.coefficients.features}
    assert {"bmi", "bp"} <= names


def test_random_labels_are_no_better_than_guessing(audited):
    found = audited("example:random-labels")
    assert found.answers["prediction"].answer.startswith("Not shown to be better than guessing")
    assert found.facts.recommendation.learner is None
    assert "none is shown to be better than always predicting the most common class" in found.facts.recommendation.use
    assert "None of 6 learners is shown to be better (smallest p = " in found.answers["prediction"].lines[0]


def test_classes_that_scores_tell_apart_are_more_than_a_guess(ledger):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    X = rng.normal(size=(300, 4)) + np.outer(y, [1.2, -0.6, 0.0, 0.4])
    X[:, 3] += 0.8 * X[:, 0]
    columns = {f"x{j}": X[:, j].round(4) for j in range(4)} | {"y": np.where(y, "ill", "well")}
    found = separatrix.audit(columns, "y", ledger=ledger)
    own = found.facts.prediction.learner(found.facts.prediction.chosen).estimates
    assert own["roc_auc"].low > 0.5
    assert own["accuracy"].low < found.facts.prediction.baseline
    assert found.facts.prediction.ranks
    assert not found.facts.prediction.better
    assert found.answers["prediction"].answer.startswith("It ranks rows, but is not shown to classify better than")
    assert found.facts.recommendation.use.startswith("Use logistic regression to rank rows: ")


def test_a_few_rows_cannot_show_that_a_learner_is_better_than_guessing(ledger):
    rng = np.random.default_rng(0)
    y = np.arange(10) % 2
    found = separatrix.audit(rng.normal(size=(10, 3)) + 0.9 * y[:, None], y, ledger=ledger)
    assert found.facts.prediction.estimate.value >= 0.7
    assert found.answers["prediction"].answer.startswith("Not shown to be better than guessing")
    assert "none is shown to be better than" in found.facts.recommendation.use


def test_a_single_mistake_that_is_forced_is_unique(ledger):
    x = np.arange(40.0)
    y = (x >= 20).astype(int)
    y[35] = 0
    found = separatrix.audit(x.reshape(-1, 1), y, ledger=ledger)
    assert found.facts.best.mistakes.rows == [35]
    assert found.facts.best.mistakes.unique
    assert "Every hyperplane with one mistake misclassifies this row (proved)" in lines_of(found, "best")


def test_many_classes_are_told_apart_on_the_screen(ledger):
    rng = np.random.default_rng(0)
    kinds = np.repeat(["far", "near", "nearer"], 60)
    X = rng.normal(size=(180, 2)) + np.repeat([[9.0, 0.0], [0.0, 0.0], [0.0, 1.0]], 60, axis=0)
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "kind": kinds}, "kind", ledger=ledger)
    assert "Recall by class: 'far' 100%, 'near' " in lines_of(found, "prediction")
    (first, *_) = found.facts.prediction.confused
    assert {first.label, first.as_label} == {"near", "nearer"}
    confusion, names = found.facts.pictures.scores.confusion, found.facts.pictures.scores.classes
    assert confusion[names.index(first.label)][names.index(first.as_label)] == first.rows > 0
    assert f"'{first.label}' predicted as '{first.as_label}' ({first.rows} row" in " ".join(str(found).split())


@pytest.mark.slow
def test_spambase_overlaps_with_a_bracket_of_mistakes(audited, tmp_path):
    found = audited("spambase.csv", "spam")
    assert found.facts.separation.verdict == "overlap"
    mistakes = found.facts.best.mistakes
    assert 3 <= mistakes.lower <= mistakes.upper <= 400  # of 4,601; the search ends by its time
    assert found.facts.separation.contradictions.groups >= 1
    assert 0.9 < found.facts.prediction.estimate.value < 0.96
    assert "overlap" in checked(found, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("banknote.csv", "class", "7 of the 1372 rows"),
        ("spector.csv", "GRADE", "4 of the 32 rows"),
        ("titanic_numeric.csv", "survived", "overlap"),
        ("wine.csv", "class", "completely separable"),
        ("example:breast-cancer", None, "half-width"),
        ("example:iris", None, "quasi-complete"),
        ("sms_spam_bow.svm", None, "half-width"),
        ("rcv1_small.svm", None, "half-width"),
        ("rcv1_small_test.svm", None, "half-width"),
        ("a9a_test.svm", None, "quasi-complete"),
    ],
)
def test_the_checker_accepts_what_was_proved_of_every_other_set(audited, tmp_path, source, target, says):
    assert says in checked(audited(source, target), tmp_path)


@pytest.mark.slow
def test_messages_as_text_are_separable(audited, tmp_path):
    found = audited("sms_spam.txt", "column0")
    assert found.facts.separation.verdict == "complete"
    assert found.facts.prediction.metric == "average_precision"
    assert found.facts.prediction.estimate.value > 0.98
    assert found.certified.file_name == "certified.svm"
    margin = found.facts.best.margin
    assert 0 < margin.lower <= margin.upper < margin.lower * (1 + 1e-9)
    run = found.facts.algorithm.perceptron
    assert run.converged
    assert run.mistakes <= run.bound.mistakes
    assert run.bound.margin.lower <= margin.lower  # a margin of (x, 1) is no wider than the gap
    assert "column1:free" in {row.name for row in found.facts.pictures.coefficients.features}
    told = checked(found, tmp_path)
    assert "completely separable" in told
    assert "half-width" in told


@pytest.mark.slow
def test_a9a_is_quasi_separated_by_rare_dummies(audited, tmp_path):
    found = audited("a9a.svm")
    assert found.facts.separation.verdict == "quasi"
    assert found.facts.separation.strict_rows == 87
    assert found.facts.best.mistakes.upper < 5000
    assert "quasi-complete" in checked(found, tmp_path)


@pytest.mark.slow
def test_digits_are_ten_classes_that_one_machine_tells_apart(audited, tmp_path):
    found = audited("digits.csv", "digit")
    verdicts_of = [part.verdict for part in found.facts.separation.classes]
    assert verdicts_of == ["complete"] * 8 + ["quasi"] * 2
    assert found.facts.separation.verdict == "complete"
    margins = {own.label: own.lower for own in found.facts.best.class_margins}
    assert margins["0"] == pytest.approx(2.89800, rel=1e-5)
    assert found.facts.prediction.estimate.value > 0.93
    assert checked(found, tmp_path).count("proved:") == 11


def test_a_cloud_of_xor_is_advised_products(ledger):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "y": (X[:, 0] * X[:, 1] > 0).astype(int)}, ledger=ledger)
    assert verdicts(found)["linear log-odds"] == "fails"
    assert "a × b" in next(line.evidence for line in found.facts.assumptions.lines if line.name == "linear log-odds")
    assert found.facts.prediction.chosen == "ridge logistic on poly:2"
    assert found.facts.prediction.estimate.value > 0.9
    assert "--map poly:2" in found.facts.recommendation.use
    assert "percentage points more than" in found.facts.recommendation.why  # the gain, with its interval
    assert "on the same folds)" in found.facts.recommendation.why
    names = [row.name for row in found.facts.pictures.coefficients.features]
    assert names[0] == "a × b"


def test_a_cloud_of_three_classes_is_advised_products(ledger):
    """Two classes in opposite quadrants, and a third one beside them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=600) > 1.0, "right", np.where(X[:, 0] * X[:, 1] > 0, "same", "other"))
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "y": y}, ledger=ledger)
    line = next(line for line in found.facts.assumptions.lines if line.name == "linear log-odds")
    assert line.verdict == "fails"
    assert "strongest of 3 squares and products in 2 of 2 pairs of classes: a × b, " in line.evidence
    assert {"'same'", "'other'"} <= set(line.evidence.replace(",", "").split())
    assert line.p < line.threshold == 0.01
    assert "--map poly:2" in line.advice
    assert found.facts.prediction.chosen == "ridge logistic on poly:2"
    assert "--map poly:2" in found.facts.recommendation.use
    assert "percentage points more than" in found.facts.recommendation.why


def test_linear_log_odds_of_three_classes_hold(ledger):
    """One against the rest is not linear here, though each pair is."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 2))
    scores = np.column_stack([2 * X[:, 0], -2 * X[:, 0] + X[:, 1], np.zeros(3000)]) + rng.gumbel(size=(3000, 3))
    found = separatrix.audit({"a": X[:, 0], "b": X[:, 1], "y": scores.argmax(axis=1)}, target="y", ledger=ledger)
    line = next(line for line in found.facts.assumptions.lines if line.name == "linear log-odds")
    assert (line.verdict, "of 2 pairs of classes" in line.evidence) == ("holds", True)


def test_a_rare_class_is_not_hidden_by_accuracy(ledger):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 3))
    y = np.zeros(20_000, dtype=int)
    y[:20] = 1
    found = separatrix.audit(X, y, ledger=ledger, budget=5)
    facts = found.facts.prediction
    assert (facts.metric, facts.metric_class) == ("average_precision", "1")
    assert facts.baseline == pytest.approx(0.003, abs=0.001)  # of 3,200 rows in random order, of which 3 are rare
    assert found.answers["prediction"].answer.startswith("Not shown to be better than guessing")
    assert "99.9% correct" in " ".join(found.answers["prediction"].lines)
    assert found.facts.recommendation.learner is None
    drawn = found.facts.pictures.projection
    assert sum(drawn.classes) == 20  # all rare rows are in the picture


def test_a_learner_that_was_cut_is_not_compared_and_the_safe_choice_stands(ledger, monkeypatch):
    from separatrix.auditing import learner_choice

    ran = learner_choice._cross_validated

    def only_the_safe_choice(table, session, candidate, *rest):
        if not candidate.safe:
            raise learner_choice.OutOfTime("did not finish within the time budget (1 of 5 folds)")
        return ran(table, session, candidate, *rest)

    monkeypatch.setattr(learner_choice, "_cross_validated", only_the_safe_choice)
    found = separatrix.audit("example:spam", ledger=ledger)
    assert found.facts.prediction.chosen == "ridge logistic"
    assert {own.learner for own in found.facts.prediction.not_compared} >= {"logistic", "averaged perceptron"}
    assert "better" not in found.facts.recommendation.why
    assert any(text.startswith("Cut by the clock, and not compared") for text in found.facts.recommendation.cautions)


def test_a_test_set_that_was_used_is_said_on_the_screen(tmp_path):
    table = {"x": np.arange(60.0), "z": np.sin(np.arange(60.0)), "y": (np.arange(60) * 7 % 13 > 5).astype(int)}
    first = separatrix.audit(table, ledger=tmp_path / "ledger")
    same = separatrix.audit({**table}, ledger=tmp_path / "ledger", level=0.9)
    other = separatrix.audit(table, ledger=tmp_path / "ledger", random_state=1)
    assert "used once" in str(first)
    assert first.facts.prediction.test.earlier_uses == 0
    assert same.facts.prediction.test.earlier_uses == 0  # the same model on the same rows: read again
    assert other.facts.prediction.test.earlier_uses == 1  # some of its test rows
    assert "already used once" in " ".join(str(other).split())
    again = separatrix.audit(table, ledger=tmp_path / "ledger")
    assert again.facts.prediction.test.earlier_uses == 1  # the other model's, not its own


def test_a_large_table_has_a_certified_lower_bound(ledger, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 20))
    y = (X[:, 0] + rng.normal(size=30_000) > 0).astype(int)
    found = separatrix.audit(X, y, ledger=ledger, budget=4)
    mistakes = found.facts.best.mistakes
    assert mistakes.packed
    assert mistakes.lower >= 500  # one for about 60 rows
    assert found.facts.certificate.claims[-2:] == ["overlap", "min-errors"]
    assert f"at least {mistakes.lower} of" in checked(found, tmp_path)


def test_many_classes_are_compared_on_as_many_rows_as_planned_and_the_number_is_one(ledger):
    """26 classes on 6,000 rows in a short budget: rare rows are kept, but not 500 rows of every class."""
    rng = np.random.default_rng(0)
    y = np.arange(6000) % 26
    X = rng.standard_normal((26, 8))[y] + rng.standard_normal((6000, 8))
    found = separatrix.audit(X, np.array(list("abcdefghijklmnopqrstuvwxyz"))[y], budget=2, ledger=ledger)
    learned = found.facts.prediction.rows_learned
    assert 2000 <= learned <= 2 * 2000
    (said,) = [own.why for own in found.facts.left_out if own.what == "comparison on all rows"]
    judged = found.facts.prediction.rows_compared
    assert said == f"learners are fitted on a sample of {learned:,} rows and predict {judged:,} of 4,800"

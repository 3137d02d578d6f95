"""The five answers are right about sets whose truth is known."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import separatrix

CHECKER = Path(separatrix.__file__).with_name("checker.py")


def lines_of(audit, key):
    return " ".join(audit.answers[key]["lines"])


def verdicts(audit):
    return {line["name"]: line["verdict"] for line in audit.answers["assumptions"]["assumptions"]}


def checked(audit, folder):
    """What the stand-alone checker says of the files of an audit, in a process of its own."""
    audit.certified.save(folder)
    command = [sys.executable, "-I", str(CHECKER), str(folder / "certificate.json")]
    done = subprocess.run(
        [*command, str(folder / audit.certified.file_name)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_spam_overlaps_and_every_answer_says_what_it_rests_on(audited, tmp_path):
    found = audited("example:spam")
    first, second = found.answers["existence"], found.answers["best"]
    assert (first["verdict"], first["answer"], first["badge"]) == ("overlap", "no, proved", "proved")
    assert 2 <= len(first["witness"]["rows"]) <= 6
    assert (second["mistakes"]["lower"], second["mistakes"]["upper"]) == (16, 16)
    assert found.answers["new_points"]["chosen"] in ("logistic", "ridge logistic")
    assert found.answers["new_points"]["estimate"]["low"] > 0.85
    assert found.answers["new_points"]["test"]["n"] == 80
    told = checked(found, tmp_path)
    assert "overlap" in told
    assert "at least 16 of the 400 rows wrong" in told


def test_xor_needs_all_four_rows_and_is_too_small_for_estimates(audited, tmp_path):
    found = audited("example:xor")
    assert found.answers["existence"]["witness"]["rows"] == [0, 1, 2, 3]
    assert found.answers["best"]["mistakes"]["lower"] == found.answers["best"]["mistakes"]["upper"] == 1
    assert found.answers["new_points"]["answer"] == "cannot be estimated"
    assert "Do not choose" in found.content["recommendation"]["use"]
    assert "overlap" in checked(found, tmp_path)


def test_iris_has_three_classes_and_one_that_can_be_cut_off(audited, tmp_path):
    found = audited("iris.csv", "species")
    parts = {part["class"]: part["verdict"] for part in found.answers["existence"]["parts"]}
    assert parts == {"setosa": "complete", "versicolor": "overlap", "virginica": "overlap"}
    assert found.answers["new_points"]["estimate"]["value"] > 0.9
    assert checked(found, tmp_path).count("proved:") == 4


def test_titanic_has_a_leak_that_is_set_aside(audited, tmp_path):
    found = audited("titanic.csv", "survived")
    (leak,) = found.content["table"]["leaks"]
    assert (leak["column"], leak["set_aside"]) == ("alive", True)
    assert "With 'alive', set aside as a leak, the table would be separable (proved)" in lines_of(found, "existence")
    assert 0.75 < found.answers["new_points"]["estimate"]["value"] < 0.88
    assert verdicts(found)["no leak"] == "fails"
    assert verdicts(found)["rank"] == "fails"
    assert any("'alive'" in text for text in found.content["recommendation"]["cautions"])
    checked(found, tmp_path)


def test_a_leak_can_be_kept_and_is_then_believed(audited):
    found = audited("titanic.csv", "survived", keep=("alive",))
    assert found.answers["existence"]["verdict"] == "complete"


def test_endometrial_has_one_infinite_coefficient(audited, tmp_path):
    found = audited("endometrial.csv", "HG")
    assert found.answers["existence"]["verdict"] == "quasi"
    assert found.answers["existence"]["strict_rows"] == 13
    assert found.answers["best"]["coefficients"]["infinite"] == [{"name": "NV", "sign": "+inf"}]
    assert found.answers["new_points"]["chosen"] == "logistic (Firth)"
    assert any("odds ratio of 'NV'" in text for text in found.content["recommendation"]["cautions"])
    told = checked(found, tmp_path)
    assert "quasi-complete" in told
    assert "at least 8 of the 79 rows wrong" in told


def test_breast_cancer_is_separable_but_fragile(audited, tmp_path):
    found = audited("breast_cancer.csv", "malignant")
    assert found.answers["existence"]["answer"] == "yes, proved"
    margin = found.answers["best"]["margin"]
    assert margin["lower"] <= 4.13713684254531e-05 * (1 + 1e-14)
    assert margin["upper"] >= 4.13713684254530e-05
    assert margin["standardised"]["lower"] == pytest.approx(0.00139985, rel=1e-5)
    assert margin["fragile"]
    runs = found.answers["algorithm"]["perceptron"]
    assert runs["as_given"]["bound"]["mistakes"] == pytest.approx(1.45e16, rel=0.01)
    assert runs["standardised"]["bound"]["mistakes"] == pytest.approx(2.182e8, rel=1e-3)
    assert runs["standardised"]["bound"]["radius"] == pytest.approx(20.5699, rel=1e-5)
    assert found.answers["new_points"]["estimate"]["value"] > 0.96
    assert any("rounding could close it" in text for text in found.content["recommendation"]["cautions"])
    told = checked(found, tmp_path)
    assert "completely separable" in told
    assert "half-width" in told
    assert "4.13713684254530" in told


def test_a_perfect_score_keeps_an_interval(audited):
    found = audited("example:separable")
    e = found.answers["new_points"]["estimate"]
    assert e["value"] == 1
    assert 0.95 < e["low"] < 1


def test_diabetes_is_a_quantity(audited):
    found = audited("diabetes.csv", "progression")
    assert found.content["table"]["kind"] == "regression"
    assert found.answers["best"]["unique"]
    assert found.answers["existence"]["r2"] == pytest.approx(0.51775, abs=1e-4)
    assert 50 < found.answers["new_points"]["estimate"]["value"] < 60
    assert found.content["recommendation"]["use"].startswith("Use least squares")
    assert found.certificate is None
    names = {row["name"] for row in found.content["pictures"]["coefficients"]["features"]}
    assert {"bmi", "bp"} <= names


def test_noise_is_called_useless(audited):
    found = audited("example:noise")
    assert found.content["recommendation"]["use"] == (
        "Do not rely on any of these learners: none is shown to be better on new rows than a guess."
    )


@pytest.mark.slow
def test_spambase_overlaps_with_a_bracket_of_mistakes(audited, tmp_path):
    found = audited("spambase.csv", "spam")
    assert found.answers["existence"]["verdict"] == "overlap"
    mistakes = found.answers["best"]["mistakes"]
    assert 3 <= mistakes["lower"] <= mistakes["upper"] <= 400  # of 4,601; the search ends by its time
    assert found.answers["existence"]["contradictions"]["groups"] >= 1
    assert 0.9 < found.answers["new_points"]["estimate"]["value"] < 0.96
    assert "overlap" in checked(found, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target", "says"),
    [
        ("banknote.csv", "class", "at least 7 of the 1372 rows wrong"),
        ("spector.csv", "GRADE", "at least 4 of the 32 rows wrong"),
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
    assert found.answers["existence"]["verdict"] == "complete"
    assert found.answers["new_points"]["metric"] == "roc_auc"
    assert found.answers["new_points"]["estimate"]["value"] > 0.98
    assert found.certified.file_name == "certified.svm"
    margin = found.answers["best"]["margin"]
    assert 0 < margin["lower"] <= margin["upper"] < margin["lower"] * (1 + 1e-9)
    run = found.answers["algorithm"]["perceptron"]["as_given"]
    assert run["converged"]
    assert run["mistakes"] <= run["bound"]["mistakes"]
    assert run["bound"]["margin"]["lower"] <= margin["lower"]  # a margin of (x, 1) is no wider than the gap
    assert "column1:free" in {row["name"] for row in found.content["pictures"]["coefficients"]["features"]}
    told = checked(found, tmp_path)
    assert "completely separable" in told
    assert "half-width" in told


@pytest.mark.slow
def test_a9a_is_quasi_separated_by_rare_dummies(audited, tmp_path):
    found = audited("a9a.svm")
    assert found.answers["existence"]["verdict"] == "quasi"
    assert found.answers["existence"]["strict_rows"] == 87
    assert found.answers["best"]["mistakes"]["upper"] < 5000
    assert "quasi-complete" in checked(found, tmp_path)


@pytest.mark.slow
def test_digits_are_ten_classes_that_one_machine_tells_apart(audited, tmp_path):
    found = audited("digits.csv", "digit")
    verdicts_of = [part["verdict"] for part in found.answers["existence"]["parts"]]
    assert verdicts_of == ["complete"] * 8 + ["quasi"] * 2
    assert found.answers["existence"]["verdict"] == "complete"
    margins = {own["class"]: own["lower"] for own in found.answers["best"]["margins"]}
    assert margins["0"] == pytest.approx(2.89800, rel=1e-5)
    assert found.answers["new_points"]["estimate"]["value"] > 0.93
    assert checked(found, tmp_path).count("proved:") == 11

"""Whatever is printed as proved has been accepted by the checker; a refusal is a bug, and its files reproduce it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from separatrix import checker, fewest_mistakes, margin, mistake_bound, separability, verify
from separatrix.cli.main import main
from separatrix.errors import BugError, CertificateError
from separatrix.proofs import Certificate
from separatrix.proofs.fewest_mistakes.bracket import MistakeBracket
from separatrix.proofs.separability.facial_reduction import FacialReduction

XOR, ODD = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
APART, SIDES = [[-1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 0.0]], ["a", "b", "b", "a"]


@pytest.fixture
def false_witness(monkeypatch, tmp_path):
    """Rows 0 and 3, which have one label, are given out as a witness, as they once were."""
    honest = FacialReduction._finish

    def dishonest(self):
        out = honest(self)
        if out.verdict == "overlap":
            out.witness = out.circulation = {0: 1, 3: 1}
        return out

    monkeypatch.setattr(FacialReduction, "_finish", dishonest)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def test_a_false_witness_is_neither_printed_nor_certified(false_witness):
    found = separability(XOR, ODD)
    for claim in (str, repr_html, dictionary, certificate, picture):
        with pytest.raises(BugError, match="not proved: this is a bug of separatrix"):
            claim(found)


def repr_html(found):
    return found._repr_html_()


def dictionary(found):
    return found.to_dict()


def certificate(found):
    return found.certificate


def picture(found):
    return found.plot()


def test_the_kept_files_reproduce_the_refusal(false_witness):
    with pytest.raises(BugError) as caught:
        str(separability(np.array(XOR), np.array(ODD)))
    folder = Path(re.search(r"kept in (\S+):", str(caught.value))[1])
    assert folder.parent == false_witness
    rows = np.loadtxt(folder / "rows.csv", delimiter=",", skiprows=1, converters=lambda cell: float(cell.strip('"')))
    assert rows[:, :2].tolist() == XOR
    with pytest.raises(CertificateError, match="rejected"):
        verify(Certificate.load(folder / "certificate.json"), rows[:, :2], rows[:, 2].astype(int))


def test_certify_ends_with_3_and_prints_no_verdict(false_witness, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = [f"{a},{b},{c}" for (a, b), c in zip(XOR, ODD, strict=True)]
    (tmp_path / "xor.csv").write_text("\n".join(["a,b,label", *lines, ""]))
    with pytest.raises(SystemExit) as ended:
        main(["certify", "xor.csv"])
    printed = capsys.readouterr()
    assert ended.value.code == 3
    assert "not proved: this is a bug" in printed.err
    assert "proved" not in printed.out
    assert not (tmp_path / "certificate.json").exists()


@pytest.mark.parametrize("part", ["lower", "upper"])
def test_a_false_bound_of_mistakes_is_not_printed(part, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    honest = MistakeBracket._claim_in
    false = {"lower": {"lower": 2, "upper": 2}, "upper": {"upper": 0, "lower": 0, "wrong": []}}[part]

    def dishonest(self, subject):
        subject, fields = honest(self, subject)
        return subject, {**fields, **false}

    monkeypatch.setattr(MistakeBracket, "_claim_in", dishonest)
    with pytest.raises(BugError, match="this is a bug"):
        str(fewest_mistakes(XOR, ODD))


@pytest.mark.parametrize("asked", [margin, mistake_bound])
@pytest.mark.parametrize("field", ["lo2", "hi2"])
def test_a_false_margin_is_not_printed(asked, field, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    from separatrix.proofs.margin import margin as module

    honest = module.margin_fields
    false = {"lo2": "0x10", "hi2": "0x1/0x100"}[field]
    monkeypatch.setattr(module, "margin_fields", lambda *given: {**honest(*given), field: false})
    with pytest.raises(BugError, match="this is a bug"):
        str(asked(APART, SIDES))


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_kind_of_claim_is_checked_once_before_it_is_printed(reading, sparse, monkeypatch):
    from scipy.sparse import csr_array

    asked = []
    honest = checker.check
    monkeypatch.setattr(checker, "check", lambda *given, **more: asked.append(given) or honest(*given, **more))
    rng = np.random.default_rng(3)
    X = np.round(rng.standard_normal((60, 3)), 2)
    tables = {"overlap": (X, rng.integers(0, 2, 60)), "complete": (X, (X[:, 0] > 0.1).astype(int))}
    edge = [[0.1, 0.0, 0.0]] * 2  # one row of each class on the hyperplane, at one place
    tables["quasi"] = np.vstack([X[X[:, 0] != 0.1], edge]), np.append((X[X[:, 0] != 0.1, 0] > 0.1).astype(int), [0, 1])
    for verdict, (rows, y) in tables.items():
        found = separability(csr_array(rows) if sparse else rows, y, reading=reading)
        assert not asked
        assert found.verdict == verdict
        str(found)
        assert asked
        seen = len(asked)
        str(found), found.to_dict()
        assert (
            verdict == "quasi" or len(asked) == seen
        )  # of quasi-separated rows coefficients are checked as they are printed
        asked.clear()


@pytest.mark.parametrize("multiclass", ["ovr", "pairs", "kesler"])
def test_claims_about_several_classes_are_checked(multiclass):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.repeat(["a", "b", "c", "d"], 10)
    X[y == "a", 0] += 9
    found = separability(X, y, multiclass=multiclass)
    assert "proved" in str(found)
    assert all(part.accepted() for part in found.parts.values())


def test_rows_of_weight_zero_are_no_part_of_a_claim():
    X, y = np.array([*XOR, [5.0, 5.0]]), np.array([*ODD, 1])
    assert "overlap" in str(separability(X, y, sample_weight=[1, 1, 1, 1, 0]))

"""Certificate files: stored ones, hostile content at bounded cost, and what cannot be read or written."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hard_sets import sealed, table_of
from test_forged_certificates import forged

from separatrix import checker, separability
from separatrix.proofs.certificate.certificate import written

SOURCE = Path(checker.__file__)
STORED = Path(__file__).parent / "stored_certificates"
CERTIFICATES = json.loads((STORED / "certificates.json").read_text())
CASES = [(table, what) for table, found in CERTIFICATES.items() for what in found]


@pytest.mark.parametrize(("table", "what"), CASES)
def test_stored_certificates_still_check(table, what):
    content = CERTIFICATES[table][what]
    told = checker.described_data(content)
    sentences = checker.check(
        content, checker.read_table(str(STORED / table), told["target"], told["columns"], told["reading"])
    )
    assert len(sentences) == len(content.get("certificates", [content]))


def test_stored_certificates_have_every_claim():
    contents = [c for found in CERTIFICATES.values() for c in found.values()]
    parts = [part for c in contents for part in c.get("certificates", [c])]
    assert {part["claim"] for part in parts} == set(checker.CLAIMS) - {"not-complete"}
    assert {"kesler" in part for part in parts} == {True, False}


# -- cost ----------------------------------------------------------------------------------------------------------


def steps(X, y, claim, **fields):
    """Why a proof is refused, and how many steps were counted until then."""
    meters = []

    class Counted(checker.Meter):
        def __init__(self):
            super().__init__()
            self.spent = 0
            meters.append(self)

        def charge(self, *work):
            before = self.left
            try:
                super().charge(*work)
            finally:
                self.spent += before - self.left

    plain, checker.Meter = checker.Meter, Counted
    try:
        with pytest.raises(checker.Rejected) as why:
            checker.check(forged(X, y, claim, **fields), table_of(X, y))
    finally:
        checker.Meter = plain
    return str(why.value), meters[0].spent


def test_coprime_denominators_are_refused_before_they_are_multiplied():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 30)), np.arange(2000) % 2
    odd = [f"0x1/{hex((1 << 4000) + 2 * k + 1)}" for k in range(400)]
    why, count = steps(X, y, "not-complete", support=list(range(400)), **{"lambda": odd})
    assert "the denominators have no common multiple of at most" in why
    assert count < 1 << 27
    why, count = steps(X, y, "complete", w=odd[:31])
    assert "no common multiple" in why
    assert count < 1 << 27


def test_numbers_that_are_too_long_are_refused_unread():
    X, y = np.array([[0.0], [1.0]]), np.array([0, 1])
    long = "0x" + "f" * 1_000_000
    for numbers in ([long, "0x1"], ["0x1/" + long, "0x1"], ["0x0." + "f" * 1_000_000 + "p+0", "0x1"]):
        why, count = steps(X, y, "complete", w=numbers)
        assert "far too long" in why
        assert count < 1 << 13  # for the rows alone


def test_work_is_counted_before_it_is_done(monkeypatch):
    """Forty rows with exponents from end to end would be eliminated in integers of a hundred thousand bits."""
    monkeypatch.setattr(checker, "MOST_WORK", 1 << 26)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 39)) * 10.0 ** rng.integers(-300, 300, (60, 39))
    why, _ = steps(X, np.arange(60) % 2, "not-complete", support=list(range(40)))
    assert "far more work" in why


def test_long_witnesses_carry_their_weights():
    X, y = np.eye(41), np.arange(41) % 2
    assert "more than 40 rows must carry" in steps(X, y, "not-complete", support=list(range(41)))[0]
    witnesses = {"lower": 1, "upper": 21, "w": ["0x0"] * 41 + ["0x1"], "wrong": list(range(0, 41, 2)), "nodes": []}
    why, _ = steps(X, y, "min-errors", **witnesses, witnesses=[list(range(41))])
    assert "more than 40 rows must carry" in why


def test_a_chain_of_splits_takes_memory_for_one_path_only():
    n = 5000
    X, y = np.arange(float(n))[:, None], np.repeat([0, 1], n // 2)
    nodes = [{"split": k, "wrong": k + 1, "right": n + k + 1} for k in range(n)] + [{"pack": []}] * (n + 2)
    fields = {"lower": n // 2, "upper": n // 2, "w": ["0x0", "0x1"], "wrong": list(range(n // 2)), "witnesses": []}
    why, count = steps(X, y, "min-errors", **fields, nodes=nodes)
    assert "fewer than" in why
    assert count < 1 << 26


def test_ranks_do_not_depend_on_primes_or_rounding():
    """The determinant of these rows is 2^61 - 1, a prime; others differ far beyond the digits that are looked at."""
    X, y = np.array([[2.0**61, 1.0], [1.0, 1.0], [-(2.0**61), -1.0], [-1.0, -1.0]]), np.array([0, 0, 0, 1])
    rows = [{0: 1 << 61, 1: 1}, {0: 1, 1: 1}]
    meter = checker.Meter()
    assert checker.have_rank(rows, 2, meter)
    assert not checker.have_rank(rows, 3, meter)
    rows = [{0: 1 << 1500, 1: 1 << 1500}, {0: 1 << 1500, 1: (1 << 1500) + 1}]
    assert not any(checker.spans(rows, 2, bits, meter) for bits in checker.ROUNDED_TO)
    assert checker.have_rank(rows, 2, meter)
    assert not checker.have_rank([rows[0], {j: 3 * v for j, v in rows[0].items()}], 2, meter)
    y = np.array([0, 0, 0, 0, 1, 1])
    X = np.vstack([X, [[2.0**61, 1.0], [1.0, 1.0]]])
    fields = {"support": [0, 2, 1, 3], "lambda": ["0x1"] * 4}
    found = forged(X, y, "overlap", intercept=False, **fields)
    assert "overlap" in checker.check(found, table_of(X, y, found))[0]


# -- files that cannot be read or written ----------------------------------------------------------------------------


def run(folder, *arguments, stdout=subprocess.PIPE):
    command = [sys.executable, "-I", "checker.py", *arguments]
    return subprocess.run(command, cwd=folder, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    shutil.copy(SOURCE, tmp_path / "checker.py")
    separability(np.array([[1.0], [2.0]]), [0, 1]).certificate.save(tmp_path / "c.json")
    (tmp_path / "t.csv").write_text("x,y\n1,0\n2,1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x,y\n1,0\n" + "2" * 200_000 + ",1\n", "field larger than field limit"),
        ("x,x,y\n1,1,0\n2,1,1\n", "twice in the header"),
        ("z,y\n1,0\n2,1\n", None),
        ("x,z\n1,0\n2,1\n", "has no column 'y'"),
        ("x,y\n1,0\n2,1,3\n", "line 3: it has 3 cells, the header 2"),
        ("x,y\n1,0\n2,9007199254740993\n", "line 3: the label 9007199254740993 is not below 2^53"),
        ("", "has no column 'y'"),
        ("x,y\n", None),
    ],
)
def test_tables_that_cannot_be_read(folder, text, says):
    (folder / "t.csv").write_text(text)
    done = run(folder, "c.json", "t.csv", "--target", "y")
    if says is None:  # a table that can be read, and is another one
        assert done.returncode in (0, 1)
        assert done.stdout.startswith("not proved:" if done.returncode else "proved:")
        return
    assert done.returncode == 2
    assert done.stderr.startswith("cannot read: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def records_or_error(records):
    try:
        return list(records)
    except csv.Error as error:
        return str(error)


@pytest.mark.parametrize("seed", range(20))
def test_lines_are_divided_as_the_csv_module_divides_them(tmp_path, seed):
    rng, path, outcomes = np.random.default_rng(seed), tmp_path / "t.csv", set()
    pieces = [",", ",", '"', '""', "\n", "\r\n", "\r", "1", " ", "\x00", "é", "\u2028", "2" * 70_000]
    for _ in range(200):
        path.write_bytes("".join(rng.choice(pieces, rng.integers(1, 20))).encode())
        with open(path, newline="", encoding="utf-8") as one, open(path, newline="", encoding="utf-8") as other:
            reader = csv.reader(other)
            wanted = records_or_error((reader.line_num, cells) for cells in reader if cells)
            assert records_or_error(checker.csv_records(one)) == wanted
        outcomes.add(type(wanted))
    assert outcomes == {list, str}


FIRST_FORMAT = {
    **{"format": "separability-certificate/1", "claim": "complete", "reading": "binary64", "intercept": True},
    "data": {"n": 2, "d": 1, "sha256": "", "columns": None, "dropped": [], "positive": ["1"], "negative": ["0"]},
    "w": ["0x2", "-0x3"],
}
FIRST_BUNDLE = {"format": "separability-certificate/1", "certificates": [FIRST_FORMAT]}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"format": "separability-certificate/3", "format": "separability-certificate/3"}', "twice in one object"),
        ('{"format": "separability-certificate/3", "data": NaN}', "NaN is not a number"),
        ('{"format": "separability-certificate/3", "data": 1' + "0" * 5000 + "}", "not the JSON of a certificate"),
        (json.dumps(FIRST_FORMAT), "'separability-certificate/3': its format is 'separability-certificate/1'\n"),
        (json.dumps(FIRST_BUNDLE), "'separability-certificate/3': its format is 'separability-certificate/1'\n"),
        ('{"format": "separability-certificate/9"}', "not a certificate of the format"),
        ("{}", "not a certificate of the format"),
        ("\ufeff{}", "not the JSON"),
    ],
)
def test_files_that_are_no_certificates(folder, text, says):
    (folder / "c.json").write_text(text)
    done = run(folder, "c.json", "t.csv", "--target", "y")
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_use(folder):
    for arguments in ([], ["c.json", "t.csv", "--target"], ["c.json", "t.csv", "y", "z"]):
        done = run(folder, *arguments)
        assert (done.returncode, "use it as" in done.stderr) == (2, True)
    assert "use --target" in run(folder, "c.json", "t.csv").stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("target", ["y", "x"])
def test_a_full_device_is_not_a_verdict(folder, target):
    with open("/dev/full", "w") as full:
        done = run(folder, "c.json", "t.csv", "--target", target, stdout=full)
        code = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", code, "verify", "c.json", "t.csv", "--target", target]
        ours = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "No space left" in done.stderr
    assert ours.returncode == 2
    assert "No space left" in ours.stderr
    assert "Traceback" not in ours.stderr


def test_the_target_of_the_certificate_cannot_be_replaced(folder):
    content = json.loads((folder / "c.json").read_text())
    content["data"].update(target="y", columns=["x"])
    sealed(content, np.array([[1.0], [2.0]]), [0, 1])
    (folder / "c.json").write_text(json.dumps(content))
    assert run(folder, "c.json", "t.csv").returncode == 0
    done = run(folder, "c.json", "t.csv", "--target", "x")
    assert (done.returncode, "about the target 'y', not 'x'" in done.stdout) == (1, True)


def test_a_certificate_is_written_as_json_with_lists_of_integers_on_a_line():
    nested = {"a": [[1, -2], [], [1.5, None]], "b é": {"c": ["x\n[1]", True], "d": {}}, "e": [3], "f": [True, 1]}
    text = written(nested)
    assert json.loads(text) == nested
    assert "[1,-2]" in text
    assert text.splitlines()[0:2] == ["{", ' "a": [']
    joined = re.sub(r"\[\n\s*-?\d+(?:,\n\s*-?\d+)*\n\s*\]", lambda found: re.sub(r"\s", "", found[0]), indented(nested))
    assert text == joined


def indented(value):
    return json.dumps(value, indent=1, ensure_ascii=False)

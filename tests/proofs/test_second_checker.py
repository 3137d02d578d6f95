"""The checker in JavaScript: the verdict and the sentence of checker.py for files, honest, changed and odd.

What a test of any folder hands to ``checker.check`` goes to both (tests/conftest.py); here are the readers as well.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import re
import shutil
import subprocess
from pathlib import Path

import hard_sets
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from second_checker import NODE, REASON
from separatrix import checker, fewest_mistakes, margin, mistake_bound, separability
from separatrix.proofs import Certificate
from separatrix.proofs.certificate.checkable_rows import put_csv, put_svmlight

SOURCE = Path(checker.__file__).with_suffix(".js")
STORED = Path(__file__).parent / "stored_certificates"


@pytest.fixture
def same(second_checker, tmp_path, monkeypatch, capfd):
    """A function that checks texts with both, and gives the exit code and the lines on which they agree."""
    monkeypatch.chdir(tmp_path)

    def ask(certificate, table, name="table.csv", target=None):
        Path("certificate.json").write_bytes(certificate.encode("utf-8", "surrogatepass"))
        Path(name).write_bytes(table.encode())
        told = [] if target is None else ["--target", target]
        code = checker.main(["certificate.json", name, *told])
        out, err = capfd.readouterr()
        lines = (out + err).splitlines()
        other, says = second_checker.verify(certificate, table, name, target)
        what = (lines, says, certificate[:2000], table[:2000])
        assert other == code, what
        if code == 0:
            assert says == lines, what
        return code, lines

    return ask


def files(seed):
    """Honest certificates of every claim with the text and name of their table."""
    rng = np.random.default_rng(seed)
    made = []
    X, y = hard_sets.small(rng)
    columns = [f"x{j}" for j in range(X.shape[1])]
    for reading in ("binary64", "decimal"):
        options = {"fit_intercept": bool(rng.integers(2)), "reading": reading}
        found = separability(X, y, **options)
        mistakes = fewest_mistakes(X, y, max_nodes=1 if rng.integers(2) else None, **options)
        made += [found, *found.coefficients.values(), mistakes]
        if found.verdict == "complete":
            made.append(margin(X, y, exact=bool(rng.integers(2)), **options))
            if reading == "binary64":
                made.append(mistake_bound(X, y, fit_intercept=options["fit_intercept"]))
    labels = [str(t) for t in y.tolist()]
    with Path("made.csv").open("w", newline="") as file:
        put_csv(file, columns, X, "label", labels)
    with Path("made.svm").open("w") as file:
        put_svmlight(file, csr_array(X), labels)
    for one in made:
        content = json.loads(json.dumps(one.certificate.to_dict()))
        if rng.integers(4):
            content["data"] |= {"columns": columns, "target": "label"}
            hard_sets.sealed(content, X, y)
            yield content, Path("made.csv").read_text(), "table.csv"
        else:
            yield content, Path("made.svm").read_text(), "table.svm"


def changed_text(rng, text):
    """A few letters of a text replaced, left out, doubled or moved."""
    letters = "0123456789abcdefx\"'{}[],:;#-+.eE_/\\ \t\n\r\x00\x1c\x85\xa0\u2028é１\U0001f600"
    for _ in range(rng.choice([1, 1, 2, 4])):
        k = rng.randrange(len(text) + 1)
        cut = rng.choice([0, 0, 1, 1, 2])
        put = rng.choice(["", rng.choice(letters), text[k : k + 3], rng.choice(['""', "\r\n", "nan", "1e400", "0x"])])
        text = text[:k] + put + text[k + cut :]
    return text


@pytest.mark.parametrize("seed", range(8))
def test_files_as_written_and_with_letters_changed(same, seed):
    rng = random.Random(seed)
    codes = {0: 0, 1: 0, 2: 0}
    for content, table, name in list(files(seed)):
        certificate = json.dumps(content)
        code, lines = same(certificate, table, name, "label" if name.endswith("csv") else None)
        assert code == 0, lines
        for _ in range(6):
            codes[same(changed_text(rng, certificate), table, name)[0]] += 1
            codes[same(certificate, changed_text(rng, table), name)[0]] += 1
            codes[same(json.dumps(content, indent=1), table, name)[0]] += 1
    assert min(codes.values()) > 10, codes


def test_every_stored_certificate(same):
    certificates = json.loads((STORED / "certificates.json").read_text())
    for name, found in certificates.items():
        for content in found.values():
            assert same(json.dumps(content), (STORED / name).read_text(), name)[0] == 0
            other = copy.deepcopy(content)
            other["data"]["sha256"] = "0" * 64
            assert same(json.dumps(other), (STORED / name).read_text(), name)[0] == 1


@pytest.mark.parametrize("form", ["separability-certificate/1", "separability-certificate/2", "it's", "", None, 2, []])
def test_other_formats_are_refused_in_the_same_words(second_checker, same, form):
    content = {**TRUE, "format": form}
    code, lines = same(json.dumps(content), XOR, target="label")
    assert code == 2
    assert lines[0].removeprefix("cannot read: ").startswith("it is not a certificate of the format")
    assert second_checker.verify(json.dumps(content), XOR, "table.csv", "label") == (2, lines)


XOR = "a,b,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"
CORNERS = pd.DataFrame([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], columns=["a", "b"])
TRUE = separability(CORNERS, pd.Series([0, 1, 1, 0])).certificate.to_dict()
TRUE["data"]["target"] = "label"
hard_sets.sealed(TRUE, CORNERS.to_numpy(), [0, 1, 1, 0])


CELLS = ["1", "1.0", "+1", " 1\t", "1e0", "10e-1", "01", "1.", ".1e1", "1_0", "0x1", "0b1", "", " ", "１", "1\x1c"]
CELLS += [
    "\xa01",
    "1,",
    '"1"',
    '"1',
    '1"',
    '""1',
    '"1"0',
    '"1""',
    "1e400",
    "-1e400",
    "inf",
    "nan",
    "Infinity",
    "1e-400",
]
CELLS += [
    "1d0",
    "1n",
    "1e",
    "e1",
    "--1",
    "+-1",
    "1 1",
    "0.99999999999999999999",
    "1.00000000000000011",
    "1\x0b",
    "true",
]


@pytest.mark.parametrize("cell", CELLS)
def test_cells(same, cell):
    """The same cells are numbers, and the same numbers; in a label the same class."""
    for row in (f"1,{cell},0", f"{cell},1,0", f"1,1,{cell}"):
        same(json.dumps(TRUE), XOR.replace("1,1,0", row))
    nameless = json.dumps(TRUE).replace('"columns": ["a", "b"]', '"columns": null')
    for line in (f"{cell} 1:1", f"1 1:{cell}", f"1 {cell}:1"):
        same(nameless, f"0\n1 2:1\n{line}\n0 1:1 2:1\n", "t.svm")


def test_integers_are_integers_and_columns_are_in_range(same):
    for n in ("4.0", "true", '"4"'):
        assert same(json.dumps(TRUE).replace('"n": 4', f'"n": {n}'), XOR)[0] == 1
    for column in ("１", "+1", "1_0", str(1 + (1 << 31)), "0", "-1"):
        assert same(json.dumps(TRUE), f"0\n1 {column}:1\n", "t.svm")[0] == 2
    counted = json.loads((STORED / "certificates.json").read_text())["separable.csv"]["verdict"]
    counted["data"]["n"] = float(counted["data"]["n"])
    assert same(json.dumps(counted), (STORED / "separable.csv").read_text(), "separable.csv")[0] == 1


def test_few_rows_of_many_columns_do_not_span(same):
    """Decided without a vector as long as the row."""
    X = csr_array(([1.0, 1.0], ([0, 1], [0, 0])), shape=(2, 1 << 20))
    y = np.array([0, 1])
    told = {"n": 2, "d": 1 << 20, "columns": None, "target": None, "classes": ["0", "1"], "dropped": []}
    head = {"format": checker.FORMAT, "claim": "overlap", "intercept": True}
    fields = {"positive": ["1"], "negative": ["0"], "support": [0, 1]}
    content = hard_sets.sealed({**head, "data": told, **fields}, X, y)
    assert same(json.dumps(content), f"0 1:1 {1 << 20}:0\n1 1:1\n", "t.svm")[0] == 0
    content = hard_sets.sealed({**content, "positive": ["1"], "support": [0]}, X, y)
    assert same(json.dumps(content), f"0 1:1 {1 << 20}:0\n1 1:1\n", "t.svm")[0] == 1
    assert not checker.have_rank([{0: 1}], 1 << 31, checker.Meter())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"n": 4', '"n": 4.0'),
        ('"n": 4', '"n": true'),
        ('"n": 4', '"n": "4"'),
        ('"n": 4', '"n": 4e0'),
        ('"n": 4', '"n": 04'),
        ('"n": 4', '"n": +4'),
        ('"n": 4', '"n": 0x4'),
        ('"n": 4', '"n": 4n'),
        ('"n": 4', '"n": 9007199254740993'),
        ('"n": 4', '"n": 4, "n": 4'),
        ('"n": 4', '"n": 4, "\\u006e": 4'),
        ('"n": 4', '"n": 4, "__proto__": {"d": 3}'),
        ('"n": 4', '"n": 4, "constructor": 1, "toString": null'),
        ('"n": 4', '"n": 4, "other": NaN'),
        ('"n": 4', '"n": 4, "other": -Infinity'),
        ('"n": 4', '"n": 4, "other": 1e999'),
        ('"n": 4', '"n": 4, "other": -0'),
        ('"n": 4', '"n": 4, "other": 1' + "0" * 4299),
        ('"n": 4', '"n": 4, "other": 1' + "0" * 4300),
        ('"n": 4', '"n": 4, "other": ' + "[" * 100 + "]" * 100),
        ('"n": 4', '"n": 4, "other": ' + "[" * 50_000 + "]" * 50_000),
        ('"n": 4', '"n": 4, "other": "\\ud83d\\ude00 \\ud83d \\/ \\b"'),
        ('"n": 4', '"n": 4, "other": "\\x41"'),
        ('"n": 4', '"n": 4, "other": "\t"'),
        ('"n": 4', '"n": 4, "other": "\x7f\u2028"'),
        ('"n": 4', '"n": 4, "other": [1,]'),
        ('"n": 4', '"n": 4, // a comment'),
        ('"n": 4', '"n":\t4\r\n'),
        ('"n": 4', '"n":\xa04'),
        ('"d": 2', '"d": 2.0'),
        ('"d": 2', '"d": true'),
        ('"dropped": []', '"dropped": [0.0]'),
        ('"dropped": []', '"dropped": [0, 0]'),
        ('"dropped": []', '"dropped": [9007199254740993]'),
        ('"dropped": []', '"dropped": null'),
        ('"target": "label"', '"target": "\\u006cabel"'),
        ('"target": "label"', '"target": ""'),
        ('"intercept": true', '"intercept": 1'),
        ('"intercept": true', '"intercept": null'),
        ("{", "\ufeff{"),
        ("{", " \n{"),
    ],
)
def test_json(same, old, new):
    text = json.dumps(TRUE)
    assert old in text
    same(text.replace(old, new, 1), XOR)


@pytest.mark.parametrize(("first", "last"), [("[", "]"), ('{"a":', "}")])
def test_nesting(same, first, last):
    """To the same depth in both, whatever the reader of the language would take: 200, the two of the field included."""
    for levels, inner in itertools.product((198, 199, 201, 500, 950, 5000), ("[]", "[1]")):
        other = first * (levels - 1) + inner + last * (levels - 1)
        code, lines = same(json.dumps(TRUE).replace('"n": 4', f'"n": 4, "other": {other}'), XOR)
        assert code == (0 if levels <= 198 else 2), (levels, lines)
        assert code == 0 or "nested too deeply" in lines[0]


def test_names_of_all_letters(same):
    """Columns, classes and targets are quoted, sorted and cut alike."""
    names = [
        "'",
        '"',
        "'\"",
        "\\",
        "a" * 80,
        "é" * 60,
        "\x00\x01\x7f",
        "\u200b\u2028\ufeff",
        "\U0001f600",
        "\uffee",
        "~",
    ]
    names += ["1e-07", "1e-7", "0.00001", "-0", "\xad", "\xa0x", "\ue000", "\U00010000", "\U000e0001", "\n", "\r\n", ""]
    for name in names:
        quoted = '"' + name.replace('"', '""') + '"'
        content = copy.deepcopy(TRUE)
        content["data"] |= {"columns": [name, "b"]}
        hard_sets.sealed(content, CORNERS.to_numpy(), [0, 1, 1, 0])
        same(json.dumps(content), XOR.replace("a,", f"{quoted},"))
        same(json.dumps(content, ensure_ascii=False), XOR.replace("a,", f"{quoted},"))
        content["data"] |= {"columns": ["a", "b"], "target": name}
        hard_sets.sealed(content, CORNERS.to_numpy(), [0, 1, 1, 0])
        same(json.dumps(content), XOR.replace("label", quoted))
    names = list({checker.label_name(name): name for name in names}.values())
    X = np.arange(float(len(names)))[:, None]
    found = separability(X, names, multiclass="ovr").certificate.to_dict()
    found["data"] |= {"columns": ["x"], "target": "label"}
    hard_sets.sealed(found, X, names)
    rows = ['"' + name.replace('"', '""') + '"' for name in names]
    assert same(json.dumps(found), "x,label\n" + "".join(f"{k},{name}\n" for k, name in enumerate(rows)))[0] == 0


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\n\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\ufeff\ufeff", "\n"])
def test_ends_of_lines_and_byte_order_marks(same, end, mark):
    assert same(json.dumps(TRUE), mark + XOR.replace("\n", end))[0] == (2 if mark == "\ufeff\ufeff" else 0)
    same(json.dumps(TRUE), mark + XOR.replace("\n", end).removesuffix(end))


def test_margins_are_printed_alike(same):
    """Roots of squares of any size, exact ones and brackets, in 17 digits."""
    rng = random.Random(0)
    content = margin(np.array([[0.0], [1.0]]), [0, 1], exact=True).certificate.to_dict()
    content["data"] |= {"columns": ["x"], "target": "label"}
    hard_sets.sealed(content, np.array([[0.0], [1.0]]), [0, 1])
    table = "x,label\n0,0\n1,1\n"
    assert same(json.dumps(content), table)[0] == 0
    printed = set()
    for _ in range(400):
        size = rng.choice([1, 3, 20, 60, 200, 1000, 3000])
        low = rng.randrange(1, 1 << size)
        content["lo2"] = f"{hex(low)}/{hex(4 * low * rng.randrange(1, 1 << rng.choice([1, 10, size])))}"
        content["hi2"] = (
            f"{hex(rng.randrange(1 << size, 2 << size))}/{hex(rng.randrange(1, 1 << rng.choice([1, size])))}"
        )
        printed.add(tuple(same(json.dumps(content), table)[1]))
    assert len(printed) > 300


def test_bundles_and_dropped_rows(same):
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [1.0]])
    names = ["a", "a", "b", "b", "c", "b"]
    weights = np.array([1.0, 1, 1, 1, 1, 0])
    table = "x,label\n" + "".join(f"{v},{t}\n" for (v,), t in zip(X.tolist(), names, strict=True))
    for kind in ("ovr", "pairs", "kesler"):
        result = separability(X, names, multiclass=kind, sample_weight=weights)
        parts = [result.certificate, *(part.certificate for part in result.parts.values())]
        fates = [fate.certificate for part in result.parts.values() for fate in part.coefficients.values()]
        for certificate in [*parts, *fates, Certificate.bundle(fates)]:
            content = copy.deepcopy(certificate.to_dict())
            content["data"] |= {"columns": ["x"], "target": "label"}
            hard_sets.sealed(content, X, names)
            code, lines = same(json.dumps(content), table)
            assert code == 0, lines
            content["data"]["dropped"] = []  # which leaves some claims true
            same(json.dumps(content), table)


def test_ranks_do_not_depend_on_the_primes(same):
    """Rows whose determinants are multiples of the primes of both checkers."""
    primes = [int(t) for t in re.search(r"PRIMES = \[([0-9, ]+)\]", SOURCE.read_text())[1].split(",")]
    assert all(p < 1 << 26 and all(p % q for q in range(2, 1 << 13)) for p in primes)
    big = float(primes[0] * primes[1])
    assert big == primes[0] * primes[1] < 1 << 53
    for unit in (big, float(primes[2]), 2.0**61):
        X = np.array([[unit, 1.0], [0.0, 1.0], [-unit, -1.0], [0.0, -1.0], [unit, 1.0], [0.0, 1.0]])
        result = separability(X, [0, 0, 0, 1, 1, 1], fit_intercept=False)
        content = result.certificate.to_dict()
        content["data"] |= {"columns": ["a", "b"], "target": "label"}
        hard_sets.sealed(content, X, [0, 0, 0, 1, 1, 1])
        rows = "".join(f"{a!r},{b!r},{t}\n" for (a, b), t in zip(X.tolist(), [0, 0, 0, 1, 1, 1], strict=True))
        assert same(json.dumps(content), "a,b,label\n" + rows)[0] == 0


@pytest.mark.skipif(NODE is None, reason=REASON)
def test_the_command(tmp_path, monkeypatch):
    """Copied alone, it checks files, with the exit codes of checker.py."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(SOURCE, tmp_path / "checker.js")
    (tmp_path / "c.json").write_text(json.dumps(TRUE))
    (tmp_path / "t.csv").write_text(XOR)
    (tmp_path / "other.csv").write_text(XOR.replace("1,1,0", "1,2,0"))
    (tmp_path / "bytes.csv").write_bytes(b"a,b,label\n\xff,0,0\n")

    def run(*arguments):
        command = [NODE, "checker.js", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    sentence = checker.check(*checker.read("c.json", "t.csv", None))[0]
    assert run("c.json", "t.csv") == (0, f"proved: {sentence}\n", "")
    assert run("c.json", "t.csv", "--target", "label")[0] == 0
    assert run("c.json", "t.csv", "--target", "a")[0] == 1
    assert run("c.json", "other.csv")[:2] == (1, "not proved: it is about other data, not these 4 rows\n")
    for arguments in (["c.json"], ["c.json", "none.csv"], ["t.csv", "c.json"], ["c.json", "bytes.csv"], []):
        code, out, err = run(*arguments)
        assert (code, out, err[:12], err.count("\n")) == (2, "", "cannot read:"[:12], 1), arguments


def test_every_lemma_and_rule_is_marked():
    docs = Path(__file__).parents[2] / "docs"
    page = "\n".join(one.read_text() for one in [docs / "certificates.md", *sorted(docs.glob("certificates/*.md"))])
    marks = {mark for group in re.findall(r"\[([LSC][0-9L, ]*)\]", SOURCE.read_text()) for mark in group.split(", ")}
    lemmas = {f"L{number}" for number in re.findall(r"^#{2,3} L([0-9]+)\.", page, re.M)}
    assert marks - {"S", "C"} == lemmas | set(re.findall(r"\*\*\[([SC][0-9]+)\]\*\*", page))

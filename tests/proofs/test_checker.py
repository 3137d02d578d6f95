"""The checker: it accepts what is true, and nothing else. Mutations, the holes of earlier reviews, hostile files."""

from __future__ import annotations

import ast
import copy
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import brute_force
import hard_sets
import numpy as np
import pytest
from hard_sets import sealed, table_of

from separatrix import checker, separability, verify
from separatrix.errors import CertificateError
from separatrix.proofs import Certificate

DOCS = Path(__file__).parents[2] / "docs"
SOURCE = Path(checker.__file__)


def accepted(content, X, y):
    try:
        checker.check(content, table_of(X, y, content))
    except checker.Rejected:
        return False
    return True


def true_claim(content, X, y):
    """Whether a claim about a verdict or a coefficient holds, by brute force."""
    labels = np.where(y == int(content["positive"][0]), 1, -1)
    verdict, _ = brute_force.verdict(X, labels, content["intercept"], content["data"]["reading"] == "decimal")
    claim = content["claim"]
    if claim == "not-complete":
        return verdict != "complete"
    if not claim.startswith("coefficient"):
        return verdict == claim
    return (
        brute_force.fate(X, labels, content["intercept"], content["coefficient"])
        == {
            "coefficient-finite": "finite",
            "coefficient-unidentifiable": "unidentifiable",
            "coefficient-undetermined": "undetermined",
            "coefficient-infinite": "+inf" if content.get("sign") == 1 else "-inf",
        }[claim]
    )


# -- it stands alone --------------------------------------------------------------------------------


def test_it_imports_the_standard_library_only():
    text = SOURCE.read_text()
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
    assert imported <= sys.stdlib_module_names | {"numpy"}


def test_it_checks_without_numpy(tmp_path):
    shutil.copy(SOURCE, tmp_path / "checker.py")
    (tmp_path / "numpy.py").write_text("raise ImportError")
    (tmp_path / "t.csv").write_text("a,y\n0,0\n1,1\n2,0\n")
    found = separability(np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]).certificate
    found.save(tmp_path / "c.json")
    code = "import sys; sys.path.insert(0, '.'); import checker; assert checker.numpy is None; "
    code += "sys.exit(checker.main(sys.argv[1:]))"
    for extra in ([], ["--plain"]):
        command = [sys.executable, "-c", code, "c.json", "t.csv", "--target", "y", *extra]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout[:7]) == (0, "proved:"), done.stderr


def test_every_lemma_and_rule_stands_on_the_page_and_in_the_code():
    pages = [DOCS / "certificates.md", *sorted((DOCS / "certificates").glob("*.md"))]
    page = "\n".join(path.read_text() for path in pages)
    marks = {mark for group in re.findall(r"\[([LSC][0-9L, ]*)\]", SOURCE.read_text()) for mark in group.split(", ")}
    lemmas = {f"L{number}" for number in re.findall(r"^## L([0-9]+)\.", page, re.M)}
    rules = set(re.findall(r"\*\*\[([SC][0-9]*)\]\*\*", page))
    assert lemmas == {f"L{k}" for k in range(1, 21)}
    assert marks - {"S"} == lemmas | rules
    for claim in checker.CLAIMS:
        assert f"`{claim}`" in page


def test_each_page_of_lemmas_names_functions_of_both_checkers_that_bear_their_marks():
    first, second = SOURCE.read_text(), SOURCE.with_suffix(".js").read_text()
    for page in (DOCS / "certificates").glob("*.md"):
        rows = re.findall(r"^\| ([LS][0-9]+) \| `(\w+)` \| `(\w+)` \|$", page.read_text(), re.M)
        assert rows, page.name
        for mark, here, there in rows:
            assert re.search(rf"^ *def {here}\(", first, re.M), (page.name, here)
            assert re.search(rf"^(?:function |  \*?){there}\(", second, re.M), (page.name, there)
            assert re.search(rf"\[[^\]]*\b{mark}\b", first), mark
            assert re.search(rf"\b{mark}\b", second), mark


def run(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-I", "checker.py", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_the_file_copied_alone_checks_csv_and_svmlight(tmp_path):
    shutil.copy(SOURCE, tmp_path / "checker.py")
    X, y = np.array([[1.5, 0.0], [2.0, 1.0], [0.0, 3.0], [3.0, 3.0]]), np.array([0, 0, 1, 1])
    found = separability(X, y)
    found.certificate.save(tmp_path / "certificate.json")
    rows = "".join(f"{a},{b},{'+1' if t else 0}\n" for (a, b), t in zip(X, y, strict=True))
    (tmp_path / "data.csv").write_text("x0,x1,label\n" + rows)
    lines = [f"{t} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(r) if v) for r, t in zip(X, y, strict=True)]
    (tmp_path / "data.svm").write_text("# a comment\n" + "\n".join(lines) + "\n")
    done = run(tmp_path, "certificate.json", "data.csv", "--target", "label")
    assert (done.returncode, done.stdout[:7]) == (0, "proved:"), done
    assert run(tmp_path, "certificate.json", "data.svm").returncode == 0
    (tmp_path / "other.csv").write_text("x0,x1,label\n" + rows.replace("1.5", "1.25"))
    done = run(tmp_path, "certificate.json", "other.csv", "--target", "label")
    assert done.returncode == 1
    assert "other data" in done.stdout


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("truncated.json", '{"format": "separability-certificate/3", "data": '),
        ("list.json", "[1, 2]"),
        ("deep.json", "[" * 100_000),
        ("number.json", '{"data": {"d": 1' + "0" * 5000 + "}}"),
        ("nan.json", '{"data": NaN}'),
        ("missing.json", None),
    ],
)
def test_unreadable_files_end_with_code_2(tmp_path, name, text):
    shutil.copy(SOURCE, tmp_path / "checker.py")
    (tmp_path / "data.csv").write_text("x,y\n1,0\n2,1\n")
    if text is not None:
        (tmp_path / name).write_text(text)
    done = run(tmp_path, name, "data.csv", "--target", "y")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("line", ["nan,1", "inf,1", "n/a,1", "1_0,1", ",1", "1"])
def test_data_that_are_no_numbers_end_with_code_2(tmp_path, line):
    shutil.copy(SOURCE, tmp_path / "checker.py")
    separability(np.array([[1.0], [2.0]]), [0, 1]).certificate.save(tmp_path / "c.json")
    (tmp_path / "data.csv").write_text(f"x,y\n1,0\n{line}\n")
    done = run(tmp_path, "c.json", "data.csv", "--target", "y")
    assert done.returncode == 2
    assert "line 3" in done.stderr


# -- mutations ----------------------------------------------------------------------------------------


def mutate(rng, content, X, y):
    """One random change to a certificate or to the data (with the fingerprint put right again)."""
    content, X, y = copy.deepcopy(content), X.copy(), y.copy()
    kind = rng.integers(0, 9)
    lists = [k for k in ("w", "w1", "w2", "v", "lambda", "c", "mu") if content.get(k)]
    rows = [k for k in ("support", "rows") if content.get(k)]
    if kind == 0 and lists:
        numbers = content[rng.choice(lists)]
        numbers[rng.integers(len(numbers))] = str(
            rng.choice(["0x0", "-0x1", "0x1", "0x7/0x3", "-0x1.8p+3", "0x1p-1074"])
        )
    elif kind == 1 and rows:
        chosen = content[rng.choice(rows)]
        chosen[rng.integers(len(chosen))] = int(rng.integers(0, len(y)))
    elif kind == 2 and rows:
        chosen = content[rng.choice(rows)]
        chosen.pop(rng.integers(len(chosen)))
    elif kind == 3:
        content["claim"] = str(rng.choice(list(checker.CLAIMS)))
    elif kind == 4:
        content["intercept"] = not content["intercept"]
    elif kind == 5:
        content["coefficient"] = int(rng.integers(0, X.shape[1] + 1))
        content["sign"] = int(rng.choice([-1, 1]))
    elif kind == 6:
        y[rng.integers(len(y))] *= -1
    elif kind == 7:
        X[rng.integers(len(y)), rng.integers(X.shape[1])] += rng.choice([-1.0, 1.0, 0.5])
    elif kind == 8 and lists:
        numbers = content[rng.choice(lists)]
        numbers[:] = [t[1:] if t.startswith("-") else "-" + t for t in numbers]
    if kind in (6, 7):
        sealed(content, X, y)
    return content, X, y


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_certificate_is_rejected_unless_its_claim_is_still_true(seed):
    rng = np.random.default_rng(seed)
    outcomes = {True: 0, False: 0}
    for _ in range(60):
        X, y = hard_sets.small(rng)
        found = separability(X, y, fit_intercept=bool(rng.integers(2)))
        content = found.certificate.content
        if rng.integers(2):
            names = list(found.coefficients)
            content = found.coefficients[names[rng.integers(len(names))]].certificate.content
        for _ in range(6):
            changed, X2, y2 = mutate(rng, content, X, y)
            if abs(y2.sum()) == len(y2):
                continue
            ok = accepted(changed, X2, y2)
            outcomes[ok] += 1
            if ok:
                assert true_claim(changed, X2, y2), (changed, X2.tolist(), y2.tolist())
    assert outcomes[False] > 150


@pytest.mark.parametrize("seed", range(4))
def test_fates_of_coefficients_equal_brute_force(seed):
    rng = np.random.default_rng(100 + seed)
    for _ in range(60):
        X, y = hard_sets.small(rng)
        intercept = bool(rng.integers(2))
        found = separability(X, y, fit_intercept=intercept)
        for j, (name, fate) in enumerate(found.coefficients.items()):
            assert fate == brute_force.fate(X, y, intercept, j), (X.tolist(), y.tolist(), name)
            assert verify(fate.certificate, X, y)


# -- holes found in reviews, kept closed ----------------------------------------------------------------

X4, Y4 = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([-1, 1, 1, -1])


def rejected(content, X, y, match):
    with pytest.raises(checker.Rejected, match=match):
        checker.check(content, table_of(X, y, content))


def changed(content, **fields):
    return {**copy.deepcopy(content), **fields}


def test_repeated_rows_do_not_make_a_witness():
    content = separability(X4, Y4).certificate.content
    rejected(changed(content, support=[0, 0, 1, 2]), X4, Y4, "repeated")


def test_a_weight_that_underflows_decides_nothing():
    X, y = np.array([[1e300], [-1e300]]), np.array([1, -1])
    content = separability(X, y).certificate.content
    tiny = changed(content, w=["-0x1/0x1" + "0" * 300, "0x1"])  # -16**-300 rounds to zero
    rejected(tiny, X, y, "strictly on its side")
    assert accepted(changed(content, w=["0x1p-1074", "0x0"]), X, y)


def test_a_zero_vector_separates_nothing():
    X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    content = separability(X, y).certificate.content
    rejected(changed(content, w=["0x0", "0x0"]), X, y, "zero")


def test_a_vector_that_vanishes_everywhere_is_not_quasi_separation():
    X, y = np.column_stack([X4, X4[:, 0]]), Y4
    content = separability(X, y).certificate.content
    assert content["claim"] == "overlap"
    quasi = changed(content, claim="quasi", w=["0x1", "0x0", "-0x1", "0x0"])
    rejected(quasi, X, y, "every row lies on the hyperplane")


def test_overlap_needs_a_witness_that_spans():
    X = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    y = np.array([1, -1, 1, -1])
    content = separability(X, y).certificate.content
    assert content["claim"] == "quasi"
    rejected(changed(content, claim="overlap"), X, y, "does not span")
    rejected(changed(content, claim="overlap", null=[["0x0", "0x1", "0x0"]]), X, y, "does not vanish")


def test_infinite_needs_a_direction_as_well_as_weights():
    """On overlapping data mu exists for every coefficient; the w does not."""
    content = separability(X4, Y4).certificate.content
    mu = changed(content, claim="coefficient-infinite", coefficient=2, sign=1, rows=[1, 2, 0], mu=["0x1", "0x1", "0x1"])
    rejected({**mu, "w": ["0x0", "0x0", "0x1"]}, X4, Y4, "wrong side")


def test_a_coefficient_is_not_finite_by_rows_outside_the_circulation():
    X, y = np.array([[1.0], [2], [3], [3], [4], [5]]), np.array([-1, -1, -1, 1, 1, 1])
    content = separability(X, y).certificate.content
    claim = changed(content, claim="coefficient-finite", coefficient=0, rows=[0, 1], c=["0x1", "-0x1"])
    rejected(claim, X, y, "outside the circulation")


def test_dropped_rows_and_classes_must_be_as_told():
    content = separability(X4, Y4).certificate.content
    data = content["data"]
    rejected(changed(content, data={**data, "dropped": [3]}), X4, Y4, "does not exist")
    rejected(changed(content, data={**data, "classes": ["1", "-1"]}), X4, Y4, "other data")
    rejected(changed(content, positive=["1", "1"]), X4, Y4, "named twice")


# -- hostile certificates ---------------------------------------------------------------------------------


def hostile():
    content = separability(X4, Y4).certificate.content
    big = "0x" + "f" * 3_000_000
    yield changed(content, **{"lambda": [big] * 4})
    yield changed(content, **{"lambda": ["0x1/" + big] * 4})
    yield changed(content, **{"lambda": ["0x1/0x0"] * 4})
    yield changed(content, **{"lambda": ["0x1p-1074"] * 3 + ["0x1p+99999999999"]})
    yield changed(content, **{"lambda": [None, 1, 2.5, {}]})
    yield changed(content, support=list(range(100_000)))
    yield changed(content, support=[True, False, 2, 3])
    yield changed(content, support=[[0, 1], [1, 0]])
    yield changed(content, support={"0": 1})
    yield changed(content, support=[-1, 0, 1, 2])
    yield changed(content, null=[["0x0"] * 3] * 100_000, support=[0, 1, 2])
    yield changed(content, claim="complete", w=["nan", "0x1", "0x1"])
    yield changed(content, claim="complete", w=["0x1p+1024", "0x1", "0x1"])
    yield changed(content, claim="complete", w="0x1")
    yield changed(content, claim=["complete"])
    yield changed(content, coefficient=10**30, claim="coefficient-finite")
    yield changed(content, coefficient=True, claim="coefficient-unidentifiable", v=["0x1"] * 3)
    yield changed(content, data=None)
    yield changed(content, data={**content["data"], "classes": [str(k) for k in range(1000)]})
    yield changed(content, data={**content["data"], "dropped": [[0, 1]]})
    yield changed(content, intercept=1)
    yield changed(content, data={**content["data"], "reading": "binary32"})
    yield {}


@pytest.mark.parametrize("which", range(23))
def test_hostile_certificates_are_refused_quickly(which):
    content = list(hostile())[which]
    start = time.perf_counter()
    assert not accepted(content, X4, Y4)
    assert time.perf_counter() - start < 5


def test_a_certificate_of_other_data_says_so():
    found = separability(X4, Y4)
    with pytest.raises(CertificateError, match="other data"):
        verify(found.certificate, X4 + 1, Y4)
    with pytest.raises(CertificateError, match="other data"):
        verify(found.certificate, X4[:3], Y4[:3])


# -- files --------------------------------------------------------------------------------------------------


def test_save_and_load(tmp_path):
    found = separability(X4, Y4)
    found.certificate.save(tmp_path / "c.json")
    again = Certificate.load(tmp_path / "c.json")
    assert again.content == found.certificate.content
    assert verify(tmp_path / "c.json", X4, Y4) == verify(again, X4, Y4)
    assert json.loads((tmp_path / "c.json").read_text())["claim"] == "overlap"
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(CertificateError, match="not a certificate"):
        Certificate.load(tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(CertificateError, match="not the JSON of a certificate"):
        Certificate.load(tmp_path / "bad.json")


def test_dense_and_sparse_forms_have_the_same_fingerprint():
    from scipy import sparse

    rng = np.random.default_rng(0)
    X = np.where(rng.random((50, 7)) < 0.5, 0.0, rng.standard_normal((50, 7)))
    X[:10] = rng.standard_normal((10, 7))
    y = rng.integers(0, 2, 50)
    dense, thin = separability(X, y).certificate, separability(sparse.csr_array(X), y).certificate
    assert dense.content["data"]["sha256"] == thin.content["data"]["sha256"]
    assert verify(dense, sparse.csr_array(X), y)
    assert verify(thin, X, y)

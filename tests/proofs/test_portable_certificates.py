"""Certificates that carry their rows: checked without the table, by both checkers, and bound to its fingerprint."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest

from separatrix import checker, fewest_mistakes, separability, verify
from separatrix.cli.main import main
from separatrix.errors import CertificateError
from separatrix.proofs import Certificate


def noise(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return np.round(rng.standard_normal((n, d)), 3), rng.integers(0, 2, n)


@pytest.mark.parametrize("n", [9, 16, 17, 60, 133])
@pytest.mark.parametrize("reading", ["binary64", "decimal"])
def test_what_is_proved_without_the_table_names_its_fingerprint(n, reading):
    X, y = noise(n, 2, 3)
    y[:4], X[1] = [0, 1, 0, 1], X[0]
    found = separability(X, y, reading=reading)
    sentence = verify(found.portable)
    assert found.certificate.content["data"]["sha256"] in sentence
    assert sentence.split(" [")[0] == verify(found.certificate, X, y).split(" [")[0]


def test_a_portable_certificate_is_also_checked_against_its_table():
    X, y = noise()
    assert "table 'X'" in verify(separability(X, y).portable, X, y)
    with pytest.raises(CertificateError, match="other data"):
        verify(separability(X, y).portable, X + 1, y)


def test_sparse_rows_travel_by_their_columns():
    from scipy.sparse import csr_array

    X, y = noise(80, 30)
    X[np.random.default_rng(1).random(X.shape) < 0.8] = 0
    X[1], y[:2] = X[0], [0, 1]
    carried = separability(csr_array(X), y).portable
    assert any(isinstance(cells, dict) for rows in carried.content["rows"].values() for _, cells in rows)
    assert verify(carried)


def test_of_quasi_separated_rows_the_witness_travels():
    X = [[1.0, 0.0], [2.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [3.0, 1.0]] * 3
    y = [1, 1, 1, 0, 0, 1] * 3
    found = separability(X, y)
    assert found.verdict == "quasi"
    assert found.portable.claim == "not-complete"
    assert verify(found.portable)


def test_a_lower_bound_of_mistakes_travels():
    X, y = noise(60, 2)
    found = fewest_mistakes(X, y, max_nodes=200)
    assert verify(found.portable).startswith(f"every hyperplane gets at least {found.lower} of the 60 rows wrong")


def test_a_claim_about_all_rows_does_not_travel():
    with pytest.raises(CertificateError, match="about all rows"):
        _ = separability([[0.0], [1.0]], [0, 1]).portable
    with pytest.raises(CertificateError, match="does not carry its rows"):
        verify(separability(*noise()).certificate)


def test_kesler_rows_travel():
    X, y = noise(40, 2)
    assert verify(separability(X, y % 2 + (X[:, 0] > 0), multiclass="kesler")["all"].portable)


def changed(content, rng):
    """A change of a row, of its place, of a hash, of the root, of a length, or of their order."""
    rows, path, data = content["rows"], content["path"], content["data"]
    leaf = rng.choice(list(rows))
    kind = rng.randrange(11)
    if kind == 0:  # a cell
        cells = rng.choice(rows[leaf])[1]
        cells[rng.randrange(len(cells))] += "1"
    elif kind == 1:  # a label
        row = rng.choice(rows[leaf])
        row[0] = 1 - row[0]
    elif kind == 2:  # leaves swapped
        other = rng.choice(list(rows))
        rows[leaf], rows[other] = rows[other], rows[leaf]
    elif kind == 3:  # a leaf elsewhere
        rows[str(int(leaf) + rng.choice([1, -1, 2]))] = rows.pop(leaf)
    elif kind == 4:  # rows of a leaf swapped
        rows[leaf].reverse()
    elif kind == 5:  # a row too many, or too few
        rows[leaf] = rows[leaf][:-1] if rng.random() < 0.5 else [*rows[leaf], rows[leaf][0]]
    elif kind == 6 and path:  # a hash
        k = rng.randrange(len(path))
        path[k] = path[k][:-1] + "0123456789abcdef"[(int(path[k][-1], 16) + 1) % 16]
    elif kind == 7 and len(path) > 1:  # hashes in another order
        k = rng.randrange(len(path) - 1)
        path[k], path[k + 1] = path[k + 1], path[k]
    elif kind == 8:  # one hash more or fewer
        content["path"] = path[:-1] if path and rng.random() < 0.5 else [*path, "0" * 64]
    elif kind == 9:  # the number of rows or columns
        data[rng.choice("nd")] += rng.choice([1, -1, 8, 1 << 20])
    else:  # the root
        data["sha256"] = data["sha256"][:-1] + ("0" if data["sha256"][-1] != "0" else "1")
    return content


@pytest.mark.parametrize("seed", range(3))
def test_changed_rows_hashes_and_lengths_are_refused(seed):
    X, y = noise(133, 3, seed)
    content, rng = separability(X, y).portable.content, random.Random(seed)
    for _ in range(60):
        mutant = changed(copy.deepcopy(content), rng)
        if mutant != content:
            with pytest.raises(CertificateError):
                verify(Certificate(json.loads(json.dumps(mutant))))


@pytest.mark.parametrize("d", [4, 40])
def test_its_size_is_that_of_the_rows_in_the_leaves_it_opens(d):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, d)), rng.integers(0, 2, 2000)
    carried = separability(X, y).portable
    rows = carried.content["rows"]
    assert all(len(some) == checker.rows_of_leaf(d) for some in rows.values())
    assert len(json.dumps(carried.content)) < 1.5 * len(json.dumps(rows))


def test_certify_portable_and_verify_without_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = noise()
    lines = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d,label", *lines, ""]))
    main(["certify", "t.csv", "--portable"])
    (tmp_path / "t.csv").unlink()
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(["verify", "certificate.json"])
    assert ended.value.code == 0
    assert "the table with the fingerprint" in " ".join(capsys.readouterr().out.split())


def test_certify_refuses_to_carry_what_is_about_all_rows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,y\n")
    for more in ([], ["--claim", "margin"], ["--multiclass", "ovr"]):
        with pytest.raises(SystemExit) as ended:
            main(["certify", "t.csv", "--portable", *more])
        assert ended.value.code == 2
        assert "Traceback" not in capsys.readouterr().err

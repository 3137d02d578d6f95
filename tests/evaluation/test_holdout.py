"""The seal, tried as a careless user would try it: counts are right and no line is lost."""

from __future__ import annotations

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, LogisticRegression

import separatrix as sx
from separatrix.errors import DataError, LedgerError, OpenedWarning, ParameterError
from separatrix.evaluation.ledger import ledger_path
from separatrix.validation.row_hashes import numbered, value_marks


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    return X, (X[:, 0] + rng.normal(size=200) > 0).astype(int)


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "deep" / "ledger.jsonl"


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def model(X, y, C=1.0):
    return LogisticRegression(C=C).fit(X, y)


def test_first_opening_then_a_reread(table, ledger):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    assert h.openings().times == 0
    m = model(*h.train)
    first = h.open_test(m)
    assert (first.n, first.openings.number, first.openings.before, first.openings.reread) == (40, 1, 0.0, False)
    assert "used once" in str(first)
    again = h.open_test(m)
    assert again.openings.reread
    assert (again.openings.number, len(lines(ledger))) == (1, 1)
    assert again.accuracy == first.accuracy
    with pytest.warns(OpenedWarning, match="100% of these test rows were already used once"):
        other = h.open_test(model(*h.train, C=1e-3))
    assert (other.openings.number, len(lines(ledger))) == (2, 2)
    assert lines(ledger)[1]["rows"] is None  # the same rows are written down once


def test_the_test_part_is_no_attribute(table, ledger):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    with pytest.raises(DataError, match="open_test"):
        _ = h.test
    assert "held out" in str(h)
    assert repr(h._sealed) == "<40 held-out rows>"
    bare = sx.holdout(*table, validation=0, random_state=0, ledger=ledger)
    with pytest.raises(DataError, match="no validation part"):
        _ = bare.validation


def test_new_seed_slice_order_and_copies_find_the_same_rows(table, ledger):
    X, y = table
    h = sx.holdout(X, y, random_state=0, ledger=ledger)
    m = model(*h.train)
    h.open_test(m)
    opened = set(range(200)) - set(h.train_rows) - set(h.validation_rows)
    rng = np.random.default_rng(1)
    mixed = rng.permutation(200)
    for rows, seed in ((np.arange(200), 5), (np.arange(50, 200), 0), (mixed, 2), (np.flatnonzero(y == 1), 3)):
        labels = y[rows] if len(set(y[rows])) == 2 else np.arange(len(rows)) % 2
        again = sx.holdout(X[rows].copy(), labels, random_state=seed, ledger=ledger)
        test = set(range(len(rows))) - set(again.train_rows) - set(again.validation_rows)
        expected = np.mean([int(rows[i]) in opened for i in test])
        assert again.openings().before == pytest.approx(expected)
    for twin in (copy.copy(h), copy.deepcopy(h), pickle.loads(pickle.dumps(h))):
        assert twin.open_test(m).openings.reread
    with pytest.warns(OpenedWarning, match="once"):
        pickle.loads(pickle.dumps(h)).open_test(model(*h.train, C=1e-4))


def row_marks(X):
    """As ``holdout`` knows rows: by their values, equal ones also by their number."""
    return numbered(value_marks(X))


def test_other_containers_hold_the_same_rows(table):
    X = np.round(table[0], 1)
    X[5, 2] = -0.0
    marks = row_marks(X)
    assert len(set(marks.tolist())) == len(X)
    names = list("abcd")
    for same in (
        X.tolist(),
        np.asfortranarray(X),
        X.astype(object),
        sp.csr_matrix(X),
        sp.csc_array(X),
        pd.DataFrame(X, columns=names),
        pl.DataFrame(X, schema=names),
    ):
        np.testing.assert_array_equal(row_marks(same), marks)
    whole = np.arange(12).reshape(6, 2)
    np.testing.assert_array_equal(row_marks(whole), row_marks(whole.astype(np.float32)))
    text = pd.DataFrame({"t": ["a", "b", None], "x": [1.0, np.nan, 3.0]})
    np.testing.assert_array_equal(row_marks(text), row_marks(pl.from_pandas(text)))
    assert len(set(row_marks(np.zeros((5, 2))).tolist())) == 5  # equal rows are told apart by their number
    assert set(row_marks(X[::-1]).tolist()) == set(marks.tolist())


def test_rows_may_be_named(table, ledger):
    X, y = table
    ids = [f"patient {i}" for i in range(200)]
    h = sx.holdout(X, y, ids=ids, random_state=0, ledger=ledger)
    h.open_test(model(*h.train))
    scaled = sx.holdout(X * 2, y, ids=ids, random_state=0, ledger=ledger)
    assert scaled.openings().before == 1.0
    assert sx.holdout(X * 2, y, random_state=0, ledger=ledger).openings().before == 0.0


SCRIPT = textwrap.dedent(
    """
    import sys, warnings, numpy as np, separatrix as sx
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)); y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    class Linear:
        classes_ = np.array([0, 1])
        def __init__(self, w): self.w = w
        def predict(self, X): return (X @ self.w > 0).astype(int)
        def decision_function(self, X): return X @ self.w
    h = sx.holdout(X, y, random_state=int(sys.argv[2]), ledger=sys.argv[1])
    print("ready", flush=True); sys.stdin.readline()
    for k in range(int(sys.argv[3])):
        e = h.open_test(Linear(np.random.default_rng([int(sys.argv[4]), k]).normal(size=4)))
    print(e.openings.number)
    """
)


def process(ledger, seed, models, salt, wait=False):
    p = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(ledger), str(seed), str(models), str(salt)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert p.stdout.readline() == "ready\n"
    return p


def test_two_processes_at_once_lose_no_line(ledger):
    pair = [process(ledger, 0, 30, salt) for salt in (1, 2)]
    for p in pair:
        p.stdin.write("go\n")
        p.stdin.flush()
    numbers = [int(p.communicate()[0]) for p in pair]
    assert [p.returncode for p in pair] == [0, 0]
    assert len(lines(ledger)) == 60
    assert max(numbers) == 60
    assert len({line["model"] for line in lines(ledger)}) == 60


def test_a_new_process_and_seed_go_on_counting(ledger):
    for seed, expected in ((0, 1), (0, 1), (7, 2)):
        out, _ = process(ledger, seed, 1, salt=3).communicate("go\n")
        assert int(out) == expected


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process by signal")
def test_a_crash_amid_an_opening(table, ledger, monkeypatch):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    m = model(*h.train)
    for name, kept in (("fsync", 1), ("write", 1)):  # killed after the line was written; killed before it
        child = os.fork()
        if not child:
            monkeypatch.setattr(os, name, lambda *a: os.kill(os.getpid(), signal.SIGKILL))
            h.open_test(model(*h.train, C=1e-2 if name == "fsync" else 1e-3))
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert len(lines(ledger)) == kept
    with pytest.warns(OpenedWarning, match="once"):
        assert h.open_test(m).openings.number == 2


def test_a_line_cut_short_is_skipped_and_left(table, ledger):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    h.open_test(model(*h.train))
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + whole[:100])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OpenedWarning)
        e = h.open_test(model(*h.train, C=1e-3))
    assert (e.openings.number, e.openings.damaged) == (2, 1)
    assert ledger.read_bytes().startswith(whole + whole[:100] + b"\n{")


def test_a_ledger_that_cannot_be_written_keeps_the_test_set_closed(table, tmp_path):
    asked = []

    class Curious:
        classes_ = np.array([0, 1])

        def predict(self, X):
            asked.append(len(X))
            return np.zeros(len(X), dtype=int)

    blocked = tmp_path / "file"
    blocked.write_text("")
    for path in (tmp_path, blocked / "below" / "ledger"):
        h = sx.holdout(*table, random_state=0, ledger=path)
        with pytest.raises(LedgerError, match="the test rows were not used"):
            h.open_test(Curious())
    with pytest.raises(LedgerError, match="it is not a file"):
        sx.holdout(*table, random_state=0, ledger=os.devnull).open_test(Curious())
    assert asked


def test_a_full_disk_takes_back_what_it_wrote(table, ledger, monkeypatch):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    h.open_test(model(*h.train))
    whole, write, calls = ledger.read_bytes(), os.write, []

    def half(file, data):
        calls.append(len(data))
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, data[:20])

    monkeypatch.setattr(os, "write", half)
    with pytest.raises(LedgerError, match="No space left"):
        h.open_test(model(*h.train, C=1e-3))
    assert ledger.read_bytes() == whole


def test_a_model_that_fails_opens_nothing(table, ledger):
    h = sx.holdout(*table, random_state=0, ledger=ledger)
    with pytest.raises(ParameterError, match="pass a fitted model"):
        h.open_test(object())
    assert not ledger.exists()


def test_regression_unseen_classes_and_positive(table, ledger):
    X, y = table
    h = sx.holdout(X, X[:, 1] * 2 + 1, random_state=0, ledger=ledger)
    assert h.how == "at random"
    assert h.open_test(LinearRegression().fit(*h.train)).r2.value == pytest.approx(1.0)
    h = sx.holdout(X, np.where(np.arange(200) % 20 == 0, "rare", np.where(y, "a", "b")), random_state=1, ledger=ledger)
    known = h.train[1] != "rare"
    with pytest.warns(OpenedWarning):
        e = h.open_test(model(h.train[0][known], h.train[1][known]))
    assert "classes unseen in training ('rare')" in e.notes[0]
    assert e.per_class["rare"]["recall"].value == 0
    assert not e.log_loss.defined
    h = sx.holdout(X, y, random_state=2, ledger=ledger)
    with pytest.warns(OpenedWarning):
        e = h.open_test(model(*h.train), positive=0)
    assert e.positive == 0
    assert e.roc_auc.value > 0.5


def test_where_the_ledger_is(monkeypatch, tmp_path):
    monkeypatch.setenv("SEPARATRIX_LEDGER", str(tmp_path / "x"))
    assert ledger_path() == tmp_path / "x"
    assert ledger_path(tmp_path / "y") == tmp_path / "y"
    monkeypatch.delenv("SEPARATRIX_LEDGER")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert ledger_path() == tmp_path / "separatrix" / "ledger.jsonl"
    with pytest.raises(LedgerError, match="path of a file"):
        ledger_path(7)
    parts = sx.holdout(np.arange(40.0).reshape(20, 2), np.arange(20) % 2, ledger=tmp_path / "none")
    assert parts.openings().times == 0
    assert not (tmp_path / "none").exists()

"""Rows that lie in files: the same fits and proofs as in memory, damage is noticed, nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix import (
    AROW,
    AveragedPerceptron,
    LeastSquares,
    LogisticRegression,
    PassiveAggressive,
    Perceptron,
    PocketPerceptron,
    VotedPerceptron,
    margin,
    mistake_bound,
    separability,
    verify,
)
from separatrix.data import cache_rows
from separatrix.data.sparse_text import read_libsvm
from separatrix.errors import DataError, ParameterError
from separatrix.models.perceptron import passes


def svmlight(path, n=3000, d=30, seed=0, base=1, entries=6):
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    with path.open("w") as file:
        for _ in range(n):
            columns = np.sort(rng.choice(d, size=entries, replace=False))
            values = np.round(rng.normal(size=entries), 3)
            label = 1 if w[columns] @ values + 0.2 * rng.normal() > 0 else -1
            pairs = " ".join(f"{c + base}:{v:g}" for c, v in zip(columns.tolist(), values.tolist(), strict=True))
            file.write(f"{label} {pairs}\n")
    return path


def dense(path, n=2000):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(n, 4)), 3)
    y = (X @ [1.0, -2.0, 0.5, 0.0] > 0.3).astype(int)
    lines = (",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True))
    path.write_text("a,b,c,d,y\n" + "".join(f"{line}\n" for line in lines))
    return path, X, y


@pytest.mark.parametrize("base", [0, 1])
def test_svmlight_rows_are_those_of_the_reader(tmp_path, base):
    path = svmlight(tmp_path / "a.svm", base=base)
    X, y = read_libsvm(path)
    with cache_rows(path, folder=tmp_path / "c", memory=1 << 24) as rows:
        assert (rows.X != X).nnz == 0
        assert rows.X.shape == X.shape
        assert np.array_equal(rows.y, y)
        assert not rows.X.data.flags.writeable
        assert rows.X.data.flags.owndata is False
    assert list((tmp_path / "c").iterdir()) == []


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_all_that_needs_several_passes_gives_the_bits_of_memory(tmp_path):
    path = svmlight(tmp_path / "a.svm")
    X, y = read_libsvm(path)
    with cache_rows(path, folder=tmp_path) as rows:
        for learner in (Perceptron(max_iter=5), AROW(max_iter=5), AveragedPerceptron(order="blocks", max_iter=5)):
            own, other = learner.fit(X, y).coef_.copy(), learner.fit(rows.X, rows.y).coef_
            assert np.array_equal(own, other)
        for learner in (LogisticRegression(C=1.0), LeastSquares(alpha=1.0)):
            assert np.array_equal(learner.fit(X, y).coef_.copy(), learner.fit(rows.X, rows.y).coef_)
        found = separability(rows.X, rows.y)
        assert found.verdict == separability(X, y).verdict == "overlap"
        assert verify(found.certificate, rows.X, rows.y)


def test_margins_and_bounds_of_dense_rows(tmp_path):
    path, X, y = dense(tmp_path / "a.csv")
    with cache_rows(path, "y", folder=tmp_path) as rows:
        assert np.array_equal(rows.X, X)
        assert np.array_equal(rows.y, y)
        assert separability(rows.X, rows.y).verdict == "complete"
        assert mistake_bound(rows.X, rows.y).bound == mistake_bound(X, y).bound
        cached, here = margin(rows.X, rows.y), margin(X, y)
        assert (cached.lower, cached.upper) == (here.lower, here.upper)
        summary = LeastSquares().fit(rows.X, rows.y)
        assert np.array_equal(summary.coef_, LeastSquares().fit(X, y).coef_)


def test_chunks_of_any_source_and_labels_of_text(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    for made in (X, csr_array(X)):
        chunks = [(made[begin : begin + 70], y[begin : begin + 70]) for begin in range(0, 300, 70)]
        with cache_rows(iter(chunks), folder=tmp_path) as rows:
            assert rows.y.tolist() == y.tolist()
            assert np.array_equal(rows.X if isinstance(rows.X, np.ndarray) else rows.X.toarray(), X)
    for wrong, words in (
        ([(X, y), (X[:, :2], y)], "2 columns after 3"),
        ([(X, y), (csr_array(X), y)], "some sparse"),
        ([(X, y), (X, np.zeros(300))], "one type of label"),
        ([], "no rows"),
        ([(X, np.full(300, "x" * 65))], "64 letters"),
        ([(X, y[:3])], "3"),
    ):
        with pytest.raises(DataError, match=words):
            cache_rows(iter(wrong), folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_kept_cache_is_used_again_and_only_the_user_may_read_it(tmp_path):
    path = svmlight(tmp_path / "a.svm")
    first = cache_rows(path, folder=tmp_path / "c", keep=True)
    assert first.notes == ["made"]
    assert stat.S_IMODE(first.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in first.folder.iterdir()} == {0o600}
    again = cache_rows(path, folder=tmp_path / "c", keep=True)
    assert again.notes == ["read"]
    assert (again.X != first.X).nnz == 0
    time.sleep(0.01)
    with path.open("a") as file:
        file.write("1 1:1\n")
    changed = cache_rows(path, folder=tmp_path / "c", keep=True)
    assert changed.notes == ["made again: the source has changed"]
    assert changed.n == 3001
    changed.remove()
    assert list((tmp_path / "c").iterdir()) == []


@pytest.mark.parametrize("damage", ["bit", "cut", "header", "gone", "version"])
def test_a_damaged_cache_is_noticed_and_made_again(tmp_path, damage):
    path = svmlight(tmp_path / "a.svm")
    folder = cache_rows(path, folder=tmp_path / "c", keep=True).folder
    own = folder / "data"
    content = bytearray(own.read_bytes())
    if damage == "bit":
        content[1234] ^= 1
        own.write_bytes(content)
    elif damage == "cut":
        own.write_bytes(content[:-8])
    elif damage == "gone":
        own.unlink()
    else:
        header = folder / "header.json"
        text = header.read_text()
        header.write_text(text[:-5] if damage == "header" else resealed(text))
    rows = cache_rows(path, folder=tmp_path / "c", keep=True)
    assert rows.notes[0].startswith("made again:")
    assert (read_libsvm(path)[0] != rows.X).nnz == 0


def resealed(text):
    import hashlib

    header = json.dumps({**json.loads(text.partition(" ")[2]), "version": 99}, sort_keys=True)
    return f"{hashlib.sha256(header.encode()).hexdigest()} {header}"


def test_a_killed_process_leaves_no_cache(tmp_path):
    path = svmlight(tmp_path / "a.svm")
    code = (
        "import sys, time; from separatrix.data import cache_rows; "
        "rows = cache_rows(sys.argv[1], folder=sys.argv[2]); print(rows.n, flush=True); time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, path, tmp_path / "c"], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"3000\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert list((tmp_path / "c").iterdir()) == []


def test_where_it_lies(tmp_path, monkeypatch):
    path = svmlight(tmp_path / "a.svm", n=10)
    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path / "here"))
    assert cache_rows(path, keep=True).folder.parent == tmp_path / "here"
    monkeypatch.delenv("SEPARATRIX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "there"))
    assert cache_rows(path, keep=True).folder.parent == tmp_path / "there" / "separatrix"


def test_what_is_refused(tmp_path):
    path, _, _ = dense(tmp_path / "a.csv", 50)
    for wrong, words in (
        ({"source": tmp_path / "none"}, "no file"),
        ({"source": path}, "pass target="),
        ({"source": path, "target": "z"}, "no column 'z'"),
    ):
        with pytest.raises(DataError, match=words):
            cache_rows(**wrong, folder=tmp_path)
    with pytest.raises(ParameterError, match="memory"):
        cache_rows(path, "y", memory=5)
    with pytest.raises(ParameterError, match="cannot be recognised"):
        cache_rows([([[1.0]], [1])], keep=True, folder=tmp_path)
    path.write_text("a,y\n1,0\n2,\n")
    with pytest.raises(DataError, match="empty cell in row 1"):
        cache_rows(path, "y", folder=tmp_path)
    (tmp_path / "w.csv").write_text("a,y\nx,0\ny,1\n")
    with pytest.raises(DataError, match="pass chunks"):
        cache_rows(tmp_path / "w.csv", "y", folder=tmp_path)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
@pytest.mark.parametrize(
    "learner", [Perceptron, AveragedPerceptron, VotedPerceptron, PocketPerceptron, PassiveAggressive]
)
def test_blocks_are_shuffled_by_the_seed(learner, monkeypatch):
    monkeypatch.setattr(passes, "BLOCK", 16)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = (X[:, 0] + 0.5 * rng.normal(size=100) > 0).astype(int)
    one, two, other = (
        learner(order="blocks", max_iter=3, random_state=seed).fit(X, y).decision_function(X) for seed in (0, 0, 1)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_an_order_by_blocks_has_every_row_once_and_keeps_blocks_together(monkeypatch):
    monkeypatch.setattr(passes, "BLOCK", 16)
    order = passes.Order.named("blocks", np.array([5], dtype=np.uint64))
    first, second = order.next(100).copy(), order.next(100).copy()
    assert sorted(first.tolist()) == sorted(second.tolist()) == list(range(100))
    assert not np.array_equal(first, second)
    changes = np.count_nonzero(np.diff(first // 16))
    assert changes == 6


MANY = """
import os, resource, sys
limit = int(sys.argv[2]) << 20
from separatrix import AveragedPerceptron, LeastSquares, LogisticRegression, separability
from separatrix.data import cache_rows
import scipy.sparse, numpy as np
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
with cache_rows(sys.argv[1], folder=sys.argv[3], memory=64 << 20) as rows:
    for model in (AveragedPerceptron(order="blocks", max_iter=2), LogisticRegression(C=1.0), LeastSquares(alpha=1.0)):
        model.fit(rows.X, rows.y)
        np.save(os.path.join(sys.argv[3], type(model).__name__ + ".npy"), model.coef_)
    print(rows.n, separability(rows.X, rows.y).verdict)
"""


def learned_within(folder, megabytes, memory):
    svmlight(folder / "one.svm", 4000, 200, entries=100)
    text = (folder / "one.svm").read_bytes()
    with (folder / "a.svm").open("wb") as file:
        while file.tell() < megabytes * 1_000_000:
            file.write(text)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MANY, folder / "a.svm", str(memory), folder],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == separability(*read_libsvm(folder / "one.svm")).verdict
    X, y = read_libsvm(folder / "a.svm")
    with np.errstate(all="ignore"):
        expected = AveragedPerceptron(order="blocks", max_iter=2).fit(X, y)
    assert np.array_equal(np.load(folder / "AveragedPerceptron.npy"), expected.coef_)
    Path(folder / "a.svm").unlink()


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_a_file_larger_than_the_memory_that_is_allowed_small(tmp_path):
    learned_within(tmp_path, 60, 200)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_a_gigabyte_within_256_megabytes(tmp_path):
    learned_within(tmp_path, 1000, 256)

"""Files larger than memory: the model files and certificates of a fit in memory, from rows on disk."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys

import numpy as np
import pytest
from tests.commands import CODE, separatrix

from separatrix import AveragedPerceptron, LeastSquares, load
from separatrix.cli import disk_fit as machine
from separatrix.cli.disk_fit import COPYING, memory_for
from separatrix.cluster import fit_from_disk, fit_source
from separatrix.errors import DataError


@pytest.fixture(autouse=True)
def small_partitions(monkeypatch, tmp_path):
    """Partitions of 20 kB, so that small tables have many; caches in a folder of the test."""
    monkeypatch.setattr(fit_from_disk, "LEAST", 20_000)
    monkeypatch.setattr(fit_from_disk, "SHARE", 10_000)
    monkeypatch.setenv("SEPARATRIX_CACHE", str(tmp_path / "caches"))


def table(path, n=3000, seed=0, missing=True):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 3)
    g = rng.choice(["one", "two", "three"], n)
    price = np.round(X @ [3.0, -1.0, 0.5, 0.0] + rng.normal(size=n), 3)
    y = np.where(X @ [1.0, -2.0, 0.5, 0.0] + (g == "one") + 0.3 * rng.normal(size=n) > 0, "yes", "no")
    lines = ["p,q,r,s,g,price,relapse"]
    for k in range(n):
        cells = [str(v) for v in X[k].tolist()]
        cells[2] = "" if missing and k % 97 == 0 else cells[2]
        lines.append(",".join([*cells, g[k], str(price[k]), y[k]]))
    path.write_text("\n".join(lines) + "\n")
    return path


def svmlight(path, n=4000, seed=0):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(n):
        columns = np.sort(rng.choice(20, size=5, replace=False))
        values = np.round(rng.normal(size=5), 2)
        label = 1 if values[0] + values[1] > 0 else -1
        lines.append(f"{label} " + " ".join(f"{c + 1}:{v}" for c, v in zip(columns, values, strict=True)))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("--target", "relapse", "--learner", "averaged-perceptron", "--order", "blocks"),
        ("--target", "relapse", "--learner", "logistic-regression", "--C", "1", "--drop", "price"),
        ("--target", "price", "--learner", "least-squares", "--drop", "relapse"),
    ],
)
def test_the_model_file_is_that_of_a_fit_in_memory(tmp_path, words):
    path = table(tmp_path / "t.csv")
    assert separatrix("fit", path, *words, "--out", tmp_path / "a.sepx").returncode == 0
    done = separatrix("fit", path, *words, "--memory", "16MB", "--out", tmp_path / "b.sepx")
    assert done.returncode == 0, done.stderr
    assert "rows on disk, removed at the end" in " ".join(done.stdout.split())
    assert (tmp_path / "a.sepx").read_bytes() == (tmp_path / "b.sepx").read_bytes()
    assert list((tmp_path / "caches").iterdir()) == []


def test_the_default_learner_standardises_as_in_memory_to_rounding(tmp_path):
    path = table(tmp_path / "t.csv")
    models = []
    for name, more in (("a", ()), ("b", ("--memory", "16MB"))):
        done = separatrix("fit", path, "-t", "relapse", "--json", "--out", tmp_path / name, *more)
        assert done.returncode == 0, done.stderr
        models.append(load(tmp_path / name))
    assert "learner = logistic-regression --C 1, standardised columns" in json.loads(done.stdout)["guesses"]
    one, two = (model.learner for model in models)
    assert np.allclose(one.coef_, two.coef_, rtol=1e-9, atol=1e-12)
    assert models[0].positive == models[1].positive == "yes"


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_svmlight_files_several_of_them_and_weights_of_vowpal_wabbit(tmp_path):
    svmlight(tmp_path / "a1.svm", seed=1)
    svmlight(tmp_path / "a2.svm", seed=2)
    both = tmp_path / "both.svm"
    both.write_text((tmp_path / "a1.svm").read_text() + (tmp_path / "a2.svm").read_text())
    words = ("--learner", "averaged-perceptron", "--max-iter", "3", "--json")
    separatrix("fit", both, *words, "--out", tmp_path / "a.sepx")
    done = separatrix("fit", both, *words, "--memory", "16MB", "--out", tmp_path / "b.sepx")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.sepx").read_bytes() == (tmp_path / "b.sepx").read_bytes()
    glob = fit_source(AveragedPerceptron(max_iter=3), tmp_path / "a[12].svm", memory=16_000_000)
    assert glob.learner.coef_.tobytes() == load(tmp_path / "b.sepx").learner.coef_.tobytes()
    (tmp_path / "w.vw").write_text("1 2.0 | a:1 b:2\n-1 1.0 | a:-1 b:0.5\n" * 50)
    weighted = separatrix("fit", tmp_path / "w.vw", *words, "--memory", "16MB", "--out", tmp_path / "d.sepx")
    assert separatrix("fit", tmp_path / "w.vw", *words, "--out", tmp_path / "c.sepx").returncode == 0
    assert weighted.returncode == 0, weighted.stderr
    assert (tmp_path / "c.sepx").read_bytes() == (tmp_path / "d.sepx").read_bytes()


def test_a_kept_cache_is_used_again_and_made_again_where_the_file_has_changed(tmp_path):
    path, folder = table(tmp_path / "t.csv"), tmp_path / "kept"
    words = ("fit", path, "-t", "relapse", "--memory", "16MB", "--cache", folder, "--keep-cache", "--json")
    words += ("--learner", "averaged-perceptron", "--out")
    first = json.loads(separatrix(*words, tmp_path / "a.sepx").stdout)
    again = json.loads(separatrix(*words, tmp_path / "b.sepx").stdout)
    (own,) = folder.iterdir()
    assert first["guesses"][0] == f"rows on disk made, kept in {own}"
    assert again["guesses"][0] == f"rows on disk read from {own}"
    assert again["guesses"][1:] == first["guesses"][1:]
    assert (tmp_path / "a.sepx").read_bytes() == (tmp_path / "b.sepx").read_bytes()
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    table(path, seed=1)
    changed = json.loads(separatrix(*words, tmp_path / "c.sepx").stdout)
    assert "made again: the source has changed" in changed["guesses"][0]
    with (own / "X").open("r+b") as file:
        file.seek(1000)
        file.write(b"\x55")
    damaged = json.loads(separatrix(*words, tmp_path / "d.sepx").stdout)
    assert "made again: the checksum of its array 'X' does not match" in damaged["guesses"][0]
    assert (tmp_path / "c.sepx").read_bytes() == (tmp_path / "d.sepx").read_bytes()


def test_free_text_is_kept_with_its_frequencies(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array(
        ["river", "stone", "light", "winter", "letter", "garden", "bottle", "window", "paper", "silver", "mountain"]
    )
    lines = [f"{' '.join(rng.choice(words, 7))} number {k},{k % 2}" for k in range(2000)]
    (tmp_path / "t.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    found = [fit_source(AveragedPerceptron(), tmp_path / "t.csv", keep=True, memory=16_000_000) for _ in range(2)]
    plain = separatrix("fit", tmp_path / "t.csv", "-l", "averaged-perceptron", "--out", tmp_path / "m.sepx")
    assert plain.returncode == 0, plain.stderr
    expected = load(tmp_path / "m.sepx").learner.coef_
    assert all(np.array_equal(model.learner.coef_, expected) for model in found)


@pytest.mark.parametrize("claim", ["separability", "margin", "margin-lifted"])
@pytest.mark.parametrize("kind", ["csv", "svm"])
def test_certificates_are_those_of_memory(tmp_path, claim, kind):
    if kind == "csv":
        rng = np.random.default_rng(3)
        rows = [(a, b, "up" if a + b > 0.5 else "down") for a, b in rng.normal(size=(3000, 2)).round(3).tolist()]
        path = tmp_path / "t.csv"
        path.write_text("a,b,label\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows if abs(a + b - 0.5) > 0.1))
    else:
        path = tmp_path / "t.svm"
        path.write_text("1 1:2 2:1\n-1 1:-1 2:1\n1 1:3\n-1 2:2\n" * 200)
    words = ("certify", path, "--claim", claim)
    assert separatrix(*words, "--out", tmp_path / "a.json").returncode == 0
    done = separatrix(*words, "--memory", "16MB", "--out", tmp_path / "b.json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert separatrix("verify", tmp_path / "b.json", path).returncode == 0


def test_a_file_larger_than_half_of_memory_goes_to_disk_by_itself(tmp_path, monkeypatch):
    path = table(tmp_path / "t.csv")
    (tmp_path / "memory.max").write_text("100000\n")
    assert machine.machine_memory(tmp_path / "memory.max") == 100_000
    monkeypatch.setattr(machine, "machine_memory", lambda: 100_000_000)
    options = {"memory": None, "cache": None, "keep_cache": False, **dict.fromkeys(COPYING)}
    assert memory_for(str(path), options) is None
    with path.open("ab") as file:
        file.truncate(60_000_000)
    assert memory_for(str(path), options) == 25_000_000
    assert memory_for(f"SELECT * FROM '{path}' LIMIT 5", options) is None  # how many rows it takes is not known
    assert memory_for(str(path), {**options, "cv": 5}) is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--memory", "lots"), "'lots' is not a size: write 256MB or 4GB"),
        (("--memory", "3"), "16 MB or more"),
        (("--cache", "x"), "give --memory too"),
        (("--memory", "1GB", "--cv", "5"), "--cv holds all rows in memory: leave it or --memory out"),
        (("--memory", "1GB", "--target", "nothing"), "has no column 'nothing'"),
    ],
)
def test_what_is_refused(tmp_path, words, said):
    path = table(tmp_path / "t.csv", n=50)
    done = separatrix("fit", path, "-t", "relapse", "--out", tmp_path / "m.sepx", *words)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())
    assert not (tmp_path / "m.sepx").exists()


def test_files_that_can_only_be_read_whole_are_refused_where_memory_is_short(tmp_path):
    import gzip

    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(os.urandom(6_000_000)))
    with pytest.raises(DataError, match=r"t\.csv\.gz can only be read whole .*unpack it"):
        fit_source(LeastSquares(), tmp_path / "t.csv.gz", "y", memory=16_000_000)
    done = separatrix("fit", "example:noise", "--memory", "1GB", "--out", tmp_path / "m.sepx")
    assert (done.returncode, "--memory is for files" in done.stderr) == (2, True)


def test_empty_files_and_files_of_several_kinds(tmp_path):
    for name, text in (("a.svm", ""), ("b.csv", "x,y\n"), ("c1.svm", "1 1:2\n"), ("c2.vw", "1 | a\n")):
        (tmp_path / name).write_text(text)
    words = ("--memory", "16MB", "--out", tmp_path / "m.sepx")
    none = "nothing to learn from"
    for source, said in (("a.svm", none), ("b.csv", none), ("c?.*", "several kinds")):
        done = separatrix("fit", tmp_path / source, *words, "--learner", "perceptron")
        assert (done.returncode, said in " ".join(done.stderr.split())) == (2, True), done.stderr
        default = separatrix("fit", tmp_path / source, *words)
        assert default.returncode == 2
        assert "Traceback" not in default.stderr


def wide_table(path, n, d=60):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(n, d)), 4)
    g, h = rng.choice(["one", "two", "three"], n), rng.choice([f"k{k}" for k in range(30)], n)
    y = np.where(X[:, 0] - X[:, 1] + (g == "one") + 0.5 * rng.normal(size=n) > 0, "yes", "no")
    lines = [",".join([*(f"x{j}" for j in range(d)), "g", "h", "relapse"])]
    lines += [",".join([*map(str, X[k].tolist()), g[k], h[k], y[k]]) for k in range(n)]
    path.write_text("\n".join(lines) + "\n")


def fitted_within(folder, make, megabytes, limit):
    """Fit a CSV file with categories under a limit of memory; the model is that of a fit without one."""
    make(folder / "one.csv", 20_000)
    head, _, text = (folder / "one.csv").read_bytes().partition(b"\n")
    path = folder / "many.csv"
    with path.open("wb") as file:
        file.write(head + b"\n")
        while file.tell() < megabytes * 1_000_000:
            file.write(text)
    words = ["fit", path, "-t", "relapse", "-l", "averaged-perceptron", "--max-iter", "2", "--quiet", "--out"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, *map(str, words), folder / "a.sepx", "--memory", "64MB"],
        capture_output=True,
        text=True,
        env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit << 20, limit << 20)),
    )
    assert done.returncode == 0, done.stderr
    assert separatrix(*words, folder / "b.sepx").returncode == 0
    assert (folder / "a.sepx").read_bytes() == (folder / "b.sepx").read_bytes()
    path.unlink()


def test_a_table_larger_than_the_memory_that_is_allowed_small(tmp_path):
    fitted_within(tmp_path, table, 4, 200)


@pytest.mark.slow
@pytest.mark.parametrize(("make", "megabytes"), [(table, 100), (wide_table, 1000)])
def test_a_gigabyte_and_millions_of_rows_of_a_table_within_256_megabytes(tmp_path, make, megabytes):
    fitted_within(tmp_path, make, megabytes, 256)

"""File to model: our readers beside scikit-learn, pandas, polars and DuckDB, in units of ``wc -l`` on the warm file.

Run with ``python -m benchmarks files``; it writes its own files (up to 4 GB at a time) into a temporary folder.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np

from separatrix import Perceptron
from separatrix.data.duckdb_reader import few_threads
from separatrix.data.file_pieces import workers
from separatrix.data.sources import open_source
from separatrix.data.sparse_text import libsvm_chunks, read_libsvm

ROWS, FEATURES, PAIRS = 500_000, 50_000, 64
CSV_ROWS, CSV_COLUMNS = 1_000_000, 20


def write_svmlight(path: Path, rows: int = ROWS) -> None:
    """Rows of about 64 pairs with Zipf-like features and values of a few digits."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for begin in range(0, rows, 10_000):
            ids = (FEATURES ** rng.random((10_000, PAIRS))).astype(int)
            if begin == 0:
                ids[0, 0] = FEATURES - 1  # a model of the first rows knows every feature
            values = rng.integers(1, 99_999, size=ids.shape)
            labels = rng.integers(0, 2, size=10_000) * 2 - 1
            lines = []
            for label, own, digits in zip(labels.tolist(), ids.tolist(), values.tolist(), strict=True):
                pairs = dict(sorted(zip(own, digits, strict=True)))
                lines.append(f"{label} " + " ".join(f"{k}:0.{v:05d}" for k, v in pairs.items()))
            file.write("\n".join(lines) + "\n")


def write_csv(path: Path, rows: int = CSV_ROWS) -> None:
    """Twenty columns with six decimals, and the class."""
    rng = np.random.default_rng(1)
    with path.open("w") as file:
        file.write(",".join([f"x{j}" for j in range(CSV_COLUMNS)] + ["y"]) + "\n")
        for _ in range(0, rows, 50_000):
            X = rng.normal(size=(50_000, CSV_COLUMNS))
            y = (X[:, 0] > X[:, 1]).astype(int)
            body = "\n".join(
                ",".join([*(f"{v:.6f}" for v in row), str(label)])
                for row, label in zip(X.tolist(), y.tolist(), strict=True)
            )
            file.write(body + "\n")


def write_wide(path: Path, rows: int = 200, columns: int = 10_000) -> None:
    """Numbers with three decimals, a word in every hundredth column, and two columns of words behind them."""
    rng = np.random.default_rng(2)
    with path.open("w") as file:
        file.write(",".join([*(f"c{j}" for j in range(columns)), "ward", "ok"]) + "\n")
        for i, row in enumerate(rng.normal(size=(rows, columns)).tolist()):
            cells = [f"{v:.3f}" if j % 100 else "abc"[int(10 * abs(v)) % 3] for j, v in enumerate(row)]
            file.write(",".join([*cells, "AB"[i % 2], "yes" if i % 3 else "no"]) + "\n")


def best(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Least seconds by the clock, and of processor time with that of children."""
    clock, processor = [], []
    for _ in range(repeats):
        before, started = used(), time.perf_counter()
        work()
        clock.append(time.perf_counter() - started)
        processor.append(used() - before)
    return min(clock), min(processor)


def used() -> float:
    """Processor seconds of this process and the children it has waited for."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(own.ru_utime + own.ru_stime for own in both)


def count_lines(path: Path) -> None:
    subprocess.run(["wc", "-l", path], capture_output=True, check=True)


def stream_fit(path: Path, threads: int) -> Perceptron:
    """One pass in arrival order over a file that need not fit into memory."""
    model = Perceptron()
    for X, y in libsvm_chunks(path, features=FEATURES, threads=threads):
        model.partial_fit(X, y, classes=[-1.0, 1.0])
    return model


def fit_svmlight(path: Path, threads: int) -> Perceptron:
    X, y = read_libsvm(path, threads=threads)
    return Perceptron(max_iter=1).fit(X, y)


def fit_csv(path: Path, threads: int) -> Perceptron:
    with few_threads() if threads == 1 else nullcontext():
        table = open_source(str(path)).read()
    X = np.column_stack([column.values for column in table.without(["y"]).columns])
    return Perceptron(max_iter=1, order="cyclic").fit(X, table["y"].labels())


def sklearn_svmlight(path: Path) -> object:
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(str(path))


def with_pandas(path: Path) -> Perceptron:
    import pandas

    frame = pandas.read_csv(path)
    return Perceptron(max_iter=1).fit(frame.drop(columns="y").to_numpy(), frame["y"].to_numpy())


def with_polars(path: Path) -> Perceptron:
    import polars

    frame = polars.read_csv(path)
    return Perceptron(max_iter=1).fit(frame.drop("y").to_numpy(), frame["y"].to_numpy())


def with_duckdb(path: Path) -> Perceptron:
    import duckdb

    columns = duckdb.sql(f"FROM read_csv('{path}')").fetchnumpy()
    y = columns.pop("y")
    return Perceptron(max_iter=1).fit(np.column_stack(list(columns.values())), y)


def table(path: Path, contenders: dict[str, Callable[[], object]], rounds: int = 5) -> None:
    """Interleaved rounds; the minimum of each, as a multiple of ``wc -l`` in the same rounds."""
    unit = best(lambda: count_lines(path), 3)
    found = dict.fromkeys(contenders, (float("inf"), float("inf")))
    for _ in range(rounds):
        unit = _less(unit, best(lambda: count_lines(path), 3))
        for name, work in contenders.items():
            found[name] = _less(found[name], best(work, 1))
    size = os.path.getsize(path) / 1e6
    load = os.getloadavg()[0]
    print(f"{path.name}: {size:.0f} MB, wc -l {unit[0] * 1e3:.0f} ms, {workers()} processors, load {load:.1f}")
    for name, (clock, processor) in found.items():
        times, effort = clock / unit[0], processor / unit[1]
        print(f"  {name:<42} {times:>7.1f} ×   processor {effort:>6.1f} ×   {size / clock:>6.0f} MB/s", flush=True)


def _less(one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
    return min(one[0], two[0]), min(one[1], two[1])


def command(*words: object) -> list[str]:
    return [sys.executable, "-c", "from separatrix.cli.main import main; main()", *map(str, words)]


def predict_large(small: Path, once: Path, folder: Path, header: bool) -> None:
    """Two gigabytes through ``separatrix predict``: the most memory it ever had, by the kernel's count."""
    large, model = folder / f"large{once.suffix}", folder / "model.sepx"
    target = ["--target", "y"] if header else []
    subprocess.run(command("fit", small, *target, "-o", model, "-q"), check=True)
    copies = 2_000_000_000 // os.path.getsize(once) + 1
    with large.open("wb") as file, once.open("rb") as first:
        file.write(first.readline() if header else b"")
        body = first.read()
        for _ in range(copies):
            file.write(body)
    started = time.perf_counter()
    running = subprocess.Popen(command("predict", model, large, "-o", folder / "out.csv", "-q"))
    most = 0
    while running.poll() is None:
        status = Path(f"/proc/{running.pid}/status").read_text().partition("VmHWM:")[2].split()
        most = max(most, int(status[0]) if status else 0)
        time.sleep(0.05)
    if running.returncode:
        raise RuntimeError(f"predict ended with exit code {running.returncode}")
    seconds = time.perf_counter() - started
    size = os.path.getsize(large) / 1e9
    print(
        f"predict {size:.2f} GB of {once.suffix}: {seconds:.0f} s, at most {most / 1024:.0f} MB of memory (limit 400)"
    )
    large.unlink()
    (folder / "out.csv").unlink()


def show_help() -> None:
    for words in (["--help"], ["fit", "--help"], ["fit", "--learner", "perceptron", "--help"]):
        clock, processor = best(partial(subprocess.run, command(*words), capture_output=True, check=True), 15)
        print(f"{' '.join(words)}: {clock:.3f} s, processor {processor:.3f} s")


def read_wide(path: Path) -> None:
    """Ten thousand columns, some of them text, through DuckDB."""
    clock, processor = best(lambda: open_source(str(path)).read(), 3)
    print(f"{path.name}: {os.path.getsize(path) / 1e6:.0f} MB, {clock:.1f} s, processor {processor:.1f} s", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="separatrix-bench-") as folder:
        sparse, dense = Path(folder) / "rows.svm", Path(folder) / "rows.csv"
        write_svmlight(sparse)
        ours = {
            "read and learn in one pass, 1 thread": lambda: stream_fit(sparse, 1),
            "read and learn in one pass, 2 threads": lambda: stream_fit(sparse, 2),
            "read all, then an epoch, 1 thread": lambda: fit_svmlight(sparse, 1),
            "read all, then an epoch, 2 threads": lambda: fit_svmlight(sparse, 2),
        }
        show_help()
        table(sparse, ours)
        table(sparse, {"scikit-learn load_svmlight_file alone": lambda: sklearn_svmlight(sparse)}, rounds=1)
        write_csv(dense)
        table(
            dense,
            {
                "read all, then an epoch, 1 thread": lambda: fit_csv(dense, 1),
                "read all, then an epoch, 2 threads": lambda: fit_csv(dense, 2),
                "pandas, then our epoch": lambda: with_pandas(dense),
                "polars, then our epoch": lambda: with_polars(dense),
                "duckdb, then our epoch": lambda: with_duckdb(dense),
            },
        )
        wide = Path(folder) / "wide.csv"
        write_wide(wide)
        read_wide(wide)
        for once, header in ((dense, True), (sparse, False)):
            small = Path(folder) / f"small{once.suffix}"
            with once.open("rb") as file:
                small.write_bytes(b"".join(file.readline() for _ in range(20_000)))
            predict_large(small, once, Path(folder), header)


if __name__ == "__main__":
    main()

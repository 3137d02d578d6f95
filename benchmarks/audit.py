"""What an audit takes: a million rows of Parquet within its budget, and 150 rows, each in a process of its own."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZES = (("1,000,000 x 20, overlapping", 1_000_000, 20, 1.0), ("1,000,000 x 20, separable", 1_000_000, 20, 0.0))
CODE = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"


def table(path: Path, n: int, d: int, noise: float) -> None:
    """Normal rows with a linear rule, as Parquet."""
    import duckdb

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    w = rng.normal(size=d)
    score = X @ w + noise * rng.normal(size=n)
    columns = {f"x{j}": X[:, j] for j in range(d)} | {"y": (score > 0).astype(np.int64)}
    con = duckdb.connect()
    con.register("made", columns)
    con.execute(f"COPY (SELECT * FROM made) TO '{path}' (FORMAT parquet)")


def run(source: str, *options: str) -> tuple[float, float]:
    """Elapsed seconds and peak gigabytes of one command."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SEPARATRIX_LEDGER": f"{folder}/ledger"}
        start = time.perf_counter()
        command = [sys.executable, "-c", CODE, "audit", source, *options, "-q", "-o", f"{folder}/audit"]
        subprocess.run(command, check=True, env=environment)
        seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6


def main() -> None:
    print("| table | budget | seconds | peak GB |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / "small.parquet"
        table(small, 150, 4, 1.0)
        seconds = min(run(str(small), "-t", "y")[0] for _ in range(3))
        print(f"| 150 x 4 | 60 | {seconds:.1f} | {run(str(small), '-t', 'y')[1]:.2f} |", flush=True)
        for title, n, d, noise in SIZES:
            path = Path(folder) / "rows.parquet"
            table(path, n, d, noise)
            seconds, peak = run(str(path), "-t", "y", "--budget", "60")
            print(f"| {title} | 60 | {seconds:.1f} | {peak:.2f} |", flush=True)


if __name__ == "__main__":
    main()

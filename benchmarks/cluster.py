"""Rounds on Ray beside Ray's own, and logistic regression by 1, 2, ... workers of one thread beside scikit-learn.

    python -m benchmarks cluster [--workers=2] [--rows=2000000] [--quick]

Rows are made where the workers are, so that reading is not part of it. Times are the least of several.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import print_table

D, PARTS = 50, 16


def option(name: str, default: int) -> int:
    return next((int(w.split("=")[1]) for w in sys.argv if w.startswith(f"--{name}=")), default)


def made_rows(part, rows):
    """Rows of a partition, the same wherever it is."""
    rng = np.random.default_rng(part.partition.index)
    part.X = rng.normal(size=(rows, D))
    w = np.linspace(-0.3, 0.3, D)
    part.y = (part.X @ w + rng.logistic(size=rows) > 0).astype(np.int64)
    part.first_row = part.partition.index * rows


def nothing(part):
    """An empty function."""
    return


def main() -> None:
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
    except ImportError:
        print("Ray is not installed: nothing was measured")
        return
    most = option("workers", 2)
    rows = (200_000 if "--quick" in sys.argv else option("rows", 2_000_000)) // PARTS
    ray.init(address="local", num_cpus=most, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        measure(ray, most, rows)
    finally:
        ray.shutdown()


def measure(ray, most: int, rows: int) -> None:
    import ray.cloudpickle

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    print(f"Ray {ray.__version__}; {rows * PARTS:,} x {D} in {PARTS} partitions; workers of one thread\n")
    counts = sorted({1, *(2**k for k in range(10) if 2**k <= most), most})
    table, first = [], None
    for workers in counts:
        own, ours, seconds = on_workers(ray, workers, rows)
        first = first or seconds
        print(f"{workers} workers: {seconds:.2f} s", file=sys.stderr, flush=True)
        table.append(
            [
                workers,
                f"{1e3 * own:.1f}",
                f"{1e3 * ours:.1f}",
                f"{1e3 * (ours - own):.1f}",
                f"{seconds:.2f}",
                f"{first / seconds:.2f}",
            ]
        )
    head = ["workers", "Ray's round, ms", "our round, ms", "above it, ms", "logistic fit, s", "against one"]
    print_table(head, table)
    print(f"\nscikit-learn's newton-cholesky on one core: {sklearn_seconds(rows):.2f} s")


def on_workers(ray, workers: int, rows: int) -> tuple[float, float, float]:
    """Ray's empty round, ours, and a logistic fit."""
    from separatrix import LogisticRegression
    from separatrix.cluster.checkpoints import Checkpoint
    from separatrix.cluster.encoded_source import EncodedSource
    from separatrix.cluster.logistic_fit import fit_logistic
    from separatrix.cluster.partitions import partitions_of
    from separatrix.cluster.ray_rounds import RayRounds
    from separatrix.cluster.schema import SourceSchema
    from separatrix.cluster.target import Target

    with TemporaryDirectory() as folder:
        for k in range(PARTS):
            (Path(folder) / f"{k:02d}.csv").write_text("x,y\n0,1\n")
        with RayRounds(partitions_of(f"{folder}/*.csv"), workers=workers) as rounds:
            rounds.prepare("rows", made_rows, rows)
            own = least(lambda: ray.get([actor.pid.remote() for actor in rounds.actors]), 50)
            ours = least(lambda: rounds.map("nothing", nothing), 50)
            schema = SourceSchema(None, {}, D, (rows,) * PARTS, False)
            source = EncodedSource(rounds, "rows", schema, Target("y", np.array([0, 1])), None, {})
            fit = least(lambda: fit_logistic(LogisticRegression(), source, Checkpoint(None, {})), 3)
    return own, ours, fit


def least(work, times: int) -> float:
    out = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        out.append(time.perf_counter() - start)
    return float(np.median(out)) if times > 10 else min(out)


def sklearn_seconds(rows: int) -> float:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    class Made:
        pass

    parts = []
    for k in range(PARTS):
        part = Made()
        part.partition = Made()
        part.partition.index = k
        made_rows(part, rows)
        parts.append(part)
    X, y = np.concatenate([part.X for part in parts]), np.concatenate([part.y for part in parts])
    with threadpool_limits(1):
        return least(lambda: LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10).fit(X, y), 1)

"""Rounds on Ray beside Ray's own, and logistic regression by 1, 2, ... workers of one thread beside scikit-learn.

    python -m benchmarks cluster [--workers=2] [--rows=2000000] [--quick]
    python -m benchmarks cluster --scaling [--workers=16] [--seconds=100]

Rows are made where the workers are, so that reading is not part of it. Times are the least of several. ``--scaling``
runs 1, 2, 4, ... workers up to the processors of the machine, ends within the seconds that are given (what would not is
left out), and holds the times against the written cost model: T(W) = driver + pass/W + rounds x overhead.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import print_table

D, PARTS = 50, 32


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
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "SEPARATRIX_NUM_THREADS"):
        os.environ[name] = "1"  # of the workers, which are processes of their own
    try:
        import ray
    except ImportError:
        print("Ray is not installed: nothing was measured")
        return
    scaling, started = "--scaling" in sys.argv, time.perf_counter()
    most = option("workers", len(os.sched_getaffinity(0)) if scaling else 2)
    rows = (200_000 if "--quick" in sys.argv else option("rows", 2_000_000)) // PARTS
    ray.init(address="local", num_cpus=most, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        measure(ray, most, rows, started + option("seconds", 100 if scaling else 10_000), scaling)
    finally:
        ray.shutdown()


def measure(ray, most: int, rows: int, end: float, scaling: bool) -> None:
    import ray.cloudpickle

    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    print(f"Ray {ray.__version__}; {rows * PARTS:,} x {D} in {PARTS} partitions; workers of one thread")
    print(f"{len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}\n")
    counts = sorted({1, *(2**k for k in range(10) if 2**k <= most), most})
    table, found = [], []
    for workers in counts:
        began = time.perf_counter()
        if found and began + 1.2 * found[-1].whole > end:
            print(f"{workers} workers left out: the time is up")
            continue
        found.append(on_workers(ray, workers, rows, 2 if scaling else 3))
        found[-1].whole = time.perf_counter() - began
        first, own = found[0], found[-1]
        print(f"{workers} workers: {own.fit:.2f} s", file=sys.stderr, flush=True)
        expected = first.driver + first.rounds / workers + own.count * own.ours
        table.append(
            [
                workers,
                f"{1e3 * own.empty:.1f}",
                f"{1e3 * (own.ours - own.empty):.1f}",
                f"{own.fit:.2f}",
                f"{own.driver:.3f}",
                f"{first.fit / own.fit:.2f}",
                f"{first.fit / own.fit / workers:.0%}",
                f"{expected:.2f}",
                f"{own.fit / expected:.2f}",
            ]
        )
    head = ["workers", "Ray's round, ms", "above it, ms", "logistic fit, s", "driver, s", "against one", "efficiency"]
    print_table([*head, "cost model, s", "measured / model"], table)
    print(f"\n{found[0].count} rounds a fit; all times are the least of several")
    if time.perf_counter() + 3 * found[0].fit < end:
        print(f"scikit-learn's newton-cholesky on one core: {sklearn_seconds(rows):.2f} s")


@dataclass
class Found:
    """What was measured on some workers, in seconds."""

    empty: float  # Ray's round
    ours: float
    fit: float
    rounds: float  # of the fit, in rounds
    count: int  # of rounds
    whole: float = 0.0  # of the measurement

    @property
    def driver(self) -> float:
        """What one process does while the others wait."""
        return self.fit - self.rounds


def on_workers(ray, workers: int, rows: int, times: int) -> Found:
    """Ray's empty round, ours, and a logistic fit."""
    from separatrix import LogisticRegression
    from separatrix.cluster.checkpoints import Checkpoint
    from separatrix.cluster.encoded_source import EncodedSource, Target
    from separatrix.cluster.logistic_fit import fit_logistic
    from separatrix.cluster.partition_reading import SourceSchema
    from separatrix.cluster.partitions import partitions_of
    from separatrix.cluster.ray_rounds import RayRounds

    class Timed(RayRounds):
        """Rounds that add up how long they take."""

        spent = 0.0

        def _round(self, what, job):
            start = time.perf_counter()
            try:
                return super()._round(what, job)
            finally:
                self.spent += time.perf_counter() - start

    with TemporaryDirectory() as folder:
        for k in range(PARTS):
            (Path(folder) / f"{k:02d}.csv").write_text("x,y\n0,1\n")
        with Timed(partitions_of(f"{folder}/*.csv"), workers=workers) as rounds:
            rounds.prepare("rows", made_rows, rows)
            empty = least(lambda: ray.get([actor.pid.remote() for actor in rounds.actors]), 50)
            ours = least(lambda: rounds.map("nothing", nothing), 50)
            schema = SourceSchema(None, {}, D, (rows,) * PARTS, False)
            source = EncodedSource(rounds, "rows", schema, Target("y", np.array([0, 1])), None, {})
            runs = []
            for _ in range(times):
                rounds.count, rounds.spent, start = 0, 0.0, time.perf_counter()
                fit_logistic(LogisticRegression(), source, Checkpoint(None, {}))
                runs.append((time.perf_counter() - start, rounds.spent, rounds.count))
    fit, spent, count = min(runs)
    return Found(empty, ours, fit, spent, count)


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

"""Streams: the command beside Vowpal Wabbit, a second pass from the cache, checkpoints, River, a hundred million rows.

Run with ``python -m benchmarks stream [--quick] [--long] [--part=NAME,…]``; the parts are vw, cache, checkpoints, river
and rows. Contenders are processes of their own and take turns; the least of the times counts. The machine may be busy,
so that processor time stands beside the clock.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from separatrix import AveragedPerceptron, Perceptron, progressive
from separatrix.data import cache_rows

FEATURES, PAIRS = 1000, 20
PARTS = ("vw", "cache", "checkpoints", "river", "rows")
HINGE = "--quiet --loss_function hinge"
VW = "import sys; from vowpalwabbit import Workspace; Workspace(sys.argv[1]).finish()"
OURS = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"


def write(folder: Path, rows: int) -> None:
    """The same rows as svmlight and as Vowpal Wabbit's text."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=FEATURES)
    with (folder / "rows.svm").open("w") as one, (folder / "rows.vw").open("w") as two:
        for _ in range(0, rows, 10_000):
            columns = np.sort(rng.integers(0, FEATURES, size=(10_000, PAIRS)), axis=1)
            values = rng.integers(-9999, 9999, size=(10_000, PAIRS)) / 1000
            scores = (w[columns] * values).sum(axis=1) + rng.normal(size=10_000)
            for own, numbers, score in zip(columns.tolist(), values.tolist(), scores.tolist(), strict=True):
                pairs = " ".join(f"{c + 1}:{v:g}" for c, v in dict(zip(own, numbers, strict=True)).items())
                label = 1 if score > 0 else -1
                one.write(f"{label} {pairs}\n")
                two.write(f"{label} | {pairs}\n")


def timed(code: str, *arguments: object) -> tuple[float, float, str]:
    """Seconds by the clock and of processor time, and what was printed."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, processor, done.stdout


def take_turns(contenders: dict[str, tuple[object, ...]], repeats: int) -> dict[str, tuple[float, float]]:
    """The least clock and processor time of each."""
    found: dict[str, list[tuple[float, float, str]]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, (code, *arguments) in contenders.items():
            found[name].append(timed(str(code), *arguments))
    return {name: (min(r[0] for r in runs), min(r[1] for r in runs)) for name, runs in found.items()}


def against_vw(folder: Path, rows: int, repeats: int) -> None:
    out = ("--out", folder / "ours.txt", "--model", folder / "ours.sepx", "--classes=-1,1", "--quiet")
    contenders = {
        "separatrix stream": (OURS, "stream", folder / "rows.svm", *out),
        "separatrix stream, perceptron": (OURS, "stream", folder / "rows.svm", "--learner", "perceptron", *out),
        "vw": (
            VW,
            f"-d {folder / 'rows.vw'} -p {folder / 'vw.txt'} -f {folder / 'vw.model'} {HINGE}",
        ),
    }
    found = take_turns(contenders, repeats)
    size = os.path.getsize(folder / "rows.svm") / 1e6
    print(f"{rows:,} rows of {PAIRS} pairs, {size:.0f} MB, predictions and model written")
    print(
        "| | clock (s) | rows/s | processor (s) | vw / this, clock | processor |\n| --- | --- | --- | --- | --- | --- |"
    )
    vw = found["vw"]
    for name, (clock, processor) in found.items():
        shown = f"| {name} | {clock:.2f} | {rows / clock:,.0f} | {processor:.2f} |"
        print(f"{shown} {vw[0] / clock:.2f} | {vw[1] / processor:.2f} |")


def second_pass(folder: Path, rows: int, repeats: int) -> None:
    cache = folder / "vw.cache"
    timed(VW, f"-d {folder / 'rows.vw'} --cache_file {cache} -k {HINGE}")
    started = time.perf_counter()
    cache_rows(folder / "rows.svm", folder=folder / "cache", keep=True).close()
    first = time.perf_counter() - started
    again = f"""
import sys, time, warnings
warnings.simplefilter("ignore")
from separatrix import Perceptron
from separatrix.data import cache_rows
import scipy.sparse
started = time.perf_counter()
rows = cache_rows({str(folder / "rows.svm")!r}, folder={str(folder / "cache")!r}, keep=True)
checked = time.perf_counter()
Perceptron(max_iter=1, order="cyclic").fit(rows.X, rows.y)
print(checked - started, time.perf_counter() - checked)
"""
    vw = f"""
import time
from vowpalwabbit import Workspace
started = time.perf_counter()
Workspace("-d {folder}/rows.vw --cache_file {cache} {HINGE}").finish()
print(time.perf_counter() - started)
"""
    own, other = [], []
    for _ in range(repeats):
        own.append([float(word) for word in timed(again)[2].split()])
        other.append(float(timed(vw)[2]))
    checking, learning = (min(run[k] for run in own) for k in (0, 1))
    print(
        f"\nmaking the cache {first:.2f} s; second pass: opening and checksums {checking:.3f} s, fit {learning:.3f} s,"
    )
    print(f"together {checking + learning:.3f} s; vw's pass from its cache {min(other):.3f} s")


def checkpoints(folder: Path, repeats: int) -> None:
    """What a checkpoint a second costs: processor time, and the time for which the stream stood still."""
    with (folder / "long.svm").open("wb") as file:
        text = (folder / "rows.svm").read_bytes()
        for _ in range(8):
            file.write(text)
    plain, kept = [], []
    words = ("stream", folder / "long.svm", "--out", folder / "o", "--classes=-1,1", "--json")
    for _ in range(repeats):
        plain.append(timed(OURS, *words))
        for old in folder.glob("state*"):
            old.unlink()
        kept.append(timed(OURS, *words, "--checkpoint", folder / "state", "--checkpoint-seconds", 1))
    report = json.loads(kept[-1][2])
    least, most = (min(run[1] for run in runs) for runs in (plain, kept))
    print(f"\na checkpoint every second: {report['checkpoints']} in {report['seconds']:.1f} s, which stood still for")
    print(f"{report['checkpoint_seconds']:.4f} s ({100 * report['checkpoint_seconds'] / report['seconds']:.2f}%);")
    print(f"processor {least:.2f} s without, {most:.2f} s with ({100 * (most / least - 1):+.1f}%)")
    (folder / "long.svm").unlink()


def beside_river(rows: int) -> None:
    """Rows per second of processor time, taking turns: arrays, dicts, and what reading a dict's values costs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10))
    y = X @ rng.normal(size=10) + 0.3 * rng.normal(size=rows) > 0
    some = rows // 10
    names = [f"x{j}" for j in range(10)]
    dicts = [dict(zip(names, row, strict=True)) for row in X[:some].tolist()]
    labels = y[:some].tolist()

    def generated() -> Iterator[tuple[dict[str, float], bool]]:
        yield from zip(dicts, labels, strict=True)

    contenders: dict[str, tuple[int, Callable[[], object]]] = {
        "arrays": (rows, lambda: progressive(Perceptron(), X, y)),
        "dicts": (some, lambda: progressive(Perceptron(), zip(dicts, labels, strict=True))),
        "dicts of a generator": (some, lambda: progressive(Perceptron(), generated())),
        "dicts, averaged perceptron": (
            some,
            lambda: progressive(AveragedPerceptron(), zip(dicts, labels, strict=True)),
        ),
        "list(x.values()) of each dict, nothing learned": (
            some,
            lambda: deque((list(x.values()) for x in dicts), maxlen=0),
        ),
    }
    if importlib.util.find_spec("river") is None:
        print("River is not installed")
    else:
        from river import evaluate, linear_model, metrics, preprocessing

        def river(model: object) -> object:
            pairs = zip(dicts[: some // 5], labels, strict=False)
            return evaluate.progressive_val_score(pairs, model, metrics.Accuracy())

        contenders |= {
            "River, Perceptron": (some // 5, lambda: river(linear_model.Perceptron())),
            "River, LogisticRegression": (some // 5, lambda: river(linear_model.LogisticRegression())),
            "River, StandardScaler and LogisticRegression": (
                some // 5,
                lambda: river(preprocessing.StandardScaler() | linear_model.LogisticRegression()),
            ),
        }
    least = dict.fromkeys(contenders, math.inf)
    for _ in range(5):
        for name, (count, run) in contenders.items():
            started = time.process_time()
            run()
            least[name] = min(least[name], (time.process_time() - started) / count)
    print(f"\nprogressive, {rows:,} rows of 10 numbers, {some:,} of them as dicts; least processor time of five")
    print("| | rows/s | times River's Perceptron |\n| --- | --- | --- |")
    base = least.get("River, Perceptron", math.nan)
    for name, seconds in least.items():
        print(f"| {name} | {1 / seconds:,.0f} | {base / seconds:.1f} |")


def many_rows(rows: int) -> None:
    """Rows made on the fly through partial_fit: memory at the start and at the end."""
    model, rng = Perceptron(), np.random.default_rng(0)
    w, sizes = rng.normal(size=10), []
    started = time.perf_counter()
    for k in range(0, rows, 100_000):
        X = rng.random((100_000, 10)) - 0.5
        model.partial_fit(X, X @ w > 0, classes=[False, True])
        if k in (1_000_000 - 100_000, rows - 100_000):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            sizes.append(pages * resource.getpagesize() / 1e6)
    seconds = time.perf_counter() - started
    print(f"\n{rows:,} rows through partial_fit: {rows / seconds:,.0f} rows/s, resident {sizes[0]:.1f} MB after a")
    print(f"million rows, {sizes[-1]:.1f} MB at the end")


def main() -> None:
    quick, long = "--quick" in sys.argv, "--long" in sys.argv
    rows, repeats = (50_000, 1) if quick else (500_000, 3)
    named = [word.partition("=")[2].split(",") for word in sys.argv if word.startswith("--part=")]
    asked = {name for own in named for name in own} or set(PARTS)
    if not asked <= set(PARTS):
        sys.exit(f"--part takes {', '.join(PARTS)}")
    if importlib.util.find_spec("vowpalwabbit") is None and asked & {"vw", "cache"}:
        print("vowpalwabbit is not installed: it is left out")
        asked -= {"vw", "cache"}
    print(f"load {os.getloadavg()[0]:.1f} on {len(os.sched_getaffinity(0))} processors")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked & {"vw", "cache", "checkpoints"}:
            write(folder, rows)
        if "vw" in asked:
            against_vw(folder, rows, repeats)
        if "cache" in asked:
            second_pass(folder, rows, repeats)
        if "checkpoints" in asked:
            checkpoints(folder, repeats)
    if "river" in asked:
        beside_river(200_000 if quick else 2_000_000)
    if "rows" in asked:
        many_rows(2_000_000 if quick else 100_000_000 if long else 10_000_000)


if __name__ == "__main__":
    main()

"""Deciding separability with proof, beside linear programming without.

The grid: rows from a Gaussian, labelled by a hyperplane. "margin 0.2" and "margin 1e-4": pushed apart by that
much; "1 flip": one random label wrong; "near flip": of the margin 1e-4 set, one label wrong close to the
hyperplane; "10 % noise". Ours is ``separability(X, y)``: checked input, verdict, and proof in exact arithmetic.
HiGHS is asked whether Zw >= 1 is feasible (simplex and IPX, one thread, model building included) and proves
nothing; an answer other than the proved one counts as wrong. Both in CPU seconds of one thread, the contenders
taking turns. firthmodels' ``detect_separation`` (an LP of
scipy's HiGHS) is beside it on data of its own size.

``python -m benchmarks separability`` prints everything; ``--quick`` leaves the largest sets out, ``--growth``
measures growth only and writes separability.svg, ``--columns`` measures proofs of overlap with many columns only: CPU
seconds to decide and prove, bytes of the certificate, and CPU seconds of checker.py on a table that has been read, of
which the fingerprint is given apart. The exact circuit that short weights take the place of is beside it up to 500.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import interleaved, print_table
from separatrix import checker, separability
from separatrix.proofs.certificate.certificate import _checkable
from separatrix.proofs.separability.verdict import given_data

GRID = [(10_000, 20), (100_000, 20), (100_000, 100), (1_000_000, 20)]
KINDS = ["margin 0.2", "margin 1e-4", "1 flip", "near flip", "10 % noise"]
LIMIT = 90.0  # seconds for one run of HiGHS


def labelled(n, d, kind, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w + 0.3 >= 0, 1, -1)
    push = {"margin 0.2": 0.2, "margin 1e-4": 1e-4, "1 flip": 0.05, "near flip": 1e-4}.get(kind, 0.0)
    X += np.outer(y * push, w)
    if kind == "1 flip":
        y[rng.integers(n)] *= -1
    elif kind == "near flip":
        y[np.argsort(np.abs(X @ w + 0.3))[n // 200]] *= -1
    elif kind == "10 % noise":
        y[rng.random(n) < 0.1] *= -1
    return X, y


def highs(X, y, solver):
    """'separable', 'not separable' or what else it said, and the seconds with model building."""
    import highspy

    start = time.process_time()
    Z = np.column_stack([X, np.ones(len(X))]) * y[:, None]
    n, p = Z.shape
    model = highspy.Highs()
    for option, value in {"output_flag": False, "time_limit": LIMIT, "threads": 1, "solver": solver}.items():
        model.setOptionValue(option, value)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = p, n
    lp.col_cost_ = np.zeros(p)
    lp.col_lower_, lp.col_upper_ = np.full(p, -highspy.kHighsInf), np.full(p, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.ones(n), np.full(n, highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(n + 1, dtype=np.int32) * p
    lp.a_matrix_.index_ = np.tile(np.arange(p, dtype=np.int32), n)
    lp.a_matrix_.value_ = Z.ravel()
    model.passModel(lp)
    model.run()
    said = model.modelStatusToString(model.getModelStatus())
    answer = {"Optimal": "separable", "Infeasible": "not separable"}.get(said, said)
    return answer, time.process_time() - start


def own(X, y, repeats):
    """The least CPU seconds of ours."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        separability(X, y)
        best = min(best, time.process_time() - start)
    return best


def against_highs(grid):
    rows = []
    for n, d in grid:
        for kind in KINDS:
            X, y = labelled(n, d, kind)
            truth = "separable" if separability(X, y).verdict == "complete" else "not separable"
            ours, runs = float("inf"), {}
            for turn in range(5 if n * d <= 200_000 else 3 if n * d <= 2_000_000 else 1):  # contenders take turns
                ours = min(ours, own(X, y, 1 if turn else 3))
                for solver in ("simplex", "ipm"):
                    answer, seconds = highs(X, y, solver)
                    runs[solver] = answer, min(seconds, runs.get(solver, (answer, seconds))[1])
            right = [seconds for answer, seconds in runs.values() if answer == truth]
            best = min(right) if right else LIMIT
            shown = [
                f"{seconds:.2f} s" if answer == truth else f"**{answer}** ({seconds:.2g} s)"
                for answer, seconds in runs.values()
            ]
            ratio = f"{'' if right else '> '}{best / ours:,.0f}"
            rows.append([f"{n:,} x {d}", kind, truth, f"{ours * 1e3:.1f} ms", *shown, ratio])
            print(rows[-1], file=sys.stderr, flush=True)
    print_table(["rows", "case", "proved", "ours, with proof", "HiGHS simplex", "HiGHS IPX", "ratio"], rows)


def nasty(rng):
    """Scales, correlations, heavy tails, offsets, grids; margins down to 1e-9; a label wrong near the hyperplane."""
    n, d = int(rng.integers(50, 1500)), int(rng.integers(1, 15))
    X = rng.standard_normal((n, d))
    kind = rng.integers(7)
    if kind == 1:
        X = X * 10.0 ** rng.uniform(-6, 6, d)
    elif kind == 2:
        X = X @ (rng.standard_normal((d, d)) * 10.0 ** rng.uniform(-4, 0, d))
    elif kind == 3:
        X = rng.standard_cauchy((n, d))
    elif kind == 4:
        X = np.exp(2 * X)
    elif kind == 5:
        X = X + 1e4 * rng.standard_normal(d)
    elif kind == 6:
        X = np.round(X * 4) / 4
    w = rng.standard_normal(d) / np.where(X.std(0) > 0, X.std(0), 1.0)
    s = X @ w - X.mean(0) @ w + 0.3 * rng.standard_normal()
    y = np.where(s >= 0, 1, -1)
    if rng.random() < 0.5:
        X = X + np.outer(y * 10.0 ** rng.uniform(-9, -1) * s.std(), w / (w @ w))
    if rng.random() < 0.3:
        y[np.argsort(np.abs(s))[rng.integers(0, max(1, n // 20))]] *= -1
    if abs(y.sum()) == n:
        y[0] = -y[0]
    return X, y


def wrong_answers(count=500):
    """How often floating-point linear programming is wrong, or silent, where the truth is proved."""
    rng = np.random.default_rng(0)
    tally = {(scaling, solver): [0, 0] for scaling in ("raw", "scaled") for solver in ("simplex", "ipm")}
    separable = undecided = 0
    for _ in range(count):
        X, y = nasty(rng)
        verdict = separability(X, y).verdict
        undecided += verdict == "undecided"
        separable += verdict == "complete"
        truth = "separable" if verdict == "complete" else "not separable"
        for (scaling, solver), counts in tally.items():
            scale = np.exp2(-np.round(np.log2(np.maximum(np.sqrt((X * X).mean(0)), 1e-300))))
            answer, _ = highs(X * scale if scaling == "scaled" else X, y, solver)
            if answer != truth:
                counts["separable" not in answer] += 1
    rows = [[f"HiGHS {solver}, {scaling} columns", *counts] for (scaling, solver), counts in tally.items()]
    print(f"{count} sets, {separable} of them separable (proved):\n")
    print_table(["", "wrong", "no answer"], [["ours, proved", 0, undecided], *rows])


def against_firthmodels():
    from firthmodels import detect_separation
    from sklearn.datasets import load_breast_cancer, load_iris

    iris, cancer = load_iris(), load_breast_cancer()
    rng = np.random.default_rng(0)
    tied = rng.standard_normal((200, 4))
    tied[:, 0] = (rng.random(200) < 0.1).astype(float)
    labels = (rng.random(200) < 0.5).astype(int)
    labels[tied[:, 0] == 1] = 1
    cases = {
        "iris, setosa": (iris.data, (iris.target == 0).astype(int)),
        "iris, versicolor/virginica": (iris.data[50:], (iris.target[50:] == 1).astype(int)),
        "breast cancer": (cancer.data, cancer.target),
        "a dummy of one class, 200 x 4": (tied, labels),
        "10 % noise, 1,000 x 10": labelled(1000, 10, "10 % noise"),
        "margin 1e-4, 10,000 x 20": labelled(10_000, 20, "margin 1e-4"),
    }
    rows = []
    for name, (X, y) in cases.items():
        y = (np.asarray(y) > 0).astype(int)
        theirs = detect_separation(X, y)
        verdict = separability(X, y).verdict
        times = interleaved(
            {"theirs": lambda X=X, y=y: detect_separation(X, y), "ours": lambda X=X, y=y: separability(X, y)}, 5
        )
        said = "separation" if theirs.separation else "no separation"
        ratio = times["theirs"] / times["ours"]
        rows.append([name, verdict, f"{times['ours'] * 1e3:.2f} ms", said, f"{times['theirs'] * 1e3:.1f} ms", ratio])
    print_table(["data", "ours, proved", "time", "firthmodels", "time", "ratio"], rows)


def many_columns(largest):
    """Proofs of overlap with hundreds of columns: seconds, bytes, and seconds of the checker."""
    rows = []
    for n, d in [(10_000, 100), (20_000, 300), (20_000, 500), (20_000, 1000), (30_000, 2000)]:
        if d > largest:
            break
        X, y = labelled(n, d, "10 % noise")
        given = given_data(X, y, None, True, "binary64")
        times = {"ours": lambda X=X, y=y: separability(X, y)}
        if d <= 500:
            times["circuit"] = lambda given=given: given.two_groups([1], [0], minimal=True)
        seconds = interleaved(times, 3 if d <= 500 else 2, time.process_time)
        proof = separability(X, y).certificate
        table = _checkable(X, y, None, "binary64")
        content = json.loads(proof.text)
        check = interleaved(
            {
                "all": lambda c=content, t=table: checker.check(c, t),
                "hash": lambda t=table: checker.leaves(t, range(2)),
            },
            3 if d <= 500 else 1,
            time.process_time,
        )
        circuit = f"{seconds['circuit']:.2f} s" if "circuit" in seconds else "-"
        rows.append(
            [
                f"{n:,} x {d}",
                f"{seconds['ours']:.3f} s",
                circuit,
                f"{proof.size:,}",
                f"{len(content['support']):,}",
                f"{check['all']:.2f} s",
                f"{check['hash']:.2f} s",
            ]
        )
        print(rows[-1], file=sys.stderr, flush=True)
    print_table(["rows", "prove", "by a circuit", "bytes", "rows of the proof", "check", "of it fingerprint"], rows)


def growth(largest=10_000_000):
    """CPU seconds against n at 20 columns, and d at 20,000 rows; a curve ends with its first point above 3 s."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    kinds = ["margin 0.2", "margin 1e-4", "1 flip", "10 % noise"]
    ns = [n for n in (10_000, 100_000, 1_000_000, 10_000_000) if n <= largest]
    ds = [5, 10, 20, 50, 100, 200, 500, 1000]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    rows = []
    for kind in kinds:
        for axis, sizes in ((left, [(n, 20) for n in ns]), (right, [(20_000, d) for d in ds])):
            seconds = []
            for n, d in sizes:
                X, y = labelled(n, d, kind)
                seconds.append(own(X, y, 3 if n * d < 1e7 else 1))
                rows.append([kind, f"{n:,} x {d}", f"{seconds[-1] * 1e3:.1f} ms"])
                print(rows[-1], file=sys.stderr, flush=True)
                if seconds[-1] > 3:
                    break
            reached = [n if axis is left else d for n, d in sizes[: len(seconds)]]
            axis.loglog(reached, seconds, marker="o", label=kind)
    left.set(xlabel="rows (20 columns)", ylabel="CPU seconds, with proof")
    right.set(xlabel="columns (20,000 rows)")
    left.legend(frameon=False)
    figure.savefig(Path(__file__).with_name("separability.svg"))
    print_table(["case", "rows", "time, with proof"], rows)


def main():
    separability(*labelled(500, 3, "1 flip"))  # the first call imports flint
    if "--columns" in sys.argv:
        many_columns(500 if "--quick" in sys.argv else 2000)
        return
    if "--growth" not in sys.argv:
        against_firthmodels()
        print()
        wrong_answers(100 if "--quick" in sys.argv else 500)
        print()
        against_highs(GRID[:2] if "--quick" in sys.argv else GRID)
        print()
        many_columns(500 if "--quick" in sys.argv else 2000)
    growth(1_000_000 if "--quick" in sys.argv else 10_000_000)


if __name__ == "__main__":
    main()

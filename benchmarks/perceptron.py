"""The perceptron's epochs, whole fits, one-row predictions, memory and import beside scikit-learn and limits.

"1" and "10" are whole fits of 1 and 10 epochs, "slope" is what one more epoch costs: (10 - 1)/9.
Regimes: "rare", ten labels flipped; "10 %", a tenth of the labels flipped and a start so long that
updates do not move it, so that those rows are the mistakes of every epoch.
"""

from __future__ import annotations

import compileall
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import Perceptron as Theirs

import separatrix
from benchmarks.measure import arithmetic, interleaved, print_table, read_once
from separatrix import Perceptron

warnings.filterwarnings("ignore")


def labelled(X, rng, mistakes):
    star = rng.normal(size=X.shape[1])
    y = np.where(X @ star > 0, 1, -1)
    flipped = rng.choice(len(y), size=max(10, int(mistakes * len(y))), replace=False)
    y[flipped] *= -1
    return y, 1e6 * star


def fit_ours(X, y, start, epochs, order="cyclic"):
    model = Perceptron(max_iter=epochs, max_mistakes=0, order=order, random_state=0, fit_intercept=False)
    return lambda: model.fit(X, y, coef_init=start)


def fit_theirs(X, y, start, epochs, shuffle=False):
    model = Theirs(max_iter=epochs, tol=None, shuffle=shuffle, fit_intercept=False, random_state=0)
    return lambda: model.fit(X, y, coef_init=start.astype(X.dtype).copy())


def epochs():
    """One dense epoch against one read of X, numpy's X @ w and scikit-learn."""
    rows = []
    for n, d in ((1_000_000, 10), (200_000, 100), (20_000, 1000)):
        for dtype in (np.float64, np.float32):
            rng = np.random.default_rng(1)
            X = rng.normal(size=(n, d)).astype(dtype)
            for regime, share in (("rare", 0), ("10 %", 0.1)):
                y, start = labelled(X, rng, share)
                w = start.astype(dtype)
                contenders = {
                    "read": lambda X=X: read_once(X),
                    "arithmetic": lambda X=X, start=start: arithmetic(X, start),
                    "X@w": lambda X=X, w=w: X @ w,
                    "ours 1": fit_ours(X, y, start, 1),
                    "ours 10": fit_ours(X, y, start, 10),
                    "theirs 1": fit_theirs(X, y, start, 1),
                    "theirs 3": fit_theirs(X, y, start, 3),
                }
                t = interleaved(contenders)
                ours = (t["ours 10"] - t["ours 1"]) / 9
                theirs = (t["theirs 3"] - t["theirs 1"]) / 2
                rows.append(
                    [
                        f"{n:,}×{d} {np.dtype(dtype).name} {regime}",
                        t["arithmetic"] / t["read"],
                        t["X@w"] / t["read"],
                        ours / t["read"],
                        ours / t["X@w"],
                        theirs / t["X@w"],
                        t["ours 1"] / t["X@w"],
                        t["ours 10"] / t["X@w"],
                        t["theirs 1"] / t["X@w"],
                    ]
                )
    print_table(
        [
            "one dense epoch",
            "arithmetic / read",
            "X@w / read",
            "slope / read",
            "slope / X@w",
            "scikit-learn slope / X@w",
            "1 / X@w",
            "10 / X@w",
            "scikit-learn 1 / X@w",
        ],
        rows,
    )


def shuffled():
    """Shuffled epochs: random access to rows."""
    rows = []
    for n, d in ((1_000_000, 10), (200_000, 100), (20_000, 1000)):
        for dtype in (np.float64, np.float32):
            rng = np.random.default_rng(1)
            X = rng.normal(size=(n, d)).astype(dtype)
            y, start = labelled(X, rng, 0.1)
            w = start.astype(dtype)
            contenders = {
                "X@w": lambda X=X, w=w: X @ w,
                "ours 1": fit_ours(X, y, start, 1, "shuffle"),
                "ours 4": fit_ours(X, y, start, 4, "shuffle"),
                "theirs 1": fit_theirs(X, y, start, 1, True),
                "theirs 3": fit_theirs(X, y, start, 3, True),
            }
            t = interleaved(contenders, 7)
            ours = (t["ours 4"] - t["ours 1"]) / 3
            theirs = (t["theirs 3"] - t["theirs 1"]) / 2
            rows.append(
                [
                    f"{n:,}×{d} {np.dtype(dtype).name}",
                    ours / t["X@w"],
                    theirs / t["X@w"],
                    theirs / ours,
                    t["ours 1"] / t["X@w"],
                ]
            )
    print_table(["shuffled epoch, 10 % mistakes", "slope / X@w", "scikit-learn / X@w", "times faster", "1 / X@w"], rows)


def sparse():
    """CSR rows with Zipf-distributed columns."""
    rng = np.random.default_rng(2)
    n, d = 500_000, 50_000
    counts = rng.integers(48, 80, size=n)
    columns = np.minimum((d ** rng.random(counts.sum())).astype(np.int32), d - 1)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    rows = []
    for dtype in (np.float64, np.float32):
        X = sp.csr_matrix((rng.normal(size=len(columns)).astype(dtype), columns, indptr), shape=(n, d))
        X.sum_duplicates()
        y = np.where(X @ rng.normal(size=d).astype(dtype) > 0, 1, -1)
        w, start = rng.normal(size=d).astype(dtype), np.zeros(d)
        contenders = {
            "X@w": lambda X=X, w=w: X @ w,
            "ours 1": fit_ours(X, y, start, 1),
            "ours 4": fit_ours(X, y, start, 4),
            "theirs 1": fit_theirs(X, y, start, 1),
            "theirs 3": fit_theirs(X, y, start, 3),
        }
        t = interleaved(contenders, 7)
        ours = (t["ours 4"] - t["ours 1"]) / 3
        theirs = (t["theirs 3"] - t["theirs 1"]) / 2
        rows.append(
            [
                f"{n:,}×{d:,} {np.dtype(dtype).name}, {X.nnz / n:.0f} a row",
                ours / t["X@w"],
                theirs / t["X@w"],
                t["ours 1"] / t["X@w"],
                t["theirs 1"] / t["X@w"],
            ]
        )
    print_table(["one CSR epoch", "slope / X@w", "scikit-learn / X@w", "1 / X@w", "scikit-learn 1 / X@w"], rows)


def small():
    """Whole fits of 20 epochs on small real sets, and the prediction of one row."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    rows = []
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        ours, theirs = Perceptron(max_iter=20), Theirs(max_iter=20, tol=None)
        t = interleaved({"ours": lambda: ours.fit(X, y), "theirs": lambda: theirs.fit(X, y)}, 30)  # noqa: B023 called at once
        one = X[:1]
        p = interleaved({"ours": lambda: ours.predict(one), "theirs": lambda: theirs.predict(one)}, 200)  # noqa: B023 called at once
        rows.append(
            [load.__name__[5:], 1e6 * t["ours"], t["theirs"] / t["ours"], 1e6 * p["ours"], p["theirs"] / p["ours"]]
        )
    print_table(["20 epochs", "fit, µs", "times faster", "predict one row, µs", "times faster"], rows)


def started():
    """Whole processes: import and a first dense fit, beside bare Python, numpy and scikit-learn.

    All of them from compiled bytecode, as installers leave it.
    """
    for package in (np, separatrix, sklearn, scipy):
        compileall.compile_dir(Path(package.__file__).parent, quiet=2)
    programs = {
        "python": "pass",
        "numpy": "import numpy",
        "separatrix + fit": "import separatrix, numpy; separatrix.Perceptron().fit(numpy.eye(2), [0, 1])",
        "scikit-learn": "import sklearn.linear_model",
    }
    t = interleaved(
        {
            name: (lambda code=code: subprocess.run([sys.executable, "-c", code], check=True))
            for name, code in programs.items()
        },
        9,
    )
    print_table(["whole process", *t], [["multiples of bare Python", *(v / t["python"] for v in t.values())]])


def memory():
    """The memory that fitting an array of 1 GB adds."""
    rng = np.random.default_rng(3)
    n, d = 1_250_000, 100
    X = np.empty((n, d))
    for part in np.array_split(X, 50):
        part[:] = rng.normal(size=part.shape)
    y = np.where(X[:, 0] > 0, 1, -1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    Perceptron(max_iter=3, trace=True).fit(X, y)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print_table(
        ["array", "n", "added by fit, MB", "bytes a row"],
        [[f"{X.nbytes / 1e9:.2f} GB", f"{n:,}", (after - before) / 1024, (after - before) * 1024 / n]],
    )


def main() -> None:
    for part in (epochs, shuffled, sparse, small, started, memory):
        print(f"\n{part.__doc__}\n")
        part()

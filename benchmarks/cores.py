"""The same work on 1, 2, 4, ... threads, in units of numpy's X @ w on all cores.

The numbers of threads and X @ w take turns, and the least of a few turns counts for each.
``--rows=N`` and ``--columns=D`` choose the table (2,000,000 by 100), ``--draw`` writes the parallel efficiency as
``benchmarks/cores.svg``, ``--only=WORD`` runs the work whose name has this word. scikit-learn runs beside it on all
cores, scikit-learn-intelex where it is installed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import print_table
from separatrix import (
    AveragedPerceptron,
    LeastSquares,
    LinearDiscriminant,
    LogisticRegression,
    Perceptron,
    separability,
)
from separatrix.errors import IterationWarning
from separatrix.kernels import thread_count, threads

TURNS = 7
LATE, FOUR = "perceptron, a late epoch", "perceptron, four late epochs"
TALL = "separability, {:,} x 20, margin 1e-4"


def option(name: str, default: int) -> int:
    """The number behind an option of the command line."""
    given = [word.partition("=")[2] for word in sys.argv if word.startswith(f"{name}=")]
    return int(given[0]) if given else default


def labelled(n: int, d: int) -> tuple[Any, Any, Any, Any]:
    """Rows, targets with noise, classes with noise, and classes that a hyperplane with a margin separates."""
    rng = np.random.default_rng(0)
    X = np.empty((n, d))
    for begin in range(0, n, 2**16):
        X[begin : begin + 2**16] = rng.normal(size=X[begin : begin + 2**16].shape)
    w = rng.normal(size=d)
    s = X @ w
    near = np.abs(s) < 0.02 * np.linalg.norm(w)
    X[near] += np.outer(0.04 * np.sign(s[near]), w / np.linalg.norm(w))
    clean = X @ w > 0
    return X, s + rng.normal(size=n), (s + rng.logistic(size=n) > 0).astype(int), clean.astype(int)


def ours(X: Any, t: Any, y: Any, clean: Any) -> dict[str, Callable[[], Any]]:
    """What a user would type, by name."""
    logistic = LogisticRegression(C=1.0, tol=1e-6).fit(X[:10_000], y[:10_000])
    warnings.simplefilter("ignore", IterationWarning)  # one epoch is what is measured
    early = Perceptron(order="cyclic", max_iter=12).fit(X, clean)
    late = np.append(early.coef_, early.intercept_)
    return {
        "least squares": lambda: LeastSquares().fit(X, t).coef_,
        "LDA": lambda: LinearDiscriminant().fit(X, y).coef_,
        "ridge logistic, gap 1e-6": lambda: LogisticRegression(C=1.0, tol=1e-6).fit(X, y).coef_,
        "predict": lambda: logistic.predict(X),
        "predict_proba": lambda: logistic.predict_proba(X),
        "perceptron, first epoch": lambda: Perceptron(order="cyclic", max_iter=1).fit(X, clean).coef_,
        LATE: lambda: Perceptron(order="cyclic", max_iter=1, start=late).fit(X, clean).coef_,
        FOUR: lambda: Perceptron(order="cyclic", max_iter=4, start=late).fit(X, clean).coef_,
        "averaged perceptron, a late epoch": lambda: (
            AveragedPerceptron(order="cyclic", max_iter=1, start=late).fit(X, clean).coef_
        ),
        "separability, overlap": lambda: np.array(separability(X, y).witness),
    }


def peers(X: Any, t: Any, y: Any) -> dict[str, Callable[[], Any]]:
    """scikit-learn with its defaults (all cores), and scikit-learn-intelex where there is one."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression as Theirs
    from sklearn.linear_model import Ridge

    fitted = Theirs().fit(X[:10_000], y[:10_000])
    found: dict[str, Callable[[], Any]] = {
        "scikit-learn Ridge": lambda: Ridge().fit(X, t),
        "scikit-learn LDA lsqr": lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y),
        "scikit-learn logistic lbfgs, tol 1e-6": lambda: Theirs(tol=1e-6, max_iter=1000).fit(X, y),
        "scikit-learn predict": lambda: fitted.predict(X),
        "scikit-learn predict_proba": lambda: fitted.predict_proba(X),
    }
    try:
        from sklearnex.linear_model import LinearRegression, LogisticRegression  # type: ignore[import-not-found]  # optional
    except ImportError:
        print("scikit-learn-intelex is not installed: left out\n")
        return found
    quick = LogisticRegression().fit(X[:10_000], y[:10_000])
    return found | {
        "scikit-learn-intelex LinearRegression": lambda: LinearRegression().fit(X, t),
        "scikit-learn-intelex logistic": lambda: LogisticRegression().fit(X, y),
        "scikit-learn-intelex predict": lambda: quick.predict(X),
    }


def least(work: Callable[[], Any], turns: int) -> tuple[float, Any]:
    """The least time of a few turns, and what the last one found."""
    best, found = np.inf, None
    for _ in range(turns):
        begin = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - begin)
    return best, found


def main() -> None:
    """Print the table of ratios, and check that the bits are the same for every number of threads."""
    quick, most = "--quick" in sys.argv, thread_count()
    n, d = option("--rows", 200_000 if quick else 2_000_000), option("--columns", 100)
    only = next((word.partition("=")[2] for word in sys.argv if word.startswith("--only=")), "")
    counts = sorted({1, *(2**k for k in range(1, 8) if 2**k <= most), most})
    rows, efficiency = [], {}
    data = labelled(n, d)
    for name, work in ours(*data).items():
        if only in name:
            rows.append(row(name, work, counts, data[0]))
            efficiency[name] = [rows[-1][1] / s / c for s, c in zip(rows[-1][1:], counts, strict=False)]
    if {LATE, FOUR} <= efficiency.keys():
        one, four = (next(found for found in rows if found[0] == name) for name in (LATE, FOUR))
        more = [(a - b) / 3 for a, b in zip(four[1 : len(counts) + 1], one[1:], strict=False)]
        rows.append(["perceptron, one more late epoch", *more, *ratios(more, four[len(counts) + 1]), ""])
    for name, peer in ({} if only else peers(*data[:3])).items():
        elapsed, unit = least(peer, 1)[0], least(product(data[0]), 10)[0]
        rows.append([name, *([""] * (len(counts) - 1)), elapsed, unit, elapsed / unit, "", ""])
    if only in TALL:
        del data
        X, y = narrow_margin(5 * n, 20)
        rows.append(row(TALL.format(5 * n), lambda: np.array(separability(X, y).coef), counts, X))
    print(f"{n:,} x {d} float64; milliseconds by threads, and of X @ w on all cores in the same turns\n")
    shown = [[f"{1e3 * v:.4g}" if 0 < k < len(counts) + 2 and v != "" else v for k, v in enumerate(r)] for r in rows]
    print_table(["work", *map(str, counts), "X @ w", "in X @ w", "speed-up", "bits"], shown)
    if "--draw" in sys.argv:
        draw(counts, efficiency)


def product(X: Any) -> Callable[[], Any]:
    """numpy's X @ w, on all cores."""
    v = np.linspace(-1.0, 1.0, X.shape[1])
    return lambda: X @ v


def row(name: str, work: Callable[[], Any], counts: list[int], X: Any) -> list[Any]:
    """The least times by numbers of threads, that of X @ w, their ratios, and whether all bits are the same."""
    seconds, bits, unit = [np.inf] * len(counts), set(), np.inf
    for _ in range(TURNS):
        unit = min(unit, least(product(X), 3)[0])
        for k, count in enumerate(counts):
            with threads(count):
                elapsed, found = least(work, 1)
            seconds[k] = min(seconds[k], elapsed)
            bits.add(np.ascontiguousarray(found).tobytes())
    return [name, *seconds, *ratios(seconds, unit), "same bits" if len(bits) == 1 else "BITS DIFFER"]


def ratios(seconds: list[float], unit: float) -> list[float]:
    """The time of X @ w, that on all threads in units of it, and how much faster that is than one thread."""
    return [unit, seconds[-1] / unit, seconds[0] / seconds[-1]]


def narrow_margin(n: int, d: int) -> tuple[Any, Any]:
    """Rows that a hyperplane separates with a margin of 1e-4."""
    rng = np.random.default_rng(1)
    w = rng.normal(size=d)
    w /= np.linalg.norm(w)
    X, y = np.empty((n, d)), np.empty(n, dtype=int)
    for begin in range(0, n, 2**18):
        own = rng.normal(size=X[begin : begin + 2**18].shape)
        s = own @ w
        own += np.outer(np.where(np.abs(s) < 1e-4, 2e-4 * np.sign(s) - s, 0.0), w)
        X[begin : begin + 2**18], y[begin : begin + 2**18] = own, own @ w > 0
    return X, y


def draw(counts: list[int], efficiency: dict[str, list[float]]) -> None:
    """Parallel efficiency against threads."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, values in efficiency.items():
        ax.plot(counts, values, marker="o", label=name)
    ax.set(xscale="log", xticks=counts, xticklabels=counts, xlabel="threads", ylabel="parallel efficiency")
    ax.set_ylim(bottom=0)
    ax.minorticks_off()
    ax.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.savefig(Path(__file__).with_name("cores.svg"))


if __name__ == "__main__":
    main()

"""Folds that share work, folds on threads, and a bootstrap that needs no rows, beside their peers."""

from __future__ import annotations

import multiprocessing as mp
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV, cross_val_score

import separatrix as sx
from benchmarks.measure import interleaved, print_table


def ridge(n: int, d: int, repeats: int) -> None:
    """5 folds x 50 penalties against one fit."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + rng.normal(size=n)
    alphas = np.geomspace(1e-2, 1e4, 50)
    work = {
        "LeastSquares.fit": lambda: sx.LeastSquares(alpha=1.0).fit(X, y),
        "Selector, 5 folds x 50 alphas": lambda: sx.Selector(
            sx.LeastSquares(), {"alpha": alphas.tolist()}, random_state=0
        ).fit(X, y),
        "scikit-learn Ridge.fit": lambda: Ridge(alpha=1.0).fit(X, y),
        "scikit-learn RidgeCV, 50 alphas, leave-one-out": lambda: RidgeCV(alphas).fit(X, y),
    }
    best = interleaved(work, repeats)
    best["scikit-learn GridSearchCV, 5 x 2 alphas, times 25"] = (
        25 * interleaved({"grid": lambda: GridSearchCV(Ridge(), {"alpha": [1.0, 10.0]}, cv=5).fit(X, y)}, 1)["grid"]
    )
    unit = best["LeastSquares.fit"]
    print(f"Ridge, {n:,} x {d}:\n")
    print_table(["work", "seconds", "of one fit"], [[name, f"{t:.3f}", t / unit] for name, t in best.items()])


def discriminant(n: int, d: int, repeats: int) -> None:
    """5 folds of a linear discriminant against one fit."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, d)) + 0.2 * y[:, None]
    folds = [(np.flatnonzero(np.arange(n) % 5 != k), np.flatnonzero(np.arange(n) % 5 == k)) for k in range(5)]
    learner = sx.LinearDiscriminant()
    work = {
        "LinearDiscriminant.fit": lambda: sx.LinearDiscriminant().fit(X, y),
        "cross_validate, moments shared": lambda: sx.cross_validate(learner, X, y, random_state=0),
        "cross_validate, fold by fold": lambda: sx.cross_validate(learner, X, y, random_state=0, share=False),
        "scikit-learn cross_val_score, lsqr": lambda: cross_val_score(
            LinearDiscriminantAnalysis(solver="lsqr"), X, y, cv=folds
        ),
    }
    best = interleaved({name: work[name] for name in list(work)[:2]}, 5 * repeats, time.thread_time)
    best |= interleaved({name: work[name] for name in list(work)[2:]}, repeats, time.process_time)
    unit = best["LinearDiscriminant.fit"]
    print(f"\nLinear discriminant, {n:,} x {d}, CPU seconds:\n")
    print_table(["work", "seconds", "of one fit"], [[name, f"{t:.3f}", t / unit] for name, t in best.items()])


def threads(n: int, d: int, repeats: int) -> None:
    """Folds of a perceptron on one and on two threads, beside two processes that share nothing.

    Five whole fits on two threads take three turns, so that 5/3 is all that can be had; ten can be twice as fast.
    """
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=d) + rng.normal(size=n) > 0).astype(int)
    learner = sx.Perceptron(max_iter=30)
    half = n * 9 // 10
    own = [(np.ascontiguousarray(X[:half]), y[:half]), (np.ascontiguousarray(X[-half:]), y[-half:])]

    def run(folds: int, executor: Any) -> None:
        sx.cross_validate(learner, X, y, folds=folds, random_state=0, executor=executor)

    def five(k: int) -> None:
        for _ in range(5):
            sx.Perceptron(max_iter=30).fit(*own[k])

    def apart() -> None:
        children = [mp.get_context("fork").Process(target=five, args=(k,)) for k in (0, 1)]
        for child in children:
            child.start()
        for child in children:
            child.join()

    with ThreadPoolExecutor(2) as pool:
        work = {
            "5 folds, one thread": lambda: run(5, None),
            "5 folds, two threads": lambda: run(5, pool),
            "10 folds, one thread": lambda: run(10, None),
            "10 folds, two threads": lambda: run(10, pool),
            "10 fits, one process": lambda: (five(0), five(1)),
            "10 fits, two processes": apart,
        }
        best = interleaved(work, repeats)
    print(f"\nPerceptron, 30 passes, {n:,} x {d}:\n")
    rows, alone = [], 0.0
    for name, t in best.items():  # each pair begins with the one that works alone
        alone = t if "one" in name else alone
        rows.append([name, f"{t:.3f}", alone / t])
    print_table(["work", "seconds", "speed-up"], rows)


def f1_bootstrap(n: int, resamples: int) -> None:
    """F1 with its interval; scipy resamples rows, in batches that fit into memory."""
    rng = np.random.default_rng(3)
    y = rng.random(n) < 0.3
    f = y ^ (rng.random(n) < 0.1)

    def f1(a: Any, b: Any, axis: int = -1) -> Any:
        return 2 * (a & b).sum(axis=axis) / (a.sum(axis=axis) + b.sum(axis=axis))

    def theirs() -> None:
        stats.bootstrap(
            (y, f), f1, paired=True, vectorized=True, n_resamples=resamples, batch=50, method="percentile", rng=0
        )

    ours = interleaved({"ours": lambda: sx.evaluate(y, f, resamples=resamples)}, 5)["ours"]
    peer = interleaved({"scipy": theirs}, 1)["scipy"]
    print(f"\nBootstrap of F1, n = {n:,}, {resamples} resamples:\n")
    rows = [
        ["evaluate, every metric of labels", f"{ours:.4f}", peer / ours],
        ["scipy.stats.bootstrap, F1 alone, percentiles", f"{peer:.3f}", 1.0],
    ]
    print_table(["work", "seconds", "faster than scipy"], rows)


def main() -> None:
    ridge(200_000, 100, 3)
    discriminant(200_000, 100, 3)
    threads(100_000, 100, 3)
    f1_bootstrap(100_000, 2000)

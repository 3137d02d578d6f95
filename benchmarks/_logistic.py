"""Rows, peers and the contest of the logistic benchmarks.

Every peer runs at the loosest tolerance of a grid of decades that reaches a relative objective gap of 1e-6; all
fit without a bias, which LIBLINEAR penalises and celer does not have. Peers that are not installed stay out. The
tolerance is sought in a process of its own, so that a peer can be stopped: one that has not reached the gap after
``PATIENCE`` seconds of the processor is given up, with the gap that it had reached.
"""

from __future__ import annotations

import importlib.util
import multiprocessing as mp
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs

from benchmarks.measure import interleaved

GAP = 1e-6
PATIENCE = 40.0  # seconds of the processor that a peer may spend until it reaches the gap
SHORT = 4.0  # slower fits than that have one turn
DECADES = tuple(10.0**-k for k in range(8))


@dataclass(frozen=True)
class Rows:
    """A table with labels -1 and +1, a penalty, and the objective that all contenders minimise."""

    name: str
    X: Any
    y: Any
    C: float
    l1: bool = False

    def value(self, w: Any) -> float:
        penalty = np.abs(w).sum() if self.l1 else 0.5 * (w**2).sum()
        return float(self.C * np.logaddexp(0, -self.y * (self.X @ w)).sum() + penalty)


def table(kind: str, n: int, d: int, rng: np.random.Generator) -> Any:
    if kind == "sparse":
        return sparse.random_array((n, d), density=30 / d, format="csr", rng=rng)
    if kind == "zipf":
        ids = rng.choice(d, size=(n, 60), p=(1 / np.arange(1, d + 1)) / (1 / np.arange(1, d + 1)).sum())
        start = np.arange(0, 60 * n + 1, 60)
        X = sparse.csr_array((np.abs(rng.standard_normal(60 * n)), ids.ravel(), start), shape=(n, d))
        X.sum_duplicates()
        return X
    X = rng.standard_normal((n, d))
    if kind == "correlated":
        X[:, 1:] += 2.0 * X[:, :1]
    elif kind == "heavy-tailed":
        X = rng.standard_t(3, (n, d))
    elif kind == "rare":
        X[:, ::4] = rng.random((n, len(range(0, d, 4)))) < 0.002
    return X


def labels(X: Any, rng: np.random.Generator, share: float = 1.0) -> Any:
    """Drawn from a logistic model in which this share of the columns counts."""
    w = rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < share)
    s = X @ w
    return np.where(rng.random(X.shape[0]) < 1 / (1 + np.exp(-2 * s / np.std(s))), 1, -1)


def indexed(X: Any) -> Any:
    """The same rows with the 32-bit indices that peers want."""
    if isinstance(X, np.ndarray):
        return X
    return sparse.csr_matrix((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


Fit = Callable[[float], Any]


def ridge_peers(rows: Rows, names: Sequence[str]) -> dict[str, Fit]:
    """Peers of a ridge by name: from a tolerance to weights."""
    X, y, C = indexed(rows.X), rows.y, rows.C

    def scikit(solver: str, **more: Any) -> Fit:
        return lambda tol: (
            Theirs(C=C, solver=solver, tol=tol, fit_intercept=False, max_iter=2000, **more).fit(X, y).coef_
        )

    out: dict[str, Fit] = {
        name: scikit(name) for name in ("newton-cholesky", "lbfgs", "liblinear", "saga") if name in names
    }
    if "liblinear dual" in names:
        out["liblinear dual"] = scikit("liblinear", dual=True)
    if "glum" in names and has("glum"):
        from glum import GeneralizedLinearRegressor

        def glum(tol: float) -> Any:
            model = GeneralizedLinearRegressor(
                family="binomial",
                alpha=1 / (C * len(y)),
                l1_ratio=0,
                fit_intercept=False,
                gradient_tol=1e-3 * tol,
                max_iter=500,
                solver="irls-ls",
            )
            return model.fit(X, (y > 0).astype(float)).coef_

        out["glum"] = glum
    if "snapml" in names and has("snapml"):
        from snapml import LogisticRegression as Snap

        out["snapml"] = lambda tol: Snap(regularizer=1 / C, tol=tol, max_iter=1000, n_jobs=1).fit(X, y).coef_
    return out


def lasso_peers(rows: Rows, names: Sequence[str]) -> dict[str, Fit]:
    """Peers of the lasso by name."""
    X, y, C = indexed(rows.X), rows.y, rows.C
    out: dict[str, Fit] = {}
    for solver in ("liblinear", "saga"):
        if solver in names:
            out[solver] = lambda tol, solver=solver: (
                Theirs(C=C, l1_ratio=1.0, solver=solver, tol=tol, fit_intercept=False, max_iter=2000).fit(X, y).coef_
            )
    if has("celer"):
        from celer import LogisticRegression as Celer

        out["celer"] = lambda tol: Celer(C=C, tol=tol, fit_intercept=False, max_iter=100).fit(X, y).coef_
    if has("skglm"):
        from skglm import SparseLogisticRegression

        n = len(y)
        SparseLogisticRegression(alpha=1 / (C * n), tol=0.1, fit_intercept=False).fit(X[:300], y[:300])  # compile
        out["skglm"] = lambda tol: (
            SparseLogisticRegression(alpha=1 / (C * n), tol=tol, fit_intercept=False, max_iter=200).fit(X, y).coef_
        )
    return out


def contest(rows: Rows, ours: Fit, best: Any, peers: dict[str, Fit], repeats: int) -> dict[str, str]:
    """Multiples of one ``X @ w``, with the gap and the digits in the weights, by contender."""
    floor, scale = rows.value(best), float(np.abs(best).max())
    runs: dict[str, Callable[[], Any]] = {"Separatrix": lambda: ours(GAP)}
    slow = {}
    for name, fit in peers.items():
        tol, said = loosest(rows, fit, floor)
        if tol is None:
            slow[name] = said
        else:
            runs[name] = lambda fit=fit, tol=tol: fit(tol)
    ones = np.ones(rows.X.shape[1])
    found: dict[str, Any] = {}

    def keep(name: str, run: Callable[[], Any]) -> Callable[[], None]:
        return lambda: found.__setitem__(name, np.ravel(run()))

    turns = {"X@w": lambda: [rows.X @ ones for _ in range(5)], **{k: keep(k, r) for k, r in runs.items()}}
    times = interleaved(turns, repeats, time.process_time, SHORT)
    times["X@w"] /= 5
    out = dict(slow)
    for name, w in found.items():
        digits = -np.log10(np.abs(w - best).max() / scale + 1e-17)
        gap = max(rows.value(w) / floor - 1, 0.0)
        ratio = times[name] / times["X@w"]
        out[name] = f"{ratio:.{1 if ratio < 10 else 0}f} (gap {gap:.0e}, {digits:.0f} digits)"
    return out


def loosest(rows: Rows, fit: Fit, floor: float) -> tuple[float | None, str]:
    """The first tolerance that reaches the gap, or None and what was reached in the time."""
    reports: Any = mp.get_context("fork").SimpleQueue()

    def search() -> None:
        begin = time.process_time()
        for tol in DECADES:
            gap = rows.value(np.ravel(fit(tol))) / floor - 1
            reports.put((tol, gap, time.process_time() - begin))
            if gap <= GAP or time.process_time() - begin > PATIENCE:
                break

    child = mp.get_context("fork").Process(target=search)
    child.start()
    begin = time.perf_counter()
    while child.is_alive() and time.perf_counter() - begin < 2 * PATIENCE:
        child.join(0.2)
    late = child.is_alive()
    if late:
        child.kill()
        child.join()
    tol, gap, spent = None, np.inf, 0.0
    while not reports.empty():
        tol, gap, spent = reports.get()
    if gap <= GAP:
        return tol, ""
    return None, f"gap {gap:.0e} after {spent:.0f} s" + (", then none" if late else "")


def show(cases: Sequence[tuple[str, dict[str, str]]]) -> None:
    """A Markdown table with a column for each contender of any case."""
    from benchmarks.measure import print_table

    names = ["Separatrix", *sorted({n for _, case in cases for n in case} - {"Separatrix"})]
    print_table(("rows", *names), [(name, *(case.get(n, "-") for n in names)) for name, case in cases])

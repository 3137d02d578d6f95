"""Logistic regression to a relative objective gap of 1e-6, in multiples of one ``X @ w`` of the same run."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression as Theirs

import separatrix as sx
from benchmarks.measure import interleaved, print_table


def rows_of(kind: str, n: int, d: int, rng: np.random.Generator) -> Any:
    X = rng.standard_normal((n, d))
    if kind == "correlated":
        X[:, 1:] += 2.0 * X[:, :1]
    elif kind == "heavy-tailed":
        X = rng.standard_t(3, (n, d))
    elif kind == "rare":
        X[:, ::4] = rng.random((n, len(range(0, d, 4)))) < 0.002
    return X


def labels_of(X: Any, rng: np.random.Generator) -> Any:
    w = rng.standard_normal(X.shape[1]) / np.sqrt(X.shape[1])
    return np.where(rng.random(X.shape[0]) < 1 / (1 + np.exp(-2 * (X @ w))), 1, -1)


def objective(X: Any, y: Any, coef: Any, intercept: Any, C: float) -> float:
    margins = y * (X @ coef.ravel() + intercept[0])
    return float(C * np.logaddexp(0, -margins).sum() + 0.5 * (coef**2).sum())


def contest(name: str, X: Any, y: Any, C: float, peers: dict[str, Any], repeats: int) -> list[Any]:
    w = np.ones(X.shape[1])
    ours = sx.LogisticRegression(C=C, tol=1e-6)
    models = {"ours": ours, **peers}
    times = interleaved(
        {"X@w": lambda: X @ w, **{k: lambda m=m: m.fit(X, y) for k, m in models.items()}}, repeats=repeats
    )
    best = sx.LogisticRegression(C=C, tol=1e-13).fit(X, y)
    floor = objective(X, y, best.coef_, best.intercept_, C)
    row: list[Any] = [name, C]
    for key, model in models.items():
        gap = objective(X, y, model.coef_, model.intercept_, C) / floor - 1
        off = np.abs(model.coef_ - best.coef_).max() / np.abs(best.coef_).max()
        row.append(f"{times[key] / times['X@w']:.1f} (gap {gap:.0e}, {-np.log10(off + 1e-17):.0f} digits)")
    return row


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    rows = []
    for kind in ("gaussian", "correlated", "heavy-tailed", "rare"):
        X = rows_of(kind, 200_000, 100, rng)
        y = labels_of(X, rng)
        for C in (1.0, 1e6):
            peers = {"cholesky": Theirs(C=C, solver="newton-cholesky", tol=1e-2)}
            rows.append(contest(f"2e5x100 {kind}", X, y, C, peers, 3))
    X = rows_of("gaussian", 20_000, 1000, rng)
    y = labels_of(X, rng)
    rows.append(contest("2e4x1000", X, y, 1.0, {"cholesky": Theirs(solver="newton-cholesky", tol=1e-2)}, 2))
    print_table(("rows", "C", "Separatrix", "scikit-learn newton-cholesky"), rows)
    S = sparse.random_array((500_000, 50_000), density=0.0006, format="csr", rng=rng)
    y = labels_of(S, rng)
    print_table(
        ("rows", "C", "Separatrix", "LIBLINEAR dual"),
        [contest("5e5x5e4 sparse", S, y, 1.0, {"liblinear": Theirs(solver="liblinear", dual=True, tol=1.0)}, 1)],
    )
    existence(rng)


def existence(rng: np.random.Generator) -> None:
    """What settling existence adds to an unpenalised fit."""
    from separatrix.learners import logistic_task as fitting

    X = rows_of("gaussian", 200_000, 100, rng)
    codes = (labels_of(X, rng) > 0).astype(np.intp)
    task = fitting.Task(X, codes, 2, None, None, True)

    def without() -> None:
        fit = fitting.Likelihood(task, 100, search=False)
        fit.go_on()

    times = interleaved({"with": lambda: sx.LogisticRegression().fit(X, codes), "without": without}, repeats=3)
    print_table(
        ("unpenalised 2e5x100", "ratio"), [("fit with existence settled / without", times["with"] / times["without"])]
    )

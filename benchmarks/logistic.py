"""Logistic regression to a relative objective gap of 1e-6, in multiples of one ``X @ w`` of the same run."""

from __future__ import annotations

import time
import warnings

import numpy as np

import separatrix as sx
from benchmarks._logistic import Fit, Rows, contest, labels, lasso_peers, ridge_peers, show, table
from benchmarks.measure import interleaved, print_table

RIDGES = (
    ("gaussian", 200_000, 100, ("newton-cholesky", "lbfgs", "glum", "saga", "liblinear", "snapml")),
    ("correlated", 200_000, 100, ("newton-cholesky", "lbfgs", "glum")),
    ("heavy-tailed", 200_000, 100, ("newton-cholesky", "lbfgs", "glum")),
    ("rare", 200_000, 100, ("newton-cholesky", "lbfgs", "glum")),
    ("gaussian", 20_000, 1000, ("newton-cholesky", "lbfgs", "glum", "snapml")),
    ("correlated", 20_000, 1000, ("newton-cholesky", "lbfgs", "glum")),
    ("sparse", 500_000, 50_000, ("liblinear dual", "snapml", "lbfgs")),
)
LASSOS = (
    ("gaussian", 200_000, 100, 0.1),
    ("gaussian", 200_000, 100, 0.01),
    ("gaussian", 20_000, 1000, 0.1),
    ("gaussian", 20_000, 1000, 0.02),
    ("correlated", 20_000, 1000, 0.05),
    ("gaussian", 2_000, 10_000, 0.3),
    ("zipf", 200_000, 50_000, 0.01),
    ("zipf", 200_000, 50_000, 0.001),
    ("sparse", 200_000, 50_000, 0.1),
    ("zipf", 200_000, 50_000, 0.0003),
)


def ours(rows: Rows, l1_ratio: float) -> Fit:
    def fit(tol: float) -> object:
        return (
            sx.LogisticRegression(C=rows.C, l1_ratio=l1_ratio, tol=tol, fit_intercept=False).fit(rows.X, rows.y).coef_
        )

    return fit


def tell(case: tuple[str, dict[str, str]]) -> None:
    """One line as soon as it is known; the tables come at the end."""
    print(f"{case[0]}: " + "; ".join(f"{name} {found}" for name, found in case[1].items()), flush=True)


def ridges(rng: np.random.Generator) -> None:
    cases = []
    for kind, n, d, peers in RIDGES:
        X = table(kind, n, d, rng)
        y = labels(X, rng)
        for C in (1.0, 1e6) if d == 100 else (1.0,):
            rows = Rows(f"{n:,}×{d:,} {kind}, C = {C:g}", X, y, C)
            fit = ours(rows, 0.0)
            cases.append((rows.name, contest(rows, fit, np.ravel(fit(1e-12)), ridge_peers(rows, peers), 3)))
            tell(cases[-1])
    show(cases)


def lassos(rng: np.random.Generator) -> None:
    cases = []
    for kind, n, d, share in LASSOS:
        X = table(kind, n, d, rng)
        y = labels(X, rng, 0.2)
        C = 1 / (share * float(np.abs(X.T @ (0.5 * y)).max()))
        rows = Rows(f"{n:,}×{d:,} {kind}, {share:g} of the greatest penalty", X, y, C, l1=True)
        fit = ours(rows, 1.0)
        best = np.ravel(fit(1e-10))
        rows = Rows(f"{rows.name}, {np.count_nonzero(best)} columns in use", X, y, C, l1=True)
        cases.append((rows.name, contest(rows, fit, best, lasso_peers(rows, ("liblinear",)), 3)))
        tell(cases[-1])
    show(cases)


def existence(rng: np.random.Generator) -> None:
    """What settling existence adds to an unpenalised fit, and what the checks of the input and the bookkeeping do."""
    from separatrix.models.logistic import likelihood_fit as fitting
    from separatrix.models.logistic.problem import LogisticProblem
    from separatrix.solvers.newton import newton

    proof = fitting.LeftToGain
    cases = []
    for n, d, repeats in ((200_000, 100, 5), (20_000, 20, 20), (1_000, 5, 300)):
        X = table("gaussian", n, d, rng)
        codes = (labels(X, rng) > 0).astype(np.intp)
        loss = LogisticProblem.of(X, codes, 2).objective()

        def settled(X: object = X, codes: object = codes) -> None:
            sx.LogisticRegression().fit(X, codes)

        def unsettled(X: object = X, codes: object = codes) -> None:
            fitting.LeftToGain = lambda *_: lambda point: 0.0
            try:
                sx.LogisticRegression().fit(X, codes)
            finally:
                fitting.LeftToGain = proof

        def bare(loss: object = loss) -> None:
            newton(loss, loss.point(np.zeros(loss.length)), 100)

        work = {"with": settled, "without": unsettled, "bare": bare}
        times = interleaved(work, repeats, time.process_time)
        cases.append((f"{n:,}×{d}", times["with"] / times["without"], times["with"] / times["bare"]))
    header = ("unpenalised fit, existence settled", "of the same fit without the proof", "of its Newton steps alone")
    print_table(header, cases)


def main() -> None:
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    for part in (ridges, lassos, existence):
        part(rng)
        print(flush=True)

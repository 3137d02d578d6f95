"""Least squares and discriminants on 500 000 x 100 rows, in multiples of one dsyrk; descent beside SGDClassifier.

Whole fits, one thread, float64. Slow peers run once, after the others. "epoch" is what one more epoch costs:
(a fit of 6 - a fit of 1)/5, the same constant step and order on both sides.
"""

from __future__ import annotations

import warnings

import numpy as np
import sklearn
from scipy.linalg.blas import dsyrk
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge, SGDClassifier

import separatrix as sx
from benchmarks.measure import interleaved, print_table

warnings.filterwarnings("ignore")
N, D = 500_000, 100


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    t = X @ rng.normal(size=D) + rng.normal(size=N) + 1
    y = np.where(X[:, 0] + rng.normal(size=N) > 0, 1, -1)
    print(f"scikit-learn {sklearn.__version__}; {N} x {D}, in multiples of one dsyrk\n")
    closed(X, t, y)
    print("\nOne epoch of logistic descent, 200 000 x 100, in multiples of scikit-learn's\n")
    descent(X[:200_000], y[:200_000])


def closed(X, t, y) -> None:
    alphas = np.logspace(-3, 3, 50)
    quick = {
        "dsyrk": lambda: dsyrk(1.0, X.T),
        "LeastSquares": lambda: sx.LeastSquares().fit(X, t),
        "LeastSquares(1.0)": lambda: sx.LeastSquares(1.0).fit(X, t),
        "path of 50 alphas": lambda: sx.LeastSquares().path(X, t, alphas),
        "LeastSquaresClassifier": lambda: sx.LeastSquaresClassifier().fit(X, y),
        "LinearDiscriminant": lambda: sx.LinearDiscriminant().fit(X, y),
        "QuadraticDiscriminant": lambda: sx.QuadraticDiscriminant().fit(X, y),
        "scikit-learn Ridge": lambda: Ridge(1.0).fit(X, t),
    }
    slow = {
        "scikit-learn LDA (lsqr)": lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y),
        "scikit-learn LinearRegression": lambda: LinearRegression().fit(X, t),
        "scikit-learn QDA": lambda: QuadraticDiscriminantAnalysis().fit(X, y),
        "scikit-learn LDA (default)": lambda: LinearDiscriminantAnalysis().fit(X, y),
    }
    best = interleaved(quick, 7) | interleaved(slow, 1)
    print_table(["fit", "x dsyrk"], [(name, time / best["dsyrk"]) for name, time in best.items()])
    print(f"\npath of 50 / one fit: {best['path of 50 alphas'] / best['LeastSquares(1.0)']:.2f}")


def descent(X, y) -> None:
    def ours(epochs, **options):
        return lambda: sx.LinearDescent(
            step=1e-3, schedule="constant", order="cyclic", max_iter=epochs, tol=0.0, **options
        ).fit(X, y)

    def theirs(epochs, **options):
        return lambda: SGDClassifier(
            loss="log_loss", learning_rate="constant", eta0=1e-3, shuffle=False, max_iter=epochs, tol=None, **options
        ).fit(X, y)

    best = interleaved(
        {
            "ours 1": ours(1), "batches 1": ours(1, batch_size=32), "theirs 1": theirs(1),
            "ours 6": ours(6), "batches 6": ours(6, batch_size=32), "theirs 6": theirs(6),
        },
        5,
    )  # fmt: skip
    epoch = {name: (best[f"{name} 6"] - best[f"{name} 1"]) / 5 for name in ("ours", "batches", "theirs")}
    rows = [
        ("stochastic", epoch["theirs"] / epoch["ours"], best["theirs 1"] / best["ours 1"]),
        ("batches of 32", epoch["theirs"] / epoch["batches"], best["theirs 1"] / best["batches 1"]),
    ]
    print_table(["LinearDescent", "epoch: times faster", "fit of 1 epoch: times faster"], rows)


if __name__ == "__main__":
    main()

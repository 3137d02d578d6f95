"""The maximum margin with proof, beside solvers of the same quadratic programme without.

Gaussian rows pushed apart by 0.2 or 1e-4 along a random direction, and real sets. Ours is ``margin(X, y)`` (a bracket,
both sides proved in exact arithmetic) and ``margin(X, y, exact=True)`` (one rational number). Beside it scikit-learn's
SVC (C = 1e10, tol 1e-8) and LinearSVC (hinge loss, C = 1e6, the intercept scaled by 100), each with iterations for some
half a minute, and the programme min |w|^2/2, y_i (w.x_i + b) >= 1 by HiGHS. Their errors are 1 - reached / true
half-width; a hyperplane that does not separate has none. CPU seconds of
one thread; ours the least of 5, the others once.

``python -m benchmarks margin``; ``--quick`` leaves the largest sets out.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np

from benchmarks.measure import print_table
from separatrix import MaxMargin, margin

GRID = [(10_000, 20), (100_000, 20), (100_000, 100)]
LIMIT = 120.0  # seconds for HiGHS


def pushed(n, d, by, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    y = np.where(X @ w + 0.3 >= 0, 1, -1)
    return X + np.outer(y * by, w), y


def real_sets():
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    cancer, iris, wine, digits = load_breast_cancer(), load_iris(), load_wine(), load_digits()
    yield "iris, setosa / rest", iris.data, np.where(iris.target == 0, 1, -1)
    yield "wine, 0 / rest", wine.data, np.where(wine.target == 0, 1, -1)
    yield "digits, 0 / rest", digits.data, np.where(digits.target == 0, 1, -1)
    yield "breast cancer", cancer.data, np.where(cancer.target == 0, 1, -1)
    Z = (cancer.data - cancer.data.mean(0)) / cancer.data.std(0)
    yield "breast cancer, standardised", Z, np.where(cancer.target == 0, 1, -1)


def support_vector_machine(X, y):
    from sklearn.svm import SVC

    model = SVC(kernel="linear", C=1e10, tol=1e-8, max_iter=min(10**6, int(3e10 / X.size)), cache_size=1000).fit(X, y)
    return model.coef_[0], model.intercept_[0]


def linear_machine(X, y):
    from sklearn.svm import LinearSVC

    model = LinearSVC(
        loss="hinge", C=1e6, intercept_scaling=100, tol=1e-10, max_iter=min(10_000, int(1e10 / X.size))
    ).fit(X, y)
    return model.coef_[0], model.intercept_[0]


def highs(X, y):
    import highspy

    n, d = X.shape
    model = highspy.Highs()
    for option, value in {"output_flag": False, "time_limit": LIMIT, "threads": 1}.items():
        model.setOptionValue(option, value)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = d + 1, n
    lp.col_cost_ = np.zeros(d + 1)
    lp.col_lower_, lp.col_upper_ = np.full(d + 1, -highspy.kHighsInf), np.full(d + 1, highspy.kHighsInf)
    lp.row_lower_, lp.row_upper_ = np.ones(n), np.full(n, highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.arange(n + 1, dtype=np.int32) * (d + 1)
    lp.a_matrix_.index_ = np.tile(np.arange(d + 1, dtype=np.int32), n)
    lp.a_matrix_.value_ = (np.column_stack([X, np.ones(n)]) * y[:, None]).ravel()
    square = highspy.HighsHessian()
    square.dim_ = d + 1
    square.format_ = highspy.HessianFormat.kTriangular
    square.start_ = np.append(np.arange(d + 1), d).astype(np.int32)
    square.index_ = np.arange(d, dtype=np.int32)
    square.value_ = np.ones(d)
    whole = highspy.HighsModel()
    whole.lp_, whole.hessian_ = lp, square
    model.passModel(whole)
    model.run()
    said = model.modelStatusToString(model.getModelStatus())
    if said != "Optimal":
        raise RuntimeError(said)
    solution = np.array(model.getSolution().col_value)
    return solution[:d], solution[d]


def timed(work, repeats=1):
    best, out = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        out = work()
        best = min(best, time.process_time() - start)
    return best, out


def shown(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def compare(name, X, y):
    bracket_seconds, bracket = timed(lambda: margin(X, y), 5)
    exact_seconds, exact = timed(lambda: margin(X, y, exact=True), 5)
    assert exact.squared is not None
    row = [name, shown(bracket_seconds), f"{bracket.gap:.0e}", shown(exact_seconds)]
    row += [str(len(exact.support)), str(exact.squared.denominator.bit_length()), f"{exact.lower:.12g}"]
    for other in (support_vector_machine, linear_machine, highs):
        try:
            seconds, (w, b) = timed(lambda other=other: other(X, y))
        except ImportError:
            row.append("not installed")
            continue
        except RuntimeError as said:
            row.append(f"{said} ({LIMIT:g} s)")
            continue
        length = np.linalg.norm(w)
        reached = (y * (X @ w + b)).min() / length if length > 0 else -1.0
        error = f"error {max(0.0, 1 - reached / exact.lower):.0e}" if reached > 0 else "**does not separate**"
        row.append(f"{shown(seconds)}, {error}")
    print(row, file=sys.stderr, flush=True)
    return row


def soft(n, d, C):
    from sklearn.svm import SVC

    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) >= 0, 1, -1)

    def objective(w, b):
        return 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w + b)).sum()

    seconds, model = timed(lambda: MaxMargin(C).fit(X, y), 3)
    theirs, other = timed(lambda: SVC(kernel="linear", C=C, max_iter=10**6).fit(X, y))
    mine = objective(model.coef_[0], model.intercept_[0])
    excess = objective(other.coef_[0], other.intercept_[0]) / mine - 1
    return [f"{n:,} x {d}, C = {C:g}", shown(seconds), f"{model.gap_[0]:.0e}", shown(theirs), f"{excess:.0e}"]


def main():
    warnings.simplefilter("ignore")
    grid = GRID[:1] if "--quick" in sys.argv else GRID
    rows = [compare(*case) for case in real_sets()]
    rows += [compare(f"{n:,} x {d}, pushed {by:g}", *pushed(n, d, by)) for n, d in grid for by in (0.2, 1e-4)]
    header = ["set", "bracket", "gap", "exact", "rows", "bits", "half-width", "SVC", "LinearSVC", "HiGHS QP"]
    print_table(header, rows)
    print()
    cases = [(1000, 20, 1.0), (1000, 20, 1e4), (5000, 50, 1.0), *([] if "--quick" in sys.argv else [(20_000, 20, 1.0)])]
    soft_rows = [soft(*case) for case in cases]
    print_table(["soft margin", "MaxMargin", "its gap", "SVC", "SVC's objective above ours"], soft_rows)

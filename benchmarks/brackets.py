"""Brackets of the fewest mistakes on real tables and one drawn, with ``time_limit=60``: the tree alone, and all bounds.

"Tree" is the search without blocks of rows, small witnesses and smooth starts, and with fewer restarts: ``Search`` as
blocks use it, on all rows. Both have the same limit of time, one after the other, so that a busy machine is busy for
both; CPU seconds say how much each had. The certificate of all bounds is checked by the stand-alone checker.

``python -m benchmarks brackets``; the tables are read from SEPARATRIX_DATA.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.fewest_mistakes import table
from benchmarks.measure import print_table
from separatrix import fewest_mistakes, verify
from separatrix.proofs.exact.lifted_rows import LiftedRows
from separatrix.proofs.fewest_mistakes.branch_and_bound import Search
from separatrix.proofs.fewest_mistakes.case_tree import default_nodes


def adult(name):
    """A sparse table in svmlight format."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(Path(os.environ["SEPARATRIX_DATA"]) / name))
    return X, y > 0


def diabetes():
    """Progression above its median."""
    lines = (Path(os.environ["SEPARATRIX_DATA"]) / "diabetes.csv").read_text().splitlines()[1:]
    numbers = np.array([[float(v) for v in line.split(",")] for line in lines])
    return np.ascontiguousarray(numbers[:, :-1]), numbers[:, -1] > np.median(numbers[:, -1])


def credit(n=1000, seed=0):
    """A bank's records of loans, drawn from a seed: 7 numbers, 13 categories as dummies, 30 % bad."""
    rng = np.random.default_rng(seed)
    months = rng.choice([6, 9, 12, 15, 18, 24, 30, 36, 48, 60], n)
    amount = np.round(250 * np.exp(rng.normal(2.2, 0.7, n) + months / 60))
    age = 19 + rng.poisson(16, n)
    small = [rng.integers(1, 5, (n, 2)), rng.integers(1, 3, (n, 2))]  # rate, residence; loans, dependants
    numbers = np.column_stack([months, amount, age, *small])
    score = 0.04 * (months - 20) + amount / 8000 - 0.03 * (age - 35)
    dummies = []
    for levels in (4, 5, 10, 5, 5, 4, 3, 4, 3, 3, 4, 2, 2):
        level = rng.choice(levels, n, p=rng.dirichlet(np.full(levels, 3.0)))
        score += rng.normal(0, 0.7, levels)[level]
        dummies.append(level[:, None] == np.arange(1, levels))
    score += rng.logistic(0, 1, n)
    return np.column_stack([numbers, *dummies]).astype(float), score > np.quantile(score, 0.7)


def tables():
    yield "spambase", table("spambase", 57, "1")
    yield "diabetes, above the median", diabetes()
    yield "titanic, 8 columns", table("titanic_numeric", 8, "1")
    yield "breast cancer, 10 features", table("breast_cancer", 10, "1")
    yield "breast cancer, 30 features", table("breast_cancer", 30, "1")
    yield "banknote", table("banknote", 4, "1")
    yield "credit, drawn", credit()
    yield "a9a", adult("a9a.svm")


def tree_alone(X, y, limit):
    rows = LiftedRows(X, np.where(y, 1, -1).astype(np.int8), True)
    search = Search(rows, time.perf_counter() + limit, None)
    search.run(default_nodes(rows.n, rows.p), 0)
    return search.lower, search.upper


def main():
    if "SEPARATRIX_DATA" not in os.environ:
        sys.exit("SEPARATRIX_DATA does not name the folder of the tables: set it.")
    limit = 5 if "--quick" in sys.argv else 60
    lines = []
    for name, (X, y) in tables():
        start = time.process_time()
        low, high = tree_alone(X, y, limit)
        first = time.process_time() - start
        found = fewest_mistakes(X, y, time_limit=limit)
        second = time.process_time() - start - first
        certificate = found.certificate
        start = time.process_time()
        assert f"at least {found.lower} " in verify(certificate, X, y)
        checked = time.process_time() - start
        spent = [f"{first:.0f}", f"{second:.0f}", f"{len(certificate.text) / 1e6:.2f}", f"{checked:.1f}"]
        lines.append([name, f"{X.shape[0]} x {X.shape[1]}", low, found.lower, high, found.upper, *spent])
        print(lines[-1], file=sys.stderr, flush=True)
    ends = ["lower, tree", "lower, all", "upper, tree", "upper, all"]
    print_table(["table", "rows x columns", *ends, "CPU s, tree", "CPU s, all", "certificate MB", "check s"], lines)


if __name__ == "__main__":
    main()

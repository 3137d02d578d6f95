"""Proofs about tables of hundreds of columns, shape by shape: seconds to decide and prove, bytes, seconds to check.

Gaussian columns of a given condition number, columns far from zero, shared factors, heavy tails, dummies of five
categories, sparse text, columns that are sums of others (exactly, or but for rounding), dummies of one class; 10 % of
the labels are wrong. "Near flip" and "margin 1e-4" as in ``separability``. Prove: ``separability(X, y)`` and the text
of its certificate. Check: checker.py on a table that has been read, the fingerprint included. CPU seconds of one
thread. Kinds of proof: "short" (weights that nearly cancel), "exact" (weights that cancel exactly), "hyperplane".

``python -m benchmarks many_columns`` has 10,000 x 200 and 20,000 x 500; ``--quick`` the first only.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks._shapes import KINDS
from benchmarks.measure import print_table
from benchmarks.separability import labelled
from separatrix import checker, separability
from separatrix.proofs.certificate.certificate import _checkable

CONDITIONS = (1e4, 1e6, 1e8, 1e10, 1e12)
CLASSES = {"a dummy of one class": 1, "ten dummies of one class": 10}


def conditioned(n, d, condition, rng):
    Q, _ = np.linalg.qr(rng.standard_normal((d, d)))
    return rng.standard_normal((n, d)) * np.logspace(0, -np.log10(condition), d) @ Q


def sums(n, d, rng):
    """The last 20 columns are sums of two others, on a grid where no sum is rounded."""
    X = np.round(rng.standard_normal((n, d)) * 1024) / 1024
    X[:, -20:] = X[:, :20] + X[:, 20:40]
    return X


def rounded_sums(n, d, rng):
    X = rng.standard_normal((n, d))
    X[:, -20:] = X[:, :20] + X[:, 20:40]
    return X


SHAPES = {
    **{f"condition {c:.0e}".replace("+", ""): lambda n, d, r, c=c: conditioned(n, d, c, r) for c in CONDITIONS},
    "columns 10,000 away from zero": lambda n, d, r: r.standard_normal((n, d)) + 1e4 * r.standard_normal(d),
    "a shared factor": KINDS["correlated"],
    "Cauchy": lambda n, d, r: r.standard_cauchy((n, d)),
    "dummies of five categories": KINDS["one-hot"],
    "text": KINDS["text"],
    "20 sums of columns": sums,
    "20 sums of columns, rounded": rounded_sums,
    **dict.fromkeys(CLASSES, KINDS["plain"]),
}


def drawn(name, n, d):
    if name in ("near flip", "margin 1e-4"):
        return labelled(n, d, name)
    rng = np.random.default_rng(0)
    X = SHAPES[name](n, d, rng)
    scores = np.asarray(X @ rng.standard_normal(d))
    y = np.where(scores >= np.median(scores), 1, -1)
    y[rng.random(n) < 0.1] *= -1
    for j in range(CLASSES.get(name, 0)):
        X[:, j] = (rng.random(n) < 0.03) & (y == 1)
    return X, y


def measured(name, n, d):
    X, y = drawn(name, n, d)
    start = time.process_time()
    result = separability(X, y)
    if result.verdict == "undecided":
        return [f"{n:,} x {d}", name, "undecided", f"{time.process_time() - start:.2f} s", "-", "-", "-"]
    text = result.certificate.text
    proved = time.process_time()
    table, content = _checkable(X, y, None, "binary64"), json.loads(text)
    read = time.process_time()
    checker.check(content, table)
    kind = "short" if "near" in content else "exact" if "support" in content else "hyperplane"
    seconds = f"{proved - start:.2f} s", f"{time.process_time() - read:.2f} s"
    return [f"{n:,} x {d}", name, result.verdict, kind, seconds[0], f"{len(text):,}", seconds[1]]


def main():
    separability(*labelled(500, 3, "1 flip"))  # the first call imports flint
    rows = []
    for n, d in [(10_000, 200)] if "--quick" in sys.argv else [(10_000, 200), (20_000, 500)]:
        for name in [*SHAPES, "near flip", "margin 1e-4"]:
            rows.append(measured(name, n, d))
            print(rows[-1], file=sys.stderr, flush=True)
    print_table(["rows", "case", "verdict", "proof", "prove", "bytes", "check"], rows)


if __name__ == "__main__":
    main()

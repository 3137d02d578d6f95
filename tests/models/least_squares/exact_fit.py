"""Least squares in rational arithmetic: the answer to which floating point is held."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction


def root(value: Fraction) -> Fraction:
    """The square root to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def inverse(A: list[list[Fraction]]) -> list[list[Fraction]]:
    """By Gauss and Jordan."""
    n = len(A)
    rows = [[*row, *(Fraction(i == j) for j in range(n))] for i, row in enumerate(A)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if rows[i][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        for i in range(n):
            if i != k and rows[i][k]:
                rows[i] = [a - rows[i][k] * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[n:] for row in rows]


@dataclass(frozen=True)
class ExactFit:
    """Weights, the intercept last; sums of squares; standard errors of the unpenalised fit."""

    weights: list[Fraction]
    rss: Fraction
    total: Fraction
    errors: list[Fraction]
    n: int

    @property
    def residual_sd(self) -> Fraction:
        return root(self.rss / (self.n - len(self.weights)))

    @property
    def f_statistic(self) -> Fraction:
        slopes = len(self.weights) - 1
        return (self.total - self.rss) / slopes / (self.rss / (self.n - slopes - 1))


def exact_fit(X, y, alpha=0.0) -> ExactFit:
    """Minimise |y - Xw - b|^2 + alpha |w|^2 over the numbers as they are in binary."""
    rows = [[*map(Fraction, map(float, x)), Fraction(1)] for x in X]
    targets, p = [Fraction(float(v)) for v in y], len(rows[0])
    A = [[sum((r[i] * r[j] for r in rows), Fraction()) for j in range(p)] for i in range(p)]
    for j in range(p - 1):
        A[j][j] += Fraction(float(alpha))
    c = [sum((r[i] * t for r, t in zip(rows, targets, strict=True)), Fraction()) for i in range(p)]
    B = inverse(A)
    w = [sum((b * v for b, v in zip(row, c, strict=True)), Fraction()) for row in B]
    left = [t - sum((a * b for a, b in zip(r, w, strict=True)), Fraction()) for r, t in zip(rows, targets, strict=True)]
    rss, mean = sum(v * v for v in left), sum(targets) / len(targets)
    errors = [root(B[j][j] * rss / (len(rows) - p)) for j in range(p)]
    return ExactFit(w, rss, sum((t - mean) ** 2 for t in targets), errors, len(rows))

"""Which rows move the vectors, and how far: one class a rule (native/separatrix/online.hpp).

(A) averaged      as the perceptron; beside w runs u, the sum of t a x over updates after t looks:
                  the average of all weights after each of T looks is w - u/T
(M) margin        m <= margin, or m <= margin |w|: w += c y x
(PA)              m < 1: w += c tau y x, tau from the loss 1 - m and |x|^2 (Crammer et al. 2006)
(AROW)            m < 1: w += c alpha y S x, S -= beta S x x' S (Crammer, Kulesza, Dredze 2009)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from reference.online import Pull, RowRule
from reference.rows import Rows
from separatrix.arrays import Floats, Indices


@dataclass(eq=False)
class PlainRule(RowRule):
    """Rosenblatt's."""

    zero_is_mistake: bool

    def loses_ties(self) -> bool:
        return self.zero_is_mistake

    def moves(self, pulls: list[Pull], m: float, tie_lost: bool) -> bool:
        return not (m > 0 or (m == 0 and not tie_lost))

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        for pull in pulls:
            self.add(X, i, pull.vector, pull.sign * c)


@dataclass(eq=False)
class AveragedRule(PlainRule):
    """(A)"""

    total: Floats
    looks: Indices

    def tick(self, k: int) -> None:
        self.looks[k] += 1

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        for k, sign, _ in pulls:
            a = sign * c
            self.add(X, i, k, a)
            X.axpy(float(self.looks[k]) * a, i, self.total[k])
            if self.bias:
                self.total[k, self.d] += float(self.looks[k]) * a

    def model_score(self, X: Rows, i: int, k: int) -> float:
        if self.looks[k] == 0:
            return self.dot(X, i, k)
        u = X.dot(i, self.total[k]) + float(self.total[k, self.d])
        return self.dot(X, i, k) - u / float(self.looks[k])


@dataclass(eq=False)
class MarginRule(RowRule):
    """(M)"""

    margin: float
    relative: bool
    norm2: Floats
    moved: Indices

    def moves(self, pulls: list[Pull], m: float, tie_lost: bool) -> bool:
        if not self.relative:
            return not m > self.margin
        total = 0.0
        for k in [pulls[0].vector] if len(pulls) == 1 else range(self.count):
            total += float(self.norm2[k])
        return not m > self.margin * math.sqrt(total)

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        for k, sign, score in pulls:
            a, before = sign * c, score - float(self.lifted[k, self.d])
            self.add(X, i, k, a)
            if not self.relative:
                continue
            self.moved[k] += 1
            if self.moved[k] % 1024 == 0:
                self.norm2[k] = Rows.dense(self.lifted[k : k + 1, : self.d]).norm2(0)
            else:
                self.norm2[k] = max(0.0, float(self.norm2[k]) + a * (2 * before + a * X.norm2(i)))


class HingeRule(RowRule):
    """Rules that want a margin of 1."""

    def moves(self, pulls: list[Pull], m: float, tie_lost: bool) -> bool:
        return not m >= 1


@dataclass(eq=False)
class PassiveAggressiveRule(HingeRule):
    """(PA)"""

    variant: int
    C: float

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        norm2 = len(pulls) * (X.norm2(i) + (1.0 if self.bias else 0.0))
        if norm2 == 0:
            return
        loss = 1 - m
        tau = loss / (norm2 + 1 / (2 * self.C)) if self.variant == 2 else loss / norm2
        if self.variant == 1 and tau > self.C:
            tau = self.C
        for pull in pulls:
            self.add(X, i, pull.vector, pull.sign * (c * tau))


@dataclass(eq=False)
class ArowDiagonalRule(HingeRule):
    """(AROW) with a diagonal S: ``variance`` has its d + 1 entries a vector."""

    r: float
    variance: Floats

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        z, v = [], 0.0
        for k, _, _ in pulls:
            x = np.zeros(self.d)
            X.axpy(1.0, i, x)
            z.append(self.variance[k, : self.d] * x)
            v += X.dot(i, z[-1]) + (float(self.variance[k, self.d]) if self.bias else 0.0)
        beta = 1 / (v + self.r)
        alpha = c * ((1 - m) * beta)
        for (k, sign, _), zk in zip(pulls, z, strict=True):
            a = sign * alpha
            self.lifted[k, : self.d] += a * zk
            self.variance[k, : self.d] -= beta * (zk * zk)
            if self.bias:
                s = float(self.variance[k, self.d])
                self.lifted[k, self.d] += a * s
                self.variance[k, self.d] -= beta * (s * s)


@dataclass(eq=False)
class ArowFullRule(HingeRule):
    """(AROW) with a full S: ``covariance`` has a matrix a vector."""

    r: float
    covariance: Floats

    def push(self, X: Rows, i: int, c: float, m: float, pulls: list[Pull]) -> None:
        z, v = [], 0.0
        for k, _, _ in pulls:
            S = self.covariance[k]
            z.append(np.array([X.dot(i, s) + (float(s[self.d]) if self.bias else 0.0) for s in S]))
            v += X.dot(i, z[-1]) + (float(z[-1][self.d]) if self.bias else 0.0)
        beta = 1 / (v + self.r)
        alpha = c * ((1 - m) * beta)
        moved = self.d + 1 if self.bias else self.d
        for (k, sign, _), zk in zip(pulls, z, strict=True):
            self.lifted[k, :moved] += sign * alpha * zk[:moved]
            self.covariance[k, :moved, :moved] -= np.outer(beta * zk[:moved], zk[:moved])

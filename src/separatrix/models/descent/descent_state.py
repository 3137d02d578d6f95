"""Gradient descent on mean losses of linear scores: the state of a run, and a pass over rows.

    J(w, b) = (1/n) sum c_i loss(y_i, w.x_i + b) + l2/2 |Dw|^2 + l1 |Dw|_1

where D is 1, or diagonal with ``columns`` (column_scale.py).

Batches are counted from the first row ever seen and a batch that is not full waits in the state, so that the
path does not depend on the chunks.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.numerics.schedules import Constant, Inverse, Root, Schedule

KINDS = {"squared": 0, "perceptron": 1, "logistic": 2, "hinge": 3, "squared_error": 4}
CURVES = {"squared": 2.0, "perceptron": 1.0, "logistic": 0.25, "hinge": 1.0, "squared_error": 2.0}
SLICE = 2**22  # numbers processed between two chances to interrupt


@dataclass(slots=True)
class DescentState:
    """The weights on their way; ``lifted`` times ``factor`` (the bias apart) is where they are."""

    lifted: Floats
    velocity: Floats | None
    average: Floats | None
    reach: Floats | None
    factor: Floats = field(default_factory=lambda: np.ones(1))
    gradient: Floats = field(default_factory=lambda: np.zeros(0))
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    sums: Floats = field(default_factory=lambda: np.zeros(2))

    def weights(self) -> Floats:
        """The lifted weights of this moment; the mean of all, where that is kept."""
        if self.average is not None and self.counts[1]:
            return self.average.copy()
        return self.now()

    def now(self) -> Floats:
        out = self.lifted.copy()
        out[:-1] *= self.factor[0]
        return out


@dataclass(frozen=True, slots=True)
class DescentRule:
    """What a step does: the loss, the penalties, the size of steps and of batches."""

    loss: str
    l2: float
    l1: float
    schedule: Schedule
    batch: int
    momentum: float
    average: bool
    bias: bool
    automatic: bool  # whether steps are divided by the greatest c |(x, 1)|^2 so far
    scale: float
    columns: Floats | None = None

    def start(self, lifted: Floats) -> DescentState:
        zeros = np.zeros_like(lifted)
        return DescentState(
            lifted.copy(),
            zeros.copy() if self.momentum else None,
            zeros.copy() if self.average else None,
            np.zeros(1) if self.automatic else None,
            gradient=zeros.copy(),
        )

    def alphas(self, first: int, count: int) -> Floats:
        """The sizes of steps first, first + 1, ...: the schedule's own numbers, at once where that is the same."""
        if isinstance(self.schedule, Constant):
            return np.full(count, self.scale * self.schedule.a0)
        if isinstance(self.schedule, (Inverse, Root)):
            k = np.arange(first + 1, first + count + 1, dtype=np.float64)
            return np.asarray(
                self.scale * (self.schedule.a0 / (k if isinstance(self.schedule, Inverse) else np.sqrt(k)))
            )
        return np.array([self.scale * self.schedule(k) for k in range(first, first + count)])

    def scan(
        self,
        state: DescentState,
        rows: kernels.Rows,
        y: Floats,
        weights: Floats | None,
        order: NDArray[np.int64] | None = None,
        begin: int = 0,
        end: int | None = None,
    ) -> None:
        """Rows (positions of ``order``) from begin to end, once."""
        last = rows.n if end is None else end
        step = max(1024, SLICE // max(1, rows.d))
        for at in range(begin, last, step):
            to = min(at + step, last)
            alpha = self.alphas(int(state.counts[1]), (to - at) // self.batch + 2)
            kernels.descent_pass(
                rows, y, weights, order, alpha, at, to, KINDS[self.loss],
                state.lifted, state.factor, state.velocity, state.average,
                state.gradient, state.counts, state.sums, state.reach, self.columns,
                self.batch, self.l2, self.l1, self.momentum, self.bias,
            )  # fmt: skip

    def smooth(self, rows: kernels.Rows, y: Floats, weights: Floats | None, lifted: Floats) -> tuple[float, Floats]:
        """J without its l1 part, and the gradient of that."""
        g = np.empty(len(lifted))
        value = kernels.mean_loss(rows, y, weights, KINDS[self.loss], lifted, g)
        w = self._penalised(lifted)
        g[:-1] += self.l2 * (w if self.columns is None else w * self.columns)
        if not self.bias:
            g[-1] = 0.0
        return value + self.ridge(lifted), g

    def ridge(self, lifted: Floats) -> float:
        w = self._penalised(lifted)
        return 0.5 * self.l2 * float(w @ w)

    def lasso(self, lifted: Floats) -> float:
        return self.l1 * float(np.abs(self._penalised(lifted)).sum())

    def _penalised(self, lifted: Floats) -> Floats:
        return lifted[:-1] if self.columns is None else lifted[:-1] * self.columns

    def proximal(self, lifted: Floats, alpha: float) -> Floats:
        """Every weight towards zero by alpha l1, and no further."""
        out, l1 = lifted.copy(), self.l1 if self.columns is None else self.l1 * self.columns
        out[:-1] = np.sign(out[:-1]) * np.maximum(np.abs(out[:-1]) - alpha * l1, 0.0)
        return out

    def gradient_left(self, lifted: Floats, g: Floats) -> float:
        """The length of the gradient; with l1 that of the proximal step of size one, which is 0 at the minimum."""
        return float(np.linalg.norm(lifted - self.proximal(lifted - g, 1.0) if self.l1 else g))

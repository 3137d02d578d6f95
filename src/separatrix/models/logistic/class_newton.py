"""Several classes with many parameters and no penalty: L-BFGS around the Hessian at zero, products with it at last.

At zero all classes share the Gram matrix of the rows, where the Hessian of another point would cost as much as dozens
of passes.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.models.logistic.binary_loss import ConjugateGradients, HessianModel, LossPoint, SampleHessian
from separatrix.models.logistic.class_hessians import NarrowRows
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import NewtonState, newton_cg
from separatrix.models.logistic.quasi_newton import LBFGS, LBFGSState, ScaledModel, first_step
from separatrix.models.logistic.tilted_probabilities import last_free_step
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status

MANY = 2  # rows for each column from which the matrix of all rows is worth its time
AHEAD = 10  # times the wanted gap that such steps may still promise to gain: the last one gains it
LAST_STEPS = 2  # Newton steps that may prove the gap
PATIENCE = 15  # steps in which what they promise must halve
FLAT = 1e-6  # added to the diagonal, of the size of rounding errors of single precision


class SharedHessian:
    """The Hessian at zero: for each class that of the rows, divided by the number of classes."""

    def __init__(self, loss: MultinomialLoss, rows: NarrowRows) -> None:
        Z = rows.narrow if loss.narrow_c is None else rows.narrow * np.sqrt(loss.narrow_c)[:, None]
        A = np.asarray(Z.T @ Z, dtype=np.float64) / loss.classes
        A[np.diag_indices(loss.d)] += loss.ridge / rows.scale**2
        A[np.diag_indices(len(A))] += FLAT * np.diagonal(A).max()
        self.rows, self.classes, self.inverse = rows, loss.classes, np.linalg.inv(A)

    def correction(self, g: Floats) -> Floats:
        G = self.rows.slopes(g.reshape(self.classes, -1))
        return self.rows.vectors((G - G.sum(axis=0) / len(G)) @ self.inverse).reshape(-1)


class SharedGram:
    """The same by the Gram matrix of all rows with a free intercept, where that is known."""

    def __init__(self, gram: NormalEquations, classes: int) -> None:
        self.model, self.classes = SampleHessian(gram, float(classes)), classes

    def correction(self, g: Floats) -> Floats:
        gram, G = self.model.gram, g.reshape(self.classes, -1)
        G = (G - G.sum(axis=0) / len(G)) * self.model.share
        out = np.empty_like(G)
        np.matmul(G[:, :-1] - G[:, -1:] * gram.x_mean, self.model.inverse, out=out[:, :-1])
        out[:, -1] = G[:, -1] / gram.weight - out[:, :-1] @ gram.x_mean
        return np.asarray(out.reshape(-1))


def class_gradients(
    loss: MultinomialLoss, start: LossPoint, max_iter: float, tol: float, model: HessianModel | None = None
) -> Driven[NewtonState]:
    """Minimise from ``start`` to a proved gap of ``tol`` times the value: by L-BFGS around the Hessian at zero.

    The last Newton step proves the gap. Where steps are slow, or there is no such matrix, products with the Hessian
    lead on; they prove no gap. ``model`` is about the Hessian at the start, if it is known.
    """
    point, steps, model = start, 0, model or (None if start.at.any() else shared(loss))
    if model is not None:
        point, pairs = first_step(loss, start, model)
        scaled = ScaledModel(model, pairs)
        search = LBFGS(loss, scaled, pairs, AHEAD * tol, None, PATIENCE)
        run = drive(search, LBFGSState(point), max_steps=max_iter - 1)
        point, steps = run.state.point, run.steps + 1
        if run.status is Status.INTERRUPTED:
            return Driven(NewtonState(point), run.status, steps)
        for _ in range(LAST_STEPS if run.status is Status.OPTIMAL else 0):
            solver = ConjugateGradients(loss, point, lambda g: pairs.correct(g, scaled.correction))
            point, gap = last_free_step(loss, point, tol, solver)
            steps += 1
            if gap <= tol * abs(point.value):
                return Driven(NewtonState(point, gap=gap), Status.OPTIMAL, steps)
    more = newton_cg(loss, point, max_iter - steps, tol)
    return Driven(more.state, more.status, steps + more.steps)


def class_start(loss: MultinomialLoss, start: LossPoint) -> LossPoint:
    """Where a search by products begins: of dense rows after a step from zero by the Hessian there."""
    model = None if start.at.any() else shared(loss)
    return start if model is None else first_step(loss, start, model)[0]


def shared(loss: MultinomialLoss) -> HessianModel | None:
    """The Hessian at zero, of dense rows with an intercept that are many for their columns."""
    many = loss.lift and loss.n >= MANY * loss.d
    return SharedHessian(loss, loss.narrow) if many and loss.narrow is not None else None

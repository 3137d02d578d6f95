"""Newton's method for several classes without a penalty, with few Hessians, each kept for many steps.

A Hessian of K classes costs as much as dozens of passes, and near the minimum it hardly changes. Steps begin with the
one at zero, where all classes share the Gram matrix of the rows; once little is left to gain, the Hessian there is
made, and the pairs of earlier steps correct it. Where steps become slow it is made anew. Single precision is enough,
on standardised columns (class_hessians.py): gradients have double precision, and the next step corrects what one has
missed.

Parameters are the vectors of all classes but the last, from which the last is subtracted: of vectors V that add up to
zero, with u_k = v_k - v_K,  |V|^2 = sum |u_k|^2 - |sum u_k|^2/K.
"""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.kernels.blas_threads import scipy_linalg
from separatrix.models.logistic.binary_loss import EPS, ConjugateGradients, HessianModel, LossPoint, SampleHessian
from separatrix.models.logistic.class_hessians import NarrowRows
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import LAST, NewtonState, newton_cg, rests
from separatrix.models.logistic.quasi_newton import LBFGS, LBFGSState, ScaledModel, first_step, with_model
from separatrix.models.logistic.tilted_probabilities import last_free_step
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status

NEAR = 1e-4  # of the value: what is left to gain where the first Hessian is made
MANY = 2  # rows for each column from which the matrix of all rows is worth its time
AHEAD = 10  # times the wanted gap that such steps may still promise to gain: the last one gains it
LAST_STEPS = 2  # Newton steps that may prove the gap
PATIENCE = 15  # steps in which what they promise must halve
HESSIANS = 5  # after which products with the Hessian lead on
FLAT = 1e-6  # added to the diagonal, of the size of rounding errors of single precision
BLOCK = 2**18  # numbers of a chunk of rows times probabilities


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


class KeptHessian:
    """Cholesky's factor of the Hessian at a point, in the parameters of the module."""

    def __init__(self, loss: MultinomialLoss, rows: NarrowRows, point: LossPoint) -> None:
        K, p, linalg = loss.classes, loss.d + 1, scipy_linalg()
        P = point.curvature[:, :-1].astype(np.float32)
        root = None if loss.narrow_c is None else np.sqrt(loss.narrow_c)[:, None]
        H = np.zeros(((K - 1) * p, (K - 1) * p), dtype=np.float32, order="F")
        blocks, step = np.zeros((K - 1, p, p)), max(1, BLOCK // len(H))
        for begin in range(0, loss.n, step):
            part = slice(begin, begin + step)
            Z = rows.narrow[part] if root is None else rows.narrow[part] * root[part]
            spread = (P[part, :, None] * Z[:, None, :]).reshape(len(Z), -1)
            H = linalg.blas.ssyrk(-1.0, spread.T, beta=1.0, c=H, overwrite_c=1)
            blocks += np.matmul(((P[part] * (1.0 - P[part])).T[:, :, None] * Z).transpose(0, 2, 1), Z)
        whole = H.astype(np.float64)
        whole += np.triu(whole, 1).T
        four = whole.reshape(K - 1, p, K - 1, p)
        four[np.arange(K - 1), :, np.arange(K - 1)] = blocks
        own, penalty = np.arange(loss.d), loss.ridge / rows.scale**2
        four[:, own, :, own] += penalty[:, None, None] * (np.eye(K - 1) - 1.0 / K)
        diagonal = np.diagonal(whole)
        self.scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
        whole = whole / self.scale / self.scale[:, None]
        whole[np.diag_indices(len(whole))] += FLAT
        self.rows, self.classes = rows, K
        self.factor, failed = linalg.lapack.dpotrf(whole, lower=1)
        if failed:
            raise np.linalg.LinAlgError("the Hessian is not positive definite in single precision.")

    def correction(self, g: Floats) -> Floats:
        G = self.rows.slopes(g.reshape(self.classes, -1))
        G = (G - G.sum(axis=0) / len(G))[:-1]
        u = scipy_linalg().lapack.dpotrs(self.factor, G.reshape(-1) / self.scale, lower=1)[0] / self.scale
        V = np.vstack([u.reshape(G.shape), np.zeros(G.shape[1])])
        return self.rows.vectors(V - V.sum(axis=0) / len(V)).reshape(-1)


def class_newton(loss: MultinomialLoss, start: LossPoint, max_iter: float) -> Driven[NewtonState]:
    """Minimise from ``start`` to the last digits."""
    point, steps = start, 0
    near, model, pairs = (NEAR, shared(loss), None) if not start.at.any() else (LAST, kept(loss, start), None)
    if model is not None and near > LAST:
        point, pairs = first_step(loss, start, model)
        steps = 1
    for _ in range(HESSIANS):
        if model is None:
            break
        run = with_model(loss, point, model, near, max_iter - steps, pairs=pairs)
        point, steps, state = run.state.point, steps + run.steps, run.state
        there = run.status is Status.OPTIMAL and near <= LAST
        rested = there and state.step is not None and rests(loss, point, model, state.step)
        if rested or run.status is Status.INTERRUPTED:
            return Driven(NewtonState(point, step=state.step), run.status, steps)
        if there or steps >= max_iter or not state.decrement > 64 * EPS * abs(point.value):
            break
        near, model, pairs = LAST, kept(loss, point), None
    more = newton_cg(loss, point, max_iter - steps)
    return Driven(more.state, more.status, steps + more.steps)


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


def kept(loss: MultinomialLoss, point: LossPoint) -> HessianModel | None:
    """The Hessian at a point; None where it is singular."""
    try:
        return None if loss.narrow is None else KeptHessian(loss, loss.narrow, point)
    except np.linalg.LinAlgError:
        return None

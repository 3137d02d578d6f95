"""Which search finds the maximum of a likelihood: by products with the Hessian, or by Hessians."""

from __future__ import annotations

from separatrix.models.logistic.binary_loss import BinaryLoss, HessianModel, LossPoint
from separatrix.models.logistic.class_newton import class_gradients, class_start
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import NewtonState, newton, newton_cg
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.models.logistic.quasi_newton import first_step, kept_newton
from separatrix.numerics.driver import Driven


def searched(
    problem: LogisticProblem,
    loss: BinaryLoss | MultinomialLoss,
    start: LossPoint,
    most: float,
    model: HessianModel | None = None,
    tol: float = 0.0,
) -> Driven[NewtonState]:
    """The maximum, to the last digits if ``tol`` is 0: by products with the Hessian, or by Hessians.

    ``model`` is about the Hessian at the start, of all rows or of some, if it is known.
    """
    if isinstance(loss, MultinomialLoss) and tol > 0 and problem.by_products:
        return class_gradients(loss, start, most, tol, model)
    if problem.by_products:
        return newton_cg(loss, class_start(loss, start) if isinstance(loss, MultinomialLoss) else start, most, tol)
    if isinstance(loss, BinaryLoss):
        return kept_newton(loss, start, most, tol, model=model)
    start = start if start.at.any() else first_step(loss, start, loss.model(start))[0]
    return newton(loss, start, most, tol)

"""Two Hessians, one to come near the minimum and one near it, where it hardly changes: each costs several passes.

Steps with a kept one, corrected by what earlier steps have shown, divide what is left to gain by a hundred or more.
Where they do not, as on classes that are nearly separated, Newton's method takes over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.losses.hessian import Hessian
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.driver import Driven
from separatrix.numerics.status import Status
from separatrix.rows.protocol import Rows
from separatrix.solvers.gap import CERTAIN, KeptGap
from separatrix.solvers.lbfgs import LBFGSState, first_step, with_model
from separatrix.solvers.left_to_gain import LeftToGain
from separatrix.solvers.newton import LAST, REST, Model, NewtonState, newton, rests
from separatrix.solvers.rough_hessians import COLUMNS, AtZero

SOON = 12  # steps in which the first Hessian leads there, or it is of no use
ROUGH = 0.1  # how exactly a step by the Hessian of a share of the rows is solved
CLASSES = 1e-4  # of a wanted gap, of several classes: one pass more gives the weights of few rows six digits
NEAR = 1e-3  # of the value: what is left to gain where the second Hessian is made


def at_zero(loss: Objective) -> AtZero:
    """The Hessian at zero, where no row has an offset."""
    rows: Rows = loss.rows
    return AtZero(rows.reduce(COLUMNS, loss.d).totals(last=True), loss.loss, loss.ridge)


def hessian_at(loss: Objective, point: Point) -> Hessian | None:
    """The Hessian at a point; None where it is singular."""
    found = loss.hessian(point)
    return found if found.regular else None


Ran = tuple[tuple[str, int], ...]  # what ran, with its steps


def two_hessians(
    loss: Objective, start: Point, max_iter: float, tol: float = 0.0, model: Any = None
) -> tuple[Driven[NewtonState], Ran]:
    """Minimise from ``start`` to a proved gap of ``tol`` times the value, or to the last digits if that is 0.

    ``model`` is about the Hessian at the start, if it is known.
    """
    run = _two_hessians(loss, start, max_iter, tol, model)
    if isinstance(run, Driven):
        return run, (("hessians", run.steps),)
    point, steps = run  # these lead no further, and Newton's method does
    more = newton(loss, point, max_iter - steps, tol)
    ran = (("hessians", steps), ("newton", more.steps)) if steps else (("newton", more.steps),)
    return Driven(more.state, more.status, steps + more.steps), ran


def _two_hessians(
    loss: Objective, start: Point, max_iter: float, tol: float, model: Any
) -> Driven[NewtonState] | tuple[Point, int]:
    """The run, or the point and the steps from which Newton's method is to go on."""
    zero = not start.at.any()
    begin = model or (at_zero(loss) if zero and not loss.rows.shifted else hessian_at(loss, start))
    if begin is None:
        return start, 0
    point, pairs = first_step(loss, start, begin, ROUGH if begin.share != 1.0 else 0.0) if zero else (start, None)
    steps, wanted = int(zero), NEAR if zero or tol > 0 else 0.01 * NEAR
    run: Driven[LBFGSState] = with_model(loss, point, begin, wanted, min(SOON, max_iter) - steps, pairs=pairs)
    point, steps = run.state.point, steps + run.steps
    if run.status is Status.INTERRUPTED:
        return Driven(NewtonState(point, gap=run.state.gap), run.status, steps)
    near = hessian_at(loss, point) if steps or not isinstance(begin, Hessian) else begin
    # A second Hessian leads on where steps are slow; without a tolerance Newton's method does.
    if near is None or not (run.status is Status.OPTIMAL or (run.status is Status.MAX_ITERATIONS and tol > 0)):
        return start, 0
    proof = KeptGap(loss, near, point) if loss.ridge else LeftToGain(loss, tol) if tol > 0 else None
    wanted = tol if loss.loss.two else CLASSES * tol
    run = with_model(loss, point, near, wanted or LAST, max_iter - steps, proof)
    point, steps, step = run.state.point, steps + run.steps, run.state.step
    if run.status is Status.OPTIMAL and tol > 0:
        return one_more(loss, run.state, steps)
    rested = run.status is Status.OPTIMAL and step is not None and at_rest(loss, point, near, step)
    if rested or run.status is Status.INTERRUPTED:
        return Driven(NewtonState(point, step=step), run.status, steps)
    return point, steps


def at_rest(loss: Objective, point: Point, model: Model, step: Any) -> bool:
    """As :func:`rests` says, without a look at the rows where curvature shows it: |x_i.v| <= sqrt(v'Hv/h_i)."""
    with np.errstate(all="ignore"):
        errors = loss.rounding(point)
        most = max(float(point.gradient @ step), float(errors @ model.correction(errors)))
        least = loss.rows.reduce(CERTAIN, loss.loss, point.place, None)[0]
        return most <= REST**2 * least or rests(loss, point, model, step)


def one_more(loss: Objective, state: LBFGSState, steps: int) -> Driven[NewtonState]:
    """The step that leads on from a point with a proved gap: for one pass the weights have about twice the digits."""
    assert state.step is not None
    point = loss.point(state.point.at - state.step)
    if not point.value <= state.point.value:
        return Driven(NewtonState(state.point, gap=state.gap), Status.OPTIMAL, steps)
    gap = max(0.0, state.gap - (state.point.value - point.value))
    return Driven(NewtonState(point, gap=gap), Status.OPTIMAL, steps + 1)

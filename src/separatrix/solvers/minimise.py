"""The minimum of an objective with a ridge, to a proved relative gap; and the search for the maximum of a likelihood.

What runs is chosen in choose.py, told in ``ran``, and proved by gap.py: a start (by inner products of the rows, by a
sample, by gradients), then Hessians or products with them, until the gap is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from separatrix.losses.logistic import TINY
from separatrix.losses.objective import Objective, Point
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.status import Status
from separatrix.solvers.choose import Plan, by_products, choose, limits, too_many
from separatrix.solvers.gap import SampleGap, hessian_gap, last_step, step_gap
from separatrix.solvers.gram_of_rows import minimum_by_rows
from separatrix.solvers.lbfgs import LBFGS, LBFGSState, ScaledModel, first_step, with_model
from separatrix.solvers.left_to_gain import last_free_step
from separatrix.solvers.newton import ConjugateGradients, NewtonCG, NewtonState, newton
from separatrix.solvers.rough_hessians import Preconditioner
from separatrix.solvers.samples import rough_minimum, sampled, table_of
from separatrix.solvers.two_hessians import Ran, at_zero, two_hessians

ROUNDING = 1e-12  # relative gaps below this are not told from zero
LEAD, FAR = 1e3, 1e-4  # times the wanted gap, at most, that a last step by products may be promised to gain
AHEAD, CLASSES_AHEAD = 10, 100  # times the wanted gap that L-BFGS may still promise to gain: the last step gains it
PATIENCE, FALL, SLOWER = 15, 0.3, 0.5  # steps in which what they promise must fall to that share; without a penalty
LAST_STEPS = 2  # Newton steps that may prove the gap of a likelihood

TEXT = {
    "rows": "inner products of the rows",
    "sample": "the Hessian of a sample of the rows, then passes over all rows",
    "gradients": "L-BFGS around a rough Hessian, the last step by conjugate gradients",
    "hessians": "one or two Hessians, and steps that correct them",
    "newton": "Newton's method",
    "products": "Newton steps by conjugate gradients",
    "firth": "searches for the maximum of Firth's penalised likelihood",
    "net": "proximal Newton steps on the columns that the gap does not rule out",
}


@dataclass(slots=True)
class Fit:
    """Where a search ended and why: all steps, those of the last part, its tolerance, and the gap if it is known.

    ``solver`` has the step that leads on from the point; ``ran`` are the parts, with their steps.
    """

    point: Point
    status: Status
    steps: int = 0
    last: int = 0
    wanted: float | None = None
    gap: float | None = None
    solver: Any = None
    ran: Ran = ()
    why: str = ""

    def proved(self, tol: float) -> bool:
        return self.gap is not None and self.gap <= tol * abs(self.point.value)


def minimise(loss: Objective, tol: float, max_iter: float, start: Any = None) -> Fit:
    """Minimise the loss plus ridge/2 |w|^2 to a relative duality gap of at most ``tol``."""
    at = np.zeros(loss.length) if start is None else start.reshape(-1).copy()
    plan = choose(loss)
    first = None if start is not None else begun(loss, plan, tol, max_iter)
    found = finished(loss, plan, first or Fit(loss.point(at), Status.MAX_ITERATIONS), tol, max_iter)
    if found.status is Status.ILL_CONDITIONED and first is not None:  # by other steps, from zero
        again = finished(loss, plan, Fit(loss.point(at), Status.MAX_ITERATIONS), tol, max_iter)
        best = again if again.point.value < found.point.value else found
        found = replace(best, ran=found.ran + again.ran)
    return replace(found, why=plan.why)


def begun(loss: Objective, plan: Plan, tol: float, max_iter: float) -> Fit | None:
    """The start that a plan has, if it led anywhere."""
    if plan.begin == "rows":
        return by_rows(loss, plan, tol, max_iter)
    if plan.begin == "sample":
        return by_sample(loss, plan, tol, max_iter)
    return by_gradients(loss, plan, tol, max_iter) if plan.begin == "gradients" else None


@dataclass(frozen=True)
class GapSearch:
    """A solver whose step is a search to a tolerance, each more exact than the one before, until the gap is proved."""

    loss: Objective
    plan: Plan
    tol: float
    max_iter: float

    def terminate(self, state: Fit) -> Status | None:
        loss = self.loss
        if state.status is not Status.OPTIMAL:
            going = state.status is Status.MAX_ITERATIONS and state.steps < self.max_iter
            return None if going else state.status
        wanted = self.tol if state.wanted is None else state.wanted
        if not state.proved(self.tol):
            solver = state.solver
            if solver is None and self.plan.products:
                rough = Preconditioner(loss, self.plan.blocks)(state.point)
                solver = ConjugateGradients(loss, state.point, rough.correction)
            solver = solver or loss.hessian(state.point)
            thorough = not too_many(loss.rows, loss.lift)
            state.point, state.gap = last_step(loss, state.point, self.tol, solver, thorough)
            state.solver = None
        if state.proved(self.tol):
            return Status.OPTIMAL
        if wanted < 1e-30 or (wanted < self.tol and not state.last):  # the gap asks for more digits than there are
            if not too_many(loss.rows, loss.lift):
                gap = hessian_gap(loss, state.point, loss.hessian(state.point))
                state.gap = min(np.inf if state.gap is None else state.gap, gap)
            return Status.OPTIMAL if state.proved(max(self.tol, ROUNDING)) else Status.ILL_CONDITIONED
        return None

    def step(self, state: Fit) -> Fit:
        loss, products = self.loss, self.plan.products
        first = max(self.tol, min(LEAD * self.tol, FAR)) if products else self.tol
        wanted = first if state.wanted is None else state.wanted
        wanted = wanted * 0.01 if state.status is Status.OPTIMAL else wanted
        left, at = self.max_iter - state.steps, state.point
        if products:
            if not at.at.any() and (model := shared(loss)) is not None:
                at = first_step(loss, at, model)[0]
            run = newton_cg(loss, at, left, wanted, self.plan.blocks)
            more: Ran = (("products", run.steps),)
        elif state.ran and state.ran[-1][0] in ("hessians", "newton"):
            run = newton(loss, at, left, wanted)
            more = (("newton", run.steps),)
        else:
            run, more = two_hessians(loss, at, left, wanted)
        ended, ran = run.state, state.ran + more
        gap = None if not np.isfinite(ended.gap) else ended.gap
        return Fit(ended.point, run.status, state.steps + run.steps, run.steps, wanted, gap, ended.solver, ran)


def finished(loss: Objective, plan: Plan, found: Fit, tol: float, max_iter: float) -> Fit:
    """The search from where another one ended, with its gap."""
    if found.status is not Status.OPTIMAL or found.gap is None:
        run = drive(GapSearch(loss, plan, tol, max_iter), found)
        found = replace(run.state, status=run.status)
    if found.gap is None or not np.isfinite(found.gap):
        found = replace(found, gap=step_gap(loss, found.point, np.zeros(loss.length)))
    stopped = found.status in (Status.ILL_CONDITIONED, Status.MAX_ITERATIONS)  # whatever kept a step from being made
    return replace(found, status=Status.OPTIMAL) if stopped and found.proved(tol) else found


def newton_cg(loss: Objective, start: Point, max_iter: float, tol: float, blocks: bool) -> Driven[NewtonState]:
    """Newton's method without making a Hessian."""
    first = float(np.linalg.norm(start.gradient)) or 1.0
    with np.errstate(all="ignore"):  # the status says what overflowed
        return drive(NewtonCG(loss, first, Preconditioner(loss, blocks), tol), NewtonState(start), max_steps=max_iter)


def shared(loss: Objective) -> Any:
    """The Hessian at zero of several classes, of dense rows with an intercept that are many for their columns."""
    rows = loss.rows
    many = not loss.loss.two and not rows.sparse and loss.lift and rows.n >= limits().shared * rows.d
    return at_zero(loss) if many else None


# -- starts --


def by_rows(loss: Objective, plan: Plan, tol: float, max_iter: float) -> Fit | None:
    """The minimum by the inner products of the rows; None where these are dependent."""

    def search(square: Objective, start: Any, most: float) -> Fit:
        return minimise(square, 0.5 * tol, most, start)

    run = minimum_by_rows(loss, tol, max_iter, search)
    if run is None:
        return None
    status, state = run.status, run.state
    gap = None if status is Status.MAX_ITERATIONS else state.gap
    return Fit(state.point, status, run.steps, gap=gap, ran=(("rows", run.steps),))


def by_sample(loss: Objective, plan: Plan, tol: float, max_iter: float) -> Fit | None:
    """Passes over all rows with the Hessian of a sample."""
    plain, weighted, share = sampled(loss.rows, loss.lift, plan.stride)
    small = Objective(table_of(weighted, loss.rows), loss.loss, loss.ridge * share)
    rough = rough_minimum(small)
    point = rough.state.point
    if rough.status is Status.INTERRUPTED:
        return Fit(loss.point(point.at), rough.status)
    if rough.status is not Status.OPTIMAL:
        return None
    model = small.hessian(point, share)
    gap = SampleGap(loss, plain, small, model, point, share, tol)
    run = with_model(loss, loss.point(point.at), model, tol, max_iter, gap)
    status = Status.MAX_ITERATIONS if run.status is Status.ILL_CONDITIONED else run.status
    proved = run.state.gap if status is Status.OPTIMAL else None
    return Fit(run.state.point, status, run.steps, gap=proved, ran=(("sample", run.steps),))


def by_gradients(loss: Objective, plan: Plan, tol: float, max_iter: float) -> Fit | None:
    """Many parameters by L-BFGS around the Hessian at zero, or around its diagonal; None where columns share too much.

    Each pass over the rows is a step and a pair. The last Newton step, which proves the gap, is preconditioned by the
    pairs. A step by the diagonal alone overshoots where the columns have a factor in common: that takes Newton steps.
    """
    zero = loss.zero()
    rough = shared(loss) or Preconditioner(loss, blocks=False)(zero)
    point, pairs = first_step(loss, zero, rough)
    if not pairs.count:
        return None
    model = ScaledModel(rough, pairs)
    ahead = AHEAD if loss.loss.two else CLASSES_AHEAD
    run = drive(LBFGS(loss, model, pairs, ahead * tol, None, PATIENCE, FALL), LBFGSState(point), max_steps=max_iter - 1)
    point, steps = run.state.point, run.steps + 1
    if run.status is not Status.OPTIMAL:
        ended = run.status if run.status is Status.INTERRUPTED else Status.MAX_ITERATIONS
        return Fit(point, ended, steps, ran=(("gradients", steps),))
    solver = ConjugateGradients(loss, point, lambda g: pairs.correct(g, model.correction))
    point, gap = last_step(loss, point, tol, solver)
    status = Status.OPTIMAL if gap <= tol * point.value else Status.MAX_ITERATIONS
    return Fit(point, status, steps + 1, gap=gap, ran=(("gradients", steps + 1),))


# -- without a penalty --


def search(
    loss: Objective, start: Point, most: float, model: Any = None, tol: float = 0.0
) -> tuple[Driven[NewtonState], Ran]:
    """The maximum of a likelihood, to the last digits if ``tol`` is 0, with what ran.

    ``model`` is about the Hessian at the start, of all rows or of some, if it is known.
    """
    rows, many = loss.rows, not loss.loss.two
    if not by_products(rows, loss.lift, False):
        return two_hessians(loss, start, most, tol, model)
    blocks = many and not rows.sparse and rows.d**2 <= limits().blocks * rows.n
    model = model or (shared(loss) if not start.at.any() else None)
    if not many or not (tol > 0) or model is None:
        at = start if model is None or not many else first_step(loss, start, model)[0]
        run = newton_cg(loss, at, most, tol, blocks)
        return run, (("products", run.steps),)
    point, pairs = first_step(loss, start, model)
    scaled = ScaledModel(model, pairs)
    lbfgs = LBFGS(loss, scaled, pairs, AHEAD * tol, None, PATIENCE, SLOWER)
    begun = drive(lbfgs, LBFGSState(point), max_steps=most - 1)
    point, steps = begun.state.point, begun.steps + 1
    if begun.status is Status.INTERRUPTED:
        return Driven(NewtonState(point), begun.status, steps), (("gradients", steps),)
    for _ in range(LAST_STEPS if begun.status is Status.OPTIMAL else 0):
        solver = ConjugateGradients(loss, point, lambda g: pairs.correct(g, scaled.correction))
        point, gap = last_free_step(loss, point, tol, solver)
        steps += 1
        if gap <= tol * abs(point.value):
            return Driven(NewtonState(point, gap=gap), Status.OPTIMAL, steps), (("gradients", steps),)
    more = newton_cg(loss, point, most - steps, tol, blocks)
    return Driven(more.state, more.status, steps + more.steps), (("gradients", steps), ("products", more.steps))


def said(ran: Ran, why: str = "") -> str:
    """What ran and why, in a sentence: neighbouring parts of one kind are one."""
    moved = [part for part in ran if part[1]] or ran[:1]
    parts = [(name, sum(steps for _, steps in own)) for name, own in groupby(moved, key=lambda part: part[0])]
    text = "; then ".join(f"{TEXT[name]} ({steps} step{'' if steps == 1 else 's'})" for name, steps in parts)
    return f"{text}: {why}" if why else text


def relative(fit: Fit) -> float | None:
    """The gap as a share of the value."""
    return None if fit.gap is None else fit.gap / max(abs(fit.point.value), TINY)

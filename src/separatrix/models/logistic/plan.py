"""Which algorithm a fit uses, and why, as the model says it: by the decisions that the solvers take."""

from __future__ import annotations

from separatrix.models.logistic.problem import (
    STRIDE,
    LogisticProblem,
    by_gradients,
    by_inner_products,
    ridge_by_products,
    sample_stride,
)


def plan_of(problem: LogisticProblem, C: float, l1_ratio: float, firth: bool, to_gap: bool = False) -> str:
    """What a fit of these options does, and why; ``to_gap``: a gap is asked for, and not the last digits."""
    penalised, p = float("inf") > C, f"{problem.parameters:,} parameters"
    if firth:
        return f"Newton's method on the likelihood with Firth's penalty: {p}"
    if penalised and l1_ratio > 0:
        return "proximal Newton steps on the columns that the gap does not rule out: weights may be zero"
    wide = problem.wide if penalised else problem.many_columns
    sampled = not wide and sample_stride(problem, penalised) >= (STRIDE if penalised else 4)
    if penalised and by_inner_products(problem, 1.0 / C):
        few = f"the same problem on {problem.n:,} columns with the inner products of the rows"
        return f"{few}: {problem.d:,} columns are many"
    to_gap = to_gap and problem.classes > 2 and problem.by_products
    if problem.keeps and not (penalised or to_gap):
        return f"few Hessians in single precision, each kept for many Newton steps: {p}"
    if to_gap or (penalised and by_gradients(problem) and not (sampled and problem.classes == 2)):
        return f"steps by the gradients of earlier ones (L-BFGS), the last by conjugate gradients: {p}"
    if ridge_by_products(problem) if penalised else problem.by_products:
        why = "the Hessian of so many would cost more than all products with it"
        first = "; first on a sample" if sampled else ""
        return f"Newton steps by conjugate gradients: {p}, and {why}{first}"
    if problem.classes > 2:
        return f"a Hessian for each Newton step: {p} are few"
    if sampled:
        stride = sample_stride(problem, penalised)
        return f"the Hessian of every {stride}th row, then passes over all rows: {problem.n:,} rows are many for {p}"
    return f"one or two Hessians, of some of the rows where these are many, and steps that correct them: {p}"

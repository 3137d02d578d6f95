"""Which algorithm a logistic fit uses, from the sizes of its rows and classes, and why: a sentence.

The decisions themselves are ``LogisticProblem.wide``, ``by_products`` and ``sample_stride``; the solvers use the same.
"""

from __future__ import annotations

from separatrix.models.logistic.problem import LogisticProblem

SAMPLE = 50  # rows of an unpenalised sample for each parameter
RIDGE_SAMPLE = 100  # the same with a ridge
RAREST = 32  # rows for each one of a sample with a ridge, at most: a larger sample saves passes over all rows
FEW = 200  # parameters from which products with the Hessian of dense rows and two classes cost less than itself
FEWEST = 40  # parameters that a sample is made for at least


def sample_stride(problem: LogisticProblem, penalised: bool) -> int:
    """Every how many-th row a sample has; below 4 there is none."""
    stride = int(problem.n // ((RIDGE_SAMPLE if penalised else SAMPLE) * max(problem.parameters, FEWEST)))
    return min(stride, RAREST) if penalised else stride


def ridge_by_products(problem: LogisticProblem) -> bool:
    """Whether a ridge is found by products with the Hessian."""
    dense = problem.classes == 2 and not problem.sparse
    return problem.by_products or (dense and problem.parameters >= FEW)


def plan_of(problem: LogisticProblem, C: float, l1_ratio: float, firth: bool) -> str:
    """What a fit of these options does, and why."""
    penalised, p = float("inf") > C, f"{problem.parameters:,} parameters"
    if firth:
        return f"Newton's method on the likelihood with Firth's penalty: {p}"
    if penalised and l1_ratio > 0:
        return "proximal Newton steps on the columns that the gap does not rule out: weights may be zero"
    sampled = not problem.wide and sample_stride(problem, penalised) >= 4
    if ridge_by_products(problem) if penalised else problem.by_products:
        why = "the Hessian of so many would cost more than all products with it"
        first = "; first on a sample" if sampled and (not penalised or problem.classes == 2) else ""
        return f"Newton steps by conjugate gradients: {p}, and {why}{first}"
    if problem.classes > 2:
        return f"a Hessian for each Newton step: {p} are few"
    if sampled:
        stride = sample_stride(problem, penalised)
        return f"the Hessian of every {stride}th row, then passes over all rows: {problem.n:,} rows are many for {p}"
    return f"two Hessians, one to come near the optimum and one for the last digits: {p}"

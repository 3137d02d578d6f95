"""Wald's standard errors of a logistic fit whose rows are elsewhere."""

from __future__ import annotations

import numpy as np

from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.logistic_rounds import LossSpec, RoundsLoss, information_sums
from separatrix.cluster.part_worker import HeldPart
from separatrix.models.logistic.fitted_facts import FittedFacts
from separatrix.models.logistic.problem import LogisticResult
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.validation import distinct_names


def class_weights(part: HeldPart, classes: int) -> np.ndarray | None:
    """The weight of the rows of each class."""
    return np.bincount(part.y, part.weights, minlength=classes).astype(np.float64) if part.n else None


def wald_facts(source: EncodedSource, spec: LossSpec, result: LogisticResult) -> FittedFacts:
    """Estimates, covariance and likelihoods, as a model file keeps them."""
    rounds, d, count, V = source.rounds, source.d, spec.classes, result.vectors
    at = np.ascontiguousarray(V).reshape(-1)
    if spec.vectors == 1:
        loss = RoundsLoss(source, spec)
        gram = loss.model(loss.point(at))
        assert isinstance(gram, NormalEquations)
        root = gram.basis().root()
        root = root if spec.lift else root[:-1]
        covariance, estimate = root @ root.T, V
    else:
        covariance = np.linalg.inv(rounds.reduce("information", information_sums, spec, at, join=np.add))
        estimate = V[1:] - V[0]
    counts = rounds.reduce("classes", class_weights, count, join=np.add)
    n = float(counts.sum())
    null = float(counts @ np.log(counts / n)) if spec.lift else -n * float(np.log(count))
    columns = [*(f"x{j}" for j in range(d)), *(["intercept"] if spec.lift else [])]
    base, *others = [str(c) for c in source.classes.tolist()]
    many = len(others) > 1
    names = distinct_names([f"{c}:{name}" if many else name for c in others for name in columns])
    outcome = f"log-odds against {base}" if many else f"log-odds of {others[0]} against {base}"
    loglik = -float(result.loss or 0.0)
    estimate = estimate if spec.lift else estimate[:, :-1]
    aliased = np.zeros(len(names), dtype=np.bool_)
    df = (count - 1) * int(spec.lift)
    covariance = np.asarray(covariance)
    values = tuple(names), aliased, estimate.reshape(-1).copy(), covariance, outcome, n, df
    return FittedFacts(*values, loglik, null, loglik, null, False, False)

"""Logistic regression of rows in partitions: the fit of one machine, on rows that live elsewhere."""

from __future__ import annotations

import numpy as np

from separatrix.arrays import Floats
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.partition_rows import PartitionRows
from separatrix.cluster.separation import decided
from separatrix.errors import DataError, ParameterError
from separatrix.models.class_labels import weights_of_classes
from separatrix.models.logistic.existence import Existence
from separatrix.models.logistic.fit import penalised_fit
from separatrix.models.logistic.fitted_facts import FittedFacts
from separatrix.models.logistic.likelihood_fit import LikelihoodFit
from separatrix.models.logistic.logistic_regression import LogisticRegression
from separatrix.models.logistic.problem import FitOptions, LogisticProblem, LogisticResult
from separatrix.numerics.status import Status, raise_interruption
from separatrix.rows.protocol import Leaf, Pass, Rows, View, added
from separatrix.validation import Labels, distinct_names


def _weights(leaf: Leaf, classes: int) -> Floats:
    """The weight of the rows of each class."""
    return np.bincount(leaf.codes, leaf.weights, minlength=classes).astype(np.float64)


WEIGHTS = Pass(_weights, added, "classes")


def fit_logistic(learner: LogisticRegression, source: EncodedSource, checkpoint: Checkpoint) -> None:
    """Fit, and store what a fit of one machine stores but for the rows."""
    options = learner._options()
    if options.firth or (np.isfinite(options.C) and options.l1_ratio > 0):
        said = "bias_reduction" if options.firth else "l1_ratio > 0"
        raise ParameterError(f"logistic regression with {said} needs all rows in memory: leave it out on a cluster.")
    rows: Rows = PartitionRows(source, checkpoint)
    counts = rows.reduce(WEIGHTS, rows.classes)
    if learner.class_weight is not None:
        rows = weighted(rows, source, counts, learner.class_weight)
    K = rows.classes
    one = K == 2 or learner.multiclass == "multinomial"
    start, results = start_of(learner, source), list[LogisticResult]()
    for k in [None] if one else range(K):
        own = rows if k is None else rows.view(View(against=k))
        begin = start if start is None or k is None else start[k : k + 1]
        with np.errstate(all="ignore"):
            results.append(fitted(LogisticProblem(own, options.lift), options, begin, source, k))
        if results[-1].status is Status.INTERRUPTED:
            break
    missing = (1 if one else K) - len(results)
    results += [LogisticResult(np.zeros_like(results[0].vectors), Status.INTERRUPTED)] * missing
    learner._store_results(source.classes, None, source.table, results)
    learner._rows, learner._facts = None, None  # type: ignore[assignment]  # the rows are elsewhere
    raise_interruption(learner.status_)
    plain = not np.isfinite(options.C) and not learner.unidentifiable_ and learner.class_weight is None
    if one and plain and learner.status_ is Status.OPTIMAL:
        learner._facts = wald_facts(LogisticProblem(rows, options.lift), source, counts, results[0])
    learner._advise(results)


def weighted(rows: Rows, source: EncodedSource, counts: Floats, class_weight: object) -> Rows:
    """The rows with the weights of their classes."""
    every = Labels(source.classes, np.arange(len(counts)))
    factors = weights_of_classes(every, counts, class_weight)
    if factors is None:
        return rows
    if not factors.all():
        raise DataError("class_weight gives a class no weight at all: leave its rows out.")
    return rows.view(View(class_weights=tuple(factors.tolist())))


def start_of(learner: LogisticRegression, source: EncodedSource) -> Floats | None:
    """The vectors of the fit before, where the learner goes on from there."""
    if not (learner.warm_start and learner.__sklearn_is_fitted__()):
        return None
    if not np.array_equal(learner.classes_, source.classes) or learner.coef_.shape[1] != source.d:
        raise DataError("warm_start needs the columns and classes of the previous fit: fit a new estimator.")
    bias = learner.intercept_ if learner.fit_intercept else np.zeros(len(learner.coef_))
    return np.column_stack([learner.coef_, bias])


def fitted(
    problem: LogisticProblem, options: FitOptions, start: Floats | None, source: EncodedSource, against: int | None
) -> LogisticResult:
    """One fit: of all classes, or of one against the rest."""
    if np.isfinite(options.C):
        return penalised_fit(problem, options, start)

    def prove() -> Existence:
        if problem.classes > 2:
            raise ParameterError(
                "the search does not prove that a maximum exists, and for more than two classes all rows are asked on "
                "one machine only: fit with a penalty (C=), or with multiclass='ovr'."
            )
        return Existence(decided(source, against, options.lift).verdict, "separability", None, against)

    return LikelihoodFit(problem, options, start, prove, None, against).result()


def wald_facts(problem: LogisticProblem, source: EncodedSource, counts: Floats, result: LogisticResult) -> FittedFacts:
    """Estimates, covariance and likelihoods, as a model file keeps them."""
    loss, K, d, lift = problem.objective(), problem.classes, problem.d, problem.lift
    covariance = loss.hessian(loss.point(problem.parameters_of(result.vectors))).covariance(K)
    estimate = problem.against_first(result.vectors)
    n = float(counts.sum())
    null = float(counts @ np.log(counts / n)) if lift else -n * float(np.log(K))
    columns = [*(f"x{j}" for j in range(d)), *(["intercept"] if lift else [])]
    base, *others = [str(c) for c in source.classes.tolist()]
    many = len(others) > 1
    names = distinct_names([f"{c}:{name}" if many else name for c in others for name in columns])
    outcome = f"log-odds against {base}" if many else f"log-odds of {others[0]} against {base}"
    loglik, aliased = -float(result.loss or 0.0), np.zeros(len(names), dtype=np.bool_)
    values = tuple(names), aliased, estimate.reshape(-1).copy(), covariance, outcome, n, (K - 1) * int(lift)
    return FittedFacts(*values, loglik, null, loglik, null, False, False)

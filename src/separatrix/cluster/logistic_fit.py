"""Logistic regression on a cluster: the optimum of one machine, and whether it exists.

Some rows of every partition are brought to the driver, and the search over all rows begins where theirs ends. Where the
unpenalised maximum on them exists, it proves that the maximum on all rows does: weights above zero that cancel on rows
that span the space still do among more rows. Where it proves nothing, separability is decided with all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.logistic_rounds import LossSpec, RoundsLoss, gram_sums, information_sums
from separatrix.cluster.rounds import HeldPart
from separatrix.cluster.separation import decided
from separatrix.errors import CollinearWarning, IterationWarning, ParameterError, SeparationError, warn_user
from separatrix.models.logistic.existence import Existence, overlap_at
from separatrix.models.logistic.fitted_facts import FittedFacts
from separatrix.models.logistic.logistic_regression import LogisticRegression
from separatrix.models.logistic.newton import Newton, NewtonState, newton
from separatrix.models.logistic.problem import FitOptions, LogisticProblem, LogisticResult, unfinished
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.gram_matrix import IndependentColumns, independent_in
from separatrix.numerics.moments import merge
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status, raise_interruption
from separatrix.validation import distinct_names


def class_weights(part: HeldPart, classes: int) -> Floats:
    """The weight of the rows of each class."""
    return np.bincount(part.y, part.weights, minlength=classes).astype(np.float64)


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


SAMPLE = 100  # rows of the sample for each parameter
PATIENCE = 24  # steps after which a search that is not settled asks whether there is a maximum at all
MOST_PARAMETERS = 3000  # of a Hessian
FINER = (
    1e-6  # a penalised search goes on to this share of the tolerance: one step, which gives the weights their digits
)


def fit_logistic(learner: LogisticRegression, source: EncodedSource, checkpoint: Checkpoint) -> None:
    """Fit, and store what a fit of one machine stores but for the rows."""
    options = learner._options()
    _need_distributed(learner, options, source)
    count = len(source.classes)
    one = count == 2 or learner.multiclass == "multinomial"
    runs, results = list[LogisticRun](), list[LogisticResult]()
    for k in [None] if one else range(count):
        runs.append(
            LogisticRun(source, LossSpec(count, options.lift, bool(np.isfinite(options.C)), k), options, checkpoint)
        )
        results.append(runs[-1].result())
        if results[-1].status is Status.INTERRUPTED:
            break
    missing = (1 if one else count) - len(results)
    results += [LogisticResult(np.zeros_like(results[0].vectors), Status.INTERRUPTED)] * missing
    learner._store_results(source.classes, None, source.table, results)
    known = one and learner.status_ is Status.OPTIMAL and not np.isfinite(options.C) and not learner.unidentifiable_
    learner._rows, learner._facts = None, None  # type: ignore[assignment]  # the rows are elsewhere
    raise_interruption(learner.status_)
    if known:
        learner._facts = wald_facts(source, runs[0].spec, results[0])
    if learner.unidentifiable_:
        listed = ", ".join(map(repr, learner.unidentifiable_[:6]))
        warn_user(f"columns are linearly dependent ({listed}): the shortest w is given.", CollinearWarning)
    if (why := unfinished(learner.status_, learner.method_, learner.gap_, float(learner.C))) is not None:
        warn_user(why, IterationWarning)


def _need_distributed(learner: LogisticRegression, options: FitOptions, source: EncodedSource) -> None:
    """Refuse options that need all rows in one place."""
    for said, bad in (
        ("l1_ratio > 0", bool(np.isfinite(options.C)) and options.l1_ratio > 0),
        ("bias_reduction='firth'", options.firth),
        ("class_weight", learner.class_weight is not None),
        ("warm_start", learner.warm_start),
    ):
        if bad:
            raise ParameterError(f"logistic regression with {said} has no distributed form: leave it out.")
    count = len(source.classes)
    parameters = (source.d + 1) * (1 if count == 2 or learner.multiclass == "ovr" else count)
    if parameters > MOST_PARAMETERS:
        raise ParameterError(
            f"logistic regression on a cluster makes its Hessian, and {parameters:,} parameters are more than "
            f"{MOST_PARAMETERS:,}: drop columns, or learn an AveragedPerceptron."
        )


@dataclass
class LogisticRun:
    """One fit: of all classes, or of one against the rest."""

    source: EncodedSource
    spec: LossSpec
    options: FitOptions
    checkpoint: Checkpoint
    columns: IndependentColumns | None = None
    settled: bool = False  # whether a maximum is known to exist
    steps: int = 0

    def result(self) -> LogisticResult:
        """The fit that the options ask for."""
        if np.isfinite(self.options.C):
            return self.penalised()
        self._independent()
        run = self._search(RoundsLoss(self.source, self.spec), 0.0)
        assert self.columns is not None
        all_columns = not len(self.columns.others)  # columns left out by rounding may still separate the classes
        if run.status is not Status.INTERRUPTED and (not self.settled or (not all_columns and self.spec.vectors == 1)):
            return self._decided(run)
        return self._found(run, "maximum likelihood", self._exists() if self.settled and all_columns else None)

    def penalised(self) -> LogisticResult:
        """A ridge, until what is left to gain is below the tolerance."""
        self.settled = True
        loss = RoundsLoss(self.source, self.spec, 1.0 / self.options.C)
        run = self._search(loss, loss.ridge)
        result, point = self._found(run, self.options.penalty, None), run.state.point
        penalty = 0.5 * loss.ridge * float((result.vectors[:, :-1] ** 2).sum())
        return replace(result, loss=point.value - penalty, gap=loss.left(point) / max(point.value, 1e-300))

    # -- the search ---------------------------------------------------------------------------------

    def _search(self, loss: RoundsLoss, ridge: float) -> Driven[NewtonState]:
        kept = self.checkpoint.load()
        own = kept if kept is not None and kept["against"] == self.spec.against else None
        if own is None:
            state, self.steps = NewtonState(loss.point(self._start(loss, ridge))), 0
        else:
            self.settled, self.steps = bool(own["settled"]), int(own["steps"])
            state = NewtonState(loss.point(own["at"]), float(own["before"]))
        bounded = loss if ridge else None
        solver, first = Newton(loss, FINER * self.options.gap if ridge else 0.0, bounded), self.steps
        most = self.options.max_iter if self.settled else min(self.options.max_iter, PATIENCE)
        run = drive(solver, state, max_steps=max(0.0, most - first), watch=self._keep)
        return Driven(run.state, run.status, run.steps + first)

    def _keep(self, state: NewtonState) -> None:
        self.steps += 1
        about = {"steps": self.steps, "settled": self.settled, "against": self.spec.against, "before": state.before}
        self.checkpoint.save(at=state.point.at, **about)

    def _start(self, loss: RoundsLoss, ridge: float) -> Floats:
        """Where the search over some of the rows ends; they may also prove that a maximum exists."""
        source, spec = self.source, self.spec
        stride = max(1, source.n // (SAMPLE * max(loss.length, 40)))
        X, y, weights = source.sample(stride)
        X = spec.columns_of(X)
        codes = y if spec.against is None else (y == spec.against).astype(np.int64)
        count = spec.classes if spec.against is None else 2
        at = np.zeros(loss.length)
        if len(np.unique(codes)) < count:
            return at
        problem = LogisticProblem(X, codes.astype(np.intp), count, weights, None, spec.lift)
        small = problem.loss(ridge * len(codes) / source.n)
        run = newton(small, small.point(at), PATIENCE, 1e-6 if ridge else 0.0)
        if run.status is not Status.OPTIMAL or (not ridge and not overlap_at(problem, run.state.point)):
            return at
        self.settled = True
        return run.state.point.at

    # -- existence ----------------------------------------------------------------------------------

    def _independent(self) -> None:
        """Leave out columns that are linear combinations of others."""
        d, lift = self.source.d, self.spec.lift
        totals = self.source.rounds.reduce("columns", gram_sums, d, join=merge).copy().totals(last=True)
        self.columns = independent_in(NormalEquations(totals, d, 0.0, lift, lift))
        if len(self.columns.others):
            self.spec = replace(self.spec, kept=tuple(self.columns.kept.tolist()))

    def _exists(self) -> Existence:
        return Existence("overlap", "bound", None, self.spec.against)

    def _decided(self, run: Driven[NewtonState]) -> LogisticResult:
        """Whether a maximum exists, by all rows; if it does, the search goes on until it is reached."""
        if self.spec.vectors > 1:
            raise ParameterError(
                "a sample of the rows does not prove that a maximum exists, and for more than two classes all rows are "
                "asked on one machine only: fit with a penalty (C=), or with multiclass='ovr'."
            )
        found = decided(self.source, self.spec.against, self.spec.lift)
        existence = Existence(found.verdict, "separability", None, self.spec.against)
        if not existence.exists:
            if self.options.on_separation == "ignore":
                result = self._found(run, "maximum likelihood, stopped: no finite maximum exists", existence)
                return replace(result, status=Status.NO_MAXIMUM)
            raise SeparationError(
                f"{existence.sentence(10**9).partition(' (')[0]}; Firth's estimate needs all rows in one place: "
                "on a cluster fit with a penalty (C=)."
            )
        if run.status is not Status.OPTIMAL:
            self.settled = True
            loss = RoundsLoss(self.source, self.spec)
            more = drive(
                Newton(loss), run.state, max_steps=max(0.0, self.options.max_iter - run.steps), watch=self._keep
            )
            run = Driven(more.state, more.status, more.steps + run.steps)
        return self._found(run, "maximum likelihood", existence)

    def _found(self, run: Driven[NewtonState], method: str, existence: Existence | None) -> LogisticResult:
        """A search that has ended, with the shortest of equally likely vectors."""
        point = run.state.point
        V = point.at.reshape(self.spec.vectors, -1)
        V = V if len(V) == 1 else V - V.mean(axis=0)
        dependent: tuple[int, ...] = ()
        if self.columns is not None and len(self.columns.others):
            V = np.array([self.columns.spread(v) for v in V])
            dependent = tuple(self.columns.dependent.tolist())
        return LogisticResult(V, run.status, run.steps, point.value, None, method, existence, dependent)

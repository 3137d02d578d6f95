"""One logistic fit: which method it is, in which stages, and what replaces an estimate that does not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import SeparationError
from separatrix.kernels.blas_threads import one_blas_thread
from separatrix.models.logistic.active_newton import ElasticNet
from separatrix.models.logistic.added_covariate import flac
from separatrix.models.logistic.binary_loss import BinaryLoss, HessianModel, LossPoint, SampleHessian, weighted_gram
from separatrix.models.logistic.centred_loss import CentredLoss
from separatrix.models.logistic.class_newton import class_newton, class_start
from separatrix.models.logistic.elastic_net import proximal_newton
from separatrix.models.logistic.existence import (
    Existence,
    IndependentColumns,
    independent_columns,
    independent_in,
    overlap_at,
)
from separatrix.models.logistic.firth import firth_estimate, likelihood_intercepts
from separatrix.models.logistic.logistic_ridge import ridge, standardised_ridge
from separatrix.models.logistic.multinomial_loss import MultinomialLoss
from separatrix.models.logistic.newton import NewtonState, newton, newton_cg
from separatrix.models.logistic.problem import (
    FEWEST,
    FitOptions,
    LogisticProblem,
    LogisticResult,
    UsedRows,
    sample_stride,
)
from separatrix.models.logistic.quasi_newton import FEWER, SAMPLE, first_step, kept_newton
from separatrix.numerics.driver import Driven, drive
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status
from separatrix.validation import check_table

FIRTH_PARAMETERS = 1000  # up to here "auto" answers separation with Firth's estimate, beyond with a ridge
LARGE = 2**23  # numbers of rows whose check is left to the passes of a ridge fit
SAMPLE_GAP = 1e-12  # of the value: how near the maximum of a sample is found
PATIENCE = 12  # steps after which a search that is not settled asks whether there is a maximum at all
RIDGES, RIDGE_GAP = (0.1, 1.0, 10.0, 100.0, 1000.0), 1e-3  # where searches for a higher maximum begin, and how near


def fit_parts(parts: list[UsedRows], options: FitOptions, start: Floats | None) -> list[LogisticResult]:
    """A fit of each part, one after the other; parts that an interruption leaves undone have zeros."""
    done, many = list[LogisticResult](), len(parts) > 1
    for k, part in enumerate(parts):
        done.append(fit_rows(part, options, start[k : k + 1] if start is not None and many else start))
        if done[-1].status is Status.INTERRUPTED:
            break
    nothing = LogisticResult(np.zeros_like(done[0].vectors), Status.INTERRUPTED)
    return done + [nothing] * (len(parts) - len(done))


def shows_finite(X: Any, options: FitOptions) -> bool:
    """Whether a fit to these rows is a check of theirs: a large ridge fit reads all of them several times."""
    ridge = np.isfinite(options.C) and options.l1_ratio == 0
    return isinstance(X, np.ndarray) and X.size >= LARGE and bool(ridge)


def fit_unchecked(parts: list[UsedRows], options: FitOptions, start: Floats | None) -> list[LogisticResult]:
    """Ridge fits to rows that may hold a NaN or an infinity.

    No gradient over all rows is finite then, no gap is proved, and the rows are read again to name the place.
    """
    X = parts[0].table.X
    if len(parts[0].labels.classes) > 2:
        check_table(X)
        return fit_parts(parts, options, start)
    try:
        with np.errstate(all="ignore"):
            results = fit_parts(parts, options, start)
    except Exception:
        check_table(X)
        raise
    if any(result.status is not Status.OPTIMAL for result in results):
        check_table(X)
    return results


def fit_rows(rows: UsedRows, options: FitOptions, start: Floats | None) -> LogisticResult:
    """The fit that the options ask for.

    A free intercept takes up what all offsets have in common, so that the search may begin at zero.
    """
    problem = rows.problem(options.lift)
    with one_blas_thread(2 * problem.n * problem.d * problem.vectors):  # a Hessian is many products
        return _fit_shifted(rows, problem, options, start)


def _fit_shifted(rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> LogisticResult:
    if problem.offset is None or not options.lift:
        return _fit(rows, problem, options, start)
    middle = np.atleast_1d(np.median(problem.offset, axis=0))

    def shifted(vectors: Floats, shift: Floats) -> Floats:
        vectors = vectors.copy()
        vectors[:, -1] += shift - (shift.mean() if problem.classes > 2 else 0.0)
        return vectors

    inner = replace(problem, offset=np.ascontiguousarray(problem.offset - middle))
    result = _fit(rows, inner, options, None if start is None else shifted(start, middle))
    return replace(result, vectors=shifted(result.vectors, -middle))


def _fit(rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> LogisticResult:
    if np.isfinite(options.C):
        return replace(penalised(problem, options.C, options, start), method=options.penalty)
    fit = UnpenalisedFit(rows, problem, options, start)
    run = drive(fit, fit.init())
    return replace(run.state.result, status=run.status)


def penalised(
    problem: LogisticProblem, C: float, options: FitOptions, start: Floats | None, loss: CentredLoss | None = None
) -> LogisticResult:
    """Minimise  sum of losses + (l1_ratio |w|_1 + (1 - l1_ratio)/2 |w|^2)/C; the fits of a path share ``loss``."""
    r = options.l1_ratio
    if r == 0:
        return ridge(problem, 1.0 / C, options.tol, options.max_iter, start)
    net = ElasticNet(r / C, (1.0 - r) / C)
    return proximal_newton(loss or CentredLoss(problem), net, options.tol, options.max_iter, start)


@dataclass(frozen=True, slots=True)
class FitStage:
    """The result so far, and the stage that comes next."""

    result: LogisticResult
    stage: Callable[[], FitStage] | None = None


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
    if problem.keeps and isinstance(loss, MultinomialLoss):
        return class_newton(loss, start, most, tol)
    if problem.by_products:
        return newton_cg(loss, class_start(loss, start) if isinstance(loss, MultinomialLoss) else start, most, tol)
    if isinstance(loss, BinaryLoss):
        return kept_newton(loss, start, most, tol, model=model)
    start = start if start.at.any() else first_step(loss, start, loss.model(start))[0]
    return newton(loss, start, most, tol)


class UnpenalisedFit:
    """Maximum likelihood or what replaces it, as a solver whose steps are stages.

    Dependent columns are left out; a search runs until it is at the maximum or seems to run away; then existence is
    settled, by the fit itself or by a proof of its own, and the estimate found that the options ask for.
    """

    def __init__(self, rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> None:
        self.rows, self.whole, self.options, self.start = rows, problem, options, start
        self.problem, self.settled = problem, False
        self.columns: IndependentColumns | None = None

    def init(self) -> FitStage:
        return FitStage(LogisticResult(np.zeros((self.whole.vectors, self.whole.d + 1)), Status.OPTIMAL), self.search)

    def terminate(self, progress: FitStage) -> Status | None:
        ended = progress.stage is None or progress.result.status is Status.INTERRUPTED
        return progress.result.status if ended else None

    def step(self, progress: FitStage) -> FitStage:
        assert progress.stage is not None
        return progress.stage()

    # -- stages -----------------------------------------------------------------------------------

    def search(self) -> FitStage:
        """Newton's method on independent columns, first on a sample of many rows."""
        whole, model = self.whole, None
        if not whole.wide:
            gram, share = self.looked_at()
            if self.problem is whole and whole.classes == 2 and whole.offset is None and self.start is None:
                model = SampleHessian(gram, 4.0 * share)  # at zero, where p (1 - p) is 1/4
        if self.options.firth and self.problem.classes == 2 and not whole.wide:
            return self.firth("Firth", None)
        problem, self.loss = self.problem, self.problem.loss()
        start = self.start if problem is whole else None
        at = np.zeros(self.loss.length) if start is None else start.reshape(-1).copy()
        if problem.wide:
            return self.found(Driven(NewtonState(self.loss.point(at)), Status.MAX_ITERATIONS, 0), self.decide)
        stride = sample_stride(problem, penalised=False)
        if stride >= 4 and start is None:
            sample = problem.rows(slice(None, None, stride))
            small = sample.loss()
            tried = searched(sample, small, small.point(at), 2 * PATIENCE, tol=SAMPLE_GAP)
            if tried.status is Status.INTERRUPTED:
                return self.found(tried)
            if tried.status is Status.OPTIMAL and overlap_at(sample, tried.state.point):
                self.settled, at = True, tried.state.point.at
                if isinstance(small, BinaryLoss):
                    model = SampleHessian(small.model(tried.state.point), sample.n / problem.n)
        patience = PATIENCE if problem.classes == 2 or problem.by_products else PATIENCE // 2
        patience = 3 * PATIENCE if problem.keeps else patience  # whose steps are shorter
        most = self.options.max_iter if self.settled else min(self.options.max_iter, patience)
        return self.found(searched(problem, self.loss, self.loss.point(at), most, model), self.decide)

    def decide(self) -> FitStage:
        """Whether a maximum exists; if it does, the search goes on until it is reached."""
        options, run = self.options, self.run
        if options.firth:
            return self.firth("Firth", None)
        if not self.settled and not self.problem.wide:
            self.settled = overlap_at(self.problem, run.state.point)
        given, k = self.rows.given(options.lift), None if self.rows.rest is None else self.rows.rest[1]
        existence = Existence("overlap", "circulation", given, k) if self.settled else Existence.decide(given, k)
        if not existence.exists:
            return self.substitute(existence)
        if run.status is not Status.OPTIMAL:
            point = run.state.point
            if not np.isfinite(point.at).all():
                point = self.loss.point(np.zeros(self.loss.length))
            more = searched(self.problem, self.loss, point, options.max_iter - run.steps)
            run = Driven(more.state, more.status, more.steps + run.steps)
        result = self.found(run).result
        return FitStage(replace(result, method="maximum likelihood", existence=existence, dependent=self.dependent))

    def substitute(self, existence: Existence) -> FitStage:
        """What the options say instead of an estimate that does not exist."""
        options, choice = self.options, self.options.on_separation
        if choice == "auto":
            choice = "firth" if self.problem.parameters <= FIRTH_PARAMETERS else "ridge"
        if choice == "raise":
            raise SeparationError(
                existence.sentence(self.whole.parameters) + "; fit with a penalty (C=), with bias_reduction='firth', "
                "or let on_separation choose."
            )
        if choice == "firth":
            return self.firth("Firth, since no finite maximum of the likelihood exists", existence)
        if choice == "ridge":
            result = standardised_ridge(self.whole, options.tol, options.max_iter)
            method = "ridge (C=1, standardised), since no finite maximum of the likelihood exists"
        else:
            result = replace(self.found(self.run).result, dependent=self.dependent)
            method = "maximum likelihood, stopped: no finite maximum exists"
        status = result.status if result.status is Status.INTERRUPTED else Status.NO_MAXIMUM
        return FitStage(replace(result, status=status, method=method, existence=existence))

    def firth(self, method: str, existence: Existence | None) -> FitStage:
        """Firth's estimate on the same columns; of more than two classes from zero and from where the search ended."""
        whole, options = self.whole, self.options
        starts: list[Floats | None] | None = None
        if whole.wide:
            self.keep(independent_columns(whole.X, whole.weights, whole.lift))
        if whole.wide or whole.classes > 2:
            starts = [None]
            if not whole.wide and self.run.steps and np.isfinite(at := self.run.state.point.at).all():
                starts.append(self.problem.against_first(at.reshape(-1, self.problem.d + 1)))
        more = None if whole.wide or self.problem.sparse else self.ridge_starts
        result = firth_estimate(self.problem, options.max_iter, starts, more)
        if options.calibration == "flac" and result.status is not Status.INTERRUPTED:
            vectors, h = flac(self.problem, result.vectors)
            result = replace(result, vectors=vectors, loss=None, leverages=h)
            method = method.replace("Firth", "Firth with FLAC", 1)
        vectors = self.spread(result.vectors)
        if options.calibration == "flic":
            shift = likelihood_intercepts(whole.scores(vectors), whole.codes, whole.weights)
            vectors[:, -1] += shift[1:] - shift[0] if len(vectors) == 1 else shift - shift.mean()
            result, method = replace(result, loss=None), method.replace("Firth", "Firth with FLIC", 1)
        if existence is not None and result.status is Status.OPTIMAL:
            result = replace(result, status=Status.NO_MAXIMUM)
        changes: dict[str, Any] = {"method": method, "existence": existence, "dependent": self.dependent}
        return FitStage(replace(result, vectors=vectors, **changes))

    def ridge_starts(self) -> list[Floats | None]:
        """Where further searches begin, once two have ended at different maxima: along a path of ridge fits."""
        fits = (standardised_ridge(self.problem, RIDGE_GAP, self.options.max_iter, C) for C in RIDGES)
        return [self.problem.against_first(fit.vectors) for fit in fits]

    def looked_at(self) -> tuple[NormalEquations, float]:
        """A Gram matrix of the columns, of which independent ones are kept, and the share of the rows that it is of.

        Columns that are independent in a sample are so in all rows.
        """
        whole, stride = self.whole, self.whole.n // (SAMPLE * max(self.whole.d + 1, FEWEST))
        for step in (stride, 1) if stride >= FEWER and not whole.sparse else (1,):
            X = whole.X if step == 1 else np.ascontiguousarray(whole.X[::step])
            gram = weighted_gram(X, whole.counts[::step].copy(), 0.0, whole.lift)
            self.keep(independent_in(gram, whole.d, whole.lift))
            if self.problem is whole:
                break
        return gram, X.shape[0] / whole.n

    # -- parameters of independent columns, and vectors of all -------------------------------------

    def keep(self, columns: IndependentColumns) -> None:
        self.columns = columns
        self.problem = self.whole.columns(columns.kept) if len(columns.others) else self.whole

    @property
    def dependent(self) -> tuple[int, ...]:
        """Columns whose coefficients the rows do not determine, as far as that was looked at."""
        return () if self.columns is None else tuple(self.columns.dependent.tolist())

    def found(self, run: Driven[NewtonState], stage: Callable[[], FitStage] | None = None) -> FitStage:
        """A search that has ended, with the shortest of equally likely vectors."""
        self.run, point = run, run.state.point
        at = run.state.estimate if run.status is Status.OPTIMAL else point.at
        vectors = self.all_columns(self.problem.shortest(at))
        return FitStage(LogisticResult(vectors, run.status, run.steps, point.value), stage)

    def spread(self, vectors: Floats) -> Floats:
        """Lifted vectors of all columns from coefficients (K - 1, p) against the first class."""
        problem = self.problem
        vectors = vectors if problem.lift else np.column_stack([vectors, np.zeros(len(vectors))])
        if problem.classes > 2:
            vectors = problem.shortest(np.vstack([np.zeros(problem.d + 1), vectors]))
        return self.all_columns(vectors)

    def all_columns(self, vectors: Floats) -> Floats:
        return vectors if self.columns is None else np.array([self.columns.spread(v) for v in vectors])

"""Maximum likelihood: a search, a proof that there is a maximum, and what replaces an estimate that does not exist."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import SeparationError
from separatrix.models.logistic.binary_loss import BinaryLoss, HessianModel, LossPoint, SampleHessian, weighted_gram
from separatrix.models.logistic.class_newton import SharedGram
from separatrix.models.logistic.existence import NAMED, Existence, LeftToGain, overlap_at, separates
from separatrix.models.logistic.firth import firth_estimate, likelihood_intercepts
from separatrix.models.logistic.likelihood import flac
from separatrix.models.logistic.likelihood_search import searched
from separatrix.models.logistic.logistic_ridge import standardised_ridge
from separatrix.models.logistic.many_classes import ManyClasses, interrupted_by
from separatrix.models.logistic.newton import NewtonState
from separatrix.models.logistic.problem import (
    FEWEST,
    STRIDE,
    FitOptions,
    LogisticProblem,
    LogisticResult,
    UsedRows,
    sample_stride,
)
from separatrix.models.logistic.quasi_newton import FEWER, SAMPLE
from separatrix.numerics.driver import Driven
from separatrix.numerics.gram_matrix import IndependentColumns, independent_columns, independent_in
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status
from separatrix.proofs.separability.verdict import Given

FIRTH_PARAMETERS = 1000  # up to here "auto" answers separation with Firth's estimate, beyond with a ridge
SAMPLE_GAP = 1e-12  # of the value: how near the maximum of a sample is found
FINER = 1e-3  # of a tolerance: what comes next where it is reached and not proved
PATIENCE = 12  # steps after which a search that is not settled asks whether there is a maximum at all
MORE = 6  # steps that are tried before a proof by separability
RIDGES, RIDGE_GAP = (0.1, 1.0, 10.0, 100.0, 1000.0), 1e-3  # where searches for a higher maximum begin, and how near


@dataclass(frozen=True, slots=True)
class FitStage:
    """The result so far, and the stage that comes next."""

    result: LogisticResult
    stage: Callable[[], FitStage] | None = None


class UnpenalisedFit:
    """Maximum likelihood or what replaces it, as a solver whose steps are stages.

    Dependent columns are left out; a search runs until it is at the maximum or seems to run away; then existence is
    settled, by the fit itself or by a proof of its own, and the estimate found that the options ask for.
    """

    def __init__(self, rows: UsedRows, problem: LogisticProblem, options: FitOptions, start: Floats | None) -> None:
        self.rows, self.whole, self.options, self.start = rows, problem, options, start
        self.problem, self.settled = problem, False
        self.columns: IndependentColumns | None = None
        self.run: Driven[NewtonState]
        self.known: Existence | None = None
        self.ridge: LogisticResult | None = None

    def init(self) -> FitStage:
        return FitStage(LogisticResult(np.zeros((self.whole.vectors, self.whole.d + 1)), Status.OPTIMAL), self.search)

    def terminate(self, progress: FitStage) -> Status | None:
        ended = progress.stage is None or progress.result.status is Status.INTERRUPTED
        return progress.result.status if ended else None

    def step(self, progress: FitStage) -> FitStage:
        assert progress.stage is not None
        return progress.stage()

    @property
    def choice(self) -> str:
        """What is fitted without a maximum; where each row has a parameter, Firth's probabilities say nothing."""
        if self.options.on_separation != "auto":
            return self.options.on_separation
        few = self.problem.parameters <= FIRTH_PARAMETERS and not self.whole.saturated
        return "firth" if few else "ridge"

    @property
    def tol(self) -> float:
        """The wanted gap, 0 for the last digits."""
        return self.options.tol or 0.0

    # -- stages -----------------------------------------------------------------------------------

    def search(self) -> FitStage:
        """Newton's method on independent columns, first on a sample of many rows; none before a maximum is likely."""
        whole, model = self.whole, None
        later = whole.saturated and self.known is None and not self.options.firth and self.choice != "ignore"
        if not (whole.many_columns or later):
            gram, share = self.looked_at()
            if self.problem is whole and whole.offset is None and self.start is None:
                model = self.at_zero(gram, share)
        if self.options.firth and self.problem.classes == 2 and not whole.wide:
            return self.firth("Firth", None)
        problem, self.loss = self.problem, self.problem.loss()
        start = self.start if problem is whole else None
        at = np.zeros(self.loss.length) if start is None else start.reshape(-1).copy()
        if problem.many_columns or later:
            return self.found(Driven(NewtonState(self.loss.point(at)), Status.MAX_ITERATIONS, 0), self.decide)
        if not problem.parameters:
            return self.found(Driven(NewtonState(self.loss.point(at)), Status.OPTIMAL, 0), self.decide)
        stride = sample_stride(problem, penalised=False)
        if stride >= (STRIDE if self.tol > 0 else 4) and start is None:
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
        gradients = problem.by_products and self.tol > 0
        patience = 3 * PATIENCE if gradients else patience  # whose steps are shorter
        most = self.options.max_iter if self.settled else min(self.options.max_iter, patience)
        self.settled, run = self.near_enough(self.loss.point(at), most, model)
        return self.found(run, self.decide)

    def at_zero(self, gram: NormalEquations, share: float) -> HessianModel | None:
        """The Hessian at zero by a Gram matrix of a share of the rows, where it leads a search."""
        whole = self.whole
        if whole.classes == 2:
            return SampleHessian(gram, 4.0 * share)  # p (1 - p) is 1/4
        gradients = whole.lift and whole.by_products and not whole.sparse and self.tol > 0
        return SharedGram(gram, whole.classes) if gradients and share == 1.0 else None

    def near_enough(
        self, start: LossPoint, most: float, model: HessianModel | None
    ) -> tuple[bool, Driven[NewtonState]]:
        """A search that ends once the gap is proved that the options allow, with whether a maximum is known to exist.

        The same bound proves both. Where it proves nothing, the search goes on, at last to the last digits.
        """
        problem, loss, tol = self.problem, self.loss, self.tol
        point, steps = start, 0
        for wanted in (tol, FINER * tol, 0.0) if tol > 0 else (0.0,):
            run = searched(problem, loss, point, most - steps, model, wanted)
            point, steps, model = run.state.point, steps + run.steps, None
            run = Driven(run.state, run.status, steps)
            if run.status is not Status.OPTIMAL or not wanted:
                break
            if not np.isfinite(run.state.gap):
                run.state.gap = LeftToGain(loss, tol)(point)
            if run.state.gap <= tol * run.state.size:
                return True, run
        return self.settled, run

    def decide(self) -> FitStage:
        """Whether a maximum exists; if it does, the search goes on until it is reached."""
        options = self.options
        if options.firth:
            return self.firth("Firth", None)
        if self.whole.saturated and self.choice == "ridge" and self.known is None:
            self.ridge = standardised_ridge(self.whole, options.gap, options.max_iter)
            if self.ridge.status is Status.INTERRUPTED:
                return FitStage(self.ridge)
        existence = self.known or self.existence()
        if not existence.exists:
            return self.substitute(existence)
        if self.columns is None and not self.whole.many_columns:  # the search was put off
            self.known = existence
            return self.search()
        if self.run.status is not Status.OPTIMAL:
            point = self.run.state.point
            finite = np.isfinite(point.at).all()
            self.go_on(point if finite else self.loss.point(np.zeros(self.loss.length)), options.max_iter)
        result = self.found(self.run).result
        return FitStage(replace(result, method="maximum likelihood", existence=existence, dependent=self.dependent))

    def existence(self) -> Existence:
        """By the fit, by what many classes show of themselves, or by a proof of its own."""
        given = self.rows.given(self.options.lift)
        k = None if self.rows.rest is None else self.rows.rest[1]
        many = self.columns is not None and self.problem.classes > 2 and self.whole.parameters > NAMED["quasi"]
        verdict = self.by_fit() or self.by_more_steps() or (self.many_classes(given).verdict() if many else None)
        return Existence.decide(given, k) if verdict is None else Existence(*verdict, given, k)

    def by_fit(self) -> tuple[str, str] | None:
        """The verdict by the probabilities of the search, or by the scores of a fit that is there."""
        point, tried = self.run.state.point, self.columns is not None
        if (self.settled or (tried and overlap_at(self.problem, point))) and self.follows():
            return "overlap", "bound"
        if (tried and separates(self.problem, self.problem.shortest(point.at))) or (
            self.ridge is not None and separates(self.whole, self.ridge.vectors)
        ):
            return "complete", "scores"
        return None

    def by_more_steps(self) -> tuple[str, str] | None:
        """The verdict after a few more steps: near a maximum the digits of each one double."""
        before = self.run
        verdict, _ = self.further(MORE)
        if verdict is None or verdict[0] != "overlap":
            self.run = before  # Firth's estimate is nearer to where fewer steps have led
        return verdict

    def many_classes(self, given: Given) -> ManyClasses:
        """What is tried before a proof about so many rows and columns."""
        return ManyClasses(self.whole, self.problem, given, self.options.max_iter, self.further, self.follows)

    def further(self, most: float) -> tuple[tuple[str, str] | None, Floats]:
        """The verdict by the search after more steps, if that is another, and its probabilities."""
        verdict = None
        if most and self.run.status is Status.MAX_ITERATIONS:
            self.go_on(self.run.state.point, most)
            interrupted_by(self.run.status)
            verdict = self.by_fit()
        return verdict, self.run.state.point.curvature

    def go_on(self, point: LossPoint, most: float) -> None:
        """More steps of the search."""
        steps = self.run.steps
        more = searched(self.problem, self.loss, point, min(most, self.options.max_iter - steps))
        self.run = Driven(more.state, more.status, more.steps + steps)

    def substitute(self, existence: Existence) -> FitStage:
        """What the options say instead of an estimate that does not exist."""
        options, choice = self.options, self.choice
        if choice == "raise":
            raise SeparationError(
                existence.sentence(self.whole.parameters) + "; fit with a penalty (C=), with bias_reduction='firth', "
                "or let on_separation choose."
            )
        if choice == "firth":
            return self.firth("Firth, since no finite maximum of the likelihood exists", existence)
        if choice == "ridge":
            result = self.ridge or standardised_ridge(self.whole, options.gap, options.max_iter)
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
        if self.columns is None:
            self.keep(independent_columns(whole.X, whole.weights, whole.lift))
        if whole.wide or whole.classes > 2:
            starts = [None]
            if self.run.steps and np.isfinite(at := self.run.state.point.at).all():
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
            self.keep(independent_in(gram))
            if self.problem is whole:
                break
        return gram, X.shape[0] / whole.n

    # -- parameters of independent columns, and vectors of all -------------------------------------

    def keep(self, columns: IndependentColumns) -> None:
        self.columns = columns
        self.problem = self.whole.columns(columns.kept) if len(columns.others) else self.whole

    def follows(self) -> bool:
        """Whether all columns have no scores but those of the columns that are kept, in exact arithmetic."""
        return self.columns is None or self.columns.exact(self.whole.X, self.whole.lift)

    @property
    def dependent(self) -> tuple[int, ...]:
        """Columns whose coefficients the rows do not determine, as far as that was looked at."""
        return () if self.columns is None else tuple(self.columns.dependent.tolist())

    def found(self, run: Driven[NewtonState], stage: Callable[[], FitStage] | None = None) -> FitStage:
        """A search that has ended, with the shortest of equally likely vectors."""
        self.run, point, step = run, run.state.point, run.state.step
        at = point.at
        if run.status is Status.OPTIMAL and step is not None:  # without a tolerance a run ends before its last step
            at = at - step
        vectors = self.all_columns(self.problem.shortest(at))
        gap = run.state.gap / run.state.size if np.isfinite(run.state.gap) else None
        return FitStage(LogisticResult(vectors, run.status, run.steps, point.value, gap), stage)

    def spread(self, vectors: Floats) -> Floats:
        """Lifted vectors of all columns from coefficients (K - 1, p) against the first class."""
        problem = self.problem
        vectors = vectors if problem.lift else np.column_stack([vectors, np.zeros(len(vectors))])
        if problem.classes > 2:
            vectors = problem.shortest(np.vstack([np.zeros(problem.d + 1), vectors]))
        return self.all_columns(vectors)

    def all_columns(self, vectors: Floats) -> Floats:
        return vectors if self.columns is None else np.array([self.columns.spread(v) for v in vectors])

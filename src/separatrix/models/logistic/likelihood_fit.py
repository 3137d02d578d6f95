"""Maximum likelihood: a search, a proof that there is a maximum, and what replaces an estimate that does not exist.

Dependent columns are left out. A search runs until it is at the maximum or seems to run away; then existence is
settled, by the fit itself, by what many classes show of themselves, or by a proof of its own; and the search goes on,
or the estimate is found that the options ask for instead. Rows may live anywhere.

**Many classes.** A proof of its own is about a row for each row and other class, and a vector for each class (Kesler's
construction): of 5,000 rows, 20 columns and 100 classes it takes minutes to hours. Where classes can be separated, a
ridge with a small penalty does so within a second; where some can and others overlap, a few of them prove it
(class_groups.py); and where all overlap, the search proves it once it is nearer to the maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import SeparationError
from separatrix.losses.objective import Point
from separatrix.models.logistic.class_groups import ClassGroups, exchanged_at
from separatrix.models.logistic.existence import NAMED, Existence, separates
from separatrix.models.logistic.firth import firth_estimate, likelihood_intercepts
from separatrix.models.logistic.likelihood import flac
from separatrix.models.logistic.problem import FitOptions, LogisticProblem, LogisticResult
from separatrix.models.logistic.ridge import standardised_ridge
from separatrix.numerics.driver import Driven
from separatrix.numerics.gram_matrix import IndependentColumns, independent_in
from separatrix.numerics.normal_equations import NormalEquations
from separatrix.numerics.status import Status
from separatrix.proofs.separability.verdict import Given
from separatrix.rows.places import TableRows
from separatrix.solvers.choose import (
    by_products,
    limits,
    many_columns,
    parameters,
    sample_stride,
    too_many,
)
from separatrix.solvers.left_to_gain import LeftToGain
from separatrix.solvers.minimise import said, search
from separatrix.solvers.newton import NewtonState
from separatrix.solvers.rough_hessians import COLUMNS, AtZero

SAMPLE_GAP = 1e-12  # of the value: how near the maximum of a sample is found
SAMPLE, FEWER = 32, 3  # rows that columns are looked at by, for each parameter, where that is one row in so many
FEWEST = 40  # parameters that they are counted for at least
FINER = 1e-3  # of a tolerance: what comes next where it is reached and not proved
PATIENCE = 12  # steps after which a search that is not settled asks whether there is a maximum at all
MORE = 6  # steps that are tried before a proof by separability
RIDGES, RIDGE_GAP = (0.1, 1.0, 10.0, 100.0, 1000.0), 1e-3  # where searches for a higher maximum begin, and how near
ROUNDS = ((1.0, 0), (100.0, 12), (1e4, 24), (1e5, 48))  # C of a ridge, and by how many steps the search goes on
ROUGH_GAP = 0.1  # how near such a ridge is to its minimum: only its signs count
STEPS = 36  # of a search on some of the classes

Prove = Callable[[], Existence]  # whether a maximum exists, by a proof of its own
Verdict = tuple[str, str]  # and what it is by


class LikelihoodFit:
    """Maximum likelihood of a problem, or what replaces it.

    ``given`` are the rows as data of a proof, if they are in memory, ``against`` the class whose log-odds against the
    rest are modelled, and ``prove`` decides existence where the fit does not.
    """

    def __init__(
        self,
        problem: LogisticProblem,
        options: FitOptions,
        start: Floats | None,
        prove: Prove,
        given: Given | None = None,
        against: int | None = None,
    ) -> None:
        self.whole, self.options, self.start = problem, options, start
        self.prove, self.given, self.against = prove, given, against
        self.problem, self.settled = problem, False
        self.columns: IndependentColumns | None = None
        self.known: Existence | None = None
        self.ridge: LogisticResult | None = None
        self.ran: tuple[tuple[str, int], ...] = ()
        self.run: Driven[NewtonState] | None = None

    def result(self) -> LogisticResult:
        """The estimate that the options ask for; after Ctrl-C what was found so far."""
        try:
            return self._result()
        except KeyboardInterrupt:
            zeros = np.zeros((self.whole.vectors, self.whole.d + 1))
            result = LogisticResult(zeros, Status.INTERRUPTED) if self.run is None else self.found()
            return replace(result, status=Status.INTERRUPTED)

    def _result(self) -> LogisticResult:
        options, whole = self.options, self.whole
        firth_first = options.firth and whole.classes == 2 and not too_many(whole.rows, whole.lift)
        later = whole.saturated and not options.firth and self.choice != "ignore"
        if not (later or firth_first):
            self.search()
        if options.firth:
            return self.firth("Firth", None)
        existence = self.existence()
        if not existence.exists:
            return self.substitute(existence)
        if later and not self.many_columns:  # the search was put off
            self.known = existence
            self.search()
        run = self.run
        if run is None or run.status is not Status.OPTIMAL:
            self.go_on(options.max_iter)
        return replace(self.found(), method="maximum likelihood", existence=existence)

    @property
    def choice(self) -> str:
        """What is fitted without a maximum; where each row has a parameter, Firth's probabilities say nothing."""
        if self.options.on_separation != "auto":
            return self.options.on_separation
        few = parameters(self.problem.rows, self.whole.lift) <= limits().firth and not self.whole.saturated
        return "firth" if few and isinstance(self.whole.rows, TableRows) else "ridge"

    @property
    def many_columns(self) -> bool:
        return many_columns(self.whole.rows, self.whole.lift)

    # -- the search ---------------------------------------------------------------------------------

    def search(self) -> None:
        """To the maximum on independent columns, first on a sample of many rows, as long as it may exist."""
        model: Any = None
        if not self.many_columns:
            totals, share = self.looked_at()
            if self.problem is self.whole and not self.whole.rows.shifted and self.start is None:
                model = self.at_zero(totals, share)
        problem, tol = self.problem, self.options.tol or 0.0
        self.loss = loss = problem.objective()
        start = self.start if problem is self.whole else None
        at = np.zeros(loss.length) if start is None else problem.parameters_of(start)
        if self.many_columns or not loss.d + int(loss.lift):
            status = Status.OPTIMAL if not loss.d + int(loss.lift) else Status.MAX_ITERATIONS
            self.run = Driven(NewtonState(loss.point(at)), status, 0)
            return
        stride = sample_stride(problem.rows, problem.lift, False)
        if stride >= (limits().sample_stride if tol > 0 else limits().exact_stride) and start is None:
            leaf = problem.rows.take(stride)
            table = TableRows(leaf.X, leaf.codes, problem.classes, leaf.weights, leaf.offset)
            small = LogisticProblem(table, problem.lift).objective()
            tried, _ = search(small, small.point(at), 2 * PATIENCE, tol=SAMPLE_GAP)
            if tried.status is Status.INTERRUPTED:
                self.run = Driven(NewtonState(loss.point(tried.state.point.at)), tried.status, tried.steps)
            interrupted_by(tried.status)
            if tried.status is Status.OPTIMAL and LeftToGain(small)(tried.state.point) < np.inf:
                self.settled, at = True, tried.state.point.at
                if problem.classes == 2:
                    model = small.hessian(tried.state.point, leaf.n / problem.n)
        gradients = by_products(problem.rows, problem.lift, False)
        patience = 3 * PATIENCE if gradients and tol > 0 else PATIENCE  # the steps of L-BFGS are shorter
        most = self.options.max_iter if self.settled else min(self.options.max_iter, patience)
        self.near_enough(loss.point(at), most, model, tol)

    def at_zero(self, totals: Any, share: float) -> AtZero | None:
        """The Hessian at zero by the moments of a share of the rows, where it leads a search."""
        whole = self.whole
        gradients = whole.lift and not whole.sparse and bool(self.options.tol) and share == 1.0
        if whole.classes > 2 and by_products(whole.rows, whole.lift, False) and not gradients:
            return None
        return AtZero(totals, whole.objective().loss, 0.0, share)

    def near_enough(self, start: Point, most: float, model: Any, tol: float) -> None:
        """A search that ends once the gap is proved that the options allow.

        The same bound proves that a maximum exists. Where it proves nothing, the search goes on, at last to the last
        digits.
        """
        point, steps = start, 0
        for wanted in (tol, FINER * tol, 0.0) if tol > 0 else (0.0,):
            run, ran = search(self.loss, point, most - steps, model, wanted)
            self.ran += ran
            point, steps, model = run.state.point, steps + run.steps, None
            self.run = run = Driven(run.state, run.status, steps)
            interrupted_by(run.status)
            if run.status is not Status.OPTIMAL or not wanted:
                break
            if not np.isfinite(run.state.gap):
                run.state.gap = LeftToGain(self.loss, tol)(point)
            if run.state.gap <= tol * run.state.size:
                self.settled = True
                break

    def go_on(self, most: float) -> None:
        """More steps of the search."""
        if self.run is None:
            self.search()
            return
        point, steps = self.run.state.point, self.run.steps
        if not np.isfinite(point.at).all():
            point = self.loss.zero()
        more, ran = search(self.loss, point, min(most, self.options.max_iter - steps))
        self.ran += ran
        self.run = Driven(more.state, more.status, more.steps + steps)
        interrupted_by(more.status)

    # -- existence ----------------------------------------------------------------------------------

    def existence(self) -> Existence:
        """By the fit, by what many classes show of themselves, or by a proof of its own."""
        if self.known is not None:
            return self.known
        if self.whole.saturated and self.choice == "ridge":
            self.ridge = standardised_ridge(self.whole, self.options.gap, self.options.max_iter)
            interrupted_by(self.ridge.status)
        verdict = self.by_fit() or self.by_more_steps() or self.by_classes()
        return self.prove() if verdict is None else Existence(*verdict, self.given, self.against)

    def by_fit(self) -> Verdict | None:
        """The verdict by the probabilities of the search, or by the scores of a fit that is there."""
        run = self.run if self.columns is not None else None
        if run is not None and (self.settled or LeftToGain(self.loss)(run.state.point) < np.inf) and self.follows():
            return "overlap", "bound"
        scored = run is not None and separates(self.problem, self.problem.vectors_of(run.state.point.at))
        if scored or (self.ridge is not None and separates(self.whole, self.ridge.vectors)):
            return "complete", "scores"
        return None

    def by_more_steps(self) -> Verdict | None:
        """The verdict after a few more steps: near a maximum the digits of each one double."""
        before, ran = self.run, self.ran
        verdict = self.further(MORE)
        if verdict is None or verdict[0] != "overlap":
            self.run, self.ran = before, ran  # Firth's estimate is nearer to where fewer steps have led
        return verdict

    def further(self, most: float) -> Verdict | None:
        """The verdict by the search after more steps, if that is another."""
        if not most or self.run is None or self.run.status is not Status.MAX_ITERATIONS or self.columns is None:
            return None
        self.go_on(most)
        return self.by_fit()

    def by_classes(self) -> Verdict | None:
        """The verdict on many classes by what costs little, round by round."""
        many = self.columns is not None and self.problem.classes > 2
        if not many or self.run is None or parameters(self.whole.rows, self.whole.lift) <= NAMED["quasi"]:
            return None
        groups = None if self.given is None else ClassGroups(self.given, self.some_classes)
        for C, more in ROUNDS:
            ridge = standardised_ridge(self.whole, ROUGH_GAP, self.options.max_iter, C)
            interrupted_by(ridge.status)
            if separates(self.whole, ridge.vectors):
                return "complete", "scores"
            if (verdict := self.further(more)) is not None:
                return verdict
            if groups is not None and groups.quasi_separated(exchanged_at(self.loss, self.run.state.point)):
                return "quasi", "groups"
        return None

    def some_classes(self, classes: NDArray[np.intp]) -> tuple[Floats, bool]:
        """What classes give to each other after a search on their rows, and whether that proves that they overlap."""
        part = self.problem.some(np.flatnonzero(np.isin(self.problem.codes, classes)))
        part = part.changed(codes=np.searchsorted(classes, part.codes), classes=len(classes), offset=None)
        loss = part.objective()
        run, _ = search(loss, loss.zero(), STEPS)
        interrupted_by(run.status)
        point = run.state.point
        return exchanged_at(loss, point), LeftToGain(loss)(point) < np.inf and self.follows()

    # -- other estimates ----------------------------------------------------------------------------

    def substitute(self, existence: Existence) -> LogisticResult:
        """What the options say instead of an estimate that does not exist."""
        options, choice = self.options, self.choice
        if choice == "raise":
            raise SeparationError(
                existence.sentence(parameters(self.whole.rows, self.whole.lift)) + "; fit with a penalty (C=), with "
                "bias_reduction='firth', or let on_separation choose."
            )
        if choice == "firth" and not isinstance(self.whole.rows, TableRows):
            raise SeparationError(
                f"{existence.sentence(10**9).partition(' (')[0]}; Firth's estimate needs all rows in memory: "
                "fit with a penalty (C=), or let on_separation choose."
            )
        if choice == "firth":
            return self.firth("Firth, since no finite maximum of the likelihood exists", existence)
        if choice == "ridge":
            result = self.ridge or standardised_ridge(self.whole, options.gap, options.max_iter)
            method = "ridge (C=1, standardised), since no finite maximum of the likelihood exists"
            result = replace(
                result, plan=f"{said(self.ran)}; no maximum; a standardised ridge: {result.plan}".lstrip("; ")
            )
        else:
            if self.run is None:
                self.search()
            result, method = self.found(), "maximum likelihood, stopped: no finite maximum exists"
        status = result.status if result.status is Status.INTERRUPTED else Status.NO_MAXIMUM
        return replace(result, status=status, method=method, existence=existence)

    def firth(self, method: str, existence: Existence | None) -> LogisticResult:
        """Firth's estimate on the same columns; of more than two classes from zero and from where the search ended."""
        whole, options = self.whole, self.options
        starts: list[Floats | None] | None = None
        if self.columns is None:
            self.looked_at(sample=False)
        wide = too_many(whole.rows, whole.lift)
        if wide or whole.classes > 2:
            starts = [None]
            if self.run is not None and self.run.steps and np.isfinite(at := self.run.state.point.at).all():
                starts.append(self.problem.against_first(self.problem.vectors_of(at)))
        more = None if wide or self.problem.sparse else self.ridge_starts
        result = firth_estimate(self.problem, options.max_iter, starts, more)
        plan = said((*self.ran, ("firth", result.steps)))
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
        changes: dict[str, Any] = {"method": method, "existence": existence, "dependent": self.dependent, "plan": plan}
        return replace(result, vectors=vectors, **changes)

    def ridge_starts(self) -> list[Floats | None]:
        """Where further searches begin, once two have ended at different maxima: along a path of ridge fits."""
        fits = (standardised_ridge(self.problem, RIDGE_GAP, self.options.max_iter, C) for C in RIDGES)
        return [self.problem.against_first(fit.vectors) for fit in fits]

    # -- parameters of independent columns, and vectors of all -------------------------------------

    def looked_at(self, sample: bool = True) -> tuple[Any, float]:
        """Moments of the columns, of which independent ones are kept, and the share of the rows that they are of.

        Columns that are independent in a sample are so in all rows.
        """
        whole = self.whole
        stride = whole.n // (SAMPLE * max(whole.d + 1, FEWEST))
        for step in (stride, 1) if sample and stride >= FEWER and not whole.sparse else (1,):
            rows = whole.rows
            if step > 1:
                leaf = rows.take(step)
                rows = TableRows(leaf.X, leaf.codes, rows.classes, leaf.weights)
            totals = rows.reduce(COLUMNS, whole.d).totals(last=True)
            gram = NormalEquations(totals, whole.d, 0.0, whole.lift, whole.lift)
            self.columns = independent_in(gram)
            if not len(self.columns.others):
                break
        columns = self.columns
        assert columns is not None
        self.problem = whole.columns(columns.kept) if len(columns.others) else whole
        return totals, rows.n / whole.n

    def follows(self) -> bool:
        """Whether all columns have no scores but those of the columns that are kept, in exact arithmetic."""
        if self.columns is None or not len(self.columns.others):
            return True
        return isinstance(self.whole.rows, TableRows) and self.columns.exact(self.whole.X, self.whole.lift)

    @property
    def dependent(self) -> tuple[int, ...]:
        """Columns whose coefficients the rows do not determine, as far as that was looked at."""
        return () if self.columns is None else tuple(self.columns.dependent.tolist())

    def found(self) -> LogisticResult:
        """The search as a result, with the shortest of equally likely vectors."""
        run = self.run
        assert run is not None
        at, state = run.state.point.at, run.state
        if run.status is Status.OPTIMAL and state.step is not None:
            at = at - state.step  # without a tolerance a run ends before its last step
        vectors, value = self.all_columns(self.problem.vectors_of(at)), state.point.value
        if self.columns is not None and self.columns.near:  # of columns left out half the digits may differ, and large
            value = self.whole.loss_at(vectors)  # coefficients multiply the rounding errors of a last step
        left = state.gap + max(0.0, value - state.point.value)
        gap = left / state.size if np.isfinite(left) else None
        result = LogisticResult(vectors, run.status, run.steps, value, gap, plan=said(self.ran))
        return replace(result, dependent=self.dependent)

    def spread(self, vectors: Floats) -> Floats:
        """Lifted vectors of all columns from coefficients (K - 1, p) against the first class."""
        problem = self.problem
        vectors = vectors if problem.lift else np.column_stack([vectors, np.zeros(len(vectors))])
        if problem.classes > 2:
            vectors = np.vstack([np.zeros(problem.d + 1), vectors])
            vectors = vectors - vectors.mean(axis=0)
        return self.all_columns(vectors)

    def all_columns(self, vectors: Floats) -> Floats:
        return vectors if self.columns is None else np.array([self.columns.spread(v) for v in vectors])


def interrupted_by(status: Status) -> None:
    """Pass Ctrl-C in a part on, which ends the whole."""
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt

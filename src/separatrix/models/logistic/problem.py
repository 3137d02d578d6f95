"""What a logistic fit is asked to do, and how it is done: which method for which shape of table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import Interruption
from separatrix.models.logistic.binary_loss import Binary, Point
from separatrix.models.logistic.dependent_columns import Columns, independent_columns
from separatrix.models.logistic.firth import FirthLikelihood, firth_in_basis
from separatrix.models.logistic.multinomial_loss import Multinomial, centred, dense
from separatrix.models.logistic.newton import Run, newton
from separatrix.models.logistic.overlap_proof import kesler_rows, proves_overlap
from separatrix.models.logistic.quasi_newton import newton_cg
from separatrix.numerics.status import Status

MOST_PARAMETERS = 2000  # up to here the Hessian is made, beyond it is only multiplied with
MOST_SPARSE = 300
PROOF_SIZE = 2**25  # numbers that a proof of overlap may look at
SAMPLE = 50  # rows of a sample for each parameter


@dataclass(frozen=True, slots=True)
class Task:
    """Rows that count, class numbers, weights, offset ((n,) for two classes, (n, K) for more), bias or not."""

    X: Any
    codes: NDArray[np.intp]
    classes: int
    weights: Floats | None
    offset: Floats | None
    lift: bool

    @property
    def n(self) -> int:
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        return int(self.X.shape[1])

    @property
    def free(self) -> int:
        """Parameters of the likelihood: a vector for each class but one."""
        return (self.d + int(self.lift)) * (self.classes - 1)

    @property
    def wide(self) -> bool:
        """Whether the Hessian is better not made."""
        sparse = not isinstance(self.X, np.ndarray)
        return self.free > MOST_PARAMETERS or (sparse and self.free > MOST_SPARSE)

    def objective(self, ridge: float = 0.0) -> Binary | Multinomial:
        if self.classes == 2:
            signs = np.where(self.codes == 1, 1, -1).astype(np.int8)
            return Binary(self.X, signs, self.weights, self.offset, ridge, self.lift)
        return Multinomial(self.X, self.codes, self.classes, self.weights, self.offset, ridge, self.lift)

    def every(self, k: int) -> Task:
        """Each k-th row."""
        part = slice(None, None, k)
        X = np.ascontiguousarray(self.X[part]) if isinstance(self.X, np.ndarray) else self.X[part].tocsr()
        weights = None if self.weights is None else self.weights[part].copy()
        offset = None if self.offset is None else self.offset[part].copy()
        return replace(self, X=X, codes=self.codes[part], weights=weights, offset=offset)

    def columns(self, kept: NDArray[np.intp]) -> Task:
        X = self.X[:, kept]
        return replace(self, X=np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X.tocsr())

    def scores(self, vectors: Floats) -> Floats:
        """Scores of all classes (n, K), offset included."""
        s = np.asarray(self.X @ vectors[:, :-1].T) + vectors[:, -1]
        if self.classes == 2:
            s = s if self.offset is None else s + self.offset[:, None]
            return np.column_stack([np.zeros(self.n), s])
        return s if self.offset is None else s + self.offset

    def loss(self, vectors: Floats) -> float:
        """Minus the log-likelihood."""
        return self.objective().point(np.ascontiguousarray(vectors).reshape(-1)).value

    def lifted(self) -> Floats:
        X = dense(self.X)
        return np.column_stack([X, np.ones(self.n)]) if self.lift else X


@dataclass(frozen=True, slots=True)
class Answer:
    """Lifted vectors, one row a vector, with how the run ended; ``loss`` is minus the log-likelihood, if known."""

    vectors: Floats
    status: Status
    steps: int
    loss: float | None
    gap: float | None = None
    maxima: tuple[float, float] | None = None  # of Firth's likelihood, where two were found


def overlap_at(task: Task, point: Point) -> bool:
    """Whether the fitted probabilities at a point prove that the classes overlap."""
    rows, columns = task.n * (task.classes - 1), task.free
    if rows * columns > PROOF_SIZE:
        return False
    if task.classes == 2:
        signs = np.where(task.codes == 1, 1.0, -1.0)
        return proves_overlap(signs[:, None] * task.lifted(), point.wrong)
    return proves_overlap(*kesler_rows(task.lifted(), task.codes, point.curvature))


class Likelihood:
    """Maximum likelihood on independent columns, until it is found or seen to run away."""

    PATIENCE = 12  # steps after which a fit that is not settled asks whether there is a maximum at all

    def __init__(self, task: Task, max_iter: float, start: Floats | None = None) -> None:
        self.whole, self.max_iter = task, max_iter
        wide = task.wide
        self.split = None if wide else independent_columns(task.X, task.weights, task.lift)
        self.task = task if self.split is None or not len(self.split.others) else task.columns(self.split.kept)
        self.objective = self.task.objective()
        self.settled = False
        self.reached = np.zeros(self.objective.length)
        try:
            self.run = self._first(start if self.task is task else None)
        except KeyboardInterrupt as stop:
            at = stop.at if isinstance(stop, Interruption) else self.reached
            raise Interruption(self.vectors_of(at)) from stop

    @property
    def dependent(self) -> tuple[int, ...]:
        """Columns whose coefficients the rows do not determine, as far as that was looked at."""
        return () if self.split is None else tuple(self.split.dependent.tolist())

    @property
    def parameters(self) -> int:
        return self.task.free

    def _first(self, start: Floats | None) -> Run:
        task, objective = self.task, self.objective
        at = np.zeros(objective.length) if start is None else start.reshape(-1).copy()
        if task.wide:
            return Run(objective.point(at), Status.MAX_ITERATIONS, 0, np.inf)
        stride = task.n // (SAMPLE * max(task.free, 40))
        if stride >= 4 and start is None:
            sample = task.every(stride)
            small = sample.objective()
            tried = newton(small, small.point(at), 2 * self.PATIENCE)
            self.reached = tried.point.at
            if tried.status is Status.OPTIMAL and overlap_at(sample, tried.point):
                self.settled, at = True, tried.point.at
        run = newton(objective, objective.point(at), self.max_iter, pause=self._pause)
        self.reached = run.point.at
        if not self.settled:
            self.settled = overlap_at(task, run.point)
        return run

    def _pause(self, steps: int, point: Point) -> bool:
        return not self.settled and steps >= (self.PATIENCE if self.task.classes == 2 else self.PATIENCE // 2)

    def go_on(self) -> None:
        """The maximum exists: run until it is reached."""
        self.settled = True
        if self.run.status is Status.OPTIMAL:
            return
        point, done = self.run.point, self.run.steps
        if not np.isfinite(point.at).all():
            point = self.objective.point(np.zeros(self.objective.length))
        left = self.max_iter - done
        try:
            run = (newton_cg if self.task.wide else newton)(self.objective, point, left)
        except Interruption as stop:
            raise Interruption(self.vectors_of(stop.at)) from stop
        self.run = replace(run, steps=run.steps + done)

    def answer(self) -> Answer:
        """The estimate; of several equally likely ones that with the shortest w."""
        run = self.run
        return Answer(self.vectors_of(run.point.at), run.status, run.steps, run.point.value)

    def vectors_of(self, at: Floats) -> Floats:
        """Lifted vectors of all columns."""
        at = at if self.task.classes == 2 else centred(at, self.task.classes)
        return spread(self.split, at.reshape(-1, self.task.d + 1))

    def firth(self) -> Answer:
        """Firth's estimate on the same independent columns."""
        task = self.task
        if task.wide and task is self.whole and self.split is None:
            self.split = independent_columns(task.X, task.weights, task.lift)
            task = task.columns(self.split.kept)
        offset = task.offset
        if offset is not None and task.classes == 2:
            offset = np.column_stack([np.zeros(task.n), offset])
        likelihood = FirthLikelihood(task.lifted(), task.codes, task.classes, task.weights, offset)
        found = firth_in_basis(likelihood, self.max_iter, [None, *self._second(task)])
        vectors = found.vectors if task.lift else np.column_stack([found.vectors, np.zeros(len(found.vectors))])
        if task.classes > 2:
            vectors = centred(np.vstack([np.zeros(task.d + 1), vectors]).reshape(-1), task.classes)
            vectors = vectors.reshape(task.classes, -1)
        maxima = None if found.inferior is None else (float(found.penalised), float(found.inferior))
        return Answer(spread(self.split, vectors), found.status, found.steps, -found.loglik, maxima=maxima)

    def _second(self, task: Task) -> list[Floats]:
        """Where the search for the maximum of the likelihood ended, as vectors against the first class, if at all."""
        at = self.run.point.at.reshape(-1, self.task.d + 1)
        if task is not self.task or not (self.run.steps and np.isfinite(at).all()):
            return []
        at = at if task.classes == 2 else at[1:] - at[0]
        return [at if task.lift else at[:, :-1]]


def spread(split: Columns | None, vectors: Floats) -> Floats:
    return vectors if split is None else np.array([split.spread(v) for v in vectors])

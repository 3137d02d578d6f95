"""One logistic fit: which method it is, and what it does where no maximum exists."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.arrays import Floats
from separatrix.errors import Interruption, SeparationError
from separatrix.models.logistic.existence import Existence
from separatrix.models.logistic.firth import likelihood_intercepts
from separatrix.models.logistic.options import Options
from separatrix.models.logistic.penalised import penalised, standardised_ridge
from separatrix.models.logistic.problem import Answer, Likelihood, Task
from separatrix.models.logistic.used_rows import Counted
from separatrix.numerics.status import Status

FIRTH_PARAMETERS = 1000  # up to here "auto" answers separation with Firth's estimate, beyond with a ridge


@dataclass(frozen=True)
class Fitted:
    """What one fit found: its vectors, how, and what is known of the maximum."""

    answer: Answer
    method: str
    existence: Existence | None = None
    dependent: tuple[int, ...] = ()


def fit_one(rows: Counted, options: Options, start: Floats | None) -> Fitted:
    """The fit that the options ask for; an interruption carries the vectors that were reached.

    A free bias takes up what all offsets have in common, so that the search may begin at zero.
    """
    task = rows.task(options.lift)
    if task.offset is None or not options.lift:
        return _fit(rows, task, options, start)
    middle = np.atleast_1d(np.median(task.offset, axis=0))

    def shifted(vectors: Floats, shift: Floats) -> Floats:
        vectors = vectors.reshape(-1, task.d + 1).copy()
        vectors[:, -1] += shift - (shift.mean() if task.classes > 2 else 0.0)
        return vectors

    try:
        inner = replace(task, offset=np.ascontiguousarray(task.offset - middle))
        fitted = _fit(rows, inner, options, None if start is None else shifted(start, middle))
    except Interruption as stop:
        raise Interruption(shifted(stop.at, -middle)) from stop
    return replace(fitted, answer=replace(fitted.answer, vectors=shifted(fitted.answer.vectors, -middle)))


def _fit(rows: Counted, task: Task, options: Options, start: Floats | None) -> Fitted:
    if np.isfinite(options.C):
        try:
            answer = penalised(task, options.C, options.l1_ratio, options.tol, options.max_iter, start)
        except Interruption as stop:
            raise Interruption(stop.at.reshape(-1, task.d + 1)) from stop
        return Fitted(answer, options.penalty)
    fit = Likelihood(task, options.max_iter, start)
    try:
        return _unpenalised(rows, fit, options)
    except Interruption:
        raise
    except KeyboardInterrupt as stop:  # while existence was decided, or Firth's estimate sought
        raise Interruption(fit.answer().vectors) from stop


def _unpenalised(rows: Counted, fit: Likelihood, options: Options) -> Fitted:
    if options.firth:
        return _firth(fit, options, "Firth", None)
    given = rows.given(options.lift)
    existence = Existence("overlap", "circulation", given) if fit.settled else Existence.decide(given)
    if existence.exists:
        fit.go_on()
        return Fitted(fit.answer(), "maximum likelihood", existence, fit.dependent)
    choice = options.on_separation
    if choice == "auto":
        choice = "firth" if fit.parameters <= FIRTH_PARAMETERS else "ridge"
    if choice == "raise":
        raise SeparationError(
            existence.sentence(fit.whole.free) + "; fit with a penalty (C=), with bias_reduction='firth', "
            "or let on_separation choose."
        )
    if choice == "ignore":
        answer = replace(fit.answer(), status=Status.NO_MAXIMUM)
        return Fitted(answer, "maximum likelihood, stopped: no finite maximum exists", existence, fit.dependent)
    if choice == "firth":
        return _firth(fit, options, "Firth, since no finite maximum of the likelihood exists", existence)
    answer = replace(standardised_ridge(fit.whole, options.tol, options.max_iter), status=Status.NO_MAXIMUM)
    return Fitted(answer, "ridge (C=1, standardised), since no finite maximum of the likelihood exists", existence)


def _firth(fit: Likelihood, options: Options, method: str, existence: Existence | None) -> Fitted:
    answer = fit.firth()
    if options.flic:
        vectors = answer.vectors.copy()
        scores = fit.whole.scores(vectors)
        shift = likelihood_intercepts(scores, fit.whole.codes, fit.whole.weights)
        vectors[:, -1] += shift[1:] - shift[0] if len(vectors) == 1 else shift - shift.mean()
        answer, method = replace(answer, vectors=vectors, loss=None), method.replace("Firth", "Firth with FLIC", 1)
    if existence is not None and answer.status is Status.OPTIMAL:
        answer = replace(answer, status=Status.NO_MAXIMUM)
    return Fitted(answer, method, existence, fit.dependent)

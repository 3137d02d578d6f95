"""Whether a maximum exists for many classes, where the search has not proved it: by what costs little, round by round.

A proof of its own is about a row for each row and other class, and a vector for each class (Kesler's construction): of
5,000 rows, 20 columns and 100 classes it takes minutes to hours. Where classes can be separated, a ridge with a small
penalty does so within a second; where some can and others overlap, a few of them prove it (class_groups.py); and where
all overlap, the search proves it once it is nearer to the maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.logistic.class_groups import ClassGroups
from separatrix.models.logistic.existence import overlap_at, separates
from separatrix.models.logistic.likelihood_search import searched
from separatrix.models.logistic.logistic_ridge import standardised_ridge
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.numerics.status import Status
from separatrix.proofs.separability.verdict import Given

ROUNDS = ((1.0, 0), (100.0, 12), (1e4, 24), (1e5, 48))  # C of a ridge, and by how many steps the search goes on
GAP = 0.1  # how near the ridge is to its minimum: only its signs count
STEPS = 36  # of a search on some of the classes

Verdict = tuple[str, str]  # and what it is by


@dataclass(frozen=True)
class ManyClasses:
    """All columns, the independent ones, the rows for a proof, and the search.

    ``further`` goes on with the search by so many steps, and returns the verdict that it then proves and its
    probabilities; ``follows`` says whether all columns follow from the independent ones.
    """

    whole: LogisticProblem
    problem: LogisticProblem
    given: Given
    max_iter: float
    further: Callable[[float], tuple[Verdict | None, Floats]]
    follows: Callable[[], bool]

    def verdict(self) -> Verdict | None:
        groups = ClassGroups(self.given, self.some_classes)
        for C, more in ROUNDS:
            ridge = standardised_ridge(self.whole, GAP, self.max_iter, C)
            interrupted_by(ridge.status)
            if separates(self.whole, ridge.vectors):
                return "complete", "scores"
            verdict, P = self.further(more)
            if verdict is not None:
                return verdict
            if groups.quasi_separated(P):
                return "quasi", "groups"
        return None

    def some_classes(self, classes: NDArray[np.intp]) -> tuple[Floats, bool]:
        """The probabilities of a search on the rows of these classes, and whether they prove that these overlap."""
        problem = self.problem.rows(np.flatnonzero(np.isin(self.problem.codes, classes)))
        problem = replace(problem, codes=np.searchsorted(classes, problem.codes), classes=len(classes), offset=None)
        loss = problem.loss()
        run = searched(problem, loss, loss.point(np.zeros(loss.length)), STEPS)
        interrupted_by(run.status)
        return run.state.point.curvature, overlap_at(problem, run.state.point) and self.follows()


def interrupted_by(status: Status) -> None:
    """Pass Ctrl-C in a part of a stage on, which ends the stage."""
    if status is Status.INTERRUPTED:
        raise KeyboardInterrupt

"""What a logistic fit is given and what it returns: options, the rows in use, the problem on them, and the result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix import kernels
from separatrix.arrays import Floats
from separatrix.errors import DataError
from separatrix.losses.logistic import Logistic, dense
from separatrix.losses.objective import Objective
from separatrix.models.logistic.grouped import GroupedOutcomes, expanded
from separatrix.numerics.status import Status
from separatrix.proofs.certificate.certificate import CertifiedTable
from separatrix.proofs.separability.verdict import Given
from separatrix.rows.places import TableRows
from separatrix.rows.protocol import Rows, View
from separatrix.validation import Labels, Table

if TYPE_CHECKING:
    from separatrix.models.logistic.existence import Existence

GAP = 1e-8  # the relative gap at which a penalised fit ends, unless another is asked for


@dataclass(frozen=True)
class FitOptions:
    """Validated options of a fit; see :class:`separatrix.LogisticRegression`."""

    C: float
    l1_ratio: float
    firth: bool
    on_separation: str
    lift: bool
    calibration: str | None  # "flic" or "flac": after Firth's estimate
    tol: float | None
    max_iter: float

    @property
    def gap(self) -> float:
        """The relative gap at which a penalised fit ends."""
        return GAP if self.tol is None else self.tol

    @property
    def penalty(self) -> str:
        return "ridge" if self.l1_ratio == 0 else "lasso" if self.l1_ratio == 1 else "elastic net"


@dataclass(frozen=True)
class LogisticProblem:
    """Rows with their classes, wherever they live, and whether there is an intercept.

    ``X``, ``codes``, ``weights`` and ``offset`` ((n,) for two classes, (n, K) for more) are those of rows in memory.
    """

    rows: Rows
    lift: bool

    @staticmethod
    def of(
        X: Any, codes: Any, classes: int, weights: Floats | None = None, offset: Floats | None = None, lift: bool = True
    ) -> LogisticProblem:
        """The problem of rows in memory."""
        return LogisticProblem(TableRows(X, codes, classes, weights, offset), lift)

    def changed(self, **changes: Any) -> LogisticProblem:
        """The same rows in memory with another ``X``, ``codes``, ``classes``, ``weights``, ``offset`` or ``lift``."""
        given = {"X": self.X, "codes": self.codes, "classes": self.classes, "weights": self.weights}
        return LogisticProblem.of(**{**given, "offset": self.offset, "lift": self.lift, **changes})

    @property
    def table(self) -> TableRows:
        if not isinstance(self.rows, TableRows):
            raise DataError("this needs all rows in memory.")
        return self.rows

    @property
    def X(self) -> Any:
        return self.table.whole.X

    @property
    def codes(self) -> NDArray[np.intp]:
        codes: NDArray[np.intp] = self.table.whole.codes
        return codes

    @property
    def weights(self) -> Floats | None:
        return self.table.whole.weights

    @property
    def offset(self) -> Floats | None:
        return self.table.whole.offset

    @property
    def n(self) -> int:
        return self.rows.n

    @property
    def d(self) -> int:
        return self.rows.d

    @property
    def classes(self) -> int:
        return self.rows.classes

    @property
    def sparse(self) -> bool:
        return self.rows.sparse

    @property
    def vectors(self) -> int:
        """How many class vectors a fit has."""
        return 1 if self.classes == 2 else self.classes

    @property
    def saturated(self) -> bool:
        """Whether a class vector has as many parameters as there are rows: independent ones take any labels."""
        return self.n <= self.d + int(self.lift)

    @property
    def signs(self) -> NDArray[np.int8]:
        return kernels.in_blocks(lambda codes: 2 * (codes == 1).view(np.int8) - np.int8(1), self.codes)

    @property
    def counts(self) -> Floats:
        """Weights of the rows, 1 where none are given."""
        return self.table.whole.counts

    @property
    def class_offset(self) -> Floats | None:
        """The offset of all classes, (n, K)."""
        o = self.offset
        return o if o is None or o.ndim == 2 else np.column_stack([np.zeros(self.n), o])

    def objective(self, ridge: float = 0.0) -> Objective:
        """The loss of the rows plus a ridge."""
        return Objective(self.rows, Logistic(self.classes, self.lift), ridge)

    def some(self, part: Any) -> LogisticProblem:
        """Some of the rows in memory, by a slice or by numbers."""
        leaf = self.table.whole.part(part)
        return LogisticProblem.of(leaf.X, leaf.codes, self.classes, leaf.weights, leaf.offset, self.lift)

    def columns(self, kept: NDArray[np.intp]) -> LogisticProblem:
        """All rows with some of the columns."""
        return LogisticProblem(self.rows.view(View(columns=tuple(kept.tolist()))), self.lift)

    def scores(self, vectors: Floats) -> Floats:
        """Scores of all classes (n, K), offset included."""
        s = np.asarray(self.X @ vectors[:, :-1].T) + vectors[:, -1]
        if self.classes == 2:
            s = s if self.offset is None else s + self.offset[:, None]
            return np.column_stack([np.zeros(self.n), s])
        return s if self.offset is None else s + self.offset

    def parameters_of(self, vectors: Floats) -> Floats:
        """The parameters of an objective at these vectors of the classes."""
        loss = Logistic(self.classes, self.lift)
        return np.ascontiguousarray(loss.differences(np.asarray(vectors, dtype=np.float64))).reshape(-1).copy()

    def vectors_of(self, at: Floats) -> Floats:
        """The vectors of the classes at parameters of an objective: of all equivalent ones the shortest."""
        return Logistic(self.classes, self.lift).symmetric(at.reshape(-1, self.d + 1))

    def loss_at(self, vectors: Floats) -> float:
        """Minus the log-likelihood of lifted vectors."""
        return self.objective().point(self.parameters_of(vectors)).value

    def lifted(self) -> Floats:
        """Dense rows (x, 1), or x without an intercept."""
        return np.column_stack([dense(self.X), np.ones(self.n)]) if self.lift else dense(self.X)

    def against_first(self, vectors: Floats) -> Floats:
        """Coefficients (K - 1, p) of the log-odds against the first class, without the place of a missing intercept."""
        vectors = vectors if self.classes == 2 else vectors[1:] - vectors[0]
        return vectors if self.lift else vectors[:, :-1]


@dataclass(frozen=True, slots=True)
class LogisticResult:
    """Lifted vectors, one row each, with how the fit ended and what is known about it.

    ``loss`` is minus the log-likelihood, if known, ``gap`` a relative duality gap, and ``plan`` tells what ran.
    ``maxima`` are the penalised likelihoods of the maxima that searches for Firth's estimate reached, highest first,
    and ``leverages`` those of the rows at Firth's estimate, where FLAC gave them pseudo-rows.
    """

    vectors: Floats
    status: Status
    steps: int = 0
    loss: float | None = None
    gap: float | None = None
    method: str = "nothing"
    plan: str = ""
    existence: Existence | None = None
    dependent: tuple[int, ...] = ()
    maxima: tuple[float, ...] = ()
    leverages: Floats | None = None


@dataclass(frozen=True)
class UsedRows:
    """The rows of a fit with weight above zero, and their numbers in the table that was given.

    ``rest`` is for the fit of one class against the rest: the labels of all classes, and the number of that class.
    ``leverages`` are those that FLAC gave pseudo-rows by, and ``grouped`` successes and trials that the rows stand for.
    """

    table: Table
    labels: Labels
    weights: Floats | None
    offset: Floats | None
    origin: NDArray[np.int64] | None
    source: CertifiedTable
    rest: tuple[Labels, int] | None = None
    leverages: Floats | None = None
    grouped: GroupedOutcomes | None = None

    @staticmethod
    def of(table: Table, labels: Labels, weights: Floats | None, offset: Floats | None, analytic: bool) -> UsedRows:
        rows = UsedRows(table, labels, weights, offset, None, CertifiedTable(table, labels))
        if weights is not None and not weights.all():
            rows = rows._weighted(weights)
        if rows.weights is not None and analytic:
            rows = replace(rows, weights=rows.weights * (len(rows.weights) / rows.weights.sum()))
        return rows

    def _weighted(self, weights: Floats) -> UsedRows:
        """Without the rows of weight zero."""
        origin, classes = np.flatnonzero(weights), self.labels.classes
        codes = self.labels.codes[origin]
        missing = np.setdiff1d(np.arange(len(classes)), codes)
        if len(missing):
            raise DataError(
                f"class {classes[missing].tolist()[0]!r} has weight zero in all its rows: "
                "give some weight to it, or leave its rows out."
            )
        table, offset = Table(self.table.X[origin], self.table.names), self.offset
        offset = None if offset is None else np.ascontiguousarray(offset[origin])
        source = replace(self.source, dropped=tuple(np.flatnonzero(weights == 0).tolist()))
        return UsedRows(table, Labels(classes, codes), weights[origin], offset, origin, source)

    @staticmethod
    def of_groups(table: Table, successes: Floats, trials: Floats, offset: Floats | None) -> UsedRows:
        """Rows of grouped outcomes, one for the successes and one for the failures of each."""
        rows, labels, weights, shift, grouped = expanded(table, successes, trials, offset)
        return UsedRows(rows, labels, weights, shift, None, CertifiedTable(rows, labels), grouped=grouped)

    @property
    def names(self) -> list[str]:
        return list(self.table.names or (f"x{j}" for j in range(self.table.d)))

    @property
    def fractional(self) -> bool:
        """Whether some weight is not a whole number."""
        return self.weights is not None and bool((self.weights != np.rint(self.weights)).any())

    def problem(self, lift: bool) -> LogisticProblem:
        codes = self.labels.codes if len(self.labels.classes) == 2 else kernels.as_int64(self.labels.codes)
        return LogisticProblem.of(self.table.X, codes, len(self.labels.classes), self.weights, self.offset, lift)

    def against_rest(self, k: int) -> UsedRows:
        """The same rows, with class number k against all others."""
        two = Labels(np.array([False, True]), (self.labels.codes == k).astype(np.intp))
        return replace(self, labels=two, rest=(self.labels, k))

    def given(self, lift: bool) -> Given:
        """The same rows as data of a proof, with the classes that were given."""
        labels = self.labels if self.rest is None else self.rest[0]
        labels = Labels(labels.classes, np.asarray(labels.codes, dtype=np.intp))
        return Given(self.table, labels, self.origin, self.source, lift, "binary64")


MEASURED = 1000  # columns up to which a warning of a stalled search looks at their condition
NEARLY = 1e5  # condition of scaled columns from which on a warning calls them nearly dependent


def unfinished(status: Status, method: str, gap: float | None, C: float, condition: float = 1.0) -> str | None:
    """Why the fit is not at an optimum, if it is not; ``condition`` is that of the centred and scaled columns."""
    near = f"columns are nearly linearly dependent (condition {condition:.0e})" if condition >= NEARLY else ""
    if status is Status.ILL_CONDITIONED and gap is not None:
        cause = f"{near}: drop some" if near else f"rounding may hide a penalty of C={C:g}: scale the columns"
        return (
            f"no step improves any more, but the optimum is only proved to a relative gap of {gap:.1e}; {cause}, or "
            "lower C."
        )
    if status is Status.ILL_CONDITIONED and "maximum likelihood" in method:
        return (
            f"the estimate has few correct digits: {near or 'the classes are nearly separated'}; "
            f"{'drop some, or ' if near else ''}fit with a penalty (C=) or bias_reduction='firth'."
        )
    cut = (Status.MAX_ITERATIONS, Status.ILL_CONDITIONED, Status.NONFINITE)
    return f"not at the optimum: {status.value}{f'; {near}: drop some' if near else ''}." if status in cut else None

"""The candidate learners, and how each is fitted: on the columns as they are, or standardised."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.auditing.audit_table import AuditTable
from separatrix.auditing.budget import Session
from separatrix.auditing.phrasing import count
from separatrix.features.table_model import EncodedLearner
from separatrix.protocol import unfitted_copy

WIDEST = 3000  # columns up to which a covariance is formed
MAPPED_ROWS = 60  # from which feature maps are tried
MAPPED_COLUMNS = 1500  # coefficients that they may have
COEFFICIENTS = 300  # that an unpenalised fit may have
ROWS_EACH = 5  # rows for each coefficient of Firth's estimate: it errs most where there are as many of both
FIRTH = "logistic regression with Firth's correction"
SAFE = ("ridge logistic", "ridge")  # compared first, and never cut short


@dataclass(frozen=True)
class Candidate:
    """A learner under its common name; earlier candidates are preferred where the data do not decide between them."""

    name: str
    learner: Any
    title: str  # as a recommendation names it
    why: str = ""  # what speaks for it
    encoding: str = "none"  # columns as they are, "standard", or a feature map of standardised columns
    has_intervals: bool = False  # for its coefficients

    @property
    def linear(self) -> bool:
        """Whether it is linear in the columns of the table."""
        return self.encoding in ("none", "standard")

    @property
    def safe(self) -> bool:
        return self.name in SAFE


def candidates(table: AuditTable, session: Session, verdict: str | None) -> list[Candidate]:
    """The learners that suit the table and its size, in order of preference."""
    if table.regression:
        return _regressors(table, session)
    from separatrix.models.discriminant.linear_discriminant import LinearDiscriminant
    from separatrix.models.logistic.logistic_regression import LogisticRegression
    from separatrix.models.perceptron.averaged_perceptron import AveragedPerceptron

    out = []
    d, n, many = int(table.X.shape[1]), table.n, len(table.classes)  # learners hold every column, used or not
    coefficients = d * (many - 1)
    too_many = _too_many(session, verdict, n, coefficients)
    if too_many is None and verdict == "overlap":
        why = "it gives probabilities, and an interval for every coefficient"
        plain = LogisticRegression(on_separation="ridge")
        out.append(Candidate("logistic", plain, "logistic regression", why, has_intervals=True))
    elif too_many is None:
        why = "its estimates are finite where those of maximum likelihood are not; it gives probabilities and intervals"
        firth = LogisticRegression(bias_reduction="firth")
        out.append(Candidate("logistic (Firth)", firth, FIRTH, why, has_intervals=True))
    else:
        kind = "unpenalised logistic regression" if verdict == "overlap" else FIRTH
        session.clock.leave_out(kind, too_many)
    if verdict in ("complete", "quasi"):
        session.clock.leave_out(
            "unpenalised logistic regression", "its estimates are not finite: proved with the answer to question 1"
        )
    multiclass = "ovr" if many > 2 and d * many > 300 else "multinomial"
    ridge = LogisticRegression(C=1.0, multiclass=multiclass, tol=1e-5)
    title = f"logistic regression with a ridge penalty (C = 1{'' if table.sparse else ', standardised columns'})"
    why = "it gives probabilities and is stable when columns are correlated"
    out.append(Candidate("ridge logistic", ridge, title, why, "standard"))
    if d <= WIDEST and not (table.sparse and n * d > 50_000_000):
        shrinkage = "ledoit-wolf" if 5 * d > int(table.counts.min()) else None
        discriminant = LinearDiscriminant(shrinkage=shrinkage)
        why = "it has a closed form, and is optimal for normal classes with a common covariance"
        out.append(Candidate("linear discriminant", discriminant, "the linear discriminant", why))
    else:
        session.clock.leave_out("linear discriminant", "its covariance matrix would have too many columns")
    perceptron = AveragedPerceptron(max_iter=20, order="shuffle", random_state=session.seed)
    why = "it needs a few passes over the rows and assumes nothing about probabilities"
    out.append(Candidate("averaged perceptron", perceptron, "the averaged perceptron", why, "standard"))
    return [*out, *_mapped(table, session, "ridge logistic", ridge, "logistic regression with a ridge penalty")]


def _regressors(table: AuditTable, session: Session) -> list[Candidate]:
    from separatrix.models.least_squares.least_squares import LeastSquares

    ridge = LeastSquares(alpha=max(1.0, table.n / 1000))
    why = "it is stable when columns are correlated"
    out = [Candidate("ridge", ridge, "least squares with a ridge penalty (standardised columns)", why, "standard")]
    if table.X.shape[1] < table.n:
        why = "it is unbiased, with an interval for every coefficient"
        out.insert(0, Candidate("least squares", LeastSquares(), "least squares", why, has_intervals=True))
    else:
        session.clock.leave_out("least squares without a penalty", "there are at least as many columns as rows")
    return [*out, *_mapped(table, session, "ridge", ridge, "least squares with a ridge penalty")]


def _mapped(table: AuditTable, session: Session, name: str, learner: Any, title: str) -> list[Candidate]:
    """The safe choice on feature maps, where their columns fit into the budget."""
    if table.frame is None or table.sparse or table.n < MAPPED_ROWS or table.choices.map is not None:
        return []
    out = []
    sizes = {"poly:2": table.d * (table.d + 3) // 2, "splines": 5 * table.d}
    titles = {"poly:2": "squares and products of columns", "splines": "splines of columns"}
    for kind, columns in sizes.items():
        if columns * table.score_vectors <= MAPPED_COLUMNS and session.plan.allows(6 * _newton(table.n, columns), 0.15):
            why = f"it models what is not linear in the columns, by {titles[kind]}"
            made = Candidate(f"{name} on {kind}", learner, f"{title} on {titles[kind]} (--map {kind})", why, kind)
            out.append(made)
    return out


def _too_many(session: Session, verdict: str | None, n: int, coefficients: int) -> str | None:
    """Why there are too many coefficients for a fit without a penalty, or for Firth's; None where there are not."""
    if verdict != "overlap" and coefficients * ROWS_EACH > n:
        return f"{count(coefficients)} coefficients have fewer than {ROWS_EACH} rows each"
    if coefficients > COEFFICIENTS:
        return f"{count(coefficients)} coefficients are more than {COEFFICIENTS}"
    if not session.plan.allows(6 * (_newton if verdict == "overlap" else _firth)(n, coefficients), 0.3):
        return f"{count(coefficients)} coefficients of {count(n)} rows take more than their share of this budget"
    return None


def _newton(n: int, coefficients: int) -> float:
    return 0.02 + 3e-9 * n * coefficients**2


def _firth(n: int, coefficients: int) -> float:
    """About a hundred steps, each with the leverages of all rows."""
    return 0.02 + 3e-8 * n * coefficients**2


class OnRows:
    """A fitted learner that takes row numbers, in one column, instead of rows."""

    def __init__(self, learner: Any, X: Any) -> None:
        self.learner, self.X = learner, X
        if hasattr(learner, "classes_"):
            self.classes_ = learner.classes_

    @property
    def _estimator_type(self) -> str:
        return str(self.learner._estimator_type)

    def _taken(self, rows: Any) -> Any:
        return self.X[np.asarray(rows)[:, 0]]

    def predict(self, rows: Any) -> NDArray[Any]:
        """The predictions for these rows."""
        return np.asarray(self.learner.predict(self._taken(rows)))

    def __getattr__(self, name: str) -> Any:
        if name in ("decision_function", "predict_proba"):
            call = getattr(self.learner, name)
            return lambda rows: call(self._taken(rows))
        raise AttributeError(name)


def in_folds(table: AuditTable, candidate: Candidate) -> tuple[Any, Any]:
    """The learner and the rows as cross-validation takes them: the matrix itself where encoding learns nothing."""
    if table.frame is None or (table.plainly_numbers and candidate.encoding == "none"):
        return candidate.learner, table.X
    return EncodedLearner(table.shared[candidate.encoding], candidate.learner), table.shared["none"].rows()


def fit_on(
    table: AuditTable, candidate: Candidate, rows: NDArray[np.intp], weights: Floats | None = None
) -> tuple[Any, float]:
    """The learner fitted on some rows, and the seconds that fitting took; it predicts by row numbers."""
    y, weighted = table.task.y[rows], {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if table.frame is None or (table.plainly_numbers and candidate.encoding == "none"):
            X = table.X if len(rows) == table.n else table.X[rows]
            start = perf_counter()
            learner = unfitted_copy(candidate.learner).fit(X, y, **weighted)
            return OnRows(learner, table.X), perf_counter() - start
        shared = table.shared[candidate.encoding]
        mark, encoder = shared.encoder(rows)
        shared.encoded(rows, mark, encoder)
        model = EncodedLearner(shared, candidate.learner)
        start = perf_counter()
        model.fit(rows.reshape(-1, 1), y, **weighted)
        return model, perf_counter() - start


def inner(model: Any) -> Any:
    """The learner itself."""
    return model.learner_ if isinstance(model, EncodedLearner) else model.learner


@dataclass
class FullFits:
    """Candidates fitted on all rows, each once, with the seconds that it took."""

    table: AuditTable
    done: dict[str, tuple[Any, float]] = field(default_factory=dict)

    def of(self, candidate: Candidate) -> tuple[Any, float]:
        if candidate.name not in self.done:
            self.done[candidate.name] = fit_on(self.table, candidate, np.arange(self.table.n))
        return self.done[candidate.name]

    def misclassified(self, candidate: Candidate) -> int:
        """How many of all rows the candidate then misclassifies."""
        model, _ = self.of(candidate)
        return int(np.count_nonzero(model.predict(np.arange(self.table.n).reshape(-1, 1)) != self.table.task.y))

"""Who competes on the table, and how each is fitted: as it is, or on standardised columns."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.auditing.existence import Existence
from separatrix.auditing.study import Study
from separatrix.features.in_folds import EncodedLearner

WIDEST = 3000  # columns up to which a covariance is formed


@dataclass(frozen=True)
class Entrant:
    """A learner by the name people know it by; earlier ones are preferred where nothing tells them apart."""

    name: str
    learner: Any
    scale: str = "none"
    why: str = ""  # what speaks for it

    @property
    def scaled(self) -> bool:
        return self.scale == "standard"


def entrants(study: Study, existence: Existence | None) -> list[Entrant]:
    """The learners that suit the table and its size, in order of preference."""
    if study.regression:
        return _regressions(study)
    from separatrix.models.discriminant.linear_discriminant import LinearDiscriminant
    from separatrix.models.logistic.logistic_regression import LogisticRegression
    from separatrix.models.perceptron.averaged_perceptron import AveragedPerceptron

    assert existence is not None
    out = []
    d, n, many = int(study.X.shape[1]), study.n, len(study.classes)  # learners hold every column, used or not
    if existence.verdict == "overlap" and d * (many - 1) <= 300 and study.plan.allows(6 * _newton(n, d, many), 0.3):
        why = "the plain estimate: probabilities, and intervals for every coefficient"
        out.append(Entrant("logistic", LogisticRegression(on_separation="ridge"), why=why))
    elif existence.verdict != "overlap" and study.plan.allows(6 * _firth(n, d, many), 0.1) and d * (many - 1) <= 60:
        why = "finite where the plain estimate is not, with probabilities and intervals"
        out.append(Entrant("logistic (Firth)", LogisticRegression(bias_reduction="firth"), why=why))
    else:
        study.clock.leave_out(
            "unpenalised logistic regression", "too many coefficients for this budget, or none finite"
        )
    multiclass = "ovr" if many > 2 and d * many > 300 else "multinomial"
    ridge = LogisticRegression(C=1.0, multiclass=multiclass, tol=1e-5)
    out.append(Entrant("ridge logistic", ridge, "standard", "probabilities, steady where columns say the same"))
    if d <= WIDEST and not (study.sparse and n * d > 50_000_000):
        shrinkage = "ledoit-wolf" if 5 * d > int(study.counts.min()) else None
        discriminant = LinearDiscriminant(shrinkage=shrinkage)
        out.append(Entrant("linear discriminant", discriminant, why="a closed form, best for normal classes"))
    else:
        study.clock.leave_out("linear discriminant", "its covariance would have too many columns")
    perceptron = AveragedPerceptron(max_epochs=20, random_state=study.seed)
    out.append(Entrant("averaged perceptron", perceptron, "standard", "a few passes, no assumption about chances"))
    return out


def _regressions(study: Study) -> list[Entrant]:
    from separatrix.models.least_squares.least_squares import LeastSquares

    ridge = LeastSquares(alpha=max(1.0, study.n / 1000))
    out = [Entrant("ridge", ridge, "standard", "steady where columns say the same")]
    if study.X.shape[1] < study.n:
        out.insert(0, Entrant("least squares", LeastSquares(), why="unbiased, with intervals for every coefficient"))
    else:
        study.clock.leave_out("least squares without a penalty", "there are more columns than rows")
    return out


def _newton(n: int, d: int, many: int) -> float:
    return 0.02 + 3e-9 * n * (d * max(1, many - 1)) ** 2


def _firth(n: int, d: int, many: int) -> float:
    return 0.1 + 6e-8 * n * (d * max(1, many - 1)) ** 2


class OnRows:
    """A fitted learner that is asked by row numbers, in one column, as rows are dealt."""

    def __init__(self, learner: Any, X: Any) -> None:
        self.learner, self.X = learner, X
        if hasattr(learner, "classes_"):
            self.classes_ = learner.classes_

    def __sklearn_tags__(self) -> Any:
        return self.learner.__sklearn_tags__()

    def _taken(self, rows: Any) -> Any:
        return self.X[np.asarray(rows)[:, 0]]

    def predict(self, rows: Any) -> NDArray[Any]:
        """What the learner predicts for these rows."""
        return np.asarray(self.learner.predict(self._taken(rows)))

    def __getattr__(self, name: str) -> Any:
        if name in ("decision_function", "predict_proba"):
            call = getattr(self.learner, name)
            return lambda rows: call(self._taken(rows))
        raise AttributeError(name)


def in_folds(study: Study, entrant: Entrant) -> tuple[Any, Any]:
    """The learner as folds take it, and the rows to deal: the matrix itself where encoding learns nothing."""
    if study.frame is None or (study.plainly_numbers and not entrant.scaled):
        return entrant.learner, study.X
    return EncodedLearner(study.shared[entrant.scale], entrant.learner), study.shared["none"].rows()


def fitted_on(study: Study, entrant: Entrant, rows: NDArray[np.intp]) -> tuple[Any, float]:
    """The learner fitted on some rows, to be asked by row numbers; and the seconds that learning took."""
    if len(rows) < study.n:
        return _fitted(study, entrant, rows)
    if entrant.name not in study.fitted:
        study.fitted[entrant.name] = _fitted(study, entrant, rows)
    return study.fitted[entrant.name]


def _fitted(study: Study, entrant: Entrant, rows: NDArray[np.intp]) -> tuple[Any, float]:
    from sklearn.base import clone

    y = study.task.y[rows]
    if study.frame is None or (study.plainly_numbers and not entrant.scaled):
        X = study.X if len(rows) == study.n else study.X[rows]
        start = perf_counter()
        learner = clone(entrant.learner).fit(X, y)
        return OnRows(learner, study.X), perf_counter() - start
    shared = study.shared[entrant.scale]
    mark, encoder = shared.encoder(rows)
    shared.encoded(rows, mark, encoder)
    model = EncodedLearner(shared, entrant.learner)
    start = perf_counter()
    model.fit(rows.reshape(-1, 1), y)
    return model, perf_counter() - start


def inner(model: Any) -> Any:
    """The learner itself."""
    return model.learner_ if isinstance(model, EncodedLearner) else model.learner

"""A fitted model as pictures need it: predictions, leads of its classes, its hyperplane, in the caller's container."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.plotting.planes import Plane
from separatrix.validation import Labels, Table, check_labels, check_lengths, take_rows
from separatrix.validation.containers import is_frame

LOOKED = 50  # rows whose scores are compared
CHUNK = 4_000_000  # numbers that are passed to a model at once


@dataclass(frozen=True)
class ModelView:
    """A model and the table that is drawn; rows of numbers are passed to it in the container of that table."""

    model: Any
    given: Any
    table: Table

    def __post_init__(self) -> None:
        if isinstance(self.model, type) or not hasattr(self.model, "predict"):
            raise ParameterError(
                f"model is {self.model!r}: pass a fitted estimator, for instance Perceptron().fit(X, y)."
            )

    def contained(self, rows: Floats) -> Any:
        """Rows as the frame, or the array, that the model knows."""
        if not is_frame(self.given):
            return rows
        import narwhals.stable.v2 as nw

        frame = nw.from_native(self.given)
        columns = {name: rows[:, j] for j, name in enumerate(frame.collect_schema().names())}
        backend = frame.implementation
        eager: Any = backend if isinstance(frame, nw.DataFrame) else "polars" if backend.is_polars() else "pyarrow"
        return nw.from_dict(columns, backend=eager).to_native()

    @property
    def classes(self) -> list[Any] | None:
        """The classes of a classifier, None for a regressor."""
        found = getattr(self.model, "classes_", None)
        return None if found is None else np.asarray(found).tolist()

    @cached_property
    def hyperplane(self) -> tuple[Floats, float] | None:
        """w and b where one hyperplane in the columns of the table decides between two classes.

        The weights may be those of other columns (of a formula, or in another order): the scores tell.
        """
        coef, intercept = getattr(self.model, "coef_", None), getattr(self.model, "intercept_", None)
        if coef is None or intercept is None or self.classes is None or len(self.classes) != 2:
            return None
        w, b = np.asarray(coef, dtype=np.float64).ravel(), np.asarray(intercept, dtype=np.float64).ravel()
        whole = len(w) == self.table.d and len(b) == 1 and np.isfinite(w).all() and np.isfinite(b).all()
        if not whole or not w.any() or not hasattr(self.model, "decision_function"):
            return None
        some = np.arange(min(self.table.n, LOOKED))
        found = np.asarray(self.model.decision_function(take_rows(self.given, some)), dtype=np.float64)
        expected = np.asarray(self.table.X[: len(some)] @ w + b[0])
        same = found.shape == expected.shape and np.abs(found - expected).max() <= 1e-6 * np.abs(expected).max()
        return (w, float(b[0])) if same else None

    def predict(self, rows: Floats) -> NDArray[Any]:
        return np.asarray(self.model.predict(self.contained(rows)))

    def leads(self, plane: Plane, points: Floats) -> Floats:
        """For each class how far it leads the best other one at points of a plane: positive where it is predicted."""
        classes = self.classes
        assert classes is not None, "a classifier has classes"
        size = max(1, CHUNK // self.table.d)
        chunks = [points[begin : begin + size] for begin in range(0, len(points), size)]
        found = [self._outcomes(plane.rows(chunk), len(classes)) for chunk in chunks]
        predicted = np.concatenate([labels for labels, _ in found])
        scored = [scores for _, scores in found if scores is not None]
        said = np.column_stack([np.asarray(predicted == label, dtype=bool) for label in classes])
        if len(scored) == len(found):
            scores = np.concatenate(scored)
            others = np.array([np.delete(scores, k, axis=1).max(axis=1) for k in range(len(classes))]).T
            leads = scores - others
            clear = (leads != 0).all(axis=1) & said.any(axis=1)
            if np.isfinite(leads).all() and ((leads > 0) == said)[clear].all():
                return np.asarray(leads)
        return np.where(said, 1.0, -1.0)

    def _outcomes(self, rows: Floats, count: int) -> tuple[NDArray[Any], Floats | None]:
        return self.predict(rows), self._scores(rows, count)

    def _scores(self, rows: Floats, count: int) -> Floats | None:
        """One column a class, from the decision function or from probabilities."""
        if count < 2:
            return None
        for method in ("decision_function", "predict_proba"):
            score = getattr(self.model, method, None)
            if score is None:
                continue
            found = np.asarray(score(self.contained(rows)), dtype=np.float64)
            if found.ndim == 1 and count == 2:
                return np.column_stack([-0.5 * found, 0.5 * found])
            if found.ndim == 2 and found.shape[1] == count:
                return found
        return None


def labels_of(y: Any, n: int, classes: list[Any] | None) -> tuple[NDArray[np.intp], list[Any]]:
    """The class number of each row, and the names: those of the model, then others that y has."""
    if y is None:
        return np.zeros(n, dtype=np.intp), ["rows"]
    labels: Labels = check_labels(y)
    check_lengths(n, len(labels.codes), "y")
    own = labels.classes.tolist()
    names = list(classes or [])
    names += [name for name in own if name not in names]
    if classes is not None and not set(own) & set(classes):
        raise DataError(f"y has the classes {own[:5]} and the model {classes[:5]}: pass the labels of its kind.")
    return np.array([names.index(name) for name in own], dtype=np.intp)[labels.codes], names

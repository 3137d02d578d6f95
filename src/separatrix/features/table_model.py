"""A learner with the encoder of its table: an estimator for folds, and what ``separatrix fit`` makes and a file keeps.

A learner and its encoder as one estimator, so that folds fit both: no fold sees levels or medians of another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Frame, frame_from
from separatrix.data.number_writing import Writing, plain_number
from separatrix.data.reading_plan import TEXT, ColumnPlan, Reading
from separatrix.data.row_files import Matrix
from separatrix.data.typed_table import by_plan
from separatrix.errors import DataError
from separatrix.features.column_encoders import TRUTHS, CategoryColumn, Noted, NumberColumn
from separatrix.features.dates import DateColumn
from separatrix.features.encoder import AnyColumn, Choices, Encoder, without_counters
from separatrix.protocol import Estimator, unfitted_copy
from separatrix.validation.containers import is_frame

KEPT = 400_000_000  # bytes of encoded rows that are kept for the next learner on the same fold


class SharedTable:
    """A table that copies of an estimator share instead of copying, and what was made of its folds.

    Encoders do not look at the target, so learners on the same rows share them.
    """

    def __init__(self, frame: Frame, choices: Choices) -> None:
        self.frame = frame
        self.choices = without_counters(frame, choices)
        self._encoders: dict[bytes, Encoder] = {}
        self._rows: dict[tuple[bytes, bytes], Any] = {}

    def encoder(self, rows: NDArray[np.intp]) -> tuple[bytes, Encoder]:
        """The encoder fitted on these rows, with a mark for it."""
        mark = _mark(rows)
        if mark not in self._encoders:
            self._encoders[mark] = Encoder.fitted(self.frame.take(rows), self.choices)
        return mark, self._encoders[mark]

    def encoded(self, rows: NDArray[np.intp], mark: bytes, encoder: Encoder) -> Any:
        """These rows as that encoder makes them."""
        key = (mark, _mark(rows))
        if key not in self._rows:
            made = encoder.encode(self.frame.take(rows))[0]
            while self._rows and sum(map(_bytes, self._rows.values())) + _bytes(made) > KEPT:
                self._rows.pop(next(iter(self._rows)))
            self._rows[key] = made
        return self._rows[key]

    def __deepcopy__(self, memo: dict[int, Any]) -> SharedTable:
        return self

    def rows(self) -> NDArray[np.intp]:
        """The numbers of all rows, as one column."""
        return np.arange(self.frame.n).reshape(-1, 1)


class EncodedLearner(Estimator):
    """Encode some rows of a table, then learn from them; X holds the numbers of the rows, in one column."""

    def __init__(self, table: SharedTable, learner: Any) -> None:
        self.table = table
        self.learner = learner

    @classmethod
    def fitted(cls, table: SharedTable, encoder: Any, learner: Any) -> Self:
        """One that has learned already."""
        made = cls(table, learner)
        made.encoder_, made.learner_ = encoder, learner
        made._encoder_mark = f"given {id(encoder)}".encode()
        made._take_over()
        return made

    @property
    def _estimator_type(self) -> str:  # type: ignore[override]  # that of the learner
        return str(self.learner._estimator_type)

    def __sklearn_tags__(self) -> Any:
        return self.learner.__sklearn_tags__()

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.learner)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the encoder on these rows, and the learner on what it makes of them."""
        rows = np.asarray(X)[:, 0]
        self._encoder_mark, self.encoder_ = self.table.encoder(rows)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        encoded = self.table.encoded(rows, self._encoder_mark, self.encoder_)
        self.learner_ = unfitted_copy(self.learner).fit(encoded, y, **weights)
        self._take_over()
        return self

    def _take_over(self) -> None:
        for name in ("classes_", "status_", "n_iter_", "method_"):
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        self.n_features_in_ = 1

    def _encoded(self, X: Any) -> Any:
        self._check_fitted()
        return self.table.encoded(np.asarray(X)[:, 0], self._encoder_mark, self.encoder_)

    def predict(self, X: Any) -> NDArray[Any]:
        """What the learner predicts for these rows."""
        return np.asarray(self.learner_.predict(self._encoded(X)))

    @property
    def decision_function(self) -> Any:
        """The learner's scores, if it has any."""
        score = self.learner_.decision_function
        return lambda X: score(self._encoded(X))

    @property
    def predict_proba(self) -> Any:
        """The learner's probabilities, if it has any."""
        chances = self.learner_.predict_proba
        return lambda X: chances(self._encoded(X))


def _mark(rows: NDArray[np.intp]) -> bytes:
    return blake2b(np.ascontiguousarray(rows).tobytes(), digest_size=16).digest()


def _bytes(X: Any) -> int:
    return int(X.nbytes) if isinstance(X, np.ndarray) else int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


LABELS = 1 << 16  # that are made text together


@dataclass(slots=True)
class TableModel:
    """A fitted learner, the encoder in front of it, and what they were fitted on.

    ``encoder`` is None where the rows were numbers already; ``positive`` is the class that scores are for
    where there are two.
    """

    learner: Any
    encoder: Encoder | None = None
    target: str | None = None
    positive: Any = None
    about: dict[str, Any] = field(default_factory=dict)

    def rows(self, table: Frame | Matrix, strict: bool = False) -> tuple[Any, dict[str, Noted]]:
        """The rows as the learner takes them."""
        if isinstance(table, Matrix):
            if self.encoder is not None:
                raise DataError(
                    f"{table.source} holds rows without column names, but the model was fitted on columns "
                    f"({', '.join(self.encoder.inputs[:5])}, …): pass a table."
                )
            return self._as_wide(table.X, table.source), {}
        if self.encoder is None:
            raise DataError(
                f"{table.source} is a table, but the model was fitted on rows of {self.learner.n_features_in_} "
                "numbers without names: pass an svmlight file or an array."
            )
        return self.encoder.encode(table, strict)

    def _as_wide(self, X: Any, source: str) -> Any:
        """Sparse rows whose last features do not occur are widened; features beyond those of the fit are an error."""
        d = self.learner.n_features_in_
        if X.shape[1] == d:
            return X
        if isinstance(X, np.ndarray) or X.shape[1] > d:
            raise DataError(f"{source} has {X.shape[1]:,} features, but the model was fitted on {d:,}.")
        wide = X.copy()
        wide.resize((X.shape[0], d))
        return wide

    @property
    def reading(self) -> Reading:
        """How new tables are to be read: as the training table was."""
        known = {own.name: plan for own in self.encoder.columns if (plan := _plan_of(own))} if self.encoder else {}
        target, na = self.about.get("target_writing"), self.about.get("na", ())
        try:
            if target is not None and self.target is not None:
                known[self.target] = ColumnPlan("number", Writing.from_dict(target))
            if not all(isinstance(word, str) for word in na):
                raise TypeError("words for missing values")
        except (TypeError, ValueError) as error:
            raise DataError(f"the model file is damaged: what it says about its table is {error}.") from error
        return Reading(na=tuple(na), columns=tuple(known.items()), fitted=True)

    @property
    def classes(self) -> list[Any] | None:
        return self.learner.classes_.tolist() if hasattr(self.learner, "classes_") else None

    def as_classes(self, labels: NDArray[Any], source: str) -> NDArray[Any]:
        """The labels of another file in the type of the model's classes: text for a number, true for True.

        A label that is not a class stays as it is; text among numbers, and a number among truth values, is refused.
        """
        classes = self.classes
        assert classes is not None
        own = type(classes[0])
        known = {_as_text(label): label for label in classes} | {label: label for label in classes}
        made = [known.get(v, known.get(_as_text(v), v)) for v in labels.tolist()]
        if own is str:
            return np.array([str(v) for v in made], dtype=object)
        strange = next((v for v in made if (own is bool) != isinstance(v, bool) or isinstance(v, str)), None)
        if strange is not None:
            listed = ", ".join(map(str, classes[:5])) + ", …" * (len(classes) > 5)
            raise DataError(f"{source} has the label {strange!r}, but the classes of the model are {listed}.")
        return np.array(made)

    def predict(self, X: Any) -> dict[str, NDArray[Any]]:
        """The columns that a prediction adds: the class and its scores (probabilities too), or the number.

        Rows are as the learner takes them, or a frame or a dict of columns like those of the training table.
        """
        if self.encoder is not None and (is_frame(X) or isinstance(X, Mapping)):
            reading = self.reading
            X, _ = self.rows(by_plan(frame_from(X), reading.known, reading))
        if self.classes is None:
            return {"prediction": self.learner.predict(X)}
        out = {"prediction": self.learner.predict(X)}
        scores = np.asarray(self.learner.decision_function(X))
        if scores.ndim == 1:
            sign = -1.0 if self.positive is not None and self.positive == self.classes[0] else 1.0
            out["score"] = sign * scores
        else:
            out.update({f"score_{label}": scores[:, k] for k, label in enumerate(self.classes)})
        if hasattr(self.learner, "predict_proba"):
            chances = self.learner.predict_proba(X)
            out.update({f"probability_{label}": chances[:, k] for k, label in enumerate(self.classes)})
        return out


def _plan_of(column: AnyColumn) -> ColumnPlan | None:
    """How a column of a new table is to be read; None where its first rows decide: truth values have many spellings."""
    own = column.days if isinstance(column, DateColumn) else column
    source = own.source if isinstance(own, (NumberColumn, CategoryColumn)) else "text"
    if source == "date":
        return ColumnPlan("date", format=own.format) if isinstance(own, NumberColumn) and own.format else None
    if source in ("number", "integer"):
        return ColumnPlan("number", (own.writing if isinstance(own, NumberColumn) else None) or Writing())
    return TEXT if source == "text" else None


def _as_text(label: Any) -> str:
    """A label as every file writes it: numbers by their value, truth values in lower case."""
    text = str(label)
    number = plain_number(text)
    return repr(number) if number is not None else text.lower() if text.lower() in TRUTHS else text


def fingerprint(X: Any, y: NDArray[Any]) -> str:
    """SHA-256 of encoded rows and their labels."""
    digest = hashlib.sha256()
    for array in (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr):
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
    for begin in range(0, len(y), LABELS):
        text = "\n".join(map(str, y[begin : begin + LABELS].tolist()))
        digest.update(("\n" * (begin > 0) + text).encode("utf-8", "replace"))
    return digest.hexdigest()

"""A learner with the encoder of its table: what ``separatrix fit`` makes and a model file keeps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.data.dialect import Reading
from separatrix.data.frame import Frame
from separatrix.data.number_writing import Writing, plain_number
from separatrix.data.row_files import Matrix
from separatrix.errors import DataError
from separatrix.features.column_encoders import TRUTHS, Noted, NumberColumn
from separatrix.features.encoder import WORDY_COLUMNS, Encoder

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
    def wordy(self) -> tuple[str, ...]:
        """The columns of free text, which are to be read as they are written."""
        return (
            () if self.encoder is None else tuple(c.name for c in self.encoder.columns if isinstance(c, WORDY_COLUMNS))
        )

    @property
    def reading(self) -> Reading:
        """How new tables are to be read: as the training table was."""
        inputs = () if self.encoder is None else tuple(self.encoder.inputs)
        columns = [] if self.encoder is None else self.encoder.columns
        known = {c.name: c.writing for c in columns if isinstance(c, NumberColumn) and c.writing is not None}
        target = self.about.get("target_writing")
        na = self.about.get("na", ())
        try:
            if target is not None and self.target is not None:
                known[self.target] = Writing.from_dict(target)
            if not all(isinstance(word, str) for word in na):
                raise TypeError("words for missing values")
        except (TypeError, ValueError) as error:
            raise DataError(f"the model file is damaged: what it says about its table is {error}.") from error
        return Reading(na=tuple(na), text=self.wordy, as_written=inputs, numbers=tuple(known.items()))

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
        """The columns that a prediction adds: the class and its scores (probabilities too), or the number."""
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

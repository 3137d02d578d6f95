"""A learner and its encoder as one estimator, so that folds fit both: no fold sees levels or medians of another."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.data.frame import Frame
from separatrix.features.encoder import Choices, Encoder
from separatrix.protocol import Estimator, unfitted_copy

KEPT = 400_000_000  # bytes of encoded rows that are kept for the next learner on the same fold


class SharedTable:
    """A table that copies of an estimator share instead of copying, and what was made of its folds.

    Encoders do not look at the target, so learners on the same rows share them.
    """

    def __init__(self, frame: Frame, choices: Choices) -> None:
        self.frame = frame
        self.choices = choices
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

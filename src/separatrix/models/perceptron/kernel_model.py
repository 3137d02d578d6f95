"""Scores from support rows and a kernel, what a model file keeps of them, and learning from rows as they arrive."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.errors import DataError, ParameterError
from separatrix.models.class_labels import declared_classes, weights_in_chunk
from separatrix.models.linear_predictors import Classifier
from separatrix.models.perceptron.kernel_columns import Kernel, SupportRows, kernel_matrix, norms2
from separatrix.models.perceptron.kernel_stream import KernelStream
from separatrix.numerics.status import Status
from separatrix.protocol import ChunkLearner
from separatrix.validation import Table, check_table, check_weights


class KernelModel(Classifier):
    """A classifier by s(x) = sum_j a_j (k(x_j, x) + 1); subclasses learn the support rows and their weights."""

    kernel: Any
    gamma: float | None
    degree: int
    coef0: float
    fit_intercept: bool
    support_: Indices
    dual_coef_: Floats
    n_features_in_: int
    epoch_mistakes_: Any
    _support: SupportRows | None

    def _built_in(self, d: int) -> Kernel | None:
        """The kernel by its name, or None where it is a function or a matrix."""
        if callable(self.kernel) or self.kernel == "precomputed":
            return None
        gamma = 1.0 / d if self.gamma is None else float(self.gamma)
        return Kernel(self.kernel, gamma, float(self.coef0), int(self.degree))

    @property
    def support_vectors_(self) -> Any:
        """The support rows, as an array or a CSR matrix."""
        self._check_fitted()
        if self._support is None:
            raise AttributeError("a precomputed kernel has no support vectors: see support_")
        return self._support.table()

    def _kept(self) -> dict[str, Any]:
        """The support rows, dense or as the three arrays of CSR."""
        if self._support is None:
            return {}
        rows = self._support.table()
        if isinstance(rows, np.ndarray):
            return {"rows": rows}
        return {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    def _restore(self, kept: dict[str, Any]) -> None:
        """Support rows of the number and width that the model says."""
        self._support = None
        shape = (len(self.support_), self.n_features_in_)
        if self.dual_coef_.shape[1:] != shape[:1]:
            raise ValueError("support rows and their coefficients do not agree")
        if self.kernel == "precomputed" and not kept:
            return
        rows: Any = kept["rows"] if set(kept) == {"rows"} else None
        if rows is None:
            from scipy.sparse import csr_array

            rows = csr_array((kept["data"], kept["indices"], kept["indptr"]), shape=shape)
            rows.check_format()
        table = check_table(rows)
        if table.X.shape != shape:
            raise ValueError("the support rows have another shape")
        self._support = SupportRows.of(table.X)

    def decision_function(self, X: Any) -> Floats:
        """s(x) for each row; with more than two classes one column per class. Precomputed: k(row, row of the fit).

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        array of shape (n,), or (n, K) for K > 2 classes

        Examples
        --------
        >>> from separatrix import KernelPerceptron
        >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
        >>> KernelPerceptron().fit(X, y).decision_function(X).round(2)
        array([-0.15,  0.15,  0.15, -0.15])
        """
        return self._shown(self._scores(self._check_rows(X)))

    def _scores_as_given(self, X: Any) -> Floats:
        return self._shown(self._scores(check_table(X)))

    @staticmethod
    def _shown(scores: Floats) -> Floats:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, table: Table) -> Floats:
        one, kernel = float(self.fit_intercept), self._built_in(table.d)
        if kernel is not None and self._support is not None:
            out = np.empty((table.n, len(self.dual_coef_)))
            rows, support = kernels.rows(table.X), self._support
            arguments = (support.view(), support.norm2[: support.n], self.dual_coef_, rows, norms2(rows))
            kernels.kernel_scores(*arguments, *kernel.arguments(), one, out)
        elif self._support is None:
            picked = table.X[:, self.support_]
            out = (picked.toarray() if table.sparse else picked).astype(np.float64) @ self.dual_coef_.T
            out += one * self.dual_coef_.sum(axis=1)
        else:
            matrix = kernel_matrix(self.kernel, table.X, self._support.table())
            out = (matrix + one) @ self.dual_coef_.T
        return out


class KernelStreaming(KernelModel, ChunkLearner):
    """``partial_fit`` of the kernel perceptron."""

    tie: str
    max_support: float
    class_weight: Any
    _stream_state: ClassVar[tuple[str, ...]] = ("_stream",)

    def _state_agrees(self) -> bool:
        return np.array_equal(self._stream.shown(), self.dual_coef_)

    def _goes_on_by_weights(self) -> bool:
        return True

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from each row once, in arrival order; the result does not depend on how rows are chunked.

        Without ``classes`` new ones are learned as they appear. ``class_weight="balanced"`` and a
        precomputed matrix need all rows and are refused here.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.
        y : array
            One label a row.
        classes : array or None
            All classes, in the first call; None: they join as they appear.
        sample_weight : array or None
            Weights of the rows; one at least must not be zero, as in scikit-learn. None: all 1.

        Returns
        -------
        self
            The fitted learner.

        Examples
        --------
        >>> from separatrix import KernelPerceptron
        >>> model = KernelPerceptron().partial_fit([[0.0], [4.0]], ["no", "yes"]).partial_fit([[1.0]], ["no"])
        >>> model.predict([[5.0]]).tolist()
        ['yes']
        """
        self._check_parameters()
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ParameterError("kernel='precomputed' needs all rows at once: use fit, or another kernel.")
        fitted = self.__sklearn_is_fitted__()
        table, labels = self._chunk(X, y)
        step = weights_in_chunk(labels, check_weights(sample_weight, table.n, rows=X), self.class_weight)
        stream = self._streaming(table, declared_classes(classes)).copy()
        stream.learn(table, labels.classes[labels.codes], step)
        if not fitted:
            self._remember_features(table)
        self._stream, self._streamed = stream, True
        self.classes_ = np.array(stream.classes)
        self._support, self.dual_coef_ = stream.support, stream.shown()
        self.support_ = np.arange(stream.support.n)
        self.mistakes_, self.visits_, self.forgotten_ = stream.updates, stream.visits, stream.forgotten
        self.n_iter_, self.epoch_mistakes_ = 1, np.array([self.mistakes_])
        self.status_ = Status.STREAMED
        self.__dict__.pop("errors_", None)
        return self

    def _streaming(self, table: Table, declared: list[Any] | None) -> KernelStream:
        stream: KernelStream | None = self.__dict__.get("_stream")
        if stream is not None and not np.array_equal(stream.shown(), self.dual_coef_):
            stream = None  # weights were assigned
        kernel = self._built_in(table.d)
        function = self.kernel if kernel is None else kernel
        if stream is None and self.__sklearn_is_fitted__():
            if self._support is None:
                raise DataError("the model was fitted on a precomputed matrix: fit it anew to go on with rows.")
            count = len(self.classes_) if len(self.classes_) > 2 else 1
            if np.shape(self.dual_coef_) != (count, self._support.n):
                raise DataError(
                    f"dual_coef_ has shape {np.shape(self.dual_coef_)}, but the model has {len(self.classes_)} classes "
                    f"and {self._support.n} support rows: assign one weight for each."
                )
            stream = KernelStream(function, False, self.classes_.tolist(), self._support, self.dual_coef_)
        if stream is None:
            stream = KernelStream.begin(function, declared, SupportRows(table.d, table.sparse))
        elif declared is not None and declared != stream.classes:
            raise DataError(f"classes={declared} is not the same as on the last call, which had {stream.classes}.")
        stream.one, stream.zero_is_mistake = float(self.fit_intercept), self.tie == "mistake"
        stream.max_support = self.max_support
        return stream

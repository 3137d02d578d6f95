"""Kernel perceptrons that learn from rows as they arrive."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from separatrix.errors import DataError, ParameterError
from separatrix.models.class_labels import weights_of_rows
from separatrix.models.perceptron.kernel_model import KernelModel
from separatrix.models.perceptron.kernel_stream import KernelStream
from separatrix.models.perceptron.support_rows import SupportRows
from separatrix.numerics.status import Status
from separatrix.validation import Table, check_labels, check_lengths, check_weights


class KernelStreaming(KernelModel):
    """``partial_fit`` of the kernel perceptron."""

    _routed: ClassVar[dict[str, tuple[str, ...]]] = {
        "fit": ("sample_weight",),
        "partial_fit": ("sample_weight", "classes"),
        "score": ("sample_weight",),
    }

    tie: str
    max_support: float
    class_weight: Any

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
            Weights of the rows; None: all 1.

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
        if isinstance(self.class_weight, str):
            raise ParameterError("class_weight='balanced' needs all rows at once: pass a dict, or sample_weight.")
        fitted = self.__sklearn_is_fitted__()
        table = self._check_rows(X) if fitted else self._fit_table(X, stream=True)
        labels = check_labels(y, rows=X)
        check_lengths(table.n, len(labels.codes), "y")
        weights = check_weights(sample_weight, table.n, rows=X)
        here = self.class_weight
        if here is not None:
            here = {label: w for label, w in here.items() if label in labels.classes.tolist()}
        step = weights_of_rows(labels, weights, here)
        declared = None if classes is None else check_labels(classes, what="classes").classes.tolist()
        stream = self._streaming(table, declared).copy()
        stream.learn(table, labels.classes[labels.codes], step)
        if not fitted:
            self._remember_features(table)
        self._stream = stream
        self.classes_ = np.array(stream.classes)
        self._support, self.dual_coef_ = stream.support, stream.shown()
        self.support_ = np.arange(stream.support.n)
        self.mistakes_, self.visits_, self.forgotten_ = stream.updates, stream.visits, stream.forgotten
        self.n_iter_, self.epoch_mistakes_ = 1, np.array([self.mistakes_])
        self.status_ = Status.STREAMED
        self.__dict__.pop("errors_", None)
        return self

    def set_partial_fit_request(self, **wishes: Any) -> Self:
        """Which metadata a router should pass to ``partial_fit``.

        Parameters
        ----------
        **wishes : True, False, None or str by name
            True: pass it; False: do not; None: an error where it is given; a text: pass it under that name.

        Returns
        -------
        self
            The learner, with the request.

        Examples
        --------
        >>> import sklearn
        >>> from separatrix import KernelPerceptron
        >>> with sklearn.config_context(enable_metadata_routing=True):
        ...     model = KernelPerceptron().set_partial_fit_request(sample_weight=True)
        ...
        >>> model.get_metadata_routing().partial_fit.requests["sample_weight"]
        True
        """
        return self._set_request("partial_fit", wishes)

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
            stream = KernelStream.closed(function, self.classes_.tolist(), self._support, self.dual_coef_)
        if stream is None:
            stream = KernelStream.begin(function, declared, SupportRows(table.d, table.sparse))
        elif declared is not None and declared != stream.classes:
            raise DataError(f"classes={declared} is not the same as on the last call, which had {stream.classes}.")
        stream.one, stream.zero_is_mistake = float(self.fit_intercept), self.tie == "mistake"
        stream.max_support = self.max_support
        return stream

"""Scores from support rows and a kernel, and what a model file keeps of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import kernels
from separatrix.arrays import Floats, Indices
from separatrix.models.linear_classifier import Classifier
from separatrix.models.perceptron.kernel_columns import (
    Kernel,
    kernel_matrix,
    norms2,
)
from separatrix.models.perceptron.support_rows import SupportRows
from separatrix.validation import Table, check_table


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

"""The kernels behind one door: native code by default, readable Python on request.

``SEPARATRIX_BACKEND=reference`` runs everything on ``kernels/reference``; ``SEPARATRIX_ISA`` forces
a level (``baseline``, ``avx2``, ``avx512``) instead of the best that the processor has. Both are
read once, at import. The two backends agree to the bit wherever the order of sums is ours.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import BackendError

if TYPE_CHECKING:
    from separatrix.kernels import _native as _kernels

LEVELS = ("baseline", "avx2", "avx512")


def _load() -> tuple[Any, str, str]:
    chosen = os.environ.get("SEPARATRIX_BACKEND", "native")
    if chosen == "reference":
        return importlib.import_module("separatrix.kernels.reference"), "reference", "none"
    if chosen != "native":
        raise BackendError(f"SEPARATRIX_BACKEND is {chosen!r}: it can be 'native' or 'reference'.")
    try:
        best = importlib.import_module("separatrix.kernels._cpu").level()
        level = os.environ.get("SEPARATRIX_ISA", best)
        if level not in LEVELS:
            raise BackendError(f"SEPARATRIX_ISA is {level!r}: it can be {', '.join(LEVELS)}.")
        if LEVELS.index(level) > LEVELS.index(best):
            raise BackendError(f"SEPARATRIX_ISA is {level!r}, but this processor ends at {best!r}.")
        return importlib.import_module(f"separatrix.kernels._native_{level}"), "native", level
    except ModuleNotFoundError as missing:
        raise BackendError(
            f"the compiled kernels are not installed ({missing.name}); "
            "install the package with a C++ compiler, or set SEPARATRIX_BACKEND=reference."
        ) from missing


if not TYPE_CHECKING:
    _kernels, backend, isa = _load()
else:
    backend: str
    isa: str

Rows = _kernels.Rows
Word = NDArray[np.uint64]
scores = _kernels.scores
class_errors = _kernels.class_errors
class_scores = _kernels.class_scores
first_nonfinite = _kernels.first_nonfinite
norms2 = _kernels.norms2
errors = _kernels.errors
words = _kernels.words
shuffle = _kernels.shuffle
perceptron_pass = _kernels.perceptron_pass
perceptron_restart = _kernels.perceptron_restart
perceptron_worst = _kernels.perceptron_worst
perceptron_any = _kernels.perceptron_any
PlainRule = _kernels.PlainRule
AveragedRule = _kernels.AveragedRule
MarginRule = _kernels.MarginRule
PassiveAggressiveRule = _kernels.PassiveAggressiveRule
ArowDiagonalRule = _kernels.ArowDiagonalRule
ArowFullRule = _kernels.ArowFullRule
block_rows = _kernels.block_rows
moments_add = _kernels.moments_add
moments_flush = _kernels.moments_flush
residual_gradient = _kernels.residual_gradient
augmented_defects = _kernels.augmented_defects
descent_pass = _kernels.descent_pass
mean_loss = _kernels.mean_loss
decide = _kernels.decide
exact_signs = _kernels.exact_signs
bounded_scores = _kernels.bounded_scores
opposites = _kernels.opposites
line_minimum = _kernels.line_minimum
zero_one_descent = _kernels.zero_one_descent
MistakeTree = _kernels.MistakeTree
nearest_hulls = _kernels.nearest_hulls
nearest_products = _kernels.nearest_products
voted_pass = _kernels.voted_pass
votes = _kernels.votes
pocket_pass = _kernels.pocket_pass
pocket_count = _kernels.pocket_count
kernel_column = _kernels.kernel_column
kernel_scores = _kernels.kernel_scores
kernel_update = _kernels.kernel_update
first_mistake = _kernels.first_mistake
LateScores = _kernels.LateScores
count_byte = _kernels.count_byte
svmlight_chunk = _kernels.svmlight_chunk
delimited_chunk = _kernels.delimited_chunk
logistic_pass = _kernels.logistic_pass
curvature_product = _kernels.curvature_product
curvature_diagonal = _kernels.curvature_diagonal
rows_above = _kernels.rows_above
lasso_pass = _kernels.lasso_pass
curved_pass = _kernels.curved_pass
gram_pass = _kernels.gram_pass
weighted_sums = _kernels.weighted_sums
turned = _kernels.turned
combine = _kernels.combine
chosen_gram = _kernels.chosen_gram
class_lasso_pass = _kernels.class_lasso_pass


def rows(X: Any) -> Rows:
    """A view of checked rows: a C-order float array, or a CSR matrix."""
    if isinstance(X, np.ndarray):
        return Rows.dense(X)
    return Rows.csr(X.data, X.indices, X.indptr, X.shape[1])


def aligned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """A copy that begins on a cache line: weights that a pass reads at every row cost a quarter less there."""
    room = np.empty(values.size + 8)
    begin = -(room.__array_interface__["data"][0] // 8) % 8
    out = room[begin : begin + values.size].reshape(values.shape)
    out[...] = values
    return out


def one_row(values: NDArray[np.float64], columns: NDArray[np.int64] | None, d: int) -> Rows:
    """A view of one checked row: all d numbers, or those stored."""
    if columns is None:
        return Rows.dense(values[None])
    return Rows.csr(values, columns, np.array([0, len(values)]), d)

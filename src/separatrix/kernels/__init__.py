"""The compiled kernels behind one door.

``SEPARATRIX_ISA`` forces a level (``baseline``, ``avx2``, ``avx512``) instead of the best that was built and the
processor has; it is read once, at import. All levels agree to the bit wherever the order of sums is ours, and so do the
readable kernels of ``tests/reference``, which say in Python what each of them computes.
"""

from __future__ import annotations

import importlib
import os
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import BackendError
from separatrix.kernels.parallel_passes import as_int64 as as_int64
from separatrix.kernels.parallel_passes import in_blocks as in_blocks
from separatrix.kernels.parallel_passes import on_all_cores
from separatrix.kernels.parallel_passes import row_blocks as row_blocks
from separatrix.kernels.parallel_passes import row_numbers as row_numbers
from separatrix.kernels.parallel_passes import total as total
from separatrix.kernels.thread_pool import each_part as each_part
from separatrix.kernels.thread_pool import thread_count as thread_count
from separatrix.kernels.thread_pool import threads as threads

LEVELS = ("baseline", "avx2", "avx512")


def _load(forced: str | None) -> tuple[ModuleType, str]:
    """The compiled module of the level that was asked for, or of the best one; and that level."""
    if forced is not None and forced not in LEVELS:
        raise BackendError(f"SEPARATRIX_ISA is {forced!r}: it can be {', '.join(LEVELS)}.")
    able = _able()
    if forced is not None and forced not in able:
        raise BackendError(f"SEPARATRIX_ISA is {forced!r}, but this processor ends at {able[-1]!r}.")
    for level in reversed(able) if forced is None else (forced,):
        if (module := _compiled(level)) is not None:
            return module, level
    if forced is not None:
        raise BackendError(
            f"SEPARATRIX_ISA is {forced!r}, which was not built; install the package with SEPARATRIX_LEVELS=all."
        )
    raise _not_installed()


def _able() -> tuple[str, ...]:
    """The levels that this processor has, the baseline first."""
    try:
        best = importlib.import_module("separatrix.kernels._cpu").level()
    except ModuleNotFoundError as missing:
        raise _not_installed() from missing
    return LEVELS[: LEVELS.index(best) + 1]


def _compiled(level: str) -> ModuleType | None:
    """The module of a level; a build need not have every level."""
    name = f"separatrix.kernels._native_{level}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != name:
            raise
        return None


def native_modules() -> list[ModuleType]:
    """The compiled modules of every level that was built and that this processor has, the baseline first."""
    return [module for level in _able() if (module := _compiled(level)) is not None]


def _not_installed() -> BackendError:
    return BackendError(
        "the compiled kernels are not installed: install a wheel, or the source with a C++ compiler (pip install .)."
    )


if TYPE_CHECKING:
    from separatrix.kernels._native import *

    isa: str

    def looking_ahead(rows: Rows, last_updates: int = 0) -> AbstractContextManager[Lookahead | None]: ...

else:
    _kernels, isa = _load(os.environ.get("SEPARATRIX_ISA"))
    for _name, _value in vars(_kernels).items():
        if not _name.startswith("_") and not isinstance(_value, ModuleType):
            globals()[_name] = _value
    globals().update(on_all_cores(_kernels))

Word = NDArray[np.uint64]


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

"""The array types of annotations, named once, and what becomes of the memory of freed arrays."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[np.int8]  # -1 and +1; 0 leaves a row out


@cache
def keep_freed_blocks() -> None:
    """Let freed arrays of up to 32 MB be used again rather than be given back to the system, once a process.

    glibc unmaps a freed block above a threshold, and the next array of that size is faulted in page by page: a
    seventh of the time of five folds of a discriminant, a tenth of that of a ridge of several classes. The threshold
    rises to the largest block freed so far, up to 32 MB (mallopt(3), M_MMAP_THRESHOLD), so that one is freed here, of
    which no page was ever touched.
    """
    np.empty(2**22 - 2**12)

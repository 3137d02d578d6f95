"""Moments of rows of any place: one pass, joined in the tree of the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.errors import DataError
from separatrix.numerics.moments import Moments, merge
from separatrix.numerics.sparse_moments import add_at_once
from separatrix.rows.protocol import Leaf, Pass, Rows

MOST_COLUMNS = 8192  # whose table of squares, 512 MB, a worker holds beside its rows


def leaf_moments(leaf: Leaf, classes: Sequence[Any] | None, pooled: bool) -> Moments:
    """The moments of features and targets, or of each class, of the rows of a leaf."""
    if classes is not None:
        empty = Moments(leaf.d, labels=classes, pooled=pooled)
        return add_at_once(empty, leaf.X, None, leaf.codes, leaf.weights).flushed()
    targets = leaf.targets.reshape(leaf.n, -1)
    return add_at_once(Moments(leaf.d, targets.shape[1]), leaf.X, targets, None, leaf.weights).flushed()


def moments_of(rows: Rows, classes: Sequence[Any] | None = None, pooled: bool = True) -> Moments:
    """The moments of all rows: of features and targets, or of each class."""
    if rows.d > MOST_COLUMNS:
        raise DataError(f"the rows have {rows.d:,} columns: moments are made of at most {MOST_COLUMNS:,}.")
    found: Moments = rows.reduce(Pass(leaf_moments, merge), classes, pooled)
    return found


def labels_of(leaf: Leaf, classes: Sequence[Any] | None) -> Any:
    """What a learner learns of a leaf: labels, or numbers."""
    return leaf.targets if classes is None else np.asarray(classes)[leaf.codes]

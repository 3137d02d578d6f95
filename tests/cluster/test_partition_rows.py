"""Partitions are a place like others: passes over them are rounds, with the sums of memory."""

from __future__ import annotations

import numpy as np
from sources import rows_in_parts

from separatrix.cluster.partition_rows import PartitionRows
from separatrix.rows.places import TableRows
from separatrix.rows.protocol import Pass, View, added


def class_sums(leaf, classes):
    return np.array([leaf.X[leaf.codes == k].sum(axis=0) for k in range(classes)]), leaf.n


def test_passes_over_partitions_have_the_sums_of_memory():
    rng = np.random.default_rng(3)
    X, codes = rng.normal(size=(500, 3)), rng.integers(0, 3, 500)
    memory, parts = TableRows(X, codes, 3), PartitionRows(rows_in_parts(X, codes, 7))
    work = Pass(class_sums, added)
    for one, other in ((memory, parts), (v.view(View(columns=(2, 1), against=2)) for v in (memory, parts))):
        found, expected = other.reduce(work, 2 if one.classes == 2 else 3), one.reduce(work, one.classes)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-12)
        assert found[1] == expected[1] == 500
        assert found[0].flags.writeable
    np.testing.assert_array_equal(parts.take(9).X, X[::9])
    np.testing.assert_array_equal(parts.take(9).codes, codes[::9])

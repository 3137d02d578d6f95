"""The only door: whatever a user passes becomes checked rows, labels and weights here, or one clear error.

Kernels and mathematics behind it receive C-order float64 or float32 arrays, or CSR matrices in
canonical form; those are used in place, everything else is converted once.
"""

from separatrix.validation.containers import count_rows, take_rows
from separatrix.validation.labels import Labels, check_labels, plain_value, shown_label
from separatrix.validation.single_row import Row, check_features, check_row
from separatrix.validation.table import (
    Table,
    check_lengths,
    check_same_features,
    check_table,
    distinct_names,
    finite_scores,
)
from separatrix.validation.targets import (
    check_finite_vector,
    check_row_offset,
    check_target_columns,
    check_targets,
    check_weights,
    need_flag,
)
from separatrix.validation.true_and_predicted import Outcomes, check_outcomes

__all__ = [
    "Labels",
    "Outcomes",
    "Row",
    "Table",
    "check_features",
    "check_finite_vector",
    "check_labels",
    "check_lengths",
    "check_outcomes",
    "check_row",
    "check_row_offset",
    "check_same_features",
    "check_table",
    "check_target_columns",
    "check_targets",
    "check_weights",
    "count_rows",
    "distinct_names",
    "finite_scores",
    "need_flag",
    "plain_value",
    "shown_label",
    "take_rows",
]

"""The only door: whatever a user passes becomes checked rows, labels and weights here, or one clear error.

Kernels and mathematics behind it receive C-order float64 or float32 arrays, or CSR matrices in
canonical form; those are used in place, everything else is converted once.
"""

from __future__ import annotations

from separatrix.validation.containers import count_rows as count_rows
from separatrix.validation.containers import take_rows as take_rows
from separatrix.validation.labels import Labels as Labels
from separatrix.validation.labels import check_finite_vector as check_finite_vector
from separatrix.validation.labels import check_labels as check_labels
from separatrix.validation.labels import check_row_offset as check_row_offset
from separatrix.validation.labels import check_target_columns as check_target_columns
from separatrix.validation.labels import check_targets as check_targets
from separatrix.validation.labels import check_weights as check_weights
from separatrix.validation.labels import need_flag as need_flag
from separatrix.validation.labels import plain_value as plain_value
from separatrix.validation.labels import shown_label as shown_label
from separatrix.validation.single_row import Row as Row
from separatrix.validation.single_row import check_features as check_features
from separatrix.validation.single_row import check_row as check_row
from separatrix.validation.table import Table as Table
from separatrix.validation.table import check_lengths as check_lengths
from separatrix.validation.table import check_same_features as check_same_features
from separatrix.validation.table import check_table as check_table
from separatrix.validation.table import distinct_names as distinct_names
from separatrix.validation.table import finite_scores as finite_scores
from separatrix.validation.true_and_predicted import Outcomes as Outcomes
from separatrix.validation.true_and_predicted import check_outcomes as check_outcomes

"""The kernels as the textbook has them: one readable file for each native header.

The imports below are the list of kernels: tests hold the compiled modules to it.
"""

from reference.central_path import (
    margin_corrector,
    margin_direction,
    margin_predictor,
    margin_system,
)
from reference.chance import shuffle, words
from reference.decide import decide
from reference.descent import descent_pass, mean_loss
from reference.dual import first_mistake, kernel_column, kernel_scores, kernel_update
from reference.exact import bounded_scores, exact_signs, opposites
from reference.hinge import hinge_pass
from reference.hull import nearest_hulls, nearest_products
from reference.lasso import (
    chosen_gram,
    class_lasso_pass,
    combine,
    curved_pass,
    gram_pass,
    lasso_pass,
    turned,
    weighted_sums,
)
from reference.late_scores import LateScores
from reference.linear import class_errors, class_scores, errors, first_nonfinite, norms2, scores
from reference.logistic import (
    class_probabilities,
    curvature_diagonal,
    curvature_product,
    logistic_pass,
    rows_above,
    two_probabilities,
)
from reference.mistakes import MistakeTree
from reference.moments import block_rows, moments_add, moments_flush, moments_merge
from reference.monomials import monomials, pair_products
from reference.online_rules import (
    ArowDiagonalRule,
    ArowFullRule,
    AveragedRule,
    MarginRule,
    PassiveAggressiveRule,
    PlainRule,
)
from reference.perceptron import (
    Lookahead,
    perceptron_any,
    perceptron_pass,
    perceptron_restart,
    perceptron_worst,
)
from reference.pocket import pocket_count, pocket_pass
from reference.rows import Rows
from reference.table_text import TableText, cell_dates, cell_forms, cell_number, number_forms
from reference.text import count_byte, svmlight_chunk
from reference.twofold import augmented_defects, residual_gradient, sum_parts
from reference.voted import voted_pass, votes
from reference.zero_one import line_minimum, zero_one_descent

level = "reference"

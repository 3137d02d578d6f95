"""The kernels as the textbook has them: one readable file for each native header.

The imports below are the list of kernels: tests hold the compiled modules to it.
"""

from separatrix.kernels.reference.central_path import (
    margin_corrector,
    margin_direction,
    margin_predictor,
    margin_system,
)
from separatrix.kernels.reference.chance import shuffle, words
from separatrix.kernels.reference.decide import decide
from separatrix.kernels.reference.descent import descent_pass, mean_loss
from separatrix.kernels.reference.dual import first_mistake, kernel_column, kernel_scores, kernel_update
from separatrix.kernels.reference.exact import bounded_scores, exact_signs, opposites
from separatrix.kernels.reference.hinge import hinge_pass
from separatrix.kernels.reference.hull import nearest_hulls, nearest_products
from separatrix.kernels.reference.lasso import (
    chosen_gram,
    class_lasso_pass,
    combine,
    curved_pass,
    gram_pass,
    lasso_pass,
    turned,
    weighted_sums,
)
from separatrix.kernels.reference.late_scores import LateScores
from separatrix.kernels.reference.linear import class_errors, class_scores, errors, first_nonfinite, norms2, scores
from separatrix.kernels.reference.logistic import (
    class_probabilities,
    curvature_diagonal,
    curvature_product,
    logistic_pass,
    rows_above,
    two_probabilities,
)
from separatrix.kernels.reference.mistakes import MistakeTree
from separatrix.kernels.reference.moments import block_rows, moments_add, moments_flush, moments_merge
from separatrix.kernels.reference.monomials import monomials, pair_products
from separatrix.kernels.reference.online_rules import (
    ArowDiagonalRule,
    ArowFullRule,
    AveragedRule,
    MarginRule,
    PassiveAggressiveRule,
    PlainRule,
)
from separatrix.kernels.reference.perceptron import (
    Lookahead,
    perceptron_any,
    perceptron_pass,
    perceptron_restart,
    perceptron_worst,
)
from separatrix.kernels.reference.pocket import pocket_count, pocket_pass
from separatrix.kernels.reference.rows import Rows
from separatrix.kernels.reference.text import count_byte, delimited_chunk, svmlight_chunk
from separatrix.kernels.reference.twofold import augmented_defects, residual_gradient, sum_parts
from separatrix.kernels.reference.voted import voted_pass, votes
from separatrix.kernels.reference.zero_one import line_minimum, zero_one_descent

level = "reference"

# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.evaluation.comparison import Comparison as Comparison
from separatrix.evaluation.cross_validation import CrossValidation as CrossValidation
from separatrix.evaluation.holdout import Holdout as Holdout
from separatrix.evaluation.intervals import Estimate as Estimate
from separatrix.evaluation.learning_curves import learning_curve as learning_curve
from separatrix.evaluation.learning_curves import mistakes_curve as mistakes_curve
from separatrix.evaluation.learning_curves import overfitting_curve as overfitting_curve
from separatrix.evaluation.results import Evaluation as Evaluation
from separatrix.evaluation.selection import Selection as Selection

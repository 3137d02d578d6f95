"""The kernels as the textbook has them: one readable file for each native header."""

from separatrix.kernels.reference.chance import shuffle
from separatrix.kernels.reference.linear import errors, norms2, scores
from separatrix.kernels.reference.perceptron import (
    perceptron_any,
    perceptron_pass,
    perceptron_restart,
    perceptron_worst,
)
from separatrix.kernels.reference.rows import Rows

level = "reference"

__all__ = [
    "Rows",
    "errors",
    "level",
    "norms2",
    "perceptron_any",
    "perceptron_pass",
    "perceptron_restart",
    "perceptron_worst",
    "scores",
    "shuffle",
]

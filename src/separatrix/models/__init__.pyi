# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.models import descent as descent
from separatrix.models import logistic as logistic
from separatrix.models import perceptron as perceptron

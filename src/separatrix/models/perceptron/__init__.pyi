# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.models.perceptron.step_tables import StepTrace as StepTrace
from separatrix.models.perceptron.step_tables import step_trace as step_trace
from separatrix.models.perceptron.trace import Trace as Trace

# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.models.descent.descent_of_functions import gradient_descent as gradient_descent

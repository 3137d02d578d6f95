# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.models.logistic.penalty_path import LogisticPath as LogisticPath

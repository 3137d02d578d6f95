# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.stream.progressive_result import Progressive as Progressive

# Public names of this package, and where they live; read by type checkers and by __init__.py.

from separatrix.data.examples import load_example as load_example
from separatrix.data.row_cache import RowCache as RowCache
from separatrix.data.row_cache import cache_rows as cache_rows

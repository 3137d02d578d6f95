"""Pictures, one function each, from arrays and facts; matplotlib is imported when one is drawn.

Every function takes ``ax=None``, draws into those axes or into new ones, and returns them.
"""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

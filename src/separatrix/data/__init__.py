"""Where tables come from."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

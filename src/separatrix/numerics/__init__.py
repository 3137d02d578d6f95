"""Numerical methods that several models share: no input, no output, no printing."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

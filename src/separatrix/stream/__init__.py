"""Streams: rows that are predicted, scored and then learned, from sources that may be interrupted at any moment."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

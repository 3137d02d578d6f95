"""What is true of labelled data, proved in exact arithmetic; independent of every model."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

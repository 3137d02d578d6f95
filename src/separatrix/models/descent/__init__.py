"""Gradient descent: on any function, and on the built-in losses of linear scores."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

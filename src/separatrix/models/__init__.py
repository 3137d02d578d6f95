"""The estimators, one folder a family; each holds its problem, its solvers and its inference."""

from __future__ import annotations

from separatrix.lazy_names import offer

__getattr__, __dir__, _ = offer(__name__, __file__)

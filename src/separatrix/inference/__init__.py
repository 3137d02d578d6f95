"""Inference after a least-squares fit; an alias of ``separatrix.models.least_squares`` for one release."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "HypothesisTest": "least_squares_summary",
    "Influence": "influence",
    "LeastSquaresSummary": "least_squares_summary",
    "coefficient_covariance": "covariance",
    "influence": "influence",
    "linear_hypothesis": "least_squares_summary",
    "predict_interval": "covariance",
    "summarize": "least_squares_summary",
    "variance_inflation": "influence",
}

__all__ = list(_HOMES)  # noqa: PLE0604: names of the table above


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix.inference' has no attribute {name!r}")
    return getattr(importlib.import_module(f"separatrix.models.least_squares.{_HOMES[name]}"), name)

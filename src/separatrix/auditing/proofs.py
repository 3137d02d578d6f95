"""The proofs that the second and third answers rest on, in one place."""

from __future__ import annotations

import importlib
from typing import Any


def _theory(module: str, name: str) -> Any:
    return getattr(importlib.import_module("separatrix"), name, None)


def margin_of(X: Any, y: Any) -> Any:
    """The widest margin, bracketed."""
    margin = _theory("margin", "margin")
    return None if margin is None else margin(X, y)


def bound_of(X: Any, y: Any) -> Any:
    """The perceptron's mistake bound."""
    bound = _theory("bounds", "mistake_bound")
    return None if bound is None else bound(X, y)


def mistakes_of(X: Any, y: Any, **limits: Any) -> Any:
    """The fewest mistakes, bracketed."""
    fewest = _theory("fewest_mistakes", "fewest_mistakes")
    return None if fewest is None else fewest(X, y, **limits)

"""Fits of least squares and of discriminants give the results that are stored, to the tolerance of their kind."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from stored_least_squares import STORED, TOLERANCE, cases, result

from separatrix.models.least_squares.choose import LIMITS

stored = json.loads(STORED.read_text())


@pytest.mark.parametrize("kind", list(TOLERANCE))
def test_fits_give_their_stored_results(kind: str) -> None:
    count = 0
    for name, own, model, given in cases():
        if own != kind:
            continue
        count += 1
        found, known = result(model, given), stored[name]
        allowed = TOLERANCE[kind] * known["size"] * np.sqrt(given[0].shape[1] + 1)
        assert found.get("rank") == known.get("rank"), name
        np.testing.assert_allclose(found["values"], known["values"], rtol=0, atol=allowed, err_msg=f"{name}: {model}")
        if "rss" in known:
            _same_sums(found["rss"], known["rss"], given[1], name)
    assert count == sum(name.startswith(kind) for name in stored) > 0


def _same_sums(found: list[float], known: list[float], y: Any, name: str) -> None:
    rounding = 1e-20 * np.atleast_1d(np.square(y).sum(axis=0))  # sums of residuals that vanish
    np.testing.assert_allclose(found, known, rtol=1e-8, atol=float(rounding.max()), err_msg=name)


# Costs decide speed alone. Where digits are lost, only the careful side of a limit gives the same results.
SWITCHES = [(name, value) for name in ("table", "stored", "call", "steps", "tried", "kept") for value in (0, np.inf)]
SWITCHES += [(name, 0) for name in ("trusted", "correctable", "refinable", "alike", "mixable", "shared")]
SWITCHES += [("cheap", 0), ("cheap", np.inf)]


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "value"), SWITCHES)
def test_limits_decide_speed_and_not_results(limit: str, value: float) -> None:
    """Where no table may be made LSQR knows no rank, and positive=True is refused: these are left out."""
    before = getattr(LIMITS, limit)
    object.__setattr__(LIMITS, limit, value)
    try:
        for name, kind, model, given in cases():
            if (limit, value) == ("table", 0) and (
                (kind == "sparse" and not model.alpha) or getattr(model, "positive", 0)
            ):
                continue
            found, known = result(model, given), stored[name]
            allowed = TOLERANCE[kind] * known["size"] * np.sqrt(given[0].shape[1] + 1)
            assert found.get("rank") == known.get("rank"), name
            np.testing.assert_allclose(found["values"], known["values"], rtol=0, atol=allowed, err_msg=name)
    finally:
        object.__setattr__(LIMITS, limit, before)

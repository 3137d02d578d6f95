"""Runs here end at their limits on purpose: what a limit warns of has tests of its own (test_run_warnings.py)."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and item.path.name != "test_run_warnings.py":
            item.add_marker(pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning"))

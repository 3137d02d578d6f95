"""What all tests share: the folder of real data, how hypothesis behaves, and that both checkers agree."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from installed_data import MADE
from second_checker import NODE, REASON, SecondChecker, agreeing
from separatrix import checker

# Before numpy is imported: threads of BLAS that wait for each other make tests ten times slower on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

settings.register_profile(
    "quick", max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("SEPARATRIX_HYPOTHESIS", "quick"))

# A runner in the background may have been started with Ctrl-C ignored, which children inherit.
signal.signal(signal.SIGINT, signal.default_int_handler)


SEEDS = 3  # of a simulation that make test takes; make test-all takes all


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Simulations repeat one statement from several seeds: the first ones are quick, the others slow."""
    for item in items:
        seed = getattr(item, "callspec", None) and item.callspec.indices.get("seed", 0)
        if seed and seed >= SEEDS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def real_data(tmp_path_factory):
    """A function from a file's name to its path in the folder of real data.

    ``SEPARATRIX_DATA`` names the folder. Files that are not there are made from installed packages where these have
    the rows; otherwise the test is skipped, or with ``SEPARATRIX_REQUIRE_DATA=1`` it fails.
    """
    folder = os.environ.get("SEPARATRIX_DATA")
    required = os.environ.get("SEPARATRIX_REQUIRE_DATA") == "1"
    made = tmp_path_factory.mktemp("installed_data")

    def path(name: str) -> Path:
        found = Path(folder) / name if folder else None
        if found is not None and found.exists():
            return found
        if name in MADE and not required:
            return made / name if (made / name).exists() else MADE[name](made / name)
        reason = f"needs {name} in the folder that SEPARATRIX_DATA names"
        if required:
            pytest.fail(reason)
        return pytest.skip(reason)

    return path


@pytest.fixture(scope="session")
def real_files(real_data):
    """A function from several names to the paths of those files that can be had; at least one can."""

    def paths(names) -> dict[str, Path]:
        found = {}
        for name in names:
            with contextlib.suppress(pytest.skip.Exception):
                found[name] = real_data(name)
        return found or pytest.skip(f"needs {', '.join(names)} in the folder that SEPARATRIX_DATA names")

    return paths


@pytest.fixture(scope="session", autouse=True)
def _second():
    """Every certificate that a test checks in this process is checked by the second checker too; both must agree."""
    if NODE is None:
        yield None
        return
    made, first = SecondChecker(), checker.check
    checker.check = agreeing(first, made)
    yield made
    checker.check = first
    made.close()


@pytest.fixture
def second_checker(_second):
    """The checker in JavaScript; tests that need it are skipped where node is missing."""
    if _second is None:
        pytest.skip(REASON)
    return _second

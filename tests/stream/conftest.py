"""No process outlives its test."""

from __future__ import annotations

import contextlib

import pytest
from tests.stream.stream_files import RUNNING


@pytest.fixture(autouse=True)
def ended():
    """End what a test has started and left running."""
    yield
    while RUNNING:
        process = RUNNING.pop()
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

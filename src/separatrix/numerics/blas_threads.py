"""One thread for the products of small matrices: several of them wait for each other longer than they compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # ships no types

    return ThreadpoolController()  # looks through the libraries of the process, once


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within the block, numpy's products and factorisations run in one thread; afterwards in as many as before."""
    with _controller().limit(limits=1, user_api="blas"):
        yield

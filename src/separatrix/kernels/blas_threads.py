"""One thread for numpy's products: several of them wait for each other longer than they compute small matrices, and the
bits of large ones would depend on how many there are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

LARGE = 2**18  # numbers of a table from which on the switch is worth a few dozen microseconds

_lock = Lock()
_blocks = 0  # that are open, in all threads: the limit holds for the whole process
_limit: Any = None


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # ships no types

    return ThreadpoolController()  # looks through the libraries of the process, once


@contextmanager
def one_blas_thread(size: int = LARGE) -> Iterator[None]:
    """Within the block numpy's products and factorisations run in one thread; after the last of all blocks as before.

    For tables of fewer than ``LARGE`` numbers nothing is done.
    """
    global _blocks, _limit
    if size < LARGE:
        yield
        return
    with _lock:
        if not _blocks:
            _limit = _controller().limit(limits=1, user_api="blas")
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if not _blocks:
                _limit.restore_original_limits()

"""One thread for numpy's products: several of them wait for each other longer than they compute small matrices, and the
bits of large ones would depend on how many there are."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

LARGE = 2**18  # numbers of a table from which on the switch is worth a few dozen microseconds

_lock = Lock()
_blocks = 0  # that are open, in all threads: the limit holds for the whole process
_limits: list[Any] = []  # of numpy's library, and of scipy's own where that was loaded later
_scipy_is_limited = False


@cache
def _controller(with_scipy: bool) -> Any:
    """A look through the libraries of the process, once before and once after scipy's are loaded."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]  # ships no types

    return ThreadpoolController()


def _limit() -> None:
    global _scipy_is_limited
    _scipy_is_limited = "scipy.linalg" in sys.modules
    _limits.append(_controller(_scipy_is_limited).limit(limits=1, user_api="blas"))


@contextmanager
def one_blas_thread(size: int = LARGE) -> Iterator[None]:
    """Within the block numpy's products and factorisations run in one thread; after the last of all blocks as before.

    For tables of fewer than ``LARGE`` numbers nothing is done. Code inside gets scipy.linalg from ``scipy_linalg``.
    """
    global _blocks
    if size < LARGE:
        yield
        return
    with _lock:
        if not _blocks:
            _limit()
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks = max(0, _blocks - 1)  # a fork within it has forgotten it
            if not _blocks:
                _restore()


def _restore() -> None:
    while _limits:
        _limits.pop().restore_original_limits()


def scipy_linalg() -> Any:
    """scipy.linalg, which has a library of its own: inside an open block that runs in one thread too."""
    import scipy.linalg

    with _lock:
        if _blocks and not _scipy_is_limited:
            _limit()
    return scipy.linalg


def _forget() -> None:
    """A forked child has none of its parent's threads, which would have ended their blocks and let go of the lock."""
    global _lock, _blocks
    _lock, _blocks = Lock(), 0
    _restore()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

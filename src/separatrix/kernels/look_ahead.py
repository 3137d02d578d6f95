"""Threads that judge rows ahead of a pass which must see them in their order (native/separatrix/look_ahead.hpp)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import ModuleType
from typing import Any

from separatrix.kernels.thread_pool import borrowed_threads, call_helpers

WORTH = 2**23  # numbers of a table for which threads are asked
EACH = 2**21  # numbers for each of them
SHORT = 16  # columns up to which a pass keeps its weights in registers, and two helpers are no faster
FREQUENT = 50  # rows for each update of the last pass: with fewer, most rows would be looked at twice
ALONE = 2**18  # numbers that a pass reads alone, to see how often it updates
BLOCK = 2**13  # numbers that a helper takes at a time
ALONE_AGAIN = nullcontext(None)  # one for all: small passes take a few microseconds


def lookahead_of(backend: ModuleType) -> Callable[..., AbstractContextManager[Any]]:
    """``looking_ahead`` for a backend."""

    def looking_ahead(rows: Any, last_updates: int = 0) -> AbstractContextManager[Any]:
        """A lookahead for one pass over these rows, or None where a pass alone is as fast.

        Parameters
        ----------
        rows : Rows
            The rows of the pass.
        last_updates : int
            Updates of the pass before.
        """
        n = rows.n
        if rows.size < max(WORTH, n * rows.d) or last_updates * FREQUENT > n:
            return ALONE_AGAIN
        return with_helpers(rows)

    @contextmanager
    def with_helpers(rows: Any) -> Iterator[Any]:
        d = rows.d
        with borrowed_threads(rows.size // EACH) as helpers:
            if helpers < (1 if d > SHORT else 3):
                yield None
                return
            ahead = backend.Lookahead(helpers, max(1024, ALONE // d), max(16, BLOCK // d))
            call_helpers(*(partial(ahead.help, k) for k in range(helpers)))
            try:
                yield ahead
            finally:
                ahead.close()  # no helper reads the rows any more; those that are only now called return at once

    return looking_ahead

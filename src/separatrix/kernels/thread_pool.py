"""Parts of a pass on several cores: how many, and the threads that run them.

Kernels release Python's lock while they read rows, so that threads of Python are enough: no second pool beside the
interpreter's, nothing that a fork could leave locked, and the same code where the lock does not exist. Parts are
cut by the size of the table alone and their results joined in order, so that no bit depends on how many threads
there were.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import count
from threading import Lock
from typing import TypeVar

from separatrix.errors import ParameterError

Part = TypeVar("Part")
Result = TypeVar("Result")
VARIABLES = ("SEPARATRIX_NUM_THREADS", "OMP_NUM_THREADS")
QUOTA = "/sys/fs/cgroup/cpu.max"

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)
_busy = Lock()  # held while the threads have work: a fit inside a fit, or beside one, runs on its own thread
_pool: ThreadPoolExecutor | None = None
_NOBODY = ThreadPoolExecutor(1)  # a pool that has no threads, as nothing is given to it


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Within the block, passes over rows use at most n threads; results have the same bits for every n.

    By default they use the processors that this process may use (its affinity and the quota of its control group), or
    what ``SEPARATRIX_NUM_THREADS`` or ``OMP_NUM_THREADS`` say (where these are no whole numbers of at least 1, they are
    ignored, as OpenMP does). Small tables stay on one thread, and so does a fit while
    another one has the threads.

    Parameters
    ----------
    n : int
        1 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix import LeastSquares, threads
    >>> X = np.random.default_rng(0).normal(size=(1000, 3))
    >>> with threads(1):
    ...     model = LeastSquares().fit(X, X.sum(axis=1))
    >>> model.coef_.round(6)
    array([1., 1., 1.])
    """
    if isinstance(n, bool) or not hasattr(n, "__index__") or n < 1:
        raise ParameterError(f"threads is {n!r}: pass a whole number of at least 1.")
    token = _chosen.set(int(n))
    try:
        yield
    finally:
        _chosen.reset(token)


def thread_count() -> int:
    """How many threads a large pass uses here and now."""
    return _chosen.get() or _asked() or _able()


def _asked() -> int | None:
    for name in VARIABLES:
        first = os.environ.get(name, "").partition(",")[0].strip()  # OpenMP has one number for each level of nesting
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return None


@cache
def _able() -> int:
    """Processors that this process may use."""
    able = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(able, _quota()))


def _quota() -> int:
    """Processors that the control group of this process may fill, rounded up; many where there is no limit."""
    try:
        with open(QUOTA, encoding="ascii") as file:
            most, period = file.read().split()
        return -(-int(most) // int(period))
    except (OSError, ValueError):
        return 2**20


def each_part(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """What work says of each part, in their order, on as many threads as there are parts and processors."""
    with borrowed_threads(len(parts)) as (helpers, pool):
        return _side_by_side(work, parts, helpers, pool) if helpers else [work(part) for part in parts]


@contextmanager
def borrowed_threads(most: int) -> Iterator[tuple[int, ThreadPoolExecutor]]:
    """How many threads may help this one, with it at most ``most``, and their pool; none while another one has them."""
    able = min(thread_count(), most)
    if able < 2 or not _busy.acquire(blocking=False):
        yield 0, _NOBODY
        return
    try:
        yield able - 1, _workers(able)
    finally:
        _busy.release()


def _side_by_side(
    work: Callable[[Part], Result], parts: Sequence[Part], helpers: int, pool: ThreadPoolExecutor
) -> list[Result]:
    results: dict[int, Result] = {}
    numbers = count()

    def take() -> None:
        while (k := next(numbers)) < len(parts):
            results[k] = work(parts[k])

    running = [pool.submit(take) for _ in range(helpers)]
    try:
        take()
    finally:
        numbers = count(len(parts))  # after an error nobody takes another part
        wait(running)
    for done in running:
        done.result()
    return [results[k] for k in range(len(parts))]


def _workers(most: int) -> ThreadPoolExecutor:
    """The threads of this process, at least most - 1 of them."""
    global _pool  # one pool a process
    if _pool is None or _pool._max_workers < most - 1:
        if _pool is not None:
            _pool.shutdown(wait=False)
        _pool = ThreadPoolExecutor(most - 1, thread_name_prefix="separatrix")
    return _pool


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _pool, _busy  # as above
    _pool, _busy = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

"""Parts of a pass on several cores: how many, and the threads that run them.

Kernels release Python's lock while they read rows, so that threads of Python are enough: nothing that a fork could
leave locked, and the same code where the lock does not exist. Parts are cut by the size of the table alone and their
results joined in order, so that no bit depends on how many threads there were. Threads take their work from one
queue: a future for each, as an executor has it, takes longer than some passes.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, partial
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import TypeVar

from separatrix.errors import ParameterError

Part = TypeVar("Part")
Result = TypeVar("Result")
VARIABLES = ("SEPARATRIX_NUM_THREADS", "OMP_NUM_THREADS")
QUOTA = "/sys/fs/cgroup/cpu.max"

_chosen: ContextVar[int | None] = ContextVar("threads", default=None)
_busy = Lock()  # held while the threads have work: a fit inside a fit, or beside one, runs on its own thread


class Helpers:
    """Threads that wait for work, started when they are first needed."""

    def __init__(self) -> None:
        self.count = 0
        self._work: SimpleQueue[Callable[[], object]] = SimpleQueue()

    def call(self, *work: Callable[[], object]) -> None:
        """Call each of these on a thread of its own, as far as the system has threads; they handle their errors.

        Each runs in the caller's context, so that numpy's ``errstate`` is the same on every thread.
        """
        try:
            while self.count < len(work):
                Thread(target=self._run, name="separatrix", daemon=True).start()
                self.count += 1
        except RuntimeError:  # no more threads
            work = work[: self.count]
        for one in work:
            self._work.put(partial(copy_context().run, one))

    def _run(self) -> None:
        while True:
            self._work.get()()


_helpers = Helpers()


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
    >>> from separatrix import LeastSquares
    >>> from separatrix.kernels import threads
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
    with borrowed_threads(len(parts)) as helpers:
        return _side_by_side(work, parts, helpers) if helpers else [work(part) for part in parts]


@contextmanager
def borrowed_threads(most: int) -> Iterator[int]:
    """How many threads may help this one (:func:`call_helpers`), with it at most ``most``; 0 while others have them."""
    able = min(thread_count(), most)
    if able < 2 or not _busy.acquire(blocking=False):
        yield 0
        return
    try:
        yield able - 1
    finally:
        _busy.release()


def call_helpers(*work: Callable[[], object]) -> None:
    """Have each of these called by a thread that was borrowed."""
    _helpers.call(*work)


def _side_by_side(work: Callable[[Part], Result], parts: Sequence[Part], helpers: int) -> list[Result]:
    results: dict[int, Result] = {}
    errors: list[BaseException] = []
    waiting = deque(range(len(parts)))
    begun, done = deque[int](), deque[int]()  # of the helpers, an entry each
    ended = Event()

    def take() -> None:
        while True:
            try:
                k = waiting.popleft()
            except IndexError:
                return
            results[k] = work(parts[k])

    def assist() -> None:
        begun.append(1)
        try:
            take()
        except BaseException as error:
            errors.append(error)
            waiting.clear()  # after an error nobody takes another part
        done.append(1)
        ended.set()

    call_helpers(*[assist] * helpers)
    try:
        take()
    except BaseException as error:
        errors.append(error)
        waiting.clear()
    while len(done) < len(begun):  # a helper that begins later finds nothing to do
        try:
            ended.wait()
            ended.clear()
        except BaseException as interrupt:
            errors.append(interrupt)
            waiting.clear()
    if errors:
        raise errors[0]
    return [results[k] for k in range(len(parts))]


def _forget() -> None:
    """A forked child has none of its parent's threads."""
    global _helpers, _busy  # one set of threads a process
    _helpers, _busy = Helpers(), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

"""Work spread over threads, processes or nothing: results in order, Ctrl-C that ends all of it, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import enumerate as enumerate_threads
from threading import get_ident
from time import sleep
from typing import Any, Generic, TypeVar

import numpy as np

from separatrix.errors import ParameterError, held_warnings, warn_user
from separatrix.kernels import thread_count

Warned = list[tuple[type[Warning], str]]
PATIENCE = 0.05  # seconds between two looks at threads and signals
Task = TypeVar("Task")
Result = TypeVar("Result")


def executor_of(executor: Any, n_jobs: int | None) -> Any:
    """The executor, or a number of threads in scikit-learn's way: -1 for all processors, -2 for all but one."""
    if n_jobs is None:
        return executor
    if executor is not None:
        raise ParameterError("executor and n_jobs are both given: they say the same, pass one of them.")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ParameterError(f"n_jobs is {n_jobs!r}: it can be a number of threads, or -1 for all processors.")
    return int(n_jobs) if n_jobs > 0 else max(1, thread_count() + 1 + int(n_jobs))


@contextmanager
def _pool(executor: Any) -> Iterator[Any]:
    if isinstance(executor, (int, np.integer)) and not isinstance(executor, bool):
        if executor < 1:
            raise ParameterError(f"executor is {executor}: a number of threads is at least 1.")
        with ThreadPoolExecutor(int(executor)) as pool:
            yield pool
    elif executor is None or hasattr(executor, "submit"):
        yield executor
    else:
        raise ParameterError(f"executor is {executor!r}: it can be None, a number of threads, or have submit().")


def spread(
    work: Callable[[Task], Result], tasks: Iterable[Task], executor: Any = None, progress: Any = None
) -> list[Result]:
    """The results of all tasks, in their order; what their fits warn of is said once."""
    queue = list(tasks)
    tell = _progress(progress)
    quiet = Quiet(work)
    out: list[tuple[Result, Warned]] = []
    with _pool(executor) as pool:
        if pool is None:
            for task in queue:
                out.append(quiet(task))
                tell(len(out), len(queue))
            return _results(out)
        stoppable = Stoppable(quiet) if isinstance(pool, ThreadPoolExecutor) else None
        futures: list[Future[tuple[Result, Warned]]] = []
        try:
            futures.extend(pool.submit(stoppable or quiet, task) for task in queue)
            for future in futures:
                out.append(_awaited(future))
                tell(len(out), len(queue))
        except BaseException:
            for future in futures:
                future.cancel()
            if stoppable is not None:
                stoppable.stop()
            raise
        return _results(out)


def _awaited(future: Future[Result]) -> Result:
    """The result of a future. A wait without a limit would miss a Ctrl-C that comes just before it."""
    while True:
        try:
            return future.result(timeout=PATIENCE)
        except TimeoutError:
            if future.done():  # the error is the work's own
                return future.result()


@dataclass(frozen=True)
class Quiet(Generic[Task, Result]):
    """Work with its result and what it warned of, also in another process."""

    work: Callable[[Task], Result]

    def __call__(self, task: Task) -> tuple[Result, Warned]:
        with held_warnings() as warned:
            return self.work(task), warned


def _results(out: list[tuple[Result, Warned]]) -> list[Result]:
    """The results alone; of the warnings the first of each kind, with how many pieces of work had one."""
    for kind in dict.fromkeys(kind for _, warned in out for kind, _ in warned):
        had = [texts[0] for _, warned in out if (texts := [text for k, text in warned if k is kind])]
        warn_user(had[0] if len(out) == 1 else f"in {len(had)} of {len(out)} fits, the first: {had[0]}", kind)
    return [result for result, _ in out]


class Stoppable:
    """Work on threads that ends when everything ends: Ctrl-C reaches the main thread alone, and a fit may be long."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.busy: set[int] = set()
        self.over = False

    def __call__(self, task: Any) -> Any:
        self.busy.add(get_ident())
        try:
            if self.over:
                raise KeyboardInterrupt
            return self.work(task)
        finally:
            self.busy.discard(get_ident())

    def stop(self) -> None:
        """Raise KeyboardInterrupt in every thread at work until it ends: where it is raised it may be ignored."""
        import ctypes

        self.over = True  # for tasks that a thread is about to take
        while working := self.busy & {thread.ident for thread in enumerate_threads() if thread.ident is not None}:
            for thread in working:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))
            sleep(PATIENCE)


def _progress(progress: Any) -> Callable[[int, int], None]:
    if progress is None or progress is False:
        return lambda done, total: None
    if callable(progress):
        return progress  # type: ignore[no-any-return]  # a function of (done, total)
    if progress is not True:
        raise ParameterError(f"progress is {progress!r}: it can be True, False or a function of (done, total).")

    def write(done: int, total: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {total} fits" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return write

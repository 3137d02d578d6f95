"""The process of a command: its streams, its signals, its threads, its memory, and how it fails."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

import click

from separatrix.cli import output
from separatrix.errors import NO_MEMORY

DEADLOCKED = 5  # seconds in which no thread of a process has done anything but wait for a lock
CRASHES = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGTRAP")  # how libraries die that get no memory
SHORTAGES = (
    "failed to map segment",
    "annot allocate memory",
    "can't start new thread",
    "Unable to allocate",
    "Allocation failure",
    "Out of Memory Error",
    "bad_alloc",
    "error return without exception set",  # of an import for whose exception there was no memory
)
ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
_started = time.perf_counter()


def start_clock() -> None:
    """The command begins now, for limits on its time."""
    global _started
    _started = time.perf_counter()


def began() -> float:
    """``time.perf_counter()`` when the command began."""
    return _started


def prepare_streams() -> None:
    """Streams that the caller closed are empty; a terminal that lacks a letter shows a question mark."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def limit_threads() -> None:
    """Let BLAS use one thread, unless the user has said otherwise; to be called before numpy is imported.

    Products here are small: on a busy machine a second thread waits for its turn and made them ten times slower.
    """
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, os.environ.get("OMP_NUM_THREADS", "1"))


def end_on_signals() -> None:
    """Make SIGTERM and SIGHUP exit like an error, so that what was begun is cleaned up."""
    if threading.current_thread() is threading.main_thread():
        for number in _numbers(ENDINGS[1:]):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)


def watch_memory() -> None:
    """Under a limit on memory, run on in a child: libraries that crash for lack of it become one sentence."""
    if not _memory_is_limited() or threading.current_thread() is not threading.main_thread():
        return
    sys.stdout.flush()
    sys.stderr.flush()
    end, mark = os.pipe()
    try:
        child = os.fork()
    except OSError:
        fail(NO_MEMORY)
    if not child:
        atexit.register(os.write, mark, b".")  # ended by itself, not by a library that calls exit
        return
    os.close(mark)
    for number in _numbers(ENDINGS):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: os.kill(child, number))
    code = _ended(child, end)
    if code is None or -code in _numbers(CRASHES) or (code > 0 and not os.read(end, 1)):
        fail(NO_MEMORY)
    sys.exit(code if code >= 0 else 128 - code)


def _ended(child: int, end: int) -> int | None:
    """The exit code of the child; None where it had to be ended, as all of its threads waited for locks for good."""
    looked, used, same = time.monotonic(), None, 0
    waiting = [end]
    while True:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if select.select(waiting, [], [], 0.005 if not waiting else 1.0)[0]:
            waiting = []  # it is about to end
        if time.monotonic() - looked < 1.0:
            continue
        looked, before, used = time.monotonic(), used, _in_locks(child)
        same = same + 1 if used is not None and used == before else 0
        if same >= DEADLOCKED:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None


def _in_locks(process: int) -> int | None:
    """The CPU time used by a process without children of which every thread waits for a lock; None for others."""
    used = 0
    try:
        for task in Path(f"/proc/{process}/task").iterdir():
            if not (task / "wchan").read_text().startswith("futex") or (task / "children").read_text():
                return None
            used += sum(map(int, (task / "stat").read_text().rpartition(")")[2].split()[11:13]))
    except OSError:  # not on Linux, or it has just ended
        return None
    return used


def _memory_is_limited() -> bool:
    try:
        import resource
    except ImportError:  # not on Windows
        return False
    return hasattr(os, "fork") and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _numbers(names: tuple[str, ...]) -> list[int]:
    return [int(getattr(signal, name)) for name in names if hasattr(signal, name)]


def is_lack_of_memory(error: BaseException) -> bool:
    """Whether an error says, in whatever words, that memory could not be had."""
    return isinstance(error, MemoryError) or any(words in str(error) for words in SHORTAGES)


def fail(text: str, code: int = 2) -> NoReturn:
    """One line on standard error and the exit code, whatever the state of the streams."""
    with contextlib.suppress(OSError):
        output.complain(text if code == 130 else f"error: {text}")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            discard(stream)
    sys.exit(code)


def discard(stream: Any) -> None:
    """Drop what a stream cannot write, instead of a traceback when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _use_threads(context: click.Context, _: click.Parameter, n: int | None) -> None:
    """Threads of this command, by the variable that is read when the kernels first ask."""
    if n is not None:
        before = os.environ.get("SEPARATRIX_NUM_THREADS")
        os.environ["SEPARATRIX_NUM_THREADS"] = str(n)
        context.call_on_close(lambda: _put_back(before))


def _put_back(threads: str | None) -> None:
    if threads is None:
        del os.environ["SEPARATRIX_NUM_THREADS"]
    else:
        os.environ["SEPARATRIX_NUM_THREADS"] = threads


def threads_option() -> click.Option:
    """``--threads N``, the same for every command that has it."""
    return click.Option(
        ["--threads"],
        type=click.IntRange(min=1),
        metavar="N",
        expose_value=False,
        callback=_use_threads,
        help="Threads for passes over many rows, default: all processors. Results are the same for every N.",
    )

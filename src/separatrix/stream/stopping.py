"""Signals that end a stream cleanly: a read that waits is woken, and the chunk at work is finished."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, Self

SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")
POLL = 0.2  # seconds


@contextmanager
def interruption_held() -> Iterator[None]:
    """Ctrl-C within acts behind it, so that rows are learned by all vectors of a model or by none."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    noted: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda *call: noted.append(call))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if noted:
            before(*noted[0])


class StopAsked(BaseException):
    """Raised where a stream waits when a signal has asked it to end."""


class Stopping:
    """While this is entered, a signal is noted, and every wait ends with :class:`StopAsked`.

    The operating system writes a byte into a pipe at the moment of the signal, which the wait looks at too, so that
    no signal comes between a look and a wait.
    """

    def __init__(self) -> None:
        self.asked: int | None = None
        self.idle: Callable[[], None] = lambda: None  # called a few times a second while nothing comes
        self._before: dict[int, Any] = {}
        self._pipe: tuple[int, int] | None = None
        self._wakeup = -1

    def __enter__(self) -> Self:
        if threading.current_thread() is not threading.main_thread():
            return self
        self._pipe = os.pipe()
        for end in self._pipe:
            os.set_blocking(end, False)
        self._wakeup = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._pipe is not None:
            signal.set_wakeup_fd(self._wakeup)
            for end in self._pipe:
                os.close(end)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.asked = number

    def check(self) -> None:
        """Raise where a signal has come."""
        if self.asked is not None:
            raise StopAsked

    def wait_to_read(self, handle: Any) -> None:
        """Wait until something can be read; what is to be done meanwhile is done a few times a second."""
        while not self.wait(POLL, read=handle):
            self.idle()

    def wait(self, seconds: float | None = None, read: Any = None, write: Any = None) -> bool:
        """Wait until something can be read or written, or the time is over; whether it can."""
        self.check()
        own = [] if self._pipe is None else [self._pipe[0]]
        reading = [*own, *([] if read is None else [read])]
        ready = select.select(reading, [] if write is None else [write], [], seconds)
        if own and own[0] in ready[0]:
            os.read(own[0], 64)
        self.check()
        return bool((read is not None and read in ready[0]) or ready[1])

"""Calls of libraries that take seconds and look at no signal, so that Ctrl-C is heard at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import copy_context
from threading import Thread
from typing import Any

MUCH = 2.0**30  # multiplications, of the order of a tenth of a second
LOOKS = 0.1  # seconds between looks for a signal


def interruptible(work: float, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What the call returns, about ``work`` multiplications later.

    Of many it is made by another thread: Ctrl-C ends the wait for it, and the call ends by itself later. Nothing is
    gained where the call holds the interpreter's lock.
    """
    if work < MUCH:
        return call(*arguments, **named)
    future, context = Future[Any](), copy_context()  # where numpy's errstate is

    def run() -> None:
        try:
            future.set_result(context.run(call, *arguments, **named))
        except BaseException as error:  # the caller's, who waits for it
            future.set_exception(error)

    Thread(target=run, name="separatrix", daemon=True).start()
    while not future.done():  # a signal wakes the wait only where it meets this thread
        wait([future], timeout=LOOKS)
    return future.result()

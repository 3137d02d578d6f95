"""Ctrl-C in a proof of many classes: the searches and the calls of libraries that take long let go at once."""

from __future__ import annotations

import signal
import subprocess
import sys
from threading import Event

import numpy as np
import pytest

from separatrix.numerics.interruptible import MUCH, interruptible

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
from separatrix.kernels import decide, rows

rng = np.random.default_rng(0)
X, q = rng.standard_normal((6_000, 1_500)), 1_500
X[:, 0] += 0.1
y = np.ones(len(X), dtype=np.int8)


def interrupt():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)


threading.Thread(target=interrupt, daemon=True).start()
w = np.zeros(q)
try:
    decide(rows(X), y, False, None, None, None, 0, w, np.empty(q + 1, dtype=np.int64), np.empty(q + 1))
    print("decided")
except KeyboardInterrupt:
    print("at the end" if w.any() else "on the way")
"""


def test_the_search_for_a_hyperplane_hears_a_signal():
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert run.stdout == "on the way\n", run.stderr


def test_a_long_call_returns_what_it_returns_and_raises_what_it_raises():
    for work in (0.0, MUCH):
        assert interruptible(work, divmod, 7, 2) == (3, 1)
        with pytest.raises(ZeroDivisionError):
            interruptible(work, divmod, 7, 0)


def test_a_long_call_has_the_error_states_of_its_caller():
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        interruptible(MUCH, np.exp, np.array([1e3]))


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to the own process ends it there")
def test_a_signal_ends_the_wait_for_a_long_call():
    go_on = Event()

    def call():
        signal.raise_signal(signal.SIGINT)
        assert go_on.wait(60)

    try:
        with pytest.raises(KeyboardInterrupt):
            interruptible(MUCH, call)
    finally:
        go_on.set()

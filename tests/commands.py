"""How tests run the command ``separatrix``: in this process, or in one of its own where that is what is tested."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import traceback
import warnings
from dataclasses import dataclass
from unittest import mock

from separatrix.cli.main import main

CODE = "import sys; from separatrix.cli.main import main; main(sys.argv[1:])"


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


def separatrix(*words, cwd=None, input="", env=None, tty=False):  # noqa: A002 - the name that subprocess has
    """The command in this process: its exit code and what it printed, as a process of its own would end."""
    out, err = (Stream(tty) for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(input.encode() if isinstance(input, str) else input))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    code = 0
    with (
        contextlib.chdir(cwd or os.curdir),
        mock.patch.multiple(sys, stdin=given, stdout=out, stderr=err),
        mock.patch.dict(os.environ, env or {}),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            main(list(map(str, words)))
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            traceback.print_exc()
            code = 1
    for number, handler in handlers.items():
        signal.signal(number, handler)
    return Done(code or 0, out.text(), err.text())


class Stream(io.TextIOWrapper):
    """A stream that keeps what is written, and may say that it is a terminal."""

    def __init__(self, tty):
        super().__init__(io.BytesIO(), encoding="utf-8", newline="")
        self.tty = tty

    def isatty(self):
        return self.tty

    def text(self):
        self.flush()
        return self.buffer.getvalue().decode()


def process(*words, code=CODE, **options):
    """The command in a process of its own."""
    command = [sys.executable, "-c", code, *map(str, words)]
    usual = {"capture_output": True, "text": True, "check": False, "timeout": 300}
    if "stdout" in options or "stderr" in options:
        usual |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        del usual["capture_output"]
    if "input" not in options and "stdin" not in options:
        usual["stdin"] = subprocess.DEVNULL
    return subprocess.run(command, **{**usual, **options})


def refused(done, says):
    """Bad input: exit code 2, and one sentence on standard error."""
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert says in line, line

"""The command ``separatrix``: finds the subcommand, and turns our errors into one line and exit code 2."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import signal
import sys
import threading
import warnings
from typing import Any, NoReturn

import click

from separatrix.cli import output
from separatrix.errors import SeparatrixError

COMMANDS = {
    "fit": "learn from a table and write a model file",
    "predict": "add predictions to the rows of a source",
    "evaluate": "hold a model against rows whose target is known",
    "compare": "compare learners on the same folds",
    "describe": "say what a model file or a source holds",
    "export": "write a linear model as Python, SQL or ONNX",
    "examples": "list the built-in sets",
    "audit": "ask five questions of a table: a screen, a report, a certificate, a model",
    "certify": "decide whether the classes of a table are separable, and prove it",
    "verify": "check a certificate against the data it speaks of",
    "schema": "print the JSON schema of what a command says with --json",
}


class Commands(click.Group):
    """Subcommands are modules ``separatrix.cli.<name>`` with a click command ``command``, imported when called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"separatrix.cli.{name}").command
        return command

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # the reader has closed the pipe, which is not an error
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where the rest is flushed to
            sys.exit(128 + signal.SIGPIPE)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="separatrix")
def separatrix() -> None:
    """Linear predictors that prove what they say about your data."""


def _end(number: int, _: object) -> None:
    sys.exit(128 + number)  # an exit and not a death, so that half-written files are removed


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; bad input is exit code 2 with one sentence, an interruption 130."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by the caller: there is nothing to read and nowhere to write
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows a question mark
    if threading.current_thread() is threading.main_thread():
        for ending in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, ending) and signal.getsignal(getattr(signal, ending)) is not signal.SIG_IGN:
                signal.signal(getattr(signal, ending), _end)
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            result = separatrix.main(args=arguments, prog_name="separatrix", standalone_mode=False)
            sys.stdout.flush()
            return result
        except click.exceptions.NoArgsIsHelpError as asked:
            click.echo(asked.ctx.get_help() if asked.ctx else "")
        except click.ClickException as error:
            _fail(error.format_message())
        except (click.Abort, KeyboardInterrupt):
            _fail("interrupted", 130)
        except MemoryError:
            _fail("there is not enough memory: use fewer rows or columns, or raise the limit (ulimit -v).")
        except OSError as error:
            _fail(_sentence(error))
        except SeparatrixError as error:
            _fail(str(error))


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    output.complain(f"warning: {message}")


def _fail(text: str, code: int = 2) -> NoReturn:
    """One line on standard error, and the exit code, whatever the state of the streams."""
    with contextlib.suppress(OSError):
        output.complain(text if code == 130 else f"error: {text}")
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # what cannot be written is dropped here, not in a traceback when the process ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(code)


def _sentence(error: OSError) -> str:
    """An error of the system in words: which file, and what is wrong with it."""
    if isinstance(error, SeparatrixError) or not error.strerror:
        return str(error)
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, (str, bytes))]
    return f"{' → '.join(names) or 'the output'}: {error.strerror}."

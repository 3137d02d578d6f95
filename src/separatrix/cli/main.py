"""The command ``separatrix``: finds the subcommand, and turns our errors into one line and exit code 2."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import warnings
from typing import Any

import click

from separatrix.cli import output
from separatrix.cli.process import (
    discard,
    end_on_signals,
    fail,
    is_lack_of_memory,
    limit_threads,
    prepare_streams,
    start_clock,
    threads_option,
    watch_memory,
)
from separatrix.errors import NO_MEMORY, BugError, SeparatrixError

COMMANDS = {
    "fit": "learn from a table and write a model file",
    "predict": "add predictions to the rows of a source",
    "stream": "predict and learn from rows as they arrive, from a file, a pipe or a socket",
    "evaluate": "evaluate a model on rows whose target is known",
    "compare": "compare learners on the same folds",
    "describe": "describe a model file or a source",
    "export": "write a linear model as Python, SQL or ONNX",
    "examples": "list the built-in data sets, or write one as CSV",
    "audit": "answer five questions about a table, with a report, a certificate and a model",
    "certify": "decide whether the classes of a table are separable, and prove it",
    "verify": "check a certificate against its data",
    "lab": "explore points, the perceptron and proofs in a browser",
    "schema": "print the JSON schema of a command's --json output",
    "completion": "print the completion script for bash, zsh or fish",
}


THREADED = ("fit", "predict", "evaluate", "compare", "audit", "certify")  # what reads many rows more than once


class Commands(click.Group):
    """Subcommands are modules ``separatrix.cli.<name>`` with a click command ``command``, imported when called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"separatrix.cli.{name}").command
        if name in THREADED and not any(option.name == "threads" for option in command.params):
            command.params.append(threads_option())
        return command

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except BrokenPipeError:  # the reader has closed the pipe, which is not an error
            discard(sys.stdout)
            sys.exit(128 + signal.SIGPIPE)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="separatrix")
def separatrix() -> None:
    """Linear predictors that prove what they say about your data."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; bad input is exit code 2 with one sentence, a bug 3, an interruption 130."""
    start_clock()
    limit_threads()
    prepare_streams()
    end_on_signals()
    watch_memory()
    with warnings.catch_warnings():
        warnings.showwarning = _warn
        try:
            result = separatrix.main(args=arguments, prog_name="separatrix", standalone_mode=False)
            sys.stdout.flush()
            return result
        except click.exceptions.NoArgsIsHelpError as asked:
            click.echo(asked.ctx.get_help() if asked.ctx else "")
        except click.MissingParameter as error:
            usage = "" if error.ctx is None else f" {error.ctx.get_usage()}"
            fail(f"{error.format_message()}{usage}")
        except click.ClickException as error:
            fail(_in_words(error.format_message()))
        except (click.Abort, KeyboardInterrupt):
            fail("interrupted", 130)
        except SeparatrixError as error:
            from separatrix.cli.messages import in_flags

            code = 3 if isinstance(error, BugError) else 2
            fail(NO_MEMORY if is_lack_of_memory(error) else in_flags(str(error)), code)
        except OSError as error:
            fail(NO_MEMORY if is_lack_of_memory(error) else _sentence(error))
        except (MemoryError, ImportError, RuntimeError, SystemError) as error:
            if not is_lack_of_memory(error):
                raise
            fail(NO_MEMORY)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    from separatrix.cli.messages import in_flags

    output.complain(f"warning: {in_flags(str(message))}")


def _in_words(message: str) -> str:
    """What click says of a number that is none, in words: "not a valid integer range" has nothing to do with ranges."""
    for kind, word in (("integer", "whole number"), ("float", "number")):
        for own in (f"a valid {kind} range", f"a valid {kind}"):
            message = message.replace(f" is not {own}.", f" is not a {word}.")
    return message


def _sentence(error: OSError) -> str:
    """An error of the system in words: which file, and what is wrong with it."""
    if not error.strerror:
        return str(error)
    names = [os.fsdecode(name) for name in (error.filename, error.filename2) if isinstance(name, (str, bytes))]
    return f"{' → '.join(names) or 'the output'}: {error.strerror}."

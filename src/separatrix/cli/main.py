"""The command ``separatrix``: finds the subcommand, and turns our errors into one line and exit code 2."""

from __future__ import annotations

import importlib
import io
import os
import signal
import sys
import threading
from typing import Any

import click

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
        except BrokenPipeError:  # whoever reads the output has seen enough of it, which is no error to tell of
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where the rest is flushed to
            sys.exit(128 + signal.SIGPIPE)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="separatrix")
def separatrix() -> None:
    """Linear predictors that prove what they say about your data."""


def _terminated(*_: object) -> None:
    sys.exit(143)  # an exit and not a death, so that half-written files are removed


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; bad input is exit code 2 with one sentence, an interruption 130."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed by whoever called: there is nothing to read, and nobody to tell
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows a question mark
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminated)
    try:
        return separatrix.main(args=arguments, prog_name="separatrix", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.ctx.get_help() if asked.ctx else "")
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except (SeparatrixError, OSError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)

"""Answers to a shell that completes a word of a command, and ``separatrix completion``, which sets that up."""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem, get_completion_class

from separatrix.errors import ParameterError

SHELLS = ("bash", "zsh", "fish")


class LearnerName(click.ParamType[str]):
    """The name of a learner; it is checked when the learner is made, where the nearest names are known."""

    name = "learner"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from separatrix.cli.learner_command import summaries

        return [CompletionItem(name, help=text) for name, text in summaries() if name.startswith(incomplete)]


LEARNER = LearnerName()


class SourceName(click.ParamType[str]):
    """A file, a pattern, -, example:NAME or SQL; files are completed by the shell."""

    name = "source"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if incomplete and "example:".startswith(incomplete[:8]):
            return [CompletionItem(name) for name in _examples("example:") if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file")]


SOURCE = SourceName()


class ExampleName(click.ParamType[str]):
    """The name of a built-in set; it is checked when the set is made."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in _examples("") if name.startswith(incomplete)]


EXAMPLE = ExampleName()


def _examples(prefix: str) -> list[str]:
    from separatrix.data.examples import listing

    return [f"{prefix}{entry['name']}" for entry in listing()]


@click.command()
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def command(shell: str | None) -> None:
    """Print the script that completes commands, options, learners and files in SHELL (default: that of $SHELL).

    \b
    eval "$(separatrix completion bash)"      in ~/.bashrc
    eval "$(separatrix completion zsh)"       in ~/.zshrc
    separatrix completion fish | source       in ~/.config/fish/config.fish
    """
    from separatrix.cli.main import separatrix

    name = shell or os.path.basename(os.environ.get("SHELL", ""))
    if name not in SHELLS:
        raise ParameterError(f"name the shell: separatrix completion {'|'.join(SHELLS)}.")
    made = get_completion_class(name)
    assert made is not None
    script = made(separatrix, {}, "separatrix", "_SEPARATRIX_COMPLETE")
    click.echo(script.source_template % script.source_vars())

"""What a shell is told when it completes a word of a command: learners, examples, and files."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class LearnerName(click.ParamType[str]):
    """The name of a learner; it is checked when the learner is made, where the nearest names are known."""

    name = "learner"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from separatrix.cli.learner_help import summaries

        return [CompletionItem(name, help=text) for name, text in summaries() if name.startswith(incomplete)]


LEARNER = LearnerName()


class SourceName(click.ParamType[str]):
    """A file, a pattern, -, example:NAME or SQL; files are completed by the shell."""

    name = "source"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        if incomplete and "example:".startswith(incomplete[:8]):
            from separatrix.data.examples import listing

            names = [f"example:{entry['name']}" for entry in listing()]
            return [CompletionItem(name) for name in names if name.startswith(incomplete)]
        return [CompletionItem(incomplete, type="file")]


SOURCE = SourceName()

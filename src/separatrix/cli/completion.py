"""What a shell is told when it completes a command: learners, their options, examples, and files.

Learners and their options are those of the public names, so that a new learner completes by itself.
"""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem


class LearnerName(click.ParamType[str]):
    """The name of a learner; it is checked when the learner is made, where the nearest names are known."""

    name = "learner"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from separatrix.learners.registry import learner_names

        return [CompletionItem(name) for name in learner_names() if name.startswith(incomplete)]


LEARNER = LearnerName()


class LearnerCommand(click.Command):
    """A command that also takes the options of the learner it is given."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("--"):
            chosen: Any = ctx.params.get("learner")
            names = [chosen] if isinstance(chosen, str) else list(chosen or ["averaged-perceptron"])
            known = {item.value for item in found}
            found += [item for name in names for item in _flags(name) if item.value not in known]
        return [item for item in found if item.value.startswith(incomplete)]


def _flags(name: str) -> list[CompletionItem]:
    from separatrix.learners.base import parameters_of
    from separatrix.learners.registry import learner_class

    items = []
    for key, default in parameters_of(learner_class(name)).items():
        flag = key.replace("_", "-")
        items.append(CompletionItem(f"--{flag}", help=f"default {default!r}"))
        if isinstance(default, bool):
            items.append(CompletionItem(f"--no-{flag}", help=f"default {default!r}"))
    return items


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

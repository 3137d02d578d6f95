"""A command that takes the options of a learner beside its own: on its command line, in its help, for the shell.

Learners and their options are those of the public names, so that a new learner is here by itself.
"""

from __future__ import annotations

from itertools import zip_longest

import click
from click.shell_completion import CompletionItem

from separatrix.cli import learner_help

WORDS = ("true", "false")


class LearnerCommand(click.Command):
    """``--learner perceptron --max-epochs 50 --no-fit-intercept``, in any order; ``args`` has what is the learner's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["learner"] = self._named(args)
        own, extra = self._sorted(args, ctx.meta["learner"] or self._default(ctx))
        super().parse_args(ctx, own)
        if ctx.args and not ctx.resilient_parsing:
            raise click.UsageError(
                f"one SOURCE is enough, and {ctx.args[0]!r} is a second; a pattern in quotes, such as "
                "'visits/*.csv', reads many files."
            )
        ctx.args = extra
        return extra

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        name = ctx.meta.get("learner")
        if name is None:
            with formatter.section("Learners (their options: separatrix fit --learner NAME --help)"):
                formatter.write_dl(learner_help.summaries())
            return
        found = learner_help.options(name)
        if not found:
            from separatrix.models.registry import learner_class

            learner_class(name)  # says which there are
        with formatter.section(f"Options of {name}"):
            formatter.write_dl([(option.flag, option.description) for option in found])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("--"):
            known = {item.value for item in found}
            for option in learner_help.options(ctx.meta.get("learner") or self._default(ctx)):
                items = [CompletionItem(flag, help=option.description) for flag in option.flag.split(" / ")]
                found += [item for item in items if item.value not in known]
        return [item for item in found if item.value.startswith(incomplete)]

    def _default(self, ctx: click.Context) -> str:
        (option,) = (own for own in self.get_params(ctx) if own.name == "learner")
        return str(option.get_default(ctx) or "logistic-regression")  # fit chooses by the target

    def _named(self, args: list[str]) -> str | None:
        """The learner that the words name, wherever they do."""
        for word, following in zip_longest(args, args[1:]):
            if word in ("-l", "--learner"):
                return following
            for start in ("--learner=", "-l"):
                if word.startswith(start):
                    return word.removeprefix(start)
        return None

    def _sorted(self, args: list[str], learner: str) -> tuple[list[str], list[str]]:
        """The words of the command itself, and the flags of the learner with their values."""
        takes: dict[str, bool] = {"--help": False}
        for own in self.params:
            if isinstance(own, click.Option):
                takes |= dict.fromkeys([*own.opts, *own.secondary_opts], not own.is_flag)
        switches = {
            flag for option in learner_help.options(learner) if option.switch for flag in option.flag.split(" / ")
        }
        kept: list[str] = []
        extra: list[str] = []
        words: list[str] = list(args)
        while words:
            word = words.pop(0)
            if word == "--":
                return [*kept, word, *words], extra
            name = word.partition("=")[0] if word.startswith("--") else word
            home = kept if name in takes or not word.startswith("--") else extra
            home.append(word)
            if "=" in word and word.startswith("--"):
                continue
            if home is kept:
                value = takes.get(name, False)
            else:
                value = name not in switches or "".join(words[:1]).lower() in WORDS
            if value and words:
                home.append(words.pop(0))
        return kept, extra

"""A command that takes the options of a learner beside its own: parsed, listed in its help, completed by shells.

Learners and their options are those of the public names, so a new learner appears here without an edit.

Docstrings are read from the source and not from the classes: importing the learners takes six times as long as
all the rest of a help text.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

import click
from click.shell_completion import CompletionItem

from separatrix.models.registry import candidates, command_name, flag_name, learner_class


@dataclass(frozen=True, slots=True)
class Option:
    """One parameter of a learner as a flag."""

    name: str  # as a keyword
    kind: str
    default: str
    text: str  # the first sentence

    @property
    def switch(self) -> bool:
        return self.kind == "bool"

    @property
    def flag(self) -> str:
        """How it is written: --max-iter, or --fit-intercept / --no-fit-intercept."""
        name = flag_name(self.name)
        return f"--{name} / --no-{name}" if self.switch else f"--{name}"

    @property
    def description(self) -> str:
        kind = "" if self.switch else f"  {self.kind}"
        default = self.default.strip('"')
        return f"{self.text}{kind}  [default: {default}]"


@cache
def docstring(name: str) -> str:
    """The docstring of a public class, by its name in Python or on the command line; empty where there is none."""
    for public, home in candidates().items():
        if name in (public, command_name(public)):
            package, _, module = home.rpartition(".")
            source = (pkgutil.get_data(package, f"{module}.py") or b"").decode()
            found = re.search(rf'^class {public}\b[^\n]*:\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
            return inspect.cleandoc(found.group(1)) if found else ""
    return ""


def options(name: str) -> list[Option]:
    """The parameters of a learner; none where there is no such learner."""
    section = docstring(name).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    out = []
    for entry in re.split(r"\n(?=\S)", section) if section else []:
        head, _, body = entry.partition("\n")
        key, _, kind = head.partition(" : ")
        kind, _, default = kind.partition(", default=")
        text = " ".join(inspect.cleandoc(body).split())
        out.append(Option(key, kind, default, re.split(r"(?<=[.!?])\s", text)[0].replace("``", "")))
    return out


def summaries() -> list[tuple[str, str]]:
    """Every learner with the first line of its docstring; what has no parameters is a result, not a learner."""
    return [(command_name(name), docstring(name).partition("\n")[0]) for name in candidates() if options(name)]


WORDS = ("true", "false")


class LearnerCommand(click.Command):
    """``--learner perceptron --max-iter 50 --no-fit-intercept``, in any order; ``args`` has what is the learner's."""

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
            listed = summaries()
            if ctx.info_name == "stream":  # which classes learn row by row is known when they are imported
                listed = [(own, text) for own, text in listed if hasattr(learner_class(own), "partial_fit")]
            with formatter.section("Learners (their options: separatrix fit --learner NAME --help)"):
                formatter.write_dl(listed)
            return
        found = options(name)
        if not found:
            learner_class(name)  # says which there are
        with formatter.section(f"Options of {name}"):
            formatter.write_dl([(option.flag, option.description) for option in found])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("--"):
            known = {item.value for item in found}
            for option in options(ctx.meta.get("learner") or self._default(ctx)):
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
        switches = {flag for option in options(learner) if option.switch for flag in option.flag.split(" / ")}
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

"""What the help of ``fit`` says of learners, from their docstrings.

The docstrings are read from the source and not from the classes: importing the learners takes six times as long as
all the rest of a help text.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from dataclasses import dataclass
from functools import cache

from separatrix.models.names import candidates, command_name, flag_name


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
        """How it is written: --max-epochs, or --fit-intercept / --no-fit-intercept."""
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

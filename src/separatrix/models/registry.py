"""The learners by name: as classes are called, and as the command line calls them.

Names need no import, so that help texts load no numpy; a learner is imported when its class is asked for.
"""

from __future__ import annotations

import difflib
import importlib
import re
from typing import TYPE_CHECKING

from separatrix.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.protocol import Estimator


def candidates() -> dict[str, str]:
    """Every public name that lives with the learners, with its module; the list of public names is the only one."""
    public: dict[str, str] = importlib.import_module("separatrix")._HOMES
    return {name: home for name, home in sorted(public.items()) if home.startswith("separatrix.models.")}


def command_name(class_name: str) -> str:
    """AveragedPerceptron is averaged-perceptron; AROW is arow."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", class_name).lower()


FLAGS = {"positive": "positive-weights", "trace": "keep-trace"}  # --positive is a class, --trace prints the steps


def flag_name(parameter: str) -> str:
    """max_iter is --max-iter on the command line."""
    return FLAGS.get(parameter, parameter.replace("_", "-"))


def is_learner(name: str) -> bool:
    """Whether a public name is that of a learner, and not of a result that one gives."""
    from separatrix.protocol import Estimator

    home = candidates().get(name)
    found = None if home is None else getattr(importlib.import_module(home), name)
    return isinstance(found, type) and issubclass(found, Estimator)


def homes() -> dict[str, str]:
    """Every public learner with its module; imports them all."""
    return {name: home for name, home in candidates().items() if is_learner(name)}


def learner_names() -> list[str]:
    return [command_name(name) for name in homes()]


def learner_class(name: str) -> type[Estimator]:
    """The class of a learner, by either name."""
    from separatrix.protocol import Estimator

    for public, home in candidates().items():
        if name in (public, command_name(public)):
            found = getattr(importlib.import_module(home), public)
            if isinstance(found, type) and issubclass(found, Estimator):
                return found
    near = difflib.get_close_matches(name, learner_names(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ParameterError(f"there is no learner {name!r}{hint} There are {', '.join(learner_names())}.")

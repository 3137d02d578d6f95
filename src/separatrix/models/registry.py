"""The learners by name, as classes."""

from __future__ import annotations

import difflib
import importlib

from separatrix.errors import ParameterError
from separatrix.models.names import candidates, command_name
from separatrix.protocol import Estimator


def is_learner(name: str) -> bool:
    """Whether a public name is that of a learner, and not of a result that one gives."""
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
    for public, home in candidates().items():
        if name in (public, command_name(public)):
            found = getattr(importlib.import_module(home), public)
            if isinstance(found, type) and issubclass(found, Estimator):
                return found
    near = difflib.get_close_matches(name, learner_names(), n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ParameterError(f"there is no learner {name!r}{hint} There are {', '.join(learner_names())}.")

"""The names of learners, without importing one: as classes are called, and as the command line calls them."""

from __future__ import annotations

import importlib
import re


def candidates() -> dict[str, str]:
    """Every public name that lives with the learners, with its module; the list of public names is the only one."""
    public: dict[str, str] = importlib.import_module("separatrix")._HOMES
    return {name: home for name, home in sorted(public.items()) if home.startswith("separatrix.models.")}


def command_name(class_name: str) -> str:
    """AveragedPerceptron is averaged-perceptron; AROW is arow."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", class_name).lower()


FLAGS = {"positive": "positive-weights", "trace": "keep-trace"}  # --positive is a class, --trace prints the steps


def flag_name(parameter: str) -> str:
    """max_epochs is --max-epochs on the command line."""
    return FLAGS.get(parameter, parameter.replace("_", "-"))

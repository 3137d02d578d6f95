"""Messages of the library in the words of the command line: flags for parameters, names of learners and columns."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import cache
from typing import Any

from separatrix.cli import learner_command
from separatrix.models.registry import candidates, command_name, flag_name

QUOTES = "'\""
VALUE = r"('[^']*'|\"[^\"]*\"|True|False|None|[-+]?(?:\d[\d.e+-]*\d|\d|inf))"
GIVEN = re.compile(rf"(?<![\w.])([A-Za-z][A-Za-z_0-9]*)={VALUE}")
FEATURE = re.compile(r"(?<![\w#-])(['\"]?)x(\d+)\1(?![\w-])")
ASK = re.compile(r"(?:; see separation_, or choose on_separation| \(ask separation_\S* which are infinite\))")
COUNTED = re.compile(r" \(n_(?:samples|features) = \d+\)")
COLUMNS = ("target", "positive", "drop", "keep", "text", "category", "number", "groups", "time")
OTHERS = ("task", "budget", "level", "na", "decimal", "encoding", "ledger")
FLAGS = {name: f"--{name}" for name in COLUMNS + OTHERS} | {"feature_map": "--map"}  # of the commands that read tables
NAMED = re.compile(rf"(?<![\w.])({'|'.join(FLAGS)})=(?![\w'\"+-])")  # no value given
OPENING = re.compile(rf"({'|'.join(FLAGS)}) is (?=['\"\d+-])")
INSTEAD = {
    "standardise them": "standardise them (--scale standard)",
    "step_trace": "--trace",
    "set --batch-size none": "add --batch-size none",
    ", or pass stratify=False": "",
    "choose one with --positive, for instance": "choose one, for instance with",
    "leave target out": "leave --target out",
    "drop those rows": "--skip-missing-target leaves those rows out",
}


def in_flags(text: str) -> str:
    """A message without Python: --multiclass ovr for multiclass='ovr', linear-descent for LinearDescent."""
    text = ASK.sub("; --on-separation chooses another answer", text) if "on_separation" in text else ASK.sub("", text)
    text = NAMED.sub(lambda found: FLAGS[found.group(1)], GIVEN.sub(_flag, text))
    if opening := OPENING.match(text):
        text = f"{FLAGS[opening.group(1)]} is {text[opening.end() :]}"
    for name, command in _classes().items():
        text = re.sub(rf"(?<![\w-]){name}\b(?:\(\))?", command, text)
    for name in _parameters():
        if "_" in name:
            text = re.sub(rf"(?<![\w-]){name}(?![\w=])", f"--{flag_name(name)}", text)
    for before, after in INSTEAD.items():
        text = text.replace(before, after)
    return COUNTED.sub("", text)


def with_names(text: str, features: Sequence[str]) -> str:
    """A message of a learner, which knows columns by number only, with the names of the features."""

    def named(found: re.Match[str]) -> str:
        at = int(found.group(2))
        return repr(features[at]) if at < len(features) else found.group(0)

    return FEATURE.sub(named, text)


def learner_text(learner: Any) -> str:
    """A fitted learner with the method that its fit chose, where it chose one."""
    method = getattr(learner, "method_", None)
    return repr(learner) if method is None else f"{repr(learner)[:-1]}, fitted by {method})"


def learner_in_flags(text: str) -> str:
    """A learner as the command line names it: logistic-regression --C 1 (fitted by ridge)."""
    match = re.fullmatch(r"(\w+)\((.*)\)", text, re.DOTALL)
    if match is None or match.group(1) not in _classes():
        return text
    given = [_flag(found) for found in GIVEN.finditer(match.group(2))]
    notes = GIVEN.sub("", match.group(2)).strip(" ,")
    return " ".join([_classes()[match.group(1)], *given]) + (f" ({notes})" if notes else "")


def _flag(found: re.Match[str]) -> str:
    name, value = found.groups()
    if name in FLAGS:  # also positive: the class, not the parameter of a learner
        return f"{FLAGS[name]} {shlex.quote(value.strip(QUOTES))}"
    if name not in _parameters():
        return found.group(0)
    if value in ("True", "False"):
        return f"--{'no-' * (value == 'False')}{flag_name(name)}"
    return f"--{flag_name(name)} {value.strip(QUOTES) if value != 'None' else 'none'}"


@cache
def _classes() -> dict[str, str]:
    """Learners by their names in Python, longer ones first."""
    return {
        name: command_name(name)
        for name in sorted(candidates(), key=len, reverse=True)
        if learner_command.options(name)
    }


@cache
def _parameters() -> frozenset[str]:
    return frozenset(option.name for name in candidates() for option in learner_command.options(name))

"""JSON into dataclasses: every value of the declared type and within its limits, or a sentence why not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
SHOWN = 40  # characters of a value that a message quotes


class SceneError(ValueError):
    """A request that the lab does not answer; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Within:
    """The least and the greatest value of a number, or of the length of a list."""

    minimum: float
    maximum: float


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields, with their limits."""
    return get_type_hints(kind, include_extras=True)


def read(kind: Callable[..., Kind], given: Any, what: str) -> Kind:
    """An instance of the dataclass from what JSON gave; fields that are left out keep their defaults."""
    if not isinstance(given, dict):
        raise SceneError(f"{what} is not an object.")
    hints = hints_of(kind)
    strange = sorted(set(given) - set(hints))
    if strange:
        raise SceneError(f"{what} has the unknown field {strange[0][:SHOWN]!r}.")
    missing = [name for name in _needed(kind) if name not in given]
    if missing:
        raise SceneError(f"{what} has no field {missing[0]!r}.")
    return kind(**{name: _value(hints[name], value, _place(name, what)) for name, value in given.items()})


@cache
def _needed(kind: Any) -> tuple[str, ...]:
    return tuple(own.name for own in fields(kind) if own.default is MISSING and own.default_factory is MISSING)


def _place(name: str, what: str) -> str:
    return name if what in ("the scene", *PARTS) else f"{name} of {what}"


PARTS = ("choices", "features", "study", "descent")  # whose fields have names that need no "of"


def _value(hint: Any, given: Any, what: str) -> Any:
    limits = None
    if get_origin(hint) is Annotated:
        hint, limits = get_args(hint)
    if is_dataclass(hint) and isinstance(hint, type):
        return read(hint, given, what)
    if get_origin(hint) is list:
        return _list(get_args(hint)[0], given, what, limits)
    if get_origin(hint) is Literal:
        return _one_of(get_args(hint), given, what)
    if hint is bool:
        if type(given) is not bool:
            raise SceneError(f"{what} is neither true nor false.")
        return given
    return _number(hint, given, what, limits)


def _number(hint: Any, given: Any, what: str, limits: Within | None) -> int | float:
    least, most = (-math.inf, math.inf) if limits is None else (limits.minimum, limits.maximum)
    right = type(given) is int or (hint is float and type(given) is float)
    if not right or not least <= given <= most:
        name = "number" if hint is float else "whole number"
        raise SceneError(f"{what} is not a {name} between {least:g} and {most:g}.")
    return float(given) if hint is float else given


def _one_of(known: tuple[Any, ...], given: Any, what: str) -> Any:
    found = [value for value in known if type(value) is type(given) and value == given]
    if not found:
        raise SceneError(f"{what} is {str(given)[:SHOWN]!r}: it can be {', '.join(map(str, known))}.")
    return found[0]


def _list(hint: Any, given: Any, what: str, limits: Within | None) -> list[Any]:
    if not isinstance(given, list):
        raise SceneError(f"{what} is not a list.")
    if limits is not None and len(given) > limits.maximum:
        raise SceneError(f"there are {len(given)} {what}; the lab takes at most {limits.maximum:g}.")
    name = what.removesuffix("s")
    return [_value(hint, own, f"{name} {k}") for k, own in enumerate(given)]

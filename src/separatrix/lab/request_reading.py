"""JSON into dataclasses: every value of the declared type and within its limits, or a sentence why not.

A reader is made for each type, once: a scene has 1500 values, and looking at annotations costs more than the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

Kind = TypeVar("Kind")
Reader = Callable[[Any, str], Any]  # from what JSON gave, and its name for messages
SHOWN = 40  # characters of a value that a message quotes
PARTS = ("the scene", "choices", "features", "study", "descent")  # whose fields have names that need no "of"


class SceneError(ValueError):
    """A request that the lab does not answer; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Within:
    """The least and the greatest value of a number, or of the length of a list."""

    minimum: float
    maximum: float


def read(kind: Callable[..., Kind], given: Any, what: str) -> Kind:
    """An instance of the dataclass from what JSON gave; fields that are left out keep their defaults."""
    found: Kind = _reader(kind)(given, what)
    return found


@cache
def _reader(hint: Any) -> Reader:
    limits = None
    if get_origin(hint) is Annotated:
        hint, limits = get_args(hint)
    if is_dataclass(hint):
        return _object(hint)
    if get_origin(hint) is list:
        return _list(_reader(get_args(hint)[0]), limits)
    if get_origin(hint) is Literal:
        return _one_of(get_args(hint))
    return _flag if hint is bool else _number(hint is float, limits)


def _object(kind: Any) -> Reader:
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}
    needed = [own.name for own in fields(kind) if own.default is MISSING and own.default_factory is MISSING]

    def reader(given: Any, what: str) -> Any:
        if not isinstance(given, dict):
            raise SceneError(f"{what} is not an object.")
        for name in given:
            if name not in readers:
                raise SceneError(f"{what} has the unknown field {name[:SHOWN]!r}.")
        for name in needed:
            if name not in given:
                raise SceneError(f"{what} has no field {name!r}.")
        of = "" if what in PARTS else f" of {what}"
        return kind(**{name: readers[name](value, name + of) for name, value in given.items()})

    return reader


def _list(each: Reader, limits: Within | None) -> Reader:
    most = math.inf if limits is None else limits.maximum

    def reader(given: Any, what: str) -> list[Any]:
        if not isinstance(given, list):
            raise SceneError(f"{what} is not a list.")
        if len(given) > most:
            raise SceneError(f"there are {len(given)} {what}; the lab takes at most {most:g}.")
        name = what.removesuffix("s")
        return [each(own, f"{name} {k}") for k, own in enumerate(given)]

    return reader


def _one_of(known: tuple[Any, ...]) -> Reader:
    def reader(given: Any, what: str) -> Any:
        for value in known:
            if type(value) is type(given) and value == given:
                return value
        raise SceneError(f"{what} is {str(given)[:SHOWN]!r}: it can be {', '.join(map(str, known))}.")

    return reader


def _number(real: bool, limits: Within | None) -> Reader:
    least, most = (-math.inf, math.inf) if limits is None else (limits.minimum, limits.maximum)
    name = "number" if real else "whole number"

    def reader(given: Any, what: str) -> int | float:
        right = type(given) is int or (real and type(given) is float)
        if not right or not least <= given <= most:
            raise SceneError(f"{what} is not a {name} between {least:g} and {most:g}.")
        return float(given) if real else given

    return reader


def _flag(given: Any, what: str) -> bool:
    if type(given) is not bool:
        raise SceneError(f"{what} is neither true nor false.")
    return given

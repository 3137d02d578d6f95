"""Every public class, method and function is documented in numpydoc's sections, with an example that runs."""

from __future__ import annotations

import dataclasses
import doctest
import enum
import inspect
import sys
import warnings
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from numpydoc.validate import validate

import separatrix
from separatrix.errors import SeparatrixWarning

sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "_ext"))
from public_reference import public_names  # of the site

mpl.use("agg")
# Unknown or misplaced sections, no docstring or summary, parameters unlike the signature, no Returns, no Examples.
HELD = {"GL06", "GL07", "GL08", "SS01", "PR01", "PR02", "RT01", "EX01"}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def functions_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods of the class, inherited ones of the package included."""
    for name in dir(cls):
        found = inspect.getattr_static(cls, name)
        found = getattr(found, "__func__", getattr(found, "fn", found))
        if not name.startswith("_") and inspect.isfunction(found) and found.__module__.startswith("separatrix"):
            yield name, found


def public() -> dict[str, Any]:
    """Classes, methods and functions by their public name."""
    found: dict[str, Any] = {}
    for name in NAMES:
        value = attrgetter(name)(separatrix)
        if inspect.isclass(value):
            found[name] = value
            found.update({f"{name}.{method}": function for method, function in functions_of(value)})
        elif inspect.isfunction(value):
            found[name] = value
    return found


NAMES = sorted(public_names())
PUBLIC = public()
OWN = {f"{value.__module__}.{value.__qualname__}": value for value in PUBLIC.values()}


def is_result(value: Any) -> bool:
    """What functions return: nobody calls its constructor, so that its attributes are documented instead."""
    return inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, enum.Enum))


def test_the_names_are_found():
    assert {"Perceptron.learn_one", "separability", "LogisticRegression.summary", "evaluation.Estimate"} <= set(PUBLIC)
    assert len(OWN) >= 150


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in NAMES
        if inspect.isroutine(attrgetter(name)(separatrix)) or inspect.isclass(attrgetter(name)(separatrix))
    ],
)
def test_sections(name):
    for each in [known for known in PUBLIC if known == name or known.startswith(f"{name}.")]:
        value = PUBLIC[each]
        errors = {code: text for code, text in validate(f"separatrix.{each}")["errors"] if code in HELD}
        if is_result(value):
            errors.pop("PR01", None)
            assert issubclass(value, enum.Enum) or "Attributes\n" in inspect.getdoc(value), each
        assert not errors, (each, errors)


@pytest.mark.parametrize("name", sorted(OWN))
def test_examples(name):
    finder = doctest.DocTestFinder(recurse=False)
    tests = [test for test in finder.find(OWN[name], name, globs={}) if test.examples]
    assert tests, f"{name} has no example"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        for test in tests:
            assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")

"""Public names that are imported when they are first used, from the table that type checkers read.

The table of a package is its ``__init__.pyi``, in lines ``from MODULE import NAME as NAME``; ``__init__.py`` calls
:func:`offer`. So a package offers names of modules that import it themselves, and loads none of them by itself.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from typing import Any


def offer(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], dict[str, str]]:
    """``__getattr__`` and ``__dir__`` of a package, and every name of its table with its module."""
    homes = table_of(os.path.join(os.path.dirname(file), "__init__.pyi"))

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        value = imported(f"{package}.{name}") if home == package else getattr(imported(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        own = vars(sys.modules[package])
        return sorted({*homes, *(name for name in ("__version__",) if name in own)})

    return get, names, homes


def table_of(stub: str) -> dict[str, str]:
    """The names of a table with their modules."""
    with open(stub, encoding="utf-8") as lines:
        words = (line.split() for line in lines)
        return {line[3]: line[1] for line in words if line[:1] == ["from"]}


def imported(name: str) -> Any:
    """A module; at the end of an import CPython takes it out of ``sys.modules`` and puts it back, and a thread that
    imports from it in between, which happens without the GIL, has a KeyError."""
    while True:
        try:
            return importlib.import_module(name)
        except KeyError as missing:
            if not str(missing.args[0]).startswith("separatrix"):
                raise

"""Linear predictors that prove what they say about your data.

Names are imported when they are first used: ``import separatrix`` by itself loads nothing, and a dense fit
loads numpy and the kernels only. The public names are those of ``__init__.pyi``.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """Every public name with its module, from lines ``from MODULE import NAME as NAME``."""
    with open(os.path.join(os.path.dirname(__file__), "__init__.pyi"), encoding="utf-8") as table:
        words = (line.split() for line in table)
        return {line[3]: line[1] for line in words if line[:1] == ["from"]}


_HOMES = _homes()
__all__ = ["__version__", *_HOMES]  # noqa: PLE0604: names of the table


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    home = _imported(_HOMES[name])
    value = _imported(f"separatrix.{name}") if home.__name__ == __name__ else getattr(home, name)
    globals()[name] = value
    return value


def _imported(name: str) -> Any:
    """A module; at the end of an import CPython takes it out of ``sys.modules`` and puts it back, and a thread that
    imports from it in between, which happens without the GIL, has a KeyError."""
    while True:
        try:
            return importlib.import_module(name)
        except KeyError as missing:
            if not str(missing.args[0]).startswith(__name__):
                raise


def __dir__() -> list[str]:
    return sorted(__all__)

"""Options that every part of the package takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.errors import ParameterError


def need_flag(name: str, value: Any) -> None:
    """True or False, and nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise ParameterError(f"{name} is {value!r}: it must be True or False.")

"""Linear predictors that prove what they say about your data.

Names are imported when they are first used, so that ``import separatrix`` loads numpy and the kernels
only.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from separatrix import errors, kernels

if TYPE_CHECKING:
    from separatrix.learners.arow import AROW
    from separatrix.learners.averaged import AveragedPerceptron
    from separatrix.learners.margin import MarginPerceptron
    from separatrix.learners.passive_aggressive import PassiveAggressive
    from separatrix.learners.perceptron import Perceptron
    from separatrix.maths.stopping import Status
    from separatrix.maths.trace import Trace

__version__ = "0.1.0"

_HOMES = {
    "AROW": "separatrix.learners.arow",
    "AveragedPerceptron": "separatrix.learners.averaged",
    "MarginPerceptron": "separatrix.learners.margin",
    "PassiveAggressive": "separatrix.learners.passive_aggressive",
    "Perceptron": "separatrix.learners.perceptron",
    "Status": "separatrix.maths.stopping",
    "Trace": "separatrix.maths.trace",
}

__all__ = [
    "AROW",
    "AveragedPerceptron",
    "MarginPerceptron",
    "PassiveAggressive",
    "Perceptron",
    "Status",
    "Trace",
    "__version__",
    "errors",
    "kernels",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

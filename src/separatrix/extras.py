"""Optional packages: which extra installs each, and one sentence where one is missing.

``pip install separatrix`` brings what fits, proofs and model files need. The others are imported where they are used.
"""

from __future__ import annotations

import importlib
from typing import Any

from separatrix.errors import MissingPackageError

EXTRAS = {  # package: what needs it, and the extra that brings it
    "duckdb": ("reading this source", "tables"),
    "nanoarrow": ("reading this source", "tables"),
    "matplotlib": ("drawing a picture", "plots"),
    "jinja2": ("writing a report", "audit"),
    "formulaic": ("a formula", "formulas"),
    "starlette": ("separatrix lab", "lab"),
    "uvicorn": ("separatrix lab", "lab"),
    "ray": ("work on a cluster", "cluster"),
    "onnx": ("the export to ONNX", "onnx"),
    "openpyxl": ("reading a workbook", "excel"),
    "sklearn": ("this built-in table", "sklearn"),
}


def need(package: str, purpose: str | None = None, extra: str | None = None) -> Any:
    """Import an optional package; an error says what needs it and how to install it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != package:
            raise  # the package is here, and lacks one of its own
        usual, its_extra = EXTRAS[package]
        raise MissingPackageError(
            f"{purpose or usual} needs the package {package}: pip install 'separatrix[{extra or its_extra}]'."
        ) from None

"""One table of public names, which type checkers and the package both read."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import separatrix
from separatrix.models.registry import homes
from separatrix.protocol import Estimator

STUB = Path(separatrix.__file__).with_suffix(".pyi")


def test_the_package_offers_what_the_table_says():
    imports = [node for node in ast.parse(STUB.read_text()).body if isinstance(node, ast.ImportFrom)]
    named = {alias.name: node.module for node in imports for alias in node.names}
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    assert set(separatrix.__all__) == {"__version__", *named}
    for name, home in named.items():
        value = getattr(separatrix, name)
        found = sys.modules[f"{home}.{name}"] if home == "separatrix" else getattr(sys.modules[home], name)
        assert value is found


def test_a_learner_is_one_by_its_public_name_alone():
    for name, home in homes().items():
        cls = getattr(separatrix, name)
        assert issubclass(cls, Estimator)
        assert cls.__module__ == home


def test_importing_the_package_loads_no_part_of_it():
    code = "import sys, separatrix; print([m for m in sys.modules if m.startswith(('separatrix.', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"

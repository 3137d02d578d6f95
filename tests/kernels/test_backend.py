"""Which kernels are loaded, what a wrong choice says, and that stubs, native and readable kernels agree."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix
from separatrix import kernels
from separatrix.kernels import _cpu, reference


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("SEPARATRIX_BACKEND", "fortran", "it can be 'native' or 'reference'"),
        ("SEPARATRIX_ISA", "mmx", "it can be baseline, avx2, avx512"),
    ],
)
def test_an_unknown_choice_is_refused_by_name(variable, value, says):
    environment = {"SEPARATRIX_BACKEND": "native", variable: value}
    done = run("import separatrix.kernels", **environment)
    assert done.returncode == 1
    assert says in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("level", kernels.LEVELS)
def test_each_level_can_be_forced(level):
    done = run("from separatrix import kernels; print(kernels.isa)", SEPARATRIX_BACKEND="native", SEPARATRIX_ISA=level)
    if kernels.LEVELS.index(level) <= kernels.LEVELS.index(_cpu.level()):
        assert done.stdout.strip() == level
    else:
        assert "this processor ends at" in done.stderr


def test_stubs_native_and_readable_kernels_have_the_same_names():
    stub = ast.parse((Path(kernels.__file__).parent / "_native.pyi").read_text())
    declared = {node.name for node in stub.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    declared = {name for name in declared if not name.startswith("_")}
    from separatrix.kernels import _native_baseline as native

    compiled = {name for name in dir(native) if not name.startswith("_") and callable(getattr(native, name))}
    readable = {name for name in reference.__all__ if callable(getattr(reference, name))}
    assert declared == compiled == readable


def test_importing_and_fitting_dense_rows_loads_numpy_only():
    code = (
        "import sys, separatrix, numpy as np; "
        "separatrix.Perceptron().fit(np.eye(2), [0, 1]).predict(np.eye(2)); "
        "print(sorted({m.partition('.')[0] for m in sys.modules} & "
        "{'scipy', 'sklearn', 'pandas', 'polars', 'narwhals', 'matplotlib', 'click', 'rich', 'flint', 'duckdb'}))"
    )
    assert run(code).stdout.strip() == "[]"


def test_every_public_name_resolves():
    for name in separatrix.__all__:
        assert getattr(separatrix, name) is not None
    assert set(dir(separatrix)) == set(separatrix.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'perceptron'"):
        _ = separatrix.perceptron

"""Which kernels are loaded, what a wrong choice says, and that stubs, native and readable kernels agree."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import reference
import separatrix
from separatrix import kernels
from separatrix.kernels import _cpu
from separatrix.kernels.parallel_passes import on_all_cores

NATIVE = Path(__file__).parents[2] / "native"
PYTHON = [sys.executable, *(["-S"] if sys.flags.no_site else [])]  # what is imported here is imported there


def run(code, **environment):
    return subprocess.run(
        [*PYTHON, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_an_unknown_level_is_refused_by_name():
    done = run("import separatrix.kernels", SEPARATRIX_ISA="mmx")
    assert done.returncode == 1
    assert "it can be baseline, avx2, avx512" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("level", kernels.LEVELS)
def test_each_level_can_be_forced(level):
    done = run("from separatrix import kernels; print(kernels.isa)", SEPARATRIX_ISA=level)
    if kernels.LEVELS.index(level) > kernels.LEVELS.index(_cpu.level()):
        assert "this processor ends at" in done.stderr
    elif importlib.util.find_spec(f"separatrix.kernels._native_{level}"):
        assert done.stdout.strip() == level
    else:
        assert "which was not built" in done.stderr


def public(module):
    return {name for name, value in vars(module).items() if not name.startswith("_") and not inspect.ismodule(value)}


def native_module():
    level = run("from separatrix import kernels; print(kernels.isa)").stdout.strip()
    return importlib.import_module(f"separatrix.kernels._native_{level}")


def test_native_and_readable_kernels_have_the_same_names_and_the_door_exports_them():
    native = native_module()
    assert public(native) == public(reference)
    spread = on_all_cores(native)
    assert all(getattr(kernels, name) is getattr(native, name) for name in public(native) if name not in spread)
    assert all(callable(getattr(kernels, name)) for name in spread)


def test_the_stub_is_what_the_compiled_kernels_say():
    written = (Path(kernels.__file__).parent / "_native.pyi").read_text()
    command = ["-m", "nanobind.stubgen", "--quiet", "--exclude-values", "-m", native_module().__name__]
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "made.pyi"
        subprocess.run([*PYTHON, *command, "-o", str(made)], check=True)
        assert made.read_text() == written, "the stub is not current: run make stub"


def compile_with(*options):
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # the sanitizers' own
    return subprocess.run([compiler, *options], env=plain, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_all_headers_can_be_included_together(tmp_path):
    headers = sorted((NATIVE / "separatrix").glob("*.hpp"))
    assert len(headers) > 20
    for name, order in (("forward", headers), ("backward", headers[::-1])):
        unit = tmp_path / f"{name}.cpp"
        unit.write_text("".join(f'#include "separatrix/{header.name}"\n' for header in order))
        options = ["-std=gnu++20", "-Wall", "-Wextra", "-Wno-psabi", "-Werror", f"-I{NATIVE}", "-fsyntax-only"]
        done = compile_with(*options, str(unit))
        assert done.returncode == 0, done.stderr


def test_the_processor_is_asked_for_all_that_a_level_uses():
    """Each macro that the compiler defines for a level stands for instructions that it may then use."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        pytest.skip("levels are of x86-64")

    def macros(architecture):
        done = compile_with(f"-march={architecture}", "-dM", "-E", "-x", "c++", os.devnull)
        if done.returncode != 0:
            pytest.skip(f"the compiler does not know {architecture}")
        return set(re.findall(r"#define __(\w+)__ 1$", done.stdout, re.MULTILINE))

    assert _cpu.needs("baseline") == []
    for level, architecture in (("avx2", "x86-64-v3"), ("avx512", "x86-64-v4")):
        used = {macro.lower() for macro in macros(architecture) - macros("x86-64")} - {"crc32", "evex512", "evex256"}
        asked = set(_cpu.needs(level))
        assert used <= asked, f"{level} is not asked for {used - asked}"
        assert {name for name in asked - used if not name.endswith(" state")} == {"cmpxchg16b", "osxsave"}


@pytest.mark.parametrize(("level", "below"), [("avx2", "baseline"), ("avx512", "avx2")])
def test_a_processor_that_lacks_one_feature_gets_the_level_below(level, below):
    lower = set(_cpu.needs(below))
    for feature in _cpu.needs(level):
        assert _cpu.level_without(feature) == ("baseline" if feature in lower else below)
    with pytest.raises(ValueError, match="no level asks for mmx"):
        _cpu.level_without("mmx")
    with pytest.raises(ValueError, match="there is no level sse9"):
        _cpu.needs("sse9")


def test_the_level_is_what_the_operating_system_lists():
    listed = Path("/proc/cpuinfo")
    flags = re.search(r"^flags\s*: (.*)$", listed.read_text() if listed.exists() else "", re.MULTILINE)
    if flags is None:
        pytest.skip("needs the flags of /proc/cpuinfo")
    names = {"sse3": "pni", "lzcnt": "abm", "bmi": "bmi1", "lahf_sahf": "lahf_lm", "cmpxchg16b": "cx16"}
    found = {*flags[1].split(), "osxsave"}
    able = [
        level
        for level in kernels.LEVELS
        if all(names.get(need, need) in found for need in _cpu.needs(level) if not need.endswith(" state"))
    ]
    assert _cpu.level() == able[-1]


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

"""Tables of public names, one a package, which type checkers and the packages both read."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections import Counter
from operator import attrgetter
from pathlib import Path

import pytest

import separatrix
from separatrix.lazy_names import offer
from separatrix.models.registry import homes
from separatrix.protocol import Estimator

SOURCE = Path(separatrix.__file__).parent
STUBS = {".".join(stub.parent.relative_to(SOURCE.parent).parts): stub for stub in SOURCE.rglob("__init__.pyi")}
# What is asked of data beside a learner that answers it by fitting: the one pair of names that differ in case alone.
QUESTIONS = {"fewest_mistakes"}


def table(package):
    imports = [node for node in ast.parse(STUBS[package].read_text()).body if isinstance(node, ast.ImportFrom)]
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    return {alias.name: node.module for node in imports for alias in node.names}


@pytest.mark.parametrize("package", sorted(STUBS))
def test_a_package_offers_what_its_table_says(package):
    module, named = sys.modules[attrgetter("__name__")(__import__(package, fromlist=["*"]))], table(package)
    assert set(dir(module)) == set(named) | ({"__version__"} if package == "separatrix" else set())
    for name, home in named.items():
        value = getattr(module, name)
        found = sys.modules[f"{home}.{name}"] if home == package else getattr(sys.modules[home], name)
        assert value is found
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'perceptrons'"):
        _ = module.perceptrons


def test_a_name_is_public_once():
    count = Counter(name for package in STUBS for name, home in table(package).items() if home != package)
    assert [name for name, times in count.items() if times > 1] == []


def test_no_two_names_at_the_top_say_one_thing():
    plain = Counter(name.lower().replace("_", "") for name in dir(separatrix))
    assert {name for name, times in plain.items() if times > 1} == {name.replace("_", "") for name in QUESTIONS}
    assert len(dir(separatrix)) <= 50


# Of a parameter that several learners and functions have, the one name; names that say the same thing are not.
FORBIDDEN = {
    "intercept", "bias", "tolerance", "eps", "max_epochs", "max_steps", "n_iter", "epochs", "shuffle", "seed", "rng",
    "threads", "workers", "n_threads", "flic", "clusters", "weight", "weights_of_rows",
}  # fmt: skip
ELSEWHERE = {"step_trace": {"max_steps"}, "logistic_gradient": {"intercept"}}  # a length of a table; a value


def test_parameters_have_one_name_for_one_thing():
    sys.path.insert(0, str(SOURCE.parents[1] / "docs" / "_ext"))
    from public_reference import public_names

    for name in public_names():
        value = attrgetter(name)(separatrix)
        if isinstance(value, type) and not issubclass(value, Estimator):
            continue  # a result, which nobody constructs
        if isinstance(value, type) or inspect.isfunction(value):
            allowed = ELSEWHERE.get(name.split(".")[-1], set())
            assert not set(inspect.signature(value).parameters) & FORBIDDEN - allowed, name


def test_a_learner_is_one_by_its_public_name_alone():
    for name, home in homes().items():
        cls = getattr(separatrix, name)
        assert issubclass(cls, Estimator)
        assert cls.__module__ == home


def test_importing_the_package_loads_no_part_of_it():
    code = "import sys, separatrix; print([m for m in sys.modules if m.startswith(('separatrix.', 'numpy'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['separatrix.lazy_names']"


def test_a_name_is_looked_up_once(tmp_path, monkeypatch):
    (tmp_path / "__init__.pyi").write_text("from math import tau as tau\n")
    monkeypatch.setitem(sys.modules, "small", type(sys)("small"))
    get, names, homes = offer("small", str(tmp_path / "__init__.py"))
    assert (names(), homes) == (["tau"], {"tau": "math"})
    assert get("tau") == vars(sys.modules["small"])["tau"] == 6.283185307179586

"""What works without the optional packages, and the sentence where one is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPTIONAL = (
    "duckdb",
    "nanoarrow",
    "matplotlib",
    "jinja2",
    "sklearn",
    "joblib",
    "pandas",
    "formulaic",
    "ray",
    "onnx",
    "uvicorn",
)
TABLE = "age,ward,relapse\n" + "".join(f"{20 + i},{'AB'[i % 2]},{'yes' if i % 5 < 2 else 'no'}\n" for i in range(40))
WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {packages}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def run_without(packages, code, folder):
    """Run code in a process in which these packages cannot be imported."""
    script = WITHOUT.format(packages=tuple(packages)) + code
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=folder, timeout=120)


def command_without(package, arguments, folder):
    code = f"sys.argv = ['separatrix', *{arguments!r}]\nfrom separatrix.__main__ import main\nmain()"
    return run_without([package], code, folder)


CORE = """
import numpy as np
from separatrix import LeastSquares, LinearDiscriminant, LogisticRegression, Perceptron
X = np.random.default_rng(0).normal(size=(200, 3))
y = (X[:, 0] + X[:, 1] > np.sin(50 * X[:, 2])).astype(int)
learners = [Perceptron(max_iter=3), LeastSquares(), LinearDiscriminant()]
learners += [LogisticRegression(), LogisticRegression(C=1.0)]
for model in learners:
    assert model.fit(X, y).predict(X).shape == (200,)
print(sorted(name for name in ("scipy", "flint", "narwhals", "click", "rich", "safetensors") if name in sys.modules))
"""


def test_fits_of_arrays_need_numpy_alone(tmp_path):
    done = run_without([*OPTIONAL, "scipy", "flint", "narwhals", "rich"], CORE, tmp_path)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_proofs_and_evaluation_and_model_files_need_no_optional_package(tmp_path):
    code = """
import numpy as np
from separatrix import LogisticRegression, cross_validate, evaluate, load, margin, save, separability, verify
X = np.random.default_rng(0).normal(size=(120, 3))
y = (X[:, 0] + X[:, 1] > np.sin(50 * X[:, 2])).astype(int)
print("overlap" in verify(separability(X, y).certificate, X, y))
model = LogisticRegression().fit(X, y)
print(model.summary() is not None, cross_validate(LogisticRegression(C=1.0), X, y) is not None)
save(model, "m.sepx")
print(np.array_equal(load("m.sepx").predict(X), model.predict(X)), model._repr_html_()[:5])
"""
    done = run_without(OPTIONAL, code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True", "True True", "True <pre>"]


@pytest.mark.parametrize(
    ("package", "arguments", "extra"),
    [
        ("duckdb", ["fit", "FROM 'visits.csv'", "--target", "relapse"], "tables"),
        ("nanoarrow", ["audit", "FROM 'visits.csv'", "--target", "relapse"], "tables"),
        ("matplotlib", ["audit", "visits.csv", "--target", "relapse"], "audit"),
        ("jinja2", ["audit", "visits.csv", "--target", "relapse"], "audit"),
        ("sklearn", ["fit", "example:iris"], "sklearn"),
        ("uvicorn", ["lab"], "lab"),
    ],
)
def test_a_command_names_the_extra_that_it_misses(package, arguments, extra, tmp_path):
    (tmp_path / "visits.csv").write_text(TABLE)
    done = command_without(package, arguments, tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().endswith(f"needs the package {package}: pip install 'separatrix[{extra}]'.")
    assert len(done.stderr.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["visits.csv"]


@pytest.mark.parametrize(
    ("package", "code", "extra"),
    [
        ("matplotlib", "separatrix.plotting.plot_losses(['squared'])", "plots"),
        ("matplotlib", "separatrix.audit('example:six-points', ledger='ledger').report()", "audit"),
        ("formulaic", "separatrix.LeastSquares.from_formula('y ~ x', {'x': [1, 2], 'y': [1, 2]})", "formulas"),
    ],
)
def test_python_names_the_extra_that_it_misses(package, code, extra, tmp_path):
    guarded = f"import separatrix\ntry:\n    {code}\nexcept ImportError as error:\n    print(error)"
    done = run_without([package], guarded, tmp_path)
    assert done.stdout.strip().endswith(f"needs the package {package}: pip install 'separatrix[{extra}]'."), done.stderr


def test_an_unfitted_model_says_so_without_scikit_learn(tmp_path):
    code = "try:\n    Perceptron().predict([[0.0]])\nexcept ValueError as error:\n    print(error)"
    done = run_without(["sklearn"], f"from separatrix import Perceptron\n{code}", tmp_path)
    assert "not fitted" in done.stdout, done.stderr

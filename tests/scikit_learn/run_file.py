"""Run one of scikit-learn's test files on learners of Separatrix: ``python run_file.py discriminant``; prints JSON.

The learners are put in their place before the test module is imported, since its parametrisations name them.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


class Outcomes:
    """What became of each test, by its name."""

    def __init__(self):
        self.found, self.why = {}, {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.split("::", 1)[-1]
        if report.when == "call" or report.outcome != "passed":
            self.found[name] = "failed" if report.failed else "skipped" if report.skipped else "passed"
            if report.failed:
                self.why[name] = str(getattr(report.longrepr, "reprcrash", None) or report.longrepr)[-300:]


def run(which: str) -> dict:
    import pytest
    from adapters import FILES

    tests, home, learners = FILES[which]
    theirs = importlib.import_module(home)
    for learner in learners:
        setattr(theirs, learner.__name__, learner)
    module = importlib.import_module(tests)
    for learner in learners:
        setattr(module, learner.__name__, learner)
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("test_theirs.py").write_text(f"from {tests} import *\n")
        Path("pytest.ini").write_text("[pytest]\n")
        options = ["-q", "-p", "no:cacheprovider", "-p", "sklearn.conftest"]  # with the fixtures of their tests
        pytest.main([*options, "test_theirs.py"], plugins=[outcomes])
    return {"found": outcomes.found, "why": outcomes.why}


if __name__ == "__main__":
    real = os.dup(1)
    os.dup2(2, 1)
    result = run(sys.argv[1])
    os.write(real, json.dumps(result).encode())

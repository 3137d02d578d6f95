"""scikit-learn's tests of the same learners: every failure has its reason in the table of the documentation."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import sklearn

HERE = Path(__file__).parent
PAGE = (HERE.parent.parent / "docs" / "scikit-learn-tests.md").read_text(encoding="utf-8")
TABLE = {name: int(count) for name, count in re.findall(r"^\| `(\w+)` \| (\d+) \|", PAGE, re.MULTILINE)}
PASSED = {"base": 85, "discriminant": 28}
VERSION = "1.9.1"


def test_every_row_of_the_table_has_a_kind():
    kinds = re.findall(r"^\| `\w+` \| \d+ \| ([^|]+) \|", PAGE, re.MULTILINE)
    assert len(kinds) == len(TABLE)
    assert set(kinds) <= {"no counterpart", "different on purpose", "theirs is approximate"}


@pytest.mark.slow
@pytest.mark.skipif(sklearn.__version__ != VERSION, reason=f"the table is of scikit-learn {VERSION}")
def test_their_tests_pass_but_for_those_of_the_table():
    failed: Counter[str] = Counter()
    for which, passed in PASSED.items():
        done = subprocess.run(
            [sys.executable, str(HERE / "run_file.py"), which], capture_output=True, text=True, timeout=300, check=True
        )
        found = json.loads(done.stdout)["found"]
        assert Counter(found.values())["passed"] == passed, which
        failed.update(name.partition("[")[0] for name, outcome in found.items() if outcome == "failed")
    assert failed == TABLE

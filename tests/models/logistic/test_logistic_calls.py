"""The calls of a logistic fit go in one direction, and through few files."""

from __future__ import annotations

import pytest
from benchmarks.call_trace import logistic_fits, trace

import separatrix as sx

MOST = {"maximum likelihood": 26, "ridge": 23, "lasso": 21, "Firth": 22, "ridge on 20,000 rows": 23}
BACK = ("numerics/driver.py", "rows/places.py", "rows/protocol.py")  # the loop, and passes over rows


@pytest.mark.parametrize("name", MOST)
def test_a_fit_visits_few_files_that_call_each_other_only_through_the_loop_and_passes(name):
    options, X, y = logistic_fits()[name]
    sx.LogisticRegression(**options).fit(X, y)
    found = trace(lambda: sx.LogisticRegression(**options).fit(X, y))
    assert len(found.files) <= MOST[name]
    assert all(any(place in pair for place in BACK) for pair in found.mutual)

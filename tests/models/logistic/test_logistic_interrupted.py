"""Ctrl-C in a logistic fit: a real signal in the middle of the search leaves what had been reached."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import signal, sys
import numpy as np
import separatrix as sx

SEARCH, options, classes = sys.argv[1], eval(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.standard_normal((50_000, 40))
y = rng.integers(0, classes, 50_000)
X[:, 0] += y


def look(frame, event, found):  # in the thread of the fit: the frames of a thread that runs on cannot be read safely
    while frame is not None:
        if frame.f_code.co_name == "drive" and frame.f_locals.get("steps", 0) >= 1:
            if frame.f_back.f_code.co_name == SEARCH:
                signal.raise_signal(signal.SIGINT)
        frame = frame.f_back


model = sx.LogisticRegression(**options)
if sys.argv[4] == "again":
    model.fit(X[:2000, ::-1], y[:2000])
sys.setprofile(look)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(model.status_.name, model.coef_.shape, bool(np.isfinite(model.coef_).all()), bool(model.coef_.any()))
    print(model.predict(X[:5]).shape, bool(model.coef_[-1, 0] > abs(model.coef_[-1, 39])))
"""


@pytest.mark.parametrize(
    ("search", "options", "classes", "before"),
    [
        ("with_model", {}, 2, "fresh"),
        ("newton_cg", {}, 3, "fresh"),
        ("by_gradients", {"C": 1.0}, 10, "again"),
        ("proximal_newton", {"C": 0.01, "l1_ratio": 1.0, "tol": 1e-13}, 2, "fresh"),
        ("proximal_newton", {"C": 0.01, "l1_ratio": 0.5, "tol": 1e-13}, 3, "again"),
        ("with_model", {"C": 1.0, "tol": 1e-13}, 2, "fresh"),
    ],
)
def test_a_signal_in_the_search_leaves_the_partial_model(search, options, classes, before):
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, search, repr(options), str(classes), before],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    vectors = 1 if classes == 2 else classes
    assert run.stdout.splitlines() == [f"INTERRUPTED ({vectors}, 40) True True", "(5,) True"]

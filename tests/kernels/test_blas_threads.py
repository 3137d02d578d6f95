"""Fits of large tables have the same bits whatever number of threads the BLAS of numpy and of scipy would use."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from separatrix.kernels.blas_threads import one_blas_thread, scipy_linalg

FITS = """
import hashlib, json, warnings
import numpy as np, separatrix as sx
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
seen = {}
for n, d in ((2500, 220), (200, 1500)):
    X = rng.normal(size=(n, d))
    t = (X * rng.normal(size=d)).sum(axis=1) + rng.normal(size=n)  # BLAS has no part in it
    y = (t > 0) ^ (rng.random(n) < 0.1)
    for name, model, target in (
        ("least squares", sx.LeastSquares(), t),
        ("ridge", sx.LeastSquares(alpha=1.0), t),
        ("LDA", sx.LinearDiscriminant(shrinkage=0.1), y),
        ("logistic", sx.LogisticRegression(C=1.0), y),
        ("maximum margin", sx.MaxMargin(C=0.1), y),
    ):
        seen[f"{name} {n} x {d}"] = hashlib.sha256(np.ascontiguousarray(model.fit(X, target).coef_)).hexdigest()
    seen[f"certificate {n} x {d}"] = json.dumps(sx.separability(X, y).certificate.to_dict())
print(json.dumps(seen))
"""


def fitted(count):
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": str(count), "OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", FITS], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_bits_do_not_depend_on_the_threads_of_blas():
    one, several = fitted(1), fitted(5)
    assert one == several


@pytest.mark.slow
def test_nor_on_two_of_them():
    assert fitted(1) == fitted(2)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_nested_blocks_limit_scipy_too_and_restore_what_was_before():
    np.linalg.norm(np.ones(3))
    scipy_linalg()
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert set(blas_threads()) == {1}
        scipy_linalg().cholesky(np.eye(2))
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_scipy_that_is_loaded_within_a_block_is_limited():
    script = """
import sys
from threadpoolctl import threadpool_info
from separatrix.kernels.blas_threads import one_blas_thread, scipy_linalg
def seen():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
before = set(seen())
with one_blas_thread():
    assert "scipy.linalg" not in sys.modules
    scipy_linalg()
    assert set(seen()) == {1}, seen()
assert set(seen()) == before, seen()
"""
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "3"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

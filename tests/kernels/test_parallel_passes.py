"""Passes on several threads: the same bits for any number of them, no deadlock; errors and interrupts come through."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import reference
import separatrix as sx
from separatrix import kernels
from separatrix.errors import DataError, ParameterError
from separatrix.kernels import parallel_passes, thread_pool
from separatrix.numerics import moments as moments_module
from separatrix.numerics.moments import Moments, arrays_of, merge

COUNTS = (1, 2, 3, 5)


@pytest.fixture
def small_parts(monkeypatch):
    """Parts so small that a few thousand rows have many of them."""
    monkeypatch.setattr(parallel_passes, "BLOCK", 1000)
    monkeypatch.setattr(moments_module, "LEAF", 3000)
    monkeypatch.setattr(moments_module, "SHORT", 4)


def table(layout, n=4000, d=7):
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(n, d)), 1) + 0.1  # multiples of a tenth: their sums depend on the order
    if layout == "float32":
        return X.astype(np.float32)
    return sparse.csr_array(np.where(rng.random(X.shape) < 0.4, X, 0.0)) if layout == "csr" else X


def problem(layout, weighted):
    X, rng = table(layout), np.random.default_rng(6)
    t = np.asarray(X @ np.arange(1.0, 8.0)) + rng.normal(size=X.shape[0])
    weights = np.where(rng.random(len(t)) < 0.1, 0.0, rng.random(len(t))) if weighted else None
    return X, t, np.digitize(t, [-3.0, 3.0]), weights


FITS = {
    "least squares": lambda X, t, y, c: sx.LeastSquares().fit(X, t, c).coef_,
    "ridge": lambda X, t, y, c: sx.LeastSquares(3.0).fit(X, t, c).coef_,
    "LDA": lambda X, t, y, c: sx.LinearDiscriminant().fit(X, y, c).coef_,
    "QDA": lambda X, t, y, c: sx.QuadraticDiscriminant().fit(X, y, c).decision_function(X),
    "logistic": lambda X, t, y, c: sx.LogisticRegression(C=1.0).fit(X, t > 0, c).coef_,
    "many classes": lambda X, t, y, c: sx.LogisticRegression(C=1.0).fit(X, y, c).coef_,
    "lasso": lambda X, t, y, c: sx.LogisticRegression(C=0.1, l1_ratio=1.0).fit(X, t > 0, c).coef_,
    "perceptron": lambda X, t, y, c: sx.Perceptron(max_iter=3).fit(X, t > 0).coef_,
    "probabilities": lambda X, t, y, c: sx.LogisticRegression(C=1.0).fit(X, y, c).predict_proba(X),
    "predictions": lambda X, t, y, c: sx.LinearDiscriminant().fit(X, y, c).predict(X),
    "margin": lambda X, t, y, c: np.array(sx.separability(X, t > 0).witness),
}


@pytest.mark.parametrize("layout", ["float64", "float32", "csr"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
def test_the_bits_do_not_depend_on_the_threads(small_parts, name, layout, weighted):
    given = problem(layout, weighted)
    found = []
    for count in COUNTS:
        with sx.kernels.threads(count):
            found.append(np.ascontiguousarray(FITS[name](*given)).tobytes())
    assert len(set(found)) == 1


def states_equal(one, two):
    return all(np.array_equal(a, b) for a, b in zip(arrays_of(one), arrays_of(two), strict=True))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pooled", [False, True])
def test_moments_do_not_depend_on_chunks_that_end_within_leaves(small_parts, weighted, pooled):
    X, t, y, weights = problem("float64", weighted)
    whole = Moments(7, 1, [0, 1, 2], pooled).add(X, t[:, None], y.astype(np.int64), weights).flushed()
    rng = np.random.default_rng(7)
    for _ in range(5):
        ends = np.sort(rng.integers(0, len(t) + 1, size=6))
        parts = Moments(7, 1, [0, 1, 2], pooled)
        for begin, end in zip([0, *ends], [*ends, len(t)], strict=True):
            own = slice(begin, end)
            parts.add(X[own], t[own, None], y[own].astype(np.int64), None if weights is None else weights[own])
        assert parts.counts.tolist() == whole.counts.tolist()
        assert states_equal(parts.flushed(), whole)


def test_rows_of_weight_zero_leave_no_trace_in_the_leaves(small_parts):
    X, t, _, weights = problem("float64", True)
    kept = weights > 0
    with_zeros = Moments(7, 1).add(X, t[:, None], None, weights)
    assert states_equal(with_zeros.flushed(), Moments(7, 1).add(X[kept], t[kept, None], None, weights[kept]).flushed())


def test_leaves_have_the_moments_of_all_rows(small_parts):
    X, t, y, _ = problem("float64", False)
    state = Moments(7, 1, [0, 1, 2], pooled=False).add(X, t[:, None], y.astype(np.int64))
    Z = np.column_stack([X, t])
    totals = state.totals()
    for k in range(3):
        own = Z[y == k]
        assert np.allclose(totals.mean[k], own.mean(axis=0), rtol=1e-14)
        assert np.allclose(totals.scatter[k], np.cov(own.T, bias=True) * len(own), rtol=1e-12)
    assert merge(state, state).counts.tolist() == (2 * state.counts).tolist()
    assert state.copy().add(X, t[:, None], y.astype(np.int64)).counts.tolist() == (2 * state.counts).tolist()


def test_rows_can_follow_merged_states_that_are_longer_than_a_leaf(small_parts):
    X, t, _, _ = problem("float64", False)
    parts = [Moments(7, 1).add(X[k * 1200 : (k + 1) * 1200], t[k * 1200 : (k + 1) * 1200, None]) for k in range(2)]
    joined = merge(*parts).add(X[2400:], t[2400:, None]).totals()
    whole = Moments(7, 1).add(X, t[:, None]).totals()
    assert joined.rows.tolist() == [len(t)]
    assert np.allclose(joined.mean, whole.mean, rtol=1e-14)
    assert np.allclose(joined.scatter, whole.scatter, rtol=1e-12, atol=1e-9)


def test_classes_that_appear_after_full_leaves_join(small_parts):
    X, _, y, _ = problem("float64", False)
    first, late = y != 2, y == 2
    model = sx.LinearDiscriminant().partial_fit(X[first], y[first]).partial_fit(X[late], y[late])
    assert np.allclose(model.coef_, sx.LinearDiscriminant().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_is_found_by_the_pass_that_reads_it(small_parts, bad):
    X, t, y, _ = problem("float64", False)
    models = (
        sx.LeastSquares().fit(X, t),
        sx.LogisticRegression(C=1.0).fit(X, y),
        sx.Perceptron(max_iter=1).fit(X, t > 0),
    )
    X[3210, 4] = bad
    for model in models:
        for ask in ("predict", "decision_function", "predict_proba"):
            if hasattr(model, ask):
                with pytest.raises(DataError, match="at row 3210, column 4"):
                    getattr(model, ask)(X)
    with pytest.raises(DataError, match="at row 3210, column 4"):
        sx.LeastSquares().fit(X, t)


def test_scores_that_overflow_are_not_taken_for_bad_rows():
    model = sx.LeastSquares().fit([[0.0], [1.0], [2.0]], [0.0, 2.0, 4.0])
    assert np.isinf(model.predict([[1.7e308]])).all()


def test_how_many_threads(monkeypatch):
    for wrong in (0, -1, 1.5, True, "2", None):
        with pytest.raises(ParameterError, match="threads is"), sx.kernels.threads(wrong):
            pass
    with sx.kernels.threads(3):
        assert kernels.thread_count() == 3
        with sx.kernels.threads(1):
            assert kernels.thread_count() == 1
        assert kernels.thread_count() == 3
    tell = [sys.executable, "-c", "from separatrix import kernels; print(kernels.thread_count())"]
    for variables, expected in (
        ({"SEPARATRIX_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "2,1"}, 2),
        ({"SEPARATRIX_NUM_THREADS": "4", "OMP_NUM_THREADS": "1"}, 4),
        ({"OMP_NUM_THREADS": "many"}, len(os.sched_getaffinity(0))),
    ):
        clean = {name: value for name, value in os.environ.items() if name not in thread_pool.VARIABLES}
        said = subprocess.run(tell, env=clean | variables, capture_output=True, text=True, check=True).stdout
        assert int(said) == expected or (expected > 4 and int(said) >= 1)


def test_a_quota_counts_in_whole_processors(tmp_path, monkeypatch):
    for text, expected in (("150000 100000", 2), ("max 100000", 2**20), ("100000 100000", 1), ("", 2**20)):
        (tmp_path / "cpu.max").write_text(text)
        monkeypatch.setattr(thread_pool, "QUOTA", str(tmp_path / "cpu.max"))
        assert thread_pool._quota() == expected


def test_results_come_in_order_and_errors_come_through():
    with sx.kernels.threads(4):
        assert thread_pool.each_part(lambda k: (time.sleep(0.001 * (8 - k)), k)[1], range(8)) == list(range(8))

        def work(k):
            if k == 3:
                raise ValueError("part 3")
            return k

        with pytest.raises(ValueError, match="part 3"):
            thread_pool.each_part(work, range(8))
        assert thread_pool.each_part(abs, [-1, -2, -3]) == [1, 2, 3]


def test_without_more_threads_the_caller_does_the_work(monkeypatch):
    """As where the system refuses them, or the interpreter is ending."""

    def refused(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(thread_pool, "_helpers", thread_pool.Helpers())
    monkeypatch.setattr(thread_pool.Thread, "start", refused)
    with sx.kernels.threads(4):
        assert thread_pool.each_part(lambda k: k * k, range(50)) == [k * k for k in range(50)]


def test_parts_inside_parts_and_beside_them_run_on_their_own_thread():
    seen = set()

    def inner(k):
        seen.add(threading.get_ident())
        return k

    def outer(k):
        before = threading.get_ident()
        assert thread_pool.each_part(inner, range(4)) == [0, 1, 2, 3]
        return before

    with sx.kernels.threads(3):
        outers = set(thread_pool.each_part(outer, range(6)))
    assert seen <= outers
    assert len(outers) <= 3


def test_fits_side_by_side_agree_and_do_not_multiply_threads(small_parts):
    X, _, y, _ = problem("float64", False)
    expected = sx.LogisticRegression(C=1.0).fit(X, y).coef_
    most = []

    def fit(_):
        with sx.kernels.threads(2):
            found = sx.LogisticRegression(C=1.0).fit(X, y).coef_
        most.append(sum(thread.name.startswith("separatrix") for thread in threading.enumerate()))
        return found

    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(found, expected) for found in pool.map(fit, range(8)))
    assert max(most) <= max(1, thread_pool.thread_count() - 1, 4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A worker stopped while some jobs:UserWarning")
def test_fits_in_processes_of_a_grid_search_share_the_processors():
    from joblib import cpu_count
    from sklearn.model_selection import GridSearchCV

    rng = np.random.default_rng(3)
    X = rng.normal(size=(40_000, 20))  # large enough for several threads
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)

    def used_threads(model, X, y):
        model.predict(X)
        return 1.0 + sum(thread.name.startswith("separatrix") for thread in threading.enumerate())

    grid = {"C": [0.1, 1.0]}
    search = GridSearchCV(sx.LogisticRegression(), grid, scoring=used_threads, cv=2, n_jobs=2, refit=False).fit(X, y)
    used = [search.cv_results_[f"split{k}_test_score"] for k in range(2)]
    assert np.min(used) >= 1
    assert np.max(used) <= max(1, cpu_count() // 2)


def forked_fit(results):
    X, t, _, _ = problem("float64", False)
    with sx.kernels.threads(3):
        results.put(sx.LeastSquares().fit(X, t).coef_)


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_process_fits_too(small_parts, method):
    X, t, _, _ = problem("float64", False)
    with sx.kernels.threads(3):
        expected = sx.LeastSquares().fit(X, t).coef_  # the parent has threads now
    context = multiprocessing.get_context(method)
    results = context.Queue()
    child = context.Process(target=forked_fit, args=(results,))
    child.start()
    found = results.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0
    assert np.allclose(found, expected, rtol=1e-12)


def test_an_interrupt_ends_a_pass_on_many_threads():
    done = []

    def slow(k):
        time.sleep(0.02)
        done.append(k)

    main = threading.main_thread().ident
    threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt), sx.kernels.threads(3):
        thread_pool.each_part(slow, range(10_000))
    assert 0 < len(done) < 10_000
    with sx.kernels.threads(3):
        assert thread_pool.each_part(abs, [-1, 2]) == [1, 2]  # the threads are free again


@pytest.mark.parametrize("count", [1, 2, 3, 24, 63, 64, 100])
@pytest.mark.parametrize("length", [1, 7, 8, 21])
def test_parts_of_sums_are_joined_without_rounding_errors(count, length):
    rng = np.random.default_rng(count)
    parts = rng.normal(size=(count, length)) * 10.0 ** rng.integers(-8, 8, (count, 1))
    parts[count // 2 :] -= parts[: count - count // 2] * (1 + 1e-12)  # so that sums cancel
    exact = [float(sum(map(Fraction, column))) for column in parts.T.tolist()]
    found, readable = np.empty((2, length))
    kernels.sum_parts(parts, found)
    reference.sum_parts(parts, readable)
    assert np.allclose(found, exact, rtol=1e-15, atol=1e-24)
    assert found.tobytes() == readable.tobytes()

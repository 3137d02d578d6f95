"""Threads that fit, predict and prove at the same time get what one thread gets, with the GIL and without it."""

from __future__ import annotations

import importlib
import multiprocessing
import pickle
import subprocess
import sys
import sysconfig
import threading
import warnings
import weakref
from collections import Counter
from time import sleep

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import separatrix as sx
from separatrix.features import dict_features
from separatrix.kernels import blas_threads, parallel_passes, thread_pool
from separatrix.kernels.blas_threads import LARGE, one_blas_thread
from separatrix.models.least_squares import penalised_squares

THREADS = 8


def side_by_side(*asked):
    """What each of these functions returns, called at the same time; an error is a result too."""
    found, gate = [None] * len(asked), threading.Barrier(len(asked))

    def run(k):
        gate.wait()
        try:
            found[k] = asked[k]()
        except Exception as error:
            found[k] = repr(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(asked))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_importing_the_kernels_leaves_the_gil_off():
    code = "import sys, separatrix.kernels; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "False\n", done.stderr


def test_a_package_that_is_out_of_the_list_of_modules_for_a_moment_is_waited_for(monkeypatch):
    """As CPython has it at the end of an import: a name is asked for while another thread imports its package."""
    found, called = importlib.import_module, []

    def import_module(name):
        called.append(name)
        if len(called) == 1:
            raise KeyError("separatrix.models")
        return found(name)

    monkeypatch.setattr(importlib, "import_module", import_module)
    monkeypatch.delitem(vars(sx), "Perceptron", raising=False)
    assert sx.Perceptron.__name__ == "Perceptron"
    assert len(called) == 2


def rows(seed, n=80):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 4)), 2)
    t = X @ np.arange(1.0, 5.0) + rng.normal(size=n)
    return X, t, np.digitize(t, [-2.0, 2.0])


def learned_one_by_one(learner, X, y):
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        learner.learn_one({"a": x[0], "b": x[1], "side": "left" if x[2] < 0 else "right"}, label)
    return learner


WORK = {
    "least squares": lambda X, t, y: sx.LeastSquares().fit(X, t).coef_,
    "logistic": lambda X, t, y: sx.LogisticRegression().fit(X, t > 0).coef_,
    "several classes": lambda X, t, y: sx.LogisticRegression(C=1.0).fit(X, y).predict_proba(X),
    "discriminant": lambda X, t, y: sx.LinearDiscriminant().fit(X, y).predict_proba(X),
    "perceptron": lambda X, t, y: sx.Perceptron(max_iter=3).fit(X, y).coef_,
    "single rows": lambda X, t, y: learned_one_by_one(sx.Perceptron(), X, y).coef_,
    "margin": lambda X, t, y: sx.MaxMargin(C=1.0).fit(X, t > 0).coef_,
    "separability": lambda X, t, y: sx.separability(X, t > 0).certificate.to_dict(),
    "folds": lambda X, t, y: sx.cross_validate(
        sx.LogisticRegression(C=1.0), X, t > 0, folds=3, random_state=0, n_jobs=2
    ).predictions(),
}


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
def test_work_in_many_threads_has_the_bits_of_one(monkeypatch):
    monkeypatch.setattr(parallel_passes, "BLOCK", 300)  # so that small tables have several parts
    tables = [rows(seed, 260) for seed in range(3)]
    tasks = [(name, k) for name in WORK for k in range(len(tables))]
    expected = {task: pickle.dumps(WORK[task[0]](*tables[task[1]])) for task in tasks}

    def all_of_it(turn):
        with sx.kernels.threads(2):
            return [
                task
                for task in tasks[turn:] + tasks[:turn]
                if pickle.dumps(WORK[task[0]](*tables[task[1]])) != expected[task]
            ]

    assert side_by_side(*(lambda k=k: all_of_it(3 * k) for k in range(THREADS))) == [[]] * THREADS


MODELS = [sx.LeastSquares, sx.LogisticRegression, sx.LinearDiscriminant, sx.Perceptron, sx.AROW, sx.KernelPerceptron]


def answers(model, X):
    """What a fitted model says of rows, all at once and one by one, and of itself."""
    said = [getattr(model, ask)(X) for ask in ("predict", "predict_proba", "decision_function") if hasattr(model, ask)]
    said += [model.predict_one(x) for x in X[:10]] if hasattr(model, "predict_one") else []
    said += [str(model.summary())] if hasattr(model, "summary") else []
    return pickle.dumps([*said, getattr(model, "condition_", None)])


@pytest.mark.parametrize("learner", MODELS)
@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
def test_one_model_answers_many_threads(learner):
    X, t, y = rows(0)
    target = t if learner is sx.LeastSquares else y > 0
    expected = answers(learner().fit(X, target), X)
    for _ in range(5):
        model = learner().fit(X, target)
        assert side_by_side(*[lambda model=model: answers(model, X)] * THREADS) == [expected] * THREADS


def test_what_a_fit_left_for_later_is_the_same_for_two_that_ask_for_it(monkeypatch):
    X, t, _ = rows(1)
    model, whole = sx.LeastSquares().fit(X, t), sx.LeastSquares().partial_fit(X, t)
    expected = sx.LeastSquares().fit(X, t).condition_
    later = model._later_condition
    model._later_condition = lambda: (sleep(0.05), later())[1]
    assert side_by_side(*[lambda: model.condition_] * 2) == [expected] * 2
    add = penalised_squares.add_at_once
    monkeypatch.setattr(penalised_squares, "add_at_once", lambda *given: (sleep(0.05), add(*given))[1])
    model.__dict__.pop("_moments")
    model._later_moments = ((4, 1, None), X, t[:, None], None, None)  # as of fewer rows than columns
    counts = side_by_side(*[lambda: model._moments.counts.tolist()] * 2)
    assert counts == [whole._moments.counts.tolist()] * 2


def test_names_of_a_row_are_not_kept_by_the_thread_that_read_it():
    """A thread that ends would let go of them without Python's lock."""

    class Name(str):
        pass

    model = sx.Perceptron().learn_one({"a": 1.0}, "one").learn_one({"b": 1.0}, "other")
    unseen = Name("unseen")
    gone = weakref.ref(unseen)
    model.predict_one({"a": 1.0, unseen: 1.0})
    del unseen
    assert gone() is None


def test_hashed_names_are_there_for_every_thread(monkeypatch):
    class Slow(sx.HashingMap):
        def __setattr__(self, name, value):
            super().__setattr__(name, value)
            sleep(0.01)

    names = Slow(16)
    assert side_by_side(*[lambda: names.index] * 2) == [{}, {}]
    names.pairs({"a": 1.0, "b": 1.0})
    reading = names.index
    monkeypatch.setattr(dict_features, "REMEMBERED", 1)
    names.pairs({"c": 1.0})
    assert set(reading) == {"a", "b"}
    assert set(names.index) == {"c"}


def test_a_part_runs_in_the_context_of_the_caller_on_every_thread():
    def overflow(k):
        sleep(0.001)
        return np.float64(1e300) * 1e300

    with sx.kernels.threads(3), np.errstate(over="ignore"):
        assert thread_pool.each_part(overflow, range(30)) == [np.inf] * 30


def test_a_replay_beside_another_leaves_warnings_as_they_were():
    X, _, y = rows(2)

    def replay():
        for _ in range(20):
            sx.models.perceptron.step_trace(sx.Perceptron(max_iter=1), X, y > 0)

    before = list(warnings.filters)
    assert side_by_side(*[replay] * THREADS) == [None] * THREADS
    assert warnings.filters == before


def fit_in_a_child(results):
    with one_blas_thread():
        pass
    results.put(Counter(library["num_threads"] for library in threadpool_info()))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_child_forked_while_another_thread_fits_has_all_threads_of_blas():
    before = Counter(library["num_threads"] for library in threadpool_info())
    inside, over = threading.Event(), threading.Event()

    def fit():
        with one_blas_thread(LARGE), blas_threads._lock:
            inside.set()
            over.wait(60)

    fitting = threading.Thread(target=fit)
    fitting.start()
    inside.wait(60)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=fit_in_a_child, args=(results,))
    child.start()
    over.set()
    fitting.join()
    try:
        assert results.get(timeout=20) == before
    finally:
        child.kill()
        child.join()

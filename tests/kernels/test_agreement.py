"""Reference and native kernels agree to the bit: every start, tie, order, layout and dtype, on every level."""

from __future__ import annotations

import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import reference
from separatrix import kernels
from separatrix.kernels import _cpu

NATIVE = kernels.native_modules()
MODULES = [*NATIVE, reference]
LAYOUTS = ("f64", "f32", "csr-f64-i32", "csr-f64-i64", "csr-f32-i32", "csr-f32-i64")


def rows(module, X, layout):
    if layout in ("f64", "f32"):
        return module.Rows.dense(np.ascontiguousarray(X, dtype=np.float64 if layout == "f64" else np.float32))
    _, value, index = layout.split("-")
    csr = sp.csr_array(X)
    number = np.float64 if value == "f64" else np.float32
    integer = np.int32 if index == "i32" else np.int64
    return module.Rows.csr(csr.data.astype(number), csr.indices.astype(integer), csr.indptr.astype(integer), X.shape[1])


def problem(seed, n, d, decimals):
    """Rows that are multiples of a tenth: their sums depend on the order, so bits are put to the test."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), decimals)
    X[rng.random(X.shape) < 0.2] = 0.0
    y = rng.choice(np.array([-1, 1, 0], dtype=np.int8), size=n, p=[0.45, 0.45, 0.1])
    return X, y, rng


problems = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(1, 40),
    st.one_of(st.integers(1, 34), st.integers(60, 130)),
    st.integers(0, 3),
)
starts = st.sampled_from(["zeros", "ones", "normal"])


def lifted_start(kind, d, rng):
    return {"zeros": np.zeros(d + 1), "ones": np.ones(d + 1), "normal": rng.normal(size=d + 1)}[kind]


@given(problems, st.sampled_from(LAYOUTS))
def test_scores_norms_and_errors_have_the_same_bits(case, layout):
    X, y, rng = problem(*case)
    lifted = rng.normal(size=X.shape[1] + 1)
    results = []
    for module in MODULES:
        view = rows(module, X, layout)
        s, norms = np.empty(len(X)), np.empty(len(X))
        module.scores(view, lifted, s)
        module.norms2(view, norms)
        wrong = [module.errors(view, y, lifted, tie) for tie in (True, False)]
        results.append((s.tobytes(), norms.tobytes(), wrong))
    assert all(result == results[0] for result in results)


@given(problems, st.sampled_from(LAYOUTS), st.integers(1, 4))
def test_scores_of_many_classes_have_the_bits_of_each(case, layout, n_classes):
    X, _, rng = problem(*case)
    coef, intercept = rng.normal(size=(n_classes, X.shape[1])), rng.normal(size=n_classes)
    results = []
    for module in MODULES:
        view, out = rows(module, X, layout), np.empty((len(X), n_classes))
        module.class_scores(view, coef, intercept, out)
        for k in range(n_classes):
            single = np.empty(len(X))
            module.scores(view, np.append(coef[k], intercept[k]), single)
            assert single.tobytes() == out[:, k].tobytes()
        model = np.arange(len(X), dtype=np.int64)[::-1] % n_classes
        own = np.empty((len(X), 1))
        module.class_scores(view, coef, intercept, own, model)
        assert own.tobytes() == out[np.arange(len(X)), model].tobytes()
        results.append(out.tobytes())
    assert all(result == results[0] for result in results)


@given(problems, st.sampled_from(LAYOUTS), st.integers(2, 4), st.booleans())
def test_the_greatest_of_several_scores(case, layout, n_classes, tie_is_mistake):
    X, _, rng = problem(*case)
    lifted = np.round(rng.normal(size=(n_classes, X.shape[1] + 1)), int(rng.integers(0, 3)))
    lifted[-1] = lifted[int(rng.integers(0, n_classes))]  # ties
    if rng.random() < 0.2:
        lifted[0, -1] = np.nan
    code = rng.integers(-1, n_classes, size=len(X))
    view, expected = rows(reference, X, layout), 0
    for i, own in enumerate(code):
        s = [view.dot(i, w[:-1]) + w[-1] for w in lifted]
        others = [v if k < own or tie_is_mistake else np.nextafter(v, -np.inf) for k, v in enumerate(s) if k != own]
        expected += own >= 0 and not all(s[own] > v for v in others)
    for module in MODULES:
        assert module.class_errors(rows(module, X, layout), code, lifted, tie_is_mistake) == expected


@given(st.integers(1, 9000), st.sampled_from([np.nan, np.inf, -np.inf, 1.0]), st.data(), st.booleans())
def test_the_first_number_that_is_none_is_found(size, value, data, single):
    x = np.full(size, 1e38 if single else 1e308, dtype=np.float32 if single else np.float64)
    at = data.draw(st.integers(0, size - 1))
    x[at:] = value
    expected = at if not np.isfinite(value) else -1
    assert all(module.first_nonfinite(x) == expected for module in MODULES)


def test_the_generator_gives_the_published_words():
    """SplitMix64 from seed 1234567, the sequence of its authors' reference code."""
    for module in MODULES:
        out = np.empty(3, dtype=np.uint64)
        module.words(out, np.array([1234567], dtype=np.uint64))
        assert out.tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(problems, st.sampled_from(LAYOUTS), starts, *[st.booleans()] * 5)
def test_passes_have_the_same_bits(case, layout, start, bias, zero_is_mistake, weighted, shuffled, habitual):
    X, y, rng = problem(*case)
    n, d = X.shape
    first = lifted_start(start, d, rng)
    step = rng.random(n) + 0.5 if weighted else None
    results = []
    for module in MODULES:
        view, w, state, order = rows(module, X, layout), first.copy(), np.array([7], dtype=np.uint64), np.arange(n)
        account, habit = [], np.zeros(n, dtype=np.int8) if habitual else None
        for _ in range(4):
            if shuffled:
                module.shuffle(order, state)
            log = np.zeros(n, dtype=np.int64)
            moves = module.perceptron_pass(
                view, y, step, order if shuffled else None, w, bias, zero_is_mistake, log, 0, n, 2**62, habit
            )
            account.append((moves, log[: moves[0]].tolist(), None if habit is None else habit.tolist()))
        results.append((account, w.tobytes(), order.tobytes()))
    assert all(result == results[0] for result in results)


@given(
    problems,
    st.sampled_from(LAYOUTS),
    starts,
    st.booleans(),
    st.booleans(),
    st.sampled_from(["restart", "worst", "any"]),
)
def test_violators_have_the_same_bits(case, layout, start, bias, zero_is_mistake, order):
    X, y, rng = problem(*case)
    n, d = X.shape
    first = lifted_start(start, d, rng)
    norm = np.linalg.norm(X, axis=1) + 1.0
    results = []
    for module in MODULES:
        view, w, log = rows(module, X, layout), first.copy(), np.zeros(30, dtype=np.int64)
        shared = (view, y, None, w, bias, zero_is_mistake, log)
        if order == "restart":
            moves = module.perceptron_restart(*shared, 0, 30, 500)
        elif order == "worst":
            moves = module.perceptron_worst(*shared, norm, 30, 500)
        else:
            state = np.array([11], dtype=np.uint64)
            moves = module.perceptron_any(*shared, state, np.empty(n, dtype=np.int64), 30, 500)
        results.append((moves, w.tobytes(), log.tolist()))
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("limit", [0, 1, 3])
@pytest.mark.parametrize("d", [3, 12, 40])
def test_a_pass_stops_at_its_limit(limit, d):
    X, y, _ = problem(5, 30, d, 1)
    for module in MODULES:
        w = np.zeros(d + 1)
        updates, visits, _ = module.perceptron_pass(
            rows(module, X, "f64"), y, None, None, w, True, True, None, 0, 30, limit
        )
        assert updates == limit
        assert visits < 30


def test_float32_rows_give_the_model_of_their_float64_copy():
    X, y, _ = problem(3, 200, 21, 3)
    single = X.astype(np.float32)
    weights = []
    for view in (kernels.rows(single), kernels.rows(single.astype(np.float64))):
        w = np.zeros(22)
        for _ in range(5):
            kernels.perceptron_pass(view, y, None, None, w, True, True, None, 0, 200, 2**62)
        weights.append(w)
    assert weights[0].tobytes() == weights[1].tobytes()


def test_kernels_refuse_arrays_that_do_not_fit():
    view = kernels.Rows.dense(np.ones((3, 2)))
    y = np.ones(3, dtype=np.int8)
    with pytest.raises(ValueError, match="lifted must hold"):
        kernels.perceptron_pass(view, y, None, None, np.zeros(2), True, True, None, 0, 3, 9)
    with pytest.raises(ValueError, match="label for every row"):
        kernels.perceptron_pass(view, y[:2], None, None, np.zeros(3), True, True, None, 0, 3, 9)
    with pytest.raises(ValueError, match="leave the rows"):
        kernels.perceptron_pass(view, y, None, None, np.zeros(3), True, True, None, 0, 4, 9)
    with pytest.raises(ValueError, match="a row that does not exist"):
        kernels.perceptron_pass(view, y, None, np.array([0, 1, 3]), np.zeros(3), True, True, None, 0, 3, 9)
    with pytest.raises(TypeError):
        kernels.perceptron_pass(view, y.astype(float), None, None, np.zeros(3), True, True, None, 0, 3, 9)
    with pytest.raises(ValueError, match="fit together"):
        kernels.Rows.csr(np.ones(2), np.zeros(2, np.int32), np.array([0, 3], np.int32), 4)


def test_the_forced_level_is_in_use():
    assert kernels.isa == os.environ.get("SEPARATRIX_ISA", _cpu.level())
    assert kernels._kernels.level == kernels.isa

"""The decision kernels: native and reference claim the same, and signs are exact whatever the numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import reference
from separatrix import kernels
from separatrix.kernels import threads

SEPARATES, WITNESS = 0, 1
finite = st.floats(allow_nan=False, allow_infinity=False, width=64)


def ask(backend, X, y, intercept=True, extra=None, basis=None):
    rows = backend.Rows.dense(X)
    p = X.shape[1] + int(intercept)
    q = p if basis is None else basis.shape[1]
    w, support, weights = np.empty(p), np.empty(q + 1, dtype=np.int64), np.empty(q + 1)
    status, k, *_ = backend.decide(rows, y, intercept, None, extra, basis, 0, w, support, weights)
    return status, w, support[:k], weights[:k]


def lifted(X, y, intercept=True):
    Z = X * y[:, None]
    return np.column_stack([Z, y]) if intercept else Z


@pytest.mark.parametrize("seed", range(40))
def test_native_and_reference_claim_the_same(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 60)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + 0.3 >= 0, 1, -1).astype(np.int8)
    if seed % 2:
        y[rng.integers(n)] *= -1
    Z = lifted(X, y)
    claims = []
    for backend in (kernels, reference):
        status, w, support, weights = ask(backend, X, y)
        claims.append(status)
        if status == SEPARATES:
            assert (Z @ w > 0).all()
        else:
            assert status == WITNESS
            assert (weights > 0).all()
            assert len(set(support.tolist())) == len(support) <= d + 2
            assert np.abs(weights @ Z[support]).max() <= 1e-9 * (weights @ np.abs(Z[support])).max()
    assert claims[0] == claims[1]


@pytest.mark.parametrize("backend", [kernels, reference], ids=["native", "reference"])
def test_extra_rows_and_a_basis_take_part(backend):
    X, y = np.array([[1.0, 0.0], [2.0, 0.5]]), np.array([1, 1], dtype=np.int8)
    assert ask(backend, X, y, intercept=False)[0] == SEPARATES
    status, _, support, _ = ask(backend, X, y, intercept=False, extra=np.array([[-1.0, 0.0]]))
    assert status == WITNESS
    assert set(support.tolist()) == {0, 2}
    status, w, _, _ = ask(backend, X, y, intercept=False, basis=np.array([[1.0], [0.0]]))
    assert status == SEPARATES
    assert w[0] > 0 == w[1]


@pytest.mark.parametrize("backend", [kernels, reference], ids=["native", "reference"])
def test_a_zero_row_is_a_witness_alone(backend):
    X, y = np.array([[1.0], [0.0], [2.0]]), np.array([1, 1, 1], dtype=np.int8)
    status, _, support, _ = ask(backend, X, y, intercept=False)
    assert (status, support.tolist()) == (WITNESS, [1])


def exact(x, w, y):
    total = sum((Fraction(a) * sum(map(Fraction, parts)) for a, parts in zip([*x, 1.0], w.T, strict=True)), Fraction(0))
    return y * ((total > 0) - (total < 0))


@given(
    st.integers(1, 6).flatmap(
        lambda d: st.tuples(
            st.lists(st.lists(finite, min_size=d, max_size=d), min_size=1, max_size=4),
            st.lists(st.lists(finite, min_size=d + 1, max_size=d + 1), min_size=1, max_size=3),
        )
    )
)
def test_signs_are_exact_for_all_doubles(case):
    X, w = (np.array(part, dtype=np.float64) for part in case)
    y = np.where(np.arange(len(X)) % 2, -1, 1).astype(np.int8)
    # the first part of w must be w rounded: let the others be far below it
    for k in range(1, len(w)):
        w[k] = np.where(w[0] == 0, 0.0, np.sign(w[k]) * np.minimum(np.abs(w[k]), np.abs(w[0]) * 2.0**-54))
    expected = [exact(x, w, int(t)) for x, t in zip(X.tolist(), y, strict=True)]
    for backend in (kernels, reference):
        for rows in (backend.Rows.dense(X), csr(backend, X)):
            out = np.empty(len(X), dtype=np.int8)
            backend.exact_signs(rows, y, True, w, None, out)
            assert out.tolist() == expected


def csr(backend, X):
    S = sparse.csr_array(X)
    return backend.Rows.csr(S.data, S.indices, S.indptr, S.shape[1])


def test_cancellation_is_seen_through():
    X = np.array([[1e300, -1e300, 1e-300], [1e16, 1.0, -1e16], [1.0, -1.0, 0.0], [5e-324, 0.0, 0.0]])
    y = np.ones(4, dtype=np.int8)
    out = np.empty(4, dtype=np.int8)
    kernels.exact_signs(kernels.rows(X), y, False, np.array([[1.0, 1.0, 1.0]]), None, out)
    assert out.tolist() == [1, 1, 0, 1]
    kernels.exact_signs(kernels.rows(X), y, False, np.array([[5e-324, 5e-324, -5e-324]]), None, out)
    assert out.tolist() == [-1, 1, 0, 1]
    chosen = np.array([2, 1])
    kernels.exact_signs(kernels.rows(X), y, False, np.array([[1.0, 1.0, 1.0]]), chosen, out[:2])
    assert out[:2].tolist() == [0, 1]


@pytest.mark.parametrize("form", [np.float64, np.float32, "csr"])
def test_opposites(form):
    rng = np.random.default_rng(1)
    for _ in range(50):
        X = rng.integers(-1, 2, (rng.integers(1, 30), 2)).astype(np.float64)
        X[rng.random(X.shape) < 0.3] *= -0.0
        y = rng.choice([-1, 1], len(X)).astype(np.int8)
        found, expected = np.empty(len(X), dtype=np.int64), np.empty(len(X), dtype=np.int64)
        count = kernels.opposites(csr(kernels, X) if form == "csr" else kernels.rows(X.astype(form)), y, found)
        assert count == reference.opposites(reference.Rows.dense(X), y, expected) == (found >= 0).sum()
        assert ((found >= 0) == (expected >= 0)).all()
        for i in np.flatnonzero(found >= 0):
            assert (X[i] == X[found[i]]).all()
            assert y[i] == -y[found[i]]


def test_arguments_are_checked():
    X, y = np.ones((2, 1)), np.array([1, -1], dtype=np.int8)
    with pytest.raises(ValueError, match="active"):
        kernels.exact_signs(kernels.rows(X), y, True, np.ones((1, 2)), np.array([5]), np.empty(1, dtype=np.int8))
    with pytest.raises(ValueError, match="label"):
        kernels.opposites(kernels.rows(X), y[:1], np.empty(2, dtype=np.int64))


def wide_scan(kind):
    """So many rows that a scan goes on several threads."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60_000, 30))
    w = rng.normal(size=30)
    s = X @ w
    y = np.where(s > 0, 1, -1).astype(np.int8)
    if kind == "near the hyperplane":
        y[np.argmin(np.abs(s))] *= -1
    return (sparse.csr_array(X) if kind == "sparse" else X), y


def proposal(X, y, active=None):
    w, support, weights = np.empty(31), np.empty(32, dtype=np.int64), np.empty(32)
    found = kernels.decide(kernels.rows(X), y, True, active, None, None, 0, w, support, weights)
    return found, w.tobytes(), support[: found[1]].tobytes(), weights[: found[1]].tobytes()


@pytest.mark.parametrize("kind", ["separable", "near the hyperplane", "sparse"])
@pytest.mark.parametrize("some", [False, True])
def test_a_scan_on_several_threads_finds_the_same_rows(kind, some):
    X, y = wide_scan(kind)
    active = np.arange(0, len(y), 2) if some else None
    answers = []
    for count in (1, 2, 3, 5):
        with threads(count):
            answers.append(proposal(X, y, active))
    assert answers.count(answers[0]) == 4
    assert answers[0][0][3] > 16 * 4096  # rows scanned: some of it was side by side


def test_an_error_on_another_thread_ends_the_search():
    X, y = wide_scan("separable")

    def failing(work, count):
        work(count - 1)
        raise KeyboardInterrupt

    out, module = (np.empty(31), np.empty(32, dtype=np.int64), np.empty(32)), kernels.native_modules()[-1]
    with pytest.raises(KeyboardInterrupt):
        module.decide(module.Rows.dense(X), y, True, None, None, None, 0, *out, failing)


def test_parts_that_do_not_exist_are_refused():
    X, y = wide_scan("separable")
    kept = []

    def keeping(work, count):
        kept.append(work)
        for k in (-1, count):
            with pytest.raises(ValueError, match="no such part"):
                work(k)
        for k in range(count):
            work(k)

    out = np.empty(31), np.empty(32, dtype=np.int64), np.empty(32)
    module = kernels.native_modules()[-1]
    module.decide(module.Rows.dense(X), y, True, None, None, None, 0, *out, keeping)
    assert kept
    with pytest.raises(ValueError, match="no such part"):
        kept[0](0)

"""Moments: right, the same bits for any chunking, mergeable, stable under large offsets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import DataError
from separatrix.numerics.moments import Moments, arrays_of, merge, partial_moments


def by_definition(X, c):
    mean = np.average(X, axis=0, weights=c)
    away = X - mean
    return mean, (c[:, None] * away).T @ away


def example(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.choice(["a", "b", "c"], n), rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("d", [1, 7, 8, 9, 23, 24, 25, 40, 65])
def test_all_rows_by_definition(d):
    X, _, c = example(700, d)
    totals = partial_moments(X, sample_weight=c).totals()
    mean, scatter = by_definition(X, c)
    np.testing.assert_allclose(totals.mean[0], mean, atol=1e-14)
    np.testing.assert_allclose(totals.scatter, scatter, atol=1e-11)
    assert totals.weight[0] == c.sum()
    assert totals.rows[0] == np.count_nonzero(c)


@pytest.mark.parametrize("pooled", [True, False])
def test_classes_by_definition(pooled):
    X, y, c = example(900, 11)
    totals = partial_moments(X, y, sample_weight=c, pooled=pooled).totals()
    parts = [by_definition(X[y == k], c[y == k]) for k in "abc"]
    np.testing.assert_allclose(totals.mean, [m for m, _ in parts], atol=1e-14)
    scatters = np.array([s for _, s in parts])
    np.testing.assert_allclose(totals.scatter, scatters.sum(axis=0) if pooled else scatters, atol=1e-11)
    mean, scatter = by_definition(X, c)
    every = totals.all_rows()
    np.testing.assert_allclose(every.mean[0], mean, atol=1e-14)
    np.testing.assert_allclose(every.scatter, scatter, atol=1e-11)


@given(st.lists(st.integers(1, 300), min_size=1, max_size=8), st.integers(0, 99), st.booleans())
def test_any_chunking_gives_the_same_bits(sizes, seed, pooled):
    n = sum(sizes)
    X, y, c = example(n, 9, seed)
    c[0] = 1.0
    whole = partial_moments(X, y, sample_weight=c, pooled=pooled).totals()
    state, begin = Moments(9, labels=[], pooled=pooled), 0
    for size in sizes:
        part = slice(begin, begin + size)
        begin += size
        if c[part].any():
            partial_moments(X[part], y[part], sample_weight=c[part], into=state)
    known = [k for k in range(len(whole.rows)) if whole.rows[k] or len(state.totals().rows) == len(whole.rows)]
    for name in ("rows", "weight", "mean", "rest"):
        assert np.array_equal(getattr(state.totals(), name), getattr(whole, name)[known])
    assert np.array_equal(state.totals().scatter, whole.scatter if pooled else whole.scatter[known])


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csr_matrix, lambda X: X.astype(np.float32)])
def test_layouts_have_the_same_bits(layout):
    X, y, _ = example(400, 13)
    X = np.round(X * 4) / 4  # float32 holds them
    X[np.abs(X) < 1] = 0.0
    one, two = partial_moments(X, y).totals(), partial_moments(layout(X), y).totals()
    assert np.array_equal(one.mean, two.mean)
    assert np.array_equal(one.scatter, two.scatter)


def test_a_large_offset_costs_no_digit():
    X, _, _ = example(1000, 3)
    X = np.round(X * 2**20) / 2**20
    near, far = partial_moments(X).totals(), partial_moments(X + 2.0**31).totals()
    np.testing.assert_allclose(far.scatter, near.scatter, rtol=1e-13, atol=1e-11)
    exact = [sum(map(Fraction, X[:, j].tolist())) / 1000 for j in range(3)]
    got = [Fraction(far.mean[0, j]) + Fraction(far.rest[0, j]) - 2**31 for j in range(3)]
    assert max(abs(float(g - e)) for g, e in zip(got, exact, strict=True)) < 1e-14


def test_constant_columns_have_no_scatter_at_all():
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0)])
    totals = partial_moments(X).totals()
    assert totals.scatter[0, 0] == 0 == totals.scatter[0, 1]
    assert totals.mean[0, 0] == 0.1


@pytest.mark.parametrize("pooled", [True, False])
def test_merge_is_the_moments_of_all_rows(pooled):
    X, y, c = example(1500, 10)
    y[:500] = np.where(y[:500] == "b", "a", y[:500])  # a class that one part has never seen
    y[500:900] = "b"
    states = [partial_moments(X[p], y[p], sample_weight=c[p], pooled=pooled) for p in np.array_split(range(1500), 3)]
    kept = [s.totals() for s in states]
    merged, whole = merge(*states).totals(), partial_moments(X, y, sample_weight=c, pooled=pooled).totals()
    np.testing.assert_allclose(merged.mean, whole.mean, atol=1e-15)
    np.testing.assert_allclose(merged.scatter, whole.scatter, atol=1e-11)
    assert np.array_equal(merged.rows, whole.rows)
    for state, before in zip(states, kept, strict=True):
        assert np.array_equal(state.totals().scatter, before.scatter)


def test_weight_two_is_the_row_twice():
    X, _, _ = example(300, 5)
    c = np.ones(300)
    c[:150] = 2
    one, two = partial_moments(X, sample_weight=c).totals(), partial_moments(np.vstack([X[:150], X])).totals()
    np.testing.assert_allclose(one.scatter, two.scatter, atol=1e-12)
    assert one.weight[0] == two.weight[0]


def test_states_of_another_kind_are_refused():
    X, y, _ = example(20, 3)
    state = partial_moments(X)
    with pytest.raises(DataError, match="of the same kind"):
        partial_moments(X, y, into=state)
    with pytest.raises(DataError, match="of the same kind"):
        partial_moments(X[:, :2], into=state)
    with pytest.raises(DataError, match="cannot be merged"):
        merge(state, partial_moments(X, y))
    with pytest.raises(DataError, match="cannot be merged"):
        merge(state, partial_moments(X[:, :2]))
    with pytest.raises(DataError, match="at least one"):
        merge()
    with pytest.raises(DataError, match="targets"):
        partial_moments(X, targets=[1.0])


def test_squares_that_overflow_are_an_error():
    with pytest.raises(DataError, match="overflow"):
        partial_moments([[1e200], [-1e200], [3e200]]).totals()


def test_states_whose_arrays_are_read_only_can_be_merged():
    X = np.random.default_rng(4).normal(size=(500, 3))
    one, two, whole = partial_moments(X[:200]), partial_moments(X[200:]).flushed(), partial_moments(X).totals()
    for array in arrays_of(two):
        array.flags.writeable = False  # as they come from the memory that workers share
    totals = merge(one, two).totals()
    assert totals.rows.tolist() == [500]
    assert np.allclose(totals.scatter, whole.scatter, rtol=1e-12)

"""Nearest points of hulls: native and reference claim the same, and the optimality conditions hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import reference
from separatrix import kernels

NEAREST, ORIGIN, LIMIT = range(3)


def nearest(backend, A, group, start=(), weights=(), c=1.0, steps=1000):
    k = A.shape[1] + int(group.max()) + 1
    support, x, v = np.empty(k, dtype=np.int64), np.empty(k), np.empty(A.shape[1])
    start, weights = np.array(start, dtype=np.int64), np.array(weights, dtype=float)
    status, k, _ = backend.nearest_hulls(A, group, start, weights, c, 1e-13, steps, support, x, v)
    return status, support[:k], x[:k], v


def hulls(seed):
    rng = np.random.default_rng(seed)
    m, q = int(rng.integers(2, 80)), int(rng.integers(1, 8))
    A = rng.standard_normal((m, q)) + rng.choice([0.0, 1.0, 4.0]) * rng.standard_normal(q)
    if seed % 3 == 0:
        A = np.round(A)
    group = np.zeros(m, dtype=np.int8)
    if seed % 2:
        group[rng.integers(1, m) :] = 1
    return A, group


@pytest.mark.parametrize("seed", range(60))
def test_both_find_the_same_distance_and_it_is_optimal(seed):
    A, group = hulls(seed)
    lengths = []
    for backend in (kernels, reference):
        status, support, x, v = nearest(backend, A, group)
        assert len(set(support.tolist())) == len(support)
        assert (x > 0).all()
        np.testing.assert_allclose(np.bincount(group[support], weights=x), 1.0, rtol=1e-12)
        np.testing.assert_allclose(v, x @ A[support], atol=1e-12)
        lengths.append(np.linalg.norm(v))
        if status == NEAREST:
            scores = A @ v
            for g in set(group.tolist()):
                level = np.average(scores[support[group[support] == g]], weights=x[group[support] == g])
                assert scores[group == g].min() >= level - 1e-9 * (1 + v @ v)
        else:
            assert status == ORIGIN
            assert lengths[-1] <= 1e-12 * np.linalg.norm(A, axis=1).max()
    assert lengths[0] == pytest.approx(lengths[1], rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["native", "reference"])
@pytest.mark.parametrize("seed", range(30))
def test_inner_products_serve_as_well_as_coordinates(backend, seed):
    A, group = hulls(seed)
    _, _, _, v = nearest(kernels, A, group)
    support, x = np.empty(len(A), dtype=np.int64), np.empty(len(A))
    nothing = np.empty(0, dtype=np.int64), np.empty(0)
    status, k, _ = backend.nearest_products(A @ A.T, group, *nothing, 1.0, 1e-7, 1000, support, x)
    support, x = support[:k], x[:k]
    np.testing.assert_allclose(np.bincount(group[support], weights=x), 1.0, rtol=1e-9)
    assert np.linalg.norm(x @ A[support]) == pytest.approx(np.linalg.norm(v), rel=1e-6, abs=1e-6)
    assert status in (NEAREST, ORIGIN)


@pytest.mark.parametrize("backend", [kernels, reference], ids=["native", "reference"])
def test_a_start_is_gone_on_from(backend):
    A, group = np.random.default_rng(5).standard_normal((30, 3)) + 3, np.zeros(30, dtype=np.int8)
    _, support, x, v = nearest(backend, A, group)
    status, _, _, w = nearest(backend, A, group, support, x, c=float(np.linalg.norm(v)), steps=20)
    assert status == NEAREST
    np.testing.assert_allclose(w, v, rtol=1e-9)
    assert nearest(backend, A, group, steps=0)[0] == LIMIT


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"group": np.array([0, 2, 1], dtype=np.int8)}, "0 and 1"),
        ({"group": np.array([1, 1, 1], dtype=np.int8)}, "group 0"),
        ({"group": np.array([0, 1], dtype=np.int8)}, "every row"),
        ({"start": np.array([3])}, "start leaves"),
        ({"start": np.array([0, 1])}, "weight for every row"),
        ({"v": np.empty(1)}, "column"),
        ({"support": np.empty(1, dtype=np.int64)}, "support"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, match):
    given = {
        "A": np.eye(3, 2),
        "group": np.array([0, 0, 1], dtype=np.int8),
        "start": np.array([0]),
        "start_weights": np.ones(1),
        "c": 1.0,
        "zero": 1e-13,
        "max_steps": 10,
        "support": np.empty(4, dtype=np.int64),
        "weights": np.empty(4),
        "v": np.empty(2),
    }
    with pytest.raises(ValueError, match=match):
        kernels.nearest_hulls(**{**given, **change})


def test_products_of_other_shapes_are_refused():
    group, room = np.zeros(3, dtype=np.int8), (np.empty(3, dtype=np.int64), np.empty(3))
    nothing = np.empty(0, dtype=np.int64), np.empty(0)
    with pytest.raises(ValueError, match="every two rows"):
        kernels.nearest_products(np.eye(3, 2), group, *nothing, 1.0, 1e-9, 10, *room)
    with pytest.raises(ValueError, match="room"):
        kernels.nearest_products(np.eye(3), group, *nothing, 1.0, 1e-9, 10, room[0][:2], room[1])


@pytest.mark.parametrize("backend", [kernels, reference], ids=["native", "reference"])
def test_scores_lie_within_their_bounds(backend):
    from scipy import sparse

    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 11)) * 10.0 ** rng.integers(-8, 9, (40, 11))
    X[X < 0.1] = 0.0
    w = rng.standard_normal(12) * 10.0 ** rng.integers(-8, 9, 12)
    for rows in (
        backend.Rows.dense(X),
        backend.Rows.csr(*(lambda s: (s.data, s.indices, s.indptr))(sparse.csr_array(X)), 11),
    ):
        score, bound = np.empty(40), np.empty(40)
        backend.bounded_scores(rows, w, score, bound)
        for x, s, b in zip(X, score, bound, strict=True):
            true = sum((Fraction(u) * Fraction(v) for u, v in zip(x, w, strict=False)), Fraction(w[11]))
            assert (
                abs(true - Fraction(s))
                <= Fraction(b)
                <= Fraction(1e-10) * Fraction(float(np.abs(w[:-1]) @ np.abs(x) + abs(w[11])))
            )
    huge = backend.Rows.dense(np.array([[1e200]]))
    backend.bounded_scores(huge, np.array([1e200, 0.0]), score[:1], bound[:1])
    assert bound[0] == np.inf

"""The logistic loss of K classes: derivatives, places, and the same sums by every kind of rows."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import separatrix.rows.protocol as protocol
from separatrix.losses.logistic import Logistic
from separatrix.losses.objective import Objective
from separatrix.rows.places import PieceRows, TableRows
from separatrix.rows.protocol import Leaf
from separatrix.solvers.rough_hessians import Blocks, Diagonal, in_proportion

KINDS = ["dense", "float32", "sparse"]


def table(classes, kind="dense", weighted=True, shifted=True, n=300, d=4):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(n, d)) + 0.5
    y = np.append(np.arange(classes), rng.integers(0, classes, n - classes))
    c = rng.uniform(0.5, 2.0, n) if weighted else None
    o = rng.normal(size=n if classes == 2 else (n, classes)) if shifted else None
    X = sparse.csr_matrix(X) if kind == "sparse" else X.astype(np.float32) if kind == "float32" else X
    return X, y, c, o


def objective(classes, lift=True, ridge=0.7, **more):
    X, y, c, o = table(classes, **more)
    return Objective(TableRows(X, y, classes, c, o), Logistic(classes, lift), ridge)


def plain_value(loss, at, X, y, c, o):
    """From the definition, with the symmetric weights of all classes."""
    U = at.reshape(loss.k, -1)
    V = np.vstack([0.0 * U, U]) if loss.loss.two else np.vstack([U, np.zeros(U.shape[1])])
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
    s = X @ V[:, :-1].T + V[:, -1]
    s = s + (np.column_stack([0.0 * o, o]) if o.ndim == 1 else o)
    W = loss.loss.symmetric(U)[:, :-1]
    return float(c @ (np.log(np.exp(s).sum(axis=1)) - s[np.arange(len(y)), y])) + 0.5 * loss.ridge * (W**2).sum()


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("kind", KINDS)
def test_values_are_those_of_the_definition_for_every_kind_of_rows(classes, kind):
    X, y, c, o = table(classes, kind)
    loss = objective(classes, kind=kind)
    at = np.random.default_rng(0).normal(size=loss.length)
    assert loss.point(at).value == pytest.approx(plain_value(loss, at, X, y, c, o), rel=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 6])
@pytest.mark.parametrize("lift", [True, False])
def test_gradients_and_hessians_are_derivatives(classes, lift):
    loss, rng, h = objective(classes, lift), np.random.default_rng(1), 1e-6
    at, step = rng.normal(size=(2, loss.length))
    if not lift:
        loss.vectors(at)[:, -1] = loss.vectors(step)[:, -1] = 0.0
    point, ends = loss.point(at), [loss.point(at + s * h * step) for s in (1, -1)]
    assert (ends[0].value - ends[1].value) / (2 * h) == pytest.approx(point.gradient @ step, rel=1e-7)
    product = loss.product(point, step)
    np.testing.assert_allclose((ends[0].gradient - ends[1].gradient) / (2 * h), product, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(loss.hessian(point).correction(product), step, rtol=1e-4, atol=1e-5)
    moved = loss.moved(point, 2.0)
    loss.ridge = 2.0
    again = loss.point(at)
    assert moved.value == pytest.approx(again.value, rel=1e-13)
    np.testing.assert_allclose(moved.gradient, again.gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_pieces_of_a_file_have_the_bits_of_memory(classes, kind, monkeypatch):
    monkeypatch.setattr(protocol, "LEAF", 256)
    monkeypatch.setattr(protocol, "NARROW", 1)
    X, y, c, o = table(classes, kind)

    def pieces():
        for a, b in pairwise([0, 7, 100, 101, 260, 300]):
            yield Leaf(X[a:b], 0, y[a:b], None, c[a:b], o[a:b])

    memory = Objective(TableRows(X, y, classes, c, o), Logistic(classes), 0.5)
    file = Objective(PieceRows(pieces, len(y), 4, classes, kind == "sparse"), Logistic(classes), 0.5)
    assert len(list(memory.rows.leaves())) > 1
    at = np.random.default_rng(2).normal(size=memory.length)
    one, other = memory.point(at), file.point(at)
    assert one.value == other.value
    np.testing.assert_array_equal(one.gradient, other.gradient)


@pytest.mark.parametrize("classes", [3, 5])
def test_products_in_single_precision_keep_six_digits_whatever_offsets_and_units(classes):
    X, y, c, _ = table(classes)
    X = (X + np.array([0.0, 1e4, 0.0, -1e5])) * [1.0, 1.0, 1e-20, 1e20]
    loss = Objective(TableRows(X, y, classes, c), Logistic(classes), 0.0)
    exact = Objective(TableRows(X, y, classes, c), Logistic(classes), 0.0)
    exact.__dict__["standard"] = None
    assert loss.standard is not None
    rng = np.random.default_rng(0)
    at, v = rng.normal(size=(2, loss.length))
    scale = np.tile(np.append(X.std(axis=0), 1.0), loss.k)
    point, other = loss.point(0.1 * at / scale), exact.point(0.1 * at / scale)
    found, expected = loss.product(point, v / scale) / scale, exact.product(other, v / scale) / scale
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("classes", [2, 3])
def test_blocks_and_diagonal_are_those_of_the_hessian(classes):
    loss = objective(classes, n=60)
    point = loss.point(np.random.default_rng(3).normal(size=loss.length))
    X, _, c, _ = table(classes, n=60)
    state = loss.loss.state(loss.rows.whole, point.place)
    H = loss.loss.curvatures(loss.rows.whole, state)
    blocks, diagonal = Blocks(loss, point), Diagonal(loss, point)
    for k, h in enumerate(H):
        Z = X - h @ X / h.sum()
        A = (Z.T * h) @ Z + loss.ridge * np.eye(4)
        np.testing.assert_allclose(np.linalg.inv(blocks.inverses[k]), A, rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(diagonal.D[k], np.diagonal(A), rtol=1e-10)
    assert c is not None


def test_rows_chosen_in_proportion_have_the_sums_of_all():
    rng = np.random.default_rng(0)
    h = rng.random(20_000) ** 8
    chosen, weights = in_proportion(h, 500)
    assert len(chosen) <= 600
    assert weights.sum() == pytest.approx(h.sum(), rel=0.02)

"""A running standardiser: the formula, any chunking, dicts and arrays, predictions afterwards, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix import Perceptron, RunningStandardiser, progressive
from separatrix.errors import DataError


def table(n=700):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 3)) * [1.0, 1000.0, 1e-3] + [0.0, 5000.0, 1.0]
    y = (X[:, 0] + (X[:, 1] - 5000.0) / 1000.0 > 0).astype(int)
    return X, y


def boundaries():
    return [0, 2, 4, 8, 16, 32, 64, 128, *range(256, 2000, 256)]


def test_rows_are_scaled_by_the_rows_before_the_last_boundary():
    X, y = table()
    found = np.vstack([x for x, _ in RunningStandardiser().rows(zip(X, y, strict=True))])
    for k in range(len(X)):
        before = X[: max(b for b in boundaries() if b <= k)]
        expected = (X[k] - before.mean(axis=0)) / before.std(axis=0) if len(before) else np.zeros(3)
        np.testing.assert_allclose(found[k], expected, rtol=1e-9, atol=1e-9)


def test_chunks_of_any_size_rows_and_dicts_give_the_same_bits():
    X, y = table()
    names = ("a", "b", "c")
    one_by_one = np.vstack([x for x, _ in RunningStandardiser().rows(zip(X.tolist(), y, strict=True))])
    for size in (1, 7, 256, 300, 700):
        chunks = ((X[k : k + size], y[k : k + size]) for k in range(0, len(X), size))
        assert np.vstack([x for x, _ in RunningStandardiser().rows(chunks)]).tobytes() == one_by_one.tobytes()
    assert np.vstack([x for x, _ in RunningStandardiser().rows(X, y)]).tobytes() == one_by_one.tobytes()
    dicts = ((dict(zip(names, x, strict=True)), label) for x, label in zip(X.tolist(), y, strict=True))
    assert [list(x.values()) for x, _ in RunningStandardiser().rows(dicts)] == one_by_one.tolist()


def test_names_that_come_late_texts_and_missing_numbers():
    scaler = RunningStandardiser()
    items = [({"a": float(k), "town": "x"} | ({"b": k % 5} if k >= 300 else {}), k % 2) for k in range(600)]
    items[400][0]["a"] = None
    scaled = [x for x, _ in scaler.rows(items)]
    assert set(scaled[299]) == {"a", "town"}
    assert scaled[299]["town"] == "x"
    assert scaled[400]["a"] == 0.0
    assert scaled[310]["b"] == 0.0  # no boundary since it came
    late = [k % 5 for k in range(300, 512)]
    assert scaled[520]["b"] == pytest.approx((520 % 5 - np.mean(late)) / np.std(late))
    after = scaler.transform({"a": 255.5, "b": float("nan"), "town": "y"})
    assert after["b"] == 0.0
    assert after["town"] == "y"
    with pytest.raises(DataError, match="no row of the stream had"):
        scaler.transform({"c": 1.0})


def test_a_learner_of_scaled_rows_predicts_scaled_rows():
    X, y = table()
    scaler, model, plain = RunningStandardiser(), Perceptron(), Perceptron()
    found = progressive(model, scaler.rows(X, y))
    assert found.rows == 700
    assert found.mistakes < progressive(plain, X, y).mistakes
    assert (model.predict(scaler.transform(X)) == y).mean() > 0.9
    assert scaler.transform(X[5]).tolist() == scaler.transform(X)[5].tolist()


def test_keys_and_labels_that_come_later_pass_through():
    items = [(1, [1.0, 2.0], None), (2, [3.0, 4.0], None), (1, None, "a"), (2, None, "b")]
    scaled = list(RunningStandardiser().rows(items))
    assert [(key, x is None, label) for key, x, label in scaled] == [
        (1, False, None),
        (2, False, None),
        (1, True, "a"),
        (2, True, "b"),
    ]


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ([(sparse.csr_array(np.eye(2)), [0, 1])], "sparse"),
        ([(([0], [1.0]), 0)], "sparse"),
        ([([1.0, 2.0], 0), ([1.0], 1)], "2 numbers each"),
        ([(1.0, 0)], "shape"),
        ([[1.0, 2.0, 3.0, 4.0]], "item 0"),
        ([(["a", "b"], 1)], "must be numbers"),
        ([({"a": [1]}, 1)], "entries must be numbers"),
        ([([1.0, np.inf], 1)], "infinite"),
        ([({"a": -np.inf}, 1)], "infinite"),
        (None, "NoneType"),
    ],
)
def test_rows_that_cannot_be_scaled_are_named(items, words):
    with pytest.raises(DataError, match=words):
        list(RunningStandardiser().rows(items))


def test_as_many_labels_as_rows_and_numbers_to_transform():
    with pytest.raises(DataError, match="3 rows and y has 2"):
        list(RunningStandardiser().rows(np.ones((3, 2)), [0, 1]))
    scaler = RunningStandardiser()
    assert len(list(scaler.rows(np.ones((3, 2)), [0, 1, 0]))) == 1
    with pytest.raises(DataError, match="must be numbers"):
        scaler.transform("text")

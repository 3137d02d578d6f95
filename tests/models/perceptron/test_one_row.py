"""One row at a time: the same as partial_fit, in every shape a row can have, with every check."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix.errors import DataError, DataTypeError, ParameterError

LEARNERS = [
    sx.Perceptron(),
    sx.Perceptron(normalize_rows=True, class_weight={0: 2.0}),
    sx.AveragedPerceptron(),
    sx.MarginPerceptron(margin=0.2),
    sx.PassiveAggressive(C=0.3),
    sx.AROW(),
    sx.AROW(covariance="full"),
]
SCHEMES = ("ovr", "kesler")


def like(model, scheme):
    return type(model)(**{**model.get_params(), "multiclass": scheme})


def table(seed, n=60, d=4, classes=3):
    rng = np.random.default_rng(seed)
    X = np.round(2 * rng.normal(size=(n, d)))
    return X, rng.integers(0, classes, size=n)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
@pytest.mark.parametrize("classes", [2, 3])
def test_learn_one_is_partial_fit(scheme, model, classes):
    X, y = table(classes, classes=classes)
    expected = like(model, scheme).partial_fit(X, y)
    single = like(model, scheme)
    for x, label in zip(X, y, strict=True):
        single.learn_one(x, label)
    np.testing.assert_array_equal(single.coef_, expected.coef_)
    np.testing.assert_array_equal(single.intercept_, expected.intercept_)
    assert single.classes_.tolist() == expected.classes_.tolist()
    assert (single.mistakes_, single.visits_) == (expected.mistakes_, expected.visits_)
    assert single.status_ is sx.numerics.Status.STREAMED
    np.testing.assert_array_equal(single.predict(X), expected.predict(X))
    for x in X[:10]:
        np.testing.assert_allclose(single.decision_one(x), expected.decision_function(x[None])[0], rtol=1e-9, atol=1e-9)
        assert single.predict_one(x) == expected.predict(x[None])[0]


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_rows_of_every_kind(model):
    X, y = table(1)
    kinds = [
        lambda x: x,
        lambda x: x.tolist(),
        lambda x: x.astype(np.float32),
        lambda x: x.astype(int),
        lambda x: (np.flatnonzero(x), x[x != 0]),
        lambda x: (np.flatnonzero(x)[::-1].tolist(), x[x != 0][::-1].tolist()),
        lambda x: sp.csr_array(x[None]),
        lambda x: x[None],
    ]
    expected = like(model, "ovr").partial_fit(X, y)
    mixed = like(model, "ovr").partial_fit(X[:1], y[:1])
    for i in range(1, len(X)):
        mixed.learn_one(kinds[i % len(kinds)](X[i]), y[i])
    np.testing.assert_allclose(mixed.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
    for kind in kinds:
        np.testing.assert_allclose(
            mixed.decision_one(kind(X[0])), expected.decision_function(X[:1])[0], rtol=1e-9, atol=1e-9
        )


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", [m for m in LEARNERS if m.get_params().get("covariance") != "full"], ids=repr)
def test_dicts_with_an_open_vocabulary_are_rows(scheme, model):
    """Features that appear late end where they would have if they had been columns from the start."""
    X, y = table(3, n=80, d=40)
    X[:40, 20:] = 0.0  # the second half of the features appears half-way
    names = [f"f{j}" for j in range(40)]
    single = like(model, scheme)
    for x, label in zip(X, y, strict=True):
        single.learn_one({name: float(v) for name, v in zip(names, x, strict=True) if v}, label)
    index = single._names.index
    assert single.n_features_in_ == len(index)
    columns = [names.index(name) for name in index]
    expected = like(model, scheme).partial_fit(sp.csr_array(X), y)
    np.testing.assert_allclose(single.coef_, expected.coef_[:, columns], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(single.intercept_, expected.intercept_, rtol=1e-9, atol=1e-12)
    row = dict(zip(names, X[0].tolist(), strict=True))
    np.testing.assert_allclose(
        single.decision_one({**row, "never seen": 5.0}), expected.decision_function(X[:1])[0], rtol=1e-9, atol=1e-9
    )
    assert single.predict(X[:, columns]).tolist() == expected.predict(X).tolist()
    with pytest.raises(DataError, match="dicts of features"):
        single.learn_one(X[0], 0)
    with pytest.raises(DataError, match="dicts of features"):
        single.partial_fit(X, y)


@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_dicts_that_are_hashed_are_the_rows_of_the_map(model):
    X, y = table(4, n=60, d=12)
    hashed = type(model)(**{**model.get_params(), "hashing": 8})  # narrow: names fall together
    dicts = [{f"f{j}": float(v) for j, v in enumerate(x) if v} for x in X]
    for x, label in zip(dicts, y, strict=True):
        hashed.learn_one(x, label)
    rows = sx.HashingMap(8).transform(dicts)
    expected = like(model, "ovr").partial_fit(rows, y)
    np.testing.assert_array_equal(hashed.coef_, expected.coef_)
    assert hashed.n_features_in_ == 8
    assert hashed.predict_one({**dicts[0], "unseen": 0.0}) == expected.predict(rows[[0]])[0]


def test_dicts_by_the_names_of_a_frame():
    import pandas as pd

    X, y = table(5, d=3, classes=2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = sx.Perceptron().fit(frame, y)
    assert model.decision_one({"c": X[0, 2], "a": X[0, 0], "b": X[0, 1]}) == model.decision_function(frame[:1])[0]
    model.learn_one({"a": 1.0, "c": -1.0}, 1)
    for bad in ({"z": 1.0}, {"a": 1.0, "zz": 2.0}):
        with pytest.raises(DataError, match="not fitted on"):
            model.learn_one(bad, 1)
        with pytest.raises(DataError, match="not fitted on"):
            model.predict_one(bad)
    unnamed = sx.Perceptron().fit(X, y)
    with pytest.raises(DataError, match="without names"):
        unnamed.learn_one({"a": 1.0}, 1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_cannot_be_learned_changes_nothing(scheme):
    X, y = table(6, classes=2)
    model = sx.AveragedPerceptron(multiclass=scheme)
    for x, label in zip(X, y, strict=True):
        model.learn_one(x, label)
    before = model.coef_.copy(), model.mistakes_, model.visits_, model.classes_.tolist()
    row = X[0]
    bad = [
        ((np.array([1.0, np.nan, 0.0, 0.0]), 1), DataError, "NaN"),
        ((np.array([1.0, np.inf, 0.0, 0.0]), 1), DataError, "inf"),
        ((row[:3], 1), DataError, "expecting 4 features"),
        ((3.0, 1), DataError, "one row"),
        (("abcd", 1), DataError, "one row"),
        ((None, 1), DataError, "one row"),
        ((["a", "b", "c", "d"], 1), DataError, "text"),
        ((np.ones((2, 4)), 1), DataError, "one row"),
        (([[1.0, 2.0], [3.0]], 1), DataError, "row"),
        ((([0, 1], [1.0]), 1), DataError, "go together"),
        ((([0, 9], [1.0, 2.0]), 1), DataError, "leave"),
        ((([0, 0], [1.0, 2.0]), 1), DataError, "twice"),
        ((([0.5], [1.0]), 1), DataTypeError, "whole numbers"),
        ((row, None), DataError, "NaN or None"),
        ((row, np.nan), DataError, "NaN"),
        ((row, 0.5), DataError, "not a class"),
        ((row, "one"), DataTypeError, "one type of label"),
        ((row, [0, 1]), DataError, "one label"),
        ((row, 1, -1.0), DataError, "negative"),
        ((row, 1, 0.0), DataError, "zero"),
        ((row, 1, np.nan), DataError, "finite"),
        ((row, 1, "heavy"), DataError, "sample_weight"),
        (({"a": 1.0}, 1), DataError, "without names"),
    ]
    for arguments, error, word in bad:
        with pytest.raises(error, match=word):
            model.learn_one(*arguments)
    for x in (row[:3], np.array([1.0, np.nan, 0.0, 0.0]), None, {"a": 1.0}):
        with pytest.raises(DataError):
            model.predict_one(x)
    after = model.coef_, model.mistakes_, model.visits_, model.classes_.tolist()
    np.testing.assert_array_equal(before[0], after[0])
    assert before[1:] == after[1:]


@pytest.mark.parametrize("hashing", [None, 64])
def test_text_in_a_dict_is_the_feature_of_its_level(hashing):
    rows = [({"a": "high", "b": 2.0}, 1), ({"a": "low", "b": 1.0}, 0), ({"a": "high"}, 0)] * 4
    by_text, spelled = sx.AveragedPerceptron(hashing=hashing), sx.AveragedPerceptron(hashing=hashing)
    for x, y in rows:
        by_text.learn_one(x, y)
        spelled.learn_one({f"a={x['a']}": 1.0, **{k: v for k, v in x.items() if k == "b"}}, y)
    np.testing.assert_array_equal(by_text.coef_, spelled.coef_)
    assert by_text.decision_one({"a": "low", "b": 1.0}) == spelled.decision_one({"a=low": 1, "b": 1.0})
    assert by_text.decision_one({"a": "high", "a=high": 2.0}) == by_text.decision_one({"a=high": 3.0}) != 0


def test_dicts_that_cannot_be_learned_change_nothing():
    model = sx.Perceptron().learn_one({"a": 1.0, "b": 2.0}, 1).learn_one({"a": -1.0}, 0)
    before = model.coef_.copy(), dict(model._names.index)
    bad = [
        ({"c": None}, DataTypeError, "neither a number nor text"),
        ({"c": ["high"]}, DataTypeError, "neither a number nor text"),
        ({1: 2.0}, DataTypeError, "names must be text"),
        ({"c": np.nan}, DataError, "finite"),
        ({"c": float("inf")}, DataError, "finite"),
        ({"c": 10**400}, DataError, "finite"),
        ({"a": 1 + 2j}, DataTypeError, "neither a number nor text"),
    ]
    for x, error, word in bad:
        with pytest.raises(error, match=word):
            model.learn_one(x, 1)
        with pytest.raises(error, match=word):
            model.predict_one(x)
    with pytest.raises(DataTypeError, match="one type of label"):
        model.learn_one({"new": 1.0}, "text")
    np.testing.assert_array_equal(before[0], model.coef_)
    assert before[1] == model._names.index
    model.learn_one({}, 1)
    model.learn_one({"a": True, "b": np.float32(2), "d": 10**30}, 0)
    assert model.n_features_in_ == 3


def test_a_pair_needs_to_know_the_features():
    with pytest.raises(DataError, match="how many features"):
        sx.Perceptron().learn_one(([0], [1.0]), 1)
    with pytest.raises(ParameterError, match="start='zeros'"):
        sx.Perceptron(start="ones").learn_one({"a": 1.0}, 1)
    with pytest.raises(ParameterError, match="hashing"):
        sx.AROW(covariance="full").learn_one({"a": 1.0}, 1)
    for value in (0, -3, 2**40, 1.5, "big"):
        with pytest.raises(ParameterError, match="hashing"):
            sx.Perceptron(hashing=value).learn_one({"a": 1.0}, 1)


def test_prediction_before_learning():
    from sklearn.exceptions import NotFittedError

    for model in LEARNERS:
        assert like(model, "ovr").predict_one([1.0]) is None
        with pytest.raises(NotFittedError):
            like(model, "ovr").decision_one({"a": 1.0})


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
@pytest.mark.parametrize("model", LEARNERS, ids=repr)
def test_copies_go_their_own_way(duplicate, model):
    X, y = table(7)
    model = like(model, "ovr")
    for x, label in zip(X[:30], y[:30], strict=True):
        model.learn_one(x, label)
    other = duplicate(model)
    for x, label in zip(X[30:], y[30:], strict=True):
        other.learn_one(x, label)
    assert not np.array_equal(model.coef_, other.coef_)
    for x, label in zip(X[30:], y[30:], strict=True):
        model.learn_one(x, label)
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_boundary_of_one_row():
    rows = {"positive": 1, "negative": 0, "undefined": None}
    for boundary, expected in rows.items():
        model = sx.Perceptron(boundary=boundary).partial_fit([[1.0], [-1.0]], [1, 0], classes=[0, 1])
        assert model.decision_one([0.0]) == 0.0
        assert model.predict_one(np.array([0.0])) == expected


def test_a_fit_between_rows_starts_over():
    X, y = table(8, classes=2)
    model = sx.Perceptron().learn_one({"a": 1.0}, 1).learn_one({"a": 2.0}, 0)
    model.fit(X, y)
    np.testing.assert_array_equal(model.coef_, sx.Perceptron().fit(X, y).coef_)
    model.learn_one(X[0], y[0])
    assert model.coef_.shape == (1, 4)
    one_class = sx.Perceptron().learn_one([1.0, 2.0], "only")
    assert one_class.predict_one([0.0, 0.0]) == "only"


def test_hashing_map_as_a_transformer():
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    dicts = [{"a": 1.0, "b": 2}, {"c": 3.0}, {}, {"a": -1.0}]
    pipeline = make_pipeline(sx.HashingMap(1024), sx.Perceptron())
    pipeline.fit(dicts, [1, 0, 0, 0])
    assert pipeline.predict(dicts).tolist() == [1, 0, 0, 0]
    unsigned = sx.HashingMap(4, signed=False).transform([{"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0}])
    assert unsigned.sum() == 5.0
    assert (unsigned.toarray() >= 0).all()
    assert sx.HashingMap(2**18).column("spam") == sx.HashingMap(2**18).column("spam")
    columns = [sx.HashingMap(64).column(f"word {k}") for k in range(6400)]
    counts = np.bincount([c if c >= 0 else ~c for c in columns], minlength=64)
    assert counts.min() > 50
    assert counts.max() < 160
    assert 0.45 < np.mean([c < 0 for c in columns]) < 0.55
    assert clone(sx.HashingMap(7)).n_features == 7
    with pytest.raises(DataTypeError, match="row 1"):
        sx.HashingMap(4).transform([{"a": 1}, [1, 2]])
    with pytest.raises(ParameterError, match="n_features"):
        sx.HashingMap(0).transform(dicts)
    with pytest.raises(DataError, match="no rows"):
        sx.HashingMap(4).transform([])


@pytest.mark.parametrize("learner", [sx.Perceptron, sx.AveragedPerceptron, sx.PassiveAggressive, sx.AROW])
@pytest.mark.parametrize("scheme", ["ovr", "kesler"])
@pytest.mark.parametrize("classes", [2, 3])
def test_learning_goes_on_from_assigned_weights(learner, scheme, classes):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % classes
    coef, intercept = rng.normal(size=(1 if classes == 2 else 3, 3)), rng.normal(size=1 if classes == 2 else 3)
    fresh = learner(multiclass=scheme).partial_fit(X[:5], y[:5], classes=range(classes))
    fresh.coef_, fresh.intercept_ = coef, intercept
    used = learner(multiclass=scheme).partial_fit(X, y).learn_one(X[0], y[0])
    used.coef_ = coef.copy()
    used.intercept_ = intercept.copy()
    used.learn_one(X[7], y[7])
    np.testing.assert_array_equal(used.coef_, fresh.partial_fit(X[7:8], y[7:8]).coef_)
    changed = learner(multiclass=scheme).partial_fit(X, y)
    changed.coef_[:] = coef
    changed.intercept_[:] = intercept
    np.testing.assert_array_equal(changed.partial_fit(X[7:8], y[7:8]).coef_, fresh.coef_)


@pytest.mark.parametrize("coef", [np.ones((1, 4)), np.ones(3), [[np.nan, 0.0, 0.0]], [["a", "b", "c"]]])
def test_assigned_weights_that_are_none_are_refused(coef):
    model = sx.Perceptron().partial_fit(np.eye(3), [0, 1, 0])
    model.coef_ = coef
    with pytest.raises(DataError, match=r"coef_ was assigned and must be an array of shape \(1, 3\)"):
        model.partial_fit(np.eye(3), [0, 1, 0])

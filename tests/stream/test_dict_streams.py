"""Dicts of features: many in one native call, and yet each predicted, scored and learned before the next is taken."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import (
    AROW,
    AveragedPerceptron,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    progressive,
)
from separatrix.errors import DataError, DataTypeError
from separatrix.models.perceptron import dict_stream

LEARNERS = [Perceptron, AveragedPerceptron, MarginPerceptron, PassiveAggressive, AROW]
COLOURS = ("red", "green", "blue", "grün", "")


def rows(n=300, classes=2, seed=0):
    """Numbers and texts, names that come and go and change their order, labels that are absent now and then."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=(9, classes))
    made = []
    for i in range(n):
        values = np.round(rng.normal(size=9), 2)
        x = {f"x{j}": float(values[j]) for j in rng.permutation(9)[: rng.integers(1, 10)] if j < 4 + i // 20}
        x["colour"] = COLOURS[int(rng.integers(0, 1 + min(4, i // 50)))]
        x["count"] = int(rng.integers(0, 3))
        label = int((values @ w).argmax())
        made.append((x, None if i % 17 == 5 else float("nan") if i % 17 == 9 else label))
    return made


def same(a, b):
    """The same model, to the bit."""
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert a.intercept_.tobytes() == b.intercept_.tobytes()
    assert (a.mistakes_, a.visits_, a.n_features_in_) == (b.mistakes_, b.visits_, b.n_features_in_)
    assert a._names.index == b._names.index


def plain_loop(model, stream):
    """Predict, compare, learn."""
    said = []
    for x, label in stream:
        said.append(model.predict_one(x))
        if label is not None and label == label:
            model.learn_one(x, label)
    return said


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("multiclass", ["ovr", "kesler"])
@settings(max_examples=5)
@given(room=st.sampled_from([1, 2, 7, 64, 4096]), classes=st.integers(1, 4), hashing=st.sampled_from([None, 32]))
def test_one_call_for_many_rows_is_the_plain_loop(learner, multiclass, room, classes, hashing):
    stream = rows(classes=classes, seed=room)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dict_stream, "ROWS", room)
        model = learner(multiclass=multiclass, hashing=hashing)
        found = progressive(model, stream, window=50)
    plain = learner(multiclass=multiclass, hashing=hashing)
    said = plain_loop(plain, stream)
    same(model, plain)
    keyed = learner(multiclass=multiclass, hashing=hashing)
    single = progressive(keyed, [(i, x, y) for i, (x, y) in enumerate(stream)], window=50)
    same(model, keyed)
    assert found.to_dict() == single.to_dict()
    labelled = [(a, b) for a, (_, b) in zip(said, stream, strict=True) if b is not None and b == b]
    assert found.mistakes == sum(a is not None and a != b for a, b in labelled)
    assert (found.rows, found.labelled) == (300, len(labelled))


@pytest.mark.parametrize("boundary", ["positive", "negative", "undefined"])
@pytest.mark.parametrize("classes", [None, [0, 1]])
def test_scores_of_zero_follow_the_boundary(boundary, classes):
    stream = [({"a": 1.0}, 1), ({"a": 1.0}, 0), *[({"b": 1.0 * (i % 3)}, i % 2) for i in range(40)], ({}, 1), ({}, 0)]
    model, keyed = (Perceptron(boundary=boundary, fit_intercept=False) for _ in range(2))
    found = progressive(model, stream, classes=classes)
    single = progressive(keyed, [(i, x, y) for i, (x, y) in enumerate(stream)], classes=classes)
    assert found.to_dict() == single.to_dict()
    same(model, keyed)


@pytest.mark.parametrize("options", [{"class_weight": {0: 2.0}}, {"normalize_rows": True}], ids=repr)
def test_learners_that_weigh_rows_take_them_one_by_one(options):
    stream = [({"a": float(i % 5), "b": float(i % 7) - 3}, int(i % 5 > i % 7 - 3)) for i in range(100)]
    model, plain = Perceptron(**options), Perceptron(**options)
    plain_loop(plain, stream)
    progressive(model, stream)
    same(model, plain)


def test_a_row_is_learned_before_the_next_is_asked_for():
    """A generator sees the model of all rows that it has given, and may go on learning with it."""
    model, plain, stream = Perceptron(), Perceptron(), rows(200)

    def source():
        for i, (x, y) in enumerate(stream):
            if i > 2:
                assert model.predict_one(x) == plain.predict_one(x)
                same(model, plain)
            if i == 100:  # a class that the stream does not have
                model.learn_one({"x0": 1.0, "new": 2.0}, 7)
                plain.learn_one({"x0": 1.0, "new": 2.0}, 7)
            yield x, y
            if y is not None and y == y:
                plain.learn_one(x, y)

    progressive(model, source())
    same(model, plain)
    assert model.classes_.tolist() == [0, 1, 7]


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("at", [1, 2, 150, 299])
def test_a_source_that_breaks_off_leaves_its_rows_learned_once(stop, at):
    stream = rows()

    def source():
        yield from stream[:at]
        raise stop

    model, plain = AveragedPerceptron(), AveragedPerceptron()
    with pytest.raises(stop):
        progressive(model, source())
    plain_loop(plain, stream[:at])
    same(model, plain)


@pytest.mark.parametrize(
    ("item", "error", "words"),
    [
        ({"x0": 1.0}, DataError, "item 100 of the stream is"),
        (None, DataError, "item 100 of the stream is None"),
        (({"x0": 1.0}, 1, 2), DataError, r"must be \(row, label\)"),
        (({"x0": float("inf")}, 1), DataError, "must be finite"),
        (({"x0": 10**400}, 1), DataError, "must be finite"),
        (({"x0": None}, 1), DataTypeError, "neither a number nor text"),
        (({3: 1.0}, 1), DataTypeError, "names must be text"),
        (({"x0": 1.0}, [1]), DataError, "one label"),
        (([1.0, 2.0], 1), DataError, "dicts"),
    ],
)
def test_an_item_that_is_wrong_is_named_and_the_rows_before_it_stay_learned(item, error, words):
    stream = rows(100)
    model, plain = Perceptron(), Perceptron()
    with pytest.raises(error, match=words):
        progressive(model, [*stream, item])
    plain_loop(plain, stream)
    same(model, plain)


def test_pairs_as_lists_counters_and_numbers_of_numpy():
    stream = [({"a": float(i % 5), "b": i % 3}, i % 2 == 0) for i in range(60)]
    model = Perceptron()
    progressive(model, stream)
    for change in (
        lambda x, y: [x, y],
        lambda x, y: (Counter(x), y),
        lambda x, y: ({name: np.float32(value) for name, value in x.items()}, np.bool_(y)),
        lambda x, y: ({name: np.int64(value) for name, value in x.items()}, y),
    ):
        other = Perceptron()
        progressive(other, [change(x, y) for x, y in stream])
        same(other, model)


def test_texts_are_categories_that_grow_and_new_ones_are_named():
    stream = [({"colour": "red", "size": 2}, "yes"), ({"colour": "blue", "size": 1}, "no")] * 5
    found = progressive(model := Perceptron(), [*stream, ({"colour": "green"}, None), ({"colour": "grey"}, "no")])
    assert found.new_categories == ("colour=red", "colour=blue", "colour=grey")
    assert "new categories: colour=red, colour=blue, colour=grey" in str(found)
    assert model.predict_one({"colour": "red", "size": 2}) == "yes"
    spelled = Perceptron()
    progressive(spelled, [({f"colour={x['colour']}": 1.0, "size": x["size"]}, y) for x, y in stream])
    assert spelled.predict_one({"colour": "blue", "size": 1}) == "no"
    assert progressive(Perceptron(hashing=16), stream).new_categories == ()
    assert progressive(Perceptron(), stream, delay=3).new_categories == ("colour=red", "colour=blue")


@pytest.mark.parametrize("hashing", [None, 8])
@pytest.mark.parametrize("learner", LEARNERS)
def test_new_names_in_every_row(learner, hashing):
    stream = [({"user": f"u{i}", f"w{i % 90}": 1.0, f"v{i * 7 % 50}": -0.5, "x": i % 4}, i % 3 > 0) for i in range(300)]
    model, keyed = learner(hashing=hashing), learner(hashing=hashing)
    found = progressive(model, stream)
    single = progressive(keyed, [(i, x, y) for i, (x, y) in enumerate(stream)])
    assert found.to_dict() == single.to_dict()
    assert len(found.new_categories) == (300 if hashing is None else 0)
    same(model, keyed)


def test_a_learner_without_dicts_says_so():
    with pytest.raises(DataError, match="takes no dicts"):
        progressive(VotedPerceptron(), [({"a": 1.0}, 1), ({"a": 2.0}, 0)])

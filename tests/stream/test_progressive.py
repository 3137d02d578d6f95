"""Progressive evaluation: each prediction is made before its row is learned, for any chunking and any delay."""

from __future__ import annotations

import contextlib
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from separatrix import (
    AROW,
    AveragedPerceptron,
    KernelPerceptron,
    LeastSquares,
    LinearDescent,
    LinearDiscriminant,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    VotedPerceptron,
    mistake_bound,
    progressive,
)
from separatrix.errors import DataError, ParameterError
from separatrix.models.perceptron.arrivals import Arrivals

ROW_BY_ROW = [Perceptron, AveragedPerceptron, MarginPerceptron, PassiveAggressive, AROW]


def problem(n=400, d=5, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 2)
    y = (X @ rng.normal(size=(d, classes)) + 0.3 * rng.normal(size=(n, classes))).argmax(axis=1)
    return X, y


def one_by_one(learner, X, y):
    """The plain loop: predict, compare, learn."""
    said = []
    for x, label in zip(X, y, strict=True):
        said.append(learner.predict_one(x))
        learner.learn_one(x, label)
    return said


def chunks(X, y, cuts):
    ends = [*sorted(cuts), len(y)]
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        if end > begin:
            yield X[begin:end], y[begin:end]


@pytest.mark.parametrize("learner", ROW_BY_ROW)
@pytest.mark.parametrize("multiclass", ["ovr", "kesler"])
@pytest.mark.parametrize("classes", [2, 4])
@settings(max_examples=6)
@given(cuts=st.lists(st.integers(0, 200), max_size=5), sparse=st.booleans())
def test_any_chunking_is_the_plain_loop(learner, multiclass, classes, cuts, sparse):
    X, y = problem(200, classes=classes, seed=len(cuts))
    plain, model = learner(multiclass=multiclass), learner(multiclass=multiclass)
    said = one_by_one(plain, X, y.tolist())
    found = progressive(model, chunks(csr_array(X) if sparse else X, y, cuts))
    assert found.mistakes == sum(a is not None and a != b for a, b in zip(said, y.tolist(), strict=True))
    assert (found.rows, found.labelled) == (200, 200)
    assert np.array_equal(model.classes_, plain.classes_)
    if not sparse:
        assert np.array_equal(model.coef_, plain.coef_)
        assert np.array_equal(model.intercept_, plain.intercept_)
        assert model.mistakes_ == plain.mistakes_
        assert model.visits_ == plain.visits_


def test_a_class_is_not_known_before_its_first_row_is_predicted():
    found = progressive(Perceptron(), [[1.0], [1.0], [1.0]], ["a", "b", "c"])
    assert (found.labelled, found.mistakes, found.accuracy.value) == (3, 2, 0.0)


@pytest.mark.parametrize(
    "learner",
    [VotedPerceptron, KernelPerceptron, LinearDescent, LinearDiscriminant, LeastSquares],
    ids=lambda c: c.__name__,
)
def test_other_learners_learn_in_blocks_of_rows_counted_from_the_first(learner):
    X, y = problem(700)
    results = []
    for cuts in ([], [1, 255, 256, 300], [511, 512]):
        model = learner()
        found = progressive(model, chunks(X, y.astype(float), cuts))
        results.append((found.to_dict(), model.predict(X).tolist()))
        assert found.block == 256
        assert "blocks of 256 rows" in str(found)
    assert results[0] == results[1] == results[2]
    expected = learner().partial_fit(X[:256], y[:256].astype(float)).predict(X[256:512])
    single = progressive(learner(), X[:512], y[:512].astype(float))
    if learner is LeastSquares:
        assert single.accuracy.value == pytest.approx(((expected - y[256:512]) ** 2).mean())
    else:
        assert single.mistakes == int((expected != y[256:512]).sum())


def test_blocks_of_one_row_are_row_by_row():
    X, y = problem(25)
    model, plain = LinearDiscriminant(), LinearDiscriminant()
    found = progressive(model, X, y, block=1, classes=[0, 1])
    mistakes = predicted = 0
    for x, label in zip(X, y.tolist(), strict=True):
        with contextlib.suppress(ValueError):  # not enough rows of both classes yet
            mistakes += int(plain.predict(x[None])[0] != label)
            predicted += 1
        plain.partial_fit(x[None], [label], classes=[0, 1])
    assert found.mistakes == mistakes
    assert found.accuracy.value == 1 - mistakes / predicted


def test_rows_without_labels_are_predicted_only():
    X, y = problem(300)
    labels = y.astype(float)
    labels[::3] = np.nan
    model = Perceptron()
    found = progressive(model, X, labels)
    assert (found.rows, found.labelled) == (300, 200)
    assert np.array_equal(model.coef_, Perceptron().partial_fit(X[~np.isnan(labels)], labels[~np.isnan(labels)]).coef_)
    words = [None if np.isnan(v) else ("no", "yes")[int(v)] for v in labels]
    assert progressive(Perceptron(), X, np.array(words, dtype=object)).mistakes == found.mistakes


@pytest.mark.parametrize("delay", [1, 7, 50])
def test_a_label_that_comes_later_is_learned_later(delay):
    X, y = problem(200)
    model, plain, mistakes = AveragedPerceptron(), AveragedPerceptron(), 0
    found = progressive(model, X, y, delay=delay, classes=[0, 1])
    waiting = []
    for x, label in zip(X, y.tolist(), strict=True):
        waiting.append((x, label, plain.predict_one(x, [0, 1])))
        if len(waiting) > delay:
            old, own, said = waiting.pop(0)
            mistakes += said != own
            plain.learn_one(old, own, **({} if plain.__sklearn_is_fitted__() else {"classes": [0, 1]}))
    for old, own, said in waiting:
        mistakes += said != own
        plain.learn_one(old, own)
    assert found.mistakes == mistakes
    assert np.array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize("stop", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("learner", [Perceptron, LinearDiscriminant])
@pytest.mark.parametrize("single", [False, True])
def test_a_source_that_breaks_off_leaves_its_rows_learned_once(learner, single, stop):
    X, y = problem(340)

    def source():
        yield from zip(X, y.tolist(), strict=True) if single else chunks(X, y, [100, 300])
        raise stop

    model = learner()
    with pytest.raises(stop):
        progressive(model, source())
    assert np.array_equal(model.coef_, learner().partial_fit(X[:256], y[:256]).partial_fit(X[256:], y[256:]).coef_)


def test_ctrl_c_while_a_chunk_is_learned_comes_when_all_vectors_have_learned_it(monkeypatch):
    X, y = problem(300, classes=3)
    take, model = Arrivals._segment, Perceptron()

    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        take(*arguments)

    monkeypatch.setattr(Arrivals, "_segment", interrupted)
    with pytest.raises(KeyboardInterrupt):
        progressive(model, chunks(X, y, [100]))
    assert np.array_equal(model.coef_, Perceptron().partial_fit(X[:100], y[:100]).coef_)


def test_labels_by_key_in_any_order_and_some_never():
    X, y = problem(100)
    events = [(i, x, None) for i, x in enumerate(X)]
    for i in range(0, 90, 2):
        events.insert(min(len(events), 2 * i + 5), (i, None, int(y[i])))
    found = progressive(Perceptron(), events)
    assert (found.rows, found.labelled, found.never_labelled) == (100, 45, 55)
    bounded = progressive(Perceptron(), [(i, x, None) for i, x in enumerate(X)], pending=10)
    assert (bounded.rows, bounded.labelled, bounded.never_labelled) == (100, 0, 100)
    assert not bounded.accuracy.defined
    with pytest.raises(DataError, match="no row that waits has"):
        progressive(Perceptron(), [(1, X[0], None), (2, None, 1)])
    with pytest.raises(DataError, match="two rows that wait"):
        progressive(Perceptron(), [(1, X[0], None), (1, X[1], None)])


def test_dicts_and_a_generator():
    def rows():
        rng = np.random.default_rng(0)
        for _ in range(500):
            links, friends = rng.poisson(2), rng.poisson(1)
            yield {"links": int(links), "friends": int(friends)}, "spam" if links > 2 * friends else "ham"

    model = Perceptron()
    found = progressive(model, rows())
    assert found.labelled == 500
    assert found.accuracy.value > 0.9
    assert model.predict_one({"links": 9}) == "spam"


def test_updates_stand_beside_their_bound():
    X, y = problem(500, d=2)
    keep = np.abs(X[:, 0]) > 0.5
    X, y = X[keep], (X[keep, 0] > 0).astype(int)
    bound = mistake_bound(X, y)
    found = progressive(Perceptron(), X, y, classes=[0, 1], bound=bound)
    assert found.updates <= found.bound == bound.most
    assert f"updates: {found.updates} of at most {bound.most:,} (proved)" in str(found)
    assert "more than the rows of the bound allow" in str(progressive(Perceptron(), X, y, bound=1))


def test_a_fitted_learner_goes_on():
    X, y = problem(300)
    model = Perceptron().partial_fit(X[:100], y[:100])
    progressive(model, X[100:], y[100:])
    assert np.array_equal(model.coef_, Perceptron().partial_fit(X, y).coef_)
    with pytest.raises(DataError, match="was fitted on 5"):
        progressive(model, X[:, :3], y)


def test_the_picture_has_the_curve_and_the_warnings():
    X, y = problem(6000, d=3)
    y[4000:] = 1 - y[4000:]
    found = progressive(Perceptron(), X, y, window=500)
    assert found.drift_warnings
    assert 4000 < found.drift_warnings[0] <= 5000
    ax = found.plot()
    labels = ax.get_legend_handles_labels()[1]
    assert "drift warning" in labels
    assert len(ax.lines[0].get_xdata()) == len(found.curve)


def test_what_is_refused():
    X, y = problem(20)
    for wrong, words in (
        ({"window": 1}, "window"),
        ({"delay": -1}, "delay"),
        ({"alarm": 2}, "alarm"),
        ({"level": 1.5}, "level"),
        ({"block": 0}, "block"),
    ):
        with pytest.raises(ParameterError, match=words):
            progressive(Perceptron(), X, y, **wrong)
    with pytest.raises(DataError, match="one label a row"):
        progressive(Perceptron(), X, y[:3])
    with pytest.raises(DataError, match="NaN"):
        progressive(Perceptron(), np.full((3, 2), np.nan), y[:3])
    assert progressive(Perceptron(), iter(())).rows == 0


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (5, "stream is a int"),
        ([1, 2, 3], "item 0 of the stream is 1: it must be"),
        ([([1.0], 1), ([2.0],)], r"item 1 of the stream is .*: it must be \(row, label\)"),
        ([([1.0], 1), ([2.0, 3.0], 0)], "not all as long"),
        ([(["red"], 1), (["blue"], 0)], "are not numbers"),
        ([([1.0], 1), (None, 0), ([1.0], 1)], "are not numbers"),
    ],
)
def test_streams_of_something_else_are_refused_in_a_sentence(stream, said):
    with pytest.raises((DataError, ParameterError), match=said):
        progressive(Perceptron(), stream)

"""A trace replays its run to the bit, on the data of the fit and no other, and draws the proof."""

from __future__ import annotations

import pickle

import matplotlib as mpl
import numpy as np
import pytest
import scipy.sparse as sp

from separatrix import Perceptron
from separatrix.errors import DataError

mpl.use("Agg")


@pytest.fixture
def data():
    rng = np.random.default_rng(8)
    return np.round(rng.normal(size=(40, 6)), 1), rng.choice(["a", "b"], size=40)


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "restart", "any", "worst"])
@pytest.mark.parametrize("normalize_rows", [False, True])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_the_replay_ends_at_the_model_to_the_bit(data, order, normalize_rows, container):
    X, y = data
    X = container(X)
    model = Perceptron(
        order=order,
        normalize_rows=normalize_rows,
        start="random",
        trace=True,
        max_iter=9,
        max_updates=99,
        random_state=5,
    ).fit(X, y)
    replay = model.trace_.replay(X, y)
    assert len(replay) == model.mistakes_ == len(model.trace_.rows)
    last = replay.after(len(replay))
    assert last[:-1].tobytes() == model.coef_[0].tobytes()
    assert last[-1] == model.intercept_[0]
    assert replay.weights.shape == (model.mistakes_ + 1, 7)
    assert np.allclose(replay.norms2, (replay.weights**2).sum(axis=1))


def test_a_trace_costs_eight_bytes_an_update(data):
    X, y = data
    model = Perceptron(trace=True, max_iter=50).fit(X, y)
    assert model.trace_.rows.nbytes == 8 * model.mistakes_
    assert len(pickle.dumps(model.trace_)) < 8 * model.mistakes_ + 1200


def test_other_data_are_refused(data):
    X, y = data
    trace = Perceptron(trace=True, max_iter=3).fit(X, y).trace_
    other = X.copy()
    other[3, 2] += 0.1
    for changed in ((other, y), (X, np.where(np.arange(40) == 7, "a", y)), (X[::-1], y)):
        with pytest.raises(DataError, match="not the rows, labels and weights of the trace"):
            trace.replay(*changed)
    with pytest.raises(DataError, match="not the rows, labels and weights"):
        trace.replay(X, y, sample_weight=np.full(40, 2.0))
    with pytest.raises(DataError, match="not the rows, labels and weights"):
        trace.replay(X, np.where(y == "a", "b", "c"))
    with pytest.raises(DataError, match="intercept has nan"):
        trace.replay(X, y).proof(np.ones(6), np.nan)
    with pytest.raises(DataError, match="the run had no bias"):
        Perceptron(trace=True, fit_intercept=False, max_iter=2).fit(X, y).trace_.replay(X, y).proof(np.ones(6), 5.0)
    with pytest.raises(DataError, match="update 999 does not exist"):
        trace.replay(X, y).after(999)
    with pytest.raises(DataError, match="coef has 2 entries and the rows have 6 features"):
        trace.replay(X, y).proof([1.0, 2.0])


def test_as_arrays_frame_and_plot(data, tmp_path):
    X, y = data
    replay = Perceptron(trace=True, max_iter=3).fit(X, y).trace_.replay(X, y)
    frame = replay.to_frame()
    assert frame.columns.tolist() == ["update", "row", "sign", "margin_before", "margin_after", "norm2"]
    assert (frame["margin_after"] > frame["margin_before"]).all()
    ax = replay.plot(np.ones(6))
    assert len(ax.lines) == 4
    ax.figure.savefig(tmp_path / "proof.png")
    assert (tmp_path / "proof.png").stat().st_size > 5000
    mpl.pyplot.close(ax.figure)


def test_a_run_without_updates_has_an_empty_trace():
    model = Perceptron(trace=True, start=[1.0, 0.0]).fit([[-1.0], [1.0]], [0, 1])
    assert len(model.trace_) == 0
    assert model.trace_.replay([[-1.0], [1.0]], [0, 1]).weights.tolist() == [[1.0, 0.0]]

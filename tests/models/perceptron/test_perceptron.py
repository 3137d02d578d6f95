"""The perceptron's worked example, its recipes, its statuses, and the data that it cannot separate."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import separatrix as sx
from separatrix import Perceptron
from separatrix.numerics import Status

SIX = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
SIX_LABELS = np.array([-1, 1, 1, -1, -1, 1])
XOR = np.array([(0, 0), (0, 1), (1, 0), (1, 1)], dtype=float)
XOR_LABELS = np.array([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("recipe", "coef", "intercept", "rows"),
    [
        ("online", (3, 1), 0, [0, 2, 4]),
        ("batch", (3, 1), 0, [0, 2, 4]),
        ("repeated", (3, 1), 0, [0, 2, 4]),
        ("restart", (4, 1), 0, [0, 1, 2, 4]),
        (None, (4, 1), 0, [0, 1, 2, 4]),
    ],
)
def test_the_worked_example_to_the_last_weight(recipe, coef, intercept, rows):
    model = Perceptron(order="cyclic", trace=True) if recipe is None else Perceptron.recipe(recipe, trace=True)
    model.fit(SIX, SIX_LABELS)
    assert model.coef_.tolist() == [list(coef)]
    assert model.intercept_.tolist() == [intercept]
    assert model.trace_.rows.tolist() == rows
    assert model.mistakes_ == len(rows)
    assert model.errors_ == 0


def test_the_online_example_step_by_step():
    model = Perceptron.recipe("online", trace=True).fit(SIX, SIX_LABELS)
    assert model.trace_.replay(SIX, SIX_LABELS).weights[:, :2].tolist() == [[0, 0], [1, -2], [2, -1], [3, 1]]
    assert model.status_ is Status.SEPARATED


def test_the_normalised_example():
    model = Perceptron.recipe("normalised").fit(SIX, SIX_LABELS)
    assert np.round(model.coef_[0], 5).tolist() == [1.15432, -0.18732]
    assert model.mistakes_ == 2


def test_rosenblatt_starts_at_seeded_standard_normals_and_tolerates():
    model = Perceptron.recipe("rosenblatt", random_state=4, trace=True, max_mistakes=3).fit(SIX, SIX_LABELS)
    again = Perceptron.recipe("rosenblatt", random_state=4, trace=True, max_mistakes=3).fit(SIX, SIX_LABELS)
    assert model.trace_.start.tobytes() == again.trace_.start.tobytes()
    assert model.status_ in (Status.TOLERATED, Status.CONVERGED)
    draws = np.concatenate(
        [
            Perceptron(start="random", random_state=k, trace=True, max_iter=1).fit(SIX, SIX_LABELS).trace_.start
            for k in range(400)
        ]
    )
    assert abs(draws.mean()) < 4 / np.sqrt(len(draws))
    assert abs(draws.var() - 1) < 4 * np.sqrt(2 / len(draws))


def test_recipes_are_what_the_table_says():
    assert Perceptron.recipe("rosenblatt").get_params()["start"] == "random"
    assert Perceptron.recipe("batch").stop == "streak"
    assert Perceptron.recipe("online").max_iter == 1
    assert Perceptron.recipe("restart", max_updates=7).max_updates == 7
    with pytest.raises(sx.errors.ParameterError, match="recipe is 'adaline'"):
        Perceptron.recipe("adaline")


def test_a_streak_ends_at_the_row_of_the_last_update():
    whole = Perceptron.recipe("repeated", trace=True).fit(SIX, SIX_LABELS)
    streak = Perceptron.recipe("batch", trace=True).fit(SIX, SIX_LABELS)
    assert streak.coef_.tobytes() == whole.coef_.tobytes()
    assert streak.visits_ == 6 + 5  # the last update was at row 4 of the first pass
    assert whole.visits_ == 12


@pytest.mark.parametrize(("low", "high", "mistakes", "passes"), [(12, 18, 367, 221), (57, 76, 7590, 4338)])
def test_two_rows_far_from_the_origin(low, high, mistakes, passes):
    model = Perceptron(order="cyclic", max_iter=np.inf).fit([[low], [high]], [-1, 1])
    assert (model.mistakes_, model.n_iter_) == (mistakes, passes)
    # lifted margin: the distance of 0 from the segment between -(low, 1) and (high, 1)
    a, b = np.array([-low, -1.0]), np.array([high, 1.0])
    t = np.clip(a @ (a - b) / ((a - b) @ (a - b)), 0, 1)
    lifted = np.linalg.norm(a + t * (b - a))
    assert model.mistakes_ <= (high**2 + 1) / lifted**2
    assert model.mistakes_ > (high**2 + 1) / ((high - low) / 2) ** 2  # the half-width bounds nothing


@pytest.mark.parametrize("order", ["cyclic", "shuffle", "restart", "any", "worst"])
def test_xor_ends_by_its_limit_and_says_so(order):
    model = Perceptron(order=order, max_iter=50, max_updates=1000, random_state=0).fit(XOR, XOR_LABELS)
    assert model.status_ in (Status.MAX_ITERATIONS, Status.MAX_UPDATES)
    assert model.errors_ >= 1


def test_xor_becomes_separable_with_the_product_and_a_bias():
    lifted = np.column_stack([XOR, XOR[:, 0] * XOR[:, 1]])
    assert Perceptron().fit(lifted, XOR_LABELS).status_ is Status.CONVERGED


def test_the_bias_example_converges_with_a_bias_only():
    X, y = np.array([[1.0], [2.0]]), [0, 1]
    assert Perceptron(max_iter=1000).fit(X, y).status_ is Status.CONVERGED
    without = Perceptron(fit_intercept=False, max_iter=1000).fit(X, y)
    assert without.status_ is Status.MAX_ITERATIONS
    assert without.intercept_.tolist() == [0]


def test_the_tie_rule_decides_where_classified_is_not_separated():
    X, y = np.array([(1.0, 0), (-1, 0), (0, -1)]), [1, 1, -1]
    positive = Perceptron(tie="positive", fit_intercept=False).fit(X, y)
    assert positive.status_ is Status.CONVERGED
    assert positive.errors_ == 0
    assert (positive.predict(X) == y).all()
    assert Perceptron(tie="mistake", fit_intercept=False).fit(X, y).status_ is Status.MAX_ITERATIONS


def test_what_a_zero_score_predicts():
    model = Perceptron(boundary="positive").fit([[-1.0], [1.0]], ["no", "yes"])
    zero = [[0.0]]
    model.intercept_[:] = 0
    assert model.predict(zero).tolist() == ["yes"]
    assert model.set_params(boundary="negative").predict(zero).tolist() == ["no"]
    assert model.set_params(boundary="undefined").predict([[0.0], [3.0]]).tolist() == [None, "yes"]


def test_a_limit_in_the_middle_of_a_pass_is_kept_and_checked():
    model = Perceptron(order="cyclic", max_updates=2).fit(SIX, SIX_LABELS)
    assert (model.mistakes_, model.status_) == (2, Status.MAX_UPDATES)
    exact = Perceptron(order="cyclic", max_updates=4).fit(SIX, SIX_LABELS)
    assert (exact.mistakes_, exact.status_, exact.errors_) == (4, Status.SEPARATED, 0)
    assert Perceptron(order="restart", max_updates=4).fit(SIX, SIX_LABELS).status_ is Status.SEPARATED


def test_mistakes_in_a_pass_are_not_the_errors_of_the_final_weights():
    model = Perceptron(order="cyclic", max_iter=1).fit(SIX, SIX_LABELS)
    assert model.epoch_mistakes_.tolist() == [4]
    assert model.errors_ == 0
    assert model.status_ is Status.SEPARATED


def test_given_starts_are_copied_and_used():
    w0, b0 = np.array([[0.5, -0.25]]), np.array([2.0])
    model = Perceptron(trace=True).fit(SIX, SIX_LABELS, coef_init=w0, intercept_init=b0)
    assert model.trace_.start.tolist() == [0.5, -0.25, 2.0]
    assert w0.tolist() == [[0.5, -0.25]]
    assert b0.tolist() == [2.0]
    assert Perceptron(start=[0.5, -0.25, 2.0], trace=True).fit(SIX, SIX_LABELS).coef_.tobytes() == model.coef_.tobytes()


def test_warm_start_goes_on_where_the_fit_before_ended():
    model = Perceptron(warm_start=True, max_iter=1).fit(SIX, SIX_LABELS)
    assert model.fit(SIX, SIX_LABELS).mistakes_ == 0
    with pytest.raises(sx.errors.DataError, match="warm_start"):
        model.fit(SIX[:, :1], SIX_LABELS)


def test_weights_scale_updates_and_zero_skips_rows():
    weights = np.array([2.0, 1, 1, 1, 0.5, 1])
    model = Perceptron(order="cyclic", trace=True, max_iter=1).fit(SIX, SIX_LABELS, sample_weight=weights)
    replay = model.trace_.replay(SIX, SIX_LABELS, sample_weight=weights)
    assert replay.weights[1].tolist() == [2, -4, -2]
    assert replay.weights[-1, :2].tolist() == model.coef_[0].tolist()
    flipped = SIX_LABELS.copy()
    flipped[3] = 1
    skipped = Perceptron(order="cyclic").fit(SIX, flipped, sample_weight=[1, 1, 1, 0, 1, 1])
    assert skipped.status_ is Status.CONVERGED
    assert skipped.errors_ == 0


def test_class_weight_is_a_weight_on_every_row_of_the_class():
    by_class = Perceptron(class_weight={-1: 3.0}, trace=True).fit(SIX, SIX_LABELS)
    by_row = Perceptron().fit(SIX, SIX_LABELS, sample_weight=np.where(SIX_LABELS < 0, 3.0, 1.0))
    assert by_class.coef_.tobytes() == by_row.coef_.tobytes()
    assert by_class.trace_.replay(SIX, SIX_LABELS).weights[-1, :2].tolist() == by_class.coef_[0].tolist()
    balanced = Perceptron(class_weight="balanced").fit(SIX[:5], SIX_LABELS[:5])
    given = Perceptron(class_weight={-1: 5 / 6, 1: 5 / 4}).fit(SIX[:5], SIX_LABELS[:5])
    assert balanced.coef_.tobytes() == given.coef_.tobytes()


def test_sparse_and_dense_make_the_same_mistakes_on_integers():
    rng = np.random.default_rng(1)
    X = rng.integers(-3, 4, size=(80, 50)).astype(float)
    y = rng.integers(0, 2, size=80)
    dense = Perceptron(trace=True).fit(X, y)
    for container in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix, sp.coo_array):
        sparse = Perceptron(trace=True).fit(container(X), y)
        assert sparse.trace_.rows.tolist() == dense.trace_.rows.tolist()
        assert sparse.coef_.tolist() == dense.coef_.tolist()
        assert sparse.predict(container(X)).tolist() == dense.predict(X).tolist()


def test_more_than_two_classes_are_learned_one_against_the_rest():
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = Perceptron(trace=True).fit(X, names)
    assert model.coef_.shape == (3, 4)
    for k, name in enumerate(model.classes_):
        single = Perceptron(trace=True).fit(X, names == name)
        assert single.coef_[0].tobytes() == model.coef_[k].tobytes()
        assert single.trace_.rows.tolist() == model.trace_[k].rows.tolist()
    assert model.status_ is Status.MAX_ITERATIONS
    assert model.decision_function(X).shape == (150, 3)
    assert model.errors_ == np.count_nonzero(model.predict(X) != names)
    assert model.mistakes_ == model.epoch_mistakes_.sum()


def test_the_weights_of_an_overflowing_run_are_called_so():
    X = np.array([[1e308, -1e308], [1e308, 1e308], [-1e308, 1]])
    model = Perceptron().fit(X, [1, 1, 0])  # the second score is inf - inf: a mistake, not a silent success
    assert model.status_ is Status.NONFINITE
    assert "scale the features" in model.status_.value


def test_verbose_reports_each_pass_on_stderr(capsys):
    Perceptron(order="cyclic", verbose=True).fit(SIX, SIX_LABELS)
    assert capsys.readouterr().err.splitlines() == [
        "Perceptron: 4 mistakes, 4 so far",
        "Perceptron: 0 mistakes, 4 so far",
    ]


@pytest.mark.parametrize(
    "order", ["cyclic", *(pytest.param(o, marks=pytest.mark.slow) for o in ("restart", "worst", "any"))]
)
def test_an_interruption_leaves_a_partial_model_whose_account_agrees(order):
    code = f"""
import os, signal, threading, numpy as np, separatrix as sx
rng = np.random.default_rng(0)
n = 20000 if {order!r} == "cyclic" else 2000
X, y = rng.normal(size=(n, 40)), rng.integers(0, 2, n)
model = sx.Perceptron(order={order!r}, max_iter=np.inf, max_updates=np.inf, trace=True)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    last = model.trace_.replay(X, y).after(model.mistakes_)
    print(model.status_.name, model.mistakes_ > 0, last[:-1].tobytes() == model.coef_[0].tobytes())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=180, check=True)
    assert done.stdout.split() == ["INTERRUPTED", "True", "True"]


def test_a_pass_that_a_limit_cut_short_is_not_called_tolerated():
    rng = np.random.default_rng(0)
    model = Perceptron(max_mistakes=5, max_updates=3).fit(rng.normal(size=(40, 3)), rng.integers(0, 2, 40))
    assert model.status_ is Status.MAX_UPDATES
    assert model.visits_ < 40


def test_rows_too_long_to_be_scaled_are_named():
    with pytest.raises(sx.errors.DataError, match="row 1 is too long to be scaled"):
        Perceptron(normalize_rows=True).fit([[1.0], [1e200]], [0, 1])


@pytest.mark.parametrize(
    ("options", "weights"),
    [({"class_weight": {-1: 0, 1: 0}}, None), ({"class_weight": {1: 0}}, None), ({}, [1, 0, 0, 1, 1, 0])],
)
def test_weights_that_leave_one_class_are_refused(options, weights):
    with pytest.raises(sx.errors.DataError, match="weight above zero"):
        Perceptron(**options).fit(SIX, SIX_LABELS, sample_weight=weights)


def test_a_class_of_weight_zero_is_skipped_in_a_stream_as_in_a_fit():
    y = np.array(["a", "b", "c", "a", "b", "c"])
    weights = {"c": 0.0}
    fitted = Perceptron(order="cyclic", max_iter=1).fit(SIX[y != "c"], y[y != "c"])
    streamed = Perceptron(order="cyclic", class_weight=weights).partial_fit(SIX, y)
    assert streamed.classes_.tolist() == ["a", "b"]
    assert streamed.coef_.tobytes() == fitted.coef_.tobytes()
    assert streamed.mistakes_ == fitted.mistakes_


def test_labels_of_a_stream_keep_their_kind():
    large = np.array([2**53 - 2, 2**53 - 1], dtype=np.uint64)
    model = Perceptron().partial_fit([[1.0], [-1.0]], large)
    assert model.classes_.tolist() == [2**53 - 2, 2**53 - 1]
    assert model.score([[1.0], [-1.0]], large) == 1
    with pytest.raises(sx.errors.DataTypeError, match="use one type of label"):
        Perceptron().partial_fit([[1.0], [2.0]], np.array([b"x", b"y"])).partial_fit([[1.0]], [3])


def test_a_stream_that_overflows_says_so():
    model = Perceptron().partial_fit([[1e308, -1e308], [1e308, 1e308]], [1, 1], classes=[0, 1])
    assert model.status_ is Status.NONFINITE
    with pytest.raises(sx.errors.ParameterError, match="boundary is 'foo'"):
        model.set_params(boundary="foo").predict([[1.0, 2.0]])


def test_many_classes_need_memory_for_rows_only():
    import tracemalloc

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20_000, 2)), rng.integers(0, 300, 20_000)
    tracemalloc.start()
    model = Perceptron(max_iter=1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.errors_ == np.count_nonzero(model.predict(X) != y)
    assert peak < 20_000 * 8 * 20

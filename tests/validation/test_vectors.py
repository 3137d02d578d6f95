"""The door for labels, weights and targets, and for what does not fit together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from separatrix import Perceptron, separability
from separatrix.errors import DataError, DataTypeError, NotFittedError, ParameterError
from separatrix.validation import check_labels, check_weights
from separatrix.validation.true_and_predicted import check_outcomes

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])
Y = [0, 1, 1]


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        ([3, 7, 3], [3, 7], [0, 1, 0]),
        ([True, False], [False, True], [1, 0]),
        ([1.0, -1.0], [-1.0, 1.0], [1, 0]),
        (["b", "a", "c"], ["a", "b", "c"], [1, 0, 2]),
        ([5, 5], [5], [0, 0]),
        ([2, 0, 1], [0, 1, 2], [2, 0, 1]),
        (np.array(["yes", "no"], dtype=object), ["no", "yes"], [1, 0]),
        (pd.Series(["u", "v"]), ["u", "v"], [0, 1]),
        (pl.Series(["u", "v"]), ["u", "v"], [0, 1]),
        (pa.array([4, 9]), [4, 9], [0, 1]),
        (pd.Series(["u", "v"], dtype="category"), ["u", "v"], [0, 1]),
        (pd.Series([7, 5], dtype="category"), [5, 7], [1, 0]),
        (np.array([True, False], dtype=object), [False, True], [1, 0]),
        (np.array([2**52, 2**52 + 1], dtype=object), [2**52, 2**52 + 1], [0, 1]),
        (pl.LazyFrame({"y": ["u", "v"]}), ["u", "v"], [0, 1]),
    ],
)
def test_labels_of_all_kinds(y, classes, codes):
    labels = check_labels(y)
    assert labels.classes.tolist() == classes
    assert {type(c) for c in labels.classes.tolist()} == {type(c) for c in classes}
    assert labels.codes.tolist() == codes


@pytest.mark.parametrize("kind", [object, str])
@pytest.mark.parametrize("different", [1, 2, 3, 1000, 1001])
def test_text_that_is_looked_up_is_text_that_is_sorted(kind, different):
    rng = np.random.default_rng(different)
    names = np.array([f"{'ä' * (k % 3)}{k}" for k in range(different)], dtype=kind)
    y = np.concatenate([names, names[rng.integers(0, different, size=200_000)]])
    classes, codes = np.unique(y, return_inverse=True)
    labels = check_labels(y)
    assert labels.classes.dtype == classes.dtype
    assert labels.classes.tolist() == classes.tolist()
    assert np.array_equal(labels.codes, codes)


@pytest.mark.parametrize(
    ("y", "error", "says"),
    [
        ([0.5, 1.0], DataError, "Unknown label type: continuous. y is 0.5 at row 0"),
        ([1.0, np.nan], DataError, "y has a NaN or inf at row 1"),
        (["a", None], DataError, "no label .* at row 1"),
        (["a", 1], DataTypeError, r"several types \(int, str\)"),
        ([[0, 1], [1, 0]], DataError, "should be a 1d array"),
        ([], DataError, "no labels"),
        ([1 + 1j, 2], DataError, "Complex data not supported"),
        (None, DataError, "the target y is None"),
        (np.ma.array([0, 1, 5], mask=[0, 0, 1]), DataError, "y is masked at position 2"),
        ([[0], [1, 2]], DataError, "entries of different lengths"),
        (np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"), DataTypeError, "dates or durations"),
    ],
)
def test_labels_that_are_no_classes(y, error, says):
    y = np.array(y, dtype=object) if isinstance(y, list) and y == ["a", 1] else y
    with pytest.raises(error, match=says):
        check_labels(y)


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, -2, 1], "-2 at row 1: weights must not be negative"),
        ([0, 0, 0], "zero in every row"),
        ([1, 1], r"X has 3 rows and sample_weight has 2"),
        ([1, np.nan, 1], "position 1"),
        ([[1], [1], [1]], "one dimension"),
        (["a", "b", "c"], "not numbers"),
    ],
)
def test_weights_that_cannot_be(weights, says):
    with pytest.raises(DataError, match=says):
        check_weights(weights, 3)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"start": "middle"}, "start is 'middle': it can be 'zeros', 'ones', 'random'"),
        ({"order": "backwards"}, "order is 'backwards'"),
        ({"tie": None}, "tie is None"),
        ({"boundary": 0}, "boundary is 0"),
        ({"stop": "never"}, "stop is 'never'"),
        ({"stop": "streak", "order": "shuffle"}, "stop='streak' goes with"),
        ({"max_iter": 0}, "max_iter is 0: it must be a whole number of at least 1, or inf"),
        ({"max_iter": 2.5}, "max_iter is 2.5"),
        ({"max_iter": np.nan}, "max_iter is nan"),
        ({"max_updates": -1}, "max_updates is -1"),
        ({"max_mistakes": "few"}, "max_mistakes is 'few'"),
        ({"fit_intercept": "yes"}, "fit_intercept is 'yes'"),
        ({"class_weight": "even"}, "class_weight is 'even'"),
        ({"class_weight": {9: 1.0}}, "class_weight names 9, which is not a class"),
        ({"class_weight": {0: -1.0}}, r"class_weight\[0\] is -1.0"),
        ({"random_state": -3}, "random_state is -3"),
        ({"random_state": "now"}, "random_state is 'now'"),
    ],
)
def test_unknown_option_values_leave_the_estimator_as_it_was(options, says):
    model = Perceptron().fit(X, Y)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    with pytest.raises(ParameterError, match=says):
        model.set_params(**options).fit(X, Y)
    assert {name: value for name, value in vars(model).items() if name.endswith("_")} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"y": [1, 1, 1]}, "one class only"),
        ({"y": [0, 1]}, r"X has 3 rows and y has 2 \(inconsistent numbers of samples\)"),
        ({"coef_init": [1.0, 2.0, 3.0]}, "coef_init has 3 entries and needs 2"),
        ({"intercept_init": [1.0, 2.0]}, "intercept_init has 2 entries and needs 1"),
        ({"coef_init": [np.inf, 0.0]}, "coef_init has inf at position 0"),
        ({"sample_weight": [1, -1, 1]}, "must not be negative"),
    ],
)
def test_fits_that_cannot_be(arguments, says):
    model = Perceptron()
    with pytest.raises(DataError, match=says):
        model.fit(X, **{"y": Y, **arguments})
    assert not hasattr(model, "coef_")


def test_the_error_of_a_model_that_is_not_fitted_can_be_sent_between_processes():
    import pickle

    with pytest.raises(NotFittedError) as caught:
        Perceptron().predict(X)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value)
    assert str(again) == str(caught.value)


def test_a_start_of_the_wrong_length():
    with pytest.raises(DataError, match="start has 5 entries and needs 2, or 3 with the bias"):
        Perceptron(start=np.ones(5)).fit(X, Y)
    with pytest.raises(ParameterError, match="start is None"):
        Perceptron(start=None).fit(X, Y)


def test_predict_before_fit_is_an_error_of_ours_and_of_scikit_learn():
    from sklearn.exceptions import NotFittedError as Theirs

    with pytest.raises(NotFittedError, match="This Perceptron is not fitted yet") as caught:
        Perceptron().predict(X)
    assert isinstance(caught.value, Theirs)


def test_other_columns_than_at_fit_time():
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = Perceptron().fit(frame, Y)
    with pytest.raises(DataError, match=r"(?s)unseen at fit time:\n- c.*now missing:\n- b"):
        model.predict(frame.rename(columns={"b": "c"}))
    with pytest.raises(DataError, match="same order"):
        model.predict(frame[["b", "a"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X)
    with pytest.raises(DataError, match="X has 1 features, but Perceptron is expecting 2"):
        Perceptron().fit(X, Y).predict(X[:, :1])


def test_closed_classes_stay_closed_and_open_ones_keep_their_type():
    closed = Perceptron().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(DataError, match=r"y has the class 5, which is not one of \[0, 1\]"):
        closed.partial_fit(X, [0, 1, 5])
    opened = Perceptron().partial_fit(X, Y)
    kept = opened.coef_.copy()
    with pytest.raises(DataTypeError, match="use one type of label"):
        opened.partial_fit(X, ["a", "b", "a"])
    assert np.array_equal(opened.coef_, kept)
    with pytest.raises(ParameterError, match="needs all rows at once"):
        Perceptron(class_weight="balanced").partial_fit(X, Y)


@pytest.mark.parametrize(
    "y",
    [
        [3, 1, 2, 3],
        np.array([-100, 100, 0, 5], dtype=np.int8),
        np.array([200, 10, 7], dtype=np.uint8),
        np.array([5, 5, 9, 7], dtype=np.uint64),
        np.array([2**63, 2**63 + 2, 2**63 + 1], dtype=np.uint64),
        np.array([2**62, 2**62 + 5, 2**62 + 1]),
        np.array([-(2**63), 2**63 - 1, 0]),
    ],
)
def test_whole_numbers_of_any_width_are_names_of_groups(y):
    labels = check_labels(y, ids=True)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    assert labels.classes.dtype == classes.dtype
    assert labels.classes.tolist() == classes.tolist()
    assert labels.codes.tolist() == codes.tolist()


LARGE = 2**53  # as a double it is also 2**53 + 1


@pytest.mark.parametrize(
    "y",
    [
        [LARGE, LARGE + 1],
        np.array([0, -LARGE - 1]),
        np.array([LARGE + 1, 3], dtype=np.uint64),
        [2**63 + 1, -1],
        [np.uint64(2**63), np.int64(-1)],
        [LARGE + 1, 1.0],
        np.array([LARGE + 1, 1.0], dtype=object),
        [float(LARGE), 1.0],
        [2**70, 2**70 + 1],
        [10**6000, 1],
    ],
)
def test_labels_that_doubles_cannot_tell_apart_are_refused(y):
    with pytest.raises(DataError, match=r"label .* at row [01]: numbers from 2\*\*53 on cannot be told apart"):
        check_labels(y)
    with pytest.raises(DataError, match="cannot be told apart"):
        Perceptron().fit([[0.0], [1.0]], y)
    with pytest.raises(DataError, match="cannot be told apart"):
        separability([[0.0], [1.0]], y)


def test_true_and_predicted_labels_of_different_widths_do_not_merge():
    """As int64 and uint64 together they would become doubles."""
    said = np.array([LARGE, LARGE + 2], dtype=np.uint64)
    with pytest.raises(DataError, match="y_true has the label 9007199254740993 at row 0"):
        check_outcomes(np.array([LARGE + 1, LARGE + 3]), said)
    with pytest.raises(DataError, match="y_pred has the label 9007199254740992 at row 0"):
        check_outcomes([0, 1], said)
    with pytest.raises(DataError, match="labels has the label"):
        check_outcomes([0, 1], [0, 1], labels=[0, 1, LARGE])


def test_the_largest_labels_that_are_told_apart():
    assert check_labels([1 - LARGE, LARGE - 1, float(LARGE - 2)]).classes.tolist() == [1 - LARGE, LARGE - 2, LARGE - 1]

"""evaluate: what it takes, what it refuses, what it prints."""

from __future__ import annotations

import json

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import calibration_curve

import separatrix as sx
from separatrix.errors import AccuracyWarning, DataError, DataTypeError, ParameterError

mpl.use("Agg")


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(11)
    y = rng.random(200) < 0.4
    p = 1 / (1 + np.exp(-(rng.normal(size=200) + 2 * y - 1)))
    return y, p


def test_labels_follow_from_scores_and_probabilities(binary):
    y, p = binary
    s = np.log(p / (1 - p))
    a, b = sx.evaluate(y, probabilities=p), sx.evaluate(y, scores=s)
    np.testing.assert_array_equal(a.confusion, b.confusion)
    assert a.roc_auc.value == pytest.approx(b.roc_auc.value)
    assert not b.log_loss.defined
    assert sx.evaluate([0, 1], scores=[0.0, 0.0]).confusion.tolist() == [[0, 1], [0, 1]]  # sign(0) = +1


def test_positive_may_be_either_class(binary):
    y, p = binary
    words = np.where(y, "spam", "ham")
    spam = sx.evaluate(words, probabilities=np.column_stack([1 - p, p]))
    ham = sx.evaluate(words, probabilities=np.column_stack([1 - p, p]), positive="ham")
    assert (spam.positive, ham.positive) == ("spam", "ham")
    assert ham.recall.value == pytest.approx(spam.specificity.value)
    assert ham.roc_auc.value == pytest.approx(spam.roc_auc.value)
    assert ham.log_loss.value == pytest.approx(spam.log_loss.value)


def test_frames_series_and_lists_are_taken(binary):
    y, p = binary
    expected = sx.evaluate(y.astype(int), probabilities=p).to_dict()
    assert sx.evaluate(pd.Series(y.astype(int)), probabilities=pd.Series(p)).to_dict() == expected
    assert sx.evaluate(pl.Series(y.astype(int)), probabilities=pl.DataFrame({"p": p})).to_dict() == expected
    assert sx.evaluate(y.astype(int).tolist(), probabilities=p.tolist()).to_dict() == expected


def test_dictionary_is_json_and_text_fits_a_terminal(binary):
    y, p = binary
    e = sx.evaluate(y, probabilities=p)
    assert json.loads(json.dumps(e.to_dict()))["metrics"]["roc_auc"]["method"] == "DeLong, logit"
    assert max(map(len, str(e).splitlines())) <= 110
    assert "most common class" in str(e)
    json.dumps(sx.evaluate([0, 0], [0, 0]).to_dict(), allow_nan=False)


def test_html_escapes_the_data():
    evil = "<script>alert(1)</script>"
    html = sx.evaluate([evil, "b", "b"], [evil, "b", evil])._repr_html_()
    assert "<script" not in html
    assert "&lt;script" in html


def test_accuracy_that_misleads_is_flagged():
    y = np.array([0] * 95 + [1] * 5)
    with pytest.warns(AccuracyWarning, match=r"always predicting the most common class gives 0\.950"):
        sx.evaluate(y, np.zeros(100, dtype=int))
    sx.evaluate(y, y)  # better than guessing: no warning


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({}, DataError, "nothing to evaluate"),
        ({"probabilities": [0.5, 1.5]}, DataError, r"1\.5 at row 1, outside \[0, 1\]"),
        ({"scores": [0.5, np.nan]}, DataError, "scores has nan at position 1"),
        ({"scores": [0.5]}, DataError, "y_true has 2 rows and scores has 1"),
        ({"probabilities": [[0.5, 0.2], [0.3, 0.7]]}, DataError, r"row 0 sum to 0\.7"),
        ({"probabilities": [[0.5, 0.2, 0.3], [0.3, 0.7, 0]]}, DataError, "3 columns and there are 2 classes"),
        ({"y_pred": ["a", "b"]}, DataTypeError, "mix text and numbers"),
        ({"y_pred": [0]}, DataError, "y_true has 2 rows and y_pred has 1"),
        ({"y_pred": [0, 1], "positive": 7}, ParameterError, "none of the classes"),
        ({"y_pred": [0, 1], "level": 95}, ParameterError, "strictly between 0 and 1"),
        ({"y_pred": [0, 1], "average": "mean"}, ParameterError, "average is 'mean'"),
        ({"y_pred": [0, 1], "zero_division": "nan"}, ParameterError, "zero_division"),
        ({"y_pred": [0, 1], "resamples": 3}, ParameterError, "resamples"),
        ({"y_pred": [0, 1], "task": "both"}, ParameterError, "task"),
        ({"y_pred": [0, 5], "labels": [0, 1]}, DataError, "y_pred has 5 at row 1"),
        ({"y_pred": [0, 1], "sample_weight": [-1, 1]}, DataError, "must not be negative"),
        ({"y_pred": [0, None]}, DataError, "no label"),
    ],
)
def test_bad_input_is_one_clear_error(arguments, error, says):
    with pytest.raises(error, match=says):
        sx.evaluate([0, 1], **arguments)


def test_a_lone_class_needs_its_partner_for_scores():
    with pytest.raises(DataError, match="pass labels="):
        sx.evaluate(["a", "a"], scores=[1.0, 2.0])
    assert sx.evaluate(["a", "a"], scores=[1.0, 2.0], labels=["a", "b"]).roc_auc.reason == "no row is 'b'"


def test_probability_zero_for_what_happened_is_noted():
    e = sx.evaluate([0, 1, 1], probabilities=[0.0, 1.0, 0.0])
    assert e.notes == ("1 rows had probability 0 for what happened: their log loss is infinite, and clipped at 36",)


def test_curves_and_thresholds(binary):
    y, p = binary
    e = sx.evaluate(y, probabilities=p)
    roc, pr, cal = e.roc_curve(), e.precision_recall_curve(), e.calibration_curve()
    for low, mid, high in ((roc.low, roc.tpr, roc.high), (pr.low, pr.precision, pr.high)):
        assert np.all(low <= mid + 1e-12)
        assert np.all(mid <= high + 1e-12)
        assert np.all((low >= 0) & (high <= 1))
    assert np.all(np.diff(roc.low) >= 0)
    assert np.all(np.diff(pr.recall) >= 0)
    assert np.trapezoid(roc.tpr, roc.fpr) == pytest.approx(e.roc_auc.value)
    happened, said = calibration_curve(y, p, n_bins=10)
    np.testing.assert_allclose(cal.happened, happened)
    np.testing.assert_allclose(cal.said, said)
    drawn = roc.plot()
    assert drawn is roc
    assert drawn.ax_.figure is drawn.figure_
    t = e.threshold_table([0.5])
    assert [t.tn[0], t.fp[0], t.fn[0], t.tp[0]] == e.confusion.ravel().tolist()
    assert t.f1[0] == pytest.approx(e.f1.value)
    assert len(e.threshold_table()) == len(np.unique(p))


def test_threshold_by_cost_is_the_cheapest_of_all(binary):
    y, p = binary
    e = sx.evaluate(y, probabilities=p)
    chosen = e.threshold_by_cost(false_positive=1, false_negative=4)
    every = [np.mean((p >= t) & ~y) + 4 * np.mean((p < t) & y) for t in [*np.unique(p), 2.0]]
    assert chosen.cost == pytest.approx(min(every))
    cut = chosen.threshold
    assert np.mean((p >= cut) & ~y) + 4 * np.mean((p < cut) & y) == pytest.approx(chosen.cost)
    assert chosen.calibrated == pytest.approx(0.2)
    none = sx.evaluate([0, 1, 0], scores=[3.0, 2.0, 1.0]).threshold_by_cost(false_negative=0.1)
    assert none.precision.reason == "no row would be called positive"
    with pytest.raises(ParameterError, match="both costs are zero"):
        e.threshold_by_cost(false_positive=0, false_negative=0)


@pytest.mark.parametrize("k", [2, 3, 15])
def test_figures_are_drawn(k, tmp_path):
    rng = np.random.default_rng(k)
    y = rng.integers(0, k, 120)
    p = rng.dirichlet(np.ones(k), 120)
    fig = sx.evaluate(y, probabilities=p, labels=np.arange(k)).plot()
    fig.savefig(tmp_path / "e.png")
    assert (tmp_path / "e.png").stat().st_size > 5000
    fig = sx.evaluate(rng.normal(size=3000), rng.normal(size=3000)).plot()
    fig.savefig(tmp_path / "r.png")
    mpl.pyplot.close("all")


def test_many_classes_are_measured_in_bounded_memory():
    y, f = np.arange(3000) % 1000, np.arange(3000) % 999
    e = sx.evaluate(y, f)
    assert e.accuracy.has_interval
    assert e.f1.defined
    assert e.f1.reason == "more than 30 classes to resample"
    assert "1000 classes" in str(e)


def test_rows_of_many_classes_are_ranked_by_probabilities_where_there_are_any():
    """The scores of a softmax are known up to a number a row: of the class that is compared with they are all zero."""
    from sklearn.datasets import load_iris
    from sklearn.metrics import roc_auc_score

    X, y = load_iris(return_X_y=True)
    model = sx.LogisticRegression(bias_reduction="firth").fit(X[::2], y[::2])
    scores, chances = model.decision_function(X[1::2]), model.predict_proba(X[1::2])
    expected = roc_auc_score(y[1::2], chances, multi_class="ovr")
    found = sx.evaluate(y[1::2], scores=scores, probabilities=chances).roc_auc.value
    assert found == pytest.approx(expected)
    shifted = sx.evaluate(y[1::2], scores=scores + 100.0 * np.arange(len(scores))[:, None], probabilities=chances)
    assert shifted.roc_auc.value == found > 0.99


def test_the_confusion_matrix_is_printed_with_the_positive_class_first():
    with pytest.warns(AccuracyWarning):
        lines = str(
            sx.evaluate(["no"] * 30 + ["yes"] * 10, ["no"] * 26 + ["yes"] * 12 + ["no"] * 2, positive="yes")
        ).splitlines()
    assert [line.split() for line in lines[1:4]] == [
        ["actual", "\\", "predicted", "yes", "no"],
        ["yes", "8", "TP", "2", "FN"],
        ["no", "4", "FP", "26", "TN"],
    ]
    figure = sx.evaluate([0, 0, 1, 1], [0, 0, 1, 0]).plot()
    assert [text.get_text() for text in figure.axes[0].texts] == ["1\nTP", "1\nFN", "0\nFP", "2\nTN"]
    mpl.pyplot.close(figure)

"""Metrics are scikit-learn's wherever those are defined; a ratio 0/0 is undefined, with its reason."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

import separatrix as sx
from separatrix.evaluation import metrics

QUICK = {"resamples": 100}


@st.composite
def classifications(draw):
    """Labels, predictions, probabilities (with ties and exact zeros) and sometimes weights; 2 to 4 classes."""
    k = draw(st.integers(2, 4))
    n = draw(st.integers(2 * k, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    truth = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    p = rng.integers(0, 4, (n, k)) + (rng.random((n, k)) if draw(st.booleans()) else 0.0)
    p[np.arange(n), rng.integers(0, k, n)] += 0.5
    p = p / p.sum(axis=1, keepdims=True)
    weights = rng.integers(0, 4, n) + rng.random(n) if draw(st.booleans()) else None
    names = draw(
        st.sampled_from([np.arange(k), np.arange(k) * 3 - 1, np.array(["no", "yes", "perhaps", "who knows"])[:k]])
    )
    return names, truth, rng.integers(0, k, n), p, weights


def close(ours, value, what):
    if np.isnan(value):
        assert not ours.defined, what
    else:
        assert ours.value == pytest.approx(value, rel=1e-9, abs=1e-9), what
        assert ours.low <= ours.value <= ours.high or not ours.has_interval, what


@given(classifications())
@pytest.mark.filterwarnings("ignore::separatrix.errors.AccuracyWarning")
def test_label_metrics_equal_scikit_learn(case):
    names, truth, said, _, w = case
    classes = np.sort(names)
    y, f = names[truth], names[said]
    e = sx.evaluate(y, f, sample_weight=w, labels=classes, **QUICK)
    np.testing.assert_allclose(e.confusion, theirs.confusion_matrix(y, f, labels=classes, sample_weight=w))
    close(e.accuracy, theirs.accuracy_score(y, f, sample_weight=w), "accuracy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        close(e.balanced_accuracy, theirs.balanced_accuracy_score(y, f, sample_weight=w), "balanced accuracy")
        single = len(np.unique(f)) == 1
        close(e.mcc, np.nan if single else theirs.matthews_corrcoef(y, f, sample_weight=w), "mcc")
    each = theirs.precision_recall_fscore_support(y, f, labels=classes, sample_weight=w, zero_division=np.nan)
    for k, label in enumerate(classes.tolist()):
        for name, values in zip(("precision", "recall", "f1"), each, strict=False):
            close(e.per_class[label][name], values[k], f"{name} of {label}")
    average = {} if len(classes) > 2 else {"pos_label": classes[1], "average": "binary"}
    average = average or {"average": "macro", "labels": classes}
    for name, score in (
        ("precision", theirs.precision_score),
        ("recall", theirs.recall_score),
        ("f1", theirs.f1_score),
    ):
        zero = sx.evaluate(y, f, sample_weight=w, labels=classes, zero_division=0, **QUICK)
        close(getattr(zero, name), score(y, f, sample_weight=w, zero_division=0, **average), name)


@given(classifications())
@pytest.mark.filterwarnings("ignore::separatrix.errors.AccuracyWarning")
def test_score_metrics_equal_scikit_learn(case):
    names, truth, _, p, w = case
    order = np.argsort(names)
    classes, y, p = names[order], names[truth], p[:, order]
    e = sx.evaluate(y, probabilities=p, sample_weight=w, labels=classes, **QUICK)
    close(e.log_loss, theirs.log_loss(y, p, sample_weight=w, labels=classes), "log loss")
    if len(classes) == 2:
        positive = y == classes[1]
        close(e.brier, theirs.brier_score_loss(positive, p[:, 1], sample_weight=w), "brier")
        close(e.roc_auc, theirs.roc_auc_score(positive, p[:, 1], sample_weight=w), "auc")
        close(e.average_precision, theirs.average_precision_score(positive, p[:, 1], sample_weight=w), "ap")
    else:
        close(e.brier, theirs.brier_score_loss(y, p, sample_weight=w, labels=classes), "brier")
        each = [theirs.roc_auc_score(y == c, p[:, k], sample_weight=w) for k, c in enumerate(classes)]
        close(e.roc_auc, np.mean(each), "auc")
        each = [theirs.average_precision_score(y == c, p[:, k], sample_weight=w) for k, c in enumerate(classes)]
        close(e.average_precision, np.mean(each), "ap")


@given(st.integers(0, 2**32), st.booleans())
def test_regression_metrics_equal_scikit_learn(seed, weighted):
    rng = np.random.default_rng(seed)
    y = rng.normal(1e4, 1, 30)
    f = y + rng.normal(size=30)
    w = rng.random(30) if weighted else None
    e = sx.evaluate(y, f, sample_weight=w, **QUICK)
    close(e.mse, theirs.mean_squared_error(y, f, sample_weight=w), "mse")
    close(e.rmse, theirs.root_mean_squared_error(y, f, sample_weight=w), "rmse")
    close(e.mae, theirs.mean_absolute_error(y, f, sample_weight=w), "mae")
    close(e.r2, theirs.r2_score(y, f, sample_weight=w), "r2")


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
def test_averages_equal_scikit_learn(average):
    rng = np.random.default_rng(5)
    y, f = rng.integers(0, 4, 90), rng.integers(0, 4, 90)
    e = sx.evaluate(y, f, average=average)
    for name in ("precision", "recall", "f1"):
        score = getattr(theirs, f"{name}_score")(y, f, average=average)
        assert getattr(e, name).value == pytest.approx(score, rel=1e-12)


@pytest.mark.filterwarnings("ignore::separatrix.errors.AccuracyWarning")
def test_undefined_ratios_say_why_and_never_are_a_silent_zero():
    e = sx.evaluate([0, 0, 1, 0], [0, 0, 0, 0], average="auto", **QUICK)
    assert math.isnan(e.precision.value)
    assert e.precision.reason == "no row was predicted 1"
    assert "undefined: no row was predicted 1" in str(e)
    assert e.f1.value == 0  # TP = 0 with an error: defined, and zero
    assert e.mcc.reason == "the actual or the predicted labels are all of one class"
    assert sx.evaluate([0, 0, 1, 0], [0, 0, 0, 0], zero_division=0, **QUICK).precision.value == 0
    nothing = sx.evaluate([0, 0], [0, 0], **QUICK)
    assert nothing.f1.reason == "no row is 1 and none was predicted 1"
    assert nothing.recall.reason == "no row is 1"
    assert nothing.balanced_accuracy.reason == "no row is 1, so its recall is 0/0"
    assert nothing.roc_auc.reason == "it needs scores or probabilities"


def test_rows_of_weight_zero_do_not_count():
    y, f, w = np.array([0, 1, 1, 0, 1]), np.array([0, 1, 0, 0, 1]), np.array([1.0, 1, 0, 1, 1])
    a, b = sx.evaluate(y, f, sample_weight=w, **QUICK), sx.evaluate(y[w > 0], f[w > 0], **QUICK)
    assert a.n == b.n == 4
    assert a.accuracy.value == b.accuracy.value == 1


def test_weights_count_as_effective_rows():
    y, f = np.array([0, 1] * 50), np.array([0, 1, 1, 1] * 25)
    plain = sx.evaluate(y, f, **QUICK)
    assert sx.evaluate(y, f, sample_weight=np.full(100, 7.0), **QUICK).accuracy.low == pytest.approx(plain.accuracy.low)
    uneven = np.where(np.arange(100) < 10, 100.0, 1.0)
    wide = sx.evaluate(y, f, sample_weight=uneven, **QUICK).accuracy
    assert wide.high - wide.low > 1.5 * (plain.accuracy.high - plain.accuracy.low)


@pytest.mark.parametrize("make", [np.sort, lambda s: s, np.round, np.zeros_like, lambda s: 1e300 * s, lambda s: s**99])
def test_areas_by_counting_are_those_of_scikit_learn(make):
    rng = np.random.default_rng(0)
    s = make(rng.standard_normal(3000))
    y = rng.random(3000) < 0.3
    found = metrics.area_and_precision(y, s, None)
    assert found == pytest.approx((theirs.roc_auc_score(y, s), theirs.average_precision_score(y, s)), abs=1e-12)


def test_the_cells_of_two_classes_have_names():
    truth, said = ["a"] * 5 + ["b"] * 7, ["a"] * 3 + ["b"] * 3 + ["a"] + ["b"] * 5
    for positive, expected in (("b", (6, 1, 2, 3)), ("a", (3, 2, 1, 6))):
        found = sx.evaluate(truth, said, positive=positive)
        assert tuple(found.cells[name] for name in ("TP", "FN", "FP", "TN")) == expected
        assert found.precision.value == expected[0] / (expected[0] + expected[2])
        assert found.recall.value == expected[0] / (expected[0] + expected[1])
        lines = {line.split()[0]: line.split()[1:] for line in str(found).splitlines()[2:4]}
        tp, fn, fp, tn = expected
        own, other = [f"{tp}", "TP", f"{fn}", "FN"], [f"{fp}", "FP", f"{tn}", "TN"]
        assert list(lines) == [positive, "a" if positive == "b" else "b"]  # the positive class first
        assert list(lines.values()) == [own, other]
    three = sx.evaluate(["a", "b", "c"], ["a", "b", "b"])
    assert "TP" not in str(three)
    with pytest.raises(sx.errors.DataError, match="counts of two classes, and there are 3"):
        _ = three.cells

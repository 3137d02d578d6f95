"""What careless and hostile users pass: one sentence of our own, or the right number."""

from __future__ import annotations

import fcntl
import json
import os

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import LeaveOneOut, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.errors import DataError, DataTypeError, FoldError, LedgerError, ParameterError
from separatrix.evaluation import ledger
from separatrix.evaluation.fold_estimates import Judgements
from separatrix.evaluation.predictions import leads, predictions_of

mpl.use("Agg")


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 4))
    X[:, 0] += 1.5 * y
    return X, y


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ZeroDivisionError("boom")


class Short(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X) - 1, self.classes_[0])


# evaluate


def test_scores_and_options_of_the_wrong_kind(rows):
    y = rows[1]
    s = np.linspace(-1, 1, len(y))
    for match, error, call in (
        ("y_pred has a NaN or inf at row 119", DataError, lambda: sx.evaluate(y, np.append(y[:-1], np.nan))),
        ("scores is a sparse matrix", DataTypeError, lambda: sx.evaluate(y, scores=sp.csr_array(s[:, None]))),
        ("zero_division", ParameterError, lambda: sx.evaluate(y, y, zero_division=np.array([0, 1]))),
        ("strictly between", ParameterError, lambda: sx.evaluate(y, y, level=np.nextafter(1, 0))),
        ("random_state is -1", ParameterError, lambda: sx.evaluate(y, y, random_state=-1)),
        (
            "scores applies to classification only",
            ParameterError,
            lambda: sx.evaluate(s, s, scores=s, task="regression"),
        ),
        ("positive applies to classification only", ParameterError, lambda: sx.evaluate(s, s, positive=1)),
        ("no row is 0", DataError, lambda: sx.evaluate(np.ones(9, int), scores=s[:9]).roc_curve()),
        ("at is empty", ParameterError, lambda: sx.evaluate(y, scores=s).threshold_table([])),
    ):
        with pytest.raises(error, match=match):
            call()


def test_rounding_beyond_one_is_a_probability():
    y = np.array([0, 1, 1, 0])
    p = np.array([np.float32(1e-8), 1 + 1e-7, 0.5, -1e-9])
    e = sx.evaluate(y, probabilities=p)
    assert e.outcomes.probabilities.max() == 1
    assert e.outcomes.probabilities.min() == 0
    with pytest.raises(DataError, match=r"outside \[0, 1\]"):
        sx.evaluate(y, probabilities=p + 1e-5)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_the_size_of_weights_does_not_matter(size, rows):
    y = rows[1]
    s, w = rows[0][:, 0], np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    one, other = (sx.evaluate(y, scores=s, probabilities=1 / (1 + np.exp(-s)), sample_weight=k * w) for k in (1, size))
    for name, e in one.metrics.items():
        found = other.metrics[name]
        assert [found.value, found.low, found.high] == pytest.approx([e.value, e.low, e.high], rel=1e-9), name
    assert other.confusion == pytest.approx(size * one.confusion)
    assert max(map(len, str(other).splitlines())) < 120


@pytest.mark.parametrize("size", [1e-200, 1e-9, 1.0, 1e9, 1e200])
def test_the_size_of_targets_does_not_matter(size):
    rng = np.random.default_rng(0)
    y = rng.normal(size=80)
    f = y + 0.3 * rng.normal(size=80)
    one, other = sx.evaluate(y, f), sx.evaluate(size * y, size * f)
    assert [other.r2.value, other.r2.low, other.r2.high] == pytest.approx([one.r2.value, one.r2.low, one.r2.high])
    for name in ("rmse", "mae"):
        e, found = getattr(one, name), getattr(other, name)
        assert [found.value, found.low, found.high] == pytest.approx([size * v for v in (e.value, e.low, e.high)])
    if size in (1e-200, 1e200):
        assert "no floating-point number is as" in other.mse.reason
    else:
        assert other.mse.value == pytest.approx(size**2 * one.mse.value)
        assert other.mse.has_interval


def test_many_whole_numbers_may_be_amounts():
    y = np.arange(100.0)
    assert "task='regression'" in sx.evaluate(y, y).notes[0]
    assert sx.evaluate(y, y, task="regression").r2.value == 1


def test_one_row_is_one_row():
    assert str(sx.evaluate([1], [1])).startswith("1 row, positive: 1")
    assert str(sx.evaluate(["a"], ["a"])).startswith("1 row, 1 class;")


def test_drawn_curves_have_the_area_that_is_printed(rows):
    y = rows[1]
    for s in (rows[0][:, 0], np.round(rows[0][:, 0]), np.where(y, 1.0, -1.0)):
        e = sx.evaluate(y, scores=s)
        line = e.precision_recall_curve().plot().ax_.lines[0]
        x, p = line.get_xdata(), line.get_ydata()
        assert x[0] == 0
        assert x[-1] == 1
        assert line.get_drawstyle() == "steps-pre"
        assert np.diff(x) @ p[1:] == pytest.approx(average_precision_score(y, s))
        roc = e.roc_curve()
        x, low, high = roc.band
        assert np.diff(x) @ low[:-1] <= roc_auc_score(y, s) <= np.diff(x) @ high[:-1] + 1e-12
        assert (low[np.searchsorted(x, roc.fpr)] <= roc.tpr).all()
    assert np.diff(x) @ low[:-1] > 0.85  # classes apart: the band is narrow, not the whole square


# holdout


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_time_may_be_dates_and_must_be_whole(rows, tmp_path):
    X, y = rows
    days = pd.date_range("2020-01-01", periods=120)
    for time in (days, days.values, pd.Series(days), days.tolist(), list(days.date), days.strftime("%Y-%m-%d")):
        h = sx.holdout(X, y, time=time, ledger=tmp_path / "l")
        assert h.train_rows.tolist() == list(range(72))
        assert sx.cross_validate(sx.Perceptron(), X, y, time=time, folds=3, random_state=0).folds == 3
    with pytest.raises(DataError, match=r"no moment .* at row 5"):
        sx.holdout(X, y, time=pd.Series(days).mask(np.arange(120) == 5), ledger=tmp_path / "l")
    with pytest.raises(DataError, match="at row 0"):
        sx.cross_validate(sx.Perceptron(), X, y, time=np.full(120, np.datetime64("NaT", "D")))
    with pytest.raises(DataTypeError, match="no order"):
        sx.holdout(X, y, time=[days[0].date(), 3] * 60, ledger=tmp_path / "l")


def test_rows_of_one_moment_never_fall_into_two_parts(rows, tmp_path):
    X, y = rows
    for time in (np.zeros(120), np.append(np.arange(20), np.full(100, 99))):
        with pytest.raises(DataError, match="nothing is left for training"):
            sx.holdout(X, y, time=time, ledger=tmp_path / "l")
    h = sx.holdout(X, y, time=np.arange(120) // 30, ledger=tmp_path / "l")
    assert (h.sizes["train"], h.sizes["validation"], h.sizes["test"]) == (60, 30, 30)


def test_one_great_group_learns_and_is_not_the_test(rows, tmp_path):
    X, y = rows
    groups = np.append(np.zeros(110), np.arange(1, 11))
    for seed in range(10):
        h = sx.holdout(X, y, groups=groups, random_state=seed, ledger=tmp_path / "l")
        assert h.sizes["train"] >= 110
        assert h.sizes["test"] >= 1
        assert h.sizes["validation"] >= 1


def test_holdout_names_what_is_wrong(rows, tmp_path):
    X, y = rows
    with pytest.raises(ParameterError, match="stratify must be True or False"):
        sx.holdout(X, y, stratify=y)
    with pytest.raises(DataError, match="NaN or inf at row 0"):
        sx.holdout(X, np.append(np.nan, y[1:]))
    with pytest.raises(DataError, match="pass validation=0"):
        sx.holdout(X[:5], [0, 1, 0, 1, 0])
    with pytest.raises(LedgerError, match="path of a file"):
        sx.holdout(X, y, ledger="a\0b")
    with pytest.raises(LedgerError, match="cannot be read"):
        sx.holdout(X, y, ledger=tmp_path).openings()


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_a_refused_question_opens_nothing(rows, tmp_path):
    h = sx.holdout(*rows, random_state=0, ledger=tmp_path / "l")
    assert str(h.openings()) == "held-out test rows, not used yet"
    model = sx.Perceptron().fit(*h.train)
    with pytest.raises(ParameterError, match="positive is 7"):
        h.open_test(model, positive=7)
    for wrong in (None, sx.Perceptron, 5):
        with pytest.raises(ParameterError, match="pass a fitted model"):
            h.open_test(wrong)
    assert not (tmp_path / "l").exists()
    assert h.open_test(model).openings.number == 1


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_a_lock_that_is_never_given_back(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(ledger, "PATIENCE", 0.05)
    path = tmp_path / "l"
    h = sx.holdout(*rows, random_state=0, ledger=path)
    model = sx.Perceptron().fit(*h.train)
    holder = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(holder, fcntl.LOCK_EX)
    with pytest.raises(LedgerError, match=r"held its lock for 0\.05 seconds\), so the test rows were not used"):
        h.open_test(model)
    os.close(holder)
    assert h.open_test(model).openings.number == 1


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_openings_count_though_the_line_with_their_rows_is_damaged(rows, tmp_path):
    path = tmp_path / "l"
    h = sx.holdout(*rows, random_state=0, ledger=path)
    h.open_test(sx.Perceptron().fit(*h.train))
    with pytest.warns(sx.errors.OpenedWarning):
        h.open_test(sx.AveragedPerceptron().fit(*h.train))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first[: len(first) // 2] + b"\n" + second)
    with pytest.warns(sx.errors.OpenedWarning, match=r"100% .* once.*1 damaged line in"):
        assert h.open_test(sx.LinearDiscriminant().fit(*h.train)).openings.number == 2
    assert json.loads(path.read_bytes().splitlines()[-1])["rows"]  # written down again


# cross_validate, select, compare, curves


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_given_folds(rows):
    X, y = rows
    halves = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    for folds in (StratifiedKFold(4), LeaveOneOut(), halves):
        found = sx.cross_validate(sx.Perceptron(), X, y, folds=folds, random_state=0)
        assert found["accuracy"].method.startswith("Bayle")
    twice = [(np.repeat(np.arange(60), 1), np.arange(60, 120)), (np.repeat(np.arange(60, 90), 2), np.arange(60))]
    found = sx.cross_validate(sx.LinearDiscriminant(), X, y, folds=twice, random_state=0)
    assert found.shared is None  # the rows learned from are not the others' judged ones
    for folds, match in (
        (StratifiedKFold, "it can be a number"),
        ([1, 2], "fold 0 is not a pair"),
        ([([1], [2], [3])] * 2, "fold 0 is not a pair"),
        ([([0, 1, 2, 3], [4, 4])] * 2, "has a test row twice"),
        (StratifiedKFold(100), "StratifiedKFold cannot split these rows"),
    ):
        with pytest.raises((ParameterError, DataError), match=match):
            sx.cross_validate(sx.Perceptron(), X, y, folds=folds)
    with pytest.raises(ParameterError, match="cannot be drawn again"):
        sx.cross_validate(sx.Perceptron(), X, y, folds=halves, repeats=2)
    assert sx.compare([sx.Perceptron(), sx.AROW()], X, y, folds=halves, random_state=0).pairs


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_learners_and_extras_of_the_wrong_kind(rows):
    X, y = rows
    with pytest.raises(FoldError, match="predict gave 23 predictions for 24 rows"):
        sx.cross_validate(Short(), X, y, random_state=0)
    for extra, match in (
        ({"scorers": len}, "scorers must be a dict"),
        ({"fit_with": [1]}, "fit_with must be a dict"),
        ({"scorers": {"accuracy": lambda m, X, y: 7.0}}, "a metric already"),
    ):
        with pytest.raises(ParameterError, match=match):
            sx.cross_validate(sx.Perceptron(), X, y, **extra)
    with pytest.raises(DataError, match="position 0"):
        sx.cross_validate(sx.LeastSquares(), X, np.append(np.nan, X[1:, 0]))
    with pytest.raises(DataError, match=r"class 2, which has 1 row\(s\)"):
        sx.cross_validate(sx.Perceptron(), X, np.append(2, y[1:]), stratify=False)


def test_few_or_unequal_groups_give_wide_intervals():
    loss = np.append(np.tile([1.0, 0.0], 58), [1.0, 0.0, 0.0, 0.0])
    one = Judgements([np.arange(120)], None, np.append(np.zeros(116, int), [1, 2, 3, 4]))
    found = one.bayle([loss], 0.95, proportion=True)
    assert found.high - found.low > 0.5  # one group of 116 rows says little about others
    with_none = Judgements([np.arange(120)], None, np.zeros(120, int)).bayle([loss], 0.95)
    assert with_none.reason == "one group has no spread"


@pytest.mark.slow
def test_intervals_by_groups_cover():
    rng = np.random.default_rng(0)
    for groups, rows_each in ((6, 20), (20, 20)):
        held, at = 0, np.repeat(np.arange(groups), rows_each)
        for _ in range(2000):
            p = np.clip(0.7 + 0.15 * rng.normal(size=groups), 0, 1)
            loss = (rng.random(len(at)) < p[at]).astype(float)
            held += 0.7 in Judgements([np.arange(len(at))], None, at).bayle([loss], 0.95, proportion=True)
        assert 0.93 <= held / 2000 <= 0.98


def test_grids_and_metrics_of_a_selection(rows):
    X, y = rows
    pipe = make_pipeline(StandardScaler(), sx.LogisticRegression())
    grid = {"C": [0.1, 1.0]}
    for learner, wrong, match in (
        (sx.LogisticRegression(), {"CC": [1]}, "the grid names 'CC', which LogisticRegression"),
        (pipe, grid, "did you mean 'logisticregression__C'"),
        (sx.LogisticRegression(), 5, "grid must be a dict"),
        (sx.LogisticRegression(), {1: [1]}, "the grid names 1"),
        ({"a": sx.Perceptron()}, [grid], "dict of grids by the learner's name"),
        ({}, None, "empty dict"),
        ({"a": sx.Perceptron(), "b": sx.LeastSquares()}, None, "mix classifiers and regressions"),
        (sx.LogisticRegression, grid, "with its parentheses"),
    ):
        with pytest.raises(ParameterError, match=match):
            sx.Selector(learner, wrong).fit(X, y)
    with pytest.raises(ParameterError, match="complexity"):
        sx.Selector(sx.LogisticRegression(), grid, complexity=5).fit(X, y)

    def right(model, X, y):
        return model.score(X, y)

    for metric, name in ((right, "right"), (lambda m, X, y: right(m, X, y), "metric")):
        found = sx.Selector(sx.LogisticRegression(), grid, metric=metric, random_state=0)
        assert found.fit(X, y).selection_.metric == name
        assert f"by {name}, best mean" in str(found.selection_)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_comparisons_refuse_what_does_not_match(rows):
    X, y = rows
    pair = [sx.Perceptron(), sx.AROW()]
    for validation, match in (
        (X, "a pair"),
        ((X, y[:9]), "inconsistent"),
        ((X, y.astype(str)), "mix text and numbers"),
    ):
        with pytest.raises((ParameterError, DataError, DataTypeError), match=match):
            sx.compare(pair, X, y, validation=validation, random_state=0)
    with pytest.raises(ParameterError, match="two learners have the same name"):
        sx.compare({1: sx.Perceptron(), "1": sx.AROW(), "a": sx.AROW()}, X, y)
    with pytest.raises(ParameterError, match="with its parentheses"):
        sx.compare([sx.Perceptron, sx.AROW()], X, y)
    with pytest.raises(FoldError, match=r"boom$"):  # nothing about an option that compare does not have
        sx.compare([Failing(), sx.AROW()], X, y, random_state=0)


def test_curves_of_growth_refuse_what_they_cannot_draw(rows):
    X, y = rows
    for sizes, match in (([0.1, 50], "mixes shares"), ([[1], [2, 3]], "numbers of rows, shares")):
        with pytest.raises(ParameterError, match=match):
            sx.evaluation.learning_curve(sx.Perceptron(), X, y, sizes=sizes)
    for values in (5, None, "ab"):
        with pytest.raises(ParameterError, match="pass a list of sizes"):
            sx.evaluation.overfitting_curve(sx.LogisticRegression(), X, y, "C", values)
    for call in (sx.evaluation.learning_curve, lambda *a: sx.evaluation.overfitting_curve(*a, "C", [1])):
        with pytest.raises(ParameterError, match="with its parentheses"):
            call(sx.LogisticRegression, X, y)
    with pytest.raises(FoldError, match=r"Failing failed with \d+ rows: ZeroDivisionError: boom"):
        sx.evaluation.learning_curve(Failing(), X, y, random_state=0)
    in_time = sx.evaluation.learning_curve(sx.Perceptron(), X, y, time=np.arange(120), random_state=0)
    assert np.isfinite(in_time.validation).all()  # begins with as many rows as hold every class


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_rows_are_ranked_by_leads_where_only_leads_were_learned():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 3)) + np.eye(3)[y]
    model = sx.Perceptron(multiclass="kesler", max_iter=20, random_state=0).fit(X, y)
    said = predictions_of(model, X)
    scores = model.decision_function(X)
    by_hand = np.column_stack([scores[:, k] - np.delete(scores, k, axis=1).max(axis=1) for k in range(3)])
    assert said.scores == pytest.approx(by_hand)
    assert leads(scores + rng.normal(size=(150, 1))) == pytest.approx(by_hand, abs=1e-9)
    assert ((by_hand > 0).argmax(axis=1) == scores.argmax(axis=1)).all()
    wanted = np.mean([roc_auc_score(y == k, by_hand[:, k]) for k in range(3)])
    piped = make_pipeline("passthrough", model)
    for fitted in (model, piped):
        own = predictions_of(fitted, X)
        assert sx.evaluate(y, own.labels, scores=own.scores).roc_auc.value == pytest.approx(wanted)
    rest = sx.Perceptron(max_iter=20, random_state=0).fit(X, y)  # each against the rest: scores of their own
    assert predictions_of(rest, X).scores == pytest.approx(rest.decision_function(X))
    assert leads(np.array([[1.0, 1.0, 0.0]])).tolist() == [[0.0, 0.0, -1.0]]

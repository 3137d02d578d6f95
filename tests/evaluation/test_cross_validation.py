"""Cross-validation: the same result for any workers, no leaks, failures as chosen, intervals with names."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import separatrix as sx
from separatrix.errors import DataError, FoldError, FoldWarning, ParameterError
from separatrix.evaluation.fold_assignment import folds_for
from separatrix.evaluation.fold_runs import make_tasks, run_fold


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


def scaled(learner):
    return make_pipeline(StandardScaler(), learner)


def test_folds_give_what_scikit_learn_gives(cancer):
    X, y = cancer
    splitter = StratifiedKFold(5, shuffle=True, random_state=3)
    learner = scaled(LogisticRegression())
    cv = sx.cross_validate(learner, X, y, folds=splitter)
    for name, theirs in (("accuracy", "accuracy"), ("f1", "f1"), ("roc_auc", "roc_auc"), ("log_loss", "neg_log_loss")):
        expected = np.abs(cross_val_score(learner, X, y, cv=splitter, scoring=theirs))
        np.testing.assert_allclose(cv.fold_values[name], expected, rtol=1e-12)
    X, y = load_diabetes(return_X_y=True)
    cv = sx.cross_validate(Ridge(), X, y, folds=splitter.__class__(5).split(X, y > 150))
    expected = cross_val_score(Ridge(), X, y, cv=list(StratifiedKFold(5).split(X, y > 150)), scoring="r2")
    np.testing.assert_allclose(cv.fold_values["r2"], expected, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_any_number_of_workers_gives_the_same(cancer):
    X, y = cancer
    learners = (sx.Perceptron(order="shuffle"), scaled(SGDClassifier()), DecisionTreeClassifier())
    for learner in learners:  # their random states are left open: folds get seeds of their own
        alone = sx.cross_validate(learner, X, y, random_state=5)
        for workers in (1, 2, 5):
            assert sx.cross_validate(learner, X, y, random_state=5, executor=workers).to_dict() == alone.to_dict()
    with ThreadPoolExecutor(3) as threads:
        assert sx.cross_validate(learner, X, y, random_state=5, executor=threads).to_dict() == alone.to_dict()
    with ProcessPoolExecutor(2) as processes:
        assert sx.cross_validate(learner, X, y, random_state=5, executor=processes).to_dict() == alone.to_dict()
    assert sx.cross_validate(learner, X, y, random_state=6).to_dict() != alone.to_dict()


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_rows_of_any_kind(cancer):
    X, y = cancer
    expected = sx.cross_validate(sx.Perceptron(), X, y, random_state=0).to_dict()
    names = [f"f{j}" for j in range(X.shape[1])]
    words = np.array(["benign", "malignant"])[y]
    assert (
        sx.cross_validate(sx.Perceptron(), pd.DataFrame(X, columns=names), pd.Series(y), random_state=0).to_dict()
        == expected
    )
    assert (
        sx.cross_validate(sx.Perceptron(), pl.DataFrame(X, schema=names), pl.Series(y), random_state=0).to_dict()
        == expected
    )
    assert sx.cross_validate(sx.Perceptron(), sp.csr_array(X), y.tolist(), random_state=0).to_dict() == expected
    named = sx.cross_validate(sx.Perceptron(), X, words, random_state=0)
    assert named["accuracy"].value == expected["estimates"]["accuracy"]["value"]
    assert named.pooled.positive == "malignant"


def test_text_goes_through_a_pipeline_of_frames():
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"ward": rng.choice(["a", "b", "c"], 90), "age": rng.normal(size=90)})
    y = ((frame["ward"] == "a") ^ (rng.random(90) < 0.1)).to_numpy()
    learner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["ward"]), remainder="passthrough"), LogisticRegression()
    )
    assert sx.cross_validate(learner, frame, y, random_state=0)["accuracy"].value > 0.8


@pytest.mark.parametrize("draws", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_selection_outside_the_folds_leaks_and_inside_does_not(draws):
    """Random labels, 40 rows, 5000 features of noise (after Ambroise & McLachlan 2002)."""
    inside, outside = [], []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 5000)), np.arange(40) % 2
        learner = make_pipeline(SelectKBest(k=20), sx.AveragedPerceptron())
        inside.append(sx.cross_validate(learner, X, y, random_state=seed)["accuracy"].value)
        if seed < 20:
            best = SelectKBest(k=20).fit_transform(X, y)
            outside.append(sx.cross_validate(sx.AveragedPerceptron(), best, y, random_state=seed)["accuracy"].value)
    assert np.mean(outside) > 0.85
    assert 0.45 < np.mean(inside) < 0.55, f"{np.mean(inside):.3f} inside, {np.mean(outside):.3f} outside"


def test_intervals_have_names_and_formulas(cancer):
    X, y = cancer
    cv = sx.cross_validate(scaled(LogisticRegression()), X, y, random_state=0, repeats=2)
    assert cv["accuracy"].method == "Bayle et al. 2020, score form"
    assert cv["log_loss"].method == "Bayle et al. 2020"
    assert "Nadeau" in cv["roc_auc"].method
    assert "no unbiased estimate" in str(cv)
    one = sx.cross_validate(LinearRegression(), *load_diabetes(return_X_y=True), random_state=0)
    losses = (one.pooled.truth - one.pooled.predicted) ** 2
    half = 1.959963984540054 * losses.std(ddof=1) / np.sqrt(len(losses))
    assert (one["mse"].low, one["mse"].high) == pytest.approx((losses.mean() - half, losses.mean() + half))
    values = one.fold_values["r2"]
    ratio = np.mean([len(r.rows) / r.learned_from for r in one.results])
    half = stats.t.ppf(0.975, 4) * np.sqrt((1 / 5 + ratio) * values.var(ddof=1))
    assert one["r2"].high - one["r2"].value == pytest.approx(half)
    assert 0 < one["rmse"].low < one["rmse"].value < one["rmse"].high


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_groups_and_time_rule(cancer):
    X, y = cancer
    groups = np.arange(len(y)) // 4
    cv = sx.cross_validate(sx.Perceptron(), X, y, groups=groups, random_state=0)
    for r in cv.results:
        assert not set(groups[r.rows]) & set(np.delete(groups, r.rows))
    assert cv["accuracy"].method == "Bayle et al. 2020, by groups, score form"
    cv = sx.cross_validate(sx.Perceptron(), X, y, time=np.arange(len(y)), folds=4)
    assert [r.learned_from for r in cv.results] == sorted(r.learned_from for r in cv.results)
    assert "Nadeau" in cv["accuracy"].method
    assert cv.predictions()[0] is None


def test_weights_reach_learning_and_judging():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]
    w = np.where(y == 1, 20.0, 1.0)
    for learner in (LogisticRegression(), scaled(LogisticRegression())):
        plain = sx.cross_validate(learner, X, y, random_state=0)
        heavy = sx.cross_validate(learner, X, y, random_state=0, sample_weight=w)
        assert heavy.pooled.per_class[1]["recall"].value > plain.pooled.per_class[1]["recall"].value
        assert heavy["accuracy"].value == pytest.approx(heavy.pooled.accuracy.value)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails where row 0 is among those learned from."""

    def __init__(self, marker=0.0):
        self.marker = marker

    def fit(self, X, y):
        if (X[:, 0] == self.marker).any():
            raise ZeroDivisionError("the marked row is here")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_a_failing_fold_stops_or_is_reported(cancer):
    X, y = cancer[0].copy(), cancer[1]
    X[0, 0] = 1000.0  # which no other row has
    with pytest.raises(
        FoldError, match=r"Fragile failed in fold \d, learned from 455 rows: ZeroDivisionError: the marked"
    ):
        sx.cross_validate(Fragile(X[0, 0]), X[: len(y)], y, random_state=0)
    with pytest.warns(FoldWarning, match="left out: fold"):
        cv = sx.cross_validate(Fragile(X[0, 0]), X, y, random_state=0, on_failure="report")
    assert len(cv.failures) == 4
    assert np.isnan(cv.fold_values["accuracy"]).sum() == 4
    assert cv["accuracy"].defined
    assert "failed: fold" in str(cv)
    everywhere = np.ones_like(X)
    with pytest.raises(FoldError, match="failed in every fold"):
        sx.cross_validate(Fragile(1.0), everywhere, y, random_state=0, on_failure="report")


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_methods_and_statuses_are_counted(cancer):
    class Changing(Fragile):
        def fit(self, X, y):
            self.method_ = "Firth" if len(X) % 5 else "maximum likelihood"
            self.classes_ = np.unique(y)
            return self

    cv = sx.cross_validate(Changing(), *cancer, random_state=0)
    assert cv.methods == {"maximum likelihood": 4, "Firth": 1}
    assert "fits by method: " in str(cv)
    cv = sx.cross_validate(sx.Perceptron(), *cancer, random_state=0)
    assert cv.statuses == {"MAX_ITERATIONS": 5}


def test_scorers_progress_and_forms(cancer):
    X, y = cancer
    told = []
    cv = sx.cross_validate(
        scaled(LogisticRegression()),
        X,
        y,
        random_state=0,
        scorers={"largest": lambda m, X, y: m.predict_proba(X).max()},
        progress=lambda done, total: told.append((done, total)),
    )
    assert told == [(k, 5) for k in range(1, 6)]
    assert 0.9 < cv["largest"].value <= 1
    json.dumps(cv.to_dict(), allow_nan=False)
    assert cv.pooled.n == len(y)
    assert (cv.predictions() == np.where(cv.predictions() == y, y, 1 - y)).all()
    assert "<table>" in cv._repr_html_()
    with pytest.raises(ParameterError, match="there is no metric 'auc'"):
        _ = cv["auc"]


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_the_learner_and_the_rows_stay_as_they_were(cancer):
    X, y = cancer
    before, learner = X.copy(), sx.Perceptron()
    sx.cross_validate(learner, X, y)
    assert not hasattr(learner, "coef_")
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"folds": 1}, ParameterError, "at least 2"),
        ({"folds": 1000}, DataError, "569 row.* cannot make 1000 folds"),
        ({"folds": 300}, DataError, "class 0 has 212 row"),
        ({"repeats": 0}, ParameterError, "repeats"),
        ({"on_failure": "ignore"}, ParameterError, "on_failure"),
        ({"executor": "threads"}, ParameterError, "executor"),
        ({"executor": 0}, ParameterError, "at least 1"),
        ({"progress": 3}, ParameterError, "progress"),
        ({"random_state": -1}, ParameterError, "random_state"),
        ({"groups": [1, 2]}, DataError, "569 rows and groups has 2"),
        ({"groups": np.arange(569), "time": np.arange(569)}, ParameterError, "cannot both"),
        ({"level": 0}, ParameterError, "level"),
    ],
)
def test_bad_options_are_refused(cancer, options, error, says):
    with pytest.raises(error, match=says):
        sx.cross_validate(sx.Perceptron(), *cancer, **options)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_bad_rows_are_refused(cancer):
    X, y = cancer
    for wrong in (sx.Perceptron, object(), None):
        with pytest.raises(ParameterError, match="pass an estimator"):
            sx.cross_validate(wrong, X, y)
    with pytest.raises(DataError, match="569 rows and y has 5"):
        sx.cross_validate(sx.Perceptron(), X, y[:5])
    with pytest.raises(DataError, match="one class only"):
        sx.cross_validate(sx.Perceptron(), X, np.zeros(len(y)), stratify=False)
    X = X.copy()
    X[3, 2] = np.nan
    with pytest.raises(DataError, match="NaN at row 3, column 2"):
        sx.cross_validate(sx.Perceptron(), X, y)


def test_an_interrupt_ends_the_fits_on_all_threads():
    """Many times, because a signal may land just before a wait, or where Python ignores exceptions."""
    code = """
import os, random, signal, threading, time, numpy as np, separatrix as sx
from sklearn.base import BaseEstimator, ClassifierMixin

class Endless(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        started.set()
        while True:
            time.sleep(0)

def press(after):
    started.wait()
    time.sleep(after)
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
random.seed(0)
for _ in range(100):
    started = threading.Event()
    pressing = threading.Thread(target=press, args=[random.choice([0, 0, 1e-5, 1e-4, 1e-3])])
    try:
        pressing.start()
        sx.cross_validate(Endless(), np.arange(20.0).reshape(10, 2), [0, 1] * 5, executor=2)
    except KeyboardInterrupt:
        pressing.join()
    while threading.active_count() > 1:
        time.sleep(0.01)
print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "interrupted\n", done.stderr


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_n_jobs_is_a_number_of_threads_as_in_scikit_learn(n_jobs):
    X, y = load_iris(return_X_y=True)
    alone = sx.cross_validate(sx.LinearDiscriminant(), X, y, random_state=0)
    assert np.array_equal(
        sx.cross_validate(sx.LinearDiscriminant(), X, y, n_jobs=n_jobs, random_state=0).predictions(),
        alone.predictions(),
    )
    learners = {"a": sx.LinearDiscriminant(), "b": sx.LinearDiscriminant(covariance="diagonal")}
    assert (
        sx.compare(learners, X, y, n_jobs=n_jobs, random_state=0).ranking
        == sx.compare(learners, X, y, random_state=0).ranking
    )
    grid = {"covariance": ["pooled", "diagonal"]}
    chosen = sx.Selector(sx.LinearDiscriminant(), grid, n_jobs=n_jobs, random_state=0).fit(X, y).selection_
    assert np.array_equal(
        chosen.means, sx.Selector(sx.LinearDiscriminant(), grid, random_state=0).fit(X, y).selection_.means
    )


def test_n_jobs_beside_an_executor_or_zero_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="executor and n_jobs are both given"):
        sx.cross_validate(sx.LinearDiscriminant(), X, y, executor=2, n_jobs=2)
    for wrong in (0, 1.5, True, "all"):
        with pytest.raises(ParameterError, match="n_jobs is"):
            sx.cross_validate(sx.LinearDiscriminant(), X, y, n_jobs=wrong)


def test_the_model_of_a_fold_ends_with_it():
    """Models keep the rows of their fit: five of them would hold four copies of the table."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    folds, _ = folds_for(60, 5, 1, y, True, None, None, 0, False)
    tasks = make_tasks(sx.LogisticRegression(C=1.0), X, y, folds, None, False, 0)
    assert all(run_fold(task).error is None for task in tasks)
    assert not any(task.learner.__sklearn_is_fitted__() for task in tasks)

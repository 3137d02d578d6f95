"""Selection inside the folds, comparison on the same folds, curves of growth."""

from __future__ import annotations

import json

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.dummy import DummyClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import separatrix as sx
from separatrix.errors import DataError, FoldError, ParameterError
from separatrix.evaluation.intervals import holm, mcnemar, paired
from separatrix.evaluation.metrics import point_values
from separatrix.validation import check_outcomes

mpl.use("Agg")


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, :10], y


def scaled(learner):
    return make_pipeline(StandardScaler(), learner)


def test_the_choice_is_grid_searchs(cancer):
    X, y = cancer
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    grid = {"decisiontreeclassifier__max_depth": [1, 2, 3, 5, 8], "decisiontreeclassifier__min_samples_leaf": [1, 5]}
    learner = scaled(DecisionTreeClassifier(random_state=0))
    model = sx.Selector(learner, grid, folds=folds, random_state=0).fit(X, y)
    ours = model.selection_
    theirs = GridSearchCV(learner, grid, cv=folds).fit(X, y)
    results = zip(theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"], strict=True)
    by_params = {str(sorted(p.items())): m for p, m in results}
    for params, mean in zip(ours.params, ours.means, strict=True):
        assert by_params[str(sorted(params.items()))] == pytest.approx(mean)
    assert ours.means[ours.chosen] == pytest.approx(theirs.best_score_)
    assert model.best_estimator_.score(X, y) > 0.9
    assert (model.best_params_, model.best_index_) == (theirs.best_params_, theirs.best_index_)
    assert model.best_score_ == pytest.approx(theirs.best_score_)
    for name in model.cv_results_:
        own, other = model.cv_results_[name], theirs.cv_results_[name]
        assert len(own) == len(other) == 10
        assert list(own) == pytest.approx(list(other)) if "score" in name else list(own) == list(other)
    assert "optimistic" in str(ours)
    json.dumps(ours.to_dict())


def test_penalties_of_logistic_regression_are_warm_started(cancer):
    X, y = cancer
    grid = {"logisticregression__C": [0.01, 0.1, 1.0]}
    learner = scaled(LogisticRegression(tol=1e-10, max_iter=2000))
    warm = sx.Selector(learner, grid, metric="log_loss", random_state=0).fit(X, y)
    cold = [
        sx.cross_validate(learner.set_params(logisticregression__C=c), X, y, random_state=0).fold_values["log_loss"]
        for c in grid["logisticregression__C"]
    ]
    np.testing.assert_allclose(warm.selection_.fold_values, cold, rtol=1e-5)
    assert not warm.best_estimator_[-1].warm_start


def test_one_standard_error_takes_the_simplest_near_the_best():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (120, 1))
    y = 1 + 2 * x[:, 0] - x[:, 0] ** 2 + rng.normal(scale=0.3, size=120)
    learner = make_pipeline(sx.PolynomialMap(), LinearRegression())
    grid = {"polynomialmap__degree": list(range(1, 12))}
    best = sx.Selector(learner, grid, random_state=1).fit(x, y).selection_
    simple = sx.Selector(learner, grid, random_state=1, rule="one-standard-error").fit(x, y).selection_
    assert simple.best == best.chosen
    assert simple.chosen <= best.chosen
    limit = best.means[best.best] + best.standard_errors[best.best]
    assert simple.means[simple.chosen] <= limit
    assert (simple.means[: simple.chosen] > limit).all()
    turned = {"polynomialmap__degree": list(range(11, 0, -1))}
    by_cost = sx.Selector(
        learner, turned, random_state=1, rule="one-standard-error", complexity=lambda p: p["polynomialmap__degree"]
    ).fit(x, y)
    assert by_cost.best_params_ == simple.params[simple.chosen]


def test_learners_and_features_compete(cancer):
    X, y = cancer
    learners = {
        "tree": DecisionTreeClassifier(random_state=0),
        "linear": make_pipeline(StandardScaler(), SelectKBest(), LogisticRegression()),
        "perceptron": scaled(sx.AveragedPerceptron()),
    }
    chosen = sx.Selector(learners, {"linear": {"selectkbest__k": [2, 5, 10]}}, random_state=0).fit(X, y).selection_
    assert len(chosen.labels) == 5
    assert chosen.labels[1] == "linear: selectkbest__k=2"
    assert "linear" in chosen.labels[chosen.chosen] or "perceptron" in chosen.labels[chosen.chosen]


@pytest.mark.slow
def test_nested_estimates_are_honest_where_the_chosen_mean_is_not():
    """Many candidates on noise: the best mean is above one half, the nested estimate is not."""
    optimistic, honest = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 30)), np.arange(60) % 2
        grid = {"selectkbest__k": [1, 2, 3, 5, 8, 13, 20, 30]}
        selector = sx.Selector(make_pipeline(SelectKBest(), sx.AveragedPerceptron()), grid, random_state=seed)
        nested = sx.cross_validate(selector, X, y, random_state=seed)
        found = selector.fit(X, y).selection_
        optimistic.append(found.means[found.chosen])
        honest.append(nested["accuracy"].value)
    assert np.mean(optimistic) > np.mean(honest) + 0.04
    assert 0.4 < np.mean(honest) < 0.6
    assert "cross-validate the Selector" in str(found)


def test_selector_is_a_learner(cancer):
    X, y = cancer
    selector = sx.Selector(scaled(LogisticRegression()), {"logisticregression__C": [0.1, 1.0]}, random_state=0)
    a = sx.cross_validate(selector, X, y, random_state=0)
    b = sx.cross_validate(selector, X, y, random_state=0, executor=2)
    assert a.to_dict() == b.to_dict()
    assert a["roc_auc"].value > 0.9  # scores come through
    fitted = selector.fit(X, y)
    assert fitted.score(X, y) > 0.9
    assert fitted.selection_.labels == ("logisticregression__C=0.1", "logisticregression__C=1")
    regression = sx.Selector(Ridge(), {"alpha": [0.1, 1.0]}, metric="r2", random_state=0)
    assert sx.cross_validate(regression, *load_diabetes(return_X_y=True), random_state=0)["r2"].value > 0.3


@pytest.mark.parametrize(
    ("grid", "options", "error", "says"),
    [
        ({"max_depth": 3}, {}, ParameterError, "pass a list of values"),
        ({"max_depth": []}, {}, ParameterError, "no combination"),
        ("max_depth", {}, ParameterError, "dict"),
        ({"max_depth": [1]}, {"rule": "simplest"}, ParameterError, "rule"),
        ({"max_depth": [1]}, {"metric": "auc"}, ParameterError, "there are accuracy"),
        ({"max_depth": [-4]}, {}, FoldError, r"max_depth=-4 failed in fold 0: InvalidParameterError"),
    ],
)
def test_bad_selections_are_refused(cancer, grid, options, error, says):
    with pytest.raises(error, match=says):
        sx.Selector(DecisionTreeClassifier(), grid, random_state=0, **options).fit(*cancer)


def test_comparison_of_equals_declares_nobody(cancer):
    X, y = cancer
    learners = {
        "a": scaled(LogisticRegression(C=1.0)),
        "b": scaled(LogisticRegression(C=1.2)),
        "twin": scaled(LogisticRegression()),
    }
    c = sx.compare(learners, X, y, random_state=0)
    assert c.winner is None
    assert "no winner" in str(c)
    same = next(p for p in c.pairs if {p.first, p.second} == {"a", "twin"})
    assert same.difference.reason == "the same in every fold"
    assert same.holm == 1.0
    json.dumps(c.to_dict(), allow_nan=False)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_comparison_of_unequals_does(cancer, tmp_path):
    X, y = cancer
    learners = [scaled(LogisticRegression()), DummyClassifier(), DummyClassifier(strategy="uniform", random_state=0)]
    c = sx.compare(learners, X, y, random_state=0, repeats=3, validation=(X, y))
    assert c.winner == "LogisticRegression"
    assert c.ranking == ["LogisticRegression", "DummyClassifier", "DummyClassifier 2"]
    pair = c.pairs[0]
    values = c.runs[pair.first].fold_values["accuracy"] - c.runs[pair.second].fold_values["accuracy"]
    error = np.sqrt((1 / 15 + 0.25) * values.var(ddof=1))
    assert pair.difference.high - pair.difference.value == pytest.approx(stats.t.ppf(0.975, 14) * error, rel=1e-3)
    assert pair.mcnemar.p < 1e-10
    c.plot().savefig(tmp_path / "c.png")
    mpl.pyplot.close("all")
    regression = sx.compare({"r": Ridge(), "l": LinearRegression()}, *load_diabetes(return_X_y=True), random_state=0)
    assert regression.metric == "mse"
    assert regression.ranking[0] == "l"
    multi = sx.compare(
        [sx.Perceptron(), sx.AveragedPerceptron()], *load_wine(return_X_y=True), metric="f1", random_state=0
    )
    assert multi.pairs[0].difference.has_interval


def test_the_corrected_test_keeps_its_level():
    """Two learners that guess alike: rejected in about 5 % of 300 draws, where the plain t test rejects far more."""
    rng = np.random.default_rng(0)
    corrected, plain = 0, 0
    for _ in range(300):
        d = rng.normal(size=20) + 0.5 * rng.normal()  # folds share what the draw brings
        corrected += paired(d, 1 / 4, 0.95)[1] < 0.05
        plain += stats.ttest_1samp(d, 0).pvalue < 0.05
    assert plain > 0.25 * 300
    assert corrected < 0.07 * 300


def test_holm_and_mcnemar_are_the_textbooks():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    a, b = np.array([1, 1, 1, 1, 0, 0, 1, 0], bool), np.array([1, 0, 0, 0, 1, 0, 0, 0], bool)
    m = mcnemar(a, b)
    assert (m.only_first, m.only_second, m.n) == (4, 1, 8)
    assert m.p == pytest.approx(stats.binomtest(4, 5).pvalue)
    assert mcnemar(a, a).p == 1.0


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_bad_comparisons_are_refused(cancer):
    X, y = cancer
    for wrong, says in (
        ({"a": sx.Perceptron()}, "at least two"),
        (sx.Perceptron(), "dict"),
        ([Ridge(), sx.Perceptron()], "mix"),
    ):
        with pytest.raises(ParameterError, match=says):
            sx.compare(wrong, X, y)
    with pytest.raises(ParameterError, match="does not give"):
        sx.compare([sx.Perceptron(), sx.AveragedPerceptron()], X, y, metric="log_loss")


def test_overfitting_training_error_falls_and_validation_error_turns():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, (40, 1))
    y = np.sin(3 * x[:, 0]) + rng.normal(scale=0.3, size=40)
    learner = make_pipeline(sx.PolynomialMap(), LinearRegression())
    curve = sx.evaluation.overfitting_curve(learner, x, y, "polynomialmap__degree", range(1, 15), random_state=0)
    train, judged = curve.train.mean(axis=0), curve.validation.mean(axis=0)
    assert (np.diff(train) <= 1e-9).all()
    assert 0 < curve.best < 13
    assert judged[-1] > 2 * judged[curve.best]
    assert curve.steps[curve.best] in (3, 4, 5)
    curve.plot(log=True)
    assert "best" in str(curve)


def test_overfitting_of_a_classifier_with_a_growing_map():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2))
    y = ((X**2).sum(axis=1) > 1.2) ^ (rng.random(150) < 0.15)
    learner = make_pipeline(StandardScaler(), sx.PolynomialMap(), sx.LeastSquaresClassifier(alpha=1e-6))
    curve = sx.evaluation.overfitting_curve(learner, X, y, "polynomialmap__degree", [1, 2, 4, 8, 11], random_state=0)
    train, judged = curve.train.mean(axis=0), curve.validation.mean(axis=0)
    assert train[-1] < train[1] < train[0]
    assert curve.steps[curve.best] in (2, 4)
    assert judged[-1] > judged[curve.best]


def test_learning_curve_improves_with_rows(cancer):
    X, y = cancer
    curve = sx.evaluation.learning_curve(
        scaled(LogisticRegression()), X, y, sizes=[20, 60, 200, 455], random_state=0, executor=2
    )
    assert curve.steps == (20, 60, 200, 455)
    judged = curve.validation.mean(axis=0)
    assert judged[-1] < judged[0]
    assert (curve.train.mean(axis=0)[0] <= judged[0]).all()
    curve.plot()
    assert sx.evaluation.learning_curve(sx.Perceptron(), X, y, sizes=[0.1, 1.0], random_state=0).steps == (46, 455)
    assert len(sx.evaluation.learning_curve(sx.Perceptron(), X, y, sizes=3, random_state=0).steps) == 3
    with pytest.raises(DataError, match="sizes asks for 900"):
        sx.evaluation.learning_curve(sx.Perceptron(), X, y, sizes=[900])
    with pytest.raises(DataError, match="do not hold every class"):
        sx.evaluation.learning_curve(sx.Perceptron(), X, y, sizes=[1])
    with pytest.raises(ParameterError, match="sizes must be"):
        sx.evaluation.learning_curve(sx.Perceptron(), X, y, sizes="all")
    with pytest.raises(ParameterError, match="does not have"):
        sx.evaluation.overfitting_curve(sx.Perceptron(), X, y, "degree", [1])
    mpl.pyplot.close("all")


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_mistakes_of_each_pass(cancer):
    X, y = cancer
    fitted = scaled(sx.Perceptron(max_iter=9)).fit(X, y)
    curve = sx.evaluation.mistakes_curve(fitted)
    np.testing.assert_array_equal(curve.mistakes, fitted[-1].epoch_mistakes_)
    assert len(curve.mistakes) == 9
    curve.plot()
    assert str(curve).startswith("mistakes in each pass: ")
    with pytest.raises(DataError, match="does not count mistakes"):
        sx.evaluation.mistakes_curve(LogisticRegression())
    mpl.pyplot.close("all")


def test_nested_estimates_keep_groups_whole_inside_and_outside():
    """Rows of a group are near copies with one label: divided they are remembered, kept together they are noise."""
    rng = np.random.default_rng(3)
    groups = np.repeat(np.arange(30), 6)
    centres, labels = rng.normal(size=(30, 40)), rng.integers(0, 2, 30)
    X, y = centres[groups] + 0.01 * rng.normal(size=(180, 40)), labels[groups]
    learner, grid = sx.AveragedPerceptron(max_iter=20), {"max_iter": [5, 20]}
    selector = sx.Selector(learner, grid, random_state=0)
    assert sx.cross_validate(selector, X, y, random_state=0)["accuracy"].value > 0.95
    assert selector.fit(X, y, groups=groups).selection_.means.max() < 0.8
    assert sx.cross_validate(selector, X, y, groups=groups, random_state=0)["accuracy"].value < 0.8
    seen = []

    class Watching(sx.Selector):
        def fit(self, X, y, sample_weight=None, groups=None, time=None):
            seen.append(set(groups.tolist()))
            return super().fit(X, y, sample_weight, groups, time)

    sx.cross_validate(Watching(learner, grid, random_state=0), X, y, groups=groups, random_state=0)
    assert [len(inside) for inside in seen] == [24] * 5


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_nested_estimates_in_time_learn_from_the_past_only():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, 2, 120)
    seen = []

    class Watching(sx.Perceptron):
        def fit(self, X, y, sample_weight=None):
            seen.append(X[:, 0].max())
            return super().fit(X, y)

    X[:, 0] = np.arange(120)
    selector = sx.Selector(Watching(), {"max_iter": [1, 2]}, random_state=0)
    nested = sx.cross_validate(selector, X, y, time=np.arange(120), folds=3, random_state=0)
    assert nested.how == "trained on earlier rows, tested on later ones"
    outer = sorted({rows.min() for rows in (r.rows for r in nested.results)})
    assert all(any(most < first for most in seen) for first in outer)
    assert min(r.rows.min() for r in nested.results) > min(seen)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_further_arguments_of_fit_follow_their_rows():
    X, y = np.arange(20.0)[:, None], np.arange(20) % 2
    passed = []

    class Watching(sx.Perceptron):
        def fit(self, X, y, sample_weight=None, note=None):
            passed.append((X[:, 0], note))
            return super().fit(X, y)

    sx.cross_validate(Watching(), X, y, fit_with={"note": [str(i) for i in range(20)]}, random_state=0)
    assert len(passed) == 5
    assert all([str(int(v)) for v in rows] == list(note) for rows, note in passed)
    with pytest.raises(DataError, match="note"):
        sx.cross_validate(Watching(), X, y, fit_with={"note": ["a"]}, random_state=0)


def single(X, y, fold, **params):
    train, test = fold
    model = sx.LogisticRegression(**params).fit(X[train], y[train])
    return log_loss(y[test], model.predict_proba(X[test]))


@pytest.mark.parametrize("classes", [2, 3])
def test_a_path_of_penalties_is_judged_as_single_fits_are(classes):
    X, y = load_wine(return_X_y=True)
    X, y = (X / X.std(axis=0))[y < classes], y[y < classes]
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))
    grid = {"C": [10.0, 0.01, 1, 0.1], "l1_ratio": [0.0, 1.0]}
    found = sx.Selector(sx.LogisticRegression(), grid, folds=folds, metric="log_loss").fit(X, y).selection_
    alone = [[single(X, y, fold, **params) for fold in folds] for params in found.params]
    np.testing.assert_allclose(found.fold_values, alone, rtol=2e-3)
    assert found.chosen == int(np.argmin(np.mean(alone, axis=1)))
    assert "warm" not in str(found)


def test_fits_of_a_path_have_not_seen_the_rows_they_are_judged_on(cancer):
    X, y = cancer
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))

    def fits(labels):
        seen = []
        sx.Selector(
            sx.LogisticRegression(),
            {"C": [1.0, 0.01, 100.0]},
            folds=folds[:1] * 2,
            metric=lambda model, *_: seen.append((model.C, model.coef_.tobytes())) or model.C,
        ).fit(X, labels)
        return seen

    other = y.copy()
    other[folds[0][1]] = 1 - y[folds[0][1]]
    assert fits(y) == fits(other)
    assert [C for C, _ in fits(y)] == [0.01, 1.0, 100.0] * 2


def test_penalties_that_are_no_path_are_fitted_one_by_one(cancer):
    X, y = cancer
    found = (
        sx.Selector(sx.LogisticRegression(), {"C": [np.inf, 1.0, 0.1]}, metric="log_loss", random_state=0)
        .fit(X, y)
        .selection_
    )
    alone = (
        sx.Selector(sx.LogisticRegression(), {"C": [np.inf]}, metric="log_loss", random_state=0).fit(X, y).selection_
    )
    np.testing.assert_allclose(found.fold_values[0], alone.fold_values[0], rtol=1e-6)
    with pytest.raises(ParameterError, match="C=-1 failed in fold 0"):
        sx.Selector(sx.LogisticRegression(), {"C": [1.0, -1.0, 0.1]}).fit(X, y)
    with pytest.raises(ParameterError, match=r"C=0\.1 failed in fold 0.*flac"):
        sx.Selector(sx.LogisticRegression(bias_reduction="flac"), {"C": [1.0, 0.1]}).fit(X, y)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_metric_alone_is_the_metric_among_all(classes):
    rng = np.random.default_rng(0)
    y, P = rng.integers(0, classes, 60), rng.dirichlet(np.ones(classes), 60)
    outcomes = check_outcomes(y, P.argmax(axis=1), probabilities=P[:, 1] if classes == 2 else P)
    every = point_values(outcomes)
    assert {name: point_values(outcomes, wanted=name)[name] for name in every} == every


def test_a_path_at_the_end_of_a_pipeline_is_judged_as_single_fits_are(cancer):
    X, y = cancer
    grid = {"select__k": [3, 10], "last__C": [1.0, 0.01, 100.0]}
    learner = Pipeline([("scale", StandardScaler()), ("select", SelectKBest(k=2)), ("last", sx.LogisticRegression())])
    model = sx.Selector(learner, grid, metric="log_loss", random_state=0).fit(X, y)
    found = model.selection_
    alone = [
        sx.cross_validate(clone(learner).set_params(**params), X, y, random_state=0).fold_values["log_loss"]
        for params in found.params
    ]
    np.testing.assert_allclose(found.fold_values, alone, rtol=1e-3)
    assert found.chosen == int(np.argmin(np.mean(alone, axis=1)))
    assert model.best_estimator_[-1].n_features_in_ == model.best_params_["select__k"]
    again = sx.Selector(learner, grid, metric="log_loss", random_state=0, executor=2).fit(X, y)
    np.testing.assert_array_equal(again.selection_.fold_values, found.fold_values)


def test_steps_before_a_path_are_fitted_once_a_fold(cancer):
    X, y = cancer
    fitted = []

    class Counted(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            fitted.append(len(X))
            return super().fit(X, y, sample_weight)

    learner = Pipeline([("scale", Counted()), ("last", sx.LogisticRegression())])
    c = np.linspace(0.5, 2, len(y))
    found = sx.Selector(learner, {"last__C": [0.1, 1.0, 10.0]}, folds=3, random_state=0).fit(X, y, sample_weight=c)
    assert len(fitted) == 3 + 1  # and once for all rows
    assert found.best_params_["last__C"] == found.best_estimator_[-1].C

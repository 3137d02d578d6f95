"""Going on after a model was stored: equal to never having stopped, or refused in one sentence."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.persistence.saved_models import tampered

import separatrix as sx
from separatrix.errors import DataError, ModelFileError
from separatrix.models.registry import homes, learner_class

RNG = np.random.default_rng(8)
X = RNG.normal(size=(90, 4))
LABELS = {
    "two": np.where(X[:, 0] + 0.5 * RNG.normal(size=90) > 0, "no", "yes"),
    "three": np.array(["a", "b", "c"])[np.argmax(X[:, :3], axis=1)],
    "numbers": RNG.integers(-1, 2, 90),
}
NAMES = sorted(name for name in homes() if hasattr(learner_class(name), "partial_fit"))
GO_ON = {"Perceptron", "PassiveAggressive", "LinearDescent", "KernelPerceptron"}  # by their weights
VARIANTS = [(name, {}) for name in NAMES] + [
    ("Perceptron", {"multiclass": "kesler"}),
    ("AveragedPerceptron", {"multiclass": "kesler", "class_weight": {"a": 2.0}}),
    ("AROW", {"covariance": "full"}),
    ("LinearDescent", {"average": True, "momentum": 0.5, "batch_size": 7}),
    ("LinearDescent", {"loss": "squared_error"}),
    ("KernelPerceptron", {"kernel": "poly", "max_support": 12}),
    ("VotedPerceptron", {"max_vectors": 5}),
    ("LeastSquares", {"alpha": 0.5, "fit_intercept": False}),
]


def rows_of(name, options, kind):
    regression = name == "LeastSquares" or options.get("loss") == "squared_error"
    y = X @ [1.0, 2.0, 0.0, -1.0] + 0.1 if regression else LABELS[kind]
    if "class_weight" in options and "a" not in y:
        pytest.skip("weights of other classes")
    return y


def stored(model, way, tmp_path):
    if way == "file":
        return sx.load(sx.save(model, tmp_path / "m.sepx"))
    return copy.deepcopy(model) if way == "copy" else pickle.loads(pickle.dumps(model))


def numbers(model):
    """The fitted attributes that say what was learned."""
    names = ("coef_", "intercept_", "classes_", "means_", "covariance_", "dual_coef_", "rss_", "n_rows_")
    held = {name: np.asarray(getattr(model, name)) for name in names if hasattr(model, name)}
    return held | {"scores": model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)}


@pytest.mark.parametrize("way", ["pickle", "file", "copy"])
@pytest.mark.parametrize("kind", list(LABELS))
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_going_on_after_partial_fit_equals_never_having_stopped(name, options, kind, way, tmp_path):
    y = rows_of(name, options, kind)
    new = learner_class(name)(**options)
    model = new.partial_fit(X[:40], y[:40])
    twin = stored(model, way, tmp_path)
    for part in (slice(40, 55), slice(55, 90)):
        model.partial_fit(X[part], y[part])
        twin.partial_fit(X[part], y[part])
        twin = stored(twin, way, tmp_path)
    one, two = numbers(model), numbers(twin)
    assert one.keys() == two.keys()
    for key in one:
        assert np.array_equal(one[key], two[key]), key


@pytest.mark.parametrize("way", ["pickle", "file"])
@pytest.mark.parametrize(("name", "options"), VARIANTS)
def test_after_fit_a_stored_model_goes_on_as_in_memory_or_says_that_it_cannot(name, options, way, tmp_path):
    y = rows_of(name, options, "three")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner_class(name)(**options).fit(X[:40], y[:40])
    twin = stored(model, way, tmp_path)
    again = copy.deepcopy(model).partial_fit(X[40:], y[40:])
    if name in GO_ON and "multiclass" not in options:
        twin.partial_fit(X[40:], y[40:])
        assert np.array_equal(numbers(twin)["scores"], numbers(again)["scores"])
    else:
        with pytest.raises(DataError, match="stored without the state that partial_fit goes on from"):
            twin.partial_fit(X[40:], y[40:])
        assert np.array_equal(numbers(twin)["scores"], numbers(model)["scores"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refitted = twin.fit(X, y)
    refitted.partial_fit(X, y)


def test_single_rows_and_dicts_go_on_too(tmp_path):
    for way in ("pickle", "file"):
        model = sx.AROW()
        for x, label in zip(X[:40], LABELS["three"][:40], strict=True):
            model.learn_one(x, label)
        twin = stored(model, way, tmp_path)
        for x, label in zip(X[40:], LABELS["three"][40:], strict=True):
            model.learn_one(x, label)
            twin.learn_one(x, label)
        assert np.array_equal(model.coef_, twin.coef_)
        words = sx.AveragedPerceptron().learn_one({"free": 1, "money": 2}, "spam").learn_one({"hello": 1}, "ham")
        again = stored(words, way, tmp_path)
        for learner in (words, again):
            learner.learn_one({"free": 1, "tomorrow": 1}, "ham")
        assert words.decision_one({"free": 1, "tomorrow": 2}) == again.decision_one({"free": 1, "tomorrow": 2})


def test_sparse_streams_go_on_too(tmp_path):
    y = LABELS["two"]
    for name in NAMES:
        if name == "LeastSquares":
            continue
        model = learner_class(name)().partial_fit(sp.csr_array(X[:40]), y[:40])
        twin = stored(model, "file", tmp_path).partial_fit(sp.csr_array(X[40:]), y[40:])
        model.partial_fit(sp.csr_array(X[40:]), y[40:])
        assert np.array_equal(numbers(model)["scores"], numbers(twin)["scores"]), name


def test_assigned_weights_are_gone_on_from(tmp_path):
    model = sx.AveragedPerceptron(random_state=0).fit(X, LABELS["two"])
    twin = stored(model, "file", tmp_path)
    twin.coef_ = twin.coef_.copy()
    assert np.isfinite(twin.partial_fit(X, LABELS["two"]).coef_).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_state_that_was_changed_is_refused(name, tmp_path):
    y = rows_of(name, {}, "two")
    path = sx.save(learner_class(name)().partial_fit(X, y), tmp_path / "m.sepx")
    content = path.read_bytes()
    for spoil in (
        lambda state, tensors: state["$dict"][0].__setitem__(1, '{"dict": []}'),
        lambda state, tensors: tensors.update(
            {k: v[..., :-1] for k, v in tensors.items() if k.startswith("state.stream")}
        ),
        lambda state, tensors: state["$dict"][0].__setitem__(
            1, state["$dict"][0][1].replace("separatrix.", "subprocess.")
        ),
        lambda state, tensors: state["$dict"][0].__setitem__(1, "[" * 2000 + "]" * 2000),
    ):
        path.write_bytes(content)
        tampered(path, lambda header, tensors, spoil=spoil: spoil(header["state"]["stream"], tensors))
        with pytest.raises(ModelFileError):
            sx.load(path)


@pytest.mark.parametrize("d", [300, 1000])
def test_pickles_of_wide_fits_hold_coefficients_and_those_of_narrow_ones_what_inference_needs(d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1300, d))
    y = X[:, 0] + rng.normal(size=1300)
    sides = np.where(y > 0, "b", "a")
    models = [
        sx.LeastSquares().fit(X, y),
        sx.LeastSquares(1.0).fit(X, y),
        sx.LeastSquaresClassifier(1.0).fit(X, sides),
        sx.LinearDiscriminant(shrinkage=0.1).fit(X, sides),
        sx.LogisticRegression(C=1.0).fit(X, sides),
        sx.AROW().fit(X, sides),
    ]
    for model in models:
        content = pickle.dumps(model)
        twin = pickle.loads(content)
        assert len(content) < (750_000 if d == 300 else 50 * d), model
        assert np.array_equal(twin.predict(X), model.predict(X))
    if d == 300:
        for model in models[:1]:
            assert str(pickle.loads(pickle.dumps(model)).summary()) == str(model.summary())
        assert pickle.loads(pickle.dumps(models[1])).sigma2_ == models[1].sigma2_
        np.testing.assert_allclose(pickle.loads(pickle.dumps(models[3])).whiten(X), models[3].whiten(X), atol=1e-9)
    else:
        with pytest.raises(DataError, match="left out when this model was stored"):
            pickle.loads(pickle.dumps(models[3])).whiten(X)
        twin = pickle.loads(pickle.dumps(models[3]))
        assert np.array_equal(twin.transform(X), models[3].transform(X))

"""Discriminants: published and exact references, oracles, theorems, exact chunks, singular covariances."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from scipy.stats import multivariate_normal
from sklearn import config_context
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.errors import CollinearWarning, DataError, NotFittedError, ParameterError

# The divisor of scikit-learn's "svd" discriminant and of its QDA: n - K and n_k - 1 before 1.9.1, n and n_k since.
VERSION = tuple(int(v) for v in sklearn.__version__.split(".")[:3])
THEIRS = "ml" if VERSION >= (1, 9, 1) else "unbiased"


def example(n, d, k, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    mix = rng.normal(size=(k, d, d))
    X = np.einsum("ij,ijk->ik", rng.normal(size=(n, d)), mix[y]) + 2 * rng.normal(size=(k, d))[y] + 5
    return X, np.array(["c", "a", "b", "d"])[y]


def iris(path):
    lines = [line.split(",") for line in path.read_text().split()[1:]]
    return np.array([[float(v) for v in line[:4]] for line in lines]), np.array([line[4] for line in lines])


def test_iris_to_twelve_digits(real_data):
    X, y = iris(real_data("iris.csv"))
    reference = json.loads(real_data("iris_lda_reference.json").read_text())
    exact = reference["recomputed"]
    model = sx.LinearDiscriminant(divisor="unbiased").fit(X, y)
    np.testing.assert_allclose(model.means_, np.array(exact["class_means"], dtype=float), rtol=1e-14)
    wanted = np.array(exact["pooled_covariance_divisor_147"], dtype=float)
    np.testing.assert_allclose(model.covariance_, wanted, rtol=1e-12)
    for k, name in enumerate(("LD1", "LD2")):
        direction = np.array(exact["linear_discriminants"][name], dtype=float)
        sign = np.sign(direction @ model.scalings_[:, k])
        np.testing.assert_allclose(sign * model.scalings_[:, k], direction, rtol=1e-12)
    np.testing.assert_allclose(
        model.explained_variance_ratio_, np.array(exact["proportion_of_trace"], dtype=float), rtol=1e-12
    )
    functions = exact["classification_functions"]  # scores up to what all classes share
    coef, intercept = np.array(functions["coef"], dtype=float), np.array(functions["intercept"], dtype=float)
    np.testing.assert_allclose(model.coef_[1:] - model.coef_[0], coef[1:] - coef[0], rtol=1e-12)
    np.testing.assert_allclose(model.intercept_[1:] - model.intercept_[0], intercept[1:] - intercept[0], rtol=1e-12)
    wrong = np.flatnonzero(model.predict(X) != y) + 1
    assert wrong.tolist() == [e["row"] for e in exact["resubstitution_errors"]]


def by_definition(X, y, priors, covariances):
    """Posteriors from densities, by Bayes, with scipy's normal density."""
    labels = np.unique(y)
    joint = np.column_stack(
        [
            np.log(p) + multivariate_normal(X[y == k].mean(axis=0), S).logpdf(X)
            for k, p, S in zip(labels, priors, covariances, strict=True)
        ]
    )
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


def pooled(X, y, divisor):
    parts = [X[y == k] - X[y == k].mean(axis=0) for k in np.unique(y)]
    S = sum(part.T @ part for part in parts)
    return S / (len(X) if divisor == "ml" else len(X) - len(parts))


@pytest.mark.parametrize("divisor", ["ml", "unbiased"])
@pytest.mark.parametrize("covariance", ["pooled", "spherical", "diagonal"])
@pytest.mark.parametrize("shrinkage", [None, 0.3])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_linear_posteriors_are_bayes(k, shrinkage, covariance, divisor):
    X, y = example(200, 5, k)
    S = pooled(X, y, divisor)
    if covariance == "spherical":
        S = np.eye(5) * np.trace(S) / 5
    elif covariance == "diagonal":
        S = np.diag(np.diag(S))
    if shrinkage:
        S = (1 - shrinkage) * S + shrinkage * np.trace(S) / 5 * np.eye(5)
    priors = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    model = sx.LinearDiscriminant(covariance=covariance, divisor=divisor, shrinkage=shrinkage, priors=priors)
    model.fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), by_definition(X, y, priors, [S] * k), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert np.array_equal(model.predict(X), model.classes_[model.predict_proba(X).argmax(axis=1)])
    np.testing.assert_allclose(model.covariance_, S, atol=1e-12)


@pytest.mark.parametrize("divisor", ["ml", "unbiased"])
@pytest.mark.parametrize("covariance", ["full", "spherical", "diagonal"])
@pytest.mark.parametrize("shrinkage", [None, 0.3])
@pytest.mark.parametrize("k", [2, 4])
def test_quadratic_posteriors_are_bayes(k, shrinkage, covariance, divisor):
    X, y = example(200, 4, k)
    covariances = []
    for label in np.unique(y):
        S = np.cov(X[y == label].T, ddof=0 if divisor == "ml" else 1)
        if covariance == "spherical":
            S = np.eye(4) * np.trace(S) / 4
        elif covariance == "diagonal":
            S = np.diag(np.diag(S))
        if shrinkage:
            S = (1 - shrinkage) * S + shrinkage * np.trace(S) / 4 * np.eye(4)
        covariances.append(S)
    model = sx.QuadraticDiscriminant(covariance=covariance, divisor=divisor, shrinkage=shrinkage).fit(X, y)
    priors = np.array([np.mean(y == label) for label in np.unique(y)])
    wanted = by_definition(X, y, priors, covariances)
    np.testing.assert_allclose(model.predict_log_proba(X), wanted, rtol=1e-10, atol=1e-10)
    scores = model.decision_function(X)
    for j, label in enumerate(model.classes_):
        Q, w, b = model.lifted(label)  # linear in x and xx'
        s = np.einsum("ij,jk,ik->i", X, Q, X) + X @ w + b
        if k > 2:
            np.testing.assert_allclose(s, scores[:, j], atol=1e-9)


class Unbiased:
    """The covariance of one class, scaled so that the average over classes has the divisor n - K."""

    def __init__(self, factor):
        self.factor = factor

    def get_params(self, deep=True):
        return {"factor": self.factor}

    def fit(self, X):
        self.covariance_ = self.factor * np.cov(X.T, ddof=0)
        return self


@pytest.mark.parametrize("k", [2, 3])
def test_scikit_learn_agrees(k):
    X, y = example(150, 4, k)
    unbiased = Unbiased(150 / (150 - k))
    for divisor, theirs in (
        (THEIRS, LinearDiscriminantAnalysis(solver="svd")),
        ("ml", LinearDiscriminantAnalysis(solver="lsqr")),
        ("unbiased", LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=unbiased)),
    ):
        theirs.fit(X, y)
        ours = sx.LinearDiscriminant(divisor=divisor).fit(X, y)
        np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10, atol=1e-10)
        if k == 2:
            np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-10)
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.4).fit(X, y)
    ours = sx.LinearDiscriminant(shrinkage=0.4).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10, atol=1e-10)
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    ours = sx.LinearDiscriminant(divisor=THEIRS).fit(X, y)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, atol=1e-12)
    theirs = QuadraticDiscriminantAnalysis().fit(X, y)
    ours = sx.QuadraticDiscriminant(divisor=THEIRS).fit(X, y)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10, atol=1e-10)


def test_ledoit_wolf_is_that_of_the_centred_rows():
    X, y = example(60, 20, 3)
    model = sx.LinearDiscriminant(shrinkage="ledoit-wolf").fit(X, y)
    centred = X - np.array([X[y == k].mean(axis=0) for k in model.classes_])[np.searchsorted(model.classes_, y)]
    S, share = ledoit_wolf(centred, assume_centered=True)
    assert model.shrinkage_ == pytest.approx(share, rel=1e-10)
    np.testing.assert_allclose(model.covariance_, S, atol=1e-11)
    quadratic = sx.QuadraticDiscriminant(shrinkage="ledoit-wolf").fit(sp.csr_array(X), y)
    for k, label in enumerate(quadratic.classes_):
        S, share = ledoit_wolf(X[y == label])
        assert quadratic.shrinkage_[k] == pytest.approx(share, rel=1e-10)
        np.testing.assert_allclose(quadratic.covariances_[k], S, atol=1e-11)


def test_two_classes_share_a_direction_with_least_squares():
    X, y = example(300, 6, 2)
    discriminant, squares = sx.LinearDiscriminant().fit(X, y), sx.LeastSquaresClassifier().fit(X, y)
    a, b = discriminant.coef_[0], squares.coef_[0]
    assert a @ b / np.linalg.norm(a) / np.linalg.norm(b) == pytest.approx(1, abs=1e-14)


def test_the_whitened_form():
    X, y = example(200, 4, 2)
    model = sx.LinearDiscriminant(divisor="unbiased").fit(X, y)
    z, means = model.whiten(X), model.whitened_means_
    np.testing.assert_allclose(means[0], -means[1], atol=1e-12)
    f = 2 * z @ means[1] + np.log(model.priors_[1] / model.priors_[0])
    np.testing.assert_allclose(f, model.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(pooled(z, y, "unbiased"), np.eye(4), atol=1e-12)
    three = sx.LinearDiscriminant().fit(*example(200, 4, 3))
    np.testing.assert_allclose(three.priors_ @ three.whitened_means_, 0, atol=1e-12)


def test_spherical_rule_of_the_book():
    X, y = example(100, 3, 2)
    model = sx.LinearDiscriminant(covariance="spherical").fit(X, y)
    minus, plus = model.means_
    variance, p = np.trace(pooled(X, y, "ml")) / 3, model.priors_[1]
    bound = -variance * np.log(p / (1 - p)) + (plus @ plus - minus @ minus) / 2
    assert np.array_equal(model.predict(X) == model.classes_[1], X @ (plus - minus) >= bound)


@pytest.mark.parametrize("learner", [sx.LinearDiscriminant, sx.QuadraticDiscriminant])
@pytest.mark.parametrize("k", [2, 4])
def test_chunks_give_the_same_bits_and_classes_may_come_late(learner, k):
    X, y = example(700, 5, k)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    whole, parts = learner().fit(X, y), learner()
    for chunk in np.array_split(np.arange(700), 23):
        parts.partial_fit(X[chunk], y[chunk])
    assert np.array_equal(whole.decision_function(X), parts.decision_function(X))
    assert np.array_equal(whole.means_, parts.means_)


@pytest.mark.parametrize("learner", [sx.LinearDiscriminant, sx.QuadraticDiscriminant])
def test_rows_that_do_not_suffice_yet_say_so(learner):
    X, y = example(100, 3, 2)
    model = learner().partial_fit(X[:1], y[:1])
    with pytest.raises(DataError, match=r"do not determine the discriminant: .*class"):
        model.predict(X)
    model.partial_fit(X[1:], y[1:])
    np.testing.assert_allclose(model.predict_proba(X), learner().fit(X, y).predict_proba(X))


@pytest.mark.parametrize("learner", [sx.LinearDiscriminant, sx.QuadraticDiscriminant])
def test_weights_sparse_and_single_precision(learner):
    X, y = example(150, 4, 3)
    c = np.random.default_rng(99).integers(0, 3, 150)
    twice = np.repeat(np.arange(150), c)
    one, two = learner().fit(X, y, sample_weight=c), learner().fit(X[twice], y[twice])
    np.testing.assert_allclose(one.predict_log_proba(X), two.predict_log_proba(X), rtol=1e-9, atol=1e-10)
    X = X.astype(np.float32)
    dense, sparse = learner().fit(X, y), learner().fit(sp.csr_array(X), y)
    np.testing.assert_allclose(dense.predict_proba(X), sparse.predict_proba(sp.csr_array(X)), atol=1e-10)


def test_constant_columns_do_not_matter_to_the_linear_one(real_data):
    rows = np.loadtxt(real_data("digits.csv"), delimiter=",", skiprows=1)
    X, y = rows[:, :-1], rows[:, -1].astype(int)
    model = sx.LinearDiscriminant().fit(X, y)
    assert model.rank_ == 61  # three pixels are never inked
    assert not model.coef_[:, [0, 32, 39]].any()
    some = X.std(axis=0) > 0
    np.testing.assert_allclose(
        model.predict_proba(X), sx.LinearDiscriminant().fit(X[:, some], y).predict_proba(X[:, some]), atol=1e-9
    )
    with pytest.raises(DataError, match=r"class 0 has a singular covariance: column 0, .* set shrinkage"):
        sx.QuadraticDiscriminant().fit(X, y)
    assert sx.QuadraticDiscriminant(shrinkage="ledoit-wolf").fit(X, y).score(X, y) > 0.98


def test_dependent_columns_leave_posteriors_alone():
    X, y = example(200, 4, 3)
    both = np.column_stack([X, X[:, 0] - 3 * X[:, 2]])
    with pytest.warns(CollinearWarning, match="column 0, column 2 and column 4 are linearly dependent"):
        model = sx.LinearDiscriminant().fit(both, y)
    np.testing.assert_allclose(model.predict_proba(both), sx.LinearDiscriminant().fit(X, y).predict_proba(X), atol=1e-9)
    assert model.rank_ == 4


def test_directions_in_which_only_classes_differ_are_an_error():
    pd = pytest.importorskip("pandas")
    X, y = example(100, 3, 2)
    frame = pd.DataFrame(X, columns=["age", "height", "leak"])
    frame["leak"] = (y == "c") * 1.0
    with pytest.raises(DataError, match=r"the classes differ along column 2 \('leak'\)"):
        sx.LinearDiscriminant().fit(frame, y)
    frame["leak"] += frame["age"]
    with pytest.raises(DataError, match=r"column 0 \('age'\) and column 2 \('leak'\) in a direction"):
        sx.LinearDiscriminant().fit(frame, y)
    assert sx.LinearDiscriminant(shrinkage=0.1).fit(frame, y).score(frame, y) > 0.9


def test_bad_options_and_rows():
    X, y = example(50, 3, 2)
    for options, message in [
        ({"covariance": "round"}, "covariance is"),
        ({"divisor": 3}, "divisor is"),
        ({"shrinkage": 1.5}, "shrinkage is"),
        ({"shrinkage": "much"}, "shrinkage is"),
        ({"priors": [0.5, 0.6]}, "sum to 1"),
        ({"priors": [0.0, 1.0]}, "above zero"),
        ({"priors": [0.2, 0.3, 0.5]}, "one for each"),
    ]:
        for learner in (sx.LinearDiscriminant, sx.QuadraticDiscriminant):
            model = learner(**options)
            with pytest.raises(ParameterError, match=message):
                model.fit(X, y)
            assert not hasattr(model, "classes_")
    with pytest.raises(ParameterError, match="all rows at once"):
        sx.LinearDiscriminant(shrinkage="ledoit-wolf").partial_fit(X, y)
    y[:] = "a"
    y[7] = "b"
    with pytest.raises(DataError, match="class 'b' has one row"):
        sx.QuadraticDiscriminant().fit(X, y)
    y[8] = "b"
    with pytest.raises(DataError, match="class 'b' has 2 rows, and a covariance of 3 columns needs at least 4"):
        sx.QuadraticDiscriminant().fit(X, y)
    with pytest.raises(DataError, match="more rows than classes"):
        sx.LinearDiscriminant(divisor="unbiased").fit(X[:2], ["a", "b"])
    with pytest.raises(ParameterError, match="label is 'zz'"):
        sx.QuadraticDiscriminant(shrinkage=0.5).fit(X, y).lifted("zz")
    model = sx.LinearDiscriminant().fit(X, y)
    kept = model.coef_.copy()
    with pytest.raises(DataError):
        model.fit(X, np.full(50, "a"))
    assert np.array_equal(model.coef_, kept)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_projections_as_frames(kind):
    library = pytest.importorskip(kind)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) + 2 * rng.normal(size=(3, 4))[y]
    model = sx.LinearDiscriminant().fit(X, y)
    names = ["lineardiscriminant0", "lineardiscriminant1"]
    assert model.get_feature_names_out().tolist() == names
    plain = model.transform(X)
    assert isinstance(plain, np.ndarray)
    frame = model.set_output(transform=kind).transform(X)
    assert isinstance(frame, library.DataFrame)
    assert list(frame.columns) == names
    assert np.array_equal(frame.to_numpy(), plain)
    assert np.array_equal(clone(model).set_output(transform=kind).fit_transform(X, y).to_numpy(), plain)
    if kind == "pandas":
        rows = library.DataFrame(X, index=np.arange(100, 160))
        assert list(sx.LinearDiscriminant().set_output(transform=kind).fit(rows, y).transform(rows).index) == list(
            rows.index
        )
    with config_context(transform_output=kind):
        assert list(sx.LinearDiscriminant().fit(X, y).transform(X).columns) == names
    with pytest.raises(ParameterError, match="transform is 'excel'"):
        model.set_output(transform="excel")
    with pytest.raises(NotFittedError):
        sx.LinearDiscriminant().get_feature_names_out()


def test_projections_in_a_pipeline_keep_their_names():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = rng.normal(size=(60, 4)) + 2 * rng.normal(size=(3, 4))[y]
    steps = make_pipeline(sx.LinearDiscriminant(), sx.LeastSquares()).set_output(transform="pandas")
    steps.fit(X, y.astype(float))
    assert list(steps[-1].feature_names_in_) == ["lineardiscriminant0", "lineardiscriminant1"]


def test_a_saved_discriminant_whitens_and_does_not_forget_its_rows_in_silence(tmp_path):
    X, y = example(80, 3, 3)
    model = sx.LinearDiscriminant().fit(X, y)
    twin = sx.load(sx.save(model, tmp_path / "m.sepx"))
    assert np.array_equal(twin.whiten(X), model.whiten(X))
    assert np.array_equal(twin.whitened_means_, model.whitened_means_)
    assert np.array_equal(twin.transform(X), model.transform(X))
    quadratic = sx.load(sx.save(sx.QuadraticDiscriminant().fit(X, y), tmp_path / "q.sepx"))
    for loaded in (twin, quadratic):
        before = loaded.predict_proba(X)
        with pytest.raises(DataError, match="stored without the state"):
            loaded.partial_fit(X, y)
        assert np.array_equal(loaded.predict_proba(X), before)

"""What a logistic fit says and does where no maximum exists, or where columns are linearly dependent."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.models.logistic.test_logistic import SEPARATED, overlapping, quiet, table

import separatrix as sx
from separatrix.errors import (
    CollinearWarning,
    LocalMaximumWarning,
    SeparationError,
    SeparationWarning,
)


def test_what_on_separation_says_is_done():
    X, y = SEPARATED
    with pytest.raises(SeparationError, match="completely separated: 'x0' tends to"):
        sx.LogisticRegression(on_separation="raise").fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = sx.LogisticRegression(on_separation="ignore").fit(X, y)
    assert kept.status_ is sx.numerics.Status.NO_MAXIMUM
    assert "stopped" in kept.method_
    assert kept.score(X, y) == 1.0
    with pytest.warns(SeparationWarning, match="a ridge"):
        ridge = sx.LogisticRegression(on_separation="ridge").fit(X, y)
    scaled = sx.LogisticRegression(C=1.0).fit(X / X.std(), y)
    np.testing.assert_allclose(ridge.coef_, scaled.coef_ / X.std(), rtol=1e-5)
    with pytest.warns(SeparationWarning, match="Firth"):
        firth = sx.LogisticRegression(on_separation="firth").fit(X, y)
    plain = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    np.testing.assert_allclose(firth.coef_, plain.coef_, rtol=1e-10)


def test_a_row_of_weight_zero_does_not_hide_separation():
    X, y = SEPARATED
    X, y = np.vstack([X, [[5.0]], [[-5.0]]]), np.append(y, [0, 1])
    assert sx.LogisticRegression().fit(X, y).separation_.verdict == "overlap"
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression().fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])
    assert model.separation_.verdict == "complete"
    assert set(model.separation_.evidence.strict_rows.tolist()) == {0, 1, 2, 3}


def test_one_against_rest_says_which_class_is_separated(real_data):
    X, y = table(real_data, "iris")
    with pytest.warns(SeparationWarning, match="class 'setosa' against the rest") as told:
        model = sx.LogisticRegression(multiclass="ovr").fit(X, y)
    assert len(told) == 1
    assert {k: v.verdict for k, v in model.separation_.items()} == {
        "setosa": "complete",
        "versicolor": "overlap",
        "virginica": "overlap",
    }
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_verdicts_agree_with_separability_on_small_grids():
    rng = np.random.default_rng(11)
    seen = set()
    for _ in range(150):
        n, d, classes = int(rng.integers(5, 25)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        X, y = rng.integers(-2, 3, (n, d)).astype(float), rng.integers(0, classes, n)
        if len(np.unique(y)) < 2:
            continue
        kind = {"multiclass": "kesler"} if len(np.unique(y)) > 2 else {}
        truth = sx.separability(X, y, **kind).verdict
        model = quiet(sx.LogisticRegression(), X, y)
        assert model.separation_.verdict == truth
        assert (model.status_ is sx.numerics.Status.NO_MAXIMUM) == (truth != "overlap")
        assert np.isfinite(model.coef_).all()
        seen.add(truth)
    assert seen == {"complete", "quasi", "overlap"}


@pytest.mark.parametrize("options", [{}, {"bias_reduction": "firth"}])
def test_dependent_columns_get_the_shortest_answer_and_are_named(options):
    X, y = overlapping(200, 2)
    wide = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": X[:, 0] + 2 * X[:, 1], "one": np.ones(200)})
    with pytest.warns(CollinearWarning, match="'a', 'b', 'c', 'one'"):
        model = sx.LogisticRegression(**options).fit(wide, y)
    plain = sx.LogisticRegression(**options).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-10)
    null = np.array([[1, 2, -1, 0], [0, 0, 0, 1.0]])
    np.testing.assert_allclose(null @ model.coef_[0], 0, atol=1e-10)
    assert model.unidentifiable_ == ("a", "b", "c", "one")
    ours, theirs = model.summary(), plain.summary()
    assert ours.marks == {"c": "aliased", "one": "aliased"}
    assert np.isnan(ours["c"].coef)
    assert "aliased" in str(ours)
    kept = [0, 1, 4]  # a, b and the intercept, as R has them without c and one
    for column in ("coef", "std_err", "stat", "p", "low", "high"):
        np.testing.assert_allclose(getattr(ours, column)[kept], getattr(theirs, column), rtol=1e-6, atol=1e-12)
    assert (ours.lr_statistic, ours.lr_df) == (pytest.approx(theirs.lr_statistic), theirs.lr_df)


def test_the_likelihood_of_nearly_dependent_columns_is_that_of_the_coefficients():
    """Columns that are left out differ from combinations by up to half the digits, which coefficients multiply."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        Z = rng.normal(size=(80, 5)) * [1e-2, 1, 10, 0.1, 1]
        X = np.column_stack([Z, Z @ rng.normal(size=(5, 2))])
        X *= 1 + 1e-8 * rng.normal(size=X.shape)
        y = (Z[:, 1] + rng.logistic(size=80) > 0).astype(int)
        with pytest.warns(CollinearWarning):
            model = sx.LogisticRegression().fit(X, y)
        scores = X @ model.coef_[0] + model.intercept_
        loglik = -np.logaddexp(0, np.where(y == 1, -scores, scores)).sum()
        assert model.loglik_ == pytest.approx(loglik, rel=1e-10)
        assert model.summary().marks


@pytest.mark.parametrize("seed", [277, 374, 661, 800, 2106])
def test_large_coefficients_of_nearly_dependent_columns_have_a_summary(seed):
    """They multiply the rounding errors of a last step, which are no change of the rows."""
    rng = np.random.default_rng(seed)
    n, k, q = int(rng.integers(15, 300)), int(rng.integers(2, 6)), int(rng.integers(1, 4))
    Z = rng.normal(size=(n, k)) * 10.0 ** rng.integers(-3, 4, k) + rng.choice([0, 10.0, 1000.0])
    X = np.column_stack([Z, Z @ rng.normal(size=(k, q)) + rng.choice([0, 1.0])])
    X *= 1 + 10.0 ** -rng.uniform(7, 10) * rng.normal(size=X.shape)
    target = rng.normal(size=n) + X[:, 0] / abs(X[:, 0]).max()
    y = (target > np.median(target) + 0.3 * rng.normal(size=n)).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on another machine the rounding errors are others
        model = sx.LogisticRegression().fit(X, y)
        if model.status_ is sx.numerics.Status.OPTIMAL:
            assert model.summary().loglik == pytest.approx(model.loglik_, rel=1e-7)


def test_one_class_against_the_rest_is_proved_on_the_classes_that_were_given():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = sx.LogisticRegression(multiclass="ovr", on_separation="ignore").fit(X, y)
    assert [e.verdict for e in model.separation_.values()] == ["complete", "overlap", "complete"]
    for existence in model.separation_.values():
        assert sx.verify(existence.certificate, X, y)


@pytest.mark.parametrize(("n", "d"), [(50_000, 5), (10_000, 5), (10_000, 20), (150_000, 4)])
@pytest.mark.parametrize("seed", range(3))
def test_many_separated_rows_get_firths_estimate_and_no_advice_about_their_columns(n, d, seed):
    """Margins of 1/n make likelihoods that are flat in one direction, where a search stalls by rounding."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) > 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = sx.LogisticRegression().fit(X, y)
    assert model.status_ is sx.numerics.Status.NO_MAXIMUM
    assert [w.category for w in caught if w.category is not LocalMaximumWarning] == [SeparationWarning]
    assert model.score(X, y) > 0.999
    p = model.predict_proba(X)[:, 1]
    Z = np.column_stack([X, np.ones(n)])
    w = p * (1 - p)
    information = Z.T @ (w[:, None] * Z)
    leverages = w * np.einsum("ij,jk,ik->i", Z, np.linalg.inv(information), Z)
    score = Z.T @ (y - p + leverages * (0.5 - p))
    assert score @ np.linalg.solve(information, score) < 1e-6  # in squared standard errors


def test_a_stalled_search_calls_columns_nearly_dependent_only_where_they_are():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = rng.integers(0, 2, 60)
    near = np.column_stack([X, X[:, 0] + 1e-7 * rng.normal(size=60)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for scale in 10.0 ** np.arange(-14, 15, 2.0):
            for C in (1e-8, 1.0, 1e12):
                sx.LogisticRegression(C=C, tol=None).fit(X * [1.0, scale, 1.0], y)
        independent = [str(w.message) for w in caught]
        caught.clear()
        for C in (1.0, 1e6, 1e12, np.inf):
            sx.LogisticRegression(C=C, tol=None).fit(near, y)
        dependent = [str(w.message) for w in caught]
    assert not any("dependent" in text for text in independent)
    assert all("condition" in text for text in dependent if "no step" in text or "few correct" in text)

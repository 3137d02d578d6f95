"""Marginal effects, probabilities and references of more than two classes, beside statsmodels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import ParameterError


def three(n=240, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "d": rng.integers(0, 2, n).astype(float)})
    score = X.to_numpy() @ np.array([[0.8, -0.5], [0.2, 0.6], [0.5, -0.4]])
    noisy = np.column_stack([np.zeros(n), score]) + rng.gumbel(size=(n, 3))
    return X, np.array(["ape", "bee", "cat"])[noisy.argmax(axis=1)]


def statsmodels_fit(X, codes):
    return sm.MNLogit(codes, X.assign(intercept=1.0)).fit(disp=0, method="newton", tol=1e-14)


@pytest.mark.parametrize("at", ["overall", "mean", "median", "zero"])
def test_marginal_effects_agree_with_statsmodels(at):
    X, y = three()
    ours = sx.LogisticRegression().fit(X, y).marginal_effects(at=at)
    theirs = statsmodels_fit(X, np.unique(y, return_inverse=True)[1]).get_margeff(at=at)
    assert ours.names == tuple(f"{c}:{name}" for c in ("ape", "bee", "cat") for name in "abd")
    np.testing.assert_allclose(ours["effect"].reshape(3, 3).T, theirs.margeff, rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(ours["std_err"].reshape(3, 3).T, theirs.margeff_se, rtol=1e-6)


def test_the_effect_of_a_dummy_is_a_difference():
    X, y = three()
    model = sx.LogisticRegression().fit(X, y)
    table = model.marginal_effects(dummy=True)
    P = [model.predict_proba(X.assign(d=value)).mean(axis=0) for value in (1.0, 0.0)]
    np.testing.assert_allclose([table[f"{c}:d"]["effect"] for c in model.classes_], P[0] - P[1], rtol=1e-9)
    summary, step, L = model.summary(), 1e-6, X.assign(one=1.0).to_numpy()

    def effect(coef):
        out = []
        for value in (1.0, 0.0):
            rows = np.where(np.arange(4) == 2, value, L)
            s = np.exp(np.column_stack([np.zeros(len(L)), rows @ coef.reshape(2, 4).T]))
            out.append((s / s.sum(axis=1, keepdims=True)).mean(axis=0))
        return out[0] - out[1]

    J = np.array([(effect(summary.coef + step * e) - effect(summary.coef - step * e)) / (2 * step) for e in np.eye(8)])
    errors = np.sqrt(np.diagonal(J.T @ summary.covariance @ J))
    np.testing.assert_allclose([table[f"{c}:d"]["std_err"] for c in model.classes_], errors, rtol=1e-6)


def test_probabilities_have_errors_by_the_delta_method():
    X, y = three()
    model = sx.LogisticRegression().fit(X, y)
    found = model.predict_table(X.head(4))
    P = model.predict_proba(X.head(4))
    np.testing.assert_allclose(found["mean"].reshape(3, 4).T, P, rtol=1e-12)
    summary = model.summary()
    row, step = np.append(X.iloc[1].to_numpy(), 1.0), 1e-6

    def chance(coef):
        s = np.concatenate([[0.0], coef.reshape(2, 4) @ row])
        return np.exp(s) / np.exp(s).sum()

    J = np.array([(chance(summary.coef + step * e) - chance(summary.coef - step * e)) / (2 * step) for e in np.eye(8)])
    errors = np.sqrt(np.diagonal(J.T @ summary.covariance @ J))
    np.testing.assert_allclose(found["std_err"].reshape(3, 4)[:, 1], errors, rtol=1e-6)
    assert ((found["low"] < found["mean"]) & (found["mean"] < found["high"])).all()


def test_effects_of_a_fit_with_an_offset_are_those_of_its_rows():
    X, y = three()
    y = (y == "cat").astype(int)
    shift = np.linspace(-1, 1, len(X))
    model = sx.LogisticRegression().fit(X, y, offset=shift)
    p = model.predict_proba(X, offset=shift)[:, 1]
    np.testing.assert_allclose(model.marginal_effects()["effect"], (p * (1 - p)).mean() * model.coef_[0], rtol=1e-10)


@pytest.mark.parametrize("reference", ["ape", "bee", "cat"])
def test_the_reference_is_the_one_that_was_chosen(reference):
    X, y = three()
    model = sx.LogisticRegression(reference=reference).fit(X, y)
    others = [c for c in ("ape", "bee", "cat") if c != reference]
    assert model.classes_.tolist() == [reference, *others]
    summary = model.summary()
    assert summary.outcome == f"log-odds against {reference}"
    codes = np.array([[reference, *others].index(c) for c in y])
    theirs = statsmodels_fit(X, codes)
    np.testing.assert_allclose(summary.coef, theirs.params.to_numpy().T.ravel(), rtol=1e-6)
    np.testing.assert_allclose(summary.std_err, theirs.bse.to_numpy().T.ravel(), rtol=1e-6)
    plain = sx.LogisticRegression().fit(X, y)
    assert (model.predict(X) == plain.predict(X)).all()


def test_the_positive_class_of_two():
    X, y = three()
    y = np.where(y == "cat", "no", "yes")
    plain, turned = sx.LogisticRegression().fit(X, y), sx.LogisticRegression(positive="no").fit(X, y)
    np.testing.assert_allclose(turned.coef_, -plain.coef_, rtol=1e-9)
    assert turned.summary().outcome == "log-odds of no against yes"
    assert sx.LogisticRegression(reference="yes").fit(X, y).classes_.tolist() == ["yes", "no"]
    for wrong, message in [
        ({"positive": "maybe"}, "positive is 'maybe', which is not a class of y"),
        ({"reference": 3}, "reference is 3"),
        ({"reference": "no", "positive": "no"}, "one follows from the other"),
    ]:
        with pytest.raises(ParameterError, match=message):
            sx.LogisticRegression(**wrong).fit(X, y)
    with pytest.raises(ParameterError, match="choose the reference instead"):
        sx.LogisticRegression(positive="cat").fit(X, three()[1])


def test_a_formula_has_terms_of_all_classes(tmp_path):
    X, y = three()
    model = sx.LogisticRegression.from_formula("y ~ a + d", X.assign(y=y), reference="cat")
    assert model.wald_test("d = 0").df == 2
    sx.save(model, tmp_path / "model.sepx")
    again = sx.load(tmp_path / "model.sepx")
    assert again.reference == "cat"
    assert str(again.summary()) == str(model.summary())

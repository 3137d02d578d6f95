"""Logistic regression against published and computed estimates, on real data."""

from __future__ import annotations

import json

import flint
import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from tests.models.logistic.test_logistic import quiet, table

import separatrix as sx
from separatrix.errors import (
    SeparationWarning,
)


@pytest.fixture(scope="module")
def reference(real_data):
    return json.loads(real_data("logistic_reference.json").read_text())["entries"]


def numbers(block, names):
    at = {name: k for k, name in enumerate(block["parameters"])}
    return tuple(np.array([float(block[key][at[n]]) for n in names]) for key in ("estimate", "se"))


@pytest.mark.parametrize("name", ["banknote", "titanic_numeric", "spambase"])
def test_estimates_to_ten_digits_and_errors_to_eight(reference, real_data, name):
    X, y = table(real_data, name)
    model = sx.LogisticRegression().fit(X, y)
    estimate, error = numbers(reference[name]["computed_ml"], [*X.columns, "intercept"])
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-11)
    assert model.loglik_ == pytest.approx(float(reference[name]["computed_ml"]["loglik"]), rel=1e-12)
    assert model.status_ is sx.numerics.Status.OPTIMAL
    assert model.separation_.verdict == "overlap"
    assert model.separation_.by == "bound"
    rows = model.summary().coefficients
    np.testing.assert_allclose([row.std_err for row in rows], error, rtol=1e-9)


def test_endometrial_is_told_and_answered(reference, real_data):
    X, y = table(real_data, "endometrial")
    with pytest.warns(SeparationWarning, match=r"quasi-completely separated: 'NV' tends to \+∞\. Fitted Firth") as told:
        model = sx.LogisticRegression().fit(X, y)
    assert len(told) == 1
    assert model.status_ is sx.numerics.Status.NO_MAXIMUM
    assert "Firth" in model.method_
    assert dict(model.separation_.coefficients) == {
        "NV": "+inf",
        "PI": "finite",
        "EH": "finite",
        "intercept": "finite",
    }
    assert model.separation_.certificate.claim == "quasi"
    names = [*X.columns, "intercept"]
    estimate, error = numbers(reference["endometrial"]["computed_firth"], names)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-12)
    published = reference["endometrial"]["published"]["firth_mean_bias_reduction"]
    summary = model.summary()
    assert summary.intervals == "profile"
    assert summary["NV"].p == pytest.approx(0.0091, abs=5e-5)  # logistf 1.26
    for name, row in zip(names, summary.coefficients, strict=True):
        assert round(row.coef, 5) == published["estimate"][name]
        assert round(row.std_err, 5) == published["se"][name]
    np.testing.assert_allclose([row.std_err for row in summary.coefficients], error, rtol=1e-10)
    ends = reference["endometrial"]["published"]["firth_logistf"]["profile_penalized_likelihood_95ci"]
    for name in names:
        # logistf's own search ends within about 1e-5
        np.testing.assert_allclose([summary[name].low, summary[name].high], ends[name], rtol=3e-5)


def test_the_finite_part_is_the_fit_on_the_tied_rows(reference, real_data):
    X, y = table(real_data, "endometrial")
    model = quiet(sx.LogisticRegression(), X, y)
    tied = model.separation_.evidence.tied_rows
    part = sx.LogisticRegression().fit(X.iloc[tied][["PI", "EH"]], y.iloc[tied])
    estimate, _ = numbers(reference["endometrial"]["computed_ml_limit"], ["PI", "EH", "intercept"])
    np.testing.assert_allclose(np.append(part.coef_, part.intercept_), estimate, rtol=1e-11)


def long_maximum(X, y, firth):
    """Estimates and errors by Newton's method, Firth's by scoring, in arithmetic of 400 bits."""
    flint.ctx.prec = 400
    Z = flint.arb_mat([[*map(repr, row), "1"] for row in X.to_numpy(float).tolist()])
    n, p = Z.nrows(), Z.ncols()
    theta = flint.arb_mat(p, 1)
    for _ in range(80 if firth else 20):
        s = Z * theta
        q = [1 / (1 + (-s[i, 0]).mid().exp()) for i in range(n)]
        WZ = flint.arb_mat([[q[i] * (1 - q[i]) * Z[i, j] for j in range(p)] for i in range(n)])
        inverse = (Z.transpose() * WZ).inv()
        hat = [
            sum((WZ[i, j] * v for j, v in enumerate(row)), flint.arb(0)) for i, row in enumerate((Z * inverse).tolist())
        ]
        r = flint.arb_mat([[t - q[i] + (hat[i] * (flint.arb("0.5") - q[i]) if firth else 0)] for i, t in enumerate(y)])
        theta = flint.arb_mat([[v.mid()] for (v,) in (theta + inverse * (Z.transpose() * r)).tolist()])
    flint.ctx.prec = 53
    return [float(v) for (v,) in theta.tolist()], [float(inverse[j, j]) ** 0.5 for j in range(p)]


def test_spector_has_the_estimates_and_errors_of_long_arithmetic(real_data):
    X, y = table(real_data, "spector")
    model = sx.LogisticRegression().fit(X, y)
    estimate, error = long_maximum(X, y.astype(int).tolist(), firth=False)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-11)
    np.testing.assert_allclose([row.std_err for row in model.summary().coefficients], error, rtol=1e-9)
    assert model.separation_.by == "bound"


def test_firth_on_overlapping_rows(real_data):
    X, y = table(real_data, "spector")
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    estimate, _ = long_maximum(X, y.astype(int).tolist(), firth=True)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), estimate, rtol=1e-11)
    assert model.separation_ is None
    assert model.method_ == "Firth"


def test_iris_gets_a_stated_finite_useful_answer(real_data):
    X, y = table(real_data, "iris")
    with pytest.warns(SeparationWarning, match="quasi-completely separated"):
        model = sx.LogisticRegression().fit(X, y)
    assert model.status_ is sx.numerics.Status.NO_MAXIMUM
    assert model.score(X, y) == 0.98
    assert np.abs(model.coef_).max() < 20
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("name", ["sms_spam_bow", "rcv1_small"])
def test_more_columns_than_rows_fall_back_to_a_ridge(real_data, name):
    X, y = load_svmlight_file(real_data(f"{name}.svm"))
    with pytest.warns(SeparationWarning, match="completely separated .*a ridge"):
        model = sx.LogisticRegression().fit(X.tocsr(), y)
    assert model.separation_.verdict == "complete"
    assert "ridge" in model.method_
    assert model.score(X, y) > 0.99


@pytest.mark.slow
def test_a9a_names_the_rare_dummies_that_separate(real_data):
    X, y = load_svmlight_file(real_data("a9a.svm"))
    with pytest.warns(SeparationWarning, match="'x12' tends to −∞, 'x88' tends to −∞, 'x122' tends to −∞"):
        model = sx.LogisticRegression().fit(X.tocsr(), y)
    assert len(model.unidentifiable_) >= 81
    assert model.score(X, y) > 0.849

"""FLIC and FLAC beside the published output of logistf, and beside maximum likelihood on the augmented rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import InferenceError, ParameterError

# The urinary tract infections of Foxman and others (1997), the data sex2 of logistf, as counts of equal rows.
SEX2 = """0000010:1 0001000:2 0001010:1 0001100:8 0001110:18 0010000:42 0010010:1 0011000:1 0011100:5 0011110:6
0101100:2 0101110:4 0110000:14 0110010:1 0111000:1 0111110:2 1000010:1 1001000:14 1001010:3 1001100:10 1001110:12
1001111:1 1010000:44 1010001:3 1011000:15 1011001:1 1011010:2 1011100:7 1011110:3 1101000:2 1101010:1 1101011:1
1101100:1 1101111:1 1110000:5 1111000:3"""
NAMES = ["age", "oc", "vic", "vicl", "vis", "dia"]
# Rounded as the snapshots of easystats/parameters (tests/testthat/_snaps, model_parameters.logistf.md) print logistf's.
PUBLISHED = {
    "firth": {
        "coef": [-1.11, -0.07, 2.27, -2.11, -0.79, 3.10, 0.12],
        "low": [-1.97, -0.94, 1.27, -3.26, -1.61, 0.77, -0.82],
        "high": [-0.31, 0.79, 3.44, -1.12, 0.02, 8.03, 1.07],
        "stat": [7.51, 0.02, 22.93, 19.10, 3.70, 7.90, 0.06],
    },
    "flic": {
        "coef": [-1.11, -0.07, 2.27, -2.11, -0.79, 3.10, 0.13],
        "low": [-1.97, -0.94, 1.27, -3.26, -1.61, 0.77, -0.82],
        "high": [-0.31, 0.79, 3.44, -1.12, 0.02, 8.03, 1.08],
        "stat": [7.51, 0.02, 22.93, 19.10, 3.70, 7.90],  # of the intercept logistf tests with known slopes
    },
    "flac": {
        "coef": [-1.10, -0.07, 2.28, -2.11, -0.79, 3.18, 0.12],
        "std_err": [0.42, 0.43, 0.54, 0.53, 0.41, 1.53, 0.48],
        "low": [-1.95, -0.93, 1.29, -3.24, -1.60, 0.87, -0.81],
        "high": [-0.31, 0.79, 3.43, -1.13, 0.01, 7.99, 1.07],
        "stat": [7.55, 0.02, 23.37, 19.45, 3.74, 8.54, 0.07],
    },
}


def infections():
    rows = [(list(map(int, bits)), int(count)) for bits, count in (cell.split(":") for cell in SEX2.split())]
    whole = np.repeat([bits for bits, _ in rows], [count for _, count in rows], axis=0)
    return pd.DataFrame(whole[:, 1:].astype(float), columns=NAMES), whole[:, 0]


def test_the_data_are_the_published_ones():
    X, y = infections()
    assert (len(X), int(y.sum())) == (239, 130)
    model = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    published = [-1.10598130, -0.06881673, 2.26887464, -2.11140816, -0.78831694, 3.09601263]  # ?logistf
    np.testing.assert_allclose(model.coef_[0], published, atol=2e-6)


@pytest.mark.parametrize("kind", ["firth", "flic", "flac"])
def test_summaries_have_the_printed_digits_of_logistf(kind):
    X, y = infections()
    model = sx.LogisticRegression(bias_reduction=kind).fit(X, y)
    summary = model.summary()
    assert summary.intervals == "profile"
    for name, printed in PUBLISHED[kind].items():
        np.testing.assert_allclose(getattr(summary, name)[: len(printed)], printed, atol=0.0051, err_msg=name)
    sums = model.predict_proba(X).sum(axis=0)
    if kind == "firth":
        assert abs(sums[1] - 130) > 1e-3
    else:
        np.testing.assert_allclose(sums, [109, 130], rtol=1e-9)
        assert kind.upper() in str(summary)
    twin = pickle.loads(pickle.dumps(model))
    assert str(twin.summary()) == str(summary)


def test_flac_is_maximum_likelihood_on_the_augmented_rows():
    X, y = infections()
    firth = sx.LogisticRegression(bias_reduction="firth").fit(X, y)
    design = np.column_stack([X, np.ones(len(X))])
    p = firth.predict_proba(X)[:, 1]
    h = p * (1 - p) * np.einsum("ij,jk,ik->i", design, firth.summary(intervals="wald").covariance, design)
    rows = np.column_stack([np.tile(design, (3, 1)), np.repeat([0.0, 1.0], [239, 478])])
    weights = np.concatenate([np.ones(239), h / 2, h / 2])
    family = sm.families.Binomial()
    theirs = sm.GLM(np.concatenate([y, y, 1 - y]), rows, family=family, freq_weights=weights).fit(tol=1e-14)
    ours = sx.LogisticRegression(bias_reduction="flac").fit(X, y).summary(intervals="wald")
    np.testing.assert_allclose(ours.coef, theirs.params[:-1], rtol=1e-7)
    np.testing.assert_allclose(ours.std_err, theirs.bse[:-1], rtol=1e-7)


def test_weights_are_repeated_rows():
    X, y = infections()
    table, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
    whole = sx.LogisticRegression(bias_reduction="flac").fit(X.to_numpy(), y)
    few = sx.LogisticRegression(bias_reduction="flac").fit(table[:, :-1], table[:, -1], sample_weight=counts)
    np.testing.assert_allclose(few.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_allclose(few.summary().low, whole.summary().low, rtol=1e-6)


def test_what_the_corrections_do_not_do_gets_one_sentence():
    X, y = infections()
    flac = sx.LogisticRegression(bias_reduction="flac").fit(X, y)
    for call in (flac.anova, flac.drop1):
        with pytest.raises(InferenceError, match="pseudo-rows of FLAC"):
            call()
    with pytest.raises(ParameterError, match="for two classes"):
        sx.LogisticRegression(bias_reduction="flac").fit(X, np.arange(239) % 3)
    with pytest.raises(ParameterError, match="flac needs an intercept"):
        sx.LogisticRegression(bias_reduction="flac", fit_intercept=False).fit(X, y)
    rows = X.assign(y=y)
    for kind in ("flic", "flac"):
        with pytest.raises(ParameterError, match=f"leave {kind} out .alone it is that of maximum likelihood"):
            sx.LogisticRegression.from_formula("y ~ 1", rows, bias_reduction=kind)
    alone = sx.LogisticRegression.from_formula("y ~ 1", rows, bias_reduction="firth").summary()
    assert alone.coef[0] == pytest.approx(np.log(130.5 / 109.5), rel=1e-9)  # half a row more of each class
    assert (alone.lr_statistic, alone.lr_df) == (0.0, 0)
    assert "likelihood ratio 0" not in str(alone)
    assert flac.wald_test("vic = 0").p < 1e-4
    assert flac.marginal_effects().names == tuple(NAMES)


def test_three_classes_have_a_summary_with_flic():
    X, y = infections()
    model = sx.LogisticRegression(bias_reduction="flic").fit(X[["age", "oc"]], y + (np.arange(239) % 2))
    summary = model.summary()
    z = summary.coef / summary.std_err
    for j in (2, 5):  # intercepts
        assert summary.stat[j] == pytest.approx(z[j] ** 2)

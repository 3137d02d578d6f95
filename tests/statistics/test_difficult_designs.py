"""Empty cells, unused levels, dropped rows, few clusters: what a statistician meets on the day."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.stats import chi2

import separatrix as sx
from separatrix.errors import DataError, DroppedRowsWarning, InferenceError, ParameterError
from separatrix.numerics.gram_matrix import first_pivots

linear, logistic = sx.LeastSquares.from_formula, sx.LogisticRegression.from_formula


def trial(n=140, seed=3):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.normal(60, 8, n), "ward": rng.choice(list("ABC"), n), "dose": rng.normal(size=n)})
    data["sex"] = rng.choice(["f", "m"], n)
    data["centre"] = rng.integers(0, 2, n)
    score = 0.05 * (data["age"] - 60) + 0.7 * (data["ward"] == "A") + 0.5 * data["dose"]
    data["sick"] = (score + rng.logistic(size=n) > 0).astype(int)
    data["days"] = score + rng.normal(size=n)
    return data


def with_empty_cell():
    data = trial()
    return data[~((data["ward"] == "C") & (data["sex"] == "m"))]


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_an_empty_cell_leaves_one_coefficient_out():
    """As R: NA for the aliased one, tests on the degrees of freedom that are left."""
    data = with_empty_cell()
    empty = "ward[T.C]:sex[T.m]"
    smaller = smf.logit("sick ~ ward + sex + age", data).fit(disp=0, tol=1e-14)
    by_hand = data.assign(both=(data["ward"] == "B") & (data["sex"] == "m")).astype({"both": float})
    whole = smf.logit("sick ~ ward + sex + age + both", by_hand).fit(disp=0, tol=1e-14)
    without_age = smf.logit("sick ~ ward + sex + both", by_hand).fit(disp=0, tol=1e-14)
    model = logistic("sick ~ ward * sex + age", data)
    assert model.summary().marks == {empty: "aliased"}
    table = model.drop1()
    assert table.names == ("<none>", "age", "ward:sex")  # ward and sex are part of ward:sex
    np.testing.assert_allclose(table["aic"], [whole.aic, without_age.aic, smaller.aic], rtol=1e-9)
    assert table["df"][1:].tolist() == [1, 1]
    last = model.anova()["stat"][-1]
    assert last == pytest.approx(2 * (whole.llf - smaller.llf), rel=1e-6)
    assert model.anova()["p"][-1] == pytest.approx(chi2.sf(last, 1), rel=1e-9)
    assert "aliased columns are left out of every model" in str(table)


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_predictions_of_an_empty_cell_are_refused_and_all_others_given():
    data = with_empty_cell()
    by_hand = data.assign(both=(data["ward"] == "B") & (data["sex"] == "m")).astype({"both": float})
    model = linear("days ~ ward * sex + age", data)
    theirs = smf.ols("days ~ ward + sex + age + both", by_hand).fit().get_prediction(by_hand.head(9))
    frame = theirs.summary_frame(alpha=0.1)
    ours = model.predict_table(data.head(9), level=0.9)
    for mine, other in {
        "mean": "mean",
        "std_err": "mean_se",
        "low": "mean_ci_lower",
        "new_high": "obs_ci_upper",
    }.items():
        np.testing.assert_allclose(ours[mine], frame[other], rtol=1e-9)
    np.testing.assert_allclose(model.predict_interval(data.head(9), level=0.9)[1], frame["obs_ci_upper"], rtol=1e-9)
    empty = data.head(2).assign(ward=["A", "C"], sex="m")
    for fitted in (model, logistic("sick ~ ward * sex + age", data)):
        assert len(fitted.predict_table(data.head(3))["mean"]) == 3
        with pytest.raises(InferenceError, match="row 1 breaks the linear dependence"):
            fitted.predict_table(empty)


def test_levels_that_do_not_occur_are_no_levels():
    """R's lm drops unused levels; the reference is the first that occurs, also after rows were dropped."""
    data = trial()
    data["ward"] = pd.Categorical(data["ward"], categories=["never", "A", "B", "C", "nor this"])
    for model in (linear("days ~ ward + age", data), logistic("sick ~ ward + age", data)):
        assert list(model.feature_names_in_) == ["ward[T.B]", "ward[T.C]", "age"]
        assert model.references_ == {"ward": "A"}
        with pytest.raises(DataError, match="the level 'never'"):
            model.predict(pd.DataFrame({"ward": ["never"], "age": [50.0]}))
    text = trial()
    text.loc[text["ward"] == "C", "age"] = np.nan
    model = linear("days ~ ward + age", text)
    assert list(model.feature_names_in_) == ["ward[T.B]", "age"]
    assert model.n_dropped_ == int((text["ward"] == "C").sum())


def test_ordered_factors_have_treatment_coding():
    data = trial()
    data["grade"] = pd.Categorical(np.arange(140) % 3, categories=[2, 0, 1], ordered=True)
    for model in (
        linear("days ~ grade", data),
        sx.LeastSquares(categorical="dummies").fit(data[["grade"]], data["days"]),
    ):
        assert list(model.feature_names_in_) == ["grade[T.0]", "grade[T.1]"]
        assert model.references_ == {"grade": "2"}


def test_groups_may_have_the_rows_that_were_dropped():
    data = trial()
    data.loc[[5, 70], "age"] = np.nan
    data["patient"] = np.arange(140) // 4
    data = data.drop(index=[0, 3, 50])
    used = data.dropna()
    options = {"cov_type": "cluster", "cov_kwds": {"groups": used["patient"]}}
    for ours, theirs in [
        (linear("days ~ age", data), smf.ols("days ~ age", used).fit(use_t=True, **options)),
        (logistic("sick ~ age", data), smf.logit("sick ~ age", used).fit(disp=0, tol=1e-14, **options)),
    ]:
        for groups in (data["patient"], used["patient"]):
            summary = ours.summary(covariance="cluster", groups=groups)
            np.testing.assert_allclose(summary.std_err[::-1], theirs.bse, rtol=1e-6)
            np.testing.assert_allclose(summary.p[::-1], theirs.pvalues, rtol=1e-6)
            assert "covariance of 35 groups" in str(summary)
            assert "2 rows" in str(summary)
        with pytest.raises(DataError, match="groups"):
            ours.summary(covariance="cluster", groups=data["patient"][:7])


def test_groups_beside_rows_without_weight_are_counted():
    data = trial()
    weights = np.where(np.arange(140) < 10, 0, 1)
    model = sx.LogisticRegression().fit(data[["age"]], data["sick"], sample_weight=weights)
    with pytest.raises(DataError, match="groups"):
        model.summary(covariance="cluster", groups=np.arange(200) // 4)


def test_two_clusters_have_errors_and_no_joint_test():
    data = trial()
    options = {"cov_type": "cluster", "cov_kwds": {"groups": data["centre"]}}
    ours = linear("days ~ age + dose", data)
    theirs = smf.ols("days ~ age + dose", data).fit(use_t=True, **options)
    summary = ours.summary(covariance="cluster", groups=data["centre"])
    np.testing.assert_allclose(np.roll(summary.std_err, 1), theirs.bse, rtol=1e-9)
    np.testing.assert_allclose(np.roll(summary.p, 1), theirs.pvalues, rtol=1e-8)
    assert summary.f_test is None
    assert "covariance of 2 groups: with so few" in str(summary)
    for model in (ours, logistic("sick ~ age + dose", data)):
        assert model.wald_test("age = 0", covariance="cluster", groups=data["centre"]).df == 1
        with pytest.raises(InferenceError, match="rank 1, too small to test 2 hypotheses together"):
            model.wald_test("age = 0, dose = 0", covariance="cluster", groups=data["centre"])


def test_rows_keep_their_names_when_others_are_dropped():
    data = trial()
    data.loc[[5, 70], "age"] = np.nan
    data = data.drop(index=[0, 3, 50])
    expected = [str(i) for i in data.index if i not in (5, 70)]
    for model in (linear("days ~ age", data), logistic("sick ~ age", data)):
        assert list(model.influence().names) == expected
        assert list(model.influence().to_frame().index) == [int(name) for name in expected]
    columns = data.to_dict("list")
    positions = [str(i) for i in range(137) if not np.isnan(columns["age"][i])]
    assert list(linear("days ~ age", columns).influence().names) == positions


@pytest.mark.parametrize("prove", [sx.separability, sx.margin, lambda *given: sx.fewest_mistakes(*given, max_nodes=5)])
def test_proofs_say_that_rows_were_left_out(prove):
    data = trial(30)
    data.loc[[2, 9], "age"] = np.nan
    with pytest.warns(DroppedRowsWarning, match="2 rows with missing values left out: the proof is about the other 28"):
        prove("sick ~ age + dose", data)


def test_scaled_weights_count_rows():
    data = trial()
    weights = np.random.default_rng(0).uniform(size=140)
    summary = (
        sx.LogisticRegression(weights="analytic").fit(data[["age"]], data["sick"], sample_weight=weights).summary()
    )
    assert (summary.n, summary.df_resid) == (140, 138)


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_terms_without_degrees_of_freedom_have_no_p():
    """As R: a term that is aliased, or a model with as many columns, leaves nothing to test."""
    data = pd.DataFrame({"a": [0.3, 1.1, -0.4, 2.2, 0.9, -1.3, 0.1, 1.7], "z": [0, 1, 0, 1, 0, 0, 1, 1]})
    data["twice"] = 2 * data["a"]
    model = logistic("z ~ a + twice", data)
    for table in (model.drop1(), model.anova()):
        assert table["df"][-1] == 0
        assert table["stat"][-1] == 0
        assert np.isnan(table["p"][-1])


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_a_model_of_a_constant_alone():
    """Its column is aliased, so that the summary has the intercept; nothing has an effect."""
    data = pd.DataFrame({"one": np.ones(8), "z": [0, 1, 0, 1, 0, 0, 1, 0]})
    model = logistic("z ~ one", data)
    alone = smf.logit("z ~ 1", data).fit(disp=0)
    summary = model.summary()
    assert summary.marks == {"one": "aliased"}
    assert summary.coef[-1] == pytest.approx(alone.params.iloc[0], rel=1e-9)
    assert summary.std_err[-1] == pytest.approx(alone.bse.iloc[0], rel=1e-9)
    with pytest.raises(InferenceError, match="no column varies: none has an effect"):
        model.marginal_effects()


def test_a_formula_without_anything():
    data = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]})
    for formula in ("y ~ 0", "y ~ -1"):
        with pytest.raises(ParameterError, match="neither terms nor an intercept: nothing is left to fit"):
            linear(formula, data)


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
@pytest.mark.parametrize("seed", [0, 3])
def test_columns_that_sum_to_one_but_for_rounding_leave_one_out(seed):
    """What is left of the last column is 1e-15 of it, above the limit at which columns before it were found."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.normal(size=240)})
    data["y"] = (data["x"] + rng.logistic(size=240) > 0).astype(int)
    for model in (linear("y ~ cr(x, df=4)", data), logistic("y ~ cr(x, df=4)", data)):
        summary = model.summary()
        assert list(summary.marks.values()) == ["aliased"]
        assert np.nanmax(summary.std_err) < 1e3
        assert summary.df_model == 3


def test_no_more_pivots_are_taken_than_the_rank():
    spread = np.eye(4)
    spread[:3, 3] = spread[3, :3] = 3**-0.5
    spread[3, 3] = 1 + 1e-13  # what rounding leaves of a combination of the others
    assert first_pivots(spread, 4).tolist() == [0, 1, 2, 3]
    assert first_pivots(spread, 3).tolist() == [0, 1, 2]

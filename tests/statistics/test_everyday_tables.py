"""Offsets, dummies without a formula, nested models, inflation of terms, influence on logistic fits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy.stats import f
from statsmodels.stats.anova import anova_lm

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ParameterError

# Plant weights of Annette Dobson (1990), ?lm in R: summary(lm(weight ~ group)) prints 5.0320 (0.2202),
# -0.3710 (0.3114), t -1.191, p 0.249, R-squared 0.07308, F 1.419 on 1 and 18 degrees of freedom.
PLANTS = pd.DataFrame(
    {
        "weight": [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14,
                   4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69],
        "group": ["Ctl"] * 10 + ["Trt"] * 10,
    }
)  # fmt: skip


def wards(n=160, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.normal(60, 8, n), "ward": rng.choice(list("CAB"), n), "dose": rng.normal(size=n)})
    score = 0.05 * (data["age"] - 60) + 0.7 * (data["ward"] == "A") + 0.5 * data["dose"]
    data["sick"] = (score + rng.logistic(size=n) > 0).astype(int)
    data["days"] = score + rng.normal(size=n)
    return data


def test_dummies_give_the_printed_output_of_R():
    model = sx.LeastSquares(categorical="dummies").fit(PLANTS[["group"]], PLANTS["weight"])
    summary = model.summary()
    assert summary.names == ("group[T.Trt]", "intercept")
    np.testing.assert_allclose(summary.coef, [-0.3710, 5.0320], atol=5e-5)
    np.testing.assert_allclose(summary.std_err, [0.3114, 0.2202], atol=5e-5)
    assert (summary.stat[0], summary.p[0]) == (pytest.approx(-1.191, abs=5e-4), pytest.approx(0.249, abs=5e-4))
    assert summary.r_squared == pytest.approx(0.07308, abs=5e-6)
    assert summary.f_test.statistic == pytest.approx(1.419, abs=5e-4)
    assert "reference levels: group = Ctl" in str(summary)


@pytest.mark.parametrize("learner", [sx.LeastSquares, sx.LogisticRegression])
def test_dummies_are_the_formula_with_all_columns(learner, tmp_path):
    data = wards()
    target = "days" if learner is sx.LeastSquares else "sick"
    columns = ["age", "ward", "dose"]
    model = learner(categorical="dummies").fit(data[columns], data[target])
    formula = learner.from_formula(f"{target} ~ .", data[[*columns, target]])
    assert str(model.summary()) == str(formula.summary())
    assert "reference levels: ward = A" in str(model.summary())
    assert list(model.drop1().names) == ["<none>", *columns]
    new = pd.DataFrame({"age": [50.0], "ward": ["B"], "dose": [0.0]})
    assert model.predict(new) == formula.predict(new)
    sx.save(model, tmp_path / "model.sepx")
    again = sx.load(tmp_path / "model.sepx")
    assert again.predict(new) == model.predict(new)
    assert str(again.summary()) == str(model.summary())
    with pytest.raises(DataError, match="the level 'Z'"):
        again.predict(new.assign(ward="Z"))
    with pytest.raises(DataError, match="'ward' has no value at row 0"):
        learner(categorical="dummies").fit(data[columns].assign(ward=[None, *data["ward"][1:]]), data[target])


def test_the_order_of_categories_decides_the_reference():
    data = wards()
    data["ward"] = pd.Categorical(data["ward"], categories=["C", "B", "A", "never"])
    for model in (
        sx.LeastSquares(categorical="dummies").fit(data[["ward"]], data["days"]),
        sx.LeastSquares.from_formula("days ~ ward", data.assign(ward=data["ward"].cat.remove_unused_categories())),
    ):
        assert list(model.feature_names_in_) == ["ward[T.B]", "ward[T.A]"]
        assert model.references_ == {"ward": "C"}


def test_offsets_of_least_squares():
    data = wards()
    X, y, shift = data[["age", "dose"]], data["days"], np.linspace(0, 5, len(data))
    model = sx.LeastSquares().fit(X, y, offset=shift)
    theirs = sm.GLM(y, X.assign(intercept=1.0), offset=shift).fit()
    summary = model.summary()
    np.testing.assert_allclose(summary.coef, theirs.params, rtol=1e-9)
    np.testing.assert_allclose(summary.std_err, theirs.bse, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X, offset=shift), theirs.fittedvalues, rtol=1e-9)
    table = model.predict_table(X, offset=shift)
    np.testing.assert_allclose(table["mean"], theirs.fittedvalues, rtol=1e-9)
    np.testing.assert_allclose(table["high"] - table["low"], np.subtract(*model.predict_interval(X, kind="mean")[::-1]))
    assert "y minus the offset" in str(summary)
    by_formula = sx.LeastSquares.from_formula("days ~ age + dose", data.assign(shift=shift), offset="shift")
    np.testing.assert_array_equal(by_formula.coef_, model.coef_)
    assert "offset" not in str(sx.LeastSquares().fit(X, y).summary())
    for wrong in (shift[:5], np.ones((len(data), 2)), "text"):
        with pytest.raises(DataError, match="offset"):
            sx.LeastSquares().fit(X, y, offset=wrong)


def test_nested_linear_models_agree_with_statsmodels():
    data = wards()
    formulas = ["days ~ age", "days ~ age + C(ward)", "days ~ age + C(ward) * dose"]
    ours = [sx.LeastSquares.from_formula(formula, data) for formula in formulas]
    theirs = anova_lm(*(smf.ols(formula, data).fit() for formula in formulas))
    table = ours[2].anova(ours[0], ours[1])
    assert table.names == tuple(formulas)
    for mine, other in {"df_resid": "df_resid", "rss": "ssr", "df": "df_diff", "stat": "F"}.items():
        np.testing.assert_allclose(table[mine][1:], theirs[other].iloc[1:], rtol=1e-7)
    left = table["df_resid"][-1]  # of the variance in the denominator, as in R; statsmodels takes each model's own
    np.testing.assert_allclose(table["p"][1:], f.sf(table["stat"][1:], table["df"][1:], left), rtol=1e-9)
    other = sx.LeastSquares.from_formula("days ~ dose", data)
    with pytest.raises(DataError, match="not nested"):
        ours[0].anova(other)
    with pytest.raises(DataError, match="different rows"):
        ours[0].anova(sx.LeastSquares.from_formula("days ~ age + dose", data.head(100)))
    with pytest.raises(ParameterError, match="LeastSquares models"):
        ours[0].anova("age")


def test_nested_logistic_models_are_likelihood_ratios():
    data = wards()
    formulas = ["sick ~ age", "sick ~ age + dose", "sick ~ age + dose + C(ward)"]
    ours = [sx.LogisticRegression.from_formula(formula, data) for formula in formulas]
    levels = [smf.logit(formula, data).fit(disp=0, tol=1e-14).llf for formula in formulas]
    table = ours[0].anova(*ours[1:])
    np.testing.assert_allclose(table["loglik"], levels, rtol=1e-9)
    np.testing.assert_allclose(table["stat"][1:], 2 * np.diff(levels), rtol=1e-6)
    assert table["df"][1:].tolist() == [1, 2]
    with pytest.raises(DataError, match="not nested"):
        ours[0].anova(sx.LogisticRegression.from_formula("sick ~ dose + C(ward)", data))
    with pytest.raises(ParameterError, match="fitted logistic models"):
        ours[0].anova(sx.LeastSquares())
    firth = [sx.LogisticRegression.from_formula(each, data, bias_reduction="firth") for each in formulas[:2]]
    found = firth[1].anova(firth[0])
    assert found["stat"][1] == pytest.approx(firth[1].drop1()["dose"]["stat"], rel=1e-6)
    assert "penalised" in found.notes[0]


def test_inflation_of_terms():
    data = wards()
    model = sx.LeastSquares.from_formula("days ~ age + C(ward) + dose", data)
    table = model.vif()
    assert table.names == ("age", "C(ward)", "dose")
    assert table["df"].tolist() == [1, 2, 1]
    # Fox and Monette (1992): det R11 det R22 / det R of the correlations of the columns
    columns = np.column_stack([data["age"], data["ward"] == "B", data["ward"] == "C", data["dose"]]).astype(float)
    R = np.corrcoef(columns.T)
    rest = np.ix_([0, 3], [0, 3])
    generalised = np.linalg.det(R[1:3, 1:3]) * np.linalg.det(R[rest]) / np.linalg.det(R)
    assert table["vif"][1] == pytest.approx(generalised, rel=1e-9)
    assert table["per_df"][1] == pytest.approx(generalised**0.25, rel=1e-9)
    logistic = sx.LogisticRegression.from_formula("sick ~ age + C(ward) + dose", data).vif()
    assert (logistic["vif"] >= 1).all()


def test_influence_on_a_logistic_fit_is_one_frame():
    data = wards()
    X, y = data[["age", "dose"]], data["sick"]
    ours = sx.LogisticRegression().fit(X, y).influence().to_frame()
    theirs = sm.GLM(y, X.assign(intercept=1.0), family=sm.families.Binomial()).fit(tol=1e-14).get_influence()
    np.testing.assert_allclose(ours["leverage"], theirs.hat_matrix_diag, rtol=1e-7)
    np.testing.assert_allclose(ours["cooks_distance"], theirs.cooks_distance[0], rtol=1e-6)
    np.testing.assert_allclose(ours["studentized"], theirs.resid_studentized, rtol=1e-6)
    np.testing.assert_allclose(ours.filter(like="dfbetas"), theirs.dfbetas, rtol=1e-5, atol=1e-9)


def test_stored_models_say_what_needs_the_rows(tmp_path):
    data = wards()
    model = sx.LogisticRegression().fit(data[["age", "dose"]], data["sick"])
    sx.save(model, tmp_path / "model.sepx")
    again = sx.load(tmp_path / "model.sepx")
    assert again.wald_test("age = 0").p == model.wald_test("age = 0").p
    assert again.vif()["vif"].tolist() == model.vif()["vif"].tolist()
    np.testing.assert_array_equal(
        again.predict_table(data[["age", "dose"]])["low"], model.predict_table(data[["age", "dose"]])["low"]
    )
    for call in (again.influence, again.anova, again.drop1, again.marginal_effects):
        with pytest.raises(InferenceError, match="no rows: fit again"):
            call()


def test_an_intercept_alone_has_no_terms():
    data = wards()
    linear, logistic = (
        sx.LeastSquares.from_formula("days ~ 1", data),
        sx.LogisticRegression.from_formula("sick ~ 1", data),
    )
    for model in (linear, logistic):
        assert model.drop1().names == ("<none>",)
        with pytest.raises(InferenceError, match="an intercept alone"):
            model.vif()
    with pytest.raises(InferenceError, match="an intercept alone"):
        logistic.marginal_effects()
    larger = sx.LeastSquares.from_formula("days ~ age", data)
    assert larger.anova(linear)["stat"][1] == pytest.approx(larger.summary().f_test.statistic)


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_dependent_columns_leave_influence_and_probabilities():
    data = wards().assign(twice=lambda data: 2 * data["age"])
    full, part = data[["age", "twice", "dose"]], data[["age", "dose"]]
    pd.testing.assert_frame_equal(
        sx.LeastSquares().fit(full, data["days"]).influence().to_frame(),
        sx.LeastSquares().fit(part, data["days"]).influence().to_frame(),
        rtol=1e-7,
    )
    model = sx.LogisticRegression().fit(full, data["sick"])
    plain = sx.LogisticRegression().fit(part, data["sick"])
    np.testing.assert_allclose(model.predict_table(full)["low"], plain.predict_table(part)["low"], rtol=1e-6)
    with pytest.raises(InferenceError, match="row 1 breaks the linear dependence"):
        model.predict_table(full.head(3).assign(twice=[2 * full["age"][0], 0.0, 0.0]))


def test_one_dropped_row_is_one():
    data = wards()
    data.loc[3, "age"] = np.nan
    assert "1 row with missing values was left out" in str(sx.LeastSquares.from_formula("days ~ age", data).summary())

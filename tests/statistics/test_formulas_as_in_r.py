"""What users of R expect of formulas: powers, offsets, levels, terms of models without an intercept, and row names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ParameterError

linear, logistic = sx.LeastSquares.from_formula, sx.LogisticRegression.from_formula


@pytest.fixture(scope="module")
def trial():
    rng = np.random.default_rng(0)
    n = 240
    data = pd.DataFrame({"count": rng.integers(0, 10, n), "x": rng.normal(size=n), "age": rng.uniform(20, 70, n)})
    data["ward"], data["years"] = rng.choice(list("abc"), n), rng.uniform(1, 5, n)
    data["site"] = "only one"
    data["good day"] = rng.normal(size=n)
    data["flag"] = rng.integers(0, 2, n).astype(bool)
    score = 0.4 + data["x"] + 0.5 * (data["ward"] == "a") + np.log(data["years"])
    data["ill"] = (score + rng.logistic(size=n) > 0).astype(int)
    data["days"] = data["count"] ** 2 + score + rng.normal(size=n)
    data.index = pd.Index([f"patient {i}" for i in range(n)])
    return data


# -- operators --


@pytest.mark.parametrize(
    "formula",
    [
        "days ~ I(count^2)",
        "days ~ x + log(count^2 + 1)",
        "I(count^2) ~ x",
        "days ~ ward * I(x^2)",
        "days ~ I(`count`^2)",
    ],
)
def test_a_hat_inside_of_a_function_is_refused(trial, formula):
    """Of integers Python takes the exclusive or of bits, which no user of a formula means."""
    with pytest.raises(ParameterError, match=r"write \*\* for a power"):
        linear(formula, trial)


def test_operators_on_whole_numbers_are_not_logical(trial):
    with pytest.raises(ParameterError, match="combines their bits"):
        linear("days ~ I(count | 2)", trial)
    with pytest.raises(ParameterError, match="combines their bits"):
        linear("days ~ I(count & count)", trial)
    both = linear("days ~ I((count > 2) & flag)", trial)
    assert both.predict(trial).shape == (len(trial),)


def test_powers_of_terms_and_quoted_hats_stay(trial):
    assert list(linear("days ~ (x + age)^2", trial).terms_) == ["x", "age", "x:age"]
    renamed = trial.rename(columns={"x": "x^2"})
    assert linear("days ~ `x^2`", renamed).coef_[0] == linear("days ~ x", trial).coef_[0]
    hats = trial.assign(ward=trial["ward"] + "^2")
    assert "C(ward, Treatment('b^2'))[T.a^2]" in linear("days ~ C(ward, Treatment('b^2'))", hats).feature_names_in_
    squares = linear("days ~ I(count**2)", trial)
    np.testing.assert_allclose(squares.coef_, sx.LeastSquares().fit(trial[["count"]] ** 2, trial["days"]).coef_)


# -- offsets --


@pytest.mark.parametrize("offset", ["in the formula", "by name", "as an expression"])
@pytest.mark.parametrize("fit", [linear, logistic])
def test_an_offset_is_part_of_predictions(trial, fit, offset, tmp_path):
    data, outcome = trial.assign(log_years=np.log(trial["years"])), "days" if fit is linear else "ill"
    right, named = {
        "in the formula": ("x + offset(log(years))", {}),
        "by name": ("x", {"offset": "log_years"}),
        "as an expression": ("x", {"offset": "log(years)"}),
    }[offset]
    model, beside = fit(f"{outcome} ~ {right}", data, **named), fit(f"{outcome} ~ x", data, offset=data["log_years"])
    np.testing.assert_array_equal(model.coef_, beside.coef_)
    sx.save(model, tmp_path / "model.sepx")
    for known in (model, sx.load(tmp_path / "model.sepx")):
        if fit is linear:
            expected = beside.predict(data[["x"]], offset=data["log_years"])
            np.testing.assert_allclose(known.predict(data), expected, rtol=1e-13)
            np.testing.assert_allclose(known.predict(data, offset=0.0 * data["x"]), beside.predict(data[["x"]]))
        else:
            expected = beside.predict_proba(data[["x"]], offset=data["log_years"])
            np.testing.assert_allclose(known.predict_proba(data), expected, rtol=1e-13)
            assert (known.predict(data) == expected.argmax(axis=1)).all()
        with pytest.raises(DataError, match=r"which the offset of the model needs"):
            known.predict(data.drop(columns=["years", "log_years"]))
        with pytest.raises(DataError, match="pass a frame with its column"):
            known.predict(data[["x"]].to_numpy())
    table, other = (
        model.predict_table(data.head(7)),
        beside.predict_table(data[["x"]].head(7), offset=data["log_years"].head(7)),
    )
    for column in table.columns:
        np.testing.assert_allclose(table[column], other[column], rtol=1e-12)


def test_an_offset_that_a_file_cannot_carry_is_refused_after_loading(trial, tmp_path):
    model = linear("days ~ x + offset(log(years) / 2)", trial)
    beside = linear("days ~ x", trial, offset=np.log(trial["years"]) / 2)
    np.testing.assert_allclose(model.predict(trial), beside.predict(trial[["x"]], offset=np.log(trial["years"]) / 2))
    sx.save(model, tmp_path / "model.sepx")
    with pytest.raises(DataError, match="fit it again"):
        sx.load(tmp_path / "model.sepx").predict(trial)


def test_rows_without_an_offset_are_left_out(trial):
    holes = trial.copy()
    holes.loc["patient 3", "years"] = np.nan
    model = linear("days ~ x", holes, offset="years")
    assert model.n_dropped_ == 1
    np.testing.assert_array_equal(model.coef_, linear("days ~ x", trial.drop(index="patient 3"), offset="years").coef_)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("days ~ x + offset(years) + offset(age)", "add them up"),
        ("days ~ x:offset(years)", "takes one column of numbers"),
        ("days ~ x + offset(ward)", "takes one column of numbers"),
    ],
)
def test_wrong_offsets_get_one_sentence(trial, formula, message):
    with pytest.raises(ParameterError, match=message):
        linear(formula, trial)
    with pytest.raises(ParameterError, match="takes no offset"):
        sx.Perceptron.from_formula("ill ~ x", trial, offset="years")
    with pytest.raises(ParameterError, match="an offset of its own"):
        linear("days ~ x + offset(years)", trial, offset=trial["age"])
    with pytest.raises(ParameterError, match="no offset"):
        sx.audit(trial, formula="ill ~ x + offset(years)")
    with pytest.raises(ParameterError, match="has an offset"):
        sx.separability("ill ~ x + offset(years)", trial)


# -- levels --


def test_a_factor_with_one_level_is_refused(trial):
    for formula in ("days ~ x + site", "days ~ 0 + site", "days ~ x * C(site)"):
        with pytest.raises(DataError, match=r"has one level only \('only one'\) in the data: leave it out"):
            linear(formula, trial)
    holes = trial.assign(x=trial["x"].where(trial["ward"] == "b"))
    with pytest.raises(DataError, match=r"one level only .* in the rows without missing values"):
        linear("days ~ x + ward", holes)


# -- terms without an intercept --


def test_terms_without_an_intercept_are_compared_with_nothing(trial):
    """The model without the factor has no constant either, as in R: its likelihood is that of fair coins."""

    def loglik(*names):
        if not names:
            return len(trial) * np.log(0.5)
        return sm.Logit(trial["ill"], pd.get_dummies(trial[list(names)], dtype=float)).fit(disp=0, tol=1e-14).llf

    model = logistic("ill ~ 0 + ward + x", trial)
    expected = [2 * (loglik("ward") - loglik()), 2 * (loglik("ward", "x") - loglik("ward"))]
    np.testing.assert_allclose(model.anova()["stat"], expected, rtol=1e-9)
    turned = logistic("ill ~ 0 + x + ward", trial).anova()
    np.testing.assert_allclose(
        turned["stat"], [2 * (loglik("x") - loglik()), 2 * (loglik("ward", "x") - loglik("x"))], rtol=1e-9
    )
    assert list(turned["df"]) == [1, 3]
    alone = logistic("ill ~ 0 + ward", trial)
    assert alone.drop1()["aic"][1] == pytest.approx(-2 * loglik(), rel=1e-12)
    shifted = logistic("ill ~ 0 + ward", trial, offset="x")
    nothing = -2 * np.log1p(np.exp(-np.where(trial["ill"] == 1, 1, -1) * trial["x"])).sum()
    assert shifted.drop1()["aic"][1] == pytest.approx(-nothing, rel=1e-12)


# -- effects --


@pytest.mark.parametrize(
    ("right", "message"),
    [
        ("log(age) + age", "both of 'age'"),
        ("poly(x, 2)", "are one variable"),
        ("bs(x, df=4)", "are one variable"),
        ("C(ward, contr.sum)", "not differences from a reference"),
        ("0 + ward", "not differences from a reference"),
    ],
)
def test_effects_of_columns_that_are_no_variables_are_refused(trial, right, message):
    with pytest.raises(InferenceError, match=message):
        logistic(f"ill ~ {right}", trial).marginal_effects()


def test_effects_of_single_columns_stay(trial):
    for right in ("x", "log(age) + x", "C(ward) + x", "x * age", "x + I(x**2)", "np.sqrt(age) + ward"):
        assert len(logistic(f"ill ~ {right}", trial).marginal_effects()) >= 1


# -- rows by their names --


@pytest.mark.parametrize("how", ["formula", "frame"])
@pytest.mark.parametrize("learner", [sx.LeastSquares, sx.LogisticRegression])
def test_groups_of_another_index_are_refused(trial, how, learner):
    outcome = "days" if learner is sx.LeastSquares else "ill"
    groups = pd.Series(np.arange(len(trial)) // 12, index=trial.index)
    model = (
        learner.from_formula(f"{outcome} ~ x", trial)
        if how == "formula"
        else learner().fit(trial[["x"]], trial[outcome])
    )
    expected = (
        learner().fit(trial[["x"]].to_numpy(), trial[outcome].to_numpy()).summary(covariance="cluster", groups=groups)
    )
    np.testing.assert_array_equal(model.summary(covariance="cluster", groups=groups).std_err, expected.std_err)
    for shuffled in (groups.sample(frac=1.0, random_state=0), groups.reset_index(drop=True)):
        with pytest.raises(DataError, match="X and groups have different pandas indexes"):
            model.summary(covariance="cluster", groups=shuffled)


def test_groups_of_rows_that_were_left_out_keep_to_the_index(trial):
    holes = trial.copy()
    holes.loc["patient 7", "x"] = np.nan
    groups = pd.Series(np.arange(len(trial)) // 12, index=trial.index)
    for model in (linear("days ~ x", holes), logistic("ill ~ x", holes)):
        whole = model.summary(covariance="cluster", groups=groups).std_err
        np.testing.assert_array_equal(
            model.summary(covariance="cluster", groups=groups.drop("patient 7")).std_err, whole
        )
        for other in (groups, groups.drop("patient 7")):
            with pytest.raises(DataError, match="different pandas indexes"):
                model.summary(covariance="cluster", groups=other[::-1])


@pytest.mark.parametrize("learner", [sx.LeastSquares, sx.LogisticRegression])
def test_results_of_rows_join_the_data(trial, learner):
    outcome = "days" if learner is sx.LeastSquares else "ill"
    models = [learner.from_formula(f"{outcome} ~ x", trial), learner().fit(trial[["x"]], trial[outcome])]
    holes = trial.copy()
    holes.loc["patient 7", "x"] = np.nan
    models.append(learner.from_formula(f"{outcome} ~ x", holes))
    weights = np.ones(len(trial))
    weights[:3] = 0
    models.append(learner().fit(trial[["x"]], trial[outcome], sample_weight=weights))
    for model, missing in zip(models, (0, 0, 1, 3), strict=True):
        joined = trial.join(model.influence().to_frame())
        assert joined["leverage"].isna().sum() == missing
    predicted = models[0].predict_table(trial.head(5)).to_frame()
    assert trial.join(predicted, how="inner").shape[0] == 5
    numbers = learner.from_formula(f"{outcome} ~ x", trial.reset_index(drop=True))
    assert trial.reset_index(drop=True).join(numbers.influence().to_frame())["leverage"].notna().all()
    plain = learner().fit(trial[["x"]].to_numpy(), trial[outcome].to_numpy())
    assert plain.influence().to_frame().index.tolist() == list(range(len(trial)))


def test_the_criterion_after_firth_has_a_name_of_its_own(trial):
    """The summary's AIC is of the likelihood; two numbers of one name were printed."""
    model = logistic("ill ~ x + ward", trial, bias_reduction="firth")
    table = model.drop1()
    assert list(table.columns) == ["df", "penalised_aic", "stat", "p"]
    assert table["penalised_aic"][0] != pytest.approx(model.summary().aic)
    plain = logistic("ill ~ x + ward", trial)
    assert plain.drop1()["aic"][0] == pytest.approx(plain.summary().aic, rel=1e-12)


# -- what cannot be read --


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("days ~ foo(x)", r"'foo' in 'foo\(x\)' is neither a column nor a function"),
        ("days ~ log(ward)", "cannot be computed: a column of it is text"),
        ("days ~ I(ward + x)", "cannot be computed: a column of it is text"),
        ("days ~ I(x > 0 and age > 50)", "takes & for and"),
        ("days ~ as.factor(ward)", "no Python expression"),
        ("days ~ born", "dates or times cannot be a term"),
        ("days ~ x | age", "several parts"),
        ("days ~ Intercept", "are called 'Intercept': rename"),
        ("log(ward) ~ x", "cannot be computed: a column of it is text"),
        ("days ~ bs(x, df=2)", "must be greater than 3"),
    ],
)
def test_no_error_has_the_words_of_a_library(trial, formula, message):
    data = trial.assign(born=pd.date_range("1960-01-01", periods=len(trial)), Intercept=1.5)
    with pytest.raises((DataError, ParameterError), match=message) as refused:
        linear(formula, data)
    for word in ("ufunc", "Error:", "Unable to evaluate", "Series", "\n"):
        assert word not in str(refused.value)


def test_functions_of_r_and_literals(trial):
    roots = linear("days ~ sqrt(age) + log1p(age)", trial)
    beside = sx.LeastSquares().fit(np.column_stack([np.sqrt(trial["age"]), np.log1p(trial["age"])]), trial["days"])
    np.testing.assert_allclose(roots.coef_, beside.coef_, rtol=1e-9)
    assert roots.design_ is not None
    assert linear("days ~ x + 2:age", trial).predict(trial).shape == (len(trial),)


def test_a_missing_value_is_refused_and_not_left_out_of_predictions(trial):
    """Predictions for other rows than those given would be matched with the wrong ones."""
    model = linear("days ~ poly(x, 2)", trial)
    holes = trial.head(5).assign(x=[0.1, np.nan, 0.2, 0.3, 0.4])
    for predict in (model.predict, model.predict_table):
        with pytest.raises(DataError, match="NaN at row 1"):
            predict(holes)


@pytest.mark.parametrize("data", [{"y": [1, 2], "a": [1]}, {"y": 1, "a": 2}])
def test_columns_of_different_lengths_get_one_sentence(data):
    with pytest.raises(DataError, match="pass lists of one length"):
        linear("y ~ a", data)


@pytest.mark.parametrize("combinations", [None, 3, []])
def test_contrasts_of_nothing_get_one_sentence(trial, combinations):
    with pytest.raises(ParameterError, match="give one such as 'a - b'"):
        linear("days ~ x", trial).contrast(combinations)


def test_terms_of_a_fit_without_residuals_are_not_tested():
    model = sx.LeastSquares().fit([[1.0], [2.0], [3.0]], [1.0, 1.0, 1.0])
    for table in (model.anova, model.drop1):
        with pytest.raises(InferenceError, match="leaves no residuals"):
            table()

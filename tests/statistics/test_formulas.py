"""Models by formulas, beside statsmodels; what a model file keeps of them, and what it refuses."""

from __future__ import annotations

import formulaic
import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

import separatrix as sx
from separatrix.errors import DataError, ParameterError
from separatrix.features.formula_columns import FormulaColumns
from separatrix.models.registry import homes, learner_class

FORMULA = "sick ~ age + C(ward, Treatment('B')) * dose"


def hospital(n=200, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.normal(60, 8, n), "ward": rng.choice(list("ABC"), n), "dose": rng.normal(size=n)})
    score = 0.05 * (data["age"] - 60) + 0.7 * (data["ward"] == "A") + 0.5 * data["dose"]
    data["sick"] = (score + rng.logistic(size=n) > 0).astype(int)
    data["days"] = score + rng.normal(size=n)
    return data


def test_logistic_regression_agrees_with_statsmodels():
    data = hospital()
    ours, theirs = sx.LogisticRegression.from_formula(FORMULA, data), smf.logit(FORMULA, data).fit(disp=0, tol=1e-14)
    summary = ours.summary()
    mine = dict(zip(summary.names, summary.coef, strict=True))
    assert mine.pop("intercept") == pytest.approx(theirs.params["Intercept"], rel=1e-8)
    for name, value in mine.items():
        assert value == pytest.approx(theirs.params[name], rel=1e-7, abs=1e-10)
    np.testing.assert_allclose(ours.predict_proba(data.head(9))[:, 1], theirs.predict(data.head(9)), rtol=1e-9)
    term = "C(ward, Treatment('B'))"
    assert ours.wald_test(f"{term} = 0").df == 2
    assert list(ours.drop1().names) == ["<none>", "age", f"{term}:dose"]  # as R, which keeps what the last contains
    assert list(ours.anova().names) == ["age", term, "dose", f"{term}:dose"]


@pytest.mark.parametrize("number", [1, 2])
def test_tables_of_terms_agree_with_statsmodels(number):
    data = hospital()
    formula = "days ~ C(ward) + age + dose" if number == 1 else "days ~ age + C(ward) * dose"  # patsy has its own order
    ours = sx.LeastSquares.from_formula(formula, data).anova(kind="I" * number)
    theirs = anova_lm(smf.ols(formula, data).fit(), typ=number)
    for term, line in theirs.iterrows():
        row = ours[{"Residual": "residuals"}.get(term, term)]
        assert row["sum_sq"] == pytest.approx(line["sum_sq"], rel=1e-8)
        assert row["df"] == line["df"]


@pytest.mark.parametrize("formula", [FORMULA, "sick ~ np.log(age) + I(dose**2) + ward", "sick ~ 0 + ward + age:dose"])
def test_a_model_file_predicts_from_frames_without_evaluating_the_formula(formula, tmp_path, monkeypatch):
    data = hospital()
    model = sx.LogisticRegression.from_formula(formula, data)
    sx.save(model, tmp_path / "model.sepx")
    again = sx.load(tmp_path / "model.sepx")
    monkeypatch.setitem(__import__("sys").modules, "formulaic", None)  # nothing of it may be needed
    np.testing.assert_array_equal(again.predict_proba(data.head(5)), model.predict_proba(data.head(5)))
    assert str(again.summary()) == str(model.summary())
    with pytest.raises(DataError, match="the level 'Z'"):
        again.predict(data.head(3).assign(ward="Z"))
    with pytest.raises(DataError, match="no column 'ward'"):
        again.predict(data.head(3).drop(columns="ward"))


def test_what_cannot_be_stored_has_to_be_given_again(tmp_path):
    data = hospital()
    model = sx.LeastSquares.from_formula("days ~ bs(age, df=4)", data)
    assert model.design_ is None
    assert model.predict(data.head(3)).shape == (3,)
    sx.save(model, tmp_path / "model.sepx")
    with pytest.raises(DataError, match="fit it again"):
        sx.load(tmp_path / "model.sepx").predict(data.head(3))


@pytest.mark.parametrize(
    "kept",
    [
        {"names": ["x"], "products": [[["x", "system", 1, None]]], "levels": {}},
        {"names": ["x"], "products": [[["x", None, 10**9, None]]], "levels": {}},
        {"names": ["x"], "products": [], "levels": {}},
        {"names": ["x"], "products": [[["x", None, 1]]], "levels": {}},
        {"names": 3},
    ],
)
def test_a_stored_formula_that_is_not_of_its_form_is_refused(kept):
    with pytest.raises(ValueError, match="its formula"):
        FormulaColumns.from_dict(kept)


def test_dropped_rows_are_counted_in_the_summary():
    data = hospital()
    data.loc[[3, 5, 8], "age"] = np.nan
    data["days"] = data["days"].where(data.index != 11)
    for model in (
        sx.LeastSquares.from_formula("days ~ age + ward", data),
        sx.LogisticRegression.from_formula("sick ~ age + ward", data),
    ):
        summary = model.summary()
        assert summary.n + summary.n_dropped == 200
        assert f"{summary.n_dropped} rows with missing values were left out" in str(summary)
    weights = np.arange(1.0, 201.0)
    full = sx.LeastSquares.from_formula("days ~ age", data, sample_weight=weights)
    kept = data[["days", "age"]].notna().all(axis=1)
    plain = sx.LeastSquares().fit(data.loc[kept, ["age"]], data.loc[kept, "days"], sample_weight=weights[kept])
    assert full.coef_[0] == plain.coef_[0]


def test_an_intercept_only_model():
    data = hospital()
    ours, theirs = sx.LeastSquares.from_formula("days ~ 1", data).summary(), smf.ols("days ~ 1", data).fit()
    assert ours.names == ("intercept",)
    assert ours.std_err[0] == pytest.approx(theirs.bse["Intercept"], rel=1e-10)
    logit = sx.LogisticRegression.from_formula("sick ~ 1", data).summary()
    share = data["sick"].mean()
    assert logit.coef[0] == pytest.approx(np.log(share / (1 - share)), rel=1e-10)
    assert logit.lr_df == 0


def test_a_matrix_of_formulaic_keeps_its_names():
    data = hospital()
    matrix = formulaic.model_matrix("0 + age + ward", data)
    model = sx.LeastSquares(fit_intercept=False).fit(matrix, data["days"])
    assert list(model.feature_names_in_) == list(matrix.columns)


@pytest.mark.filterwarnings("ignore::separatrix.errors.SeparatrixWarning")
@pytest.mark.parametrize("learner", [learner_class(name) for name in homes()])
def test_every_model_takes_formulas(learner, tmp_path):
    data = hospital(40)
    options = {"max_nodes": 100} if learner is sx.FewestMistakes else {}
    options |= {"random_state": 0} if learner is sx.LinearDescent else {}
    model = learner.from_formula("sick ~ age + C(ward, Treatment('B'))", data, **options)
    assert list(model.feature_names_in_)[1:] == [f"C(ward, Treatment('B'))[T.{level}]" for level in "AC"]
    columns = pd.DataFrame({"a": data["age"], "A": data["ward"] == "A", "C": data["ward"] == "C"}).astype(float)
    by_hand = learner(**options).fit(columns.to_numpy(), data["sick"])
    np.testing.assert_array_equal(model.predict(data), by_hand.predict(columns.to_numpy()))
    sx.save(model, tmp_path / "model.sepx")
    np.testing.assert_array_equal(sx.load(tmp_path / "model.sepx").predict(data), model.predict(data))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("age + dose", "write the outcome"),
        ("sick ~ age * nope", "it names 'nope', which is not a column of the data"),
        ("nope ~ age", "the outcome 'nope' cannot be used"),
    ],
)
def test_wrong_formulas_get_one_sentence(formula, message):
    with pytest.raises((DataError, ParameterError), match=message) as said:
        sx.LogisticRegression.from_formula(formula, hospital())
    assert "\n" not in str(said.value)


def test_the_intercept_belongs_to_the_formula():
    with pytest.raises(ParameterError, match="part of the formula"):
        sx.LeastSquares.from_formula("days ~ age", hospital(), fit_intercept=False)
    assert not sx.LeastSquares.from_formula("days ~ 0 + age", hospital()).fit_intercept


def test_an_audit_by_a_formula_is_about_its_columns(tmp_path):
    data = hospital(120)
    data.loc[3, "age"] = np.nan
    found = sx.audit(data, formula="sick ~ age + C(ward) * dose", budget=5, ledger=tmp_path / "ledger.jsonl")
    table = found.to_dict()["table"]
    assert table["rows"] == 119
    assert "1 row with missing values left out" in str(found.to_dict())
    assert "C(ward)[T.B]:dose" in str(found.to_dict())
    for wrong, options, message in [
        ("sick ~ 1", {}, "an audit needs columns"),
        ("sick ~ 0 + age", {}, "an intercept"),
        ("sick ~ age", {"target": "sick"}, "leave the target out"),
        ("sick ~ age * nope", {}, "cannot be used"),
    ]:
        with pytest.raises((DataError, ParameterError), match=message):
            sx.audit(data, formula=wrong, **options)

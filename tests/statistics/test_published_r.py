"""Tables printed by R, number for number; where each was printed stands beside it.

R prints standard errors of ``glm`` from the last step but one of its iteration, and ends of profile intervals from a
spline: those agree to four digits, all else to the last digit that is printed.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from tests.statistics.r_tables import births, cars, duncan, moore, mtcars, pupils, swiss, warpbreaks

import separatrix as sx

linear, logistic = sx.LeastSquares.from_formula, sx.LogisticRegression.from_formula


def printed(values, expected):
    """Whether numbers round to those that are printed as text."""
    for value, text in zip(values, expected.split(), strict=True):
        mantissa, _, power = text.partition("e")
        digits = len(mantissa.partition(".")[2])
        assert value == pytest.approx(float(text), abs=0.5001 * 10.0 ** (int(power or 0) - digits)), (value, text)


@pytest.mark.parametrize(
    ("formula", "coef", "std_err", "facts"),
    [
        # summary(lm(mpg ~ wt, mtcars)): sigma, R², adjusted R², F
        ("mpg ~ wt", "-5.3445 37.2851", "0.5591 1.8776", "3.046 0.7528 0.7446 91.38"),
        # summary(lm(mpg ~ wt + hp, mtcars))
        ("mpg ~ wt + hp", "-3.87783 -0.03177 37.22727", "0.63273 0.00903 1.59879", "2.593 0.8268 0.8148 69.21"),
    ],
)
def test_lm_of_mtcars(formula, coef, std_err, facts):
    found = linear(formula, mtcars()).summary()
    printed(found.coef, coef)
    printed(found.std_err, std_err)
    printed([math.sqrt(found.sigma2), found.r_squared, found.adjusted_r_squared, found.f_test.statistic], facts)


@pytest.mark.parametrize(
    ("formula", "coef", "std_err", "deviances", "aic"),
    [
        # summary(glm(am ~ wt, binomial, mtcars)): null and residual deviance, AIC
        ("am ~ wt", "-4.024 12.040", "1.436 4.510", "43.230 19.176", "23.176"),
        # summary(glm(am ~ hp + wt, binomial, mtcars))
        ("am ~ hp + wt", "0.03626 -8.08348 18.86630", "0.01773 3.06868 7.44356", "43.230 10.059", "16.059"),
    ],
)
def test_glm_of_mtcars(formula, coef, std_err, deviances, aic):
    found = logistic(formula, mtcars()).summary()
    printed(found.coef, coef)
    np.testing.assert_allclose(found.std_err, list(map(float, std_err.split())), rtol=6e-4)
    printed([-2 * found.null_loglik, -2 * found.loglik], deviances)
    printed([found.aic], aic)


def test_lm_and_drop1_of_swiss():
    """``summary(lm(Fertility ~ ., swiss))``, and the first table that ``step`` prints (?step)."""
    model = linear("Fertility ~ .", swiss())
    found = model.summary()
    printed(found.coef, "-0.17211 -0.25801 -0.87094 0.10412 1.07705 66.91518")
    printed(found.std_err, "0.07030 0.25388 0.18303 0.03526 0.38172 10.70604")
    printed([found.r_squared, found.adjusted_r_squared, found.f_test.statistic], "0.7067 0.671 19.76")
    table = model.drop1()
    constant = 47 * (math.log(2 * math.pi) + 1) + 2  # which R's step leaves out of AIC
    printed(table["aic"] - constant, "190.69 195.10 189.86 209.36 197.75 197.03")


def test_predictions_of_cars():
    """``predict(lm(dist ~ speed, cars), ..., interval = "confidence")``, and "prediction", at 12, 19 and 24."""
    model = linear("dist ~ speed", cars())
    printed(model.summary().coef, "3.9324 -17.5791")
    table = model.predict_table(pd.DataFrame({"speed": [12.0, 19.0, 24.0]}))
    printed(table["mean"], "29.60981 57.13667 76.79872")
    printed(table["low"], "24.39514 51.82913 68.38765")
    printed(table["high"], "34.82448 62.44421 85.20978")
    printed(table["new_low"], "-1.749529 25.761756 44.752478")
    printed(table["new_high"], "60.96915 88.51159 108.84495")


def test_analysis_of_variance_type_one():
    """``summary(aov(breaks ~ wool * tension, warpbreaks))``."""
    table = linear("breaks ~ wool * tension", warpbreaks()).anova()
    assert table.names == ("wool", "tension", "wool:tension", "residuals")
    printed(table["sum_sq"], "451 2034 1003 5745")
    printed(table["mean_sq"], "450.7 1017.1 501.4 119.7")
    printed(table["stat"][:-1], "3.765 8.498 4.189")
    printed(table["p"][:-1], "0.058213 0.000693 0.021044")


@pytest.mark.parametrize(
    ("kind", "sums", "ratios", "p"),
    [
        ("II", "11.61 212.21 175.49 817.76", "0.2770 10.1207 4.1846", "0.759564 0.002874 0.022572"),
        ("III", "36.0 239.6 175.5 817.8", "0.8589 11.4250 4.1846", "0.431492 0.001657 0.022572"),
    ],
)
def test_analysis_of_variance_of_unbalanced_cells(kind, sums, ratios, p):
    """``car::Anova(lm(conformity ~ fcategory * partner.status, Moore), type = ...)`` with sums to zero (?Anova)."""
    table = linear("conformity ~ C(fcategory, Sum) * C(partner, Sum)", moore()).anova(kind=kind)
    printed(table["sum_sq"], sums)
    printed(table["stat"][:-1], ratios)
    printed(table["p"][:-1], p)


def test_duncan_in_the_manual_of_car():
    """``summary(lm(prestige ~ income + education, Duncan))``, ?linearHypothesis, ?outlierTest and ?vif of car."""
    model = linear("prestige ~ income + education", duncan())
    printed(model.summary().coef, "0.59873 0.54583 -6.06466")
    printed(model.summary().std_err, "0.11967 0.09825 4.27194")
    equal = model.wald_test("income = education")
    printed([equal.statistic, equal.p], "0.0682 0.7952")
    minister = model.influence().to_frame().iloc[5]
    printed([minister["studentized_outside"], minister["cooks_distance"]], "3.134519 0.5663797")
    inflation = linear("prestige ~ income + education + type", duncan()).vif()
    printed(inflation["vif"], "2.209178 5.297584 5.098592")
    printed(inflation["per_df"], "1.486330 2.301648 1.502666")


def test_low_birth_weights_of_mass():
    """``summary(birthwt.glm)`` and the first table of ``stepAIC`` (Venables and Ripley 2002, section 7.2)."""
    model = logistic("low ~ age + lwt + race + smoke + ptd + ht + ui + ftv", births())
    found = model.summary()
    coef = [-0.03723, -0.01565, 1.19241, 0.74069, 0.75553, 1.34376, 1.91317, 0.68019, -0.43638, 0.17901, 0.82302]
    np.testing.assert_allclose(found.coef, coef, atol=6e-6)
    errors = [0.03870, 0.00708, 0.53597, 0.46174, 0.42502, 0.48062, 0.72074, 0.46434, 0.47939, 0.45638, 1.24471]
    np.testing.assert_allclose(found.std_err, errors, rtol=6e-4)
    printed([-2 * found.null_loglik, -2 * found.loglik, found.aic], "234.67 195.48 217.48")
    assert "reference levels: race = white, ftv = 0" in str(found)
    table = model.drop1()
    printed(table["aic"], "217.48 216.42 220.95 219.23 218.67 223.58 222.93 217.59 214.83")
    assert table["df"][1:].tolist() == [1, 1, 2, 1, 1, 1, 1, 2]


def budworms():
    out = pd.DataFrame({"ldose": np.tile(np.arange(6.0), 2), "sex": np.repeat(["M", "F"], 6)})
    out["dead"] = [1, 4, 9, 13, 18, 20, 0, 2, 6, 10, 12, 16]
    return out.assign(alive=20 - out["dead"])


def test_budworms_of_mass():
    """Collett (1991); ``summary``, ``anova`` and ``confint`` (Venables and Ripley 2002, section 7.2)."""
    model = logistic("cbind(dead, alive) ~ sex * ldose", budworms())
    found = model.summary()
    printed(found.coef, "0.1750 0.9060 0.3529 -2.9935")
    printed(found.std_err, "0.7783 0.1671 0.2700 0.5527")
    printed([found.aic, found.lr_statistic], "43.104 119.8819")
    table = model.anova()
    printed(table["stat"], "6.077 112.042 1.763")
    printed(table["p"][[0, 2]], "0.0137 0.1842")
    smaller = logistic("cbind(dead, alive) ~ 0 + sex + ldose", budworms())
    profile = smaller.summary(intervals="profile")
    printed(profile.coef, "-3.4732 -2.3724 1.0642")
    np.testing.assert_allclose(profile.low, [-4.4581438, -3.1728745, 0.8228708], atol=2e-4)
    np.testing.assert_allclose(profile.high, [-2.6138736, -1.6552117, 1.3390581], atol=4e-4)


def test_programs_of_pupils_by_multinom():
    """``summary(nnet::multinom(prog2 ~ ses + write))``, in the data analysis examples of UCLA's statistics group."""
    found = logistic("prog ~ ses + write", pupils()).summary()
    coef = [-0.5332810, -1.1628226, -0.0579287, 2.852198, 0.2913859, -0.9826649, -0.1136037, 5.218260]
    errors = [0.4437323, 0.5142196, 0.02141097, 1.166441, 0.4763739, 0.5955665, 0.02221996, 1.163552]
    np.testing.assert_allclose(found.coef, coef, rtol=4e-5)  # multinom stops at a relative change of 1e-8
    np.testing.assert_allclose(found.std_err, errors, rtol=4e-6)
    printed([-2 * found.loglik, found.aic], "359.9635 375.9635")

"""Pictures of fits: the artists hold the numbers of the summary, of residuals, of curves and of effects."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from pictures import legend, line, rendered
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ParameterError


def people(n=150, seed=1):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.normal(60, 8, n), "dose": rng.uniform(0, 4, n), "ward": rng.choice(list("ABC"), n)})
    score = 0.08 * (data["age"] - 60) + 0.6 * data["dose"] - 1 + (data["ward"] == "B")
    data["ill"] = (score + rng.logistic(size=n) > 0).astype(int)
    data["days"] = 10 + 2 * score + rng.normal(size=n)
    return data


@pytest.fixture
def linear():
    data = people()
    return sx.LeastSquares().fit(data[["age", "dose"]], data["days"]), data


@pytest.fixture
def logistic():
    data = people()
    return sx.LogisticRegression().fit(data[["age", "dose"]], data["ill"]), data


def test_coefficients_with_their_intervals(logistic):
    model, _ = logistic
    ax = model.plot(level=0.9)
    summary = model.summary(level=0.9)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["age", "dose"]
    ends = [drawn.get_xdata() for drawn in ax.lines if drawn.get_linestyle() == "-" and len(drawn.get_xdata()) == 2]
    np.testing.assert_allclose(ends[:2], np.column_stack([summary.low, summary.high])[:2])
    assert ax.get_xlabel() == "coefficient, 90% interval"
    assert rendered(ax)


def test_an_infinite_end_is_an_arrow():
    X = pd.DataFrame({"marker": [0, 0, 0, 0, 1, 1, 0, 0], "dose": [1.0, 2.0, 3.0, 4.0, 1.5, 2.5, 2.2, 0.5]})
    model = sx.LogisticRegression(on_separation="ignore").fit(X, [0, 1, 0, 1, 1, 1, 0, 0])
    marks = [drawn.get_marker() for drawn in model.plot().lines]
    assert marks.count(">") == 1
    assert "<" not in marks


def test_residuals_quantiles_and_leverage(linear):
    model, data = linear
    X, influence = data[["age", "dose"]], model.influence()
    drawn = model.plot("residuals").lines[0].get_xydata()
    np.testing.assert_allclose(drawn[:, 0], model.predict(X))
    np.testing.assert_allclose(drawn[:, 1], data["days"] - model.predict(X))
    drawn = model.plot("qq").lines[0].get_xydata()
    np.testing.assert_allclose(drawn[:, 0], norm.ppf((np.arange(150) + 0.5) / 150), rtol=1e-9)
    np.testing.assert_allclose(drawn[:, 1], np.sort(influence["studentized"]))
    ax = model.plot("leverage")
    (points,) = ax.collections
    np.testing.assert_allclose(points.get_offsets()[:, 0], influence["leverage"])
    worst = int(np.argmax(influence["cooks_distance"]))
    assert f"row {worst}" in [note.get_text() for note in ax.texts]
    assert rendered(ax)


def test_the_curve_of_the_ranking_and_the_calibration(logistic):
    model, data = logistic
    p = model.predict_proba(data[["age", "dose"]])[:, 1]
    ax = model.plot("roc")
    area = roc_auc_score(data["ill"], p)
    assert legend(ax)[0] == f"area {area:.3f}, on the rows of the fit"
    ax = model.plot("calibration")
    points = line(ax, "share in a tenth of the rows, 95% interval")
    order = np.array_split(np.argsort(p, kind="stable"), 10)
    np.testing.assert_allclose(points[:, 1], [data["ill"].to_numpy()[g].mean() for g in order])
    ax = model.plot("binned")
    assert len(line(ax, "mean of y − p in a group of rows")) == 12
    assert rendered(ax)


def test_groups_are_drawn_as_groups():
    dose, n, killed = np.array([1.69, 1.72, 1.76, 1.78, 1.81]), np.array([59, 60, 62, 56, 63]), [6, 13, 18, 28, 52]
    model = sx.LogisticRegression().fit(dose[:, None], killed, trials=n)
    points = line(model.plot("calibration"), "share in a tenth of the rows, 95% interval")
    np.testing.assert_allclose(points[:, 1], np.array(killed) / n)
    assert len(model.plot("residuals").lines[0].get_xydata()) == 5


def test_effects_are_predictions_with_the_others_held(linear):
    model, data = linear
    ax = model.plot("effect", "dose")
    drawn = ax.lines[0].get_xydata()
    rows = pd.DataFrame({"age": data["age"].mean(), "dose": drawn[:, 0]})
    np.testing.assert_allclose(drawn[:, 1], model.predict(rows))
    by_ward = sx.LogisticRegression.from_formula("ill ~ age + ward", data)
    ax = by_ward.plot("effect", "ward", data=data)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["A", "B", "C"]
    held = pd.DataFrame({"age": data["age"].mean(), "ward": ["A", "B", "C"]})
    np.testing.assert_allclose(ax.lines[0].get_ydata(), by_ward.predict_table(held)["mean"])
    assert ax.get_ylabel() == "probability of 1, 95% interval"
    several = sx.LogisticRegression.from_formula("ward ~ age", data)
    assert legend(several.plot("effect", "age", data=data)) == ["A", "B", "C"]
    assert rendered(ax)


def test_wrong_pictures_get_one_sentence(linear, logistic):
    model, data = linear
    for call, error, message in [
        (lambda: model.plot("pie"), ParameterError, "kind is 'pie'"),
        (lambda: model.plot("roc"), InferenceError, "two classes"),
        (lambda: model.plot("residuals", "age"), ParameterError, "go with kind='effect'"),
        (lambda: model.plot("residuals", level=0.9), ParameterError, "takes no option 'level'"),
        (lambda: model.plot("effect", "nope"), DataError, "column is 'nope'"),
        (lambda: model.plot(ax=3), ParameterError, "pass one matplotlib Axes"),
        (lambda: sx.LeastSquares.from_formula("days ~ ward", data).plot("effect", "ward"), InferenceError, "data="),
    ]:
        with pytest.raises(error, match=message) as said:
            call()
        assert "\n" not in str(said.value)
    three = sx.LogisticRegression().fit(data[["age", "dose"]], data["ward"])
    with pytest.raises(InferenceError, match="two classes"):
        three.plot("binned")

"""plot_boundary shows the model: the line is the hyperplane, the shades are the predictions, the marks are right."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from pictures import legend, line, rendered, scattered
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from separatrix import (
    KernelPerceptron,
    LeastSquares,
    LinearDiscriminant,
    LogisticRegression,
    MaxMargin,
    Perceptron,
    PolynomialMap,
    QuadraticDiscriminant,
    margin,
)
from separatrix.data.examples import load_example
from separatrix.plotting import plot_boundary
from separatrix.plotting.few_columns import slice_of_box
from separatrix.plotting.style import colour_of

SIX = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
SIGNS = np.array([-1, 1, 1, -1, -1, 1])
RNG = np.random.default_rng(0)
CLOUD = RNG.normal(size=(60, 2))
THREE = np.arange(60) % 3
SEPARABLE = load_example("separable")


def shade_at(ax, point):
    """The colours of the filled contours over a point."""
    found = set()
    for collection in ax.collections:
        filled = hasattr(collection, "levels") and collection.filled
        if filled and any(path.contains_point(point) for path in collection.get_paths()):
            found.add(tuple(np.round(collection.get_facecolor()[0], 2).tolist()))
    return found


def test_the_line_is_the_hyperplane_and_the_band_reaches_the_nearest_row():
    model = MaxMargin().fit(SEPARABLE.X, SEPARABLE.y)
    ax = plot_boundary(model, SEPARABLE.X, SEPARABLE.y)
    ends = line(ax, "hyperplane")
    assert np.abs(model.decision_function(ends)).max() < 1e-9 * np.abs(model.coef_).max() * np.abs(ends).max()
    proved = margin(SEPARABLE.X, SEPARABLE.y)
    assert f"margin: half-width {proved.lower:.4g}" in legend(ax)
    (band,) = [p for p in ax.patches if p.get_label().startswith("margin")]
    away = model.decision_function(band.get_xy()[:-1]) / np.linalg.norm(model.coef_)
    assert np.allclose(np.abs(away), proved.lower, rtol=1e-6)
    assert sorted(scattered(ax, f"support rows ({len(model.support_)})").tolist()) == sorted(
        SEPARABLE.X[model.support_].tolist()
    )


def test_rows_have_the_colour_of_their_class_and_misclassified_ones_a_ring():
    example = load_example("overlap")
    model = LogisticRegression().fit(example.X, example.y)
    ax = plot_boundary(model, example.X, example.y)
    for label in (0, 1):
        assert scattered(ax, str(label)).tolist() == example.X[example.y == label].tolist()
    wrong = model.predict(example.X) != example.y
    assert scattered(ax, f"misclassified ({wrong.sum()})").tolist() == example.X[wrong].tolist()
    assert not any(text.startswith("margin") for text in legend(ax))
    assert not any(text.startswith("misclassified") for text in legend(plot_boundary(model, example.X)))


@pytest.mark.parametrize(
    "model",
    [
        QuadraticDiscriminant(),
        LinearDiscriminant(),
        DecisionTreeClassifier(random_state=0),
        make_pipeline(PolynomialMap(2), LogisticRegression(C=1.0)),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_shades_are_the_predictions(model, classes):
    y = THREE % classes
    model.fit(CLOUD, y)
    ax = plot_boundary(model, CLOUD, y)
    points = RNG.uniform(-1.5, 1.5, size=(60, 2))
    right = [
        shade_at(ax, point) == {(*np.round(colour_of(label, classes), 2).tolist(), 0.16)}
        for point, label in zip(points, model.predict(points).tolist(), strict=True)
    ]
    assert sum(right) >= 57  # next to a boundary the grid decides


def test_feet_are_on_the_hyperplane():
    model = MaxMargin().fit(SIX, SIGNS)
    ax = plot_boundary(model, SIX, SIGNS, feet=[0])
    begin, end = line(ax, "foot points")
    assert begin.tolist() == SIX[0].tolist()
    assert model.decision_function(end[None])[0] == pytest.approx(0, abs=1e-12)
    assert (begin - end) @ [-model.coef_[0, 1], model.coef_[0, 0]] == pytest.approx(0, abs=1e-12)


def test_the_last_updates_are_arrows_along_y_x():
    model = Perceptron(trace=True).fit(SEPARABLE.X, SEPARABLE.y)
    ax = plot_boundary(model, SEPARABLE.X, SEPARABLE.y, updates=2)
    arrows = [note for note in ax.texts if note.get_text() == "" and note.arrow_patch is not None]
    assert len(arrows) == 2
    for note, i in zip(arrows, model.trace_.rows[-2:], strict=True):
        begin, end = np.array(note.xyann), np.array(note.xy)
        sign = 1 if SEPARABLE.y[i] == 1 else -1
        assert begin.tolist() == SEPARABLE.X[i].tolist()
        move = (end - begin) / np.linalg.norm(end - begin)
        assert np.allclose(move, sign * SEPARABLE.X[i] / np.linalg.norm(SEPARABLE.X[i]))
    assert {"updates y·x", "before the last updates"} <= set(legend(ax))
    before = model.trace_.replay(SEPARABLE.X, SEPARABLE.y).after(len(model.trace_) - 1)
    ends = line(ax, "before the last updates")
    assert np.abs(ends @ before[:-1] + before[-1]).max() < 1e-9 * np.abs(ends).max() * np.abs(before).max()


def test_ellipses_lie_one_and_two_deviations_from_the_means():
    example = load_example("gaussians")
    model = QuadraticDiscriminant().fit(example.X, example.y)
    ax = plot_boundary(model, example.X, example.y)
    rings = [drawn.get_xydata() for drawn in ax.lines if len(drawn.get_xydata()) == 120]
    assert len(rings) == 6
    for k in range(3):
        inverse = np.linalg.inv(model.covariances_[k])
        for ring, deviations in zip(rings[2 * k : 2 * k + 2], (1, 2), strict=True):
            away = ring - model.means_[k]
            assert np.allclose(np.einsum("ij,jk,ik->i", away, inverse, away), deviations**2)


def test_many_columns_are_drawn_by_the_distance_from_the_hyperplane():
    X = RNG.normal(size=(50, 5))
    y = (X @ [1, -1, 0.5, 0, 2] > 0) * 1
    model = MaxMargin().fit(X, y)
    ax = plot_boundary(model, X, y)
    away = model.decision_function(X) / np.linalg.norm(model.coef_)
    for label in (0, 1):
        assert np.allclose(scattered(ax, str(label))[:, 0], away[y == label])
    assert ax.get_xlabel() == "signed distance from the hyperplane"
    assert np.allclose(line(ax, "hyperplane")[:, 0], 0)


def test_two_columns_of_many_are_drawn_with_the_others_at_their_means():
    frame = pd.DataFrame(RNG.normal(size=(40, 4)), columns=list("abcd"))
    y = (frame["a"] - frame["d"] > 0) * 1
    model = LogisticRegression(C=1.0).fit(frame, y)
    ax = plot_boundary(model, frame, y, columns=("a", 3))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "d")
    ends = line(ax, "hyperplane")
    rows = np.tile(frame.to_numpy().mean(axis=0), (2, 1))
    rows[:, [0, 3]] = ends
    scores = model.decision_function(pd.DataFrame(rows, columns=list("abcd")))
    assert np.abs(scores).max() < 1e-9 * np.abs(ends).max()


def test_the_plane_in_three_dimensions():
    X = RNG.normal(size=(40, 3))
    y = (X.sum(axis=1) > 0.2) * 1
    model = MaxMargin().fit(X, y)
    ax = plot_boundary(model, X, y, columns=(0, 1, 2))
    assert {"hyperplane", "normal w", "0", "1"} == set(legend(ax))
    low, high = np.array([-2.0, -1.0, -3.0]), np.array([2.0, 2.0, 2.5])
    corners = slice_of_box(model.coef_[0], model.intercept_[0], low, high)
    assert np.abs(model.decision_function(corners)).max() < 1e-9
    assert ((corners >= low) & (corners <= high)).all()
    assert ((corners == low) | (corners == high)).sum(axis=1).min() >= 2  # on edges of the box
    assert len(slice_of_box(np.array([1.0, 0, 0]), 5.0, low, high)) == 0
    assert rendered(ax)
    given = plt.figure().add_subplot(projection="3d")
    assert plot_boundary(model, X, y, ax=given) is given


def test_one_column_and_regressors():
    example = load_example("bias")
    model = Perceptron().fit(example.X, example.y)
    ax = plot_boundary(model, example.X, example.y)
    at = -model.intercept_[0] / model.coef_[0, 0]
    assert np.allclose(line(ax, f"boundary at {at:.4g}")[:, 0], at)
    curve = load_example("curve")
    fitted = LeastSquares().fit(curve.X, curve.y)
    ax = plot_boundary(fitted, curve.X, curve.y)
    drawn = line(ax, "prediction")
    assert np.allclose(drawn[:, 1], fitted.predict(drawn[:, :1]))
    both = LeastSquares().fit(CLOUD, CLOUD @ [1, 2])
    assert rendered(plot_boundary(both, CLOUD, CLOUD @ [1, 2]))
    assert rendered(plot_boundary(both, CLOUD, columns=[1]))


def test_every_container_gives_the_same_picture():
    y = (CLOUD.sum(axis=1) > 0) * 1
    frame = pd.DataFrame(CLOUD, columns=["a", "b"])
    for X in (CLOUD, sp.csr_array(CLOUD), frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
        ax = plot_boundary(Perceptron(max_iter=1000).fit(X, y), X, y)
        assert np.allclose(scattered(ax, "0"), CLOUD[y == 0])
        assert len(line(ax, "hyperplane"))
    ax = plot_boundary(KernelPerceptron(max_iter=1000).fit(frame, y), frame, y)
    assert np.allclose(scattered(ax, "0"), CLOUD[y == 0])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=1.0)).fit(frame, y)
    assert rendered(plot_boundary(model, frame, y))


def test_of_many_rows_a_sample_is_drawn_and_all_are_counted():
    X = RNG.normal(size=(9000, 2))
    y = (X[:, 0] + 0.3 * RNG.normal(size=9000) > 0) * 1
    model = LinearDiscriminant().fit(X, y)
    ax = plot_boundary(model, X, y, feet=[8765])
    assert ax.get_title() == "2,001 of 9,000 rows drawn" or ax.get_title() == "2,000 of 9,000 rows drawn"
    wrong = int((model.predict(X) != y).sum())
    assert f"misclassified ({wrong:,})" in legend(ax)
    assert line(ax, "foot points")[0].tolist() == X[8765].tolist()


def test_weights_of_other_columns_are_no_hyperplane_of_these():
    frame = pd.DataFrame(CLOUD, columns=["a", "b"])
    frame["y"] = np.where(CLOUD[:, 0] - CLOUD[:, 1] + 0.5 * RNG.normal(size=60) > 0, "p", "q")
    plain = LogisticRegression.from_formula("y ~ a + b", frame)
    assert "hyperplane" in legend(plot_boundary(plain, frame[["a", "b"]], frame["y"]))
    for model in (plain, LogisticRegression.from_formula("y ~ exp(a) + b", frame)):
        columns = ["b", "a"] if model is plain else ["a", "b"]
        ax = plot_boundary(model, frame[columns], frame["y"])
        assert "hyperplane" not in legend(ax)
        boundary = [c for c in ax.collections if hasattr(c, "levels") and not c.filled]
        points = np.concatenate([path.vertices for drawn in boundary for path in drawn.get_paths()])
        scores = model.decision_function(pd.DataFrame(points, columns=columns))
        assert np.abs(scores).max() < 0.05 * np.abs(model.decision_function(frame)).max()

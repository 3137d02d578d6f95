"""Updates, runs, losses, descents, hulls and growing models: the artists hold the numbers."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest
from pictures import legend, line, rendered, scattered
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

import separatrix.plotting
from separatrix import (
    LeastSquares,
    LinearDescent,
    LinearDiscriminant,
    Perceptron,
    PolynomialMap,
    cross_validate,
    margin,
    separability,
)
from separatrix.data.examples import load_example
from separatrix.errors import ParameterError
from separatrix.models.descent import gradient_descent
from separatrix.numerics.losses import loss_of
from separatrix.plotting import (
    plot_boundary,
    plot_convergence,
    plot_descent,
    plot_losses,
    plot_mistakes,
    plot_overfitting,
    plot_update,
    plot_weight_path,
)
from separatrix.plotting.hulls import hull

SIX = np.array([(-1, 2), (1, 0), (1, 1), (-1, 0), (-1, -2), (1, -1)], dtype=float)
SIGNS = np.array([-1, 1, 1, -1, -1, 1])


@pytest.fixture
def replay():
    return Perceptron.recipe("online", trace=True).fit(SIX, SIGNS).trace_.replay(SIX, SIGNS)


def on_line(ends, w, b):
    return np.abs(ends @ np.asarray(w) + b).max() < 1e-9 * max(1.0, np.abs(ends).max())


def test_an_update_turns_the_line_by_y_x(replay):
    ax = replay.plot_update(2)
    assert ax.get_title() == "y s(x) from −1 to 1 (‖x‖² = 2)"
    assert replay.plot_update(1).get_title() == "y s(x) from 0 to 5 (‖x‖² = 5)"
    assert on_line(line(ax, "line before"), [1, -2], 0)
    assert on_line(line(ax, "line after"), [2, -1], 0)
    heads = [(note.xyann, note.xy) for note in ax.texts if note.get_text() == ""]
    tails = [tuple(map(tuple, np.array(ends).tolist())) for ends in heads]
    assert tails == [((0, 0), (1, -2)), ((1, -2), (2, -1)), ((0, 0), (2, -1))]
    assert rendered(ax)


def test_an_update_with_a_bias_moves_the_score_by_the_lifted_length():
    ax = plot_update([1.0, 0.0], [2.0, 1.0], -1, b=0.5)
    assert ax.get_title() == "y s(x) from −2.5 to 3.5 (‖x‖² = 5, plus 1 for the bias)"
    assert on_line(line(ax, "line after"), [-1, -1], -0.5)


def test_scaled_rows_and_weights_move_as_the_run_does():
    model = Perceptron(trace=True, normalize_rows=True, class_weight={1: 3.0}).fit(SIX, SIGNS)
    replay = model.trace_.replay(SIX, SIGNS)
    for k in range(1, len(replay) + 1):
        w = replay.after(k)
        assert on_line(line(replay.plot_update(k), "line after"), w[:-1], w[-1])


def test_the_path_and_the_mistakes_of_a_run(replay):
    ax = replay.plot_path()
    assert ax.lines[0].get_xydata().tolist() == [[0, 0], [1, -2], [2, -1], [3, 1]]
    assert [note.get_text() for note in ax.texts] == ["0", "1", "2", "3"]
    ax = replay.plot_mistakes()
    assert ax.lines[0].get_xydata().tolist() == [[1, 0], [2, 2], [3, 4]]
    bends = plot_weight_path([[0, 0], [1, 1], [0, 0]])
    assert [note.get_text() for note in bends.texts] == ["0, 2", "1"]
    long = plot_weight_path(np.cumsum(np.ones((100, 3)), axis=0), columns=(2, 0))
    assert (len(long.texts), long.get_xlabel()) == (0, "w2")
    assert rendered(plot_mistakes([], 3))


def test_the_sides_of_the_inequalities(replay):
    proof = replay.proof([1.0, 0.0])
    ax = replay.plot([1.0, 0.0])
    assert line(ax, "w*·w_k")[:, 1].tolist() == proof.inner.tolist()
    assert np.allclose(line(ax, "|w_k|·|w*|")[:, 1] ** 2, proof.norms2)
    assert (line(ax, "w*·w_k")[:, 1] >= line(ax, "w*·w₀ + k γ")[:, 1]).all()


def test_losses_and_slopes():
    names = ("squared", "logistic", "hinge", "perceptron")
    values, slopes = plot_losses(("zero_one", *names)), plot_losses(names, slope=True)
    for name, drawn in zip(names, values.lines[1:], strict=False):
        m, loss = drawn.get_xydata().T
        assert np.array_equal(loss, loss_of(name).value(m))
    for name, drawn in zip(names, slopes.lines, strict=False):
        m, slope = drawn.get_xydata().T
        told = np.isfinite(slope)
        assert np.array_equal(slope[told], loss_of(name).slope(m)[told])
        assert told.sum() >= len(m) - 1
    m, wrong = values.lines[0].get_xydata().T
    assert np.array_equal(wrong, (m < 0) * 1.0)


def test_a_descent_keeps_its_points_and_draws_them():
    def J(t):
        return float(t[0] ** 2 + 6 * t[1] ** 2)

    found = gradient_descent(J, [2.0, 1.0], gradient=lambda t: np.array([2 * t[0], 12 * t[1]]), step=0.1, max_iter=9)
    assert found.path.shape == (10, 2)
    expected = np.array([[2.0 * 0.8**k, (-0.2) ** k] for k in range(10)])
    assert np.allclose(found.path, expected)
    assert np.allclose([J(t) for t in found.trace.theta], found.trace.value)
    ax = found.plot(J)
    assert np.array_equal(ax.lines[0].get_xydata(), found.path)
    curve = found.trace.plot()
    assert np.array_equal(curve.lines[0].get_ydata(), found.trace.value)
    assert rendered(curve)
    assert rendered(plot_descent(lambda t: float(np.log(t[0])), [[1.0, 1.0], [0.5, 0.7]]))
    assert rendered(plot_convergence([3.0, 1.0]))


def test_linear_descents_keep_their_points():
    for batch in (None, 4):
        model = LinearDescent(batch_size=batch, max_iter=5, random_state=0, step=0.05, tol=0.0).fit(SIX, SIGNS)
        assert model.trace_.theta.shape == (5, 3)
        assert model.trace_.theta[0].tolist() == [0, 0, 0]
        shorter = LinearDescent(batch_size=batch, max_iter=3, random_state=0, step=0.05, tol=0.0)
        shorter.fit(SIX, SIGNS)
        assert model.trace_.theta[3].tolist() == [*shorter.coef_[0], shorter.intercept_[0]]


def test_the_gap_between_two_hulls():
    example = load_example("separable")
    found = margin(example.X, example.y)
    ax = found.plot()
    assert ax.get_title() == f"half-width {found.lower:.6g} (proved)"
    ends = line(ax, "nearest points")
    assert np.linalg.norm(ends[0] - ends[1]) == pytest.approx(2 * found.lower, rel=1e-6)
    assert on_line(line(ax, "hyperplane"), found.coef, found.intercept)
    assert sorted(scattered(ax, f"support rows ({len(found.support)})").tolist()) == sorted(
        example.X[found.support].tolist()
    )
    wide = np.random.default_rng(0).normal(size=(30, 4))
    apart = margin(wide, wide[:, 0] > 0).plot()
    ends = line(apart, "nearest points")
    assert ends[:, 0].tolist() == pytest.approx([-ends[1, 0], ends[1, 0]])
    assert rendered(margin([[1.0], [2.0], [4.0]], [0, 0, 1]).plot())
    assert "hyperplane" in legend(margin(SIX, SIGNS, fit_intercept=False).plot())


def test_hulls_that_meet_have_a_common_point():
    example = load_example("overlap")
    found = separability(example.X, example.y)
    ax = found.plot()
    (point,) = line(ax, "a point of both hulls")
    for k in (0, 1):
        corners = hull(example.X[example.y == k])
        sides = np.roll(corners, -1, axis=0) - corners
        away = point - corners
        assert (sides[:, 0] * away[:, 1] - sides[:, 1] * away[:, 0] >= -1e-9).all()
    rings = scattered(ax, f"rows that rule a hyperplane out ({len(found.witness)})")
    assert sorted(rings.tolist()) == sorted(example.X[found.witness].tolist())
    assert ax.get_title() == "no hyperplane separates the classes (proved)"
    assert "hyperplane" in legend(separability(SIX, SIGNS).plot())
    quasi = load_example("quasi")
    assert {"hyperplane", "a point of both hulls"} <= set(legend(separability(quasi.X, quasi.y).plot()))


def test_the_corners_of_a_hull():
    square = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0.0), (1, 1)], dtype=float)
    assert hull(square).tolist() == [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert hull(square[:1]).tolist() == [[0, 0]]
    assert sorted(hull(np.array([(0.0, 0.0), (1.0, 1.0), (2.0, 2.0)])).tolist()) == [[0, 0], [2, 2]]


def test_models_that_grow():
    curve = load_example("curve")
    learner = make_pipeline(PolynomialMap(), LeastSquares())
    ax = plot_overfitting(learner, curve.X, curve.y, "polynomialmap__degree", [1, 5])
    fitted = make_pipeline(PolynomialMap(5), LeastSquares()).fit(curve.X, curve.y)
    drawn = line(ax, "degree 5")
    assert np.allclose(drawn[:, 1], fitted.predict(drawn[:, :1]))
    overlap = load_example("overlap")
    learner = make_pipeline(PolynomialMap(), LinearDiscriminant())
    ax = plot_overfitting(learner, overlap.X, overlap.y, "polynomialmap__degree", [1, 3])
    assert legend(ax) == ["0", "1", "degree 1", "degree 3"]
    contours = [c for c in ax.collections if hasattr(c, "levels")]
    for degree, drawn in zip([1, 3], contours, strict=True):
        model = make_pipeline(PolynomialMap(degree), LinearDiscriminant()).fit(overlap.X, overlap.y)
        points = np.concatenate([path.vertices for path in drawn.get_paths()])
        assert np.abs(model.decision_function(points)).max() < 0.02


@pytest.mark.parametrize("module", [m.name for m in pkgutil.iter_modules(separatrix.plotting.__path__)])
def test_the_examples_of_the_docstrings(module):
    assert doctest.testmod(importlib.import_module(f"separatrix.plotting.{module}")).failed == 0


def test_folds_are_drawn_part_by_part():
    X, y = load_iris(return_X_y=True)
    cv = cross_validate(LinearDiscriminant(), X, y, folds=4, repeats=2, random_state=0)
    ax = cv.plot("accuracy")
    bars = [(bar.get_x(), bar.get_width(), bar.get_hatch()) for bar in ax.patches]
    assert len(bars) == 16
    judged = [(begin, width) for begin, width, hatch in bars if hatch]
    assert sum(width for _, width in judged) == 150
    assert [begin for begin, _ in judged] == np.cumsum([0, *(width for _, width in judged[:-1])]).tolist()
    values = [text.get_text() for text in ax.texts if "." in text.get_text()]
    assert values == [f"{v:.3f}" for v in cv.fold_values["accuracy"][:4]]
    with pytest.raises(ParameterError, match="there is no metric 'speed'"):
        cv.plot("speed")
    rendered(ax)


def test_a_loss_has_the_same_colour_in_every_picture():
    whole, slopes = plot_losses(), plot_losses(["logistic"], slope=True)
    colours = {line.get_label(): line.get_color() for line in whole.lines}
    assert slopes.lines[0].get_color() == colours[slopes.lines[0].get_label()]


def test_arrows_that_leave_the_axes_are_drawn():
    model = Perceptron.recipe("online", trace=True).fit(SIX, SIGNS)
    arrows = [text for text in plot_boundary(model, SIX, SIGNS, updates=3).texts if text.arrow_patch is not None]
    assert len(arrows) == 3
    assert all(arrow.get_annotation_clip() is False for arrow in arrows)

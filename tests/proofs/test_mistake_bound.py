"""Novikoff's bound: equality where it is tight, runs that respect it, whatever order, start and weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from separatrix import AveragedPerceptron, MarginPerceptron, Perceptron, margin, mistake_bound
from separatrix.errors import CertificateError, DataError, ParameterError

ORDERS = ["cyclic", "shuffle", "restart", "any", "worst"]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 40])
def test_unit_vectors_meet_the_bound(n):
    """y_i x_i = e_i with both labels, no bias, ties are mistakes: n mistakes, and n is the bound."""
    y = np.where(np.arange(n + 1) % 2, -1, 1)[: max(n, 2)]
    X = np.eye(max(n, 2)) * y[:, None]
    bound = mistake_bound(X, y, fit_intercept=False)
    model = Perceptron(fit_intercept=False, tie="mistake").fit(X, y)
    assert model.mistakes_ == len(y) == bound.most
    assert bound.bound == pytest.approx(len(y), rel=1e-12)
    assert bound.against(model).within


def test_half_width_in_place_of_the_lifted_margin_would_be_false():
    X, y = np.array([[57.0], [76.0]]), np.array([-1, 1])
    model = Perceptron(order="cyclic", max_iter=5000).fit(X, y)
    assert (model.mistakes_, model.n_iter_) == (7590, 4338)
    bound = mistake_bound(X, y)
    assert model.mistakes_ <= bound.most
    assert bound.radius**2 / margin(X, y).lower ** 2 < 65
    assert bound.against(model).within
    small = Perceptron(order="cyclic", max_iter=500).fit(np.array([[12.0], [18.0]]), y)
    assert small.mistakes_ == 367 <= mistake_bound(np.array([[12.0], [18.0]]), y).most


def test_the_bound_of_normalised_rows_is_for_their_run_only():
    X, y = np.array([[100.0, 0.0], [1.0, -1.0]]), np.array([1, -1])
    raw, unit = mistake_bound(X, y, fit_intercept=False), mistake_bound(X, y, fit_intercept=False, normalize_rows=True)
    assert reads(unit.bound, "6.8")
    model = Perceptron(order="cyclic", fit_intercept=False).fit(X, y)
    assert model.mistakes_ == 52 <= raw.most
    scaled = Perceptron(fit_intercept=False, normalize_rows=True).fit(X, y)
    assert unit.against(scaled).within
    with pytest.raises(ParameterError, match="normalize_rows"):
        unit.against(model)
    with pytest.raises(CertificateError, match="length 1"):
        _ = unit.certificate


def reads(value, text):
    return f"{value:.2g}" == text


def separable(rng):
    n, d = int(rng.integers(2, 25)), int(rng.integers(1, 5))
    star = rng.integers(-3, 4, d + 1).astype(float)
    X = rng.integers(-6, 7, (n, d)).astype(float)
    if rng.random() < 0.3:
        X += rng.standard_normal((n, d))
    scores = X @ star[:-1] + star[-1]
    X, y = X[scores != 0], np.sign(scores[scores != 0])
    return X, y


def run_within_bound(rng):
    """One random run beside its bound; False when the draw was no question."""
    X, y = separable(rng)
    if len(set(y.tolist())) < 2:
        return False
    intercept, unit = bool(rng.random() < 0.8), bool(rng.random() < 0.3)
    p = X.shape[1] + intercept
    start = [None, "ones", rng.integers(-9, 10, p).astype(float), 20 * rng.standard_normal(p)][rng.integers(4)]
    weights = [None, rng.choice([0.25, 1.0, 3.0], len(y)), rng.choice([0.0, 1.0, 2.5], len(y))][rng.integers(3)]
    if weights is not None and len(set(y[weights > 0].tolist())) < 2:
        return False
    bound = mistake_bound(X, y, fit_intercept=intercept, normalize_rows=unit, start=start, sample_weight=weights)
    if bound.most is None or bound.most > 20_000:
        return False
    model = Perceptron(
        order=ORDERS[rng.integers(5)],
        tie=["mistake", "positive"][rng.integers(2)],
        start="zeros" if start is None else start,
        normalize_rows=unit,
        fit_intercept=intercept,
        max_iter=np.inf,
        max_updates=bound.most + 1,
        random_state=int(rng.integers(1000)),
    ).fit(X, y, sample_weight=weights)
    beside = bound.against(model)
    assert beside.within, (X.tolist(), y.tolist(), beside)
    assert model.errors_ == 0
    assert bound.margin[0] <= bound.margin[1] * (1 + 1e-15)
    return True


def test_runs_respect_the_bound():
    rng = np.random.default_rng(0)
    assert sum(run_within_bound(rng) for _ in range(600)) > 250


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 9))
def test_thousands_of_runs_respect_the_bound(seed):
    rng = np.random.default_rng(seed)
    assert sum(run_within_bound(rng) for _ in range(2000)) > 800


def test_the_start_enters_as_the_formula_says():
    """By hand, x = +-1 on a line without bias: R = g = 1, so k <= 1 - 2a + sqrt(...) over 2."""
    X, y = np.array([[1.0], [-1.0]]), np.array([1, -1])
    for a in (-5.0, -0.5, 0.0, 3.0):
        bound = mistake_bound(X, y, fit_intercept=False, start=[a])
        model = Perceptron(fit_intercept=False, start=[a]).fit(X, y)
        expected = max(0.0, 1 - 2 * a) if a else 1.0
        assert bound.bound == pytest.approx(expected, abs=1e-12)
        assert bound.against(model).within


def test_weights_widen_the_bound():
    X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 0.5]]), np.array([1, 1, -1])
    one = mistake_bound(X, y)
    assert mistake_bound(X, y, sample_weight=[2.0, 2.0, 2.0]).bound == one.bound
    assert mistake_bound(X, y, sample_weight=[1.0, 3.0, 2.0]).bound == pytest.approx(9 * one.bound)
    fewer = mistake_bound(X, y, sample_weight=[0.0, 1.0, 1.0])
    assert fewer.bound == mistake_bound(X[1:], y[1:]).bound


def test_the_radius_is_exact():
    X = np.array([[3.0, 4.0], [3.0, 4.0000000000000009], [-1.0, 0.0]])
    bound = mistake_bound(X, [1, 1, 0])
    true = Fraction(9) + Fraction(4.0000000000000009) ** 2 + 1
    assert true <= Fraction(bound.radius) ** 2 < true * (1 + Fraction(1, 2**50))


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_a_model_of_another_run_is_refused():
    X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 0.5]]), np.array([1, 1, -1])
    bound = mistake_bound(X, y)
    assert bound.against(AveragedPerceptron().fit(X, y)).within
    for model, match in [
        (Perceptron(), "not fitted"),
        (Perceptron(fit_intercept=False).fit(X, y), "fit_intercept=False"),
        (Perceptron(start="ones").fit(X, y), "started elsewhere"),
        (Perceptron(start="random", random_state=0).fit(X, y), "trace=True"),
        (Perceptron(class_weight="balanced").fit(X, y), "weighs its classes"),
        (Perceptron().fit(X[:, :1], y), "other data"),
        (MarginPerceptron().fit(X, y), "not for it"),
    ]:
        with pytest.raises(ParameterError, match=match):
            bound.against(model)
    model = Perceptron(start="random", random_state=0, trace=True).fit(X, y)
    assert mistake_bound(X, y, start=model.trace_.start).against(model).within
    xor = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    assert "no bound" in str(mistake_bound(*xor).against(Perceptron().fit(*xor)))


def test_extreme_starts_weights_and_rows():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    far = mistake_bound(X, y, start=[1e300, -1e300])
    assert far.most > 10**290
    assert "start of length 1.41421e+300" in str(far)
    assert mistake_bound(X, y, sample_weight=[1e-300, 1e300]).bound == np.inf  # beyond doubles, but
    assert mistake_bound(X, y, sample_weight=[1e-300, 1e300]).most > 10**1000  # not beyond numbers
    assert mistake_bound(X * 1.7e308, y).most == 1


def test_bad_starts():
    X, y = np.array([[1.0], [-1.0]]), [1, 0]
    with pytest.raises(DataError, match="start has 3 entries"):
        mistake_bound(X, y, start=[1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="random"):
        mistake_bound(X, y, start="random")
    with pytest.raises(DataError, match="start"):
        mistake_bound(X, y, start=[np.nan])
    with pytest.raises(DataError, match="one class"):
        mistake_bound(X, y, sample_weight=[1.0, 0.0])


def test_passes_look_at_no_more_rows_than_the_bound_says():
    rng = np.random.default_rng(2)
    for seed in range(20):
        X = rng.normal(size=(30, 2))
        y = (X @ [1.0, -0.5] + 0.2 > 0) * 1
        bound = mistake_bound(X, y)
        assert bound.most_visits == 30 * (bound.most + 1)
        for order in ("cyclic", "shuffle", "restart"):
            model = Perceptron(order=order, max_iter=10**6, random_state=seed).fit(X, y)
            assert model.visits_ <= bound.most_visits
    exact = mistake_bound([[1.0], [-1.0]], [1, 0], fit_intercept=False)
    assert (exact.most, exact.most_visits) == (1, 4)
    assert Perceptron(fit_intercept=False).fit([[1.0], [-1.0]], [1, 0]).visits_ == 4
    assert mistake_bound([[1.0], [1.0]], [1, 0]).most_visits is None

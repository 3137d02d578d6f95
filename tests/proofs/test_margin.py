"""Margins: golden facts, brackets that the checker accepts, exact ones on dependent and tiny sets."""

from __future__ import annotations

import _thread
import threading
from decimal import Decimal
from fractions import Fraction

import hard_sets
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from separatrix import margin, mistake_bound, separability, verify


def proved(X, y, **options):
    found = margin(X, y, **options)
    if found.verdict != "undecided":
        verify(found.certificate, X, y)
    assert found.lower <= found.upper
    return found


def standardised(X):
    return (X - X.mean(0)) / X.std(0)


def least_distance(X, y, coef, intercept):
    return ((X @ coef + intercept) * np.where(y, 1, -1)).min()


# -- golden facts -----------------------------------------------------------------------------------

IRIS, CANCER, WINE, DIGITS = load_iris(), load_breast_cancer(), load_wine(), load_digits()

# Half-width, lifted margin, radius and (R/g)^2, as the reference tables of these sets print them.
GOLDEN = {
    "cancer z": (standardised(CANCER.data), CANCER.target == 0, "0.00139985", "0.00139252", "20.5699", "2.182e+08"),
    "cancer raw": (CANCER.data, CANCER.target == 0, "4.13713684255e-05", "4.137e-05", "4974.7", "1.45e+16"),
    "iris raw": (IRIS.data, IRIS.target == 0, "0.817556", "0.749117", "11.1562", "221.8"),
    "iris z": (standardised(IRIS.data), IRIS.target == 0, "0.716022", "0.531219", "3.67626", "47.9"),
    "wine 0 z": (standardised(WINE.data), WINE.target == 0, "0.468120", "0.434375", "6.24753", "206.9"),
    "wine 1 z": (standardised(WINE.data), WINE.target == 1, "0.219628", "0.204453", "6.24753", "933.7"),
    "wine 2 z": (standardised(WINE.data), WINE.target == 2, "0.450351", "0.358459", "6.24753", "303.8"),
    "wine 0": (WINE.data, WINE.target == 0, "0.343025", "0.0830467", "1683.65", "4.11e+08"),
    "wine 1": (WINE.data, WINE.target == 1, "0.188986", "0.0559254", "1683.65", "9.063e+08"),
    "wine 2": (WINE.data, WINE.target == 2, "0.297624", "0.243198", "1683.65", "4.793e+07"),
    "digits 0": (DIGITS.data, DIGITS.target == 0, "2.89800", "2.74840", "76.9025", "782.9"),
    "digits 1": (DIGITS.data, DIGITS.target == 1, "0.114673", "0.0349948", "76.9025", "4.829e+06"),
    "digits 2": (DIGITS.data, DIGITS.target == 2, "2.27059", "2.11239", "76.9025", "1325"),
    "digits 3": (DIGITS.data, DIGITS.target == 3, "0.130501", "0.120392", "76.9025", "4.08e+05"),
    "digits 4": (DIGITS.data, DIGITS.target == 4, "1.65364", "1.63188", "76.9025", "2221"),
    "digits 5": (DIGITS.data, DIGITS.target == 5, "0.981119", "0.845580", "76.9025", "8271"),
    "digits 6": (DIGITS.data, DIGITS.target == 6, "1.25883", "1.08101", "76.9025", "5061"),
    "digits 7": (DIGITS.data, DIGITS.target == 7, "1.06778", "1.05455", "76.9025", "5318"),
}


def digits_of(text):
    return len(text.partition("e")[0].replace(".", "").lstrip("0"))


def reads(value, text):
    return float(f"{value:.{digits_of(text)}g}") == float(text)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_margins_to_every_printed_digit(name):
    X, y, half_width, lifted, radius, bound = GOLDEN[name]
    found = proved(X, y)
    assert reads(found.lower, half_width)
    assert reads(found.upper, half_width)
    assert least_distance(X, y, found.coef, found.intercept) == pytest.approx(found.lower, rel=1e-3)
    novikoff = mistake_bound(X, y)
    verify(novikoff.certificate, X, y)
    assert reads(novikoff.margin[0], lifted)
    assert reads(novikoff.margin[1], lifted)
    assert reads(novikoff.radius, radius)
    assert reads(novikoff.bound, bound)


def test_the_square_of_the_margin_of_setosa_is_a_small_fraction():
    found = proved(np.rint(IRIS.data * 10), IRIS.target == 0, exact=True)
    assert found.squared == Fraction(10427, 156)
    assert proved(IRIS.data, IRIS.target == 0, exact=True, reading="decimal").squared == Fraction(10427, 15600)
    assert found.gap == 0
    assert "10427/156" in str(found)


def test_breast_cancer_where_floating_point_ends():
    """A double has 53 bits; the square of this margin needs thousands."""
    found = proved(CANCER.data, CANCER.target, exact=True)
    assert found.squared.denominator.bit_length() > 1000
    root = Decimal(found.squared.numerator) / Decimal(found.squared.denominator)
    assert f"{root.sqrt():.14e}" == "4.13713684254531e-5"
    assert Decimal(found.lower) <= root.sqrt() <= Decimal(found.upper)
    assert least_distance(CANCER.data, CANCER.target, found.coef, found.intercept) > 0


@pytest.mark.parametrize(
    ("name", "half_width", "lifted"),
    [("sms_spam_bow.svm", "0.139875", "0.137837"), ("rcv1_small.svm", "0.0413229", "0.0413229")],
)
def test_more_columns_than_rows(real_data, name, half_width, lifted):
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(real_data(name)))
    found = proved(X, y)
    assert found.gap < 1e-9
    assert reads(found.lower, half_width)
    assert reads(found.upper, half_width)
    bound = mistake_bound(X, y)
    verify(bound.certificate, X, y)
    assert reads(bound.margin[0], lifted)
    assert reads(bound.margin[1], lifted)


# -- the checker is the oracle: equal bounds that it accepts are the margin ------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_small_sets_exactly(seed):
    rng = np.random.default_rng(seed)
    seen = set()
    for _ in range(80):
        X, y = hard_sets.small(rng)
        intercept, reading = bool(rng.integers(2)), ["binary64", "decimal"][rng.integers(2)]
        found = proved(X, y, fit_intercept=intercept, exact=True, reading=reading)
        assert found.verdict == separability(X, y, fit_intercept=intercept, reading=reading).verdict
        assert found.squared is not None
        assert (found.squared > 0) == (found.verdict == "complete")
        seen.add(found.verdict)
        rough = proved(X, y, fit_intercept=intercept, reading=reading)
        assert Fraction(rough.lower) ** 2 <= found.squared <= Fraction(rough.upper) ** 2
        assert rough.gap <= 1e-8 or found.verdict != "complete"
    assert seen == {"complete", "quasi", "overlap"}


@pytest.mark.parametrize("seed", range(4))
def test_numerically_nasty_sets(seed):
    rng = np.random.default_rng(seed)
    for _ in range(25):
        X, y = hard_sets.nasty(rng)
        found = proved(X, y)
        assert found.verdict == separability(X, y).verdict
        if found.verdict == "complete":
            assert found.gap <= 1e-8
            bound = mistake_bound(X, y)
            verify(bound.certificate, X, y)
            assert 0 < bound.margin[0] <= bound.margin[1] <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize(
    "kind", ["duplicates", "grid", "cube", "collinear", "one row a class", "d = 1", "repeated column"]
)
def test_dependent_supports(kind):
    rng = np.random.default_rng(7)
    grid = np.array([[i, j] for i in range(-3, 4) for j in range(-3, 4) if i], dtype=float)
    sets = {
        "duplicates": (np.repeat(rng.integers(-3, 4, (10, 2)) + np.array([[0.0, 8.0]]), 5, axis=0), None),
        "grid": (grid, grid[:, 0] > 0),
        "cube": (np.array([[i, j, k] for i in (0.0, 2) for j in (0.0, 1) for k in (0.0, 1)]), None),
        "collinear": (np.outer(np.arange(10.0), [1, 2, 3]), np.arange(10) > 4),
        "one row a class": (np.array([[1.0, 2.0], [4.0, 6.0]]), np.array([False, True])),
        "d = 1": (np.array([[3.0], [-1.0], [5.0], [3.0]]), np.array([1, 0, 1, 1])),
        "repeated column": (np.repeat(grid[:, :1], 3, axis=1), grid[:, 0] > 0),
    }
    X, y = sets[kind]
    if kind == "duplicates":
        X, y = np.vstack([X, X - np.array([[0.0, 16.0]])]), np.repeat([1, 0], len(X))
    if kind == "cube":
        y = X[:, 0] > 1
    found = proved(X, y, exact=True)
    true = {
        "grid": 1,
        "cube": 1,
        "collinear": Fraction(14, 4),
        "one row a class": Fraction(25, 4),
        "d = 1": 4,
        "repeated column": 3,
    }
    assert found.squared == true.get(kind, found.squared)
    assert found.exact
    assert len(found.support) <= X.shape[1] + 1
    assert found.weights.sum() == pytest.approx(2)


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e-30, 1e30, 1e160, 1e300])
@pytest.mark.parametrize("intercept", [True, False])
def test_any_scale(scale, intercept):
    X = np.array([[1.0, 1], [2, 3], [2, 1], [-1, -2], [-3, 1], [-2, -2]]) * scale
    y = np.array([1, 1, 1, 0, 0, 0])
    found = proved(X, y, fit_intercept=intercept, exact=True)
    one = margin(np.rint(X / scale), y, fit_intercept=intercept, exact=True)
    if scale == 5e-324:  # the only one of these whose products with small numbers are exact
        assert found.squared == one.squared * Fraction(scale) ** 2
    assert found.lower == pytest.approx(one.lower * scale, rel=1e-12)
    rough = proved(X, y, fit_intercept=intercept)
    assert rough.lower <= found.upper
    bound = mistake_bound(X, y, fit_intercept=False)
    assert bound.bound == pytest.approx(mistake_bound(np.rint(X / scale), y, fit_intercept=False).bound, rel=1e-9)


def test_columns_of_very_different_sizes():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4)) * np.array([1e-200, 1.0, 1e5, 1e200])
    y = X[:, 1] > 0
    for exact in (False, True):
        found = proved(X, y, exact=exact)
        assert found.verdict == "complete"
    assert found.exact


def test_forms_of_the_same_data_agree():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((300, 6)), 1)
    y = np.where(X[:, 0] - X[:, 1] + 0.05 > 0, "b", "a")
    one = proved(X, y, exact=True)
    for other in (sparse.csr_array(X), sparse.csc_matrix(X), np.asfortranarray(X), X.tolist()):
        assert margin(other, y, exact=True).squared == one.squared
    small = X.astype(np.float32)
    assert margin(small, y, exact=True).squared == margin(small.astype(np.float64), y, exact=True).squared


def test_many_columns_and_rows_that_join_late():
    rng = np.random.default_rng(5)
    X = sparse.random_array((6000, 1200), density=0.01, rng=rng, format="csr")
    X = sparse.csr_array(sparse.hstack([X, rng.standard_normal((6000, 1))], format="csr"))
    y = X[:, [1200]].toarray().ravel() > 0
    found = proved(X, y)
    assert found.verdict == "complete"
    assert found.gap < 1e-8
    small = sparse.csr_array(X[:300])
    assert proved(small, y[:300]).lower == pytest.approx(margin(small.toarray(), y[:300]).lower, rel=1e-9)


def test_rows_that_all_lie_on_the_margin():
    """Twenty thousand ties, and more than one support: the exact margin is a half all the same."""
    X = (np.random.default_rng(0).random((20_000, 12)) < 0.5).astype(float)
    y = X[:, 0] > 0
    assert proved(X, y, exact=True).squared == Fraction(1, 4)
    bound = mistake_bound(X, y, normalize_rows=True)
    assert 0 < bound.margin[0] <= bound.margin[1] <= bound.margin[0] * (1 + 1e-9)


def test_an_interruption_ends_a_long_search():
    rng = np.random.default_rng(9)
    X, y = rng.standard_normal((1900, 3000)), rng.integers(0, 2, 1900)  # separable, and held by nearly every row
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        margin(X, y)


def test_relations_between_margins():
    """Shifting changes no half-width; scaling scales it; labels negated negate the hyperplane."""
    rng = np.random.default_rng(1)
    X = rng.integers(-50, 50, (80, 3)).astype(float)
    y = X @ [1.0, -2.0, 0.5] > 3.2
    one = proved(X, y, exact=True)
    assert proved(X + 1000.0, y, exact=True).squared == one.squared
    assert proved(X * 4.0, y, exact=True).squared == one.squared * 16
    turned = proved(X, ~y, exact=True)
    assert turned.squared == one.squared
    np.testing.assert_allclose(turned.coef, -one.coef, atol=1e-12)
    np.testing.assert_allclose(turned.intercept, -one.intercept)
    assert proved(X, y, fit_intercept=False).upper <= one.upper

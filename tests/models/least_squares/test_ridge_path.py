"""Ridge along the whole path alpha -> 0, and at alpha = 0, against the exact rational solution."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from exact_least_squares import apart, exact_ridge
from sklearn.datasets import make_regression

import separatrix as sx
from separatrix.errors import CollinearWarning, PrecisionWarning

ALPHAS = (0.0, 1e-300, 1e-100, 1e-30, 1e-24, 1e-20, 1e-16, 1e-14, 1e-12, 1e-10, 1e-8, 1e-4, 1.0, 1e4, 1e100, 1e300)
SHAPES = {"wide": (8, 14), "tall": (18, 6), "square": (9, 9), "nearly square": (9, 8)}
KINDS = ("plain", "weights", "units", "offset", "rank", "rank and units")


def rounded(values, bits=20):
    return np.ldexp(np.rint(np.ldexp(values, bits)), -bits)


def example(shape, kind):
    """Rows whose rank is the same in exact arithmetic and by the rule."""
    n, d = SHAPES[shape]
    rng = np.random.default_rng(n * d + KINDS.index(kind))
    X, y, c = rounded(rng.normal(size=(n, d))), rounded(rng.normal(size=n) + 3), None
    if "rank" in kind:
        half = max(2, min(n, d) // 2)
        X = (rng.integers(-9, 10, (n, half)) @ rng.integers(-9, 10, (half, d))).astype(float)
    if "units" in kind:
        X = X * 2.0 ** rng.integers(-20, 21, d)
    if kind == "offset":
        X = X + 1000.0
    if kind == "weights":
        c = rng.integers(0, 5, n) / 2
    return X, y, c


INTERCEPTS = {
    "free": {"fit_intercept": True},
    "none": {"fit_intercept": False},
    "penalised": {"fit_intercept": True, "penalize_intercept": True},
}


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_penalty_has_the_exact_solution(shape, kind, intercept):
    X, y, c = example(shape, kind)
    options = INTERCEPTS[intercept]
    for alpha in ALPHAS:
        exact = exact_ridge(X, y, alpha, c, **options)
        for solver in ("auto", "svd", "qr"):
            model = sx.LeastSquares(alpha, solver=solver, **options).fit(X, y, sample_weight=c)
            assert apart([*model.coef_, model.intercept_], exact) < 1e-12, (alpha, solver, model.solver_)
    coefs, intercepts = sx.LeastSquares(**options).path(X, y, ALPHAS, sample_weight=c)
    for alpha, coef, b in zip(ALPHAS, coefs, intercepts, strict=True):
        assert apart([*coef, b], exact_ridge(X, y, alpha, c, **options)) < 1e-12, alpha


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
@pytest.mark.filterwarnings("ignore::separatrix.errors.PrecisionWarning")
@pytest.mark.parametrize("kind", ["plain", "weights", "rank"])
@pytest.mark.parametrize("shape", SHAPES)
def test_moments_never_divide_their_rounding_by_a_small_penalty(shape, kind):
    X, y, c = example(shape, kind)
    for alpha in ALPHAS:
        exact = exact_ridge(X, y, alpha, c)
        model = sx.LeastSquares(alpha).partial_fit(X, y, sample_weight=c)
        assert apart([*model.coef_, model.intercept_], exact) < 1e-8, alpha


def test_moments_say_that_they_lose_digits():
    X, y, _ = example("wide", "plain")
    with pytest.warns(PrecisionWarning, match="moments keep about 7 digits"):
        sx.LeastSquares(1e-6, solver="moments").fit(X, y)


@pytest.mark.parametrize("convert", [sp.csr_array, np.float32], ids=["sparse", "float32"])
def test_sparse_and_single_precision_rows_have_it_too(convert):
    X, y, _ = example("wide", "plain")
    X = rounded(X, 10)
    for alpha in ALPHAS:
        model = sx.LeastSquares(alpha).fit(convert(X), y)
        assert apart([*model.coef_, model.intercept_], exact_ridge(X, y, alpha)) < 1e-12


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("kind", ["plain", "weights", "rank"])
def test_sparse_rows_of_very_many_columns_have_it_too(kind, intercept):
    X, y, c = example("wide", kind)
    columns = np.arange(X.shape[1]) * 400
    wide = sp.lil_array((len(X), 6000))
    wide[:, columns] = X
    for alpha in ALPHAS:
        model = sx.LeastSquares(alpha, **INTERCEPTS[intercept]).fit(wide.tocsr(), y, sample_weight=c)
        exact = exact_ridge(X, y, alpha, c, **INTERCEPTS[intercept])
        assert model.solver_ == "wide"
        assert apart([*model.coef_[columns], model.intercept_], exact) < 1e-10, alpha


@pytest.mark.parametrize("solver", ["auto", "svd", "qr", "moments"])
@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-20, 1e-15])
def test_a_tiny_penalty_still_interpolates_wide_rows(alpha, solver):
    X, y = make_regression(50, 100, noise=0, bias=10, random_state=42)
    if solver == "moments" and alpha == 0:
        with pytest.warns(CollinearWarning):
            model = sx.LeastSquares(alpha, solver=solver).fit(X, y)
    else:
        model = sx.LeastSquares(alpha, solver=solver).fit(X, y)
    assert model.score(X, y) == pytest.approx(1.0, abs=1e-12)
    assert model.effective_rank_ == pytest.approx(50.0, abs=1e-10)
    labels = y > np.median(y)
    classifier = sx.LeastSquaresClassifier(1e-20, solver=solver).fit(X, labels)
    np.testing.assert_allclose(classifier.decision_function(X), np.where(labels, 1.0, -1.0), atol=1e-9)


def test_effective_rank_falls_from_the_rank_to_one():
    X, y, _ = example("square", "rank")
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:4]
    for alpha in ALPHAS[1:]:
        wanted = 1 + float((values**2 / (values**2 + alpha)).sum())
        assert sx.LeastSquares(alpha).fit(X, y).effective_rank_ == pytest.approx(wanted, rel=1e-6), alpha


def test_weights_of_columns_without_spread_are_zero():
    X, y, _ = example("wide", "plain")
    X[:, 3] = 0.1
    for alpha in (0.0, 1e-20, 1.0):
        assert sx.LeastSquares(alpha).fit(X, y).coef_[3] == 0
    for alpha in (0.0, 1.0):
        nothing = sx.LeastSquares(alpha).fit(sp.csr_array((3, 5000)), [1.0, 2.0, 6.0])
        assert nothing.intercept_ == 3
        assert not nothing.coef_.any()


@pytest.mark.parametrize(
    ("shift", "level", "options"),
    [(1e7, 0.0, {}), (0.0, 1e9, {"fit_intercept": False}), (0.0, 1e9, {"penalize_intercept": True})],
    ids=["far column", "far target", "penalised intercept"],
)
def test_single_weights_far_from_zero_have_twelve_digits(shift, level, options):
    rng = np.random.default_rng(3)
    for _ in range(10):
        half = rounded(rng.normal(size=(6, 3)))
        X = np.vstack([half, -half])
        X[:, 0] += shift
        y = rounded(rng.normal(size=12)) + level
        exact = exact_ridge(X, y, 0.5, None, **options)[:3]
        model = sx.LeastSquares(0.5, **options).fit(X, y)
        assert model.solver_ in ("corrected", "refined")
        for got, wanted in zip(model.coef_, exact, strict=True):
            assert apart([got], [wanted]) < 1e-11


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_dependent_columns_far_from_zero_with_a_target_far_from_zero():
    X = np.array([[51652496, 7.0], [51652492, 7.0], [51652492, 7.0], [51652496, 7.0]])
    model = sx.LeastSquares().fit(X, np.array([-2.0, 2.0, 1.0, -1.0]) + 1e12)
    assert model.coef_.tolist() == [-0.75, 0.0]
    assert model.rss_ == 1.0


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_several_targets_where_corrections_do_not_shrink():
    rng = np.random.default_rng(5328)
    X = rng.normal(size=(7, 4))
    X[:, 0] = X[:, 3]
    Y = 1e-5 * rng.normal(size=(7, 2)) + 1e4
    c = np.array([2e-3, 2e-4, 1e-5, 2.5, 1.7e-4, 2.2e5, 1.1e3])
    both = sx.LeastSquares().fit(X, Y, sample_weight=c)
    for k in range(2):
        alone = sx.LeastSquares().fit(X, Y[:, k], sample_weight=c)
        np.testing.assert_array_equal(both.coef_[k], alone.coef_)
        assert both.intercept_[k] == alone.intercept_


@pytest.mark.parametrize("size", [1e-60, 1e-19, 1e90, 1e120])
def test_least_norm_with_the_intercept_beside_columns_of_any_unit(size):
    rng = np.random.default_rng(4)
    for n, d in ((2, 3), (3, 5), (4, 5), (12, 4)):
        X, y = rng.normal(size=(n, d)) * size, rng.normal(size=n)
        exact = exact_ridge(X, y, 0.0, None, penalize_intercept=True)
        for solver in ("auto", "svd"):
            model = sx.LeastSquares(penalize_intercept=True, solver=solver).fit(X, y)
            assert apart(model.coef_, exact[:-1]) < 1e-11, (n, d, solver)


def random_problem(rng):
    n, d = rng.integers(2, 14), rng.integers(1, 14)
    X = rounded(rng.normal(size=(n, d)), int(rng.integers(0, 30)))
    kind = rng.integers(0, 6)
    if kind == 1:
        rank = rng.integers(1, min(n, d) + 1)
        X = (rng.integers(-9, 10, (n, rank)) @ rng.integers(-9, 10, (rank, d))).astype(float)
    if kind in (2, 3):
        X = X * 2.0 ** rng.integers(-20, 21, d)
    if kind == 3:
        X[:, rng.integers(d)] = X[:, 0]
    if kind == 4:
        X = X + 10.0 ** rng.integers(0, 6)
    if kind == 5:
        X = X[rng.integers(0, n, n)]
    y = rounded(rng.normal(size=n) * 10.0 ** rng.integers(-3, 4) + rng.integers(-5, 6), 30)
    c = rng.integers(0, 5, n) / 2 if rng.random() < 0.3 else None
    return X, y, c if c is None or c.any() else None


@pytest.mark.filterwarnings("ignore::separatrix.errors.CollinearWarning")
def test_random_problems_and_penalties():
    rng = np.random.default_rng(11)
    for _ in range(150):
        X, y, c = random_problem(rng)
        options = INTERCEPTS[("free", "none", "penalised")[rng.integers(3)]]
        alpha = 0.0 if rng.random() < 0.15 else 10.0 ** rng.uniform(-40, 10)
        exact = exact_ridge(X, y, alpha, c, **options)
        for solver in ("auto", "svd", "qr"):
            model = sx.LeastSquares(alpha, solver=solver, **options).fit(X, y, sample_weight=c)
            assert apart([*model.coef_, model.intercept_], exact) < 1e-10, (alpha, solver, model.solver_)

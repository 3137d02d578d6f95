"""Folds that share moments give what folds fitted apart give."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.errors import DataError, FoldError

MOMENTS = "moments of the folds, merged"


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "learner",
    [
        sx.LeastSquares(),
        sx.LeastSquares(alpha=3.0),
        sx.LeastSquares(alpha=1.0, penalize_intercept=True),
        sx.LeastSquares(fit_intercept=False),
        sx.LeastSquaresClassifier(),
        sx.LeastSquaresClassifier(alpha=2.0, fit_intercept=False),
        sx.LinearDiscriminant(),
        sx.LinearDiscriminant(covariance="diagonal", shrinkage=0.2, divisor="unbiased"),
        sx.QuadraticDiscriminant(shrinkage=0.1),
    ],
)
def test_shared_folds_are_separate_folds(learner, weighted):
    X, y = load_diabetes(return_X_y=True) if isinstance(learner, sx.LeastSquares) else load_wine(return_X_y=True)
    w = np.random.default_rng(0).random(len(y)) if weighted else None
    a = sx.cross_validate(learner, X, y, sample_weight=w, random_state=1)
    b = sx.cross_validate(learner, X, y, sample_weight=w, random_state=1, share=False)
    assert (a.shared, b.shared) == (MOMENTS, None)
    for name, values in b.fold_values.items():
        np.testing.assert_allclose(a.fold_values[name], values, rtol=1e-7, err_msg=name)


def test_penalties_judged_by_moments_are_those_of_fits():
    X, y = load_diabetes(return_X_y=True)
    alphas = [0.0, 1e-3, 0.1, 1.0, 30.0]
    for learner in (sx.LeastSquares(), sx.LeastSquares(penalize_intercept=True), sx.LeastSquares(fit_intercept=False)):
        for metric in ("mse", "rmse"):
            a = sx.Selector(learner, {"alpha": alphas}, metric=metric, random_state=0).fit(X, y)
            b = sx.Selector(learner, {"alpha": alphas}, metric=metric, random_state=0, share=False).fit(X, y)
            assert a.best_params_ == b.best_params_
            a, b = a.selection_, b.selection_
            assert (a.shared, b.shared) == (MOMENTS, None)
            np.testing.assert_allclose(a.fold_values, b.fold_values, rtol=1e-8)
    folds = list(zip(*_folds(len(y)), strict=True))
    ours = sx.Selector(sx.LeastSquares(), {"alpha": alphas[1:]}, folds=folds).fit(X, y).selection_
    theirs = GridSearchCV(Ridge(), {"alpha": alphas[1:]}, cv=folds, scoring="neg_mean_squared_error").fit(X, y)
    np.testing.assert_allclose(ours.means, -theirs.cv_results_["mean_test_score"], rtol=1e-9)


def test_columns_away_from_zero_are_shared_and_the_chosen_one_is_a_fit():
    X, y = load_diabetes(return_X_y=True)
    away, grid = X * 20 + np.arange(X.shape[1]), {"alpha": [0.01, 1.0, 100.0]}
    a = sx.Selector(sx.LeastSquares(), grid, random_state=0).fit(away, y)
    b = sx.Selector(sx.LeastSquares(), grid, random_state=0, share=False).fit(away, y)
    assert (a.selection_.shared, b.selection_.shared) == (MOMENTS, None)
    np.testing.assert_allclose(a.selection_.fold_values, b.selection_.fold_values, rtol=1e-8)
    a, b = a.best_estimator_, b.best_estimator_
    for name in ("coef_", "intercept_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-9)
    np.testing.assert_allclose(a.predict(away), b.predict(away), rtol=1e-9)


def _folds(n):
    part = np.arange(n) % 4
    return [np.flatnonzero(part != k) for k in range(4)], [np.flatnonzero(part == k) for k in range(4)]


def test_what_cannot_be_shared_is_fitted():
    X, y = load_diabetes(return_X_y=True)
    for learner in (sx.LeastSquares(solver="qr"), make_pipeline(StandardScaler(), sx.LeastSquares()), Ridge()):
        assert sx.cross_validate(learner, X, y, random_state=0).shared is None
    assert sx.cross_validate(sx.LeastSquares(), X, y, random_state=0, repeats=2).shared is None
    assert sx.cross_validate(sx.LeastSquares(), X, y, time=np.arange(len(y))).shared is None
    assert (
        sx.Selector(sx.LeastSquares(), {"alpha": [1.0]}, metric="r2", random_state=0).fit(X, y).selection_.shared
        is None
    )
    steep = X.copy()
    steep[:, 0] = steep[:, 1] + 1e-7 * steep[:, 0]  # a condition that moments would lose digits to
    a, b = (sx.cross_validate(sx.LeastSquares(), steep, y, random_state=0, share=share) for share in (True, False))
    np.testing.assert_allclose(a.fold_values["mse"], b.fold_values["mse"], rtol=1e-9)


def test_errors_are_those_of_the_folds():
    X, y = load_wine(return_X_y=True)
    constant = np.column_stack([X, y == 0])  # differs between classes, and varies in none
    for share in (True, False):
        with pytest.raises(FoldError, match="its density does not exist"):
            sx.cross_validate(sx.LinearDiscriminant(), constant, y, random_state=0, share=share)
    X = X.copy()
    X[7, 3] = np.nan
    with pytest.raises(DataError, match="NaN at row 7, column 3"):
        sx.cross_validate(sx.LinearDiscriminant(), X, y, random_state=0)


def test_infinities_and_nans_are_found_though_rows_are_read_once():
    X, y = load_wine(return_X_y=True)
    for bad in (np.nan, np.inf, -np.inf):
        for weight in (None, np.ones(len(y))):
            wrong = X.copy()
            wrong[9, 2] = bad
            with pytest.raises(DataError, match="at row 9, column 2"):
                sx.cross_validate(sx.LinearDiscriminant(), wrong, y, sample_weight=weight, random_state=0)
            with pytest.raises(DataError, match="row"):
                sx.Selector(sx.LeastSquares(), {"alpha": [1.0, 2.0]}).fit(wrong, X[:, 0], sample_weight=weight)
    silent = np.ones(len(y))
    silent[9] = 0.0
    with pytest.raises(DataError, match="at row 9, column 2"):  # a row without weight is judged nonetheless
        sx.cross_validate(sx.LinearDiscriminant(), wrong, y, sample_weight=silent, random_state=0)


def test_weights_that_must_not_be_negative_are_not_shared():
    X, y = load_diabetes(return_X_y=True)
    apart = sx.cross_validate(sx.LeastSquares(positive=True), X, y, random_state=0, share=False)
    found = sx.cross_validate(sx.LeastSquares(positive=True), X, y, random_state=0)
    assert found.shared is None
    np.testing.assert_array_equal(found.fold_values["mse"], apart.fold_values["mse"])
    chosen = sx.Selector(sx.LeastSquares(positive=True), {"alpha": [0.1, 1.0]}, random_state=0).fit(X, y)
    assert chosen.selection_.shared is None
    assert (chosen.best_estimator_.coef_ >= 0).all()


@pytest.mark.parametrize("alpha", [0.0, 1e-6])
def test_errors_far_below_the_spread_of_y_have_their_digits(alpha):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(34, 3))
    y = X @ [1.0, -2.0, 0.5] + 1e-10 * rng.normal(size=34)
    learner = sx.LeastSquares(alpha)
    wanted = sx.cross_validate(learner, X, y, folds=3, share=False, random_state=0).fold_values["mse"]
    shared = sx.cross_validate(learner, X, y, folds=3, random_state=0).fold_values["mse"]
    chosen = sx.Selector(learner, {"alpha": [alpha]}, folds=3, random_state=0).fit(X, y).selection_.fold_values[0]
    np.testing.assert_allclose(shared, wanted, rtol=1e-4)
    np.testing.assert_allclose(chosen, wanted, rtol=1e-4)


def test_a_fold_without_a_weight_is_refused():
    rng = np.random.default_rng(0)
    X, y, c = rng.normal(size=(12, 2)), rng.normal(size=12), np.ones(12)
    c[3] = 0.0
    for share in (True, False):
        with pytest.raises(DataError, match="zero in every row of fold"):
            sx.cross_validate(sx.LeastSquares(), X, y, folds=12, sample_weight=c, share=share, random_state=0)
    with pytest.raises(DataError, match="zero in every row of fold"):
        sx.Selector(sx.LeastSquares(), {"alpha": [0.1, 1.0]}, folds=12, random_state=0).fit(X, y, sample_weight=c)


def test_penalties_of_columns_in_very_different_units():
    rng = np.random.default_rng(163)
    alike = rng.normal(size=(60, 4)) + rng.normal(size=(60, 1))
    X, y = alike * np.array([1.0, 1e-4, 1e4, 1e-2]), alike.sum(axis=1) + 0.1 * rng.normal(size=60)
    found = sx.Selector(sx.LeastSquares(), {"alpha": [0.0, 1e-9, 1e-3]}, folds=3, random_state=0).fit(X, y).selection_
    assert found.shared == MOMENTS
    for params, values in zip(found.params, found.fold_values, strict=True):
        alone = sx.cross_validate(sx.LeastSquares(**params), X, y, folds=3, share=False, random_state=0)
        np.testing.assert_allclose(values, alone.fold_values["mse"], rtol=1e-8)

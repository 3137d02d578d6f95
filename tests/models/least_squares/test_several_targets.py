"""Several targets at once are the targets one by one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LinearRegression, Ridge

import separatrix as sx
from separatrix.errors import DataError, InferenceError, ParameterError
from separatrix.export import to_sql


def example(n=50, d=5, k=3):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) + 1
    return X, X @ rng.normal(size=(d, k)) + rng.normal(size=(n, k)) + 2


@pytest.mark.parametrize("n", [50, 4])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["auto", "qr", "svd"])
@pytest.mark.parametrize("positive", [False, True])
def test_each_target_is_fitted_by_itself(n, alpha, solver, positive):
    X, Y = example(n)
    c = np.random.default_rng(0).integers(1, 4, n) / 2
    model = sx.LeastSquares(alpha, solver=solver, positive=positive).fit(X, Y, sample_weight=c)
    assert model.coef_.shape == (3, 5)
    assert model.intercept_.shape == model.rss_.shape == (3,)
    for k in range(3):
        one = sx.LeastSquares(alpha, solver=solver, positive=positive).fit(X, Y[:, k], sample_weight=c)
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(model.intercept_[k], one.intercept_, rtol=1e-12)
        np.testing.assert_allclose(model.predict(X)[:, k], one.predict(X), rtol=1e-12)
        np.testing.assert_allclose(model.rss_[k], one.rss_, rtol=1e-9, atol=1e-20)


def test_scikit_learn_agrees(tmp_path):
    X, Y = example()
    for ours, theirs in ((sx.LeastSquares(), LinearRegression()), (sx.LeastSquares(2.0), Ridge(2.0, solver="svd"))):
        ours.fit(X, Y)
        theirs.fit(X, Y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-10)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-10)
        assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), rel=1e-12)
        np.testing.assert_allclose(ours.moment_vector_, np.column_stack([X, np.ones(50)]).T @ Y, rtol=1e-12)
        assert np.array_equal(sx.load(sx.save(ours, tmp_path / "m.sepx")).predict(X), ours.predict(X))
    column = sx.LeastSquares().fit(X, Y[:, :1])
    assert column.coef_.shape == (1, 5)
    assert column.predict(X).shape == (50, 1)


def test_chunks_frames_paths_and_sparse_rows():
    X, Y = example()
    whole = sx.LeastSquares(0.3).fit(X, pd.DataFrame(Y, columns=list("abc")))
    parts = sx.LeastSquares(0.3).partial_fit(X[:20], Y[:20]).partial_fit(X[20:], Y[20:])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-11)
    np.testing.assert_allclose(sx.LeastSquares(0.3).fit(sp.csr_array(X), Y).coef_, whole.coef_, rtol=1e-12)
    coefs, intercepts = sx.LeastSquares().path(X, Y, [0.3, 3.0])
    np.testing.assert_allclose(coefs[0], whole.coef_, rtol=1e-12)
    np.testing.assert_allclose(intercepts[0], whole.intercept_, rtol=1e-12)
    assert np.isfinite(whole.sigma2_).all()


def test_what_several_targets_cannot_have():
    X, Y = example()
    model = sx.LeastSquares().fit(X, Y)
    for ask in (model.summary, lambda: model.predict_interval(X)):
        with pytest.raises(InferenceError, match="y had 3 columns: fit each target by itself"):
            ask()
    for bad in (Y[:, 0], Y[:, :2]):
        with pytest.raises(DataError, match="pass the same targets"):
            model.partial_fit(X, bad)
        with pytest.raises(DataError):
            model.score(X, bad)
    with pytest.raises(DataError, match="column 1 of y has nan at position 3"):
        model.fit(X, np.where((np.arange(50)[:, None] == 3) & (np.arange(3) == 1), np.nan, Y))
    with pytest.raises(DataError, match="y has no columns"):
        model.fit(X, Y[:, :0])
    with pytest.raises(ParameterError, match="3 targets"):
        to_sql(model)

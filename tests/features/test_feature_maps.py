"""Feature maps: scikit-learn's numbers, our errors, and names that go along."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
import separatrix as sx
from separatrix.errors import DataError, ParameterError
from separatrix.features.feature_maps import products_of

MAPS = [sx.PolynomialMap(), sx.SplineMap(), sx.FourierMap(20, random_state=0)]

with warnings.catch_warnings():
    warnings.filterwarnings("ignore", message="Estimator .* does not inherit from")
    each_check = parametrize_with_checks(MAPS)


@each_check
@pytest.mark.filterwarnings("ignore")
def test_protocol(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(50, 3))


def test_numbers_are_scikit_learns(X):
    np.testing.assert_array_equal(
        sx.PolynomialMap(3).fit_transform(X), PolynomialFeatures(3, include_bias=False).fit_transform(X)
    )
    np.testing.assert_array_equal(
        sx.SplineMap(6, beyond="linear").fit_transform(X),
        SplineTransformer(6, knots="quantile", extrapolation="linear", include_bias=False).fit_transform(X),
    )
    np.testing.assert_array_equal(
        sx.FourierMap(30, gamma=0.5, random_state=1).fit_transform(X),
        RBFSampler(gamma=0.5, n_components=30, random_state=1).fit_transform(X),
    )


def test_names_are_carried_through(X):
    frame = pd.DataFrame(X, columns=["age", "dose", "ward"])
    made = sx.PolynomialMap(2, interactions_only=True).fit(frame)
    expected = ["age", "dose", "ward", "age dose", "age ward", "dose ward"]
    assert made.get_feature_names_out().tolist() == expected
    assert sx.SplineMap(3, degree=1).fit(frame).get_feature_names_out()[:2].tolist() == ["age_sp_0", "age_sp_1"]
    assert sx.FourierMap(2).fit(frame).get_feature_names_out().tolist() == ["fourier0", "fourier1"]
    assert sx.PolynomialMap().fit(X).get_feature_names_out()[3] == "x0^2"
    y = X[:, 0] * X[:, 1] > 0
    for kind, library in (("pandas", frame), ("polars", pl.from_pandas(frame))):
        learner = make_pipeline(sx.PolynomialMap(2, interactions_only=True), sx.Perceptron())
        learner.set_output(transform=kind).fit(library, y)
        assert learner[-1].feature_names_in_.tolist() == expected


def test_sparse_rows_stay_sparse_where_they_can(X):
    rows = sp.random_array((40, 6), density=0.2, rng=np.random.default_rng(1), format="csr")
    made = sx.PolynomialMap().fit_transform(rows)
    assert sp.issparse(made)
    np.testing.assert_allclose(made.toarray(), sx.PolynomialMap().fit_transform(rows.toarray()))
    np.testing.assert_allclose(
        sx.FourierMap(9, random_state=0).fit_transform(rows),
        sx.FourierMap(9, random_state=0).fit_transform(rows.toarray()),
    )
    with pytest.raises(DataError, match="needs dense rows"):
        sx.SplineMap().fit(rows)


def test_fourier_features_approximate_the_kernel(X):
    Z = sx.FourierMap(20000, gamma=0.3, random_state=0).fit_transform(X)
    assert np.abs(Z @ Z.T - rbf_kernel(X, gamma=0.3)).max() < 0.06


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (sx.PolynomialMap(0), ParameterError, "degree"),
        (sx.PolynomialMap(2.5), ParameterError, "degree"),
        (sx.PolynomialMap(60), DataError, "lower the degree"),
        (sx.SplineMap(1), ParameterError, "knots"),
        (sx.SplineMap(place="anywhere"), ParameterError, "place"),
        (sx.FourierMap(gamma=-1), ParameterError, "gamma"),
        (sx.FourierMap(0), ParameterError, "features"),
    ],
)
def test_bad_options_are_refused(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong.fit(np.random.default_rng(0).normal(size=(30, 10)))


def test_missing_values_are_named(X):
    X[4, 1] = np.nan
    with pytest.raises(DataError, match="NaN at row 4, column 1"):
        sx.PolynomialMap().fit(X)


def test_lists_of_rows_become_frames():
    frame = sx.PolynomialMap(2).set_output(transform="pandas").fit_transform([[2.0, 3.0], [1.0, 0.0]])
    assert frame.index.tolist() == [0, 1]
    assert frame["x0 x1"].tolist() == [6.0, 0.0]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("interactions_only", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (9, 5), (60, 33)])
def test_pairs_of_sparse_rows_are_canonical_and_agree_with_the_readable_kernel(n, d, interactions_only, index, dtype):
    rng = np.random.default_rng(n + d)
    X = sp.csr_array(np.where(rng.random((n, d)) < 0.3, rng.standard_normal((n, d)), 0).astype(dtype))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    made = sx.PolynomialMap(2, interactions_only=interactions_only).fit_transform(X)
    assert type(made) is type(X)
    checked = made.copy()
    checked.has_canonical_format = checked.has_sorted_indices = False  # look again
    checked.sum_duplicates()
    assert checked.nnz == made.nnz
    dense = sx.PolynomialMap(2, interactions_only=interactions_only).fit_transform(X.toarray())
    np.testing.assert_array_equal(made.toarray(), dense)
    view = reference.Rows.csr(X.data, X.indices, X.indptr, d)
    offset = np.zeros(d, dtype=np.int64)
    products = products_of(d, 2, interactions_only)
    offset[products[:, 0]] = products[:, 3] - products[:, 1]
    column, value = np.empty_like(made.indices), np.empty_like(made.data)
    reference.pair_products(view, offset, not interactions_only, column, value)
    np.testing.assert_array_equal(column, made.indices)
    np.testing.assert_array_equal(value, made.data)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("interactions_only", [False, True])
@pytest.mark.parametrize(
    ("n", "d", "degree"), [(1, 1, 1), (1, 1, 4), (7, 3, 1), (300, 5, 2), (40, 4, 5), (33, 40, 3), (2, 3, 6)]
)
def test_monomials_have_the_bits_of_scikit_learn(n, d, degree, interactions_only, dtype):
    X = np.random.default_rng(n * d).standard_normal((n, d)).astype(dtype)
    other = PolynomialFeatures(degree, interaction_only=interactions_only, include_bias=False).fit(X)
    ours = sx.PolynomialMap(degree, interactions_only=interactions_only).fit(X)
    for rows in (X, sp.csr_array(np.where(X > 0, X, 0))):
        made, theirs = ours.transform(rows), other.transform(rows)
        assert made.dtype == X.dtype
        assert sp.issparse(made) == sp.issparse(rows)
        dense = made.toarray() if sp.issparse(made) else made
        np.testing.assert_array_equal(dense, theirs.toarray() if sp.issparse(theirs) else theirs)
    assert ours.transform(X).flags.c_contiguous
    assert ours.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()

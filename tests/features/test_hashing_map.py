"""``HashingMap`` as a transformer: scikit-learn's checks, clones, names, output containers, requests."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

import separatrix as sx
from separatrix.errors import DataError, ParameterError

ROWS = [{"a": 1.0, "b": 2.0}, {"b": -1.0, "c": 0.5}, {"a": 3.0}]


def test_scikit_learns_checks_are_those_of_its_own_hasher():
    """Most checks pass arrays; scikit-learn leaves them out for transformers whose tags say that they take dicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = check_estimator(sx.HashingMap(16)), check_estimator(FeatureHasher(16))
    assert {run["check_name"] for run in ours} == {run["check_name"] for run in theirs}
    assert all(run["status"] == "passed" for run in ours)


def test_tags_and_state():
    tags = get_tags(sx.HashingMap())
    assert tags.input_tags.dict
    assert not tags.input_tags.two_d_array
    assert not tags.requires_fit
    assert not tags.target_tags.required
    assert tags.transformer_tags is not None
    made = sx.HashingMap(8)
    assert vars(made) == {"n_features": 8, "signed": True}
    check_is_fitted(made)
    assert made.fit(ROWS) is made
    assert vars(made) == {"n_features": 8, "signed": True}
    assert repr(sx.HashingMap()) == "HashingMap()"
    assert repr(sx.HashingMap(8, signed=False)) == "HashingMap(n_features=8, signed=False)"


def test_clones_pickles_and_new_parameters_forget_what_was_hashed():
    made = sx.HashingMap(8)
    first = made.transform(ROWS).toarray()
    for twin in (clone(made), pickle.loads(pickle.dumps(made))):
        np.testing.assert_array_equal(twin.transform(ROWS).toarray(), first)
    made.set_params(n_features=5)
    np.testing.assert_array_equal(made.transform(ROWS).toarray(), sx.HashingMap(5).transform(ROWS).toarray())
    made.n_features, made.signed = 7, False  # not through set_params
    np.testing.assert_array_equal(
        made.transform(ROWS).toarray(), sx.HashingMap(7, signed=False).transform(ROWS).toarray()
    )
    with pytest.raises(ParameterError, match="Invalid parameter 'width'"):
        made.set_params(width=3)


def test_names_and_containers():
    made = sx.HashingMap(4)
    assert made.get_feature_names_out().tolist() == ["hashed0", "hashed1", "hashed2", "hashed3"]
    assert len(made.get_feature_names_out(["anything"])) == made.fit_transform(ROWS).shape[1]
    assert made.set_output(transform="default").transform(ROWS).shape == (3, 4)
    with pytest.raises(ParameterError, match="it can be 'default'"):
        made.set_output(transform="arrow")
    for kind in ("pandas", "polars"):
        with pytest.raises(DataError, match=f"which {kind} frames do not hold"):
            clone(made).set_output(transform=kind).transform(ROWS)
    pipeline = make_pipeline(sx.HashingMap(64), sx.Perceptron()).fit(ROWS, [0, 1, 0])
    assert pipeline[:-1].get_feature_names_out()[-1] == "hashed63"


@pytest.mark.parametrize("made", [sx.HashingMap(), sx.PolynomialMap(), sx.SplineMap(), sx.FourierMap()], ids=repr)
def test_there_is_nothing_to_route_to_a_map(made):
    assert not hasattr(made, "set_score_request")
    assert not hasattr(made, "set_fit_request")
    assert not hasattr(made, "score")
    assert hasattr(sx.Perceptron(), "set_score_request")


@pytest.mark.parametrize("made", [sx.PolynomialMap(), sx.SplineMap(), sx.FourierMap(5, random_state=0)], ids=repr)
def test_float32_stays_float32(made):
    X = np.random.default_rng(0).normal(size=(40, 3))
    assert made.fit(X).transform(X).dtype == np.float64
    narrow = made.fit(X.astype(np.float32)).transform(X.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, made.fit(X).transform(X), rtol=1e-3, atol=1e-4)
    assert get_tags(made).transformer_tags.preserves_dtype == ["float64", "float32"]

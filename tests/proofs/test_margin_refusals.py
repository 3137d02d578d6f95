"""Margins of sets that have none, bad input, and what a result says of itself."""

from __future__ import annotations

import doctest
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from separatrix import fewest_mistakes, margin, mistake_bound, separability, verify
from separatrix.errors import DataError, ParameterError

IRIS = load_iris()


def proved(X, y, **options):
    found = margin(X, y, **options)
    verify(found.certificate, X, y)
    return found


def test_no_margin_says_so_and_proves_it():
    X, y = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    for exact in (False, True):
        found = proved(X, y, exact=exact)
        assert (found.verdict, found.lower, found.upper, found.squared) == ("overlap", 0.0, 0.0, 0)
        assert found.coef is None
        assert found.certificate.claim == "overlap"
        assert "not separable" in str(found)
    bound = mistake_bound(X, y)
    assert (bound.bound, bound.most, bound.verdict) == (np.inf, None, "overlap")
    assert "none" in str(bound)
    tied = proved([[1.0], [2], [3], [3], [4], [5]], [0, 0, 0, 1, 1, 1])
    assert tied.verdict == "quasi"


def test_contradicting_rows():
    X = np.array([[1.0, 2.0], [1.0, 2.0], [5.0, 5.0]])
    assert proved(X, [0, 1, 1]).verdict == "quasi"
    assert mistake_bound(X, [0, 1, 1]).most is None


def test_zero_rows_without_an_intercept():
    assert proved(np.array([[0.0, 0], [1, 1], [-1, -2]]), [0, 1, 0], fit_intercept=False).verdict == "quasi"


@pytest.mark.parametrize("ask", [separability, margin, mistake_bound, fewest_mistakes])
def test_flags_are_true_or_false(ask):
    for option in {separability: (), margin: ("exact",), mistake_bound: ("normalize_rows",)}.get(ask, ()):
        with pytest.raises(ParameterError, match=f"{option} is 3: it must be True or False"):
            ask([[0.0], [1.0]], [0, 1], **{option: 3})
    with pytest.raises(ParameterError, match="fit_intercept is 'no': it must be True or False"):
        ask([[0.0], [1.0]], [0, 1], fit_intercept="no")


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "match"),
    [
        ([[1.0], [np.nan]], [0, 1], {}, DataError, "NaN at row 1"),
        ([[1.0], [np.inf]], [0, 1], {}, DataError, "row 1"),
        ([[1.0], [2.0]], [0, 0], {}, DataError, "one class"),
        ([[1.0], [2.0]], [0, 1, 1], {}, DataError, "2"),
        ([[1.0], [2.0], [3.0]], [0, 1, 2], {}, ParameterError, "3 classes"),
        ([[1.0], [2.0]], [0, 1], {"reading": "octal"}, ParameterError, "octal"),
        ([], [], {}, DataError, "X"),
        (np.zeros((2, 0)), [0, 1], {}, DataError, "X"),
        (np.ones((2, 1), dtype=np.float32), [0, 1], {"reading": "decimal"}, DataError, "float64"),
    ],
)
def test_bad_input(X, y, options, error, match):
    with pytest.raises(error, match=match):
        margin(X, y, **options)


def test_the_page_says_what_happens():
    page = Path(__file__).parents[2] / "docs" / "margin.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert tried >= 14
    assert failed == 0


def test_inputs_are_not_modified():
    X = np.array([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.0]])
    y = np.array([1, 1, 0])
    before = X.copy(), y.copy()
    margin(X, y, exact=True)
    mistake_bound(X, y, normalize_rows=True, start=[1.0, 2.0, 3.0], sample_weight=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


def test_a_result_as_dict_and_html():
    found = proved(IRIS.data, IRIS.target == 0, exact=True)
    told = found.to_dict()
    assert told["support"] == found.support.tolist()
    assert told["squared"].startswith("0x")
    assert "half-width 0.8175" in found._repr_html_()
    assert "half-width" in str(margin(IRIS.data, IRIS.target == 0))
    assert mistake_bound(IRIS.data, IRIS.target == 0).to_dict()["most"] == 221

"""Fits of all options are those that were stored: equal in what is said, and to their tolerances in their numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.models.logistic.stored_fits import CASES, STORED, case, fitted

QUICK = 8  # one fit in so many is made by the quick tests
WEIGHTS = {"ridge": 1e-4, "lasso": 1e-3, "elastic net": 1e-3}  # standard deviations of scores, beside a gap of 1e-10


@pytest.fixture(scope="module")
def stored():
    with np.load(STORED) as kept:
        sizes = kept["sizes"]
        ends = np.cumsum(sizes.prod(axis=1))
        vectors = [v.reshape(s) for v, s in zip(np.split(kept["coefs"], ends[:-1]), sizes, strict=True)]
        return vectors, kept["losses"], json.loads(kept["said"].tobytes())


def objective(options, vectors, loss):
    """The loss with its penalty, divided by C."""
    r, W = options["l1_ratio"], vectors[:, :-1]
    return loss + (r * np.abs(W).sum() + 0.5 * (1.0 - r) * (W**2).sum()) / options["C"]


def check(number, stored):
    vectors, losses, said = (column[number] for column in stored)
    options, X, *_ = case(number)
    model, loss, words = fitted(number)
    for one in (words, said):
        one["verdict"] = one["verdict"].strip("-,")  # a penalised fit of each class has none, or one for each
    assert words == said, number
    found = np.column_stack([model.coef_, model.intercept_])
    if "C" in options and options.get("multiclass") != "ovr":
        was = objective(options, vectors, losses)
        assert objective(options, found, loss) == pytest.approx(was, rel=1e-9, abs=1e-12), number
    if "stopped" in said["method"]:  # anywhere on the way to infinity
        return
    if len(found) > 2 and options.get("multiclass") != "ovr":  # what all classes share need not be determined
        found, vectors = found - found[0], vectors - vectors[0]
    X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    scores = np.column_stack([X - X.mean(axis=0), np.ones(len(X))])

    def at(V):
        return scores @ np.column_stack([V[:, :-1], V[:, -1] + V[:, :-1] @ X.mean(axis=0)]).T

    size = max(1.0, float(np.abs(at(vectors)).max()))
    tol = WEIGHTS.get(said["method"], 1e-3 if "tol" in options else 1e-5)
    assert np.abs(at(found) - at(vectors)).max() <= tol * size, number


@pytest.mark.parametrize("number", range(0, CASES, QUICK))
def test_some_fits_are_those_that_were_stored(number, stored):
    check(number, stored)


@pytest.mark.slow
@pytest.mark.parametrize("number", [k for k in range(CASES) if k % QUICK])
def test_all_fits_are_those_that_were_stored(number, stored):
    check(number, stored)

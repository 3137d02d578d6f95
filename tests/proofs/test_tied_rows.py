"""Of quasi-separated rows only the tied ones can be wrong: the search, the hyperplane, and the claim with ``ahead``."""

from __future__ import annotations

import brute_force
import numpy as np
import pytest
from scipy import sparse

from separatrix import fewest_mistakes, separability, verify
from separatrix.errors import CertificateError
from separatrix.proofs import Certificate
from separatrix.proofs.fewest_mistakes.bracket import bracket
from separatrix.proofs.separability.verdict import given_data


def tied(seed):
    """Grid points on both sides of a hyperplane, with labels at random on it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 3, size=(rng.integers(6, 14), rng.integers(2, 4))).astype(float)
    scores = X @ rng.integers(-2, 3, size=X.shape[1]) - rng.integers(2)
    y = np.where(scores == 0, rng.integers(0, 2, len(X)), scores > 0).astype(int)
    return X, y


def quasi_separated(most):
    for seed in range(10_000):
        X, y = tied(seed)
        if len(set(y)) == 2 and separability(X, y).verdict == "quasi":
            yield X, y
            most -= 1
            if not most:
                return


def test_the_minimum_is_that_of_the_tied_rows():
    for X, y in quasi_separated(60):
        verdict = separability(X, y)
        for table in (X, sparse.csr_array(X)):
            found = fewest_mistakes(table, y)
            least = brute_force.fewest_mistakes(brute_force.exact_rows(X, 2 * y - 1, True, False))
            assert (found.lower, found.upper) == (least, least)
            assert set(found.wrong) <= set(verdict.tied_rows.tolist())
            assert np.array_equal(np.flatnonzero((X @ found.coef + found.intercept) * (2 * y - 1) <= 0), found.wrong)
            said = verify(found.certificate, table, y)
            assert f"only the {len(verdict.tied_rows)} tied rows can be wrong" in said


@pytest.mark.parametrize("reading", ["binary64", "decimal"])
def test_five_tied_rows_among_thousands_of_columns_are_decided_at_once(reading):
    """Between 5 and 451 mistakes, or so, where all rows were searched."""
    rng = np.random.default_rng(4)
    X = sparse.random_array((450, 3000), density=0.01, rng=rng, format="lil")
    X[5:] = np.round(X[5:].toarray(), 3)
    X[:5] = 0.0
    X[:5, 7] = 0.1
    y = (X @ rng.normal(size=3000) > 0).astype(int)
    y[:5] = [0, 1, 0, 1, 1]
    X = sparse.csr_array(X)
    found = fewest_mistakes(X, y, reading=reading, max_nodes=0)
    assert (found.lower, found.upper) == (2, 2)
    assert set(found.wrong) == {0, 2}
    assert "at least 2 of the 450 rows" in verify(found.certificate, X, y)


def test_a_direction_that_does_not_serve_is_refused():
    X, y = next(quasi_separated(1))
    content = fewest_mistakes(X, y).certificate.content
    backwards = [v[1:] if v.startswith("-") else f"-{v}" for v in content["ahead"]]
    for ahead in (backwards, ["0x0.0p+0"] * len(backwards), content["ahead"][:-1]):
        with pytest.raises(CertificateError):
            verify(Certificate({**content, "ahead": ahead}), X, y)
    with pytest.raises(CertificateError):
        verify(Certificate({**content, "wrong": content["wrong"][1:], "upper": content["upper"] - 1}), X, y)


def test_disjoint_witnesses_come_before_any_search():
    """A thousand rows of 47 columns, as credit data have them: 13 witnesses in milliseconds, and 1 after seconds."""
    rng = np.random.default_rng(5)
    X = (rng.random((1000, 47)) < 0.2).astype(float)
    y = (X[:, :5].sum(axis=1) + rng.logistic(size=1000) > 1.6).astype(int)
    calls = []

    def progress(lower, upper, nodes):
        calls.append(lower)
        return len(calls) < 4

    found = fewest_mistakes(X, y, progress=progress)
    assert found.nodes == 0
    assert found.lower >= 10
    assert "at least" in verify(found.certificate, X, y)


def test_a_file_with_some_of_the_rows_proves_the_same_lower_bound():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    given = given_data(X, y, None, True, "binary64")
    found = bracket(given, [1], [0], max_nodes=0)
    some = np.union1d(found.proof_rows, [0, 1, 2])
    file = given_data(X[some], y[some], None, True, "binary64")
    proof = found.certificate_in(file.subject([1], [0]), some)
    assert proof.content["lower"] == found.lower > 3
    assert f"at least {found.lower} of the {len(some)} rows" in verify(proof, X[some], y[some])

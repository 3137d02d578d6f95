"""What is guaranteed of a perceptron, as properties of random runs.

Integer data make every sum exact, so the inequalities hold without a tolerance there. On other data they
hold up to rounding: a sum of d products of numbers up to s and w is off by at most about d u |s| |w|
(Higham 2002, ch. 3), with u = 2^-53, and k updates by k such steps.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from separatrix import Perceptron
from separatrix.numerics import Status

ORDERS = ["cyclic", "shuffle", "restart", "any", "worst"]
seeds = st.integers(0, 2**32 - 1)
orders = st.sampled_from(ORDERS)
ties = st.sampled_from(["mistake", "positive"])
starts = st.sampled_from(["zeros", "ones", "random", "given"])


def integer_rows(seed, n=12, d=3):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, d)).astype(float)
    y = rng.choice([-1, 1], size=n)
    y[0], y[1] = 1, -1
    return X, y, rng


def run(X, y, rng, *, start="zeros", **options):
    d = X.shape[1]
    if start == "given":
        start = rng.integers(-5, 6, size=d + options.get("fit_intercept", True)).astype(float)
    options = {"max_iter": 30, "max_updates": 200, "random_state": 3, "trace": True, **options}
    return Perceptron(start=start, **options).fit(X, y)


@given(seeds, orders, ties, starts, st.booleans(), st.booleans())
def test_the_two_inequalities_of_the_proof(seed, order, tie, start, bias, whole):
    X, y, rng = integer_rows(seed)
    star, b_star = rng.integers(-3, 4, size=3).astype(float), float(rng.integers(-3, 4)) if bias else 0.0
    if not whole:
        X, star = X + rng.normal(size=X.shape), star + rng.normal(size=3)
    model = run(X, y, rng, start=start, order=order, tie=tie, fit_intercept=bias)
    proof = model.trace_.replay(X, y).proof(star, b_star)
    k = len(model.trace_)
    exact = whole and start != "random"
    scale = (1 + np.abs(proof.norms2).max() + proof.radius2) * (1 + np.abs(proof.star).sum())
    slack = 0.0 if exact else 16 * (k + 1) * (len(proof.star) + 2) * 2.0**-53 * scale
    assert (proof.inner >= proof.inner_bound - slack).all()  # (N1)
    assert (proof.norms2 <= proof.norms2_bound + slack).all()  # (N2)
    assert model.mistakes_ <= proof.bound * (1 + 1e-9)
    if proof.gamma > 0 and start == "zeros":
        defined = proof.norms2 > 0
        lower = np.sqrt(np.arange(k + 1) / proof.radius2) * proof.gamma / np.linalg.norm(proof.star)
        assert (proof.cosine[defined] >= lower[defined] - 1e-9).all()


@given(seeds, orders, starts, st.booleans())
def test_the_bound_holds_from_any_start_with_any_weights(seed, order, start, normalize_rows):
    rng = np.random.default_rng(seed)
    star = rng.integers(-3, 4, size=4).astype(float)
    X = rng.integers(-5, 6, size=(20, 3)).astype(float)
    scores = X @ star[:3] + star[3]
    X, y = X[scores != 0], np.sign(scores[scores != 0])
    assume(len(set(y)) == 2)
    weights = rng.choice([0.0, 0.25, 1.0, 30.0], size=len(X))
    assume(len(set(y[weights > 0])) == 2)
    given_start = 20 * rng.normal(size=4) if start == "given" else start
    model = Perceptron(
        order=order,
        start=given_start,
        normalize_rows=normalize_rows,
        trace=True,
        max_iter=np.inf,
        max_updates=10**5,
        random_state=1,
    ).fit(X, y, sample_weight=weights)
    proof = model.trace_.replay(X, y, sample_weight=weights).proof(star[:3], star[3])
    slack = 1e-9 * (1 + proof.norms2.max())
    assert (proof.inner >= proof.inner_bound - slack).all()
    assert (proof.norms2 <= proof.norms2_bound + slack).all()
    assert model.mistakes_ <= proof.bound * (1 + 1e-9)


@given(seeds, orders, ties, starts, st.booleans())
def test_an_update_raises_the_margin_of_its_row_by_its_squared_length(seed, order, tie, start, bias):
    X, y, rng = integer_rows(seed)
    assume(start != "random")
    model = run(X, y, rng, start=start, order=order, tie=tie, fit_intercept=bias)
    before, after = model.trace_.replay(X, y).margins
    lengths = (X**2).sum(axis=1) + bias
    assert (after - before == lengths[model.trace_.rows]).all()
    assert (before <= 0).all()


@given(seeds, orders, st.booleans(), st.booleans())
def test_negated_labels_negate_the_model(seed, order, bias, whole):
    X, y, rng = integer_rows(seed)
    if not whole:
        X = X + rng.normal(size=X.shape)
    one = run(X, y, rng, order=order, fit_intercept=bias)
    two = run(X, -y, rng, order=order, fit_intercept=bias)
    assert np.array_equal(one.coef_, -two.coef_)
    assert np.array_equal(one.intercept_, -two.intercept_)
    assert one.trace_.rows.tolist() == two.trace_.rows.tolist()


@given(seeds, orders, ties, st.booleans())
def test_permuted_columns_permute_the_weights_of_integer_data(seed, order, tie, bias):
    X, y, rng = integer_rows(seed, d=20)
    columns = rng.permutation(20)
    one = run(X, y, rng, order=order, tie=tie, fit_intercept=bias)
    two = run(X[:, columns], y, rng, order=order, tie=tie, fit_intercept=bias)
    assert np.array_equal(one.coef_[:, columns], two.coef_)
    assert np.array_equal(one.intercept_, two.intercept_)


@given(seeds, st.lists(st.integers(1, 29), max_size=6), ties, starts, st.integers(2, 4), st.booleans(), st.booleans())
def test_any_chunking_gives_the_same_weights(seed, cuts, tie, start, n_classes, normalize_rows, weighted):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(30, 4)), 1)
    y = np.array(list("abcd"))[rng.integers(0, n_classes, size=30)]
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=30) if weighted else np.ones(30)
    assume(len(set(y[weights > 0])) > 1)
    given_start = rng.normal(size=5) if start == "given" else start
    options = {"tie": tie, "start": given_start, "normalize_rows": normalize_rows, "random_state": 2}
    edges = [0, *sorted(set(cuts)), 30]
    chunked = Perceptron(order="cyclic", **options)
    for begin, end in pairwise(edges):
        chunked.partial_fit(X[begin:end], y[begin:end], sample_weight=weights[begin:end])
    present = sorted(set(y[weights > 0]))
    whole = Perceptron(order="cyclic", **options).partial_fit(X, y, sample_weight=weights)
    known = Perceptron(order="cyclic", **options).partial_fit(X, y, classes=present, sample_weight=weights)
    at_once = Perceptron(order="cyclic", max_iter=1, **options).fit(
        X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0]
    )
    for other in (whole, known, at_once):
        assert chunked.classes_.tolist() == other.classes_.tolist()
        assert chunked.coef_.tobytes() == other.coef_.tobytes()
        assert chunked.intercept_.tobytes() == other.intercept_.tobytes()


@given(seeds, orders, ties, st.booleans())
def test_inputs_are_never_modified(seed, order, tie, normalize_rows):
    X, y, rng = integer_rows(seed)
    weights = rng.random(12)
    kept = X.copy(), y.copy(), weights.copy()
    for array in (X, y, weights):
        array.setflags(write=False)
    model = Perceptron(order=order, tie=tie, normalize_rows=normalize_rows, max_iter=5, max_updates=50, random_state=0)
    model.fit(X, y, sample_weight=weights).predict(X)
    model.partial_fit(X, y, sample_weight=weights)
    assert all(np.array_equal(a, b) for a, b in zip(kept, (X, y, weights), strict=True))


@given(seeds, orders, st.booleans())
def test_separable_rows_are_separated_within_the_bound(seed, order, normalize_rows):
    rng = np.random.default_rng(seed)
    star = rng.integers(-3, 4, size=4).astype(float)
    X = rng.integers(-5, 6, size=(30, 3)).astype(float)
    scores = X @ star[:3] + star[3]
    X, y = X[scores != 0], np.sign(scores[scores != 0])
    assume(len(set(y)) == 2)
    model = Perceptron(order=order, normalize_rows=normalize_rows, max_iter=np.inf, max_updates=np.inf, random_state=1)
    model.fit(X, y)
    assert model.status_ is Status.CONVERGED
    assert model.errors_ == 0
    lifted = np.column_stack([X, np.ones(len(X))])
    if normalize_rows:
        lifted /= np.linalg.norm(lifted, axis=1, keepdims=True)
    gamma = (y * (lifted @ star)).min() / np.linalg.norm(star)
    assert model.mistakes_ <= (lifted**2).sum(axis=1).max() / gamma**2 * (1 + 1e-9)


def test_the_bound_is_met_with_equality_by_an_orthonormal_set():
    n = 9
    y = np.where(np.arange(n) % 2, 1, -1)
    model = Perceptron(fit_intercept=False, trace=True).fit(np.diag(y).astype(float), y)
    assert model.mistakes_ == n
    assert model.trace_.replay(np.diag(y).astype(float), y).proof(np.ones(n)).bound == n


@given(seeds)
def test_a_run_without_a_separator_ends_in_a_cycle(seed):
    """On integer rows in a fixed order the weights stay bounded, so a state comes back (Block, Levin 1970)."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(6, 2)).astype(float)
    X[1] = X[0]
    y = np.array([1, -1, *rng.choice([-1, 1], size=4)])
    model, seen = Perceptron(max_iter=1, warm_start=True), set()
    for _ in range(3000):
        model.fit(X, y)
        state = (*model.coef_[0], *model.intercept_)
        if state in seen:
            return
        seen.add(state)
    raise AssertionError("no state of the weights came back in 3000 passes")

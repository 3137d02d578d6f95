"""Scores that are known in single precision with a bound: the bound holds, and every answer is that of the double."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.test_agreement import LAYOUTS, MODULES, NATIVE, rows

levels = pytest.mark.parametrize("module", NATIVE, ids=lambda m: m.level)


def table(seed, n, d, kind):
    """Rows that make the screen's life easy, hard, or impossible."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "integers":
        X = np.round(X)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 4), size=n)]
    elif kind == "unscaled":
        X *= np.geomspace(1e-3, 1e6, d)
    elif kind == "far":
        X += 1e4
    elif kind == "outliers":
        X[rng.random(n) < 0.1] *= 1e8
    elif kind == "biased":  # floats round them all down, and all products have one sign
        X = 2.0 ** rng.integers(-2, 1, size=(n, d)) * (1 + 0.98 * 2.0**-24)
    elif kind == "subnormal":
        X *= 1e-310
    elif kind == "small":
        X *= 1e-25
    elif kind == "huge":
        X *= 1e150
    return X, rng


KINDS = ("plain", "integers", "duplicates", "unscaled", "far", "outliers", "biased", "subnormal", "small", "huge")
cases = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.one_of(st.integers(1, 40), st.sampled_from([63, 64, 65, 130])),
    st.sampled_from(KINDS),
)
gammas = st.sampled_from([1e-320, 1e-250, 1e-30, 1e-6, 0.02, 0.5, 20.0, 1e4, 1e30, 1e250])


def weights(rng, kind, size):
    signs = rng.choice([-1.0, 1.0], size=size)
    if kind == "random":
        return signs * rng.gamma(1.0, size=size)
    if kind == "steep":
        return signs * 2.0 ** rng.integers(-58, 58, size=size)
    if kind == "extreme":
        return signs * 10.0 ** rng.integers(-200, 200, size=size)
    return signs


def late(module, X, kernel, one, screened, layout="f64"):
    view = rows(module, X, layout)
    norm2 = np.empty(len(X))
    module.norms2(view, norm2)
    return module.LateScores(view, norm2, *kernel, one, screened)


def answers(scores, y, tie):
    """Everything that can be asked, block by block."""
    n = len(y)
    found, count = [], 0
    for begin in range(0, n, scores.block):
        end = min(begin + scores.block, n)
        t = scores.next_mistake(y, begin, end, tie)
        while t < end:
            found.append(t)
            t = scores.next_mistake(y, t + 1, end, tie)
        count += scores.mistakes(y, begin, end, tie)
    assert count == len(found)
    return found


@levels
@given(
    case=cases,
    kind=st.sampled_from([0, 1, 2, 2]),
    gamma=gammas,
    coef0=st.sampled_from([0.0, 1.0, -0.3, 1e4, -1e30]),
    degree=st.sampled_from([1, 2, 3, 7, 70]),
    one=st.sampled_from([0.0, 1.0]),
    weight=st.sampled_from(["signs", "random", "steep", "extreme"]),
    tie=st.booleans(),
)
def test_the_bound_holds_and_answers_are_those_of_the_double(
    module, case, kind, gamma, coef0, degree, one, weight, tie
):
    X, rng = table(*case)
    n = len(X)
    y = rng.choice(np.array([-1, 1, 0], dtype=np.int8), size=n, p=[0.45, 0.45, 0.1])
    a = weights(rng, weight, 150)
    entries = rng.integers(0, n, size=len(a))
    kernel = (kind, gamma, coef0, degree)
    screened, plain = (late(module, X, kernel, one, on) for on in (True, False))
    assert not plain.screened
    done = 0
    for more in (0, 1, 5, 50, 94):
        for i, c in zip(entries[done : done + more].tolist(), a[done : done + more].tolist(), strict=True):
            screened.add(i, c)
            plain.add(i, c)
        done += more
        known, error, double, zero = (np.empty(n) for _ in range(4))
        screened.bounds(known, error)
        plain.bounds(double, zero)
        assert not zero.any()
        if screened.screened:
            assert np.isfinite(double).all()
            sure = np.isfinite(error)
            assert (np.abs(known - double)[sure] <= error[sure]).all()
        else:
            assert known.tobytes() == double.tobytes()
        assert answers(screened, y, tie) == answers(plain, y, tie)
    some = rng.permutation(n)[: n // 2 + 1]
    out = np.empty(len(some))
    screened.exact(some, out)
    assert out.tobytes() == double[some].tobytes()
    for begin in range(0, n, screened.block):
        end = min(begin + screened.block, n)
        assert screened.finite(begin, end) == np.isfinite(double[begin:end]).all()


@levels
@pytest.mark.parametrize("kernel", [(2, 0.02, 0.0, 1), (1, 0.02, 1.0, 3), (0, 1.0, 0.0, 1)])
def test_the_bound_is_of_use(module, kernel):
    """Scaled features: the sign of nearly every score is proved by it, after thousands of entries too."""
    X, rng = table(0, 2000, 50, "plain")
    a, entries = rng.choice([-1.0, 1.0], size=3000), rng.integers(0, 2000, size=3000)
    scores = late(module, X, kernel, 1.0, True)
    for i, c in zip(entries.tolist(), a.tolist(), strict=True):
        scores.add(i, c)
    known, error = np.empty(2000), np.empty(2000)
    scores.bounds(known, error)
    assert scores.screened
    assert error.max() < 0.01 * np.abs(known).max()
    assert np.mean(np.abs(known) > error) > 0.99


@levels
def test_the_exponential_is_as_accurate_as_the_bound_says(module):
    """k(x, 0) with gamma = 1 and one entry, over the whole range of floats: no error of any sum hides it."""
    x = np.sqrt(np.concatenate([np.linspace(0, 120, 200_001), np.geomspace(1e-30, 1, 500)]))
    X = np.concatenate([x, np.zeros(2 * len(x))])[:, None]  # their median is 0
    scores = late(module, X, (2, 1.0, 0.0, 1), 0.0, True)
    scores.add(len(X) - 1, 1.0)
    known, error = np.empty(len(X)), np.empty(len(X))
    scores.bounds(known, error)
    true = np.exp(-(X[:, 0] ** 2))
    normal = true > 2.0**-120
    u = 2.0**-24
    exponent = 4 * u * 1.4427 * X[:, 0] ** 2  # of rounding x, its square, and the difference
    assert (np.abs(known / true - 1) <= 8 * u + exponent)[normal].all()
    assert (known[true < 2.0**-127] <= 2.0**-125).all()
    assert (np.abs(known - true) <= error).all()


@levels
def test_where_the_bound_is_of_no_use_the_rest_is_in_double(module):
    """Rows nearly the same: their kernels are 1 to single precision, and the signs are beyond it."""
    rng = np.random.default_rng(0)
    X = 1.0 + 1e-6 * rng.normal(size=(3000, 4))
    scores, plain = (late(module, X, (2, 1.0, 0.0, 1), 1.0, on) for on in (True, False))
    y = rng.choice(np.array([-1, 1], dtype=np.int8), size=3000)
    for i in range(1000):
        for s in (scores, plain):
            s.add(i, -1.0 if i % 2 else 1.0)
    assert scores.screened
    assert answers(scores, y, True) == answers(plain, y, True)
    assert not scores.screened
    scores.add(5, 1e300)
    plain.add(5, 1e300)
    assert answers(scores, y, True) == answers(plain, y, True)


@levels
@pytest.mark.parametrize(("row", "weight"), [(0, 2.0**61), (0, 2.0**-61), (0, np.inf), (0, np.nan), (0, 0.0), (9, 1.0)])
def test_an_entry_beyond_the_bounds_ends_the_screen(module, row, weight):
    X = np.ones((10, 2)) * np.arange(10)[:, None]
    X[9] = 1e9
    scores = late(module, X, (2, 0.5, 0.0, 1), 1.0, True)
    scores.add(1, 1.0)
    assert scores.screened
    scores.add(row, weight)
    assert not scores.screened
    assert scores.finite(0, 10) == np.isfinite(weight)


@given(case=cases, layout=st.sampled_from(LAYOUTS), kind=st.integers(0, 2), tie=st.booleans())
def test_native_and_readable_scores_agree(case, layout, kind, tie):
    X, rng = table(case[0], min(case[1], 30), case[2], "integers")
    n = len(X)
    y = rng.choice(np.array([-1, 1, 0], dtype=np.int8), size=n, p=[0.45, 0.45, 0.1])
    a, entries = rng.choice([-2.0, 1.0], size=20), rng.integers(0, n, size=20)
    results = []
    for module in MODULES:
        scores = late(module, X, (kind, 0.3, 0.5, 3), 1.0, True, layout)
        for i, c in zip(entries.tolist(), a.tolist(), strict=True):
            scores.add(i, c)
        out = np.empty(n)
        scores.exact(np.arange(n), out)
        results.append((out, answers(scores, y, tie)))
        assert scores.n == n
    for out, found in results[1:-1]:  # the levels
        assert out.tobytes() == results[0][0].tobytes()
        assert found == results[0][1]
    if kind == 2:
        np.testing.assert_allclose(results[-1][0], results[0][0], rtol=1e-12, atol=1e-11)
    else:
        assert results[-1][0].tobytes() == results[0][0].tobytes()
        assert results[-1][1] == results[0][1]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.level)
def test_another_has_the_rows_and_none_of_the_entries(module):
    X, _ = table(0, 40, 3, "plain")
    first = late(module, X, (2, 0.5, 0.0, 1), 1.0, True)
    first.add(0, 1.0)
    second = first.another()
    del first
    gc.collect()
    s, e = np.empty(40), np.empty(40)
    second.bounds(s, e)
    assert not s.any()
    second.add(1, 2.0)
    second.bounds(s, e)
    np.testing.assert_allclose(s, 2 * (np.exp(-0.5 * ((X - X[1]) ** 2).sum(axis=1)) + 1), rtol=1e-5)


@levels
def test_what_does_not_fit_is_refused(module):
    X, _ = table(0, 300, 3, "plain")
    view = module.Rows.dense(X)
    y = np.ones(300, dtype=np.int8)
    with pytest.raises(ValueError, match="norm2"):
        module.LateScores(view, np.ones(3), 2, 0.5, 0.0, 1, 1.0, True)
    with pytest.raises(ValueError, match="kind"):
        module.LateScores(view, np.ones(300), 3, 0.5, 0.0, 1, 1.0, True)
    scores = late(module, X, (2, 0.5, 0.0, 1), 1.0, True)
    for i in (-1, 300):
        with pytest.raises(ValueError, match="does not exist"):
            scores.add(i, 1.0)
        with pytest.raises(ValueError, match="does not exist"):
            scores.exact(np.array([i]), np.empty(1))
    for begin, end in ((0, 301), (0, 300), (-1, 5), (7, 5), (0, 0)):
        for ask in (scores.next_mistake, scores.mistakes):
            with pytest.raises(ValueError, match="leave the rows"):
                ask(y, begin, end, True)
        with pytest.raises(ValueError, match="leave the rows"):
            scores.finite(begin, end)
    for short in (np.ones(3, dtype=np.int8), y[:-1]):
        with pytest.raises(ValueError, match="label"):
            scores.mistakes(short, 0, 5, True)
    with pytest.raises(ValueError, match="every row"):
        scores.bounds(np.empty(3), np.empty(300))
    with pytest.raises(ValueError, match="asked for"):
        scores.exact(np.array([1, 2]), np.empty(1))
    with pytest.raises(TypeError):
        scores.exact(np.array([1.5]), np.empty(1))

"""The fewest mistakes: right by brute force, and proved at every stop."""

from __future__ import annotations

import csv
from itertools import pairwise

import brute_force
import hard_sets
import numpy as np
import pytest
from hard_sets import noisy
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from separatrix import fewest_mistakes, verify
from separatrix.errors import DataError, ParameterError
from separatrix.proofs import MistakeBracket


def truth(X, y, intercept=True, decimal=False):
    return brute_force.fewest_mistakes(brute_force.exact_rows(X, y, intercept, decimal))


def iris(real_data):
    with real_data("iris.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(v) for v in row[:4]] for row in rows]), np.array([row[4] for row in rows])


def consistent(found: MistakeBracket, X, y):
    """What the bracket says of itself holds in doubles and in the checker."""
    assert 0 <= found.lower <= found.upper == len(found.wrong)
    assert found.proved == (found.lower == found.upper)
    assert f"at least {found.lower} " in verify(found.certificate, X, y)


# -- right ----------------------------------------------------------------------------------------------


def agrees(seed):
    rng = np.random.default_rng(seed)
    X, y = hard_sets.small(rng)
    intercept, decimal = bool(rng.integers(2)), bool(rng.integers(2))
    found = fewest_mistakes(X, y, fit_intercept=intercept, reading="decimal" if decimal else "binary64")
    k = truth(X, y, intercept, decimal)
    assert (found.lower, found.upper) == (k, k), (seed, found)
    consistent(found, X, y)


def test_brute_force_over_subsets_agrees():
    for seed in range(400):
        agrees(seed)


@pytest.mark.slow
def test_brute_force_over_subsets_agrees_on_many_sets():
    for seed in range(1_000_000, 1_012_000):
        agrees(seed)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 9), st.integers(1, 3)), elements=st.integers(-3, 3).map(float)),
    st.integers(0, 2**9 - 1),
    st.booleans(),
)
def test_brute_force_agrees_on_grids(X, labels, intercept):
    y = np.array([labels >> i & 1 for i in range(len(X))])
    y[0], y[-1] = 0, 1
    found = fewest_mistakes(X, y, fit_intercept=intercept)
    assert found.lower == found.upper == truth(X, 2 * y - 1, intercept)
    consistent(found, X, y)


def test_iris_versicolor_and_virginica_need_one_mistake(real_data):
    X, y = iris(real_data)
    kept = y != "setosa"
    found = fewest_mistakes(X[kept], y[kept], reading="decimal")
    assert (found.lower, found.upper, found.proved) == (1, 1, True)
    consistent(found, X[kept], y[kept])


@pytest.mark.parametrize("reading", ["decimal", "binary64"])
def test_iris_versicolor_and_the_rest_need_25(real_data, reading):
    X, y = iris(real_data)
    found = fewest_mistakes(X, y == "versicolor", reading=reading)
    assert (found.lower, found.upper) == (25, 25)
    consistent(found, X, y == "versicolor")


@pytest.mark.parametrize(("n", "d", "share", "k"), [(1000, 5, 0.05, 50), (1000, 2, 0.1, 99), (300, 3, 0.2, 56)])
def test_flipped_labels_are_proved(n, d, share, k):
    X, y = noisy(n, d, share)
    found = fewest_mistakes(X, y)
    assert (found.lower, found.upper) == (k, k)
    consistent(found, X, y)


@pytest.mark.slow
def test_breast_cancer_with_ten_features_stays_open_but_narrow(real_data):
    with real_data("breast_cancer.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    X, y = np.array([[float(v) for v in row[:10]] for row in rows]), np.array([row[-1] for row in rows])
    found = fewest_mistakes(X, y, max_nodes=300)
    assert found.lower >= 10
    assert found.upper <= 25
    consistent(found, X, y)


@pytest.mark.slow
def test_breast_cancer_with_ten_features_needs_some_twenty_mistakes(real_data):
    with real_data("breast_cancer.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    X, y = np.array([[float(v) for v in row[:10]] for row in rows]), np.array([row[-1] for row in rows])
    found = fewest_mistakes(X, y, max_nodes=4_000)
    assert found.lower >= 19
    assert found.upper <= 21
    consistent(found, X, y)


def test_the_line_of_all_classes_of_input_gives_one_answer():
    X, y = noisy(60, 3, 0.1)
    answers = [
        fewest_mistakes(table, labels)
        for table in (X, X.tolist(), sparse.csr_array(X), np.asfortranarray(X))
        for labels in (y, np.where(y > 0, "yes", "no"))
    ]
    assert len({(a.lower, a.upper) for a in answers}) == 1
    assert answers[0].proved
    single = fewest_mistakes(X.astype(np.float32), y)
    consistent(single, X.astype(np.float32), y)


# -- the same, and interruptible ------------------------------------------------------------------------


def test_a_number_of_nodes_decides_the_result():
    X, y = noisy(120, 6, 0.25)
    for nodes in (1, 7, 150):
        first, second = fewest_mistakes(X, y, max_nodes=nodes), fewest_mistakes(X, y, max_nodes=nodes)
        assert first.certificate.text == second.certificate.text
        assert first.nodes <= nodes + 1
        consistent(first, X, y)


def test_more_nodes_never_widen_the_bracket():
    X, y = noisy(100, 6, 0.25)
    brackets = [fewest_mistakes(X, y, max_nodes=k) for k in (0, 1, 10, 100, 1000)]
    assert [b.lower for b in brackets] == sorted(b.lower for b in brackets)
    assert [b.upper for b in brackets] == sorted((b.upper for b in brackets), reverse=True)


def test_time_that_ends_at_once_leaves_the_trivial_bracket():
    X, y = noisy(200, 5, 0.1)
    y[:120] = 1
    found = fewest_mistakes(X, y, time_limit=0)
    assert (found.lower, found.upper, found.stopped) == (0, int((y < 0).sum()), "time")
    consistent(found, X, y)


@pytest.mark.slow
def test_a_table_too_large_for_a_tree_is_packed_once():
    X, y = noisy(60_000, 19, 0.05)
    found = fewest_mistakes(X, y, time_limit=3)
    assert found.nodes == 0
    assert found.stopped in ("size", "time")
    assert found.lower <= found.upper <= 30_000
    consistent(found, X, y)


def test_a_gap_ends_the_search_early():
    X, y = noisy(200, 5, 0.2)
    found = fewest_mistakes(X, y, gap=8)
    assert 0 < found.upper - found.lower <= 8
    assert found.stopped == "gap"
    consistent(found, X, y)


def test_progress_is_told_and_may_stop():
    X, y = noisy(200, 5, 0.2)
    seen = []

    def progress(lower, upper, nodes):
        seen.append((lower, upper, nodes))
        return nodes < 200

    found = fewest_mistakes(X, y, progress=progress)
    assert found.stopped == "progress"
    assert all(a[0] <= b[0] and a[1] >= b[1] for a, b in pairwise(seen))
    consistent(found, X, y)


@pytest.mark.parametrize("calls", [1, 3, 6])
def test_an_interrupt_carries_the_bracket(calls):
    X, y = noisy(200, 5, 0.2)
    left = [calls]

    def progress(*_):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        fewest_mistakes(X, y, progress=progress)
    consistent(caught.value.bracket, X, y)
    assert caught.value.bracket.stopped == "interrupted"


# -- odd input ------------------------------------------------------------------------------------------


def test_two_rows_and_a_class_of_one_row():
    found = fewest_mistakes([[1.0], [2.0]], [0, 1])
    assert (found.lower, found.upper) == (0, 0)
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    found = fewest_mistakes(X, [0, 1, 0, 0])
    assert (found.lower, found.upper) == (1, 1)
    consistent(found, X, [0, 1, 0, 0])


def test_contradictory_rows_cost_one_mistake_a_pair():
    X = np.repeat([[1.5, -2.0], [0.0, 3.0]], [7, 4], axis=0)
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0])
    found = fewest_mistakes(X, y)
    assert (found.lower, found.upper, found.nodes) == (5, 5, 0)
    assert all(len(entry) == 2 for entry in found.certificate.content["witnesses"])
    consistent(found, X, y)


def test_zero_rows_without_an_intercept_are_wrong_whatever_w_is():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, -0.0], [-1.0, 2.0]])
    found = fewest_mistakes(X, [0, 1, 1, 0], fit_intercept=False)
    assert (found.lower, found.upper, found.wrong.tolist()) == (2, 2, [0, 2])
    consistent(found, X, [0, 1, 1, 0])
    nothing = fewest_mistakes(np.zeros((3, 1)), [0, 1, 1], fit_intercept=False)
    assert (nothing.lower, nothing.upper) == (3, 3)
    consistent(nothing, np.zeros((3, 1)), [0, 1, 1])


def test_numbers_of_all_sizes():
    X, y = noisy(60, 3, 0.1)
    k = fewest_mistakes(X, y).upper
    scaled = np.ldexp(X, [900, -900, 0])
    found = fewest_mistakes(scaled, y)
    assert (found.lower, found.upper) == (k, k)
    consistent(found, scaled, y)


def test_a_row_that_vanishes_beside_others_is_no_zero_row():
    X, y = np.array([[1e300], [2e300], [1e-300], [3e-300], [-2e-300]]), np.array([1, 0, 1, 1, 0])
    found = fewest_mistakes(X, y, fit_intercept=False)
    assert (found.lower, found.upper) == (1, 1)
    consistent(found, X, y)


def test_long_decimals_are_proved_as_fractions():
    rng = np.random.default_rng(3)
    X = rng.random((10, 2))
    y = np.array([0, 1] * 5)
    found = fewest_mistakes(X, y, reading="decimal")
    assert found.lower == found.upper == truth(X, 2 * y - 1, decimal=True)
    consistent(found, X, y)


def test_witnesses_of_many_rows_carry_their_weights():
    X, y = noisy(120, 41, 0.5)
    found = fewest_mistakes(X, y, max_nodes=1)
    assert found.lower > 0
    assert all(len(entry["near"]["weights"]) == 43 for entry in found.certificate.content["witnesses"])
    consistent(found, X, y)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_nodes": 1.5}, "max_nodes"),
        ({"max_nodes": True}, "max_nodes"),
        ({"time_limit": -0.1}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"time_limit": "soon"}, "time_limit"),
        ({"gap": -1}, "gap"),
        ({"gap": 0.5}, "gap"),
        ({"reading": "octal"}, "reading"),
    ],
)
def test_senseless_options_are_refused(options, word):
    with pytest.raises(ParameterError, match=word):
        fewest_mistakes([[0.0], [1.0]], [0, 1], **options)


def test_senseless_data_are_refused():
    with pytest.raises(DataError, match="NaN"):
        fewest_mistakes([[np.nan], [1.0]], [0, 1])
    with pytest.raises(DataError, match="one class"):
        fewest_mistakes([[0.0]], [1])
    with pytest.raises(DataError, match="y"):
        fewest_mistakes([[0.0], [1.0]], [0, 1, 1])
    with pytest.raises(ParameterError, match="3 classes"):
        fewest_mistakes([[0.0], [1.0], [2.0]], [0, 1, 2])


def test_nothing_that_was_passed_is_changed():
    X, y = noisy(50, 3, 0.2)
    before = X.copy(), y.copy()
    fewest_mistakes(X, y)
    assert (before[0] == X).all()
    assert (y == before[1]).all()


# -- what is printed ------------------------------------------------------------------------------------


def test_it_says_what_is_proved():
    X, y = noisy(200, 5, 0.2)
    assert "37 of 200 rows (proved)" in str(fewest_mistakes(X, y))
    open_ = fewest_mistakes(X, y, max_nodes=5)
    assert f"between {open_.lower} and {open_.upper}" in str(open_)
    assert "<li>" in open_._repr_html_()
    assert open_.to_dict()["wrong"] == open_.wrong.tolist()


def test_sparse_rows_of_the_largest_numbers_are_not_added_up():
    """The sum of such a row is beyond the doubles, which warned."""
    top = 1.7976931348623157e308
    X, y = sparse.csr_array([[top, top], [-top, top], [0.0, 0.0]]), np.array([0, 1, 1])
    found = fewest_mistakes(X, y, fit_intercept=False)
    assert (found.lower, found.upper) == (1, 1)
    assert verify(found.certificate, X, y)


def test_rows_of_stored_zeros_are_zero_rows():
    X = sparse.csr_matrix((np.zeros(2), [0, 0], [0, 1, 2]), shape=(2, 1))
    found = fewest_mistakes(X, [0, 1], fit_intercept=False, max_nodes=0)
    assert (found.lower, found.upper) == (2, 2)
    assert verify(found.certificate, X, [0, 1])


@pytest.mark.parametrize(
    ("X", "y", "fewest"),
    [
        ([[1e-35], [0.0], [3e-158], [3e281]], [1, 1, 0, 0], 2),
        ([[0.0], [4e225], [0.0], [0.0], [-5e210], [4e-140], [0.0]], [0, 1, 1, 1, 1, 1, 1], 5),
    ],
)
def test_what_floating_point_leaves_open_is_decided_exactly(X, y, fewest):
    found = fewest_mistakes(X, y, fit_intercept=False)
    assert (found.lower, found.upper, found.stopped) == (fewest, fewest, "proved")
    assert verify(found.certificate, X, y)


def test_a_better_hyperplane_is_found_exactly_where_floating_point_finds_none():
    X = np.array([[2.0, 4.0], [3.0, -1.0], [4.0, 2.0], [4.0, 3.0], [-2.0, -3.0], [-1.0, 0.0], [3.0, 0.0]]) * 5e-324
    X[5, 1] = -2.0
    y = [0, 0, 0, 1, 1, 1, 0]
    found = fewest_mistakes(X, y)
    assert (found.lower, found.upper, found.stopped) == (1, 1, "proved")
    assert found.wrong.tolist() == [3]
    assert verify(found.certificate, X, y)


WIDE_EXPONENTS = [  # doubles cannot divide these cases; each was found by the campaign
    ([[87960930222080.0], [-1.03954097656449e-112], [2.598852441411225e-113], [8.618206661096855e214]], [1, 1, 1, 0]),
    ([[-1.0], [1.0], [2.0], [1e-323], [5e-324]], [0, 1, 0, 0, 0]),
    ([[1e300], [-1.0], [1e300], [1e-300]], [0, 0, 1, 0]),
    (
        [  # no row is in every circuit, and no two circuits are disjoint
            [4.100266178934991e-142, 8.852647460508905e-220, -2.3034438628061165e164],
            [-4096.0, 0.0, -1.3998404638611276e101],
            [-536870912.0, -2.4389618155428485e-260, 0.0],
            [-1.1127618452062264e-67, 1.742597939622402e282, -1.1997574511165048e-240],
            [-8.845224433175488e166, 1.688508503057271e-226, 0.0],
            [8.607837561916492e-283, 3.606632272572553e-129, 0.0],
            [68719476736.0, 0.0, 0.0],
        ],
        [1, 0, 1, 0, 1, 1, 1],
    ),
]


@pytest.mark.parametrize(("X", "y"), WIDE_EXPONENTS)
@pytest.mark.parametrize("reading", ["binary64", "decimal"])
def test_small_tables_that_doubles_cannot_divide_are_finished_exactly(X, y, reading):
    found = fewest_mistakes(np.array(X), y, fit_intercept=False, reading=reading)
    assert found.proved
    assert found.lower == found.upper
    assert verify(found.certificate, np.array(X), y)

"""Parts and folds: disjoint, complete, in proportion, groups whole, time in order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

import separatrix as sx
from separatrix.errors import DataError, ParameterError
from separatrix.evaluation.fold_assignment import check_training_classes, make_folds
from separatrix.evaluation.splits import Fold, time_folds
from separatrix.validation import check_labels


def folds_of(n, folds, y=None, **options):
    options = {"repeats": 1, "groups": None, "time": None, "seed": 0, **options}
    return make_folds(n, folds, labels=None if y is None else check_labels(y), **options)


@given(st.integers(0, 2**32), st.integers(2, 6), st.integers(1, 3))
def test_folds_partition_rows_and_keep_shares(seed, folds, repeats):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(3), folds), rng.integers(0, 3, rng.integers(0, 60))])
    n = len(y)
    made = folds_of(n, folds, y, repeats=repeats, seed=seed)
    assert len(made) == folds * repeats
    for r in range(repeats):
        judged = np.concatenate([test for _, test in made[r * folds : (r + 1) * folds]])
        assert np.array_equal(np.sort(judged), np.arange(n))
    for train, test in made:
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        for k in range(3):
            share = np.count_nonzero(y == k) / folds
            assert abs(np.count_nonzero(y[test] == k) - share) < 1
    assert len({len(test) for _, test in made}) <= 2


@given(st.integers(0, 2**32))
def test_groups_are_never_torn(seed):
    rng = np.random.default_rng(seed)
    groups, y = rng.integers(0, 9, 80), rng.integers(0, 2, 80)
    for labels in (None, y):
        try:
            made = folds_of(80, 3, labels, groups=groups, seed=seed)
        except DataError:
            continue
        for train, test in made:
            assert not set(groups[train]) & set(groups[test])
    h = sx.holdout(np.arange(80.0)[:, None], y, groups=groups, random_state=seed, ledger="unused")
    assert not set(groups[h.train_rows]) & set(groups[h.validation_rows])
    assert sum(h.sizes.values()) == 80


@given(st.lists(st.integers(0, 12), min_size=30, max_size=80), st.integers(2, 4))
def test_time_learns_from_the_past_only(moments, folds):
    moments = np.array(moments)
    try:
        made = time_folds(moments, folds, len(moments))
    except DataError as error:
        assert "same time" in str(error)  # noqa: PT017
        return
    for train, test in made:
        assert moments[train].max() < moments[test].min()


def test_time_rules_the_holdout():
    time = np.array([3, 1, 2, 5, 4, 0, 7, 6, 9, 8])
    h = sx.holdout(np.arange(10.0)[:, None], np.arange(10) % 2, time=time, ledger="unused")
    assert sorted(time[h.train_rows]) == [0, 1, 2, 3, 4, 5]
    assert sorted(time[h.validation_rows]) == [6, 7]


def test_scarce_classes_and_groups_are_named():
    y = ["a"] * 20 + ["b"] * 3
    with pytest.raises(DataError, match=r"class 'b' has 3 row\(s\), fewer than 5 folds: use at most 3"):
        folds_of(23, 5, y)
    with pytest.raises(DataError, match="class 'b' has 1 row"):
        folds_of(5, 2, ["a"] * 4 + ["b"])
    with pytest.raises(DataError, match="2 groups, fewer than 5 folds: use folds=2"):
        folds_of(10, 5, groups=[0, 1] * 5)
    with pytest.raises(DataError, match="fold 0 would be learned without class 'b'"):
        check_training_classes([Fold(23, np.arange(20, 23))], check_labels(y))
    with pytest.raises(DataError, match="same time"):
        folds_of(10, 3, time=[1] * 10)


def test_given_folds_are_checked():
    pairs = [(np.arange(5), np.arange(5, 10)), (np.arange(5, 10), np.arange(5))]
    assert len(folds_of(10, pairs)) == 2
    assert len(folds_of(10, KFold(3))) == 3
    with pytest.raises(DataError, match=r"fold 0 has rows in both training and test \(row 4\)"):
        folds_of(10, [(np.arange(5), np.arange(4, 10)), pairs[1]])
    with pytest.raises(DataError, match="row numbers"):
        folds_of(10, [(np.arange(5), np.array([77])), pairs[1]])
    for wrong in (1, 0, -3, True, "five", 2.5):
        with pytest.raises((ParameterError, DataError)):
            folds_of(10, wrong)
    with pytest.raises(DataError, match="at most 3"):
        folds_of(3, 4)


def test_holdout_keeps_shares_and_rows():
    y = np.array([0] * 90 + [1] * 10)
    h = sx.holdout(np.arange(100.0)[:, None], y, random_state=1, ledger="unused")
    assert h.sizes == {"train": 60, "validation": 20, "test": 20}
    assert np.bincount(h.train[1]).tolist() == [54, 6]
    assert np.bincount(h.validation[1]).tolist() == [18, 2]
    np.testing.assert_array_equal(h.train[0][:, 0], h.train_rows)
    assert len(h.development[1]) == 80
    assert h.train_rows.tolist() == sx.holdout(y[:, None], y, random_state=1, ledger="unused").train_rows.tolist()


@pytest.mark.parametrize("share", [-0.1, 1.0, 2.5, "half", True, None])
def test_bad_shares_are_refused(share):
    with pytest.raises(ParameterError):
        sx.holdout(np.ones((10, 1)), [0, 1] * 5, test=share)


@pytest.mark.filterwarnings("ignore::separatrix.errors.IterationWarning")
def test_plain_arrow_arrays_are_targets_too():
    pa = pytest.importorskip("pyarrow")
    X, y = np.arange(60.0)[:, None], [0, 1] * 30
    plain = sx.cross_validate(sx.Perceptron(), X, y, random_state=0)["accuracy"]
    for targets in (pa.array(y), pa.chunked_array([y[:7], y[7:]])):
        assert sx.cross_validate(sx.Perceptron(), X, targets, random_state=0)["accuracy"] == plain

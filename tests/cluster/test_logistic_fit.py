"""Logistic regression by rounds: the optimum of one machine, its existence, its Wald summary."""

from __future__ import annotations

import numpy as np
import pytest
from sources import rows_in_parts

from separatrix import LogisticRegression
from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.logistic_fit import fit_logistic
from separatrix.errors import CollinearWarning, IterationWarning, ParameterError, SeparationError, SeparationWarning
from separatrix.numerics import Status

NOWHERE = Checkpoint(None, {})


def overlapping(classes=2, n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 5.0, 0.2]
    score = X @ rng.normal(size=(3, classes)) + rng.gumbel(size=(n, classes))
    return np.ascontiguousarray(X), score.argmax(axis=1)


def by_rounds(learner, X, codes, parts=7, checkpoint=NOWHERE):
    fit_logistic(learner, rows_in_parts(X, codes, parts), checkpoint)
    return learner


@pytest.mark.parametrize("options", [{}, {"C": 1.0}, {"C": 1e-3}, {"fit_intercept": False}, {"C": 1e4}])
@pytest.mark.parametrize(("classes", "multiclass"), [(2, "multinomial"), (3, "multinomial"), (3, "ovr")])
def test_the_optimum_of_one_machine(options, classes, multiclass):
    X, codes = overlapping(classes)
    tol = 1e-14 if "C" in options else None
    alone = LogisticRegression(multiclass=multiclass, tol=tol, **options).fit(X, codes)
    found = by_rounds(LogisticRegression(multiclass=multiclass, tol=tol, **options), X, codes)
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-7, atol=1e-9)
    left = 3e-7 if "C" in options else 1e-9  # a gap g of F leaves an intercept within sqrt(2 g F/curvature)
    np.testing.assert_allclose(found.intercept_, alone.intercept_, rtol=1e-7, atol=left)
    assert found.status_ is Status.OPTIMAL
    assert found.method_ == alone.method_
    if multiclass == "multinomial":
        assert found.loglik_ == pytest.approx(alone.loglik_, rel=1e-9)
    if "C" in options:
        assert found.gap_ <= 1e-8
    elif multiclass == "multinomial":
        assert found.separation_.verdict == "overlap"
        own, other = found.summary(intervals="wald"), alone.summary(intervals="wald")
        assert own.names == other.names
        np.testing.assert_allclose(own.std_err, other.std_err, rtol=1e-9)
        np.testing.assert_allclose(own.coef, other.coef, rtol=1e-9, atol=1e-12)


def test_the_same_bits_whatever_holds_the_partitions():
    X, codes = overlapping()
    one, two = (by_rounds(LogisticRegression(), X, codes) for _ in range(2))
    assert one.coef_.tobytes() == two.coef_.tobytes()


def test_a_single_row_that_overlaps_is_found_among_all():
    """A sample is separable, and only all rows show that a maximum exists."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(60_000, 2))
    codes = (X @ [1.0, 2.0] > 0).astype(np.int64)
    odd = np.array([17, 20_011, 41_013, 59_001])
    codes[odd] = 1 - codes[odd]
    found = by_rounds(LogisticRegression(), X, codes, 8)
    alone = LogisticRegression().fit(X, codes)
    assert found.separation_.verdict == "overlap"
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-7)


def test_separated_classes_get_the_ridge_of_one_machine():
    X, _ = overlapping()
    codes = (X[:, 0] > 0).astype(np.int64)
    with pytest.warns(SeparationWarning, match="completely separated"):
        found = by_rounds(LogisticRegression(), X, codes)
    with pytest.warns(SeparationWarning):
        alone = LogisticRegression(on_separation="ridge").fit(X, codes)
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-3)
    assert found.method_ == alone.method_
    with pytest.raises(SeparationError, match="completely separated; fit with a penalty"):
        by_rounds(LogisticRegression(on_separation="raise"), X, codes)
    with pytest.raises(SeparationError, match="needs all rows in memory"):
        by_rounds(LogisticRegression(on_separation="firth"), X, codes)
    kept = by_rounds(LogisticRegression(on_separation="ignore"), X, codes)
    assert kept.status_ is Status.NO_MAXIMUM
    assert kept.separation_.verdict == "complete"


def test_rows_that_only_their_columns_separate_are_priced_where_they_are():
    X, codes = overlapping()
    X[:, 0] = (codes == 1) & (X[:, 0] > 0.5)  # a column that only one class has
    kept = by_rounds(LogisticRegression(on_separation="ignore"), X, codes)
    assert (kept.separation_.verdict, kept.separation_.by) == ("quasi", "separability")


def test_dependent_columns_get_the_shortest_weights():
    X, codes = overlapping()
    wide = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(CollinearWarning):
        alone = LogisticRegression().fit(wide, codes)
    with pytest.warns(CollinearWarning, match="linearly dependent"):
        found = by_rounds(LogisticRegression(), wide, codes)
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-8)
    assert found.unidentifiable_ == alone.unidentifiable_


@pytest.mark.parametrize("options", [{"C": 1.0, "l1_ratio": 0.5}, {"bias_reduction": "firth"}])
def test_options_that_need_all_rows_are_refused(options):
    with pytest.raises(ParameterError, match="needs all rows in memory"):
        by_rounds(LogisticRegression(**options), *overlapping())


@pytest.mark.parametrize("weights", ["balanced", {0: 2.0, 1: 0.5}])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_class_weights_are_those_of_one_machine(weights, C):
    X, codes = overlapping(3)
    options = {"class_weight": weights, "C": C, "tol": 1e-13 if C == 1.0 else None}
    alone, found = LogisticRegression(**options).fit(X, codes), by_rounds(LogisticRegression(**options), X, codes)
    np.testing.assert_allclose(found.coef_, alone.coef_, rtol=1e-6, atol=1e-8)


def test_many_parameters_need_no_hessian():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 300))
    codes = np.argmax(X[:, :9] + rng.gumbel(size=(400, 9)), axis=1)
    found = by_rounds(LogisticRegression(C=0.01), X, codes)
    alone = LogisticRegression(C=0.01).fit(X, codes)
    assert found.gap_ <= 1e-8
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=1e-4)


def test_a_fit_goes_on_from_where_another_one_ended():
    X, codes = overlapping()
    learner = by_rounds(LogisticRegression(C=1.0, warm_start=True), X, codes)
    steps = learner.n_iter_
    assert by_rounds(learner, X, codes).n_iter_ < steps


def test_a_fit_goes_on_from_its_checkpoint_with_the_same_bits(tmp_path):
    X, codes = overlapping(n=20_000, seed=3)
    whole = by_rounds(LogisticRegression(), X, codes)
    path = tmp_path / "run"
    with pytest.warns(IterationWarning):
        by_rounds(LogisticRegression(max_iter=1), X, codes, checkpoint=Checkpoint(path, {}))
    assert path.exists()
    again = by_rounds(LogisticRegression(), X, codes, checkpoint=Checkpoint(path, {}))
    assert again.coef_.tobytes() == whole.coef_.tobytes()
    assert again.n_iter_ == whole.n_iter_

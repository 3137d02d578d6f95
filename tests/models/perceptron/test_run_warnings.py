"""Where a run ends, and what it warns of."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.errors import IterationWarning, ScaleWarning
from separatrix.models.perceptron.passes import is_sorted, scale_factor
from separatrix.numerics.status import stop_perceptron

SHUFFLED = [
    sx.AveragedPerceptron,
    sx.VotedPerceptron,
    sx.MarginPerceptron,
    sx.PassiveAggressive,
    sx.AROW,
    sx.PocketPerceptron,
]
XOR = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), np.array([0, 1, 0, 1])


def caught(make):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        made = make()
    return made, found


@pytest.mark.parametrize("learner", SHUFFLED)
def test_rows_sorted_by_class_are_learned_as_well_as_shuffled_ones(learner):
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model, _ = caught(lambda: learner().fit(X, y))
    again, _ = caught(lambda: learner(random_state=0).fit(X, y))
    assert model.score(X, y) == again.score(X, y) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("learner", SHUFFLED)
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("scaled", [False, True])
def test_defaults_reach_the_best_number_of_passes_or_warn(learner, load, scaled):
    """The statement of benchmarks/default_accuracy.py with fewer holdouts."""
    from benchmarks.default_accuracy import measured

    name = load.__name__.removeprefix("load_").replace("breast_", "")
    got = measured(learner, name, scaled, 8 if name == "digits" else 24)
    assert got["own"] >= got["best"] - got["error"] or got["warned"] == 1


@pytest.mark.parametrize("learner", [sx.Perceptron, sx.KernelPerceptron])
def test_a_textbook_order_on_sorted_rows_warns(learner):
    X, y = load_iris(return_X_y=True)
    options = {"kernel": "linear"} if learner is sx.KernelPerceptron else {}
    with pytest.warns(IterationWarning, match=r'rows are sorted by class; shuffle them \(order="shuffle"\)'):
        learner(order="cyclic", **options).fit(X, y)
    _, found = caught(lambda: learner(order="shuffle", random_state=0, **options).fit(X, y))
    assert "sorted" not in str([w.message for w in found])


def test_one_pass_is_no_limit_but_sorted_rows_are_said():
    X, y = XOR
    _, found = caught(lambda: sx.Perceptron.recipe("online").fit(X, y))
    assert not found
    with pytest.warns(IterationWarning, match="after a pass with .* sorted by class"):
        sx.Perceptron.recipe("online").fit(X[[0, 2, 1, 3]], y[[0, 2, 1, 3]])


def test_sorted_rows_that_are_separated_are_no_trouble():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    _, found = caught(lambda: sx.Perceptron().fit(X, [0, 0, 1, 1]))
    assert not found


@pytest.mark.parametrize("learner", [sx.Perceptron, *SHUFFLED])
def test_a_run_that_ends_at_its_limit_warns(learner):
    X, y = XOR
    with pytest.warns(IterationWarning, match=r"after 7 passes with [1-4] of 4 rows.*raise max_iter") as found:
        learner(max_iter=7).fit(X, y)
    (one,) = found
    assert one.filename == __file__
    assert issubclass(one.category, ConvergenceWarning)
    assert one.category.__name__ == "IterationWarning"


def test_updates_that_run_out_are_named():
    with pytest.warns(IterationWarning, match="raise max_updates"):
        sx.Perceptron(order="restart", max_updates=50).fit(*XOR)


def test_weights_that_overflow_are_warned_of():
    with pytest.warns(IterationWarning, match="overflowed; scale the features"):
        sx.Perceptron().fit([[1e308], [1.1e308]], [0, 1], sample_weight=[1.0, 10.0])


def test_columns_of_different_scale_are_warned_of_where_they_matter():
    X, y = load_wine(return_X_y=True)
    with pytest.warns(IterationWarning, match=r"differ in scale by a factor of 2,545; standardise them"):
        sx.AveragedPerceptron().fit(X, y)
    with pytest.warns(IterationWarning, match="standardise"):
        sx.PocketPerceptron().fit(sp.csr_array(X), y)
    with pytest.warns(ScaleWarning, match="standardise"):
        sx.KernelPerceptron().fit(X, y)
    for model in (sx.AROW(), sx.AveragedPerceptron(), sx.KernelPerceptron()):
        rows = X if isinstance(model, sx.AROW) else StandardScaler().fit_transform(X)
        _, found = caught(lambda model=model, rows=rows: model.fit(rows, y))
        assert not found


def test_a_plateau_is_no_failure():
    X, y = load_iris(return_X_y=True)
    model, found = caught(lambda: sx.AveragedPerceptron().fit(X[50:], y[50:]))
    assert model.status_ is sx.numerics.Status.PLATEAU
    assert 100 < model.n_iter_ < 1000  # 10,000 looks at 100 rows are 100 passes, and the mistakes fall for a while
    assert not found


@pytest.mark.parametrize("learner", [learner for learner in SHUFFLED if learner is not sx.VotedPerceptron])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_class_that_no_hyperplane_keeps_apart_is_warned_of(learner, scaled):
    """Versicolor lies between the two others: what helps is to compare all classes at once, not more passes."""
    X, y = load_iris(return_X_y=True)
    X = StandardScaler().fit_transform(X) if scaled else X
    with pytest.warns(IterationWarning, match="keeps class 1 apart from the rest") as found:
        model = learner().fit(X, y)
    advised = sx.AveragedPerceptron if learner is sx.PocketPerceptron else learner
    assert ("AveragedPerceptron with multiclass" in str(found[0].message)) == (advised is not learner)
    better, _ = caught(lambda: advised(multiclass="kesler").fit(X, y))
    assert better.score(X, y) >= max(0.94, model.score(X, y))
    assert not any("apart" in str(w.message) for w in caught(lambda: advised(multiclass="kesler").fit(X, y))[1])


@pytest.mark.parametrize("kind", [object, str])
def test_a_lost_class_is_called_by_its_name(kind):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"], dtype=kind)
    with pytest.warns(IterationWarning, match="keeps class 'versicolor' apart"):
        sx.AveragedPerceptron().fit(X, names[y])


def test_classes_that_are_told_apart_well_are_not_warned_of():
    X, y = load_digits(return_X_y=True)
    _, found = caught(lambda: sx.AveragedPerceptron(max_iter=None).fit(X, y))
    assert not found


def test_a_number_of_passes_is_that_number():
    X, y = load_iris(return_X_y=True)
    model, _ = caught(lambda: sx.AveragedPerceptron(max_iter=400).fit(X, y))
    assert model.n_iter_ == 400


def test_patience_counts_passes_since_the_last_minimum():
    class Pass:
        updates, finite = 0, True

        def __init__(self, mistakes):
            self.mistakes = mistakes

    def ended(mistakes, **options):
        stop = stop_perceptron(0, 50, np.inf, **options)
        for k in range(1, len(mistakes) + 1):
            if (status := stop([Pass(m) for m in mistakes[:k]])) is not None:
                return k, status
        return None

    assert ended([9, 5, 6, 5, 7], patience=3) == (5, sx.numerics.Status.PLATEAU)
    assert ended([9, 5, 6, 4, 7, 3, 0], patience=3) == (7, sx.numerics.Status.CONVERGED)
    assert ended([9] * 60) == (50, sx.numerics.Status.MAX_ITERATIONS)


def test_folds_warn_once():
    X, y = load_iris(return_X_y=True)
    _, found = caught(lambda: sx.cross_validate(sx.Perceptron(), X, y, folds=5, random_state=0))
    (one,) = found
    assert str(one.message).startswith("in 5 of 5 fits, the first: Perceptron stopped after 100 passes")
    _, found = caught(lambda: sx.cross_validate(sx.Perceptron(), X, y, folds=5, random_state=0, executor=2))
    assert len(found) == 1
    _, found = caught(lambda: sx.evaluation.learning_curve(sx.Perceptron(), X, y, random_state=0))
    assert not found


def test_a_stream_is_never_unfinished():
    X, y = load_iris(return_X_y=True)
    _, found = caught(lambda: sx.Perceptron().partial_fit(X, y))
    assert not found


def test_the_warning_does_without_scikit_learn_and_travels():
    code = """
import sys, warnings
from separatrix.errors import IterationWarning, warn_user
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    warn_user("limit", IterationWarning)
assert found[0].category is IterationWarning and "sklearn" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(IterationWarning) as raised:
            sx.Perceptron().fit(*XOR)
    again = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(again, ConvergenceWarning)
    assert str(again) == str(raised.value)


def test_sorted_means_every_class_in_one_piece():
    assert is_sorted(np.array([1, 1, 0, 2, 2]))
    assert not is_sorted(np.array([0, 1, 0]))
    assert not is_sorted(np.array([0, 1]))  # nothing to sort
    assert not is_sorted(np.array([2, 0, 1]))


def test_the_factor_of_scale_leaves_out_columns_of_zeros():
    X = np.array([[0.0, -4.0, 0.5], [0.0, 2.0, 0.1]])
    assert scale_factor(X) == scale_factor(sp.csr_array(X)) == 8.0
    assert scale_factor(np.zeros((2, 2))) == 1.0
    assert scale_factor(np.array([[1e300, 1e-300]])) == np.inf

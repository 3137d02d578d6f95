"""Every estimator speaks scikit-learn's protocol; an exclusion carries its reason."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import separatrix as sx
from separatrix.errors import DataError
from separatrix.models.perceptron.streaming import Streaming
from separatrix.models.registry import homes, learner_class

ORDER_MATTERS = (
    "a perceptron's path depends on the order and number of its rows: an update of weight two is one "
    "update, and the same row twice may be two, one or none"
)
WEIGHTED_UPDATES = (
    "a class weight scales updates: with 1000 against 0.0001 every training row of the heavy class is got "
    "right, but nothing pushes the hyperplane beyond them, as a weighted loss would"
)
EXCLUDED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER_MATTERS,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_MATTERS,
}

CLOSED_FORM = (sx.LeastSquares, sx.LeastSquaresClassifier, sx.LinearDiscriminant, sx.QuadraticDiscriminant)
MINIMISERS = (*CLOSED_FORM, sx.LogisticRegression, sx.MaxMargin, sx.FewestMistakes)
NO_DENSITY = (
    "classes that are single points, or fewer rows than columns, have no normal density: that is an error "
    "which names the columns, unless shrinkage is set"
)
WITHOUT_DENSITY = {
    "check_sample_weights_shape": NO_DENSITY,
    "check_sample_weights_not_overwritten": NO_DENSITY,
    "check_sample_weight_equivalence_on_dense_data": NO_DENSITY,
    "check_sample_weight_equivalence_on_sparse_data": NO_DENSITY,
}
SINGLE_POINTS = dict.fromkeys(list(WITHOUT_DENSITY)[2:], NO_DENSITY)
WEIGHTS_REACH_FAR = {
    "MarginPerceptron()",
    "MarginPerceptron(multiclass='kesler')",
    "AROW()",
    "AROW(covariance='full')",
    "AROW(multiclass='kesler')",
    "AveragedPerceptron()",
    "AveragedPerceptron(multiclass='kesler')",
    "PocketPerceptron()",
    "KernelPerceptron()",
    # For these it depends on the order of the rows: most shuffled orders pass, and that of the default seed does.
    "Perceptron()",
    "Perceptron(multiclass='kesler')",
}
DRAWN = (
    "rows are drawn one by one: a row of weight two is drawn once and moves twice as far, the same row twice "
    "is drawn twice"
)
DEALT = "folds are dealt by rows: a row of weight two lies in one fold, the same row twice may lie in two"
SELECTED = {
    "check_sample_weight_equivalence_on_dense_data": DEALT,
    "check_sample_weight_equivalence_on_sparse_data": DEALT,
}
DESCENT = {
    "check_sample_weight_equivalence_on_dense_data": DRAWN,
    "check_sample_weight_equivalence_on_sparse_data": DRAWN,
}


def excluded(estimator):
    """What each estimator cannot pass, and why; those with a margin, a count or a kernel of much reach do."""
    if repr(estimator) in ("LinearDiscriminant()", "QuadraticDiscriminant()"):
        return WITHOUT_DENSITY
    if isinstance(estimator, MINIMISERS):
        return SINGLE_POINTS if isinstance(estimator, sx.QuadraticDiscriminant) else {}
    if isinstance(estimator, sx.Selector):
        return SELECTED
    if isinstance(estimator, sx.LinearDescent):
        return DESCENT
    if repr(estimator) in WEIGHTS_REACH_FAR:
        return EXCLUDED
    return {**EXCLUDED, "check_class_weight_classifiers": WEIGHTED_UPDATES}


SMALL = {"FewestMistakes": {"max_nodes": 20}, "LinearDescent": {"random_state": 0}}  # options that tests need
VARIANTS = [
    sx.Perceptron(multiclass="kesler"),
    sx.AveragedPerceptron(multiclass="kesler"),
    sx.MarginPerceptron(multiclass="kesler"),
    sx.PassiveAggressive(multiclass="kesler"),
    sx.AROW(covariance="full"),
    sx.AROW(multiclass="kesler"),
    sx.LeastSquares(1.0, penalize_intercept=True),
    sx.LinearDiscriminant(shrinkage=0.5),
    sx.QuadraticDiscriminant(shrinkage=0.5),
    sx.KernelPerceptron(kernel="linear"),
    sx.LinearDescent("squared_error", random_state=0),
    sx.LinearDescent(batch_size=16, momentum=0.5, average=True, random_state=0),
    sx.Selector(sx.Perceptron(), {"max_iter": [5, 20]}, folds=2, random_state=0),
    sx.Selector(sx.LeastSquares(), {"alpha": [0.1, 1.0]}, folds=2, random_state=0),
    sx.MaxMargin(1.0),
    sx.LogisticRegression(C=1.0),
    sx.LogisticRegression(C=1.0, multiclass="ovr"),
]
LEARNERS = [learner_class(name)(**SMALL.get(name, {})) for name in homes()]

with warnings.catch_warnings():
    # The base class is ours, duck-typed, so that importing us does not import scikit-learn.
    warnings.filterwarnings("ignore", message="Estimator .* does not inherit from")
    each_check = parametrize_with_checks(LEARNERS, expected_failed_checks=excluded)
    each_check_of_variants = parametrize_with_checks(VARIANTS, expected_failed_checks=excluded)


@each_check
@pytest.mark.filterwarnings("ignore")
def test_protocol(estimator, check):
    check(estimator)


@pytest.mark.slow
@each_check_of_variants
@pytest.mark.filterwarnings("ignore")
def test_protocol_of_other_options(estimator, check):
    check(estimator)


def test_the_printed_form_follows_the_configuration():
    import numpy as np
    import sklearn

    model = sx.AROW(r=2.0)
    assert repr(model) == "AROW(r=2.0)"
    with sklearn.config_context(print_changed_only=False):
        assert repr(model).startswith("AROW(r=2.0, covariance='diagonal', order='shuffle'")
    weights = sx.Perceptron(start=np.linspace(0, 1, 3) / 3)
    with np.printoptions(precision=2):
        assert repr(weights) == "Perceptron(start=array([0.  , 0.17, 0.33]))"
    long = sx.Perceptron(class_weight={f"class {k}": 1.0 for k in range(200)})
    assert len(repr(long)) == 703
    assert "..." in repr(long)
    assert len(long.__repr__(N_CHAR_MAX=10_000)) > 3000


@pytest.mark.filterwarnings("ignore")
def test_probabilities_are_found_again_by_their_name():
    """StackingClassifier keeps the name of the method that it found, and asks for it in every fold."""
    import numpy as np
    from sklearn.ensemble import StackingClassifier

    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")
    classifiers = [learner_class(name)(**SMALL.get(name, {})) for name in homes() if name != "LeastSquares"]
    for model in classifiers:
        stacked = StackingClassifier([("one", model)], cv=2).fit(X, y)
        assert (stacked.predict(X) == y).mean() > 0.7, model


@pytest.mark.parametrize("name", [name for name in homes() if hasattr(learner_class(name), "partial_fit")])
def test_a_chunk_in_which_no_row_counts(name):
    """Refused as in scikit-learn, except by the perceptron family, which makes no step; the model stays what it was."""
    X, y = np.array([[0.0, 1], [1, 0], [2, 1], [0, 0], [3, 1], [1, 2]]), [0, 1, 1, 0, 1, 0]
    model = learner_class(name)().partial_fit(X, y)
    before = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    if isinstance(model, Streaming):
        model.partial_fit(X, y[::-1], sample_weight=np.zeros(6))
    else:
        with pytest.raises(DataError, match="sample_weight is zero in every row: at least one row must count"):
            model.partial_fit(X, y[::-1], sample_weight=np.zeros(6))
    after = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    assert np.array_equal(before, after)


@pytest.mark.parametrize("name", sorted(homes()))
def test_a_fit_does_not_change_the_repr(name):
    """Logs and checkpoints compare learners by their text; the method of a fit is method_."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    learner = learner_class(name)(**SMALL.get(name, {}))
    before = repr(learner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner.fit(X, (X[:, 0] + 0.5 * rng.normal(size=40) > 0).astype(int))
    assert repr(learner) == before


def test_threads_are_not_a_parameter_of_a_learner():
    with pytest.raises(TypeError, match=r"separatrix.kernels.threads\(n\) limits the threads"):
        sx.LogisticRegression(n_jobs=2)

"""A learner is a rule and a class: everything else comes with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from separatrix import kernels
from separatrix.models.perceptron.online_rule import OnlineRule
from separatrix.models.perceptron.single_rows import SingleRowLearner
from separatrix.parameters import boundary, choice, class_weights, count, flag, learner, seed


@dataclass(frozen=True, slots=True)
class PlainAgain(OnlineRule):
    def kernel(self, v):
        return kernels.PlainRule(v.lifted, v.updates, v.visits, v.seen, self.bias, True)


@learner
class NewPerceptron(SingleRowLearner):
    """The perceptron again."""

    order: str = choice("cyclic", "shuffle", default="cyclic")
    boundary: str = boundary()
    fit_intercept: bool = flag(True)
    max_iter: float | None = count(None, inf=True)
    multiclass: str = choice("ovr", "kesler", default="ovr")
    class_weight: Any = class_weights()
    warm_start: bool = flag(False)
    random_state: Any = seed(0)
    hashing: int | None = count(None, most=2**31)
    verbose: bool = flag(False)

    def _rule(self):
        return PlainAgain(self.fit_intercept)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("scheme", ["ovr", "kesler"])
def test_a_new_rule_fits_streams_and_learns_single_rows(classes, scheme):
    import separatrix as sx

    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, classes, 60)
    new, old = (
        NewPerceptron(multiclass=scheme, max_iter=7),
        sx.Perceptron(multiclass=scheme, order="cyclic", max_iter=7),
    )
    np.testing.assert_array_equal(new.fit(X, y).coef_, old.fit(X, y).coef_)
    assert new.mistakes_ == old.mistakes_
    new, old = NewPerceptron(multiclass=scheme), sx.Perceptron(multiclass=scheme)
    np.testing.assert_array_equal(new.partial_fit(X, y).coef_, old.partial_fit(X, y).coef_)
    for x, label in zip(X[:9], y[:9], strict=True):
        new.learn_one(x, label)
        old.learn_one(x, label)
    np.testing.assert_array_equal(new.coef_, old.coef_)
    assert repr(NewPerceptron(order="shuffle")) == "NewPerceptron(order='shuffle')"

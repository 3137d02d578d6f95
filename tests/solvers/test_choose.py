"""Which method runs does not decide the result, ``plan_`` tells what ran, and a place needs its leaves only."""

from __future__ import annotations

from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import pytest
from tests.models.logistic.stored_fits import case, fitted

import separatrix as sx
import separatrix.solvers.choose as choosing
from separatrix.losses.logistic import Logistic
from separatrix.losses.objective import Objective
from separatrix.models.logistic.existence import Existence
from separatrix.models.logistic.fit import penalised_fit
from separatrix.models.logistic.likelihood_fit import LikelihoodFit
from separatrix.models.logistic.problem import LogisticProblem
from separatrix.rows.places import TableRows
from separatrix.rows.protocol import Leaf, Rows
from separatrix.solvers import minimise as minimising
from separatrix.solvers.minimise import TEXT, minimise


def table(n, d, classes, seed=0):
    rng = np.random.default_rng([seed, n, d, classes])
    X = rng.normal(size=(n, d))
    y = np.argmax(X @ rng.normal(size=(d, classes)) + 2.0 * rng.gumbel(size=(n, classes)), axis=1)
    y[:classes] = np.arange(classes)
    return X, y


SHAPES = [(600, 3, 2), (60, 200, 2), (900, 8, 4), (40, 90, 3), (6000, 6, 2)]


@pytest.mark.parametrize("name", [field.name for field in fields(choosing.Limits)])
@pytest.mark.parametrize("value", [0.0, np.inf])
def test_each_limit_may_be_nothing_or_everything(name, value, monkeypatch):
    monkeypatch.setattr(choosing, "LIMITS", replace(choosing.Limits(), **{name: value}))
    for n, d, classes in SHAPES:
        X, y = table(n, d, classes)
        monkeypatch.undo()
        loss = Objective(TableRows(X, y, classes), Logistic(classes), 0.5)
        best = minimise(loss, 1e-9, 1000)
        monkeypatch.setattr(choosing, "LIMITS", replace(choosing.Limits(), **{name: value}))
        other = minimise(Objective(TableRows(X, y, classes), Logistic(classes), 0.5), 1e-9, 1000)
        assert other.status is sx.numerics.Status.OPTIMAL
        assert other.proved(1e-9)
        assert other.point.value == pytest.approx(best.point.value, rel=2e-9)


PARTS = {"rows": "by_rows", "sample": "by_sample", "gradients": "by_gradients"}


def ran(number, monkeypatch):
    """The parts that a fit calls, whatever it says of itself."""
    called = set()

    def watched(module, function, name):
        plain = getattr(module, function)
        monkeypatch.setattr(module, function, lambda *given, **more: (called.add(name), plain(*given, **more))[1])

    for name, function in PARTS.items():
        watched(minimising, function, name)
    model = fitted(number)[0]
    monkeypatch.undo()
    return called, model


@pytest.mark.parametrize("number", range(0, 320, 10))
def test_the_plan_tells_what_ran(number, monkeypatch):
    options = case(number)[0]
    called, model = ran(number, monkeypatch)
    assert model.plan_
    kind = "net" if options.get("l1_ratio", 0.0) > 0 else "firth" if "Firth" in model.method_ else None
    if kind is not None:
        assert TEXT[kind] in model.plan_
    for name in PARTS:
        if name not in called:
            assert name == "gradients" or TEXT[name] not in model.plan_
        elif options.get("C") is not None and name != "rows":  # the rows may search by gradients on their own columns
            assert TEXT[name] in model.plan_ or TEXT["rows"] in model.plan_
    if "ridge" in model.method_ and model.status_ is sx.numerics.Status.NO_MAXIMUM:
        assert "a standardised ridge" in model.plan_


# -- a place of one's own --


class Toy(Rows):
    """Rows that are made anew for each pass, from the middle outwards."""

    keeps, reread = False, 10.0

    def __init__(self, X, y, classes):
        self.X, self.y, self.classes, (self.n, self.d) = X, y, classes, X.shape

    def leaves(self):
        cuts = [0, 3, self.n // 2, self.n // 2 + 1, self.n]
        for begin, end in pairwise(cuts):
            yield Leaf(self.X[begin:end], begin, self.y[begin:end])


@pytest.mark.parametrize("classes", [2, 3])
def test_a_place_of_forty_lines_has_ridges_likelihoods_and_standard_errors(classes):
    X, y = table(400, 4, classes)
    toy = LogisticProblem(Toy(X, y, classes), True)
    options = sx.LogisticRegression(C=1.0, tol=1e-12)._options()
    ridge = sx.LogisticRegression(C=1.0, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(penalised_fit(toy, options).vectors[:, :-1], ridge.coef_, atol=1e-6)

    def prove() -> Existence:
        raise AssertionError("the search proves it")

    alone = sx.LogisticRegression().fit(X, y)
    found = LikelihoodFit(toy, alone._options(), None, prove).result()
    np.testing.assert_allclose(found.vectors[:, :-1], alone.coef_, atol=1e-9)
    assert found.existence.verdict == "overlap"
    loss = toy.objective()
    covariance = loss.hessian(loss.point(toy.parameters_of(found.vectors))).covariance(classes)
    np.testing.assert_allclose(np.sqrt(np.diagonal(covariance)), alone.summary().std_err, rtol=1e-7)

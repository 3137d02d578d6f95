"""Parameters are declared once: docstrings, checks, signatures and help follow the fields."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re

import numpy as np
import pytest

import separatrix as sx
from separatrix.cli import learner_command
from separatrix.errors import ParameterError
from separatrix.models.registry import homes, learner_class
from separatrix.parameters import RENAMED, choice, constraints, count, defaults, explain, flag, number

DECLARED = [learner_class(name) for name in homes()]


def written(value):
    """A default as docstrings have it."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def test_every_learner_declares_its_parameters():
    assert len(DECLARED) == 16
    assert all(dataclasses.is_dataclass(cls) for cls in DECLARED)


@pytest.mark.parametrize("cls", DECLARED)
def test_docstrings_say_what_the_fields_say(cls):
    section = inspect.getdoc(cls).partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    heads = re.findall(r"^(\w+ : .*)$", section, re.MULTILINE)
    default = defaults(cls)
    assert heads == [f"{name} : {c.kind}, default={written(default[name])}" for name, c in constraints(cls).items()]


@pytest.mark.parametrize("cls", DECLARED)
def test_help_says_what_the_fields_say(cls):
    found = learner_command.options(cls.__name__)
    assert [option.name for option in found] == list(defaults(cls))
    assert [option.kind for option in found] == [c.kind for c in constraints(cls).values()]
    assert all(option.text for option in found)


@pytest.mark.parametrize("cls", DECLARED)
def test_values_are_stored_as_given_and_checked_when_used(cls):
    odd = object()
    for name in defaults(cls):
        model = cls(**{name: odd})
        assert getattr(model, name) is odd
        assert getattr(cls(), name) is defaults(cls)[name]
        if constraints(cls)[name].must:
            wrong = "no such word" if constraints(cls)[name].allows(odd) else odd  # a few may be anything but a word
            with pytest.raises(ParameterError, match=f"^{name} is "):
                constraints(cls)[name].check(name, wrong)
    cls()._check_parameters()
    assert list(inspect.signature(cls).parameters) == list(defaults(cls))


def fine(made, *values):
    return all(made.metadata["constraint"].allows(value) for value in values)


def refused(made, *values):
    return not any(made.metadata["constraint"].allows(value) for value in values)


def test_what_a_parameter_may_be():
    assert fine(flag(True), True, False, np.True_)
    assert refused(flag(True), 0, 1, None, "yes", np.int64(1))
    positive = number(1.0, above=0)
    assert fine(positive, 1, 0.5, np.float32(2), np.int64(3), 10**400)
    assert refused(positive, 0, -1.0, math.inf, math.nan, True, "1", None, 1j, [1.0])
    assert fine(number(None, least=0), None, 0)
    assert fine(number(0.25, least=0, inf=True), math.inf, np.inf, 0)
    assert refused(number(0.25, least=0, inf=True), math.nan, -math.inf)
    assert fine(number(0.0, least=0, below=1), 0, 0.99)
    assert refused(number(0.0, least=0, below=1), 1, -0.1)
    assert fine(count(5), 1, np.int32(7))
    assert refused(count(5), 0, 1.0, math.inf, True, None, "1")
    assert fine(count(None, inf=True), None, math.inf, 3)
    assert refused(count(None, most=8), 9, 0)
    assert fine(choice("a", "b", default="a"), "a", "b")
    assert refused(choice("a", "b", default="a"), "c", None, 1, ["a"])
    assert fine(choice("a", default="a", other="array"), [1.0], np.ones(2))
    assert refused(choice("a", default="a", other="array"), "b", None)


def test_kinds_are_said_as_docstrings_say_them():
    kinds = {
        flag(True): "bool",
        number(1.0): "float",
        number(0.1, inf=True): "float or inf",
        number(math.inf, above=0, inf=True): "float",
        number(None): "float or None",
        number(0.0, least=0, below=1): "float in [0, 1)",
        count(5): "int",
        count(5, inf=True): "int or inf",
        count(None, inf=True): "int, inf or None",
        choice("a", "b", default="a"): '{"a", "b"}',
        choice("a", default=None): '{"a"} or None',
        choice("a", default="a", other="callable"): '{"a"} or callable',
    }
    for made, kind in kinds.items():
        assert made.metadata["constraint"].kind == kind


@pytest.mark.parametrize(
    ("cls", "name", "advice"),
    [
        (sx.AROW, "shuffle", 'use order="shuffle"'),
        (sx.FewestMistakes, "max_iter", "use max_nodes"),
        (sx.LeastSquares, "max_iter", "leave it out"),
        (sx.Perceptron, "penalty", "has no penalty"),
        (sx.LogisticRegression, "penalty", "use l1_ratio"),
        (sx.LogisticRegression, "multi_class", "use multiclass"),
        (sx.LeastSquares, "C", "use alpha"),
        (sx.LeastSquares, "copy_X", "X is never changed"),
        (sx.LinearDiscriminant, "reg_param", "use shrinkage"),
        (sx.LinearDescent, "shuffle", 'use order="shuffle"'),
        (sx.LinearDescent, "n_iter", "use max_iter"),
        (sx.Perceptron, "eta0", "changes no prediction"),
        (sx.PassiveAggressive, "loss", "use variant"),
        (sx.AROW, "max_itr", "did you mean max_iter="),
        (sx.AROW, "zzz", "its parameters are r, covariance"),
    ],
)
def test_unknown_parameters_are_explained(cls, name, advice):
    with pytest.raises(TypeError, match=f"^{cls.__name__}: there is no {name}=; .*{re.escape(advice)}"):
        cls(**{name: 1})
    with pytest.raises(ParameterError, match=f"Invalid parameter '{name}'.*{re.escape(advice)}"):
        cls().set_params(**{name: 1})


def test_advice_is_only_for_parameters_that_are_missing():
    for cls in DECLARED:
        for name in set(RENAMED) - set(defaults(cls)):
            for needed, advice in RENAMED[name]:
                assert explain(cls.__name__, name, defaults(cls)).startswith(f"{cls.__name__}: there is no {name}=; ")
                if needed in defaults(cls):
                    assert advice in explain(cls.__name__, name, [needed])


def test_positional_arguments_that_are_wrong_stay_wrong():
    with pytest.raises(TypeError, match="positional"):
        sx.AROW(1.0)
    assert sx.LeastSquares(2.0).alpha == sx.LeastSquaresClassifier(2.0).alpha == 2.0
    assert sx.MaxMargin(3.0).C == 3.0
    assert sx.LinearDescent("hinge").loss == "hinge"
    assert sx.FewestMistakes(7).max_nodes == 7
    with pytest.raises(TypeError, match="positional"):
        sx.LeastSquares(2.0, False)

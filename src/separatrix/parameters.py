"""Parameters of learners, declared once: a field has its default, what it may be, and how that is said.

A learner is a class under ``@learner`` whose parameters are fields::

    @learner
    class AROW(OneRow):
        r: float = number(1.0, above=0)
        covariance: str = choice("diagonal", "full", default="diagonal")

``__init__``, its signature, ``get_params``, the checks of ``fit`` and the printed form come from the fields; values are
stored as given and checked when they are used. None is allowed where it is the default. This module imports no numpy.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Collection
from dataclasses import MISSING, dataclass
from numbers import Integral, Rational, Real
from typing import Any, TypeVar, dataclass_transform, overload

from separatrix.errors import ParameterError

# For each name what to do, the first line that applies: those whose first word is a parameter of the learner, or "".
RENAMED = {
    "penalty": (
        ("l1_ratio", "use l1_ratio (0 is ridge, 1 the lasso) with C, and C=inf for no penalty"),
        ("alpha", "use alpha, the size of the ridge penalty"),
        ("", "this learner has no penalty"),
    ),
    "alpha": (("C", "use C: a smaller C is a stronger penalty"), ("", "this learner has no penalty")),
    "C": (("alpha", "use alpha: a larger alpha is a stronger penalty"), ("", "this learner has no penalty")),
    "eta0": (
        ("step", "use step, the size of the first step"),
        ("", "from a zero start the size of steps changes no prediction; leave it out"),
    ),
    "learning_rate": (("schedule", "use schedule and step"), ("", "updates have no learning rate; leave it out")),
    "max_iter": (("max_nodes", "use max_nodes"), ("", "it is solved in one step; leave it out")),
    "n_iter": (("max_iter", "use max_iter"),),
    "shuffle": (("order", 'use order="shuffle" or order="cyclic"'),),
    "tol": (("max_iter", "a run ends when the mistakes of a pass stop falling; leave it out, or set max_iter"),),
    "n_iter_no_change": (("max_iter", "a run ends when the mistakes of a pass stop falling; leave it out"),),
    "early_stopping": (("max_iter", "a run ends when the mistakes of a pass stop falling; leave it out"),),
    "validation_fraction": (("max_iter", "no rows are held out; leave it out"),),
    "average": (("", "use AveragedPerceptron, or LinearDescent(average=True)"),),
    "loss": (("variant", 'use variant: "PA-I" has the hinge loss, "PA-II" the squared one'),),
    "multi_class": (("multiclass", "use multiclass"),),
    "reg_param": (("shrinkage", "use shrinkage"),),
    "store_covariance": (("", "the covariance is always kept; leave it out"),),
    "n_components": (("", "transform gives all directions; take the first columns of it"),),
    "dual": (("", "the solver is chosen by the data; leave it out"),),
    "solver": (("", "the solver is chosen by the data; leave it out"),),
    "intercept_scaling": (("", "the intercept is never penalised; leave it out"),),
    "copy_X": (("", "X is never changed; leave it out"),),
    "normalize": (("", "standardise the columns before (StandardScaler in a pipeline)"),),
    "n_jobs": (("", "separatrix.kernels.threads(n) limits the threads of a block; leave it out"),),
}


def explain(owner: str, name: str, known: Collection[str]) -> str:
    """One sentence about a parameter that ``owner`` does not have, and what to use."""
    for needed, advice in RENAMED.get(name, ()):
        if not needed or needed in known:
            return f"{owner}: there is no {name}=; {advice}."
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"{owner}: there is no {name}=; did you mean {near[0]}=?"
    return f"{owner}: there is no {name}=; its parameters are {', '.join(known)}."


BOUNDARIES = ("positive", "negative", "undefined")
Class = TypeVar("Class", bound=type)
_SIGNATURES: dict[type, dict[str, Any]] = {}  # of estimators that are not declared by fields


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a parameter may be."""

    kind: str  # as docstrings and help have it
    must: str  # as errors have it
    allows: Callable[[Any], bool]

    def check(self, name: str, value: Any) -> None:
        """ParameterError for a value that is not allowed."""
        if not self.allows(value):
            raise ParameterError(f"{name} is {value!r}: it {self.must}.")


def is_flag(value: Any) -> bool:
    """True or False, and nothing that merely counts as such."""
    return isinstance(value, bool) or (type(value).__module__, type(value).__name__[:4]) == ("numpy", "bool")


def is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """A float or a whole number, of Python or numpy."""
    return is_whole(value) or (isinstance(value, Real) and not isinstance(value, (bool, Rational)))


def is_finite(value: Any) -> bool:
    return is_whole(value) or math.isfinite(value)


def flag(default: bool) -> Any:
    """True or False."""
    return _field(default, ["bool"], "must be True or False", is_flag)


def choice(*choices: str, default: Any, other: str | None = None) -> Any:
    """One of a few words; ``other`` says what else it can be, which the learner checks itself."""
    words = "{" + ", ".join(f'"{word}"' for word in choices) + "}"

    def allows(value: Any) -> bool:
        return value in choices if isinstance(value, str) else other is not None and value is not None

    listed = ", ".join(map(repr, choices)) + ("" if other is None else f" or {other}")
    return _field(default, [words, *([other] if other else [])], f"can be {listed}", allows)


def number(
    default: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    below: float | None = None,
    inf: bool = False,
    word: str | None = None,
) -> Any:
    """A finite number within bounds; ``inf`` also allows infinity, and ``word`` one word."""
    kind, upper = "float", most if below is None else below
    if upper is not None:
        left, right = "[" if above is None else "(", "]" if below is None else ")"
        kind = f"float in {left}{least if above is None else above:g}, {upper:g}{right}"

    def allows(value: Any) -> bool:
        if isinstance(value, str):
            return word is not None and value == word
        return (
            is_number(value)
            and value == value
            and (inf or is_finite(value))
            and (least is None or value >= least)
            and (above is None or value > above)
            and (most is None or value <= most)
            and (below is None or value < below)
        )

    bounds = [f" of at least {least:g}"] if least is not None else []
    bounds += [f" above {above:g}"] if above is not None else []
    bounds += [f" of at most {most:g}"] if most is not None else []
    bounds += [f" below {below:g}"] if below is not None else []
    must = f"must be a {'' if inf else 'finite '}number{' and'.join(bounds)}"
    must += (", or inf" if inf else "") + (f", or {word!r}" if word else "")
    kinds = [kind, *(["inf"] if inf and default != math.inf else []), *([f'"{word}"'] if word else [])]
    return _field(default, kinds, must, allows)


def count(
    default: float | None, *, least: int = 1, most: int | None = None, inf: bool = False, none: bool = False
) -> Any:
    """A whole number within bounds; ``inf`` also allows infinity, and ``none`` None."""

    def allows(value: Any) -> bool:
        if inf and isinstance(value, float) and value == math.inf:
            return True
        return is_whole(value) and value >= least and (most is None or value <= most)

    bound = f"of at least {least}" if most is None else f"from {least} to {most}"
    must = f"must be a whole number {bound}{', or inf' if inf else ''}"
    return _field(default, ["int", *(["inf"] if inf else [])], must, allows, none)


def unchecked(default: Any, kind: str) -> Any:
    """A parameter that is checked where the data are known."""
    return dataclasses.field(default=default, metadata={"constraint": Constraint(kind, "", lambda value: True)})


def class_weights() -> Any:
    return unchecked(None, 'dict, "balanced" or None')


def categories() -> Any:
    """What becomes of columns of text or categories in a frame."""
    return choice("dummies", default=None)


def seed(default: int | None = None) -> Any:
    return unchecked(default, "int, RandomState, Generator or None")


def boundary(default: str = "positive") -> Any:
    """What a score of exactly zero predicts."""
    return choice(*BOUNDARIES, default=default)


def _field(default: Any, kinds: list[str], must: str, allows: Callable[[Any], bool], none: bool = False) -> Any:
    if default is None or none:
        kinds, must = [*kinds, "None"], f"{must}, or None"
        constraint = Constraint(_listed(kinds), must, lambda value: value is None or allows(value))
    else:
        constraint = Constraint(_listed(kinds), must, allows)
    return dataclasses.field(default=default, metadata={"constraint": constraint})


def _listed(kinds: list[str]) -> str:
    """a; a or b; a, b or c."""
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)


def constraints(cls: type) -> dict[str, Constraint]:
    """The parameters of a learner class with what they may be, in the order of its signature."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {field.name: field.metadata["constraint"] for field in fields}


def defaults(cls: type) -> dict[str, Any]:
    """The parameters of an estimator class with their defaults, in the order of its signature."""
    if dataclasses.is_dataclass(cls):
        return {field.name: field.default for field in dataclasses.fields(cls)}
    if cls not in _SIGNATURES:
        import inspect

        _SIGNATURES[cls] = {name: p.default for name, p in inspect.signature(cls).parameters.items()}
    return _SIGNATURES[cls]


@overload
def learner(cls: Class) -> Class: ...
@overload
def learner(*, kw_only: bool = True) -> Callable[[Class], Class]: ...
@dataclass_transform(eq_default=False, kw_only_default=True)
def learner(cls: Any = None, *, kw_only: bool = True) -> Any:
    """A learner whose parameters are its fields; keyword arguments of scikit-learn that it lacks are explained."""
    if cls is None:
        return functools.partial(learner, kw_only=kw_only)
    made = dataclass(eq=False, repr=False, match_args=False, kw_only=kw_only)(cls)
    if any(field.default is MISSING for field in dataclasses.fields(made)):
        raise TypeError(f"{cls.__name__}: every parameter has a default.")
    plain = made.__init__

    @functools.wraps(plain)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            plain(self, *args, **kwargs)
        except TypeError:
            unknown = next((name for name in kwargs if name not in defaults(made)), None)
            if unknown is None:
                raise
            raise TypeError(explain(cls.__name__, unknown, defaults(made))) from None

    made.__init__ = __init__
    return made

"""What a logistic fit is asked for: parameters that are checked once, and then believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.errors import ParameterError
from separatrix.models.class_labels import BOUNDARIES
from separatrix.protocol import need_choice, need_limit, need_number
from separatrix.validation import need_flag

ON_SEPARATION = ("auto", "firth", "ridge", "raise", "ignore")
LEAST_C = 1e-307  # the inverse of a smaller one is not finite


@dataclass(frozen=True)
class Options:
    """What the learner was asked for; see :class:`separatrix.LogisticRegression`."""

    C: float
    l1_ratio: float
    firth: bool
    on_separation: str
    lift: bool
    flic: bool
    tol: float | None
    max_iter: float

    @property
    def penalty(self) -> str:
        return "ridge" if self.l1_ratio == 0 else "lasso" if self.l1_ratio == 1 else "elastic net"


def options_of(model: Any) -> Options:
    """The parameters of a learner, all of which are checked."""
    if not (isinstance(model.C, (int, float, np.number)) and not isinstance(model.C, bool) and model.C > 0):
        raise ParameterError(f"C is {model.C!r}: it must be a number above 0, or inf for no penalty.")
    if model.C < LEAST_C:
        raise ParameterError(f"C is {model.C!r}: a penalty of 1/C overflows; use at least {LEAST_C:g}.")
    need_number("l1_ratio", model.l1_ratio, least=0.0)
    if model.l1_ratio > 1:
        raise ParameterError(f"l1_ratio is {model.l1_ratio!r}: it is a share of the penalty, from 0 to 1.")
    if model.bias_reduction is not None:
        need_choice("bias_reduction", model.bias_reduction, ("firth",))
        if np.isfinite(model.C):
            raise ParameterError("bias_reduction='firth' has a penalty of its own: leave C at inf.")
    need_choice("on_separation", model.on_separation, ON_SEPARATION)
    need_choice("multiclass", model.multiclass, ("multinomial", "ovr"))
    need_choice("weights", model.weights, ("frequency", "analytic"))
    need_choice("boundary", model.boundary, BOUNDARIES)
    need_flag("fit_intercept", model.fit_intercept)
    need_flag("flic", model.flic)
    need_flag("warm_start", model.warm_start)
    need_limit("max_iter", model.max_iter, 1)
    if model.tol is not None:
        need_number("tol", model.tol, above=0.0)
    if model.flic and not model.fit_intercept:
        raise ParameterError("flic=True sets the bias, but fit_intercept is False: allow a bias.")
    firth, tol = model.bias_reduction == "firth", None if model.tol is None else float(model.tol)
    lift, flic = bool(model.fit_intercept), bool(model.flic)
    return Options(
        float(model.C), float(model.l1_ratio), firth, model.on_separation, lift, flic, tol, float(model.max_iter)
    )

"""The candidates of a selection: every combination of a grid, of one learner or of several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Any

from separatrix.errors import ParameterError
from separatrix.evaluation.candidates import Configuration
from separatrix.evaluation.cross_validation import named
from separatrix.evaluation.folds import need_learner
from separatrix.evaluation.predictions import is_regressor


def candidates_of(learner: Any, grid: Any) -> list[Configuration]:
    """Every combination, in the order of the grid: the first value of each option is taken for the simplest."""
    if isinstance(learner, Mapping):
        if not learner:
            raise ParameterError("learner is an empty dict: pass at least one estimator by name.")
        if grid is not None and not isinstance(grid, Mapping):
            raise ParameterError("the grid of several learners must be a dict of grids by the learner's name.")
        if len({is_regressor(own) for own in learner.values()}) > 1:
            raise ParameterError("learners mix classifiers and regressions: choose among them separately.")
        grids = grid or {}
        unknown = [name for name in grids if name not in learner]
        if unknown:
            raise ParameterError(f"the grid names {unknown[0]!r}, which is none of the learners {list(learner)}.")
        return [
            Configuration(f"{name}: {c.label}" if c.params else str(name), c.learner, c.params)
            for name, own in learner.items()
            for c in candidates_of(own, grids.get(name))
        ]
    need_learner(learner)
    if grid is None or grid == {}:
        return [Configuration(named(learner), learner, {})]
    out, options = [], learner.get_params(deep=True)
    parts = [grid] if isinstance(grid, Mapping) else grid
    if not isinstance(parts, (list, tuple)) or not all(isinstance(part, Mapping) for part in parts):
        raise ParameterError("grid must be a dict from option names to lists of values, or a list of such dicts.")
    for part in parts:
        for name, values in part.items():
            if name not in options:
                ends = [o for o in options if o.endswith(f"__{name}")]
                there_are = f"did you mean {ends[0]!r}?" if ends else f"there are {', '.join(sorted(options))}."
                raise ParameterError(f"the grid names {name!r}, which {named(learner)} does not have: {there_are}")
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ParameterError(f"the grid's {name!r} is {values!r}: pass a list of values.")
        for values in product(*(list(v) for v in part.values())):
            params = dict(zip(part, values, strict=True))
            label = ", ".join(f"{k}={_short(v)}" for k, v in params.items())
            out.append(Configuration(label, learner, params))
    if not out:
        raise ParameterError("the grid has no combination: one of its lists is empty.")
    return out


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())
    return text if len(text) <= 40 else text[:39] + "…"

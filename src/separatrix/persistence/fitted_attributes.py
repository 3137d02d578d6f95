"""The fitted attributes that a model file carries, and what each may be.

A file that comes from a stranger may name any attribute and give it any value. A name that is not in this table is left
out when a model is saved, and refused when one is loaded; so is a value of another kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from separatrix.errors import ModelFileError
from separatrix.features.formula_columns import FUNCTIONS
from separatrix.numerics.status import Status


class Kind(NamedTuple):
    """What a value may be, and how an error says it."""

    must: str
    allows: Callable[[Any], bool]

    def or_none(self) -> Kind:
        return Kind(f"{self.must} or None", lambda value: value is None or self.allows(value))


def _is_array(value: Any, dtype: str) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == dtype


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _are(check: Callable[[Any], bool], of: type[tuple[Any, ...] | list[Any]] = tuple) -> Callable[[Any], bool]:
    return lambda value: type(value) is of and all(check(own) for own in value)


def _is_word(value: Any) -> bool:
    return isinstance(value, str)


def _are_terms(value: Any) -> bool:
    return type(value) is dict and all(_is_word(term) and _are(_is_count)(at) for term, at in value.items())


def _are_trials(value: Any) -> bool:
    return type(value) is dict and all(map(_is_word, value)) and all(map(_is_count, value.values()))


def _are_references(value: Any) -> bool:
    return type(value) is dict and all(map(_is_word, value)) and all(map(_is_scalar, value.values()))


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _is_offset(value: Any) -> bool:
    """An expression, and the column, function and power that it is, or None."""
    if type(value) is not dict or set(value) != {"expression", "factor"} or not _is_word(value["expression"]):
        return False
    factor = value["factor"]
    if factor is None:
        return True
    known = type(factor) is list and len(factor) == 3 and _is_word(factor[0])
    return known and (factor[1] is None or factor[1] in FUNCTIONS) and type(factor[2]) is int and 1 <= factor[2] <= 9


COUNT = Kind("a whole number of at least 0", _is_count)
COUNTS = Kind("whole numbers of at least 0", lambda value: _is_array(value, "<i8") and bool((value >= 0).all()))
NUMBER = Kind("a number", _is_number)
ARRAY = Kind("an array of numbers (float64)", lambda value: _is_array(value, "<f8"))
NUMBERS = Kind("a number or an array of numbers (float64)", lambda value: _is_number(value) or _is_array(value, "<f8"))
WORD = Kind("text", _is_word)
NAMES = Kind("an array of text", lambda value: _is_array(value, "O") and all(map(_is_word, value.tolist())))
LABELS = Kind("an array of labels", lambda value: isinstance(value, np.ndarray) and value.ndim == 1)
POSITIONS = Kind("a tuple of whole numbers of at least 0", _are(_is_count))
NOTHING = Kind("None", lambda value: value is None)
STATUS = Kind("a status", lambda value: isinstance(value, Status))

FITTED: dict[str, Kind] = {
    "classes_": LABELS,
    "coef_": ARRAY,
    "condition_": NUMBERS,
    "count_visits_": COUNT,
    "counts_": COUNT,
    "covariance_": ARRAY,
    "covariances_": ARRAY,
    "dependent_columns_": POSITIONS,
    "design_": Kind("a table or None", lambda value: value is None or type(value) is dict),
    "dual_coef_": ARRAY,
    "epoch_mistakes_": COUNTS,
    "errors_": COUNT,
    "explained_variance_ratio_": ARRAY,
    "feature_names_in_": NAMES,
    "forgotten_": COUNT,
    "forgotten_votes_": COUNT,
    "formula_": WORD,
    "gap_": NUMBERS.or_none(),
    "half_width_": ARRAY,
    "intercept_": NUMBERS,
    "loglik_": NUMBER.or_none(),  # None of one model for each class
    "lower_": COUNT,
    "margin_": ARRAY,
    "maxima_": Kind("a tuple of numbers", _are(_is_number)).or_none(),
    "means_": ARRAY,
    "method_": WORD,
    "mistakes_": COUNT,
    "n_dropped_": COUNT,
    "n_features_in_": COUNT,
    "n_iter_": COUNT,
    "n_rows_": COUNT,
    "offset_": Kind("an offset of a formula", _is_offset),
    "pairs_": Kind("an array of pairs of labels", lambda value: isinstance(value, np.ndarray) and value.ndim == 2),
    "plan_": WORD,
    "priors_": ARRAY,
    "rank_": COUNT,
    "references_": Kind("a table of levels", _are_references),
    "rss_": NUMBERS,
    "scalings_": ARRAY,
    "separation_": NOTHING,  # a result of its own, which files leave out; None where it was not the question
    "shrinkage_": NUMBERS,
    "slack_": ARRAY,
    "solver_": WORD,
    "status_": STATUS,
    "support_": COUNTS,
    "terms_": Kind("a table of positions", _are_terms),
    "trace_": NOTHING,  # likewise
    "trials_": Kind("a table of counts", _are_trials).or_none(),
    "unidentifiable_": Kind("a tuple of text", _are(_is_word)),
    "vectors_": Kind("a list of arrays of numbers", _are(ARRAY.allows, list)),
    "visits_": COUNT,
    "votes_": Kind("a list of arrays of whole numbers", _are(COUNTS.allows, list)),
    "with_offset_": Kind("True or False", lambda value: type(value) is bool),
    "wrong_": COUNTS,
    "xbar_": ARRAY,
}


def need_fitted(learner: str, name: str, value: Any) -> None:
    """ModelFileError unless the attribute is one of the table's, with a value of its kind."""
    if name not in FITTED:
        raise ModelFileError(f"{learner} has no attribute {name[:60]!r}")
    if not FITTED[name].allows(value):
        found = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        found = repr(value) if _is_scalar(value) else found
        raise ModelFileError(f"{name} is {found[:60]}: it must be {FITTED[name].must}")

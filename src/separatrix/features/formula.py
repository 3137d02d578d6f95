"""Formulas such as "y ~ age + C(ward) * dose", read by the library formulaic: columns, names, terms and the outcome."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.extras import need
from separatrix.features.formula_columns import Factor, FormulaColumns, as_pandas, number_factor

CBIND = re.compile(r"cbind\(\s*(.+?)\s*,\s*(.+?)\s*\)\Z")


@dataclass(frozen=True)
class Design:
    """A formula with its data: rows ``X`` with ``names``, ``y``, and what is needed to make such rows again.

    ``terms`` has the positions of each term's columns; ``kept`` the positions of the rows without missing values.
    ``references`` are the levels that categories are compared with, and ``trials`` those of an outcome
    "cbind(successes, failures)", whose y counts the successes.
    ``columns`` is the design as data, or None where the formula uses what cannot be stored; ``spec`` is formulaic's.
    """

    formula: str
    X: Any
    y: Any
    intercept: bool
    terms: dict[str, tuple[int, ...]]
    kept: NDArray[np.intp]
    dropped: int
    columns: FormulaColumns | None
    spec: Any
    references: dict[str, str]
    trials: Any = None

    @property
    def alone(self) -> bool:
        """Whether the intercept is all there is."""
        return not self.terms


def design(formula: str, data: Any) -> Design:
    """The design of a formula with its outcome on the left; rows with missing values are left out."""
    if not isinstance(formula, str) or formula.count("~") != 1 or not formula.split("~")[0].strip():
        raise ParameterError(f"the formula is {formula!r}: write the outcome, '~' and the terms, as \"y ~ a + b\".")
    formulaic = need("formulaic")
    frame = as_pandas(data)
    left, right = (part.strip() for part in formula.split("~"))
    parts = list(pair.groups()) if (pair := CBIND.match(left)) else [left]
    outcome, *failures = (_outcome(part, frame, formulaic) for part in parts)
    trials = outcome + failures[0] if failures else None
    there = outcome if trials is None else trials
    own = [part.strip("`") for part in parts]
    usable = frame.loc[there.notna().to_numpy()].drop(columns=own, errors="ignore")
    if len(usable) == 0:
        raise DataError(f"no row has an outcome {left!r}: pass rows with one.")
    matrix = _matrix(formulaic, formula, right, usable)
    if (fewer := _without_unused_levels(usable, matrix.index)) is not None:
        matrix = _matrix(formulaic, formula, right, fewer)
    spec, kept = matrix.model_spec, np.asarray(matrix.index, dtype=np.intp)
    if len(kept) == 0:
        raise DataError(f"every row has a missing value in a column of {formula!r}: fill some in, or drop columns.")
    slices = {str(term): range(part.start, part.stop) for term, part in spec.term_slices.items()}
    constant = "1" in slices
    X = matrix.drop(columns=["Intercept"]) if constant else matrix.__wrapped__
    shift = 1 if constant else 0
    terms = {term: tuple(j - shift for j in places) for term, places in slices.items() if term != "1" and len(places)}
    if not terms:
        X = matrix.rename(columns={"Intercept": "intercept"})
    numbers = np.asarray(matrix, dtype=np.float64)
    stored = _stored(spec, usable, matrix.index, numbers, constant) if terms else _constant()
    dropped = len(frame) - len(kept)
    trials = None if trials is None else trials.loc[matrix.index]
    references = _references(spec)
    return Design(
        formula, X, outcome.loc[matrix.index], constant, terms, kept, dropped, stored, spec, references, trials
    )


def _matrix(formulaic: Any, formula: str, right: str, frame: Any) -> Any:
    try:
        return formulaic.model_matrix(right, frame, context=_codings())
    except Exception as error:
        raise DataError(f"the formula {formula!r} cannot be used: {_reason(error)}.") from error


def _without_unused_levels(frame: Any, index: Any) -> Any:
    """The rows in use, with levels that occur among them, as R has it; None where all levels do."""
    rows, changed = frame.loc[index].copy(), False
    for name in frame.columns:
        categories = getattr(frame[name].dtype, "categories", None)
        if categories is not None and rows[name].nunique() < len(categories):
            rows[name], changed = rows[name].cat.remove_unused_categories(), True
        elif categories is None and len(rows) < len(frame) and frame[name].dtype.kind not in "biufcmM":
            changed = changed or rows[name].nunique() < frame[name].nunique()
    return rows if changed and len(rows) else None


def _references(spec: Any) -> dict[str, str]:
    """The levels of treatment codings that have no column of their own."""
    names, found = [str(name) for name in spec.column_names], {}
    for expression, (kind, state) in spec.encoder_state.items():
        if getattr(kind, "value", None) != "categorical":
            continue
        levels = [str(level) for level in state.get("categories", [])]
        left = [level for level in levels if not any(f"{expression}[T.{level}]" in name for name in names)]
        if len(left) == 1 and len(levels) > 1:
            found[str(expression)] = left[0]
    return found


def rows_again(columns: FormulaColumns | None, spec: Any, names: list[str], data: Any) -> Any:
    """Rows of new data for a model of a formula, as a frame of its columns; a stored formula is not evaluated."""
    import pandas as pd

    frame = as_pandas(data)
    if columns is not None:
        table = {str(name): frame[name].to_numpy() for name in frame.columns}
        return pd.DataFrame(columns.rows(table, len(frame)), columns=names, index=frame.index)
    if spec is None:
        raise DataError("the formula of this model uses functions that a model file does not carry: fit it again.")
    try:
        matrix = spec.get_model_matrix(frame, context=_codings())
    except Exception as error:
        raise DataError(f"the rows do not have what the formula of the model needs: {_reason(error)}.") from error
    return matrix[names]


def _codings() -> dict[str, Any]:
    """The names that patsy and statsmodels have for codings."""
    from formulaic.transforms import contrasts

    return {"Treatment": contrasts.TreatmentContrasts, "Sum": contrasts.SumContrasts}


def _reason(error: Exception) -> str:
    if absent := re.search(r"NameError: `(.+?)` is not present", str(error)):
        return f"it names {absent[1]!r}, which is not a column of the data"
    return str(error).strip().split("\n")[0].rstrip(".")[:160] or type(error).__name__


def _outcome(left: str, frame: Any, formulaic: Any) -> Any:
    """The outcome: a column as it is, or an expression in numbers."""
    name = left.strip("`")
    if name in frame.columns:
        return frame[name]
    try:
        found = formulaic.Formula(f"{left} - 1").get_model_matrix(frame, na_action="ignore")
    except Exception as error:
        raise DataError(f"the outcome {left!r} cannot be used: {_reason(error)}.") from error
    if found.shape[1] != 1:
        raise DataError(f"the outcome {left!r} has {found.shape[1]} columns: give one.")
    return found.iloc[:, 0]


def _constant() -> FormulaColumns:
    return FormulaColumns(("intercept",), ((),), {})


def _stored(spec: Any, frame: Any, index: Any, matrix: Floats, constant: bool) -> FormulaColumns | None:
    """The columns as data, if they are products of what can be stored and give the same numbers."""
    names = [str(name) for name in frame.columns]
    levels: dict[str, tuple[str, ...]] = {}
    products = list[tuple[Factor, ...]]()
    for structure in spec.structure:
        if str(structure.term) == "1":
            continue
        parts = [_candidates(str(factor.expr), spec, names, levels) for factor in structure.term.factors]
        made = {":".join(label for label, _ in pick): tuple(f for _, f in pick) for pick in product(*parts)}
        for column in structure.columns:
            if str(column) not in made:
                return None
            products.append(made[str(column)])
    own = tuple(str(c) for c in spec.column_names if not (constant and str(c) == "Intercept"))
    columns = FormulaColumns(own, tuple(products), levels)
    table = {name: frame[name].to_numpy() for name in names}
    try:
        kept = np.asarray(index, dtype=np.intp)
        places = frame.index.get_indexer(kept)
        again = columns.rows({name: values[places] for name, values in table.items()}, len(places))
    except DataError:
        return None
    return columns if np.array_equal(again, matrix[:, int(constant) :]) else None


def _candidates(
    expression: str, spec: Any, names: list[str], levels: dict[str, tuple[str, ...]]
) -> list[tuple[str, Factor]]:
    """The columns that a factor may have, with their labels in the names of formulaic."""
    kind, state = spec.encoder_state.get(expression, (None, {}))
    if getattr(kind, "value", None) != "categorical":
        found = number_factor(expression, names)
        return [] if found is None else [(expression, found)]
    inner = expression[2:-1].split(",")[0].strip() if expression.startswith("C(") else expression
    inner = inner.strip("`")
    if inner not in names:
        return []
    own = [str(level) for level in state.get("categories", [])]
    levels[inner] = tuple(own)
    return [(f"{expression}[{prefix}{level}]", Factor(inner, level=level)) for prefix in ("T.", "") for level in own]

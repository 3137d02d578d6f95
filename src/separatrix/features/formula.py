"""Formulas such as "y ~ age + C(ward) * dose", read by the library formulaic: columns, names, terms and the outcome."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ParameterError
from separatrix.extras import need
from separatrix.features.formula_columns import Factor, FormulaColumns, as_pandas, number_factor
from separatrix.features.formula_operators import integer_columns, need_arithmetic

if TYPE_CHECKING:
    import pandas as pd

CBIND = re.compile(r"cbind\(\s*(.+?)\s*,\s*(.+?)\s*\)\Z")
OFFSET = re.compile(r"offset\((.*)\)\Z", re.DOTALL)
FAILED = re.compile(r"Unable to evaluate factor `(.+)`\. \[(\w+): (.*?)\]?\Z")  # formulaic's words around Python's
KNOWN = "log, log2, log10, log1p, exp, sqrt, abs, poly, bs, cr, scale, center, C, I, offset"


@dataclass(frozen=True)
class Design:
    """A formula with its data: rows ``X`` with ``names``, ``y``, and what is needed to make such rows again.

    ``terms`` has the positions of each term's columns; ``kept`` the positions of the rows without missing values.
    ``references`` are the levels that categories are compared with, and ``trials`` those of an outcome
    "cbind(successes, failures)", whose y counts the successes. ``offset`` has the numbers of a term "offset(...)",
    whose expression is ``offset_term``.
    ``columns`` is the design as data, or None where the formula uses what cannot be stored; ``spec`` is formulaic's.
    ``entangled`` says why an effect of a column alone would be that of no variable, or is None.
    """

    formula: str
    X: pd.DataFrame
    y: pd.Series[Any]
    intercept: bool
    terms: dict[str, tuple[int, ...]]
    kept: NDArray[np.intp]
    dropped: int
    columns: FormulaColumns | None
    spec: Any
    references: dict[str, str]
    trials: pd.Series[Any] | None = None
    offset: Floats | None = None
    offset_term: str | None = None
    entangled: str | None = None

    @property
    def alone(self) -> bool:
        """Whether the intercept is all there is."""
        return not self.terms


def design(formula: str, data: Any, offset: str | None = None) -> Design:
    """The design of a formula with its outcome on the left; rows with missing values are left out.

    ``offset`` is a column, or an expression, that joins the formula as a term "offset(...)".
    """
    if not isinstance(formula, str) or formula.count("~") != 1 or not formula.split("~")[0].strip():
        raise ParameterError(f"the formula is {formula!r}: write the outcome, '~' and the terms, as \"y ~ a + b\".")
    formulaic = need("formulaic")
    frame = as_pandas(data)
    left, right = (part.strip() for part in formula.split("~"))
    if offset is not None:
        right += f" + offset(`{offset}`)" if offset in frame.columns else f" + offset({offset})"
    parts = list(pair.groups()) if (pair := CBIND.match(left)) else [left]
    outcome, *failures = (_outcome(part, frame, formulaic) for part in parts)
    trials = outcome + failures[0] if failures else None
    counted = outcome if trials is None else trials
    outcome_columns = [part.strip("`") for part in parts]
    usable = frame.loc[counted.notna().to_numpy()].drop(columns=outcome_columns, errors="ignore")
    if len(usable) == 0:
        raise DataError(f"no row has an outcome {left!r}: pass rows with one.")
    matrix = _matrix(formulaic, formula, right, usable)
    if (fewer := _without_unused_levels(usable, matrix.index)) is not None:
        matrix = _matrix(formulaic, formula, right, fewer)
    spec, kept = matrix.model_spec, np.asarray(matrix.index, dtype=np.intp)
    if len(kept) == 0:
        raise DataError(f"every row has a missing value in a column of {formula!r}: fill some in, or drop columns.")
    _need_levels(spec, len(frame) - len(kept))
    offset_column = _offset_column(spec)
    constant = any(str(term) == "1" for term in spec.term_slices)
    columns = [str(name) for name in spec.column_names]
    if twins := {name for name in columns if columns.count(name) > 1}:
        raise DataError(f"two columns of {formula!r} are called {min(twins)!r}: rename that column of the data.")
    places = [j for j, name in enumerate(columns) if not (constant and j == 0) and name != offset_column]
    terms = _terms(spec, places)
    X = matrix.__wrapped__.iloc[:, places]
    stored = _stored(spec, usable, matrix.index, X) if terms else _constant()
    if not terms:
        X = matrix.__wrapped__.iloc[:, :1].set_axis(["intercept"], axis=1) if constant else X
    y, trials = outcome.loc[matrix.index], None if trials is None else trials.loc[matrix.index]
    if hasattr(data, "iloc"):  # results are then joined to the rows by their own index
        X.index = y.index = data.index[kept]
    return Design(
        formula,
        X,
        y,
        constant,
        terms,
        kept,
        len(frame) - len(kept),
        stored,
        spec,
        _references(spec),
        trials,
        None if offset_column is None else np.asarray(matrix.__wrapped__[offset_column], dtype=np.float64),
        None if offset_column is None else _offset_term(offset_column),
        _entangled(spec),
    )


def _terms(spec: Any, places: list[int]) -> dict[str, tuple[int, ...]]:
    """The positions of each term's columns among those at ``places``, which are neither the constant nor an offset."""
    position = {place: j for j, place in enumerate(places)}
    terms, first = dict[str, tuple[int, ...]](), 0
    for structure in spec.structure:
        own_places = range(first, first + len(structure.columns))
        first = own_places.stop
        if positions := tuple(position[place] for place in own_places if place in position):
            terms[str(structure.term)] = positions
    return terms


def _need_levels(spec: Any, dropped: int) -> None:
    """Refuse a category with one level, which no column distinguishes from the intercept; R refuses it too."""
    for expression, (kind, state) in spec.encoder_state.items():
        if getattr(kind, "value", None) == "categorical" and len(levels := list(state.get("categories", []))) < 2:
            rows = "the rows without missing values" if dropped else "the data"
            level = f"one level only ({str(levels[0])!r})" if levels else "no level"
            raise DataError(f"{expression!r} has {level} in {rows}: leave it out of the formula.")


def _offset_column(spec: Any) -> str | None:
    """The column of a term "offset(...)"."""
    found = list[str]()
    for structure in spec.structure:
        factors = [str(factor.expr) for factor in structure.term.factors]
        if not any(OFFSET.match(factor) for factor in factors):
            continue
        if len(factors) > 1 or len(structure.columns) != 1 or _is_category(spec, factors[0]):
            raise ParameterError(
                f"the term {str(structure.term)!r} is no offset: offset(...) takes one column of numbers."
            )
        found += [str(name) for name in structure.columns]
    if len(found) > 1:
        raise ParameterError(f"the formula has the offsets {' and '.join(found)}: add them up in one offset(...).")
    return found[0] if found else None


def _is_category(spec: Any, expression: str) -> bool:
    """Whether a factor has levels; literals, as in "2:a", have no state."""
    kind, _ = spec.encoder_state.get(expression, (None, None))
    return getattr(kind, "value", None) == "categorical"


def _offset_term(column: str) -> str:
    inside = OFFSET.match(column)
    assert inside is not None  # as the column was found by it
    return inside[1]


def _entangled(spec: Any) -> str | None:
    """Why no effect of one column alone is that of a variable: codings, several columns of a number, functions.

    Products and powers are left to a note of the table of effects.
    """
    terms_of: dict[str, list[str]] = {}
    for structure in spec.structure:
        term, columns = str(structure.term), [str(name) for name in structure.columns]
        if term == "1" or OFFSET.match(term):
            continue
        categories = [factor for factor in structure.term.factors if _is_category(spec, str(factor.expr))]
        if not categories and len(columns) > 1:
            return f"the {len(columns)} columns of {term!r} are one variable, and none of them can change alone"
        if len(structure.term.factors) == 1 and categories and not all("[T." in name for name in columns):
            return (
                f"the columns of {term!r} are not differences from a reference level (write 'C(…)' with an intercept)"
            )
        if len(structure.term.factors) == 1 and "**" not in term:
            for name in spec.term_variables[structure.term]:
                if name.source == "data":
                    terms_of.setdefault(str(name), []).append(term)
    for name, terms in terms_of.items():
        if len(terms) > 1:
            return f"the terms {' and '.join(map(repr, terms))} are both of {name!r}, and neither can change alone"
    return None


def _matrix(formulaic: Any, formula: str, right: str, frame: pd.DataFrame) -> Any:
    _need_arithmetic(formulaic, right, frame)
    try:
        return formulaic.model_matrix(right, frame, context=_codings())
    except Exception as error:
        raise DataError(f"the formula {formula!r} cannot be used: {_reason(error)}.") from error


def _need_arithmetic(formulaic: Any, terms: str, frame: pd.DataFrame) -> None:
    """Refuse operators of Python that are others in R, in each part that Python evaluates."""
    try:
        parsed = formulaic.Formula(terms, _context={"__formulaic_variables_available__": list(frame.columns)})
    except Exception:
        return  # the matrix of the formula fails with the same error, which is reported there
    if not hasattr(parsed, "__iter__") or any(not hasattr(term, "factors") for term in parsed):
        raise ParameterError(f"the formula has several parts ({terms!r}): write one, with + between its terms.")
    whole_numbers = integer_columns(frame)
    for factor in {factor for term in parsed for factor in term.factors}:
        if factor.eval_method.value == "python":
            need_arithmetic(str(factor.expr), whole_numbers)


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
        matrix = spec.get_model_matrix(frame, context=_codings(), na_action="ignore")  # no row is left out in silence
    except Exception as error:
        raise DataError(f"the rows do not have what the formula of the model needs: {_reason(error)}.") from error
    return matrix[names]


def offset_again(expression: str, factor: list[Any] | None, spec: Any, data: Any) -> Floats:
    """The offset of new rows: from its column, or by the formula where it is more than a function of one."""
    frame = as_pandas(data)
    if factor is not None:
        column = Factor(*factor)
        if column.name not in frame.columns:
            raise DataError(f"the table has no column {column.name!r}, which the offset of the model needs.")
        numbers = column.of(frame[column.name].to_numpy())
    elif spec is None:
        raise DataError(f"the offset {expression!r} uses functions that a model file does not carry: fit it again.")
    else:
        try:
            numbers = np.asarray(
                spec.get_model_matrix(frame, context=_codings(), na_action="ignore")[f"offset({expression})"]
            )
        except Exception as error:
            raise DataError(f"the rows do not have what the offset {expression!r} needs: {_reason(error)}.") from error
    if not np.isfinite(numbers).all():
        raise DataError(f"the offset {expression!r} is not finite at row {int(np.argmin(np.isfinite(numbers)))}.")
    return np.asarray(numbers, dtype=np.float64)


def _codings() -> dict[str, Any]:
    """Names that formulaic lacks: codings of patsy, functions of R; offset(...) is a column, taken out again."""
    from formulaic.transforms import contrasts

    functions = {"sqrt": np.sqrt, "log2": np.log2, "log1p": np.log1p, "offset": lambda column: column}
    return {"Treatment": contrasts.TreatmentContrasts, "Sum": contrasts.SumContrasts, **functions}


def _reason(error: Exception) -> str:
    """Why formulaic or Python refused a formula, in the words of formulas."""
    text = str(error).strip().split("\n")[0].rstrip(".")
    if absent := re.search(r"NameError: `(.+?)` is not present", str(error)):
        return f"it names {absent[1]!r}, which is not a column of the data"
    if "ufunc 'multiply'" in text:
        return "a column of dates or times cannot be a term: turn it into numbers, such as days"
    if "unhashable" in text:
        return "a column holds lists or other objects: give numbers or text"
    if isinstance(error, SyntaxError):
        return "a part of it is no Python expression (a factor is C(name), a power is **)"
    if not (failed := FAILED.match(text)):
        return text[:160] or type(error).__name__
    expression, kind, detail = failed.groups()
    if unknown := re.match(r"name '(.+?)' is not defined", detail):
        return f"{unknown[1]!r} in {expression!r} is neither a column nor a function of formulas ({KNOWN}, np.…)"
    if "truth value" in detail:
        return f"{expression!r} takes & for and, | for or, ~ for not, with parentheses around each comparison"
    if kind == "ValueError" and "convert string" not in detail:
        return f"{expression!r}: {detail[:120]}"
    return f"{expression!r} cannot be computed: a column of it is text, or an argument is missing or wrong"


def _outcome(left: str, frame: Any, formulaic: Any) -> Any:
    """The outcome: a column as it is, or an expression in numbers."""
    name = left.strip("`")
    if name in frame.columns:
        return frame[name]
    _need_arithmetic(formulaic, f"{left} - 1", frame)
    try:
        found = formulaic.Formula(f"{left} - 1").get_model_matrix(frame, na_action="ignore")
    except Exception as error:
        raise DataError(f"the outcome {left!r} cannot be used: {_reason(error)}.") from error
    if found.shape[1] != 1:
        raise DataError(f"the outcome {left!r} has {found.shape[1]} columns: give one.")
    return found.iloc[:, 0]


def _constant() -> FormulaColumns:
    return FormulaColumns(("intercept",), ((),), {})


def _stored(spec: Any, frame: pd.DataFrame, index: Any, X: pd.DataFrame) -> FormulaColumns | None:
    """The columns as data, if they are products of what can be stored and give the same numbers as ``X``."""
    names = [str(name) for name in frame.columns]
    levels: dict[str, tuple[str, ...]] = {}
    products = list[tuple[Factor, ...]]()
    for structure in spec.structure:
        if str(structure.term) == "1" or OFFSET.match(str(structure.term)):
            continue
        parts = [_candidates(str(factor.expr), spec, names, levels) for factor in structure.term.factors]
        storable = {":".join(label for label, _ in pick): tuple(f for _, f in pick) for pick in product(*parts)}
        for column in structure.columns:
            if str(column) not in storable:
                return None
            products.append(storable[str(column)])
    columns = FormulaColumns(tuple(map(str, X.columns)), tuple(products), levels)
    table = {name: frame[name].to_numpy() for name in names}
    try:
        places = frame.index.get_indexer(np.asarray(index, dtype=np.intp))
        again = columns.rows({name: values[places] for name, values in table.items()}, len(places))
    except DataError:
        return None
    return columns if np.array_equal(again, np.asarray(X, dtype=np.float64)) else None


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

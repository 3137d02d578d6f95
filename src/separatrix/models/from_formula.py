"""Models by a formula: fitted on the columns that it makes of a frame, and predicting from such frames."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import DataError, ModelFileError, ParameterError
from separatrix.parameters import defaults
from separatrix.protocol import Estimator
from separatrix.validation import Table, check_table, count_rows, take_rows
from separatrix.validation.containers import is_frame
from separatrix.validation.table import need_index, need_same_index


class FormulaFit(Estimator):
    """``from_formula``, and rows of frames as the formula makes them.

    A fitted model has ``formula_``, ``terms_`` (positions of the columns of each term), ``n_dropped_`` (rows left out
    for missing values) and ``design_``: the columns as plain data, which is all that a model file carries of a formula;
    None where the formula uses what cannot be stored. ``offset_`` is the expression that predictions add to the scores
    of a frame, where the formula has one.
    """

    _of_formula: ClassVar[tuple[str, ...]] = (
        "formula_",
        "terms_",
        "n_dropped_",
        "design_",
        "references_",
        "offset_",
        "_spec",
        "_kept_rows",
        "_data_index",
        "_row_labels",
        "_entangled",
    )
    _spec: Any
    _kept_rows: NDArray[np.intp] | None
    _data_index: Any
    _row_labels: Any
    _entangled: str | None
    _of_rows: ClassVar[tuple[str, ...]] = ("_kept_rows", "_data_index", "_row_labels")  # which no pickle needs

    @classmethod
    def from_formula(
        cls,
        formula: str,
        data: Any,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        trials: Any = None,
        **parameters: Any,
    ) -> Self:
        """Fit a model by a formula such as "y ~ age + C(ward) * dose".

        Parameters
        ----------
        formula : str
            The outcome, "~", and terms as the library formulaic has them; "C(ward, Treatment('A'))" chooses a
            reference, "0 +" leaves the intercept out, "y ~ 1" has nothing else, "y ~ ." all other columns,
            "offset(log(years))" is added to the scores, and "cbind(successes, failures) ~ dose" is a grouped outcome.
            Formulas are Python: do not use one from a stranger, and write a power in a function as "I(x**2)".
        data : frame or dict of columns
            Rows with missing values in these columns are left out and counted.
        sample_weight, offset, trials : array, name of a column, or None
            As in ``fit``. An offset by name, or such as "log(years)", is one of the formula: predictions for a frame
            add it; they do not know an offset that was an array.
        **parameters
            Of the model.

        Returns
        -------
        model
            Fitted; ``predict`` takes frames with the columns of the formula.

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> data = {"y": [1.0, 2.1, 2.9, 4.2, 5.1], "dose": [0.0, 1.0, 2.0, 3.0, 4.0], "ward": list("abaab")}
        >>> model = LeastSquares.from_formula("y ~ dose + ward", data)
        >>> list(model.feature_names_in_)
        ['dose', 'ward[T.b]']
        """
        from separatrix.features.formula import design

        made = design(formula, data, offset if isinstance(offset, str) else None)
        known = defaults(cls)
        given = dict(parameters)
        if "fit_intercept" in given:
            raise ParameterError("fit_intercept is part of the formula: write '0 +' for no intercept.")
        if "fit_intercept" in known:
            given["fit_intercept"] = made.intercept and not made.alone
        elif not made.intercept:
            raise ParameterError(f"{cls.__name__} always has an intercept: leave '0 +' out of the formula.")
        if not made.intercept and not made.terms:
            raise ParameterError(f"the formula {formula!r} has neither terms nor an intercept: nothing is left to fit.")
        model = cls(**given)
        extra = {"sample_weight": sample_weight, "trials": trials}
        if made.offset is None:
            extra["offset"] = offset
        elif offset is not None and not isinstance(offset, str):
            raise ParameterError("the formula has an offset of its own: leave offset= out.")
        rows = {name: _column(value, name, data, made.kept) for name, value in extra.items() if value is not None}
        if made.offset is not None:
            rows["offset"] = made.offset
        if made.trials is not None:
            if trials is not None:
                raise ParameterError("cbind(successes, failures) has its trials: leave trials= out.")
            rows["trials"] = made.trials.to_numpy()
        for name in ("offset", "trials"):
            if name in rows and name not in cls._routed["fit"]:
                raise ParameterError(f"{cls.__name__} takes no {name}.")
        model.fit(made.X, made.y, **rows)  # type: ignore[attr-defined]  # every learner has it
        model.formula_, model.terms_, model.n_dropped_ = made.formula, made.terms, made.dropped  # type: ignore[attr-defined]  # of the estimator
        model.references_ = made.references
        model.design_ = None if made.columns is None else made.columns.to_dict()
        model._remember_offset(made.offset_term, data)
        stored = made.columns is not None and (made.offset_term is None or model.offset_["factor"] is not None)
        model._spec = None if stored else made.spec
        if hasattr(model, "wald_test"):  # the rows are looked at again after the fit
            model._kept_rows = made.kept if made.dropped else None
            model._data_index = data.index if hasattr(data, "iloc") else None
        model._entangled = made.entangled
        return model

    def _remember_offset(self, expression: str | None, data: Any) -> None:
        if expression is None:
            return
        from separatrix.features.formula_columns import number_factor

        factor = number_factor(expression, [str(name) for name in data])
        parts = None if factor is None else [factor.name, factor.function, factor.power]
        self.offset_: dict[str, Any] = {"expression": expression, "factor": parts}

    def _named_offset(self, X: Any) -> Floats | None:
        """The offset of the formula for the rows of a frame; None for a model without one."""
        named: dict[str, Any] | None = self.__dict__.get("offset_")
        if named is None:
            return None
        from separatrix.features.formula import offset_again

        if not (is_frame(X) or isinstance(X, dict)):
            raise DataError(
                f"the model has the offset {named['expression']!r}: pass a frame with its column, or offset=."
            )
        return offset_again(named["expression"], named["factor"], self.__dict__.get("_spec"), X)

    def _remember_design(self, design: Any) -> None:
        self.design_, self.terms_ = design.to_dict(), design.terms
        self.references_ = {name: levels[0] for name, levels in design.levels.items() if len(levels) > 1}

    def model_matrix(self, X: Any) -> Any:
        """The rows as the model sees them: its columns, with dummies in place of categories.

        Parameters
        ----------
        X : array, sparse matrix or frame
            The rows.

        Returns
        -------
        frame with the names of the columns; an array or sparse matrix for a model without names

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> data = {"dose": [0.0, 1.0, 2.0, 3.0], "ward": list("abab")}
        >>> LeastSquares(categorical="dummies").fit(data, [1.0, 2.5, 2.9, 4.6]).model_matrix(data).columns.tolist()
        ['dose', 'ward[T.b]']
        """
        table = self._check_rows(X)
        if table.sparse or not hasattr(self, "feature_names_in_"):
            return table.X
        return named_rows(table.X, self.feature_names_in_.tolist(), X)

    def _dummy_table(self, X: Any, finite: bool, stream: bool) -> Table:
        if not (is_frame(X) or isinstance(X, dict)):
            return check_table(X, finite=finite)
        from separatrix.features.formula_columns import dummy_columns

        rows, columns = dummy_columns(X, declared=stream)
        return replace(check_table(rows), design=columns)

    def _row_index(self, n: int) -> Any:
        """The pandas index of the n rows of the fit; without one, the numbers of these rows in the data."""
        index, kept = self._fit_index(), self.__dict__.get("_kept_rows")
        labels = kept if index is None else index
        return np.arange(n) if labels is None or len(labels) != n else labels

    def _fit_index(self) -> Any:
        """The pandas index of the rows of the fit, which are kept by reference; None where there is none."""
        return self.__dict__.get("_row_labels")

    def _groups_of_fit(self, groups: Any) -> Any:
        """Groups of the rows that were used, where those of all rows of the formula's data are given."""
        if groups is None:
            return None
        kept, n = self.__dict__.get("_kept_rows"), count_rows(groups, what="groups")
        if kept is not None and n == len(kept) + self.n_dropped_:  # type: ignore[attr-defined]  # of the estimator
            need_index(self.__dict__.get("_data_index"), groups, "groups")
            return take_rows(groups, kept)
        need_index(self._fit_index(), groups, "groups")
        return groups

    def _reference_note(self) -> tuple[str, ...]:
        """The levels that categories are compared with, as a note of a summary."""
        own: dict[str, str] = self.__dict__.get("references_") or {}
        listed = ", ".join(f"{name} = {level}" for name, level in own.items())
        return (f"reference levels: {listed}",) if own else ()

    def _check_rows(self, X: Any, finite: bool = True) -> Table:
        designed = "formula_" in self.__dict__ or "design_" in self.__dict__
        if designed and (is_frame(X) or isinstance(X, dict)):
            names = list(self.feature_names_in_)
            if isinstance(X, dict) or list(map(str, X.columns)) != names:
                X = self._formula_rows(X, names)
        return super()._check_rows(X, finite)

    def _formula_rows(self, X: Any, names: list[str]) -> Any:
        from separatrix.features.formula import rows_again
        from separatrix.features.formula_columns import FormulaColumns

        kept = self.__dict__.get("design_")
        try:
            columns = None if kept is None else FormulaColumns.from_dict(kept)
        except ValueError as error:
            raise ModelFileError(f"{error}: fit the model again.") from error
        return rows_again(columns, self.__dict__.get("_spec"), names, X)


def named_rows(rows: Any, names: list[str], X: Any) -> Any:
    """Rows as a frame, with the index of the frame that they are from."""
    import pandas as pd

    return pd.DataFrame(rows, columns=names, index=X.index if isinstance(X, pd.DataFrame) else None)


def _column(value: Any, name: str, data: Any, kept: Any) -> Any:
    """Weights or offsets of the rows that are used: an array, or the name of a column."""
    if isinstance(value, str):
        try:
            value = data[value]
        except (KeyError, TypeError) as error:
            raise DataError(f"{name} is {value!r}, which is not a column of the data.") from error
    need_same_index(data, value, name)
    array = np.asarray(value)
    n = len(data[next(iter(data))]) if isinstance(data, dict) else len(data)
    if array.ndim != 1 or len(array) != n:
        raise DataError(f"{name} has shape {array.shape}, and the data {n} rows: pass one number for each.")
    return array[kept]

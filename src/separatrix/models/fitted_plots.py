"""``model.plot(...)``: pictures of a fit that has a summary, one line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.errors import DataError, InferenceError, ParameterError

if TYPE_CHECKING:
    from separatrix.plotting.fit_pictures import PicturedRows

OF_ROWS = {"residuals": "draw_residuals", "qq": "draw_quantiles", "leverage": "draw_leverage"}
OF_CLASSES = {"binned": "draw_binned", "roc": "draw_roc", "calibration": "draw_calibration"}
KINDS = ("coefficients", *OF_ROWS, *OF_CLASSES, "effect")
GRID = 101  # points of an effect along a column of numbers


class FittedPlots:
    """The method ``plot``; a subclass gives the rows of its fit."""

    def _picture_rows(self) -> PicturedRows:
        """Residuals and influence of the rows of the fit."""
        raise NotImplementedError("a model gives its rows")

    def plot(
        self, kind: str = "coefficients", column: str | None = None, *, data: Any = None, ax: Any = None, **options: Any
    ) -> Any:
        """Draw a picture of the fit.

        Parameters
        ----------
        kind : str
            "coefficients": estimates with intervals; "residuals": against fitted values; "qq": against normal
            quantiles; "leverage": residuals against leverage, with Cook's distances; for two classes "binned"
            residuals, "roc" and "calibration" on the rows of the fit; "effect": predictions along one column.
        column : str or None
            For "effect": the column that varies. The others are held at their means or most common level.
        data : frame or None
            For the "effect" in a model of a formula or of dummies: the frame, whose columns are not those of the model.
        ax : matplotlib Axes, optional
        **options
            Of ``summary`` for "coefficients", and ``level`` for "effect".

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> from separatrix import LeastSquares
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.1, 2.9, 5.2, 6.8]
        >>> ax = LeastSquares().fit(X, y).plot("residuals")
        >>> ax.get_xlabel()
        'fitted value'
        """
        if kind not in KINDS:
            raise ParameterError(f"kind is {kind!r}: it can be {', '.join(map(repr, KINDS))}.")
        if kind != "effect" and (column is not None or data is not None):
            raise ParameterError(f"column and data go with kind='effect', not with {kind!r}.")
        if kind == "effect":
            return self._effect(column, data, ax, **options)
        if kind == "coefficients":
            return self._coefficients(ax, options)
        if options:
            raise ParameterError(f"kind={kind!r} takes no option {next(iter(options))!r}.")
        rows = self._picture_rows()
        if kind in OF_CLASSES and rows.hits is None:
            raise InferenceError(f"kind={kind!r} is for logistic regression of two classes.")
        from separatrix.plotting import fit_pictures

        return getattr(fit_pictures, {**OF_ROWS, **OF_CLASSES}[kind])(rows, ax)

    def _coefficients(self, ax: Any, options: dict[str, Any]) -> Any:
        from separatrix.plotting.fit_pictures import draw_coefficients

        model: Any = self
        summary = model.summary(**options)
        slopes = [j for j, name in enumerate(summary.names) if name not in model._intercept_names(summary)]
        slopes = slopes or list(range(len(summary.names)))
        names = [summary.names[j] for j in slopes]
        share = f"{100 * summary.level:g}%"
        return draw_coefficients(names, summary.coef[slopes], summary.low[slopes], summary.high[slopes], share, ax)

    def _effect(self, column: str | None, data: Any, ax: Any, level: float = 0.95) -> Any:
        import pandas as pd

        from separatrix.plotting.fit_pictures import draw_effect

        model: Any = self
        model._check_fitted()
        frame = self._effect_frame(data)
        if column not in frame.columns:
            known = ", ".join(map(repr, frame.columns[:6]))
            raise DataError(f"column is {column!r}, which is not one of {known}: name the column that varies.")
        own = frame[column]
        numbers = pd.api.types.is_numeric_dtype(own.dtype) and not pd.api.types.is_bool_dtype(own.dtype)
        values = np.unique(own.dropna().to_numpy(dtype=np.float64)) if numbers else None
        if values is not None and len(values) > 2:
            grid: Any = np.linspace(values[0], values[-1], GRID)
        else:
            grid = values if values is not None else _levels(own)
        typical = {name: _typical(frame[name], pd) for name in frame.columns}
        rows = pd.DataFrame({name: [value] * len(grid) for name, value in typical.items()})
        rows[column] = grid
        named = hasattr(model, "feature_names_in_") or data is not None
        table = model.predict_table(rows if named else rows.to_numpy(dtype=np.float64), level=level)
        n, classes = len(grid), getattr(model, "classes_", None)
        shown = ["y"] if classes is None else [str(c) for c in classes.tolist()][-1 if len(classes) == 2 else 0 :]
        cut = {k: slice(i * n, (i + 1) * n) for i, k in enumerate(shown)}
        lines = {k: (table["mean"][s], table["low"][s], table["high"][s]) for k, s in cut.items()}
        outcome = "mean of y" if classes is None else "probability" + (f" of {shown[0]}" if len(shown) == 1 else "")
        return draw_effect(str(column), grid, lines, f"{outcome}, {100 * level:g}% interval", ax)

    def _effect_frame(self, data: Any) -> Any:
        import pandas as pd

        from separatrix.features.formula_columns import as_pandas

        model: Any = self
        if data is not None:
            return as_pandas(data)
        if "design_" in model.__dict__:
            raise InferenceError("the columns of this model were made from a frame: pass it as data=.")
        rows = model.__dict__.get("_rows")
        if rows is None:
            raise InferenceError("a stored model has no rows: pass a frame with its columns as data=.")
        table = rows.table if hasattr(rows, "table") else rows[0]
        X = table.X if isinstance(table.X, np.ndarray) else table.X.toarray()
        return pd.DataFrame(X, columns=list(table.names or (f"x{j}" for j in range(table.d))))


def _levels(column: Any) -> Any:
    categories = getattr(column.dtype, "categories", None)
    present = column.dropna().unique().tolist()
    return sorted(present, key=str) if categories is None else [c for c in categories.tolist() if c in present]


def _typical(column: Any, pd: Any) -> Any:
    numbers = pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)
    return float(column.mean()) if numbers else column.mode().iloc[0]

"""A model that grows: the fitted curve, or the boundary, for each size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.errors import DataError, ParameterError
from separatrix.plotting.model_view import ModelView, labels_of
from separatrix.plotting.planes import column_names, dense, plane_of_columns
from separatrix.plotting.row_points import draw_classes, drawn_rows, framed, window
from separatrix.plotting.style import INK, PALETTE, axes_for, finished, legible
from separatrix.validation import check_lengths, check_table, check_targets

STYLES = ("-", "--", ":", "-.")


def plot_overfitting(learner: Any, X: Any, y: Any, parameter: str, values: Sequence[Any], *, ax: Any = None) -> Any:
    """Draw what a learner makes of the same rows at several sizes: curves over one column, boundaries over two.

    Parameters
    ----------
    learner : estimator or pipeline
        It is not changed; a copy is fitted for each value.
    X : one column for a regressor, two for a classifier
    y : targets or labels
    parameter : str
        The option that sets the size, for instance ``"polynomialmap__degree"``, as in ``overfitting_curve``.
    values : sequence
        Its values, from the smallest model to the largest.
    ax : matplotlib Axes, optional

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LeastSquares, PolynomialMap, plot_overfitting
    >>> X, y = [[-1.0], [-0.5], [0.0], [0.5], [1.0]], [-0.4, 0.2, 0.0, -0.2, 0.4]
    >>> learner = make_pipeline(PolynomialMap(), LeastSquares())
    >>> ax = plot_overfitting(learner, X, y, "polynomialmap__degree", [1, 4])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['rows', 'degree 1', 'degree 4']
    """
    from sklearn.base import clone, is_regressor

    table = check_table(X)
    if not hasattr(learner, "fit") or isinstance(learner, type):
        raise ParameterError(f"learner is {learner!r}: pass an estimator or a pipeline.")
    if isinstance(values, str) or not len(values := list(values)):
        raise ParameterError("values is empty or a word: pass sizes of the model from small to large.")
    if parameter not in learner.get_params(deep=True):
        raise ParameterError(f"parameter is {parameter!r}, which {type(learner).__name__} does not have.")
    regression = is_regressor(learner)
    if table.d != (1 if regression else 2):
        wanted = "one column for a regressor" if regression else "two columns for a classifier"
        raise DataError(f"X has {table.d} columns, and the picture needs {wanted}: choose them first.")
    views = [ModelView(clone(learner).set_params(**{parameter: v}).fit(X, y), X, table) for v in values]
    said = [f"{parameter.rpartition('__')[2]} {v}" for v in values]
    if not regression and len(views[0].classes or []) != 2:
        raise DataError(f"y has {len(views[0].classes or [])} classes: boundaries by size are drawn for two.")
    ax = axes_for(ax)
    rows, drawn = dense(table), drawn_rows(table.n)
    if regression:
        targets = check_targets(y)
        check_lengths(table.n, len(targets), "y")
        grid = np.linspace(float(rows.min()), float(rows.max()), 600)
        ax.plot(rows[drawn, 0], targets[drawn], ".", color=INK, markersize=6, label="rows")
        for k, (view, name) in enumerate(zip(views, said, strict=True)):
            ax.plot(
                grid, view.predict(grid[:, None]).ravel(), STYLES[k % 4], color=PALETTE[k % 10], label=legible(name)
            )
        low, high = window(targets[:, None])
        ax.set_ylim(low[0] - (high[0] - low[0]) * 0.1, high[0] + (high[0] - low[0]) * 0.1)
        return finished(ax, column_names(table)[0], "y")
    codes, names = labels_of(y, table.n, views[0].classes)
    plane = plane_of_columns(rows, [0, 1], column_names(table))
    low, high = framed(ax, rows)
    x, z = np.linspace(low[0], high[0], 240), np.linspace(low[1], high[1], 240)
    grid = np.column_stack([c.ravel() for c in np.meshgrid(x, z)])
    draw_classes(ax, rows[drawn], codes[drawn], names)
    for k, (view, name) in enumerate(zip(views, said, strict=True)):
        lead = view.leads(plane, grid)[:, 1].reshape(len(z), len(x))
        look = {"colors": [PALETTE[(k + 2) % 10]], "linestyles": [STYLES[k % 4]]}
        ax.contour(x, z, lead, levels=[0.0], linewidths=1.5, **look)
        ax.plot([], [], STYLES[k % 4], color=PALETTE[(k + 2) % 10], label=legible(name))
    return finished(ax, *column_names(table), first=names)

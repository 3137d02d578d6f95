"""The largest margin drawn: the band between the hulls of both classes, and their nearest points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.plotting.hulls import plot_hulls
from separatrix.plotting.planes import column_names, dense
from separatrix.proofs.separability.verdict_picture import TITLES, side_names, weighted_mean

if TYPE_CHECKING:
    from separatrix.proofs.margin.margin import Margin


def margin_picture(found: Margin, ax: Any) -> Any:
    """The hyperplane that keeps farthest from all rows, its band, and the nearest points of the hulls."""
    subject = found._subject
    X = dense(subject.table)
    hyperplane = gap = None
    if found.coef is not None and found.intercept is not None and np.isfinite(found.intercept):
        hyperplane, gap = (found.coef, found.intercept), found.lower
    weights = found._bracket.point.weights if found._bracket.point is not None else {}
    rows = np.array(sorted(weights), dtype=np.int64)
    shares = np.array([float(weights[i]) for i in rows.tolist()])
    free = subject.intercept and found.verdict == "complete"
    ends = [weighted_mean(X, rows, shares, subject.labels[rows] == side) for side in (-1, 1)] if free else []
    return plot_hulls(
        X,
        subject.labels,
        side_names(subject),
        column_names(subject.table),
        hyperplane=hyperplane,
        gap=gap,
        support=rows if found.verdict == "complete" else None,
        nearest=np.array(ends) if free else None,
        title=TITLES[found.verdict] if found.verdict != "complete" else f"half-width {found.lower:.6g} (proved)",
        ax=ax,
    )

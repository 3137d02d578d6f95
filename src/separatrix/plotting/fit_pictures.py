"""Pictures of a fitted model: its coefficients, residuals, influential rows, and how its predictions hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from separatrix.arrays import Floats
from separatrix.plotting.style import BAD, GRID, INK, MUTED, PALETTE, axes_for, explain, finished, legible, name_axes
from separatrix.statistics.distributions import wilson

NAMED = 3  # rows with the greatest influence that carry their number


@dataclass(frozen=True, slots=True)
class PicturedRows:
    """Rows of a fit: fitted values, residuals, and what each row does to the fit.

    ``hits`` of ``trials`` are the outcomes of the positive class, where there are such; ``residual_name`` says which
    residuals these are.
    """

    fitted: Floats
    residuals: Floats
    residual_name: str
    studentized: Floats
    leverage: Floats
    cooks: Floats
    hits: Floats | None = None
    trials: Floats | None = None


def draw_coefficients(names: Sequence[str], coef: Floats, low: Floats, high: Floats, share: str, ax: Any) -> Any:
    """Estimates as points with their intervals, from top to bottom; an end that is infinite has an arrow."""
    ax = axes_for(ax, (5.6, max(2.4, 0.34 * len(names) + 1.2)))
    places = np.arange(len(names))[::-1]
    known = np.concatenate([v[np.isfinite(v)] for v in (coef, low, high)] + [np.zeros(1)])
    width = max(float(np.ptp(known)), 1e-12)
    left, right = float(known.min()) - 0.08 * width, float(known.max()) + 0.08 * width
    for at, b, a, z in zip(places, coef, low, high, strict=True):
        if np.isnan(a) and np.isnan(z):
            ax.annotate("aliased" if np.isnan(b) else "", (0, at), color=MUTED, fontsize=8, va="center")
            continue
        ax.plot([max(a, left), min(z, right)], [at, at], "-", color=PALETTE[0], linewidth=1.6)
        for end, edge, mark in ((a, left, "<"), (z, right, ">")):
            if np.isinf(end):
                ax.plot([edge], [at], mark, color=PALETTE[0], markersize=6)
        if np.isfinite(b):
            ax.plot([b], [at], "o", color=PALETTE[0], markersize=5)
    ax.axvline(0.0, color=MUTED, linewidth=0.8, zorder=0)
    ax.set(xlim=(left, right), ylim=(-0.6, len(names) - 0.4))
    ax.set_yticks(places, [legible(name, 32) for name in names], parse_math=False)
    name_axes(ax, f"coefficient, {share} interval")
    return ax


def draw_residuals(rows: PicturedRows, ax: Any) -> Any:
    """Residuals against fitted values, with their mean in ten groups of rows."""
    ax = axes_for(ax)
    ax.plot(rows.fitted, rows.residuals, ".", color=PALETTE[0], markersize=5, alpha=0.7)
    ax.axhline(0.0, color=MUTED, linewidth=0.8, zorder=0)
    groups = _groups(rows.fitted, 10)
    centres = [(rows.fitted[g].mean(), rows.residuals[g].mean()) for g in groups]
    ax.plot(*np.array(centres).T, "-", color=BAD, linewidth=1.4, label="mean in ten groups")
    return finished(ax, "fitted value", rows.residual_name)


def draw_quantiles(rows: PicturedRows, ax: Any) -> Any:
    """Studentised residuals against the quantiles of the normal distribution."""
    ax = axes_for(ax)
    found = np.sort(rows.studentized[np.isfinite(rows.studentized)])
    n = len(found)
    normal = NormalDist()
    expected = np.array([normal.inv_cdf((k + 0.5) / n) for k in range(n)])
    ax.plot(expected, found, ".", color=PALETTE[0], markersize=5)
    ends = [min(expected[0], found[0]), max(expected[-1], found[-1])]
    ax.plot(ends, ends, "-", color=MUTED, linewidth=1.0, zorder=0, label="normal distribution")
    return finished(ax, "normal quantile", "studentised residual")


def draw_leverage(rows: PicturedRows, ax: Any) -> Any:
    """Studentised residuals against leverage; the area of a point is Cook's distance."""
    ax = axes_for(ax)
    cooks = np.where(np.isfinite(rows.cooks), rows.cooks, 0.0)
    size = 12.0 + 160.0 * cooks / max(float(cooks.max()), 1e-300)
    ax.scatter(rows.leverage, rows.studentized, s=size, color=PALETTE[0], alpha=0.55, linewidths=0)
    ax.axhline(0.0, color=MUTED, linewidth=0.8, zorder=0)
    for i in np.argsort(-cooks)[:NAMED].tolist():
        if np.isfinite(rows.studentized[i]):
            ax.annotate(
                f"row {i}", (rows.leverage[i], rows.studentized[i]), (6, 4), "data", "offset points", fontsize=8
            )
    name_axes(ax, "leverage", "studentised residual")
    ax.set_title("the area of a point is Cook's distance", fontsize=9, color=MUTED)
    return ax


def draw_binned(rows: PicturedRows, ax: Any) -> Any:
    """Mean residuals y - p in groups of like probabilities, with two standard errors (Gelman and Hill 2007)."""
    assert rows.hits is not None and rows.trials is not None  # noqa: PT018  # the caller knows that there are two classes
    ax = axes_for(ax)
    n = rows.trials
    groups = _groups(rows.fitted, max(4, int(np.sqrt(len(n)))))
    at = np.array([np.average(rows.fitted[g], weights=n[g]) for g in groups])
    away = np.array([(rows.hits[g] - n[g] * rows.fitted[g]).sum() / n[g].sum() for g in groups])
    variance = [(n[g] * rows.fitted[g] * (1.0 - rows.fitted[g])).sum() / n[g].sum() ** 2 for g in groups]
    error = 2.0 * np.sqrt(np.array(variance))
    ax.fill_between(at, -error, error, color=GRID, label="two standard errors, if the model holds")
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    ax.plot(at, away, "o", color=PALETTE[0], markersize=4, label="mean of y − p in a group of rows")
    return finished(ax, "fitted probability", "mean residual")


def draw_roc(rows: PicturedRows, ax: Any) -> Any:
    """The receiver operating characteristic on the rows of the fit."""
    assert rows.hits is not None and rows.trials is not None  # noqa: PT018  # as above
    ax = axes_for(ax, (4.6, 4.4))
    order = np.argsort(-rows.fitted, kind="stable")
    p, hits, misses = rows.fitted[order], rows.hits[order], (rows.trials - rows.hits)[order]
    last = np.append(p[1:] != p[:-1], True)  # ties move together
    tpr = np.concatenate([[0.0], np.cumsum(hits)[last] / hits.sum()])
    fpr = np.concatenate([[0.0], np.cumsum(misses)[last] / misses.sum()])
    area = float(np.trapezoid(tpr, fpr))
    ax.plot(fpr, tpr, "-", color=PALETTE[0], label=f"area {area:.3f}, on the rows of the fit")
    ax.plot([0, 1], [0, 1], ":", color=MUTED, label="chance")
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    return finished(ax, "false positive rate", "true positive rate")


def draw_calibration(rows: PicturedRows, ax: Any) -> Any:
    """Observed shares against fitted probabilities in ten groups, with Wilson's intervals."""
    assert rows.hits is not None and rows.trials is not None  # noqa: PT018  # as above
    ax = axes_for(ax, (4.6, 4.4))
    ax.plot([0, 1], [0, 1], ":", color=MUTED, label="perfect agreement")
    points = []
    for g in _groups(rows.fitted, 10):
        hits, n = rows.hits[g].sum(), rows.trials[g].sum()
        at = np.average(rows.fitted[g], weights=rows.trials[g])
        points.append((at, hits / n))
        ax.plot([at, at], wilson(hits, n), "-", color=PALETTE[0], linewidth=1.2)
    ax.plot(
        *np.array(points).T, "o", color=PALETTE[0], markersize=5, label="share in a tenth of the rows, 95% interval"
    )
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    return finished(ax, "fitted probability", "observed share")


def draw_effect(name: str, grid: Any, lines: dict[str, tuple[Floats, Floats, Floats]], outcome: str, ax: Any) -> Any:
    """Predictions with intervals along one column, the others held; ``lines`` are mean, low and high by class."""
    ax = axes_for(ax)
    steps = not np.issubdtype(np.asarray(grid).dtype, np.number) or len(grid) <= 2
    x = np.arange(len(grid)) if steps else np.asarray(grid, dtype=np.float64)
    for k, (label, (mean, low, high)) in enumerate(lines.items()):
        colour = PALETTE[k % len(PALETTE)]
        if steps:
            spot = x + 0.12 * (k - (len(lines) - 1) / 2)
            ax.vlines(spot, low, high, color=colour, linewidth=1.6)
            ax.plot(spot, mean, "o", color=colour, markersize=5, label=legible(label))
        else:
            ax.fill_between(x, low, high, color=colour, alpha=0.18, linewidth=0)
            ax.plot(x, mean, "-", color=colour, label=legible(label))
    if steps:
        ax.set_xticks(x, [legible(v) for v in grid], parse_math=False)
        ax.set_xlim(-0.6, len(grid) - 0.4)
    name_axes(ax, name, outcome)
    ax.set_title("other columns at their means or most common level", fontsize=9, color=MUTED)
    if len(lines) > 1:
        explain(ax)
    ax.tick_params(colors=INK)
    return ax


def _groups(values: Floats, count: int) -> list[Any]:
    """Row numbers in groups of like values."""
    order = np.argsort(values, kind="stable")
    return [g for g in np.array_split(order, min(count, len(order))) if len(g)]

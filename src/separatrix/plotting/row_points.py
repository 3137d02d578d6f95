"""Rows as points: a colour and a marker a class, rings, lines with bands, arrows; normal classes as ellipses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.plotting.planes import Plane
from separatrix.plotting.style import INK, MARKERS, MUTED, PALETTE, colour_of, legible, place_of

MOST = 2000  # rows that are drawn; of more an even sample


def drawn_rows(n: int, needed: Sequence[int] = ()) -> NDArray[np.intp]:
    """Which rows are drawn: all, or a sample in which the needed ones are."""
    if n <= MOST:
        return np.arange(n)
    sample = np.random.default_rng(0).choice(n, MOST, replace=False)
    return np.union1d(sample, np.asarray(needed, dtype=np.intp)[:MOST])


def draw_classes(ax: Any, points: Floats, codes: NDArray[Any], names: Sequence[Any], *, legend: bool = True) -> None:
    """One scatter a class, 2-D or 3-D; of more than ten classes each row is its label."""
    size = float(np.clip(4000 / max(len(points), 1), 9, 42))
    count = len(names)
    for k, name in sorted(enumerate(names), key=lambda pair: place_of(pair[0], count)):
        own = points[codes == k]
        if len(names) > len(PALETTE) and points.shape[1] == 2:
            text = str(name)[:3]
            for x, y in own.tolist():
                ax.text(x, y, text, color=colour_of(k, count), fontsize=7, ha="center", va="center", clip_on=True)
            ax.update_datalim(own)
        elif len(own):
            ax.scatter(
                *own.T,
                s=size,
                color=colour_of(k, count),
                marker=MARKERS[place_of(k, count) % len(MARKERS)],
                linewidths=0.4,
                edgecolors="white",
                label=legible(name) if legend else None,
                zorder=3,
            )


def ring(ax: Any, points: Floats, label: str, colour: str = INK) -> None:
    """Circles around rows."""
    if len(points):
        size, width = (110, 1.2) if len(points) < 60 else (45, 0.7)
        ax.scatter(*points.T, s=size, facecolors="none", edgecolors=colour, linewidths=width, label=label, zorder=4)


def window(points: Floats) -> tuple[Floats, Floats]:
    """Lower and upper corner of what is drawn: the points with a border, never empty."""
    low, high = points.min(axis=0), points.max(axis=0)
    spread, size = high - low, np.maximum(np.abs(low), np.abs(high))
    pad = np.where(spread > 1e-9 * size, 0.1 * spread, np.where(spread.max() > 0, 0.5 * spread.max(), 1.0))
    return np.asarray(low - pad), np.asarray(high + pad)


def framed(ax: Any, points: Floats) -> tuple[Floats, Floats]:
    """Axes around points, and their corners; in one scale, so that right angles look right, but for long stripes."""
    low, high = window(points)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    spread = high - low
    if spread.max() <= 3 * spread.min():
        ax.set_aspect("equal")
    return low, high


def draw_line(
    ax: Any,
    coef: Floats,
    intercept: float,
    near: Floats,
    gap: float | None = None,
    *,
    label: str | None = "hyperplane",
    band: str | None = "gap",
    **style: Any,
) -> None:
    """The line coef.x + intercept = 0, long enough for the points ``near``, and a band of half-width ``gap``."""
    length = float(np.hypot(*coef))
    if length == 0 or not np.isfinite(length):
        return
    reach = 4 * (float(np.ptp(near[:, 0])) + float(np.ptp(near[:, 1])) + 1)
    foot = coef * (-intercept / length**2)
    along = np.array([-coef[1], coef[0]]) / length
    foot = foot + along * float((near.mean(axis=0) - foot) @ along)
    ends = np.array([foot - reach * along, foot + reach * along])
    look = {"color": INK, "linewidth": 1.4, "zorder": 1, "label": label} | style
    ax.plot(ends[:, 0], ends[:, 1], scalex=False, scaley=False, **look)
    if gap:
        normal = coef / length * gap
        corners = np.vstack([ends - normal, (ends + normal)[::-1]])
        ax.fill(corners[:, 0], corners[:, 1], color=MUTED, alpha=0.18, linewidth=0, zorder=0, label=band)


def arrow(ax: Any, begin: Floats, end: Floats, colour: Any, text: str | None = None, label: str | None = None) -> None:
    """An arrow between two points of the data, and a word at its end."""
    head = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 12}
    ax.annotate("", end, begin, arrowprops=head, annotation_clip=False, zorder=5)
    ax.update_datalim([begin, end])
    if label is not None:
        ax.plot([], [], "-", color=colour, linewidth=1.6, label=label)
    if text is not None:
        ax.annotate(
            text, end, (4, 4), "data", "offset points", annotation_clip=False, color=colour, fontsize=9, zorder=6
        )


DEVIATIONS = (1.0, 2.0)


def draw_gaussians(ax: Any, model: Any, plane: Plane) -> None:
    """The class densities of a discriminant, projected on the plane."""
    means = np.asarray(model.means_)
    found = getattr(model, "covariances_", getattr(model, "covariance_", None))
    if found is None or means.ndim != 2 or means.shape[1] != plane.directions.shape[1]:
        return
    covariances = np.broadcast_to(np.asarray(found), (len(means), means.shape[1], means.shape[1]))
    for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        centre = plane.points(mean[None])[0]
        flat = plane.directions @ covariance @ plane.directions.T
        for deviations in DEVIATIONS:
            ring = centre + deviations * ellipse(flat)
            label = "1 and 2 standard deviations" if k == 0 and deviations == 1.0 else None
            ax.plot(*ring.T, color=colour_of(k, len(means)), linewidth=1.1, zorder=2, label=label)
        ax.plot(*centre, "+", color=colour_of(k, len(means)), markersize=9, markeredgewidth=1.6, zorder=4)


def ellipse(covariance: Floats) -> Floats:
    """Points u with u' covariance^-1 u = 1."""
    values, vectors = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 120)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(circle * np.sqrt(np.maximum(values, 0)) @ vectors.T)

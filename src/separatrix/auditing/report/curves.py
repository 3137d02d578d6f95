"""Figures of scores and of assumptions: thresholds, calibration, quantiles, predicted against true."""

from __future__ import annotations

from typing import Any

from separatrix.auditing.audit_facts import AuditFacts
from separatrix.auditing.facts import Band, ScatterPicture
from separatrix.auditing.phrasing import estimate, short
from separatrix.auditing.report.drawing import axes, plain_ticks, svg
from separatrix.auditing.report.figures import called
from separatrix.plotting.style import GRID, MUTED, PALETTE

UNIT = {"xlim": (-0.01, 1.01), "ylim": (-0.01, 1.02)}


def _banded(ax: Any, own: Band, note: str, at: tuple[float, float], side: str) -> None:
    ax.fill_between(own.x, own.low, own.high, step="post", color=PALETTE[0], alpha=0.18, linewidth=0)
    ax.plot(own.x, own.y, drawstyle="steps-post", color=PALETTE[0], linewidth=1.6)
    ax.text(*at, note, ha=side, fontsize=9)
    ax.grid(color=GRID, linewidth=0.6)


def roc(facts: AuditFacts) -> str | None:
    """True against false positive rate, with a band."""
    own = None if facts.pictures.scores is None else facts.pictures.scores.roc
    if own is None:
        return None

    with axes() as ax:
        _banded(ax, own, f"AUC {estimate(own.estimate)}", (0.97, 0.06), "right")
        ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", **UNIT)

    return svg(ax, f"ROC curve, area {estimate(own.estimate)}.")


def precision_recall(facts: AuditFacts) -> str | None:
    """Precision against recall, with a band."""
    own = None if facts.pictures.scores is None else facts.pictures.scores.precision_recall
    if own is None:
        return None

    with axes() as ax:
        _banded(ax, own, f"average precision {estimate(own.estimate)}", (0.03, 0.06), "left")
        ax.axhline(own.baseline, linestyle=":", color=MUTED, linewidth=1)
        ax.set(xlabel="recall", ylabel="precision", **UNIT)

    return svg(ax, f"Precision against recall, average precision {estimate(own.estimate)}.")


def calibration(facts: AuditFacts) -> str | None:
    """Observed frequencies against predicted probabilities, with intervals."""
    own = None if facts.pictures.scores is None else facts.pictures.scores.calibration
    if own is None:
        return None

    with axes() as ax:
        ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1)
        for predicted, low, high in zip(own.predicted, own.low, own.high, strict=True):
            ax.plot([predicted, predicted], [low, high], color=PALETTE[0], linewidth=1.2, alpha=0.7)
        sizes = [8 + 60 * c / max(own.counts) for c in own.counts]
        ax.scatter(own.predicted, own.observed, s=sizes, color=PALETTE[0], linewidths=0, zorder=3)
        ax.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.grid(color=GRID, linewidth=0.6)

    return svg(ax, "Calibration: observed frequency against predicted probability; larger dots, more rows.")


def fitted(facts: AuditFacts) -> str | None:
    """Fitted against true values of a quantity, on all rows."""
    return _scatter(facts, facts.pictures.fitted, "fitted by least squares", "Fitted against true values.")


def predicted(facts: AuditFacts) -> str | None:
    """Predicted against true values, on rows that were not learned from."""
    return _scatter(facts, facts.pictures.predicted, "predicted", "Predicted against true values.")


def _scatter(facts: AuditFacts, own: ScatterPicture | None, label: str, alt: str) -> str | None:
    if own is None:
        return None

    with axes() as ax:
        ends = [min(own.truth + own.predicted), max(own.truth + own.predicted)]
        ax.plot(ends, ends, ":", color=MUTED, linewidth=1)
        ax.scatter(own.predicted, own.truth, s=12, alpha=0.65, color=PALETTE[0], linewidths=0)
        ax.set(xlabel=label, ylabel=short(facts.table.target, 40))
        plain_ticks(ax.xaxis)
        plain_ticks(ax.yaxis)
        ax.grid(color=GRID, linewidth=0.6)

    return svg(ax, alt)


def quantiles(facts: AuditFacts) -> str | None:
    """Classes against the normal distribution."""
    own = facts.pictures.quantiles
    if not own:
        return None
    labels = [c.label for c in facts.table.classes]
    if len(labels) > len(PALETTE):  # colours of the drawn classes alone, so that no two are alike
        labels = [curve.label for curve in own]

    with axes() as ax:
        ax.plot([-3, 3], [-3, 3], ":", color=MUTED, linewidth=1)
        for curve in own:
            colour = PALETTE[labels.index(curve.label) % len(PALETTE)]
            name = called(facts.table, curve.label, 24)
            ax.plot(curve.normal, curve.observed, color=colour, linewidth=1.5, label=name)
        ax.set(xlabel="quantiles of a normal distribution", ylabel="quantiles of the class, scaled")
        ax.grid(color=GRID, linewidth=0.6)
        ax.legend(loc="upper left")

    return svg(ax, "Quantiles of each class along the discriminant against those of a normal distribution.")

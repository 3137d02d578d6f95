"""Figures of scores and of assumptions: thresholds, calibration, quantiles, predicted against true."""

from __future__ import annotations

from typing import Any

from separatrix.auditing.phrasing import short, with_interval
from separatrix.auditing.report.drawing import GRID, MUTED, PALETTE, draw
from separatrix.auditing.report.figures import called


def roc(content: dict[str, Any]) -> str | None:
    """True against false positive rate, with a band."""
    own = (content["pictures"]["curves"] or {}).get("roc")
    if not own:
        return None

    def paint(ax: Any) -> None:
        ax.fill_between(own["fpr"], own["low"], own["high"], step="post", color=PALETTE[0], alpha=0.18, linewidth=0)
        ax.plot(own["fpr"], own["tpr"], drawstyle="steps-post", color=PALETTE[0], linewidth=1.6)
        ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1)
        ax.text(0.97, 0.06, f"AUC {_told(own['auc'])}", ha="right", fontsize=9)
        ax.set(
            xlabel="false alarms among the others",
            ylabel="found among the positive",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.02),
        )
        ax.grid(color=GRID, linewidth=0.6)

    return draw(f"ROC curve, area {_told(own['auc'])}.", paint)


def precision_recall(content: dict[str, Any]) -> str | None:
    """Precision against recall, with a band."""
    own = (content["pictures"]["curves"] or {}).get("precision_recall")
    if not own:
        return None

    def paint(ax: Any) -> None:
        ax.fill_between(own["recall"], own["low"], own["high"], step="post", color=PALETTE[0], alpha=0.18, linewidth=0)
        ax.plot(own["recall"], own["precision"], drawstyle="steps-post", color=PALETTE[0], linewidth=1.6)
        ax.axhline(own["prevalence"], linestyle=":", color=MUTED, linewidth=1)
        ax.text(0.03, 0.06, f"average precision {_told(own['average_precision'])}", ha="left", fontsize=9)
        ax.set(
            xlabel="found among the positive (recall)",
            ylabel="right among those called positive",
            xlim=(-0.01, 1.01),
            ylim=(-0.01, 1.02),
        )
        ax.grid(color=GRID, linewidth=0.6)

    return draw(f"Precision against recall, average precision {_told(own['average_precision'])}.", paint)


def calibration(content: dict[str, Any]) -> str | None:
    """What was said against what happened, with intervals."""
    own = (content["pictures"]["curves"] or {}).get("calibration")
    if not own:
        return None

    def paint(ax: Any) -> None:
        ax.plot([0, 1], [0, 1], ":", color=MUTED, linewidth=1)
        for said, low, high in zip(own["said"], own["low"], own["high"], strict=True):
            ax.plot([said, said], [low, high], color=PALETTE[0], linewidth=1.2, alpha=0.7)
        most = max(own["counts"])
        sizes = [8 + 60 * c / most for c in own["counts"]]
        ax.scatter(own["said"], own["happened"], s=sizes, color=PALETTE[0], linewidths=0, zorder=3)
        ax.set(xlabel="probability said", ylabel="share that happened", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.grid(color=GRID, linewidth=0.6)

    return draw("Calibration: how often what was said with a probability happened; larger dots, more rows.", paint)


def scatter(content: dict[str, Any]) -> str | None:
    """Predicted against true, for quantities."""
    own = content["pictures"]["curves"] or {}
    if "truth" not in own:
        return None

    def paint(ax: Any) -> None:
        ends = [min(own["truth"] + own["predicted"]), max(own["truth"] + own["predicted"])]
        ax.plot(ends, ends, ":", color=MUTED, linewidth=1)
        ax.scatter(own["predicted"], own["truth"], s=12, alpha=0.7, color=PALETTE[0], linewidths=0)
        ax.set(xlabel="predicted", ylabel=short(content["table"]["target"], 40))
        ax.grid(color=GRID, linewidth=0.6)

    return draw("Predicted against true values.", paint)


def quantiles(content: dict[str, Any]) -> str | None:
    """Classes against the normal distribution."""
    own = content["pictures"]["quantiles"]
    if not own or not own["curves"]:
        return None
    labels = [entry["label"] for entry in content["table"]["classes"]]

    def paint(ax: Any) -> None:
        ax.plot([-3, 3], [-3, 3], ":", color=MUTED, linewidth=1)
        for curve in own["curves"]:
            colour = PALETTE[labels.index(curve["class"]) % len(PALETTE)]
            ax.plot(
                curve["normal"], curve["seen"], color=colour, linewidth=1.5, label=called(content, curve["class"], 24)
            )
        ax.set(xlabel="quantiles of a normal distribution", ylabel="quantiles of the class, scaled")
        ax.grid(color=GRID, linewidth=0.6)
        ax.legend(loc="upper left")

    return draw("Quantiles of each class along the discriminant against those of a normal distribution.", paint)


def _told(e: dict[str, Any]) -> str:
    if e["value"] is None:
        return "undefined"
    return with_interval(e["value"], e["low"], e["high"])

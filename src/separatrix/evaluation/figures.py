"""Evaluations as figures: metrics, comparisons of learners, and the folds of a cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.evaluation.evaluation_text import percent, plain, rows, short
from separatrix.evaluation.intervals import Estimate
from separatrix.extras import need

if TYPE_CHECKING:
    from separatrix.evaluation.comparison import Comparison
    from separatrix.evaluation.curves import Drawn
    from separatrix.evaluation.results import ClassificationEvaluation, RegressionEvaluation


from collections.abc import Sequence

from separatrix.plotting.style import GRID, MUTED, PALETTE, axes_for, finished

LABELLED = 12  # classes up to which a confusion matrix carries its numbers
DRAWN = 2000  # points up to which all are drawn


def evaluation_figure(e: ClassificationEvaluation, fig: Any = None) -> Any:
    """The confusion matrix, the metrics with their intervals, and the curves that can be drawn."""
    need("matplotlib")
    import matplotlib.pyplot as plt

    binary = e.positive is not None
    curves: list[Drawn] = []
    if binary and e.roc_auc.defined:
        curves += [e.roc_curve(), e.precision_recall_curve()]
    if binary and e.outcomes.probabilities is not None:
        curves.append(e.calibration_curve())
    if fig is None:
        fig = plt.figure(figsize=(11.0, 4.2 if not curves else 8.0), layout="constrained")
    grid = fig.add_gridspec(2 if curves else 1, 6)
    confusion_axes(fig.add_subplot(grid[0, :3]), e)
    metric_axes(fig.add_subplot(grid[0, 3:]), e)
    width = 6 // max(len(curves), 1)
    for j, curve in enumerate(curves):
        curve.plot(fig.add_subplot(grid[1, j * width : (j + 1) * width]))
    return fig


def confusion_axes(ax: Any, e: ClassificationEvaluation) -> None:
    """Shares of each actual class as shades, counts as numbers; of two classes the positive one first."""
    k, order = len(e.classes), e.shown_order()
    confusion = np.asarray(e.confusion)[np.ix_(order, order)]
    with np.errstate(invalid="ignore", divide="ignore"):
        share = np.nan_to_num(confusion / confusion.sum(axis=1, keepdims=True))
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    names = [short(e.classes[i]) for i in order]
    few = k <= LABELLED
    ax.set_xticks(range(k) if few else [], names if few else [], rotation=45 if max(map(len, names)) > 5 else 0)
    ax.set_yticks(range(k) if few else [], names if few else [])
    ax.set(xlabel="predicted", ylabel="actual", title="confusion matrix (shade: share of the actual class)")
    ax.title.set_fontsize(10)
    if few:
        called = e.cell_names()
        for i, j in np.ndindex(k, k):
            colour = "white" if share[i, j] > 0.5 else "black"
            text = f"{plain(float(confusion[i, j]))}\n{called[order[i]][order[j]]}".rstrip()
            ax.text(j, i, text, ha="center", va="center", color=colour, fontsize=9)


def metric_axes(ax: Any, e: ClassificationEvaluation) -> None:
    """One line a metric that lies in [-1, 1]: the value and its interval."""
    chosen = {n: m for n, m in e.metrics.items() if m.has_interval and n != "log_loss"}
    at = np.arange(len(chosen))[::-1]
    values = np.array([m.value for m in chosen.values()])
    low, high = (np.array([getattr(m, end) for m in chosen.values()]) for end in ("low", "high"))
    ax.errorbar(values, at, xerr=[np.maximum(values - low, 0), np.maximum(high - values, 0)], fmt="o", capsize=3)
    ax.plot([e.majority], [at[0]], "|", color="0.4", markersize=14)
    style = {"color": "0.4", "fontsize": 8, "ha": "right", "va": "bottom"}
    ax.annotate("most common class", (e.majority, at[0]), (-2, 4), "data", "offset points", **style)
    ax.set_yticks(at, [name.replace("_", " ") for name in chosen])
    ax.set(xlim=(min(0.0, float(low.min()) - 0.02), 1.02), ylim=(-0.6, len(chosen) - 0.4))
    ax.set_title(f"{percent(e.level)} intervals, {rows(e.n)}", fontsize=10)


def regression_figure(e: RegressionEvaluation, fig: Any = None) -> Any:
    """Predicted against true, and residuals against predicted; of many rows an even sample."""
    need("matplotlib")
    import matplotlib.pyplot as plt

    if fig is None:
        fig = plt.figure(figsize=(9.2, 4.2), layout="constrained")
    left, right = fig.subplots(1, 2)
    at = np.arange(e.n) if e.n <= DRAWN else np.random.default_rng(0).choice(e.n, DRAWN, replace=False)
    truth, said = e.truth[at], e.predicted[at]
    left.scatter(said, truth, s=10, alpha=0.5, linewidth=0)
    ends = [min(truth.min(), said.min()), max(truth.max(), said.max())]
    left.plot(ends, ends, ":", color="0.5", linewidth=1)
    left.set(xlabel="predicted", ylabel="true", title=f"R² {e.r2}")
    right.scatter(said, truth - said, s=10, alpha=0.5, linewidth=0)
    right.axhline(0, linestyle=":", color="0.5", linewidth=1)
    sample = "" if e.n <= DRAWN else f" ({DRAWN:,} of {e.n:,} rows drawn)"
    right.set(xlabel="predicted", ylabel="true − predicted", title=f"RMSE {e.rmse}{sample}")
    return fig


def comparison_figure(comparison: Comparison, fig: Any = None) -> Any:
    """A figure: each learner with its interval, and the difference of each to the best."""
    need("matplotlib")
    import matplotlib.pyplot as plt

    if fig is None:
        fig = plt.figure(figsize=(10.0, 1.6 + 0.42 * len(comparison.runs)), layout="constrained")
    left, right = fig.subplots(1, 2, sharey=True)
    order = comparison.ranking[::-1]
    for at, name in enumerate(order):
        _interval(left, at, comparison.estimates[name], "C0")
        values = comparison.runs[name].fold_values[comparison.metric]
        left.plot(values, np.full(len(values), at - 0.18), "|", color="0.6", markersize=6)
    left.set_yticks(range(len(order)), [short(name, 28) for name in order])
    left.set(xlabel=comparison.metric.replace("_", " "), title="mean, interval, folds (ticks)")
    best = comparison.ranking[0]
    for at, name in enumerate(order):
        pair = next((p for p in comparison.pairs if {p.first, p.second} == {best, name}), None)
        if pair is None:
            right.text(0, at, "best mean  ", va="center", ha="right", fontsize=8, color="0.4")
            continue
        sign = 1 if pair.second == best else -1
        d = pair.difference
        ends = sorted((sign * d.low, sign * d.high))
        turned = Estimate(sign * d.value, ends[0], ends[1], d.method, d.level)
        _interval(right, at, turned, "C3" if pair.decided else "0.45")
    right.axvline(0, color="0.5", linewidth=1, linestyle=":")
    right.set(xlabel=f"difference to {short(best, 28)}", title="paired differences (red: decided)")
    right.set_ylim(-0.6, len(order) - 0.4)
    return fig


def _interval(ax: Any, at: float, e: Estimate, colour: str) -> None:
    if e.has_interval:
        ax.plot([e.low, e.high], [at, at], "-", color=colour, linewidth=2)
    ax.plot([e.value], [at], "o", color=colour, markersize=5)


NUMBERED = 10  # folds up to which parts are wide enough to carry their size


def draw_folds(sizes: Sequence[int], values: Sequence[str], title: str, ax: Any = None) -> Any:
    """Folds that judge parts of these sizes, one below the other, each with what it found at the end of its line."""
    ax = axes_for(ax, (6.4, 0.9 + 0.32 * len(sizes)))
    begins = [sum(sizes[:k]) for k in range(len(sizes))]
    total = sum(sizes)
    for fold, value in enumerate(values):
        for part, (begin, size) in enumerate(zip(begins, sizes, strict=True)):
            judged = part == fold
            label = ("judged" if judged else "learned from") if (fold, part) in ((0, 0), (0, 1)) else None
            ax.barh(
                fold,
                size,
                left=begin,
                height=0.8,
                color=PALETTE[0] if judged else GRID,
                edgecolor="white",
                hatch="///" if judged else None,
                label=label,
            )
            if judged and len(sizes) <= NUMBERED:
                box = {"facecolor": PALETTE[0], "edgecolor": "none", "pad": 1.0}
                ax.text(
                    begin + size / 2, fold, f"{size:,}", color="white", ha="center", va="center", fontsize=8, bbox=box
                )
        ax.text(total * 1.01, fold, value, va="center", fontsize=9, color=MUTED)
    ax.set(xlim=(0, total), ylim=(len(sizes) - 0.5, -0.5), title=title)
    ax.set_yticks(range(len(sizes)), [f"fold {k + 1}" for k in range(len(sizes))])
    ax.title.set_fontsize(9)
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    return finished(ax, "rows, part by part", first=["judged"])

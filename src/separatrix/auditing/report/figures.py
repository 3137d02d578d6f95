"""The figures of the report."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.auditing.audit_facts import AuditFacts
from separatrix.auditing.facts import TableFacts
from separatrix.auditing.phrasing import bound, count, metric_name, short
from separatrix.auditing.report.drawing import axes, log_ticks, plain_ticks, svg
from separatrix.plotting.row_points import draw_line
from separatrix.plotting.style import BAD, GRID, INK, MARKERS, MUTED, PALETTE, PAPER, explain, place_of

RARE = 0.05  # share of the drawn rows below which the marks of a class are larger
LETTERS = 14  # rows of each of many classes that are drawn
COEFFICIENTS = 14


def projection(facts: AuditFacts) -> str | None:
    """The rows in their two most telling directions, with hyperplane, margin band and marked rows."""
    own = facts.pictures.projection
    if own is None:
        return None
    labels = [c.label for c in facts.table.classes]
    x, y, classes = np.array(own.x), np.array(own.y), np.array(own.classes)
    place = {row: k for k, row in enumerate(own.rows)}
    by_letter = len(labels) > len(PALETTE)
    rare = np.bincount(classes, minlength=len(labels)) < RARE * len(classes)

    with axes((4.3, 3.7)) as ax:
        size = float(np.clip(4000 / max(len(x), 1), 7, 34))
        if own.line is not None:
            draw_line(ax, np.array(own.line.coef), own.line.intercept, np.column_stack([x, y]), own.line.gap)
        order = np.argsort(-np.bincount(classes, minlength=len(labels)), kind="stable")
        total = len(labels)
        for k in order.tolist():
            at = classes == k
            if by_letter:
                _lettered(ax, x[at], y[at], labels[k], PALETTE[place_of(k, total) % len(PALETTE)])
                continue
            if not at.any():
                continue
            colour, marker = (
                PALETTE[place_of(k, total) % len(PALETTE)],
                MARKERS[place_of(k, total) % len(MARKERS)],
            )
            ax.scatter(
                x[at],
                y[at],
                s=size * (3 if rare[k] else 1),
                c=colour,
                marker=marker,
                alpha=0.95 if rare[k] else 0.75,
                linewidths=0,
                label=called(facts.table, labels[k], 20),
            )
        marked = ("support", own.support, "on the edge of the gap"), ("witness", own.witness, "rows that rule it out")
        for kind, rows, title in marked:
            if at := [place[i] for i in rows]:
                rings = ax.scatter(
                    x[at],
                    y[at],
                    s=size * 3.4,
                    facecolors="none",
                    edgecolors=INK,
                    linewidths=1.1 if len(at) < 100 else 0.5,
                    label=title,
                )
                rings.set_gid(f"rows-{kind}")  # the page marks them when its proof is checked
        ax.set(xlabel=short(own.axes[0], 46), ylabel=short(own.axes[1], 46))
        ax.set(xlim=own.x_window, ylim=own.y_window)
        explain(ax, [called(facts.table, label, 20) for label in labels], 60)

    sample = f", a sample of {count(len(x))} of {count(own.of)} rows" if len(x) < own.of else ""
    return svg(ax, f"Scatter plot of the rows by class{sample}; axes: {own.axes[0]}, {own.axes[1]}.")


def _lettered(ax: Any, x: Any, y: Any, label: str, colour: str) -> None:
    """Rows of one of many classes, a few of them marked by their label, and a large label at their median."""
    from matplotlib.textpath import TextPath

    if not len(x):
        return
    text, some = short(label, 3), np.linspace(0, len(x) - 1, min(len(x), LETTERS)).astype(int)
    ax.scatter(
        x[some],
        y[some],
        s=26 * len(text),
        marker=TextPath((-0.3 * len(text), -0.35), text, 1),
        c=colour,
        alpha=0.55,
        linewidths=0,
    )
    plate = {"facecolor": PAPER, "alpha": 0.75, "pad": 0.6, "linewidth": 0}
    at = float(np.median(x)), float(np.median(y))
    ax.text(*at, text, color=INK, fontsize=11, fontweight="bold", ha="center", va="center", bbox=plate, zorder=5)


def called(table: TableFacts, label: str, width: int) -> str:
    """A class by its label, with the name of the target where the label is a bare number."""
    bare = label.lstrip("-").replace(".", "", 1).isdigit() and len(table.classes) <= 4
    return short(f"{table.target} = {label}" if bare else label, width)


def coefficients(facts: AuditFacts) -> str | None:
    """Effects of one standard deviation with their intervals, largest first."""
    own = facts.pictures.coefficients
    if own is None or not own.features:
        return None
    rows = own.features[:COEFFICIENTS]
    target = facts.table.target if own.positive is None else called(facts.table, own.positive, 20)

    with axes((4.3, 1.15 + 0.22 * len(rows))) as ax:
        for at, row in enumerate(reversed(rows)):
            colour = PALETTE[0] if row.effect >= 0 else PALETTE[1]
            if row.low is not None and row.high is not None:
                ax.plot([row.low * row.spread, row.high * row.spread], [at, at], color=colour, linewidth=1.6)
            mark = {"+inf": ">", "-inf": "<"}.get(row.fate or "", "o")
            ax.plot([row.effect], [at], mark, color=colour, markersize=4.5)
        ax.axvline(0, color=MUTED, linewidth=0.8)
        ax.set_yticks(range(len(rows)), [short(row.name, 26) for row in reversed(rows)])
        ax.set_ylim(-0.7, len(rows) - 0.3)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        plain_ticks(ax.xaxis)
        score = "change" if facts.table.regression else "change of the score"
        what = "change of the log-odds" if own.log_odds else score
        ax.set_xlabel(f"{what} of {short(target, 20)}\nfor one standard deviation")

    alt = f"Coefficients of {own.learner}, largest effect first: {rows[0].name}."
    return svg(ax, alt)


def mistakes(facts: AuditFacts) -> str | None:
    """The perceptron's mistakes so far, pass by pass, against the bound."""
    runs = (
        ("columns as given", facts.algorithm.perceptron, PALETTE[0]),
        ("columns standardised", facts.algorithm.perceptron_standardised, PALETTE[2]),
    )
    shown = [(title, run, colour) for title, run, colour in runs if run is not None]
    if not shown:
        return None

    with axes() as ax:
        highest = max((run.bound.mistakes for _, run, _ in shown if run.bound is not None), default=0.0)
        for title, run, colour in shown:
            made = np.maximum(run.curve_mistakes, 0.8)
            ax.plot(run.curve_passes, made, color=colour, linewidth=1.6, label=title)
            if run.converged:
                ax.plot(run.curve_passes[-1:], made[-1:], "o", color=colour, markersize=5)
            if run.bound is not None:
                most = run.bound.mistakes
                ax.axhline(most, color=colour, linestyle="--", linewidth=1.2)
                at, offset = (1, most), (3, 3 if most == highest else -3)
                side = "bottom" if most == highest else "top"  # labels of two near lines do not collide
                note = f"bound {bound(most)}"
                ax.annotate(note, at, offset, textcoords="offset points", color=colour, fontsize=8, va=side)
        ax.set(xscale="log", yscale="log", xlabel="passes over the rows", ylabel="mistakes so far")
        log_ticks(ax.xaxis)
        log_ticks(ax.yaxis)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * 3)
        ax.grid(color=GRID, linewidth=0.6)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)

    return svg(ax, "Mistakes of the perceptron against passes, with the proved bound as a dashed line.")


def learners(facts: AuditFacts) -> str | None:
    """Each learner with its interval, folds as ticks, guessing as a line."""
    own = facts.prediction
    if not own.learners:
        return None
    entries = own.learners[::-1]

    with axes((4.3, 1.0 + 0.36 * len(entries))) as ax:
        for at, entry in enumerate(entries):
            e = entry.estimates[own.metric]
            colour = PALETTE[0] if entry.chosen else MUTED
            folds = [v for v in entry.folds if v is not None]
            ax.plot(folds, [at - 0.22] * len(folds), "|", color=MUTED, markersize=5)
            if e.low is not None:
                ax.plot([e.low, e.high], [at, at], color=colour, linewidth=2.2)
            if e.value is not None:
                ax.plot([e.value], [at], "o", color=colour, markersize=5)
        names = [entry.name + (" (chosen)" if entry.chosen else "") for entry in entries]
        ax.set_yticks(range(len(entries)), names)
        ax.set_ylim(-0.7, len(entries) - 0.3)
        ax.axvline(own.baseline, color=BAD, linestyle=":", linewidth=1.2)
        top = (own.baseline, len(entries) - 0.5)
        ax.annotate("baseline", top, (3, 0), textcoords="offset points", color=BAD, fontsize=8)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        plain_ticks(ax.xaxis)
        ax.set_xlabel(f"{metric_name(own.metric)} in cross-validation")

    return svg(ax, "Learners compared on the same folds, each with its interval.")


def learning_curve(facts: AuditFacts) -> str | None:
    """Error on training and on validation rows."""
    own = facts.pictures.learning_curve
    if own is None:
        return None
    curves = (
        (own.train, own.train_error, MUTED, "training rows"),
        (own.validation, own.validation_error, PALETTE[0], "validation rows"),
    )

    with axes() as ax:
        for values, errors, colour, title in curves:
            mean, error = np.array(values, dtype=float), np.array(errors, dtype=float)
            ax.plot(own.rows, mean, "o-", color=colour, markersize=3.5, linewidth=1.5, label=title)
            ax.fill_between(own.rows, mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
        ax.set(xlabel="rows to learn from", ylabel="error" if own.metric == "error" else "RMSE")
        ax.set_ylim(bottom=0)
        plain_ticks(ax.xaxis)
        plain_ticks(ax.yaxis)
        ax.grid(color=GRID, linewidth=0.6)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)

    return svg(ax, "Error against the number of rows to learn from.")


def split(facts: AuditFacts) -> str | None:
    """The bar of development and held-out rows."""
    own, folds = facts.prediction.split, facts.prediction.folds
    if own is None:
        return None
    parts = [
        (f"cross-validation, {folds} folds", own.development, PALETTE[0]),
        ("held out", own.held_out, PALETTE[1]),
        ("left out", own.left_out, MUTED),
    ]

    with axes((4.3, 0.7)) as ax:
        left = 0
        for title, rows, colour in parts:
            if rows:
                ax.barh(0, rows, left=left, color=colour, edgecolor=PAPER, height=0.6)
                ax.text(left, 0.42, f" {title}: {count(rows)}", ha="left", va="bottom", fontsize=8, color=INK)
                left += rows
        for k in range(1, folds):
            ax.plot([own.development * k / folds] * 2, [-0.3, 0.3], color=PAPER, linewidth=0.8, linestyle=":")
        ax.set(yticks=[], xlim=(0, left), ylim=(-0.35, 0.9))
        ax.axis("off")

    return svg(ax, "Bar of the rows: cross-validation and held-out test rows.")

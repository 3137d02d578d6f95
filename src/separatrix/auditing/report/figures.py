"""The figures of the report, each from the part of audit.json that it shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.auditing.phrasing import count, number, short
from separatrix.auditing.phrasing import metric as metric_name
from separatrix.auditing.report.drawing import BAD, GRID, INK, MUTED, PALETTE, PAPER, draw

MARKERS = "osD^vP*X<>"
COEFFICIENTS = 14


def projection(content: dict[str, Any]) -> str | None:
    """The rows in their two most telling directions, with hyperplane, margin band and marked rows."""
    own = content["pictures"]["projection"]
    if own is None:
        return None
    labels = [entry["label"] for entry in content["table"]["classes"]]
    x, y, classes = np.array(own["x"]), np.array(own["y"]), np.array(own["classes"])
    place = {row: k for k, row in enumerate(own["rows"])}
    marked = {kind: [place[i] for i in rows if i in place] for kind, rows in own["marked"].items()}

    def paint(ax: Any) -> None:
        size = float(np.clip(4000 / max(len(x), 1), 7, 34))
        if own["line"] is not None:
            _band(ax, own, x, y)
        order = np.argsort(-np.bincount(classes, minlength=len(labels)), kind="stable")
        for k in order.tolist():
            at = classes == k
            colour, marker = PALETTE[k % len(PALETTE)], MARKERS[k % len(MARKERS)]
            ax.scatter(
                x[at],
                y[at],
                s=size,
                c=colour,
                marker=marker,
                alpha=0.75,
                linewidths=0,
                label=called(content, labels[k], 20),
            )
        for kind, title in (("support", "on the edge of the gap"), ("witness", "rows that rule it out")):
            if at := marked.get(kind):
                ax.scatter(
                    x[at],
                    y[at],
                    s=size * 3.4,
                    facecolors="none",
                    edgecolors=INK,
                    linewidths=1.1 if len(at) < 100 else 0.5,
                    label=title,
                )
        ax.set(xlabel=short(own["axes"][0], 46), ylabel=short(own["axes"][1], 46))
        ax.set(xlim=own["window"][0], ylim=own["window"][1])
        _legend(ax, [called(content, label, 20) for label in labels])

    sample = f", a sample of {count(len(x))} of {count(own['of'])} rows" if own["sampled"] else ""
    return draw(
        f"Scatter plot of the rows by class{sample}; axes: {own['axes'][0]}, {own['axes'][1]}.", paint, (4.3, 3.7)
    )


def fit(content: dict[str, Any]) -> str | None:
    """Fitted against true values of a quantity."""
    own = content["pictures"]["fit"]
    if own is None:
        return None

    def paint(ax: Any) -> None:
        ends = [min(own["truth"] + own["fitted"]), max(own["truth"] + own["fitted"])]
        ax.plot(ends, ends, ":", color=MUTED, linewidth=1)
        ax.scatter(own["fitted"], own["truth"], s=12, alpha=0.6, color=PALETTE[0], linewidths=0)
        ax.set(xlabel="fitted by least squares", ylabel=short(content["table"]["target"], 40))
        ax.grid(color=GRID, linewidth=0.6)

    return draw("Fitted against true values of the rows.", paint)


def called(content: dict[str, Any], label: str, width: int) -> str:
    """A class by its label, with the name of the target where the label is a bare number."""
    bare = label.lstrip("-").replace(".", "", 1).isdigit() and len(content["table"]["classes"]) <= 4
    return short(f"{content['table']['target']} = {label}" if bare else label, width)


def _legend(ax: Any, classes: list[str]) -> None:
    """Classes first, in their order, then lines and marks, below the axes, in as few lines as hold them."""
    shown = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    labels = sorted(shown, key=lambda label: classes.index(label) if label in classes else len(classes))
    columns = len(labels)
    while columns > 1 and _width(labels, columns) > 60:
        columns -= 1
    ax.legend(
        [shown[label] for label in labels],
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.16),
        ncols=columns,
        handletextpad=0.2,
        columnspacing=1.0,
        handlelength=1.4,
    )


def _width(labels: list[str], columns: int) -> int:
    """Letters of the longest line of a legend, which is filled column by column."""
    rows = -(-len(labels) // columns)
    return sum(4 + max(map(len, labels[k : k + rows])) for k in range(0, len(labels), rows))


def _band(ax: Any, own: dict[str, Any], x: Any, y: Any) -> None:
    """The hyperplane as a line, and the gap around it."""
    (a, b), c, gap = own["line"]["coef"], own["line"]["intercept"], own["line"]["gap"]
    length = float(np.hypot(a, b))
    if length == 0:
        return
    far = 4 * (np.ptp(x) + np.ptp(y) + 1)
    foot = np.array([a, b]) * (-c / length**2)
    near = np.array([x.mean(), y.mean()])
    along = np.array([-b, a]) / length
    foot = foot + along * float((near - foot) @ along)
    ends = np.array([foot - far * along, foot + far * along])
    ax.plot(ends[:, 0], ends[:, 1], color=INK, linewidth=1.4, zorder=1, label="hyperplane")
    if gap:
        normal = np.array([a, b]) / length * gap
        corners = np.vstack([ends - normal, (ends + normal)[::-1]])
        ax.fill(corners[:, 0], corners[:, 1], color=MUTED, alpha=0.18, linewidth=0, zorder=0, label="gap")


def coefficients(content: dict[str, Any]) -> str | None:
    """Effects of one standard deviation with their intervals, largest first."""
    own = content["pictures"]["coefficients"]
    if own is None:
        return None
    rows = own["features"][:COEFFICIENTS]
    positive = content["table"]["positive"]
    target = content["table"]["target"] if positive is None else called(content, positive, 20)

    def paint(ax: Any) -> None:
        for at, row in enumerate(reversed(rows)):
            scale = row["spread"]
            value = row["estimate"] * scale
            colour = PALETTE[0] if value >= 0 else PALETTE[1]
            if row["low"] is not None and row["high"] is not None:
                ax.plot([row["low"] * scale, row["high"] * scale], [at, at], color=colour, linewidth=1.6)
            mark = {"+inf": ">", "-inf": "<"}.get(row["fate"] or "", "o")
            ax.plot([value], [at], mark, color=colour, markersize=4.5)
        ax.axvline(0, color=MUTED, linewidth=0.8)
        ax.set_yticks(range(len(rows)), [short(row["name"], 26) for row in reversed(rows)])
        ax.set_ylim(-0.7, len(rows) - 0.3)
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        what = "change of the log-odds" if content["table"]["kind"] == "binary" else "change"
        ax.set_xlabel(f"{what} of {short(target, 20)}\nfor one standard deviation")

    return draw(
        f"Coefficients of {own['learner']} with intervals, largest effect first: {rows[0]['name']}.",
        paint,
        (4.3, 1.15 + 0.22 * len(rows)),
    )


def mistakes(content: dict[str, Any]) -> str | None:
    """The perceptron's mistakes so far, pass by pass, against the bound."""
    runs = content["answers"]["algorithm"].get("perceptron")
    if not runs:
        return None
    shown = [
        ("columns as they are", runs["as_given"], PALETTE[0]),
        ("columns standardised", runs["standardised"], PALETTE[2]),
    ]

    def paint(ax: Any) -> None:
        from matplotlib.ticker import LogLocator

        for title, run, colour in shown:
            if run is None:
                continue
            curve = run["curve"]
            ax.plot(curve["passes"], np.maximum(curve["mistakes"], 0.8), color=colour, linewidth=1.6, label=title)
            if run["converged"]:
                ax.plot(curve["passes"][-1:], curve["mistakes"][-1:], "o", color=colour, markersize=5)
            if run["bound"] is not None:
                ax.axhline(run["bound"]["mistakes"], color=colour, linestyle="--", linewidth=1.2)
                told = f"bound {number(run['bound']['mistakes'])}"
                ax.annotate(
                    told, (1, run["bound"]["mistakes"]), (3, 3), textcoords="offset points", color=colour, fontsize=8
                )
        ax.set(xscale="log", yscale="log", xlabel="passes over the rows", ylabel="mistakes so far")
        for axis in (ax.xaxis, ax.yaxis):
            low, high = axis.get_view_interval()
            axis.set_major_locator(LogLocator(subs=(1.0,) if high > 50 * max(low, 1e-9) else (1.0, 2.0, 5.0)))
            axis.set_major_formatter(lambda v, _: number(v).removeprefix("1.00 × "))
            axis.set_minor_formatter(lambda v, _: "")
        low, high = ax.get_ylim()
        ax.set_ylim(low, high * 3)
        ax.grid(color=GRID, linewidth=0.6)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)

    return draw("Mistakes of the perceptron against passes, with the proved bound as a dashed line.", paint)


def learners(content: dict[str, Any]) -> str | None:
    """Each learner with its interval, folds as ticks, the guess as a line."""
    own = content["answers"]["new_points"]
    if not own["learners"]:
        return None
    metric = own["metric"]
    entries = own["learners"][::-1]

    def paint(ax: Any) -> None:
        for at, entry in enumerate(entries):
            e = entry["estimates"][metric]
            colour = PALETTE[0] if entry["chosen"] else MUTED
            folds = [v for v in entry["folds"] if v is not None]
            ax.plot(folds, [at - 0.22] * len(folds), "|", color=MUTED, markersize=5)
            if e["low"] is not None:
                ax.plot([e["low"], e["high"]], [at, at], color=colour, linewidth=2.2)
            if e["value"] is not None:
                ax.plot([e["value"]], [at], "o", color=colour, markersize=5)
        names = [entry["name"] + (" (chosen)" if entry["chosen"] else "") for entry in entries]
        ax.set_yticks(range(len(entries)), names)
        ax.set_ylim(-0.7, len(entries) - 0.3)
        if metric == "accuracy":
            ax.axvline(own["majority"], color=BAD, linestyle=":", linewidth=1.2)
            ax.annotate(
                "guess",
                (own["majority"], len(entries) - 0.5),
                (3, 0),
                textcoords="offset points",
                color=BAD,
                fontsize=8,
            )
        ax.grid(axis="x", color=GRID, linewidth=0.6)
        ax.set_xlabel(f"{metric_name(metric)} on rows not learned from")

    return draw("Learners compared on the same folds, each with its interval.", paint, (4.3, 1.0 + 0.36 * len(entries)))


def growth(content: dict[str, Any]) -> str | None:
    """The learning curve."""
    own = content["pictures"]["growth"]
    if own is None:
        return None

    def paint(ax: Any) -> None:
        for name, colour, title in (
            ("learned", MUTED, "rows learned from"),
            ("judged", PALETTE[0], "rows not learned from"),
        ):
            mean, error = np.array(own[name], dtype=float), np.array(own[f"{name}_error"], dtype=float)
            ax.plot(own["rows"], mean, "o-", color=colour, markersize=3.5, linewidth=1.5, label=title)
            ax.fill_between(own["rows"], mean - error, mean + error, color=colour, alpha=0.18, linewidth=0)
        ax.set(xlabel="rows learned from", ylabel="error" if own["metric"] == "error" else "RMSE")
        ax.set_ylim(bottom=0)
        ax.grid(color=GRID, linewidth=0.6)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=2)

    return draw("Error against the number of rows learned from.", paint)


def split(content: dict[str, Any]) -> str | None:
    """The bar of rows learned from and sealed."""
    own = content["answers"]["new_points"].get("split")
    if not own:
        return None
    parts = [("learned from, by folds", own["learned_from"], PALETTE[0]), ("sealed", own["sealed"], PALETTE[1])]
    parts += [("left out", own["left_out"], MUTED)]

    def paint(ax: Any) -> None:
        left = 0
        for title, rows, colour in parts:
            if rows:
                ax.barh(0, rows, left=left, color=colour, edgecolor=PAPER, height=0.6)
                ax.text(left, 0.42, f" {title}: {count(rows)}", ha="left", va="bottom", fontsize=8, color=INK)
                left += rows
        folds = content["answers"]["new_points"]["folds"]
        for k in range(1, folds):
            ax.plot([own["learned_from"] * k / folds] * 2, [-0.3, 0.3], color=PAPER, linewidth=0.8, linestyle=":")
        ax.set(yticks=[], xlim=(0, left), ylim=(-0.35, 0.9))
        ax.axis("off")

    return draw("Bar of the rows: learned from by folds, and sealed for the test.", paint, (4.3, 0.7))

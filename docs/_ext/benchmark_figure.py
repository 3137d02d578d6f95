"""The figure of the benchmarks page, drawn from the stored results of its first table."""

import json
from pathlib import Path

from matplotlib.figure import Figure

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "headlines.json"


def draw(app, config):
    """Bars on a logarithmic scale, from the line of 1."""
    folder = Path(app.srcdir)
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"][::-1]
    figure = Figure(figsize=(8, 0.34 * len(rows) + 0.6), layout="constrained")
    ax = figure.subplots()
    ratios = [row["ratio"] for row in rows]
    ax.barh(
        range(len(rows)),
        [ratio - 1 for ratio in ratios],
        left=1,
        tick_label=[f"{row['work']}, {row['shape']}" for row in rows],
        color=["#1f6fb4" if ratio >= 1 else "#b3471a" for ratio in ratios],
    )
    for at, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
        ax.text(1.15 * max(ratio, 1), at, f"{row['ratio']:g} × {row['peer']}", va="center", fontsize=8)
    ax.set_xscale("log")
    ax.set(xlim=(0.15, 50_000), xlabel="times as fast as the peer")
    ax.axvline(1, color="k", linewidth=0.8)
    ax.tick_params(axis="y", labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(folder / "benchmark-ratios.svg", metadata={"Date": None})


def setup(app):
    """Draw before pages are read."""
    app.connect("config-inited", draw)
    return {"parallel_read_safe": True}

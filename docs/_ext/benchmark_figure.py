"""The figure of the benchmarks page, drawn from the table below it."""

import re
from pathlib import Path

from matplotlib.figure import Figure

ROW = re.compile(r"^\| (.+?) \| (.+?) \| (.+?) \| ([\d.]+) \|$", re.MULTILINE)


def draw(app, config):
    """Bars on a logarithmic scale, from the line of 1."""
    folder = Path(app.srcdir)
    rows = ROW.findall((folder / "benchmarks.md").read_text(encoding="utf-8"))[::-1]
    figure = Figure(figsize=(8, 0.34 * len(rows) + 0.6), layout="constrained")
    ax = figure.subplots()
    ratios = [float(row[3]) for row in rows]
    ax.barh(
        range(len(rows)),
        [ratio - 1 for ratio in ratios],
        left=1,
        tick_label=[f"{work}, {size}" for work, size, _, _ in rows],
        color=["#1f5fa8" if ratio >= 1 else "#b4531a" for ratio in ratios],
    )
    for at, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
        ax.text(1.15 * max(ratio, 1), at, f"{row[3]} × {row[2]}", va="center", fontsize=8)
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

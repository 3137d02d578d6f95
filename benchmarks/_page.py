"""Write docs/benchmarks.md from the stored results: every cell, losses marked."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from pathlib import Path

from benchmarks._stored import FOLDER, Cell, Run, stored

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"
TOP = """# Benchmarks

Each figure is the time of a peer over ours on the same rows, contenders taking turns. Above 1 we are faster; a figure
in <span class="loss">this colour</span> is a loss. Times include what peers do not give: proofs, duality gaps, ranks.
This page is written from stored results by `make bench`; {doc}`all tables, with what was tried <benchmark-tables>`.
"""
MATRIX = {
    "matrix": "Learners by everyday shapes",
    "matrix-long": "Large shapes, with peak memory",
    "matrix-random": "Shapes drawn at random",
    "matrix-defaults": "Defaults beside defaults",
}


def shown(ratio: float | None) -> str:
    """A ratio; a loss is marked by its class and by its place below 1."""
    if ratio is None:
        return "alone"
    text = f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"
    return f'<span class="loss">{text}</span>' if ratio < 1 else text


def seconds(value: float | None) -> str:
    return "" if value is None else f"{1e3 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def origin(run: Run) -> str:
    """What repeats the run, and where it was."""
    versions = ", ".join(f"{name} {number}" for name, number in run.packages.items())
    date = f" {run.date}." if run.date else ""
    return f"`{run.command}`.{date} {run.system}; {versions}. {run.seeds} {run.note}\n"


def summary(cells: Sequence[Cell]) -> str:
    ratios = [cell.ratio for cell in cells if cell.ratio is not None]
    losses = sum(ratio < 1 for ratio in ratios)
    mean = exp(sum(map(log, ratios)) / len(ratios))
    return f"{len(cells)} cells, {losses} of them losses; geometric mean {mean:.2f}.\n"


def headlines(run: Run) -> str:
    rows = [[c.work, c.shape, c.peer, f"{c.ratio:g}", f"`{c.command}`"] for c in run.cells if c.ratio is not None]
    rows = [[*row[:3], row[3] if float(row[3]) >= 1 else f'<span class="loss">{row[3]}</span>', row[4]] for row in rows]
    text = table(["work", "rows", "peer", "times as fast", "command"], rows)
    picture = "![Times as fast as the peer, on a logarithmic scale](benchmark-ratios.svg)"
    return f"{picture}\n\n{origin(run)}\n{text}"


def matrix(run: Run) -> str:
    """One table a learner, so that its losses are seen beside its gains; an overview of all cells first."""
    learners = list(dict.fromkeys(cell.work for cell in run.cells))
    shapes = list(dict.fromkeys(cell.shape for cell in run.cells))
    at = {(cell.work, cell.shape): cell for cell in run.cells}
    overview = [[s, *(shown(at[w, s].ratio) if (w, s) in at else "" for w in learners)] for s in shapes]
    parts = [origin(run), summary(run.cells)]
    if run.name != "matrix-random":
        parts.append(table(["shape", *learners], overview))
    memory = any(cell.our_peak is not None for cell in run.cells)
    excess = any(cell.excess is not None for cell in run.cells)
    header = ["shape", "ours", "best peer", "which", "peer / ours"]
    header += ["its objective above ours"] * excess + ["our peak", "its peak"] * memory
    for learner in learners:
        own = [cell for cell in run.cells if cell.work == learner]
        rows = []
        for cell in own:
            row = [
                cell.shape,
                seconds(cell.ours),
                seconds(cell.theirs),
                cell.peer or "no peer reaches it",
                shown(cell.ratio),
            ]
            row += ["" if cell.excess is None else f"{cell.excess:.0e}"] * excess
            row += [f"{peak:.0f} MB" if peak is not None else "" for peak in (cell.our_peak, cell.their_peak)] * memory
            rows.append(row)
        parts.append(f":::{{dropdown}} {learner}: {summary(own).strip()}\n{table(header, rows)}:::\n")
    return "\n".join(parts)


def cores(run: Run) -> str:
    """Times by the number of threads: the shapes of the cells are the numbers."""
    works, numbers = (list(dict.fromkeys(names)) for names in zip(*((c.work, c.shape) for c in run.cells), strict=True))
    at = {(cell.work, cell.shape): cell.ours for cell in run.cells}
    rows = []
    for work in works:
        times = [at.get((work, number)) for number in numbers]
        gain = times[0] / times[-1] if times[0] and times[-1] else None
        rows.append([work, *map(seconds, times), "" if gain is None else f"{gain:.1f}"])
    return f"{origin(run)}\n{table(['work', *numbers, 'speed-up'], rows)}"


def page(folder: Path = FOLDER) -> str:
    """The page, from the results of a folder."""
    parts = [TOP]
    chosen = stored("headlines", folder)
    if chosen:
        parts += ["## At a glance\n", headlines(chosen)]
    for name, title in MATRIX.items():
        run = stored(name, folder)
        if run:
            parts += [f"## {title}\n", matrix(run)]
    run = stored("cores", folder)
    if run:
        parts += ["## From one thread to all cores\n", cores(run)]
    parts.append("```{toctree}\n:hidden:\n\nbenchmark-tables\n```\n")
    return "\n".join(parts)


def write() -> None:
    PAGE.write_text(page(), encoding="utf-8")

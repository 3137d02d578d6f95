"""Small tables in files, and rows in partitions of this process."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from separatrix.cluster.encoded_source import EncodedSource, Target
from separatrix.cluster.partition_reading import SourceSchema
from separatrix.cluster.partitions import SourcePart
from separatrix.cluster.rounds import LocalRounds

CUTS = [0, 10, 10, 400, 800, 801, 1000, 1190, 1200]  # eight partitions of very different size, one of them empty


def table(seed=0, n=1200):
    """Numbers with missing values, categories, a constant, a copy; a class and a number to learn."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [1.0, 3.0, 0.5, 1.0] + [0.0, 10.0, -2.0, 0.0]
    group = rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1])
    score = X @ [1.0, -0.5, 0.3, 0.0] + (group == "b")
    number = score + rng.normal(size=n)
    label = np.where(rng.random(n) < 1 / (1 + np.exp(score.mean() - score)), "yes", "no")
    missing = rng.random(n) < 0.05
    cells = [[repr(float(v)) for v in row] for row in X]
    for row, gone in zip(cells, missing, strict=True):
        row[3] = "" if gone else row[3]
    lines = [
        ",".join([*row, g, "7", row[0], f"{z!r}", y])
        for row, g, z, y in zip(cells, group.tolist(), number.tolist(), label.tolist(), strict=True)
    ]
    return "p,q,r,s,group,constant,copy,number,label", lines


def write_parts(folder: Path, header: str, lines: list[str], cuts=CUTS) -> str:
    """The rows in as many files as there are cuts, and in one; the glob of the parts."""
    for k, (begin, end) in enumerate(pairwise(cuts)):
        (folder / f"part{k:02d}.csv").write_text("\n".join([header, *lines[begin:end]]) + "\n")
    (folder / "whole.csv").write_text("\n".join([header, *lines]) + "\n")
    return str(folder / "part*.csv")


def rows_in_parts(X, codes, parts: int) -> EncodedSource:
    """Rows of this process as a source of so many partitions."""
    cuts = np.linspace(0, len(X), parts + 1).astype(int)
    rounds = LocalRounds([SourcePart(k, f"part {k}", "csv", 0) for k in range(parts)])
    for k, (begin, end) in enumerate(pairwise(cuts)):
        held = rounds.worker.parts[k]
        held.X, held.y, held.first_row = X[begin:end], codes[begin:end], int(begin)
    classes = np.unique(codes)
    schema = SourceSchema(None, {}, X.shape[1], tuple(np.diff(cuts).tolist()), False)
    return EncodedSource(rounds, "rows", schema, Target("label", classes), None, {})

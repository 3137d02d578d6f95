"""Sources for streams, and the command as a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from tests.commands import separatrix

COMMAND = [sys.executable, "-c", "from separatrix.cli.main import main; main()", "stream"]
RUNNING = []
BAD = ["3 words are not a row", "1 5:1 4:2", "-1 3:nan", "", "# a comment", "1 2:3 x:4"]


def svmlight_lines(n, d=40, entries=6, seed=0, bad_every=0):
    """Rows with a hyperplane and noise; now and then a line that is no row."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=d)
    columns = np.sort(rng.random((n, d)).argsort(axis=1)[:, :entries], axis=1)
    values = np.round(rng.normal(size=(n, entries)), 3)
    scores = (w[columns] * values).sum(axis=1) + 0.3 * rng.normal(size=n)
    for i in range(n):
        if bad_every and i % bad_every == bad_every - 1:
            yield BAD[i // bad_every % len(BAD)]
        pairs = " ".join(f"{c + 1}:{v:g}" for c, v in zip(columns[i].tolist(), values[i].tolist(), strict=True))
        yield f"{1 if scores[i] > 0 else -1} {pairs}"


def table_rows(n, seed=0):
    """Dicts with numbers, categories (new ones late), missing cells and missing labels."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        age, ward = round(40 + 15 * rng.normal(), 1), "ABCD"[rng.integers(2 if i < n // 2 else 4)]
        score = (age - 40) / 15 + (ward == "A") - (ward == "D") + 0.3 * rng.normal()
        yield {
            "age": None if rng.random() < 0.02 else age,
            "ward": None if rng.random() < 0.02 else ward,
            "dose": round(float(rng.gamma(2.0, 300.0)), 2),
            "relapse": None if rng.random() < 0.05 else "yes" if score > 0 else "no",
        }


def csv_text(rows):
    names = list(rows[0])
    lines = [",".join(names), *(",".join("" if row[k] is None else str(row[k]) for k in names) for row in rows)]
    return "".join(f"{line}\n" for line in lines)


def stream(*arguments, **options):
    """Run the command to its end: in this process, or with options for a process in one of its own."""
    if not options:
        done = separatrix("stream", *map(str, arguments))
        return subprocess.CompletedProcess(arguments, done.returncode, done.stdout.encode(), done.stderr.encode())
    options = {"capture_output": True, "timeout": 120, **options}
    return subprocess.run([*COMMAND, *map(str, arguments)], **options)


def started(*arguments, **options):
    """The command as a process that runs; one that a failed test leaves behind is ended by a fixture."""
    RUNNING.append(subprocess.Popen([*COMMAND, *map(str, arguments)], **options))
    return RUNNING[-1]


def size_of(path):
    return os.path.getsize(path) if os.path.exists(path) else 0

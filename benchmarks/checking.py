"""What checking costs beside proving: certificates of all rows, of files, and without a table; and sizes.

Tables as in ``separability`` ("10 % noise" overlaps, "margin 0.2" is complete). From arrays: seconds to decide
and prove (``separability(X, y)``), to make the certificate (its fingerprint and a check of the claim included),
and to check it with checker.py, the fingerprint included: with numpy, and row by row with the standard library
alone (--plain), on the smaller tables. Of a CSV: the commands ``certify`` and ``verify`` in processes of their
own, start and reading included, and checker.js. Portable: bytes beside those of the rows in the leaves that it
opens and beside its witness rows alone, and the seconds to read the JSON and to check it, in a process that
holds nothing else. CPU seconds of one thread, the least of three.

``python -m benchmarks checking``; ``--quick`` leaves the table of a million rows and the CSV of 100,000 out.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from array import array
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measure import print_table
from benchmarks.separability import labelled
from separatrix import checker, separability
from separatrix.proofs.certificate.certificate import _checkable
from separatrix.proofs.certificate.checkable_rows import put_csv

REPEATS = 3
PLAIN = 2_000_000  # cells up to which the checker is also asked to go row by row
SHAPES = [(10_000, 20), (100_000, 20), (100_000, 100), (1_000_000, 20)]
KINDS = {"overlap": "10 % noise", "complete": "margin 0.2"}
HERE = Path(checker.__file__).parent


def least(call, repeats=REPEATS):
    """The last result and the least CPU seconds."""
    seconds, result = [], None
    for _ in range(repeats):
        start = time.process_time()
        result = call()
        seconds.append(time.process_time() - start)
    return result, min(seconds)


def least_of_command(command, repeats=REPEATS):
    """The least CPU seconds of a process of its own."""
    seconds = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(seconds)


def row_by_row(table):
    """The same table without arrays of numpy."""
    values, codes = array("d", table.values.ravel().tolist()), array("Q", np.asarray(table.codes).tolist())
    return replace(table, values=values, codes=codes)


def from_arrays(shapes):
    rows = []
    for n, d in shapes:
        for verdict, kind in KINDS.items():
            X, y = labelled(n, d, kind)
            _, proved = least(lambda X=X, y=y: separability(X, y))
            found, made = [], []
            for _ in range(REPEATS):
                found = separability(X, y)
                made.append(least(lambda found=found: found.certificate, 1)[1])
            assert found.verdict == verdict
            content, table = found.certificate.content, _checkable(X, y, None, "binary64")
            _, checked = least(lambda content=content, table=table: checker.check(content, table))
            slow = "-"
            if n * d <= PLAIN:
                plain = row_by_row(table)
                slow = f"{least(lambda content=content, plain=plain: checker.check(content, plain), 1)[1]:.2f}"
            rows.append([f"{n:,} x {d}", verdict, f"{proved:.3f}", f"{min(made):.3f}", f"{checked:.3f}", slow])
    print_table(["table", "verdict", "prove (s)", "certificate (s)", "check (s)", "check --plain (s)"], rows)


def from_files(shapes):
    rows = []
    separatrix = [sys.executable, "-m", "separatrix"]
    for n, d in shapes:
        for verdict, kind in KINDS.items():
            X, y = labelled(n, d, kind)
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                with (folder / "t.csv").open("w", newline="") as file:
                    put_csv(file, [f"x{j}" for j in range(d)], X, "label", [str(v) for v in y.tolist()])
                made = least_of_command([*separatrix, "certify", folder / "t.csv", "-o", folder / "c.json", "-q"])
                files = folder / "c.json", folder / "t.csv"
                seconds = [
                    least_of_command([*separatrix, "verify", *files, "-q"]),
                    least_of_command([sys.executable, HERE / "checker.py", *files]),
                    least_of_command([sys.executable, HERE / "checker.py", *files, "--plain"], 1),
                    least_of_command(["node", HERE / "checker.js", *files], 1)
                    if shutil.which("node")
                    else float("nan"),
                ]
            rows.append([f"{n:,} x {d}", verdict, *(f"{v:.2f}" for v in (made, *seconds))])
    head = ["CSV", "verdict", "certify (s)", "verify (s)", "checker.py (s)", "--plain (s)", "checker.js (s)"]
    print_table(head, rows)


def portable(shapes):
    rows = []
    for n, d in shapes:
        X, y = labelled(n, d, KINDS["overlap"])
        content = separability(X, y).portable.content
        text = json.dumps(content)
        alone = sum(len(json.dumps([[1, list(map(repr, X[i].tolist()))]])) for i in content["support"])
        _, read = least(lambda text=text: json.loads(text))
        _, checked = least(lambda content=content: checker.check(content, None))
        second = "-"
        if shutil.which("node"):
            with tempfile.TemporaryDirectory() as name:
                (Path(name) / "c.json").write_text(text)
                asked = least_of_command(["node", HERE / "checker.js", Path(name) / "c.json"])
                second = f"{1e3 * (asked - least_of_command(['node', '-e', '0'])):.0f}"
        carried = len(json.dumps(content["rows"]))
        ratios = f"{len(text) / carried:.2f}", f"{len(text) / alone:.2f}"
        milliseconds = f"{1e3 * read:.1f}", f"{1e3 * checked:.1f}", second
        rows.append([f"{n:,} x {d}", len(content["support"]), f"{len(text):,}", *ratios, *milliseconds])
    head = ["table", "witness rows", "bytes", "of the leaves' rows", "of the witness rows", "read (ms)"]
    print_table([*head, "check (ms)", "checker.js (ms)"], rows)


def main():
    quick = "--quick" in sys.argv
    from_arrays(SHAPES[:-1] if quick else SHAPES)
    from_files(SHAPES[:1] if quick else SHAPES[:2])
    portable([*(SHAPES[:-1] if quick else SHAPES), (2_000, 300)])

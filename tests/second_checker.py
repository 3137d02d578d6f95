"""The checker in JavaScript, asked through one node process."""

from __future__ import annotations

import json
import shutil
import subprocess
from array import array
from dataclasses import replace
from pathlib import Path

import numpy as np

from separatrix import checker

NODE = shutil.which("node")
REASON = "needs node, which runs the checker in JavaScript"
HERE = Path(__file__).parent
MOST_CELLS = 100_000  # of a table that is sent


class SecondChecker:
    """Answers (code, lines): 0 and the sentences, 1 and why a certificate is refused, 2 and why a file is not read."""

    def __init__(self):
        self.process = None

    def _ask(self, **question):
        if self.process is None:
            command = [NODE, str(HERE / "second_checker.js")]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["code"], answer["lines"]

    def check(self, certificate, table, most):
        """Check the JSON of a certificate against a table as checker.py holds it."""
        if table is None:
            return self._ask(certificate=certificate, table=None, most=most)
        known = {name: getattr(table, name) for name in ("d", "columns", "target", "name", "unused", "scales")}
        known["rows"] = [(table.labels[table.code(i)], *table.row(i), whole(table, i)) for i in range(table.n)]
        return self._ask(certificate=certificate, table=known, most=most)

    def verify(self, certificate, text, name, target=None):
        """Check the JSON of a certificate against the text of a file."""
        return self._ask(certificate=certificate, text=text, name=name, target=target)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


def whole(table, i):
    """The decimals of a row that are not zero, as texts of integers; None for doubles."""
    return None if table.scales is None else [str(v) for v in table.integers(i) if v]


def plain(table):
    """The same table without numpy."""
    values = np.asarray(table.values, dtype=np.float64).ravel().tolist()
    starts, places = (None if a is None else array("Q", np.asarray(a).tolist()) for a in (table.starts, table.places))
    exact = None if table.whole is None else [int(v) for v in table.whole]
    codes = array("Q", np.asarray(table.codes).tolist())
    return replace(table, codes=codes, values=array("d", values), starts=starts, places=places, whole=exact)


def as_json(content):
    """The certificate as a file would have it; None where it holds what JSON cannot say."""
    try:
        text = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if json.loads(text) == content else None


def agreeing(first, second):
    """``checker.check`` that asks itself without numpy, and the second checker too.

    The first two must say the same; of the second checker refusals may differ in their words, sentences may not.
    """

    def row_by_row(content, table, sealed):
        try:
            return first(content, plain(table), sealed)
        except checker.Rejected as why:
            return str(why)

    def check(content, table, sealed=True):
        certificate = as_json(content) if sealed else None
        small = table is None or table.stored() + table.n <= MOST_CELLS
        other = second.check(certificate, table, 2 * checker.MOST_WORK) if certificate is not None and small else None
        slowly = row_by_row(content, table, sealed) if small and table is not None and table.fast else None
        try:
            sentences = first(content, table, sealed)
        except checker.Rejected as why:
            if slowly not in (None, str(why)):
                raise AssertionError(f"with numpy: {why}; row by row: {slowly}") from None
            if other is not None and other[0] != 1 and "far more work" not in str(why):  # they count differently
                raise AssertionError(f"refused here: {why}; there: {other}") from None
            raise
        assert slowly in (None, sentences), f"with numpy: {sentences}; row by row: {slowly}"
        assert other in (None, (0, sentences)), f"proved here: {sentences}; there: {other}"
        return sentences

    return check

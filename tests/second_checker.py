"""The checker in JavaScript, asked through one node process."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

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
        known = {name: getattr(table, name) for name in ("d", "columns", "target", "name", "unused")}
        known["rows"] = [(label, list(zip(*row, strict=True))) for label, row in table.rows]
        return self._ask(certificate=certificate, table=known, most=most)

    def verify(self, certificate, text, name, target=None):
        """Check the JSON of a certificate against the text of a file."""
        return self._ask(certificate=certificate, text=text, name=name, target=target)

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()


def as_json(content):
    """The certificate as a file would have it; None where it holds what JSON cannot say."""
    try:
        text = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if json.loads(text) == content else None


def agreeing(first, second):
    """``checker.check`` that asks the second checker too. Refusals may differ in their words; sentences may not."""

    def check(content, table):
        certificate = as_json(content)
        small = sum(len(row.values) + 1 for _, row in table.rows) <= MOST_CELLS
        other = second.check(certificate, table, checker.MOST_WORK) if certificate is not None and small else None
        try:
            sentences = first(content, table)
        except checker.Rejected as why:
            if other is not None and other[0] != 1 and "far more work" not in str(why):  # they count differently
                raise AssertionError(f"refused here: {why}; there: {other}") from None
            raise
        assert other in (None, (0, sentences)), f"proved here: {sentences}; there: {other}"
        return sentences

    return check

"""The Python column of the tables of "Coming from R" runs; its other examples are run with those of all pages."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path

from separatrix.errors import SeparatrixWarning

PAGE = Path(__file__).parent.parent / "docs" / "coming-from-r.md"


def test_the_python_column_runs():
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        for example in doctest.DocTestParser().get_examples(text):
            if re.match(r"import|from|rng|df|score|new|beetles", example.source):
                exec(example.source, names)
        cells = [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| `")]
        spans = [span for cell in cells for span in re.findall(r"`([^`]+)`", cell)]
        assert len(spans) >= 50
        for span in spans:
            exec(span, names)

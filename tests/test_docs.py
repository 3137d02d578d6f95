"""The Python examples of the documentation print what they say."""

from __future__ import annotations

import doctest
import re
import warnings
from pathlib import Path

import pytest

from separatrix.errors import SeparatrixWarning

DOCS = Path(__file__).parent.parent / "docs"
WRITTEN = [*DOCS.glob("*.md"), *DOCS.glob("certificates/*.md")]
PAGES = sorted(str(page.relative_to(DOCS)) for page in WRITTEN if ">>>" in page.read_text())


@pytest.mark.parametrize("page", PAGES)
def test_the_examples(page):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=flags)
    assert failed == 0
    assert tried >= 1


def test_no_python_is_shown_that_is_not_run():
    for page in WRITTEN:
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
        shown = [block for block in blocks if ">>>" not in block]
        assert not shown or page.name == "lecture-table.md", page.name  # which has a test of its own


def test_the_pages_with_examples_are_found():
    assert {"closed-forms.md", "family.md", "logistic.md", "separability.md"} <= set(PAGES)

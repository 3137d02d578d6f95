"""The Python examples of the documentation print what they say."""

from __future__ import annotations

import doctest
import warnings
from pathlib import Path

import pytest

from separatrix.errors import SeparatrixWarning

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page.name for page in DOCS.glob("*.md") if ">>>" in page.read_text())


@pytest.mark.parametrize("page", PAGES)
def test_the_examples(page):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparatrixWarning)
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, optionflags=flags)
    assert failed == 0
    assert tried >= 1


def test_the_pages_with_examples_are_found():
    assert {"closed-forms.md", "family.md", "logistic.md", "separability.md"} <= set(PAGES)

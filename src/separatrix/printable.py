"""Text from data that is safe to print: control characters are shown as escapes instead of being obeyed.

Names, labels and file names may hold escape sequences that change a terminal, line breaks that forge a line, or
marks that reverse the direction of what follows. Everything printed for people passes through here.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from html import escape
from typing import Any

# C0, DEL and C1 controls; soft hyphen; marks of direction; invisible and separating characters; tags; surrogates.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: object) -> str:
    """Text on one line with every hidden character escaped as in a Python string, such as ``\\x1b``."""
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), str(text))


def printable_values(value: Any) -> Any:
    """The same values with every text in them made printable, keys of tables included."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable_values(key): printable_values(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [printable_values(own) for own in value]
    return value


class SaidInLines(ABC):
    """A result that prints as a few lines, and in notebooks as the first of them with a list of the others."""

    @abstractmethod
    def _lines(self) -> list[str]: ...

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        first, *rest = self._lines()
        items = "".join(f"<li>{escape(line.strip())}</li>" for line in rest)
        return f"<div><strong>{escape(first)}</strong><ul>{items}</ul></div>"

"""Operators that mean one thing in R and another in Python, refused where a formula uses them on numbers.

Outside of functions a formula has its own operators: "(a + b)^2" and "a | b" never reach Python. Inside of I(), log()
and the like, Python decides: there x^2 is the exclusive or of the bits of x and 2, which raises for fractions and is
a silent wrong number for integers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from typing import Any

from separatrix.errors import ParameterError

QUOTED = re.compile(r"`([^`]*)`")
BITS = {ast.BitOr: ("|", "or"), ast.BitAnd: ("&", "and")}


def need_arithmetic(expression: str, whole_numbers: Collection[str]) -> None:
    """Refuse "^", and "|" and "&" between whole numbers, in a part of a formula that Python evaluates.

    ``whole_numbers`` names the columns of integers, of which "|" and "&" take the bits; truth values are combined.
    """
    names: dict[str, str] = {}

    def plain(quoted: re.Match[str]) -> str:
        stand_in = f"quoted_{len(names)}"
        names[stand_in] = quoted[1]
        return stand_in

    try:
        tree = ast.parse(QUOTED.sub(plain, expression).strip(), mode="eval")
    except SyntaxError:
        return  # formulaic says what it does not understand
    for node in ast.walk(tree):
        if not isinstance(node, ast.BinOp):
            continue
        if isinstance(node.op, ast.BitXor):
            raise ParameterError(
                f"{expression!r} has '^', which is not a power inside of a function: write ** for a power, and != for "
                "an exclusive or."
            )
        if type(node.op) in BITS and any(_is_whole(side, names, whole_numbers) for side in (node.left, node.right)):
            sign, word = BITS[type(node.op)]
            raise ParameterError(
                f"{expression!r} has {sign!r} between whole numbers, which combines their bits: compare each first, as "
                f"'(a > 0) {sign} (b > 0)' for a logical {word}."
            )


def _is_whole(side: ast.expr, names: dict[str, str], whole_numbers: Collection[str]) -> bool:
    if isinstance(side, ast.Name):
        return names.get(side.id, side.id) in whole_numbers
    return isinstance(side, ast.Constant) and type(side.value) is int


def integer_columns(frame: Any) -> set[str]:
    """The names of the columns of integers of a pandas frame."""
    return {str(name) for name, kind in frame.dtypes.items() if getattr(kind, "kind", "O") in "iu"}

"""Names say one thing each (no class twice in the package, no file twice in a room), and no module is too long."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "separatrix"
MODULES = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]


def test_no_class_name_occurs_twice():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in MODULES]
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert len(names) > 200
    assert not {name: count for name, count in names.items() if count > 1}


def test_no_file_name_occurs_twice_inside_a_room():
    rooms = Counter((path.relative_to(PACKAGE).parts[0], path.name) for path in MODULES)
    assert len(rooms) > 200
    assert not {name: count for name, count in rooms.items() if count > 1}


def code_lines(text: str) -> int:
    """Lines with code on them: no docstrings, comments or blank lines."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            documented |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    passed = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in passed:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def test_code_lines():
    assert (
        code_lines('"""Doc."""\n\nx = [\n    1,  # one\n]\n\n\ndef f():\n    """Doc."""\n    # why\n    return x\n')
        == 5
    )


def test_no_module_is_long():
    """The checker is one file, so that it can be read and copied as one."""
    lines = {str(path.relative_to(PACKAGE)): code_lines(path.read_text(encoding="utf-8")) for path in MODULES}
    lines.pop("checker.py")
    assert not {name: count for name, count in lines.items() if count > 250}

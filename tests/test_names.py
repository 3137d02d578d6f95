"""Names say one thing each: no class twice in the package, no file twice in a room."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "src" / "separatrix"
MODULES = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}


def test_no_class_name_occurs_twice():
    names = Counter(name for text in MODULES.values() for name in re.findall(r"^class (\w+)[(:]", text, re.MULTILINE))
    assert len(names) > 200
    assert not {name: count for name, count in names.items() if count > 1}


def test_no_file_name_occurs_twice_inside_a_room():
    rooms = Counter((path.relative_to(PACKAGE).parts[0], path.name) for path in MODULES)
    assert len(rooms) > 200
    assert not {name: count for name, count in rooms.items() if count > 1}

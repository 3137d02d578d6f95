"""The design page shows the package as it is, in the order of its imports, and is short enough to be read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
IGNORED = {"__init__.py", "__init__.pyi", "__main__.py", "__pycache__", "py.typed"}


def tree_entries() -> list[str]:
    tree = PAGE.split("src/separatrix/\n")[1].split("```")[0]
    return re.findall(r"^  (\w[\w.]*)/? ", tree, flags=re.MULTILINE)


def test_the_tree_names_what_is_in_the_package_and_nothing_else():
    there = {entry.name for entry in (ROOT / "src" / "separatrix").iterdir() if entry.name not in IGNORED}
    assert set(tree_entries()) == there


def test_the_tree_lists_entries_in_the_order_in_which_they_may_import_each_other():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = settings["contracts"][0]["layers"][::-1]
    level = {
        name.strip().removeprefix("separatrix."): k
        for k, layer in enumerate(layers)
        for name in re.split("[|:]", layer)
    }
    levels = [level[entry.removesuffix(".py")] for entry in tree_entries() if entry.removesuffix(".py") in level]
    assert len(levels) > 15
    assert levels == sorted(levels)


def test_every_dependency_of_an_installation_has_its_reason():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    table = PAGE.split("## Dependencies")[1]
    for requirement in [*project["dependencies"], *extras]:
        name = re.split(r"[<>=\[]", requirement)[0]
        assert re.search(rf"^\| [^|]+ \| [^|]*\b{name}\b", table, re.MULTILINE), (
            f"docs/design.md has no line for {name}"
        )


def test_the_page_can_be_read_in_a_quarter_of_an_hour():
    assert len(PAGE.split()) <= 3000

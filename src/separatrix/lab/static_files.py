"""The files of the lab's page, which any web server can give out, and a browser can open from a folder.

A page that is opened from a folder may not load modules. So they are joined into one classic script each: the page
(``lab.js``) and the plane alone (``separatrix-plane.js``), which other pages load to show a ``<separatrix-plane>``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import separatrix
from separatrix.errors import DataError

STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
SCRIPTS = {"lab.js": "main.js", "separatrix-plane.js": "separatrix-plane.js"}  # what is given out, and its first module
SITE = "<!-- links to the site -->"

IMPORT = re.compile(r'^import (?:(\{[^}]*\}|\w+) from )?"\./([\w-]+\.\w+)"(?: with \{[^}]*\})?;\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const) (\w+))", re.MULTILINE)


def joined(first: str) -> str:
    """A module after all that it imports, each as a function that returns its exports."""
    parts: dict[str, str] = {}

    def variable(name: str) -> str:
        return "from_" + re.sub(r"\W", "_", name)

    def add(name: str) -> None:
        if name in parts:
            return
        parts[name] = ""  # the modules import each other in no circle
        source = (STATIC / name).read_text(encoding="utf-8")
        if name.endswith(".json"):
            parts[name] = f"const {variable(name)} = {source.strip()};\n"
            return
        for found in IMPORT.finditer(source):
            add(found[2])
        exports = [found[2] for found in EXPORT.finditer(source)]
        body = EXPORT.sub(r"\1", IMPORT.sub(_assignment, source)).replace("import.meta.url", "HERE")
        kind = "async () => " if "\nawait " in source else "() => "
        parts.pop(name)  # after what it imports
        parts[name] = (
            f"// {name}\nconst {variable(name)} = ({kind}{{\n{body}return {{ {', '.join(exports)} }};\n}})();\n"
        )

    def _assignment(found: re.Match[str]) -> str:
        return f"const {found[1].replace(' as ', ': ')} = {variable(found[2])};\n" if found[1] else ""

    add(first)
    here = "const HERE = document.currentScript.src;\n"
    return '"use strict";\n(() => {\n' + here + "\n".join(parts.values()) + "})();\n"


@cache
def lab_files() -> dict[str, bytes]:
    """The files by name; no path comes from a request."""
    files = {name: (STATIC / name).read_bytes() for name in ("index.html", "plane.css", "lab.css")}
    files |= {name: joined(first).encode() for name, first in SCRIPTS.items()}
    return files | {"checker.js": Path(separatrix.__file__).with_name("checker.js").read_bytes()}


def write_lab(folder: Path, links: str = "") -> list[str]:
    """Write the page, with ``links`` in its head line, into a folder; other files there are left alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in lab_files().items():
            (folder / name).write_bytes(
                content.replace(SITE.encode(), links.encode()) if name == "index.html" else content
            )
    except OSError as error:
        raise DataError(f"the lab cannot be written to {folder}: {error.strerror}.") from None
    return sorted(lab_files())

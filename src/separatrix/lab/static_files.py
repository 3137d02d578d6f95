"""The files of the lab's page, which any web server can give out: they need Python for some panels only."""

from __future__ import annotations

from pathlib import Path

import separatrix
from separatrix.errors import DataError

STATIC = Path(__file__).parent / "static"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json"}
NOT_SERVED = ("package.json",)  # for node, which reads modules by it


def lab_files() -> dict[str, Path]:
    """The files by name: those of the folder and the checker; no path comes from a request."""
    files = {path.name: path for path in sorted(STATIC.iterdir()) if path.suffix in TYPES}
    kept = {name: path for name, path in files.items() if name not in NOT_SERVED}
    return kept | {"checker.js": Path(separatrix.__file__).with_name("checker.js")}


def write_lab(folder: Path) -> list[str]:
    """Write the page into a folder, which may exist; files of other names are left alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, path in lab_files().items():
            (folder / name).write_bytes(path.read_bytes())
    except OSError as error:
        raise DataError(f"the lab cannot be written to {folder}: {error.strerror}.") from None
    return sorted(lab_files())

"""The folder of an audit, written atomically: beside its place, then moved there."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from separatrix.errors import DataError

FORMAT = "separatrix-audit/2"
FORMATS = ("separatrix-audit/1", FORMAT)  # those that may be replaced
OURS = frozenset(
    {"report.html", "audit.json", "certificate.json", "certified.csv", "certified.svm", "model.sepx"},
)


def need_place(path: Path) -> None:
    """The folder may be made, or holds an audit of ours and nothing else."""
    if not path.parent.is_dir():
        raise DataError(f"--out is {path}, but the folder {path.parent} does not exist.")
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_dir() or path.is_symlink():
        raise DataError(f"{path} exists and is not a folder; choose another --out.")
    found = sorted(entry.name for entry in path.iterdir())
    if found and not _is_ours(path):
        raise DataError(f"{path}/ exists and is not an audit of ours; choose another --out.")
    strange = [name for name in found if name not in OURS]
    if strange:
        raise DataError(f"{path}/ holds {strange[0]!r}, which is not part of an audit; choose another --out.")


def _is_ours(path: Path) -> bool:
    try:
        with (path / "audit.json").open(encoding="utf-8") as file:
            return bool(json.loads(file.read(1 << 28)).get("format") in FORMATS)
    except (OSError, ValueError, AttributeError):
        return False


def write_folder(path: Path, write: Callable[[Path], None]) -> None:
    """Let ``write`` fill a folder, and put it in place; whatever happens, nothing half-written is left."""
    need_place(path)
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    old: Path | None = None
    try:
        write(made)
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o777 & ~mask)
        if path.exists():
            old = made.with_name(made.name + ".old")
            os.rename(path, old)
        os.rename(made, path)
    except BaseException:
        if old is not None and old.exists() and not path.exists():
            os.rename(old, path)
        shutil.rmtree(made, ignore_errors=True)
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)

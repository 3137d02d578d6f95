"""In which encoding a text file is written, and its copy in UTF-8, which is what DuckDB reads."""

from __future__ import annotations

import atexit
import codecs
import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from separatrix.atomic_write import unnamed_file
from separatrix.data.bytes import opened
from separatrix.errors import DataError, ParameterError

KEPT = contextlib.ExitStack()  # copies, until the process ends
atexit.register(KEPT.close)
UTF16 = (b"\xff\xfe", b"\xfe\xff")  # byte order marks
BLOCK = 1 << 20
UNDEFINED = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # in cp1252
CONTROLS = bytes(range(0x80, 0xA0))  # in latin-1; letters and signs in cp1252


def kept_bytes(blocks: Iterator[bytes]) -> Path:
    """A file of these bytes that is gone when the process ends: DuckDB reads files by name."""
    path = KEPT.enter_context(unnamed_file())
    with path.open("wb") as file:
        file.writelines(blocks)
    return path


def check_encoding(name: str) -> None:
    """Refuse a name that is not that of an encoding of text."""
    try:
        known = codecs.lookup(name)
        if getattr(known, "_is_text_encoding", True):
            return
    except (LookupError, ValueError):
        pass
    raise ParameterError(
        f"--encoding is {name!r}, which is not known: usual ones are utf-8, cp1252, latin-1 and utf-16."
    )


def encoding_of(path: Path, name: str) -> str | None:
    """None for UTF-8, else the encoding that the bytes suggest."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    odd: set[int] = set()
    valid = True
    with opened(path) as file:
        for number, block in enumerate(_blocks(file)):
            if number == 0 and block.startswith(UTF16):
                return "utf-16"
            if block.isascii() and (not valid or not decoder.getstate()[0]):
                continue
            odd.update(block.translate(None, bytes(range(0x80))))
            try:
                if valid:
                    decoder.decode(block)
            except UnicodeDecodeError:
                valid = False
    if valid and not decoder.getstate()[0]:
        return None
    if odd.intersection(UNDEFINED):
        raise DataError(f"{name} is not in UTF-8, and its bytes are not text in cp1252 or latin-1: pass --encoding.")
    return "cp1252" if odd.intersection(CONTROLS) else "latin-1"


def as_utf8(path: Path, name: str, encoding: str) -> Path:
    """A copy of a file in UTF-8."""
    line = 1

    def blocks() -> Iterator[bytes]:
        nonlocal line
        with opened(path) as raw, io.TextIOWrapper(io.BufferedReader(raw), encoding=encoding, newline="") as text:
            while block := text.read(BLOCK):
                yield block.encode("utf-8", "replace")
                line += block.count("\n")

    try:
        return kept_bytes(blocks())
    except UnicodeError as wrong:
        said = "begins like UTF-16 and cannot be read as such" if encoding == "utf-16" else f"is not in {encoding}"
        reason = getattr(wrong, "reason", str(wrong))
        raise DataError(f"{name} {said} (from line {line} on: {reason}): pass another --encoding.") from wrong


def _blocks(file: Any) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block

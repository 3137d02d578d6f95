"""The ledger of test openings: one line an opening, on disk before anything is revealed.

A line is JSON: when, which model (a digest of what it said about the rows, before any label was seen),
and the marks of the rows. Appending takes a lock, writes one line, and waits for the disk (fsync); only
then may the labels be read. So two processes cannot lose each other's lines, a crash after the line
counts as an opening, and a crash before or amid it as none: nothing had been seen. A line cut short by a
crash is left where it is and skipped.

A table is known by its rows together: rows of other tables that happen to be equal to a few of these were not
openings of them. A line therefore also has a digest of all rows of its table; rows that were added or left out change
it, and then a share of the rows that have no equals in their table must be common. Lines that were written before have
no digest.

It protects against carelessness, not against malice: anyone can read the data, delete the ledger or change a
value in each row.
"""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.atomic_write import sync_folder
from separatrix.errors import LedgerError

Marks = NDArray[np.uint64]
VERSION = 1
COMMON = (
    0.02  # share of the rows from which another table is one with these rows; fewer would hardly change an estimate
)


@dataclass(frozen=True, slots=True)
class TestedTable:
    """What is known of the table that test rows are from: a digest of all its rows, and test rows without equals."""

    digest: str
    alone: Marks

    @classmethod
    def of(cls, marks: Marks, alone: Marks) -> TestedTable:
        """From the marks of all rows, in any order."""
        return cls(blake2b(np.sort(marks).astype("<u8").tobytes(), digest_size=16).hexdigest(), alone)

    def holds(self, digest: str, opened: Marks, touched: NDArray[np.bool_]) -> bool:
        """Whether rows that were opened, of a table with this digest, are rows of this table."""
        if digest and digest == self.digest:
            return True
        common = float(np.isin(self.alone, opened).mean()) if len(self.alone) else 0.0
        return common >= COMMON or (not digest and float(touched.mean()) >= COMMON)


@dataclass(frozen=True, slots=True)
class EqualRows:
    """Rows of a table that are equal but for their labels, in groups of which some rows are test rows.

    Which rows of a group were opened says how the labels lie in it, so that only their number is reported.
    """

    marks: Marks  # of all rows of these groups
    groups: NDArray[np.intp]  # the number of the group of each
    tested: NDArray[np.intp]  # test rows of each group

    def touched(self, opened: Marks) -> NDArray[np.bool_]:
        """For each test row whether it was opened, the opened ones of a group first."""
        number = np.bincount(self.groups, np.isin(self.marks, opened), len(self.tested))
        begin = np.repeat(np.cumsum(self.tested) - self.tested, self.tested)
        return np.asarray(np.arange(len(begin)) - begin < np.repeat(number, self.tested))


@dataclass(frozen=True, slots=True)
class Openings:
    """What the ledger knows about the rows of a test set, this reading included.

    ``number`` is 1 for the first opening of any of these rows; ``before`` the share of the rows that were
    opened before, ``times`` how often the most opened of them had been; ``reread`` whether this very model
    had been evaluated on these very rows already, which reveals nothing new and is no further opening.
    """

    number: int
    before: float
    times: int
    reread: bool
    rows: int
    ledger: str
    damaged: int = 0

    def __int__(self) -> int:
        return self.number

    def __str__(self) -> str:
        if not self.number:
            text = "held-out test rows, not used yet"
        elif self.reread:
            text = (
                f"held-out test rows, used {_times(self.times)}; the same predictions as before are not counted again"
            )
        elif not self.times:
            text = "held-out test rows, used once"
        else:
            share = f"{100 * self.before:.0f}%" if self.before >= 0.005 else "under 1%"
            text = f"{share} of these test rows were already used {_times(self.times)}: this estimate may be optimistic"
        return text + (f" ({_lines(self.damaged)} in the ledger)" if self.damaged else "")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def _times(k: int) -> str:
    return {1: "once", 2: "twice"}.get(k, f"{k} times")


def _lines(damaged: int) -> str:
    return f"{damaged} damaged line" + ("" if damaged == 1 else "s")


def ledger_path(ledger: Any = None) -> Path:
    """As given, else SEPARATRIX_LEDGER, else in the user's state folder."""
    if ledger is not None:
        try:
            path = Path(ledger).expanduser().absolute()
            os.fsencode(path)
            if "\0" in str(path):
                raise ValueError("a path has no zero byte")
            return path
        except (TypeError, ValueError, RuntimeError) as wrong:  # no path, no text that can be one, no such user
            raise LedgerError(f"ledger is {ledger!r}: it must be the path of a file.") from wrong
    if os.environ.get("SEPARATRIX_LEDGER"):
        return Path(os.environ["SEPARATRIX_LEDGER"]).expanduser().absolute()
    home = Path.home()
    if sys.platform == "win32":
        state = Path(os.environ.get("LOCALAPPDATA", home / "AppData" / "Local"))
    elif sys.platform == "darwin":
        state = home / "Library" / "Application Support"
    else:
        state = Path(os.environ.get("XDG_STATE_HOME") or home / ".local" / "state")
    return state / "separatrix" / "ledger.jsonl"


class Ledger:
    """The lines of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def record(self, marks: Marks, model: str, table: TestedTable, note: str = "") -> Openings:
        """Write an opening of these rows, or find that it is none; refuse if it cannot be written."""
        marks = np.unique(marks)
        rows = blake2b(marks.astype("<u8").tobytes(), digest_size=16).hexdigest()
        with self._locked() as file:
            text = read_all(file)
            entries, damaged = _parse(text)
            if damaged and not entries and not text.lstrip().startswith(b"{"):
                raise LedgerError(f"{self.path} holds something else than a ledger: choose another file with ledger=.")
            count, earlier, reread, known = _count(entries, lambda opened: np.isin(marks, opened), table, rows, model)
            if not reread:
                line = {
                    "version": VERSION,
                    "time": datetime.now(UTC).isoformat(timespec="seconds"),
                    "model": model,
                    "note": note,
                    "set": rows,
                    "table": table.digest,
                    "rows": None if known else base64.b64encode(marks.astype("<u8").tobytes()).decode(),
                }
                start = b"" if not text or text.endswith(b"\n") else b"\n"
                self._append(file, start + json.dumps(line).encode() + b"\n", len(text))
        times = int(count.max(initial=0))
        return Openings(
            number=max(earlier if reread else earlier + 1, 1),
            before=float(np.mean(count > 0)),
            times=times,
            reread=reread,
            rows=len(marks),
            ledger=str(self.path),
            damaged=damaged,
        )

    def look(self, table: TestedTable, equals: EqualRows) -> Openings:
        """What is known about test rows, without opening them; ``equals`` are those that have equals in the table."""

        def touched(opened: Marks) -> NDArray[np.bool_]:
            return np.concatenate([np.isin(table.alone, opened), equals.touched(opened)])

        try:
            text = self.path.read_bytes() if self.path.exists() else b""
        except OSError as error:
            raise LedgerError(f"the ledger {self.path} cannot be read ({error.strerror or error}).") from error
        entries, damaged = _parse(text)
        count, earlier, _, _ = _count(entries, touched, table, "", "")
        share = float(np.mean(count > 0))
        return Openings(earlier, share, int(count.max(initial=0)), False, len(count), str(self.path), damaged)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
        except OSError as error:
            raise self._refusal(error) from error
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                raise self._refusal(OSError(22, "it is not a file"))
            try:
                lock(file)
            except OSError as error:
                raise self._refusal(error) from error
            yield file
        finally:
            os.close(file)  # releases the lock

    def _append(self, file: int, line: bytes, size: int) -> None:
        try:
            os.lseek(file, 0, os.SEEK_END)
            left = memoryview(line)
            while left:
                left = left[os.write(file, left) :]
            os.fsync(file)
            sync_folder(self.path.parent)
        except OSError as error:
            shorten(file, size)
            raise self._refusal(error) from error

    def _refusal(self, error: OSError) -> LedgerError:
        return LedgerError(
            f"the ledger {self.path} cannot be written ({error.strerror or error}), so the test rows were not used: "
            "pass ledger= or set SEPARATRIX_LEDGER to a file that can be."
        )


def _parse(text: bytes) -> tuple[list[dict[str, Any]], int]:
    """The lines that are openings, and how many are not."""
    entries, damaged = [], 0
    for line in text.split(b"\n"):
        if not line.strip():
            continue
        try:
            entry = json.loads(line)
            marks = None if entry["rows"] is None else np.frombuffer(base64.b64decode(entry["rows"]), dtype="<u8")
            names = {"set": str(entry["set"]), "model": str(entry["model"]), "table": str(entry.get("table", ""))}
            entries.append({**names, "marks": marks})
        except (ValueError, KeyError, TypeError, RecursionError):
            damaged += 1
    return entries, damaged


def _count(
    entries: list[dict[str, Any]],
    touches: Callable[[Marks], NDArray[np.bool_]],
    table: TestedTable,
    rows: str,
    model: str,
) -> tuple[NDArray[np.int64], int, bool, bool]:
    """For each row how often it was opened; openings that touch any of them; a re-read?; a known set of rows?"""
    none = np.empty(0, dtype=np.uint64)
    count = np.zeros(len(touches(none)), dtype=np.int64)
    sets: dict[str, tuple[Marks, NDArray[np.bool_]]] = {}
    earlier, reread, known = 0, False, False
    for entry in entries:
        if entry["marks"] is not None:
            sets[entry["set"]] = entry["marks"], touches(entry["marks"])
        same = entry["set"] == rows
        opened, touched = sets.get(entry["set"], (none, np.full(len(count), same)))  # its line may be damaged
        if not touched.any() or not (same or table.holds(entry["table"], opened, touched)):
            continue
        count += touched
        earlier += 1
        known |= same and rows in sets
        reread |= same and entry["model"] == model
    return count, earlier, reread, known


PATIENCE = 60.0  # seconds to wait for the process that holds the lock; an opening takes a few milliseconds


def read_all(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    while part := os.read(file, 2**20):
        parts.append(part)
    return b"".join(parts)


def lock(file: int) -> None:
    """Take the lock of an open file; the wait has a limit, since the process that holds it may be stopped."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(file, 2**30, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_LOCK, 1)
        return
    import fcntl

    end = monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as held:
            if monotonic() > end:
                raise OSError(held.errno, f"another process has held its lock for {PATIENCE:g} seconds") from held
            sleep(0.01)


def shorten(file: int, size: int) -> None:
    """Take back what was written of a line that did not fit."""
    try:
        os.ftruncate(file, size)
    except OSError:
        return  # a device, or a disk that is gone: the cut line is skipped when the ledger is read

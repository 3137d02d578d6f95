"""Results of benchmark runs as files: what was run, on which system, from which seeds, and every cell.

``docs/benchmarks.md`` is written from these files (``_page.py``), so that no figure on it is typed.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("results")
PEERS = ("numpy", "scipy", "scikit-learn", "highspy", "celer", "skglm", "river", "scikit-learn-intelex")


@dataclass(frozen=True)
class Cell:
    """One measurement beside the best peer; seconds are None where only the ratio was kept."""

    work: str
    shape: str
    peer: str  # empty: no peer reaches our objective
    ratio: float | None  # the peer's time over ours
    ours: float | None = None
    theirs: float | None = None
    excess: float | None = None  # of the peer's objective over ours, relatively
    our_peak: float | None = None  # MB that the fit adds to its process
    their_peak: float | None = None
    command: str = ""  # where cells come from different runs


@dataclass(frozen=True)
class Run:
    """All cells of a run, and what is needed to repeat it."""

    name: str
    command: str
    system: str
    packages: dict[str, str]
    seeds: str
    date: str  # empty: not recorded
    note: str
    cells: list[Cell] = field(default_factory=list)


def this_system() -> str:
    """Processor, cores and load, in words."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores of {model}{load}"
    )


def packages() -> dict[str, str]:
    """Versions of the peers that are installed."""
    known = {}
    for name in ("separatrix", *PEERS):
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    return known


def store(name: str, cells: list[Cell], seeds: str, note: str, folder: Path = FOLDER) -> None:
    """Keep a run; it takes the place of the one before."""
    command = " ".join(["python -m benchmarks", *sys.argv[1:]])
    date = datetime.now(UTC).date().isoformat()
    run = Run(name, command, this_system(), packages(), seeds, date, note, cells)
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(run), indent=1, ensure_ascii=False)
    (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def stored(name: str, folder: Path = FOLDER) -> Run | None:
    """The run of that name, or None."""
    path = folder / f"{name}.json"
    if not path.exists():
        return None
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Run(**{**values, "cells": [Cell(**cell) for cell in values["cells"]]})

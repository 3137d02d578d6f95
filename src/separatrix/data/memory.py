"""How much memory there is."""

from __future__ import annotations

import os
from pathlib import Path

GROUP = Path("/sys/fs/cgroup/memory.max")  # what a container may use


def machine_memory(group: Path = GROUP) -> int | None:
    """The memory of this machine, or of the container that this process is in; None where the system does not say."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(whole, int(group.read_text()))
    except (OSError, ValueError):
        return whole

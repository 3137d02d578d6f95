"""Checkpoints of a long run, from which a restarted driver continues.

The file holds arrays and one line of JSON, never code. It belongs to one run: the partitions, the learner and the
columns are in its key, and another run refuses it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.atomic_write import write_whole
from separatrix.cluster.rounds import LOG
from separatrix.errors import DataError


class Checkpoint:
    """The last complete state of a run, written atomically; without a path nothing is kept."""

    def __init__(self, path: str | Path | None, about: Any) -> None:
        self.path = None if path is None else Path(path)
        text = json.dumps(about, sort_keys=True, default=str)
        self.key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def load(self) -> dict[str, Any] | None:
        """The arrays and numbers of the last state, or None where there is none."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as kept:
                arrays = {name: kept[name] for name in kept.files}
            facts = json.loads(str(arrays.pop("facts")))
            key = facts.pop("key")
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise DataError(f"{self.path} is not a checkpoint: remove it, or name another file.") from error
        if key != self.key:
            raise DataError(f"{self.path} is the checkpoint of another run: remove it, or name another file.")
        LOG.info("resumed from %s", self.path)
        return {**facts, **arrays}

    def save(self, **state: Any) -> None:
        """Keep a state: arrays, and numbers or text."""
        if self.path is None:
            return
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        facts = {name: value for name, value in state.items() if name not in arrays}
        out = io.BytesIO()
        arrays["facts"] = np.array(json.dumps({"key": self.key, **facts}))
        np.savez(out, allow_pickle=False, **arrays)
        write_whole(self.path, out.getvalue())

    def done(self) -> None:
        """The run has ended: nothing is left to begin again from."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

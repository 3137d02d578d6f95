"""Rows in partitions, on workers or in this process, as a place of :mod:`separatrix.rows`: a pass is a round.

With a checkpoint the result of each pass is kept, by what was asked. A driver that died asks the same again, and is
answered from the file: the fit goes on with the same bits, whatever method it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from separatrix.cluster.checkpoints import Checkpoint
from separatrix.cluster.encoded_source import EncodedSource
from separatrix.cluster.rounds import HeldPart
from separatrix.numerics.moments import ARRAYS, Moments
from separatrix.rows.protocol import Leaf, Pass, Rows, seen

MOST_KEPT = 2**26  # bytes of a result that a checkpoint keeps; larger ones are asked for again


class PartitionRows(Rows):
    """The rows of a source in partitions; each partition is a leaf, and its memo stays with it on the worker."""

    reread = 5.0  # a round takes milliseconds beside its work

    def __init__(self, source: EncodedSource, checkpoint: Checkpoint | None = None) -> None:
        self.rounds, self.n, self.d = source.rounds, source.n, source.d
        self.classes = 0 if source.target.classes is None else len(source.target.classes)
        self.kept = None if checkpoint is None or checkpoint.path is None else KeptResults(checkpoint)
        self.sparse, self.weighted, stored = self.reduce(KIND)
        self.filled = stored / max(1, self.n * self.d)

    def reduce(self, work: Pass, *given: Any) -> Any:
        def asked() -> Any:
            return writable(self.rounds.reduce(work.name, on_part, work.of, *given, join=work.join))

        return asked() if self.kept is None else self.kept.result(digest(work.name, work.of, *given), asked)

    def gather(self, of: Callable[..., Any], *given: Any) -> Iterator[Any]:
        name = str((given[1] if of is seen else of).__name__).replace("_", " ").strip()
        return iter([writable(own) for own in self.rounds.gather(name, on_part, of, *given)])


def on_part(part: HeldPart, of: Callable[..., Any], *given: Any) -> Any:
    """A function of a leaf on a partition."""
    leaf = part.memo.get("leaf")
    if leaf is None or leaf.X is not part.X:
        classes = part.y is not None and part.y.dtype.kind == "i"
        codes, targets = (part.y, None) if classes else (None, part.y)
        leaf = part.memo["leaf"] = Leaf(part.X, part.first_row, codes, targets, part.weights)
    return of(leaf, *given)


def _kind(leaf: Leaf) -> tuple[bool, bool, int]:
    """Whether rows are sparse, whether they have weights, and how many numbers are stored."""
    return leaf.sparse, leaf.weights is not None, int(leaf.X.nnz if leaf.sparse else leaf.X.size)


def _one_kind(left: tuple[bool, bool, int], right: tuple[bool, bool, int]) -> tuple[bool, bool, int]:
    return left[0] or right[0], left[1] or right[1], left[2] + right[2]


KIND = Pass(_kind, _one_kind, "rows")


def writable(value: Any) -> Any:
    """Numbers that came from a worker may not be written to: a copy of those."""
    if isinstance(value, tuple):
        return tuple(map(writable, value))
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    return value.copy() if isinstance(value, Moments) else value


# -- results that a checkpoint keeps --


class KeptResults:
    """The results of passes by what was asked, in a checkpoint."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.checkpoint, self.values = checkpoint, dict[str, Any]()
        for name, value in (checkpoint.load() or {}).items():
            self.values[name] = value

    def result(self, name: str, ask: Callable[[], Any]) -> Any:
        """The result of this name, asked for where it is not known."""
        if f"{name}:kind" in self.values:
            return unpacked(self.values, name)
        value = ask()
        found = packed(value, name)
        if sum(part.nbytes for part in found.values() if isinstance(part, np.ndarray)) <= MOST_KEPT:
            self.values |= found
            self.checkpoint.save(**self.values)
        return value


def digest(*given: Any) -> str:
    """What names a question: functions, views, losses and numbers, but not the numbers of points."""
    out = hashlib.sha256()

    def add(value: Any) -> None:
        if isinstance(value, np.ndarray):
            out.update(str((value.shape, value.dtype)).encode() + np.ascontiguousarray(value).tobytes())
        elif isinstance(value, tuple):
            out.update(b"(")
            for own in value:
                add(own)
        elif callable(value) and hasattr(value, "__qualname__"):
            out.update(f"{value.__module__}.{value.__qualname__}".encode())
        elif isinstance(value, float) or value is None or is_dataclass(value) or isinstance(value, str):
            out.update(repr(value).encode())

    add(given)
    return out.hexdigest()[:32]


def packed(value: Any, name: str) -> dict[str, Any]:
    """A result as arrays and plain numbers, by names that begin with this one."""
    if isinstance(value, tuple):
        out: dict[str, Any] = {f"{name}:kind": f"tuple {len(value)}"}
        for k, own in enumerate(value):
            out |= packed(own, f"{name}.{k}")
        return out
    if isinstance(value, Moments):
        done = value.flushed()
        arrays = {f"{name}:{array}": getattr(done, array) for array in ARRAYS}
        return {f"{name}:kind": f"moments {done.features} {done.targets} {int(done.pooled)}", **arrays}
    kind = "array" if isinstance(value, np.ndarray) else type(value).__name__
    return {f"{name}:kind": kind, name: value if isinstance(value, (np.ndarray, str)) else float(value).hex()}


def unpacked(values: dict[str, Any], name: str) -> Any:
    """The result of this name."""
    kind, *about = str(values[f"{name}:kind"]).split()
    if kind == "tuple":
        return tuple(unpacked(values, f"{name}.{k}") for k in range(int(about[0])))
    if kind == "moments":
        out = Moments(int(about[0]), int(about[1]), None, bool(int(about[2])))
        for array in ARRAYS:
            setattr(out, array, values[f"{name}:{array}"].copy())
        return out
    value = values[name]
    if kind == "array":
        return value.copy()
    number = float.fromhex(value)
    return bool(number) if kind in ("bool", "bool_") else int(number) if kind == "int" else number

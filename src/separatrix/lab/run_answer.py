"""The run of the perceptron, look by look: as one answer, or in parts as the looks are made."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice

from separatrix import Perceptron
from separatrix.arrays import Floats
from separatrix.errors import SeparatrixError
from separatrix.lab.request_reading import SceneError
from separatrix.lab.scene import FeatureColumn, Scene, columns_of, mapped_rows
from separatrix.models.perceptron.step_tables import StepReplay

MOST_LOOKS = 5000  # of one answer
MOST_STREAMED = 50_000
FIRST_PART, PART = 100, 1000  # looks of the first part of a stream, and of each one after it
SECONDS = 10.0  # of a stream


@dataclass(frozen=True, slots=True)
class RunPart:
    """Looks in order, w and b after each of them; ``ended`` is empty while more parts follow."""

    row: list[int] = field(default_factory=list)
    epoch: list[int] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    mistake: list[bool] = field(default_factory=list)
    w: list[list[float]] = field(default_factory=list)
    b: list[float] = field(default_factory=list)
    ended: str = ""


@dataclass(frozen=True, slots=True)
class RunStart:
    """What is known before the first look: the columns, and the weights."""

    columns: list[FeatureColumn]
    w: list[float]
    b: float


@dataclass(frozen=True, slots=True)
class WholeRun:
    """A run: its start and its looks."""

    start: RunStart
    looks: RunPart


def run_of(scene: Scene) -> WholeRun:
    """The first looks of the run, by the learner of the package."""
    start, parts = _begun(scene)
    return WholeRun(start, next(_parts(parts, MOST_LOOKS, MOST_LOOKS)))


def stream_of(scene: Scene) -> Iterator[RunStart | RunPart]:
    """The start, and then the looks in parts as they are made."""
    start, run = _begun(scene)  # a scene that is refused is refused here, before anything is sent
    return _streamed(start, run)


def _streamed(start: RunStart, run: StepReplay) -> Iterator[RunStart | RunPart]:
    yield start
    yield from _parts(run, FIRST_PART, MOST_STREAMED)


def _begun(scene: Scene) -> tuple[RunStart, StepReplay]:
    scene.need_classes()
    columns = columns_of(scene)
    try:
        run = StepReplay(Perceptron(**asdict(scene.choices)), mapped_rows(scene, columns), scene.labels, positive=1)
    except SeparatrixError as error:
        raise SceneError(str(error)) from None
    lifted = _plain(run.start)
    return RunStart(columns, lifted[: len(columns)], lifted[-1] if len(lifted) > len(columns) else 0.0), run


def _parts(run: StepReplay, first: int, most: int) -> Iterator[RunPart]:
    """Parts until the run has ended, or a limit is reached; the last one says how it ended."""
    looks, made, updates, size = iter(run), 0, 0, first
    until = time.monotonic() + SECONDS
    while True:
        kept = list(islice(looks, min(size, most - made)))
        made, size = made + len(kept), PART
        updates += sum(look.update for look in kept)
        over = run.left == 0 or made >= most or time.monotonic() > until
        yield RunPart(
            [look.row for look in kept],
            [look.epoch for look in kept],
            _plain([look.score for look in kept]),
            [look.mistake for look in kept],
            [_plain(look.lifted[:-1]) for look in kept],
            _plain([float(look.lifted[-1]) for look in kept]),
            _ending(run, made, updates) if over else "",
        )
        if over:
            return


def _ending(run: StepReplay, made: int, updates: int) -> str:
    counted = f"{updates:,} update{'' if updates == 1 else 's'} in {made:,} look{'' if made == 1 else 's'}"
    return f"{counted}; {run.status.value if run.left == 0 else f'the first of {run.visits:,}'}"


def _plain(values: Floats | list[float]) -> list[float]:
    """Numbers for JSON, which has neither infinities nor NaN."""
    return [float(v) if math.isfinite(v) else 0.0 for v in values]

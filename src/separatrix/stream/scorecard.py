"""Running results of a stream that is predicted before it is learned: totals, a window, a curve, a drift warning.

All of it is the same for any chunking: counts are whole numbers, sums go row by row, and the curve has a point for
every so many labelled rows, counted from 0. When the curve has too many points, two become one.

Has the rate of mistakes risen? Fisher's exact test, block after block, with one false-alarm rate for all of them.

Labelled rows are counted from 0 in blocks of ``block``. Block b = 1, 2, … is compared with all rows since the last
warning: the chance of as many mistakes in it, or more, with the mistakes of both together drawn without replacement
(the hypergeometric tail). A warning is given where the chance is at most alarm/(b (b + 1)). These levels add up to
``alarm`` over an endless stream, so that

    P(any warning) <= alarm   where mistakes are independent and their rate never rises.

A rate that falls, as that of a learner does, only makes warnings rarer. After a warning the comparison begins anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.models.perceptron.arrivals import Judged

MOST = 1000  # warnings that are kept by position


@dataclass(slots=True)
class Drift:
    """The state of the test; the same for any chunking."""

    block: int = 1000
    alarm: float = 0.01
    blocks: int = 0
    before: int = 0  # rows since the last warning, without the block that is not full
    mistakes_before: int = 0
    rows: int = 0  # of the block that is not full
    mistakes: int = 0
    warnings: list[int] = field(default_factory=list)  # labelled rows seen when each was given
    count: int = 0

    def add(self, wrong: NDArray[np.bool_]) -> list[int]:
        """Take labelled rows; the warnings that they give, as numbers of labelled rows seen."""
        new, begin = [], 0
        while begin < len(wrong):
            end = min(len(wrong), begin + self.block - self.rows)
            self.mistakes += int(np.count_nonzero(wrong[begin:end]))
            self.rows += end - begin
            begin = end
            if self.rows == self.block and self._full():
                new.append(self.blocks * self.block)
        self.warnings = (self.warnings + new)[:MOST]
        self.count += len(new)
        return new

    def _full(self) -> bool:
        self.blocks += 1
        level = self.alarm / (self.blocks * (self.blocks + 1))
        all_rows, all_mistakes = self.before + self.block, self.mistakes_before + self.mistakes
        warned = self.before > 0 and tail(all_rows, all_mistakes, self.block, self.mistakes) <= level
        self.before = 0 if warned else all_rows
        self.mistakes_before = 0 if warned else all_mistakes
        self.rows = self.mistakes = 0
        return warned

    @property
    def sentence(self) -> str:
        """The test in words."""
        return (
            f"Fisher's exact test on blocks of {self.block:,} labelled rows; chance of any false warning at most "
            f"{self.alarm:g} where mistakes are independent and their rate does not rise"
        )


def tail(n: int, marked: int, drawn: int, found: int) -> float:
    """P(at least ``found`` of ``drawn`` rows are marked), drawn without replacement from n, of which some are.

    The terms fall from ``found`` on where it lies above the mean; below it the other tail is summed.
    """
    least, most = max(0, drawn - (n - marked)), min(drawn, marked)
    if found <= least:
        return 1.0
    if found > most:
        return 0.0
    above = found * n > drawn * marked
    start = found if above else found - 1
    term = math.exp(_choose(marked, start) + _choose(n - marked, drawn - start) - _choose(n, drawn))
    total = term
    for k in range(start, most) if above else range(start, least, -1):
        if above:
            term *= (marked - k) * (drawn - k) / ((k + 1) * (n - marked - drawn + k + 1))
        else:
            term *= k * (n - marked - drawn + k) / ((marked - k + 1) * (drawn - k + 1))
        total += term
        if term <= total * 1e-17:
            break
    return min(1.0, total) if above else max(0.0, 1.0 - total)


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


POINTS = 512


@dataclass(slots=True)
class Curve:
    """Means over blocks of rows, in order; neighbours are joined when there are too many."""

    span: int  # rows of a point
    sums: list[float] = field(default_factory=list)
    rows: int = 0  # of the point that is not full
    total: float = 0.0

    def add(self, values: Floats) -> None:
        begin = 0
        while begin < len(values):
            end = min(len(values), begin + self.span - self.rows)
            self.total = running_sum(self.total, values[begin:end])
            self.rows += end - begin
            begin = end
            if self.rows == self.span:
                self.sums.append(self.total)
                self.rows, self.total = 0, 0.0
                if len(self.sums) == POINTS:
                    self.sums = [a + b for a, b in zip(self.sums[::2], self.sums[1::2], strict=True)]
                    self.span *= 2

    def means(self) -> Floats:
        return np.array(self.sums) / self.span


@dataclass(slots=True)
class Scorecard:
    """Mistakes of a classification, squared errors of a regression.

    The first prediction, made where no class was known, is no mistake of the model: such rows are counted apart.
    """

    window: int = 1000
    alarm: float = 0.01
    regression: bool = False
    rows: int = 0
    labelled: int = 0
    unknown: int = 0  # labelled rows that came before there was a model
    mistakes: int = 0
    squares: float = 0.0
    recent: Floats = field(default_factory=lambda: np.zeros(0))
    curve: Curve = field(default_factory=lambda: Curve(0))
    drift: Drift = field(default_factory=Drift)

    def __post_init__(self) -> None:
        if not self.curve.span:
            self.curve = Curve(max(1, self.window // 4))
            self.drift = Drift(self.window, self.alarm)

    def add(self, rows: int, loss: NDArray[Any], unknown: int = 0) -> list[int]:
        """Take so many rows, and the losses of those that had a label and a prediction; the warnings of drift."""
        self.rows += rows
        self.unknown += unknown
        self.labelled += len(loss) + unknown
        loss = np.asarray(loss)
        if not len(loss):
            return []
        values = loss.astype(np.float64)
        self.recent = np.concatenate([self.recent, values[-self.window :]])[-self.window :]
        self.curve.add(values)
        if self.regression:
            self.squares = running_sum(self.squares, values)
            return []
        self.mistakes += int(np.count_nonzero(loss))
        return self.drift.add(loss.astype(np.bool_))

    @property
    def judged(self) -> int:
        """Rows with a label and a prediction."""
        return self.labelled - self.unknown


def running_sum(total: float, values: Floats) -> float:
    """Values added to a total one after the other, so that the cuts between chunks do not matter."""
    if not len(values):
        return total
    return float(np.add.accumulate(np.concatenate([[total], values]))[-1])


def losses_of(judged: Judged, labels: NDArray[Any], labelled: NDArray[np.bool_] | None) -> tuple[NDArray[Any], int]:
    """The losses in order, and how many labelled rows came before there was a model."""
    has = np.ones(len(labels), dtype=np.bool_) if labelled is None else labelled
    if judged.codes is None:
        known = has & ~np.isnan(judged.scores)
        errors = judged.scores[known] - labels[known].astype(np.float64)
        return errors * errors, int(np.count_nonzero(has & ~known))
    known = has & (judged.codes >= 0)
    right = np.zeros(len(labels), dtype=np.bool_)
    for code, label in enumerate(judged.classes):
        right |= (judged.codes == code) & (labels == label)
    return ~right[known], int(np.count_nonzero(has & ~known))

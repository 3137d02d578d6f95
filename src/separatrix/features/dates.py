"""Dates as numbers: days since 1970 and, where asked for, the parts of the calendar that a linear model can use.

Months and days of the week are 0/1 features for each that the fit had but the most common; the time of day is
a point on a circle, so that 23:59 and 00:00 are neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.data.frame import Column
from separatrix.features.column_encoders import SECONDS, Noted, NumberColumn, finite

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, slots=True)
class DateColumn:
    """Days, months, days of the week and perhaps the time of day; a missing date is the median, with an indicator."""

    KIND: ClassVar[str] = "date"
    days: NumberColumn
    months: tuple[int, ...]  # from 0, those with a feature
    weekdays: tuple[int, ...]
    clock: bool

    @property
    def name(self) -> str:
        return self.days.name

    @classmethod
    def fitted(cls, column: Column, standard: bool, source: str) -> DateColumn:
        days = NumberColumn.fitted(column, standard, source)
        values = finite(column, source)
        present = values[~np.isnan(values)]
        months, weekdays = calendar(present)
        return cls(days, _but_commonest(months), _but_commonest(weekdays), bool(np.any(present % SECONDS)))

    def names(self) -> list[str]:
        months = [f"{self.name}={MONTHS[month]}" for month in self.months]
        weekdays = [f"{self.name}={WEEKDAYS[day]}" for day in self.weekdays]
        clock = [f"{self.name}:sin(time)", f"{self.name}:cos(time)"] if self.clock else []
        return [*self.days.names(), *months, *weekdays, *clock]

    def encode(self, column: Column, noted: Noted, source: str) -> Floats:
        own = self.days.encode(column, noted, source)
        values = finite(column, source, "date")
        seconds = np.where(np.isnan(values), self.days.fill * SECONDS, values)
        months, weekdays = calendar(seconds)
        blocks = [own, months[:, None] == np.array(self.months), weekdays[:, None] == np.array(self.weekdays)]
        if self.clock:
            angle = 2 * np.pi * (seconds % SECONDS) / SECONDS
            blocks.append(np.column_stack([np.sin(angle), np.cos(angle)]))
        return np.concatenate([block.astype(np.float64) for block in blocks], axis=1)

    def to_dict(self) -> dict[str, Any]:
        parts = {"months": list(self.months), "weekdays": list(self.weekdays), "clock": self.clock}
        return {**self.days.to_dict(), **parts}


def calendar(seconds: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The month (from 0) and the day of the week (Monday is 0) of moments in seconds since 1970."""
    days = np.floor(seconds / SECONDS).astype("datetime64[D]")
    months = days.astype("datetime64[M]").astype(np.int64) % 12
    return months, (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday


def _but_commonest(parts: NDArray[np.int64]) -> tuple[int, ...]:
    found, counts = np.unique(parts, return_counts=True)
    if len(found) < 2:
        return ()
    return tuple(np.delete(found, int(counts.argmax())).tolist())

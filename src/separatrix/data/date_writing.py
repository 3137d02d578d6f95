"""Dates as people write them, from text: year first, or day.month.year, or month/day/year where only that is a date.

Day and month are read in one order for the whole column. Where both are possible the day comes first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

CLOCK = r"(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?\s?(Z|[+-]\d{2}:?\d{2})?\Z"
YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + CLOCK)
YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})" + CLOCK)
EPOCH = datetime(1970, 1, 1)
ORDERS = ("day first", "month first")


def dates(cells: Iterable[str]) -> dict[str, float] | None:
    """Seconds since 1970 of all texts, or None where one is not a date."""
    known = list(cells)
    for order in ORDERS:
        found = {}
        for text in known:
            seconds = moment(text, order)
            if seconds is None:
                break
            found[text] = seconds
        else:
            return found
    return None


def moment(text: str, order: str = ORDERS[0]) -> float | None:
    """Seconds since 1970 (UTC where no zone is given) of a text, or None where it is not a date."""
    text = text.strip()
    match = YEAR_FIRST.match(text)
    if match is not None:
        year, _, month, day, *clock = match.groups()
    else:
        match = YEAR_LAST.match(text)
        if match is None:
            return None
        first, _, second, year, *clock = match.groups()
        day, month = (first, second) if order == ORDERS[0] else (second, first)
    hour, minute, second, fraction, zone = clock
    years = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 69 else 1900)
    try:
        made = datetime(years, int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
    except ValueError:
        return None
    seconds = (made - EPOCH).total_seconds() + float(f"0.{fraction or 0}")
    return seconds - _offset(zone)


def _offset(zone: str | None) -> float:
    if zone is None or zone == "Z":
        return 0.0
    away = 3600.0 * int(zone[1:3]) + 60.0 * int(zone[-2:])
    return -away if zone[0] == "-" else away

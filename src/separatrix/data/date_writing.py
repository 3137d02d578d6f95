"""How people write dates: a table of formats, one of which a column has throughout.

%Y %m %d are numbers, %b is the name of a month (May, Sept., December), %a that of a day of the week. Behind the date a
time of day may stand (12:00, 12:00:30.5, 12:00 AM) and a zone (Z, +01:00). Where several formats fit all cells the
first of the table is taken: the year first, then the day, then the month.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from separatrix import kernels
from separatrix.errors import ParameterError

FORMATS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d"),
    *("%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%m/%d/%Y", "%m-%d-%Y", "%m.%d.%Y"),
    *("%d.%m.%y", "%d/%m/%y", "%d-%m-%y", "%m/%d/%y", "%m-%d-%y"),
    *("%d %b %Y", "%d. %b %Y", "%d-%b-%Y", "%d/%b/%Y", "%b %d, %Y", "%b %d %Y", "%b-%d-%Y", "%Y-%b-%d", "%Y %b %d"),
    *(
        "%d %b %y",
        "%d-%b-%y",
        "%a, %d %b %Y",
        "%a %d %b %Y",
        "%a, %b %d, %Y",
        "%H:%M:%S %d %b %Y",
        "%d/%b/%Y:%H:%M:%S %z",
    ),
)
FIELDS = "YmdybaHIMSfpz%"


def formats_of(cells: Sequence[str]) -> list[str]:
    """The formats by which all cells are dates, the one to take first."""
    few = [text.encode("utf-8", "replace") for text in cells[:20]]
    whole = [text.encode("utf-8", "replace") for text in cells]
    fitting = [own for own in FORMATS if not any(map(math.isnan, kernels.cell_dates(few, own)))] if few else []
    return [own for own in fitting if not any(map(math.isnan, kernels.cell_dates(whole, own)))]


def moment(text: str, form: str | None) -> float | None:
    """Seconds since 1970 (UTC where no zone is given) by a format, or by the first that fits; None for no date."""
    raw = [text.encode("utf-8", "replace")]
    for own in FORMATS if form is None else (form,):
        value: float = kernels.cell_dates(raw, own)[0]
        if not math.isnan(value):
            return value
    return None


def check_format(form: str) -> str:
    """A format that a user gives, refused where it has no day or an unknown field."""
    fields = re.findall(r"%(.?)", form)
    odd = next((own for own in fields if own not in FIELDS or not own), None)
    if odd is not None:
        raise ParameterError(
            f"the date format {form!r} has %{odd}: it can have {', '.join('%' + own for own in FIELDS)}."
        )
    if not {"Y", "y"} & set(fields):
        raise ParameterError(f"the date format {form!r} has no year (%Y or %y).")
    return form

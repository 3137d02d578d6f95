"""What a column of text is: numbers in one writing, dates in one format, or words.

The different cells of its first rows decide. Numbers that can be read with either decimal mark are settled by the other
columns of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from separatrix.data.date_writing import formats_of
from separatrix.data.number_writing import NO_VALUE, Writing, forms_of, is_settled, writings
from separatrix.data.reading_plan import TEXT, ColumnPlan, Reading

LONGEST = 60  # letters of a number or a date
TRIED = 200  # cells that must look alike before all are read
MOST_ODD, FEWEST = 5, 10  # different cells that are no numbers among numbers; numbers from which they are odd
CODE = re.compile(r"[+-]?0\d+\Z")  # digits with a zero in front: a code, whose zeros a number would lose


@dataclass(frozen=True, slots=True)
class Guess:
    """What the cells of a column can be; ``possible`` writings of numbers by decimal mark, ``formats`` of dates."""

    kind: str  # number, date, text, or empty where there is no cell
    possible: Mapping[str, Writing] = field(default_factory=dict)
    formats: Sequence[str] = ()
    cells: Sequence[str] = ()
    marks: str = ""  # which cells stand for a missing value, in words
    point: bool = False  # whether a number has a decimal point and could have no other mark
    code: bool = False  # text of digits, for the zeros in front


WHOLE = {".": Writing("."), ",": Writing(",")}  # whole numbers: both marks are possible, and change nothing


def guess(
    cells: Sequence[str], typed: bool = False, kind: str | None = None, counts: Sequence[int] | None = None
) -> Guess:
    """What the different cells of a column are, of which each comes so often.

    ``kind`` is what is said of it. In a ``typed`` table plain numbers stay text. A few other cells among many numbers
    or dates do not make words of them: they break the plan.
    """
    marks = sorted({cell.strip() for cell in cells} & NO_VALUE)
    present = [cell for cell in cells if cell.strip() and cell.strip() not in NO_VALUE]
    stand = f"{', '.join(map(repr, marks))} is missing" if marks else ""
    if not present:
        return Guess(kind or ("text" if marks else "empty"))
    if kind == "date":
        return Guess("date", formats=formats_of(present) or formats_of(present[:1]), cells=present, marks=stand)
    if kind == "number":
        fitting = [cell for cell in present if len(cell) <= LONGEST and forms_of([cell])[0] is not None]
        possible = _agreed(fitting)
        return Guess("number", possible or WHOLE, cells=present, marks=stand)
    tried: Sequence[str] = present[:TRIED]
    if counts is not None and not typed:
        close = _fitting(present, dict(zip(cells, counts, strict=True)))
        if len(close) < len(present):
            own = guess(close)
            return Guess("text", cells=present) if own.kind == "text" else replace(own, marks=stand)
    if not any(_word(cell) for cell in tried):
        possible = writings(present)
        if possible:
            code = any(CODE.match(cell.strip()) for cell in present)
            plain = "." in possible and possible["."].plain
            if code or (typed and plain and not marks):
                return Guess("text", cells=present, code=code)
            point = plain and any("." in cell for cell in present)
            return Guess("number", {".": possible["."]} if point else possible, (), present, stand, point)
    if all(len(cell) <= LONGEST and any(map(str.isdigit, cell)) for cell in tried):
        formats = formats_of(present)
        if formats:
            return Guess("date", formats=formats, cells=present, marks=stand)
    return Guess("text", cells=present)


def _fitting(cells: Sequence[str], counts: Mapping[str, int]) -> Sequence[str]:
    """The numbers or the dates among cells of which a few are something else; all cells where that is not so."""
    rows = sum(counts[cell] for cell in cells)
    if rows < FEWEST or sum(map(_word, cells)) > MOST_ODD:
        return cells
    for fits in ([own is not None for own in forms_of(cells)], [bool(formats_of([cell])) for cell in cells]):
        odd = [cell for cell, fine in zip(cells, fits, strict=True) if not fine]
        if (
            0 < len(odd) <= MOST_ODD
            and len(cells) - len(odd) > FEWEST
            and 2 * sum(counts[cell] for cell in odd) <= rows
        ):
            return [cell for cell, fine in zip(cells, fits, strict=True) if fine]
        if not odd:
            break
    return cells


def _agreed(cells: Sequence[str]) -> dict[str, Writing]:
    """The writing of most of the cells that are numbers, in the order in which they come."""
    kept: list[str] = []
    found: dict[str, Writing] = {}
    for cell in cells[:TRIED]:
        more = writings([*kept, cell])
        if more:
            kept, found = [*kept, cell], more
    return found


def _word(text: str) -> bool:
    return len(text) > LONGEST or not any(letter.isdigit() for letter in text)


def settled(
    guesses: Mapping[str, Guess], reading: Reading, delimiter: str = ","
) -> tuple[dict[str, ColumnPlan], list[str]]:
    """The plan of every column, with notes; a table with semicolons is likely to have decimal commas."""
    found = {name: own for name, own in guesses.items() if own.kind == "number"}
    clear = [own for own in found.values() if own.point or len(own.possible) == 1]
    votes = {"." if own.point else next(iter(own.possible)) for own in clear}
    if not votes and delimiter == ";":
        votes = {","}
    said = reading.known
    plans: dict[str, ColumnPlan] = {}
    notes: list[str] = []
    whole_file = reading.decimal is None and votes == {","} and delimiter != ","
    for name, own in guesses.items():
        known = said.get(name)
        if known is not None and known.decided:
            plans[name] = known
        elif own.kind == "number":
            writing, note = _number(name, own, votes, reading)
            plans[name] = ColumnPlan("number", writing) if writing is not None else TEXT
            notes += [note] if note else []
        elif own.kind == "date":
            form = own.formats[0] if own.formats else "%Y-%m-%d"
            plans[name] = ColumnPlan("date", format=form)
            notes.append(_named(name, "dates", [*_other_order(name, own), own.marks]))
        elif own.kind == "empty":
            plans[name] = ColumnPlan("number", Writing())
        else:
            plans[name] = TEXT
            if own.code:
                notes.append(f"{name!r} as text (zeros in front would be lost; --number {name} reads numbers)")
    written = [own.writing for own in plans.values() if own.kind == "number" and own.writing != Writing()]
    if whole_file and written and all(own == Writing(",") for own in written) and not said:
        only = {_named(name, "numbers", ["decimal comma"]) for name in plans}
        notes = ["decimal commas", *(note for note in notes if note not in only)]
    return plans, notes


def _number(name: str, own: Guess, votes: set[str], reading: Reading) -> tuple[Writing | None, str | None]:
    possible, decimal = own.possible, reading.decimal
    if decimal is not None and is_settled(dict(possible)) and decimal not in possible:
        return None, None
    mark = decimal if decimal in possible else "," if votes == {","} and "," in possible else next(iter(possible))
    writing = possible[str(mark)]
    if not own.cells or all(cell.strip("+-").isdigit() for cell in own.cells):
        return writing, _named(name, "numbers", [own.marks]) if own.marks else None
    if is_settled(dict(possible)) and "." in possible and mark != ",":
        writing = possible["."]
    if writing.plain and not own.marks:
        return writing, None
    parts = [str(writing)]
    if decimal is None and not is_settled(dict(possible)):
        other = next(own for own in possible.values() if own.decimal != writing.decimal)
        text = next((text for text in own.cells if writing.number(text) != other.number(text)), None)
        if text is not None:
            read = f"{text} is {writing.number(text):.15g}"
            parts.append(f"{read}; --decimal {other.decimal} reads {other.number(text):.15g}")
    return writing, _named(name, "numbers", [*parts, own.marks])


def _other_order(name: str, own: Guess) -> list[str]:
    """What else the dates could be: the month before the day."""
    chosen = own.formats[0] if own.formats else ""
    if not chosen.startswith("%d") or "%b" in chosen:
        return []
    other = next((form for form in own.formats[1:] if form.startswith("%m")), None)
    return [f"the day first; --date {name}={other} reads the month first"] if other else []


def _named(name: str, what: str, parts: list[str]) -> str:
    told = "; ".join(part for part in parts if part)
    return f"{name!r} as {what}" + (f" ({told})" if told else "")


def case_notes(name: str, levels: Iterable[str]) -> list[str]:
    """A note on words that differ in case only."""
    first: dict[str, str] = {}
    for level in sorted(levels):
        other = first.setdefault(level.casefold(), level)
        if other != level:
            return [f"{name!r} has {other!r} and {level!r}, which differ in case only: write them in one way"]
    return []

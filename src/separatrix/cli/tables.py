"""What the commands that read tables share: options, the target and its guesses, learners by name."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from separatrix.errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separatrix.data.frame import Column, Frame
    from separatrix.data.rows import Matrix
    from separatrix.data.sources import Source
    from separatrix.features.encode import Choices

USUAL_TARGETS = ("target", "label", "class", "y")
TARGET_CLASSES = 100


@dataclass(frozen=True, slots=True)
class Task:
    """A table to learn from: columns or rows, the target, and what was guessed about it."""

    source: Source
    table: Frame | Matrix
    target: str
    y: NDArray[Any]
    regression: bool
    positive: Any
    guesses: list[str]


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command that reads a table with a target."""
    for option in reversed(
        (
            click.option("--target", "-t", help="Column to learn (guessed if it is named target, label, class or y)."),
            click.option("--positive", help="Class that scores speak for, of two."),
            click.option("--na", multiple=True, help="A word that means a missing value; may be repeated."),
            click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
        )
    ):
        command = option(command)
    return command


def column_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say what columns are."""
    for option in reversed(
        (
            click.option("--drop", multiple=True, help="A column to leave out; may be repeated."),
            click.option("--text", multiple=True, help="A column of free text."),
            click.option("--category", multiple=True, help="A column of categories."),
            click.option("--number", multiple=True, help="A column of numbers."),
            click.option("--scale", type=click.Choice(["none", "standard"]), default="none", show_default=True),
            click.option(
                "--words",
                type=click.Choice(["hashed", "tfidf"]),
                default="hashed",
                show_default=True,
                help="Free text by hashed terms, or by a vocabulary that can be read.",
            ),
            click.option(
                "--dates",
                type=click.Choice(["days", "parts"]),
                default="days",
                show_default=True,
                help="Dates by days alone, or also by month, day of the week and time.",
            ),
        )
    ):
        command = option(command)
    return command


def open_table(source: str, na: tuple[str, ...], header: bool | None, text: tuple[str, ...] = ()) -> Source:
    from separatrix.data.sources import Reading, open_source

    return open_source(source, Reading(na, text, header))


def choices_of(options: dict[str, Any]) -> Choices:
    from separatrix.features.encode import Choices

    names = ("drop", "text", "category", "number", "scale", "words", "dates")
    return Choices(**{name: options[name] for name in names})


def task_of(source: Source, target: str | None, positive: str | None, regression: bool | None) -> Task:
    """Read everything; find the target, and say what was guessed."""
    from separatrix.data.rows import Matrix

    table = source.read()
    guesses: list[str] = []
    if isinstance(table, Matrix):
        if target is not None:
            raise DataError(f"{source.name} has no column names: its labels are the target; leave --target out.")
        if table.y is None:
            raise DataError(f"{source.name} has rows without labels: save X and y together in a .npz file.")
        from separatrix.data.frame import label_column

        column = label_column("label", table.y)
        rest: Frame | Matrix = table
    else:
        name = target if target is not None else _guess_target(table, guesses)
        column = table[name]
        rest = table.without([name])
    need_whole(column, source.name)
    y = column.labels()
    numbers = column.kind != "text" and y.dtype.kind == "f"
    if regression is None:
        regression = numbers
    if regression and column.kind == "text":
        raise DataError(f"target {column.name!r} is text and no number: choose a classifier.")
    if regression:
        return Task(source, rest, column.name, column.values, True, None, guesses)
    if numbers:
        raise DataError(f"target {column.name!r} holds numbers such as {y[0]:g}, not classes: use least-squares.")
    return Task(source, rest, column.name, y, False, _positive(y, column.name, positive, guesses), guesses)


def label_values(y: NDArray[Any]) -> NDArray[Any]:
    """Labels of rows that came without column names, in the type that a fit gives them."""
    from separatrix.data.frame import label_column

    return label_column("label", y).labels()


def _guess_target(frame: Frame, guesses: list[str]) -> str:
    found = [name for name in frame.names if name.lower() in USUAL_TARGETS]
    if len(found) != 1:
        shown = ", ".join(frame.names[:8]) + (", …" if len(frame.names) > 8 else "")
        raise DataError(f"{frame.source} needs --target: which column is to be learned? Columns: {shown}.")
    guesses.append(f"target = {found[0]}")
    return found[0]


def need_whole(column: Column, source: str) -> None:
    import numpy as np

    missing = np.flatnonzero(column.missing)
    if len(missing) == len(column.values):
        raise DataError(f"target {column.name!r} of {source} is missing in every row.")
    if len(missing):
        raise DataError(
            f"target {column.name!r} of {source} is missing in {len(missing):,} rows (first: row {missing[0]}, "
            "counted from 0): drop those rows first."
        )


def _positive(y: NDArray[Any], target: str, positive: str | None, guesses: list[str]) -> Any:
    import numpy as np

    classes, counts = np.unique(y, return_counts=True)
    n, many = len(y), len(classes)
    if many == 1:
        raise DataError(f"target {target!r} is {classes[0]!s} in every row: there is nothing to tell apart.")
    if many > TARGET_CLASSES and many > n // 10:
        reason = "it names rows, it is not a class" if many > 0.9 * n else "most have too few rows to learn from"
        raise DataError(
            f"target {target!r} has {many:,} different values in {n:,} rows: {reason}. Choose another --target."
        )
    labels = classes.tolist()
    if positive is not None:
        match = [label for label in labels if str(label) == positive or str(label).lower() == positive.lower()]
        if not match:
            raise DataError(f"--positive is {positive!r}, which is no class of {target!r} ({_few(labels)}).")
        return match[0]
    if many > 2:
        return None
    if counts[0] == counts[1]:
        guesses.append(f"positive = {labels[1]} (the second)")
        return labels[1]
    rarer = labels[int(counts.argmin())]
    guesses.append(f"positive = {rarer} (the rarer)")
    return rarer


def _few(labels: list[Any]) -> str:
    return ", ".join(map(str, labels[:6])) + (", …" if len(labels) > 6 else "")


def counts_of(task: Task) -> str:
    """The target in a few words: classes with their counts, or a range."""
    import numpy as np

    if task.regression:
        return f"{task.target}: {task.y.min():g} to {task.y.max():g}"
    classes, counts = np.unique(task.y, return_counts=True)
    shown = ", ".join(
        f"{label} {count:,}" for label, count in zip(classes.tolist()[:5], counts.tolist()[:5], strict=True)
    )
    return f"{task.target}: {shown}" + (f", … ({len(classes)} classes)" if len(classes) > 5 else "")


def in_folds(task: Task, learner: Any, choices: Choices) -> tuple[Any, Any]:
    """A learner that encodes inside each fold, and the rows to deal: numbers of rows, or the rows themselves."""
    from separatrix.data.rows import Matrix
    from separatrix.features.in_folds import EncodedLearner, SharedTable

    if isinstance(task.table, Matrix):
        return learner, task.table.X
    shared = SharedTable(task.table, choices)
    return EncodedLearner(shared, learner), shared.rows()


def learner_of(name: str, extra: list[str], seed: int | None) -> Any:
    """A learner with the options that stand behind the known ones: --max-epochs 50, --no-fit-intercept."""
    from separatrix.learners.base import parameters_of
    from separatrix.learners.registry import command_name, learner_class

    cls = learner_class(name)
    known = parameters_of(cls)
    given: dict[str, Any] = {}
    words = list(extra)
    while words:
        flag = words.pop(0)
        match = re.fullmatch(r"--(no-)?([a-zA-Z0-9-]+)(?:=(.*))?", flag, re.DOTALL)
        option = match.group(2).replace("-", "_") if match else ""
        if match and match.group(1) and isinstance(known.get(option), bool):
            given[option] = False
            continue
        if match is None or option not in known:
            listed = ", ".join("--" + key.replace("_", "-") for key in known)
            raise ParameterError(f"{command_name(cls.__name__)} has no option {flag!r}; its options are {listed}.")
        if match.group(3) is not None:
            given[option] = _value(match.group(3))
        elif isinstance(known[option], bool) and (not words or words[0].startswith("--")):
            given[option] = True
        elif not words:
            raise ParameterError(f"{flag} needs a value.")
        else:
            given[option] = _value(words.pop(0))
    if seed is not None and "random_state" in known and "random_state" not in given:
        given["random_state"] = seed
    return cls(**given)


def _value(text: str) -> Any:
    """A word of the command line as a number, a truth value, None, a list or a table; else as it is."""
    words = {"true": True, "false": False, "none": None, "inf": float("inf")}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def options_of(name: str) -> list[str]:
    """The options of a learner with their defaults, one a line."""
    from separatrix.learners.base import parameters_of
    from separatrix.learners.registry import learner_class

    return [f"--{key.replace('_', '-'):<22} {default!r}" for key, default in parameters_of(learner_class(name)).items()]


def rows_of(task: Task, rows: Any) -> Task:
    """The same task with some of its rows."""
    from dataclasses import replace

    from separatrix.data.rows import Matrix

    table = task.table
    if not isinstance(table, Matrix):
        return replace(task, table=table.take(rows), y=task.y[rows])
    weights = None if table.weights is None else table.weights[rows]
    some = Matrix(table.X[rows], None if table.y is None else table.y[rows], table.source, weights)
    return replace(task, table=some, y=task.y[rows])


def say(lines: list[str]) -> None:
    """Lines for people: with numbers and names set off by colour on a terminal, plain elsewhere."""
    import sys

    if not sys.stdout.isatty():
        click.echo("\n".join(lines))
        return
    from rich.console import Console

    console = Console(soft_wrap=True)
    for line in lines:
        alarming = line.startswith(("warning:", "suspected leak"))
        console.print(line, markup=False, style="yellow" if alarming else None)


def as_json(value: Any) -> str:
    """One line of JSON; numpy's numbers as numbers, what is not finite as null."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(own) for own in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def size(n: int) -> str:
    """Bytes for people."""
    return f"{n:,} B" if n < 1000 else f"{n / 1000:.1f} kB" if n < 1_000_000 else f"{n / 1e6:.1f} MB"

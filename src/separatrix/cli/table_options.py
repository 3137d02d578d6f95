"""What the commands that read tables share: options, the target and its guesses, learners by name."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.data.reading_plan import ColumnPlan, Reading
    from separatrix.data.sources import Source
    from separatrix.data.tasks import Task as Task
    from separatrix.features.encoder import Choices
    from separatrix.features.table_model import TableModel


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}


class Size(click.ParamType[int]):
    """A number of bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", str(value).lower())
        if found is None:
            self.fail(f"{value!r} is not a size: write 256MB or 4GB, for instance.", param, ctx)
        return int(float(found[1]) * UNITS[found[2] or ""])


SIZE = Size()


def together(*options: Decorator) -> Decorator:
    """Several options as one decorator, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def choice(flag: str, *values: str, **settings: Any) -> Decorator:
    """An option with a few values, the first of which is its default."""
    return click.option(flag, type=click.Choice(values), default=values[0], show_default=True, **settings)


# How a file is written; what every command that reads a table with a target asks; what columns are.
file_options = together(
    click.option("--na", multiple=True, help="Text that marks a missing value; may be repeated."),
    click.option("--header/--no-header", default=None, help="Whether the first line names the columns."),
    click.option("--sep", metavar="CHARACTER", help="Field separator, or the word tab (default: detected)."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark (default: detected by column)."),
    click.option("--encoding", metavar="NAME", help="Text encoding, such as utf-8 or cp1252 (default: detected)."),
    click.option(
        "--date",
        multiple=True,
        metavar="COLUMN[=FORMAT]",
        help="A column of dates, such as day=%d/%m/%Y; may be repeated.",
    ),
    click.option(
        "--broken",
        type=click.Choice(["refuse", "skip", "missing"]),
        help="What happens to a row or cell that does not fit the first rows: refuse it, leave the row out, or call "
        "the cell missing (default: refuse; a stream skips).",
    ),
)
reading_options = together(
    file_options,
    click.option("--target", "-t", help="Target column (default: the one named target, label, class or y)."),
    click.option("--positive", help="The positive class, of two."),
    click.option(
        "--skip-missing-target", is_flag=True, help="Leave out rows whose target is missing, instead of an error."
    ),
)
task_option = click.option(
    "--task",
    type=click.Choice(["classification", "regression"]),
    help="Whether the target is a class or a quantity (default: by its values).",
)
MAP_HELP = "Feature map of the columns: poly:2 … poly:5, or splines."
drop_option = click.option("--drop", multiple=True, help="A column to leave out; may be repeated.")
keep_option = click.option(
    "--keep", multiple=True, help="A column to use although it counts the rows; may be repeated."
)
kind_options = together(
    click.option("--category", multiple=True, help="A column of categories."),
    click.option("--number", multiple=True, help="A column of numbers."),
)
type_options = together(click.option("--text", multiple=True, help="A column of free text."), kind_options)
column_options = together(
    drop_option,
    keep_option,
    type_options,
    choice("--scale", "none", "standard", help="Whether columns of numbers are standardised."),
    choice("--words", "hashed", "tfidf", help="Free text as hashed terms, or as the terms of a vocabulary."),
    choice("--dates", "days", "parts", help="Dates as days, or also as month, day of the week and time."),
    click.option("--map", metavar="MAP", help=MAP_HELP),
)
seed_option = click.option("--seed", type=click.IntRange(0), default=None, help="Seed of the learner and of the split.")
level_option = click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
cache_option = click.option(
    "--cache", type=click.Path(file_okay=False, path_type=Path), help="Folder for the rows on disk ($SEPARATRIX_CACHE)."
)
cluster_options = together(
    click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Work on a Ray cluster: auto, HOST:PORT, local (processes of this machine), or here (this process).",
    ),
    click.option("--workers", type=click.IntRange(1), help="Workers on the cluster (default: its processors)."),
)


def open_table(source: str, options: dict[str, Any], model: TableModel | None = None) -> Source:
    """The source, to be read as the options say and as the training table of the model was read."""
    from separatrix.data.reading_plan import Reading
    from separatrix.data.sources import open_source

    opened = open_source(source, reading_of(options, Reading() if model is None else model.reading))
    opened.skip_missing_target = options.get("skip_missing_target", False)
    return opened


def reading_of(options: dict[str, Any], reading: Reading) -> Reading:
    """How files are to be read: as the options say, else as before."""
    from dataclasses import replace

    from separatrix.data.file_pieces import check_encoding
    from separatrix.data.reading_plan import TEXT

    if options["encoding"] is not None:
        check_encoding(options["encoding"])
    if options["decimal"] is not None:
        known = (
            (name, replace(own, writing=own.writing and own.writing.with_decimal(options["decimal"])))
            for name, own in reading.columns
        )
        reading = replace(reading, columns=tuple(known))
    said = dict.fromkeys((*options.get("text", ()), *options.get("category", ())), TEXT) | dates_of(
        options.get("date", ())
    )
    made = replace(
        reading,
        na=tuple(dict.fromkeys((*reading.na, *options["na"]))),
        header=options["header"],
        sep=_separator(options["sep"]),
        encoding=options["encoding"],
        decimal=options["decimal"],
        broken=options.get("broken") or reading.broken,
        named=(options["target"],) if options.get("target") else (),
    )
    return made.with_columns(said.items())


def dates_of(said: Iterable[str]) -> dict[str, ColumnPlan]:
    """Columns that are named as dates, with their formats where these are given."""
    from separatrix.data.date_writing import check_format
    from separatrix.data.reading_plan import ColumnPlan

    found = {}
    for text in said:
        name, _, form = text.partition("=")
        found[name] = ColumnPlan("date", format=check_format(form) if form else None)
    return found


def _separator(text: str | None) -> str | None:
    """One character between cells; tabs also by name."""
    if text is None:
        return None
    mark = {"tab": "\t", "\\t": "\t", "space": " "}.get(text.lower(), text)
    if len(mark) != 1 or mark.isalnum() or mark in "\"'\n\r\0" or not mark.isascii():
        raise ParameterError(f"--sep is {text!r}: it must be one character such as , ; | or tab.")
    return mark


def need_files(source: str) -> None:
    """Refuse sources that are not files, where rows are to lie on disk."""
    from separatrix.data.sources import SQL

    if source == "-" or source.startswith("example:") or SQL.match(source):
        raise ParameterError(
            f"--memory is for files, and SOURCE is {source[:40]!r}: name files, or leave --memory out."
        )


def regression_of(options: dict[str, Any], learners: Iterable[Any]) -> bool | None:
    """Whether the target is a quantity: as --task says, or as the learners need it; None leaves it to the target."""
    asked = None if options["task"] is None else options["task"] == "regression"
    for learner in learners:
        needed = learner._estimator_type == "regressor"
        if asked not in (None, needed):
            kind = "a regression" if needed else "a classifier"
            raise ParameterError(f"--task is {options['task']}, and {type(learner).__name__} is {kind}: leave one out.")
        asked = needed
    return asked


def choices_of(options: dict[str, Any]) -> Choices:
    from separatrix.features.encoder import Choices

    names = ("drop", "keep", "text", "category", "number", "scale", "words", "dates", "map")
    return Choices(**{name: options[name] for name in names})


def counters_left_out(task: Task, choices: Choices) -> list[str]:
    """Notes on columns that are left out in every fold, since they count the rows of the table."""
    from separatrix.data.frame import Frame
    from separatrix.features.counters import counter
    from separatrix.features.encoder import without_counters

    if not isinstance(task.table, Frame):
        return []
    dropped = without_counters(task.table, choices).drop[len(choices.drop) :]
    return [f"{name!r} dropped: it {counter(task.table[name])}" for name in dropped]


def in_folds(task: Task, learner: Any, choices: Choices) -> tuple[Any, Any]:
    """A learner that encodes inside each fold, and the rows to deal: numbers of rows, or the rows themselves."""
    from separatrix.data.row_files import Matrix
    from separatrix.features.table_model import EncodedLearner, SharedTable

    if isinstance(task.table, Matrix):
        return learner, task.table.X
    shared = SharedTable(task.table, choices)
    return EncodedLearner(shared, learner), shared.rows()


def learner_of(name: str, extra: list[str], seed: int | None, recipe: str | None = None) -> Any:
    """A learner with the options that stand behind the known ones: --max-iter 50, --no-fit-intercept."""
    from separatrix.models.registry import command_name, flag_name, learner_class
    from separatrix.parameters import defaults

    cls = learner_class(name)
    known = defaults(cls)
    flags = {flag_name(parameter): parameter for parameter in known}
    given: dict[str, Any] = {}
    words = list(extra)
    while words:
        flag = words.pop(0)
        match = re.fullmatch(r"--(no-)?([a-zA-Z0-9-]+)(?:=(.*))?", flag, re.DOTALL)
        option = flags.get(match.group(2), "") if match else ""
        if match and match.group(1) and isinstance(known.get(option), bool):
            given[option] = False
            continue
        if match is None or option not in known:
            listed = ", ".join("--" + key for key in flags)
            raise ParameterError(f"{command_name(cls.__name__)} has no option {flag!r}; its options are {listed}.")
        if match.group(3) is not None:
            given[option] = _value(match.group(3))
        elif isinstance(known[option], bool) and "".join(words[:1]).lower() not in ("true", "false"):
            given[option] = True
        elif not words:
            raise ParameterError(f"{flag} needs a value.")
        else:
            given[option] = _value(words.pop(0))
    if seed is not None and "random_state" in known and "random_state" not in given:
        given["random_state"] = seed
    if recipe is not None:
        from separatrix.models.perceptron.perceptron import Perceptron

        return Perceptron.recipe(recipe, **given)
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


def rows_of(task: Task, rows: Any) -> Task:
    """The same task with some of its rows."""
    from dataclasses import replace

    from separatrix.data.row_files import Matrix

    table = task.table
    if not isinstance(table, Matrix):
        return replace(task, table=table.take(rows), y=task.y[rows])
    weights = None if table.weights is None else table.weights[rows]
    some = Matrix(table.X[rows], None if table.y is None else table.y[rows], table.source, weights)
    return replace(task, table=some, y=task.y[rows])

"""``separatrix fit`` of files larger than memory: rows go through a cache on disk."""

from __future__ import annotations

import os
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from separatrix.cli import table_options
from separatrix.cli.messages import in_flags
from separatrix.cli.on_cluster import say_fit
from separatrix.cli.output import Progress
from separatrix.errors import DataError, ParameterError

if TYPE_CHECKING:
    from separatrix.data.row_cache import RowCache
    from separatrix.features.encoder import Choices

GROUP = Path("/sys/fs/cgroup/memory.max")  # what a container may use


def machine_memory(group: Path = GROUP) -> int | None:
    """The memory of this machine, or of the container that this process is in; None where the system does not say."""
    try:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
    try:
        return min(whole, int(group.read_text()))
    except (OSError, ValueError):
        return whole


MOST = 2**31 - 2  # features of a row
COPYING = ("cv", "holdout", "trace", "skip_missing_target")  # options that hold the rows in memory


def memory_for(source: str, options: dict[str, Any]) -> int | None:
    """The memory that reading may take: what is asked for, or a quarter of all for files larger than half of it.

    How many rows SQL takes of its files is not known: its result is read whole unless memory is asked for.
    """
    from separatrix.data.sources import SQL, files_of

    if options["memory"] is not None:
        return int(options["memory"])
    if options["cache"] is not None or options["keep_cache"]:
        raise ParameterError("--cache and --keep-cache are for files that do not fit into memory: give --memory too.")
    whole = machine_memory()
    size = sum(os.path.getsize(path) for path in files_of(source))
    if whole is None or size <= whole // 2 or SQL.match(source) or any(options[flag] for flag in COPYING):
        return None
    return whole // 4


def fit_from_disk(context: click.Context, source: str, options: dict[str, Any], out: Path, memory: int) -> None:
    """Fit, write the model file, and report."""
    from separatrix.cluster.fit_from_disk import cached_source, fit_cached
    from separatrix.data.reading_plan import Reading
    from separatrix.persistence import save

    table_options.need_files(source)
    for flag in COPYING:
        if options[flag]:
            raise ParameterError(f"--{flag.replace('_', '-')} holds all rows in memory: leave it or --memory out.")
    started, quiet = time.perf_counter(), options["quiet"] or options["json_"]
    choices, reading = table_options.choices_of(options), table_options.reading_of(options, Reading())
    if options["learner"] is None:
        learner, guess, choices = _suitable(context, source, options, choices)
    else:
        learner, guess = (
            table_options.learner_of(options["learner"], context.args, options["seed"], options["recipe"]),
            [],
        )
        table_options.regression_of(options, [learner])
    with Progress(f"reading {source[:40]}", quiet) as bar:
        bar.start()
        found = cached_source(
            source,
            options["target"],
            learner._estimator_type == "regressor",
            memory,
            options["cache"],
            options["keep_cache"],
            choices,
            reading,
            lambda what, count, rows: bar.at(lambda: None, f"pass {count}: {what}, {rows:,} rows"),
        )
    read = time.perf_counter()
    found.notes = [_whereabouts(found.rows), *guess, *found.notes]
    with (
        Progress(f"learning from {found.rows.n:,} rows", quiet) as bar,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        bar.start()
        model = fit_cached(learner, found, options["positive"], reading)
    fitted = time.perf_counter()
    save(model, out, certificate=options["certificate"])
    said = [in_flags(str(w.message)) for w in caught]
    say_fit(model, source, found.notes, said, {"read": read - started, "fit": fitted - read}, options, out)


def _whereabouts(rows: RowCache) -> str:
    """Where the rows lie, in a few words."""
    if rows.folder is None:
        return "rows on disk, removed at the end"
    how = "read from" if rows.notes == ["read"] else f"{rows.notes[0]}, kept in"
    return f"rows on disk {how} {rows.folder}"


def _suitable(
    context: click.Context, source: str, options: dict[str, Any], choices: Choices
) -> tuple[Any, list[str], Choices]:
    """A ridge on standardised columns that suits the first rows of the target, as ``fit`` chooses by all of them."""
    from separatrix.data.frame import label_column
    from separatrix.data.tasks import guess_regression, guess_target

    opened, extra = table_options.open_table(source, options), list(context.args)
    guesses: list[str] = []
    if opened.rows is not None:
        first = next(opened.matrices(MOST), None)
        if first is None:
            raise DataError(f"{opened.name} has no rows: nothing to learn from.")
        if first.y is None:
            raise DataError(f"{opened.name} has rows without labels: save X and y together in a .npz file.")
        column, scaled = label_column("label", first.y), False
    else:
        target = options["target"] or guess_target([name for name, _ in opened.columns], opened.name, guesses)
        batch = next(opened.frames([target]), None)
        if batch is None:
            raise DataError(f"{opened.name} has no rows: nothing to learn from.")
        column = batch[0][target]
        scaled = context.get_parameter_source("scale") is ParameterSource.DEFAULT
    number = table_options.regression_of(options, [])
    if number is None:
        number = guess_regression(column, guesses) or column.labels().dtype.kind == "f"
    name, penalty = ("least-squares", "--alpha") if number else ("logistic-regression", "--C")
    extra += [] if penalty in extra else [penalty, "1"]
    guesses.append(f"learner = {name} {' '.join(extra)}{', standardised columns' if scaled else ''}")
    choices = replace(choices, scale="standard") if scaled else choices
    return table_options.learner_of(name, extra, options["seed"]), guesses, choices

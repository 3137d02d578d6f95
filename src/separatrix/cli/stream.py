"""``separatrix stream``: rows are predicted, scored and learned as they arrive; it can be stopped at any moment."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import click

from separatrix.atomic_write import naming
from separatrix.cli import output, table_options
from separatrix.cli.completion import LEARNER, SOURCE
from separatrix.cli.learner_command import LearnerCommand
from separatrix.errors import DataError, ParameterError

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FILE = click.Path(dir_okay=False, path_type=Path)
SCALES = click.Choice(["none", "standard"])
FEATURES_HELP = "Maximum number of features (default: 4,194,304 of svmlight, 1,048,576 columns and categories)."
WINDOW_HELP = "Number of latest rows in the windowed accuracy."


@click.command(cls=LearnerCommand, context_settings={"allow_extra_args": True})
@click.argument("source", type=SOURCE)
@click.option("--target", "-t", default="", help="Column with the labels (CSV, JSON lines).")
@click.option(
    "--learner", "-l", type=LEARNER, default="averaged-perceptron", show_default=True, help="Learner with partial_fit."
)
@click.option("--model", "-m", type=FILE, help="Model file (.sepx), written at the end and on SIGTERM or Ctrl-C.")
@click.option("--out", "-o", type=FILE, help="Predictions, one line a row (default: standard output).")
@click.option("--checkpoint", type=FILE, help="Checkpoint file; the two before it are kept as FILE.1 and FILE.2.")
@click.option("--checkpoint-rows", type=click.IntRange(1), help="Rows between checkpoints.")
@click.option(
    "--checkpoint-seconds", type=click.FloatRange(0, min_open=True), help="Seconds between checkpoints (default: 10)."
)
@click.option("--resume", is_flag=True, help="Continue from the checkpoint, if there is one.")
@click.option("--follow", is_flag=True, help="Wait for rows that are appended to the file, also when it is rotated.")
@click.option(
    "--format", "format_", type=click.Choice(["csv", "jsonl", "svmlight", "vw"]), help="Format of the source."
)
@click.option("--classes", help="All classes, separated by commas: two then share one vector, which is faster.")
@click.option("--rejects", type=FILE, help="File for lines that cannot be read: JSON lines with place and reason.")
@click.option("--scores", is_flag=True, help="Write the score of each row after its class.")
@click.option("--scale", type=SCALES, default="none", help="Standardise columns by the rows seen so far.")
@click.option("--category", multiple=True, metavar="COLUMN", help="A column of categories; may be repeated.")
@click.option("--number", multiple=True, metavar="COLUMN", help="A column of numbers; may be repeated.")
@table_options.file_options
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; may be repeated.")
@click.option("--features", type=click.IntRange(1), help=FEATURES_HELP)
@click.option("--window", type=click.IntRange(2), default=1000, show_default=True, help=WINDOW_HELP)
@click.option(
    "--alarm",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.01,
    show_default=True,
    help="Probability of a false drift warning over the whole stream.",
)
@click.option(
    "--block", type=click.IntRange(1), help="Rows learned at once, for learners that do not update row by row."
)
@click.option(
    "--longest-line",
    type=click.IntRange(1),
    default=1 << 24,
    help="Maximum length of a line in bytes (default: 16,777,216).",
)
@click.option("--seed", type=click.IntRange(0), default=None, help="Seed of the learner.")
@output.output_options
@click.pass_context
def command(context: click.Context, /, source: str, **options: Any) -> None:
    """Predict, evaluate and then learn from each row of SOURCE: a file, -, unix:PATH or tcp:localhost:PORT.

    Rows are lines of CSV, JSON, svmlight or Vowpal Wabbit's text; one without a label is predicted only. Options of
    the learner are flags. SIGTERM and Ctrl-C write a checkpoint and the model. With --resume a file ends with exactly
    the model and the output of a run that was never interrupted; a pipe or socket must send all rows again, and those
    already learned are skipped.
    """
    from separatrix.stream.stopping import StopAsked, Stopping
    from separatrix.stream.stream_loop import StreamRun

    if options["json_"] and options["out"] is None:
        raise ParameterError("--json needs --out FILE: predictions go to standard output without it.")
    learner = table_options.learner_of(options["learner"], list(context.args), options["seed"])
    plan = _plan(source, options)
    _need_own_model(options["model"], learner, options["target"])
    with Stopping() as stopping, contextlib.closing(StreamRun(learner, plan, stopping)) as run:
        try:
            with contextlib.suppress(StopAsked):
                run.run()
            stopped = stopping.asked
            stopping.asked = None
            run.finish()
            _save(run, options["model"])
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                run.finish()
            if error.errno not in FULL:
                raise
            raise DataError(_full(error, run)) from error
    _report(run, stopped, options)
    if stopped is not None:
        sys.exit(128 + stopped)


def _plan(source: str, options: dict[str, Any]) -> Any:
    from separatrix.data.reading_plan import ColumnPlan, Reading
    from separatrix.stream.stream_plan import StreamPlan
    from separatrix.stream.table_formats import Columns

    for name in ("model", "out", "checkpoint", "rejects"):
        output.need_place(options[name], source if os.path.isfile(source) else None)
    places = [Path(options[name]).absolute() for name in ("model", "out", "checkpoint", "rejects") if options[name]]
    if len(set(places)) < len(places):
        raise ParameterError("--model, --out, --checkpoint and --rejects must be different files.")
    rows, seconds = options["checkpoint_rows"], options["checkpoint_seconds"]
    if options["checkpoint"] is None and (options["resume"] or rows or seconds):
        raise ParameterError("--resume, --checkpoint-rows and --checkpoint-seconds need --checkpoint FILE.")
    given = {own.name: options[own.name] for own in fields(StreamPlan) if own.name in options}
    given |= {"source": source, "format": options["format_"], "classes": _classes(options["classes"])}
    numbers = tuple((name, ColumnPlan("number")) for name in options["number"])
    reading = table_options.reading_of(options, Reading(broken="skip", columns=numbers))
    given["columns"] = Columns(options["target"], options["drop"], reading)
    given["strict"] = reading.broken == "refuse"
    given |= {"standard": options["scale"] == "standard", "quiet": options["quiet"] or options["json_"]}
    given["checkpoint_seconds"] = 10.0 if rows is None and seconds is None else seconds
    return StreamPlan(**given)


def _classes(text: str | None) -> list[Any] | None:
    """Classes as numbers where all are, else as text."""
    if text is None:
        return None
    from separatrix.data.number_writing import plain_number

    words = [word.strip() for word in text.split(",")]
    if len(set(words)) < 2 or not all(words):
        raise ParameterError(f"--classes is {text!r}: name two or more, separated by commas.")
    numbers = [plain_number(word) for word in words]
    return sorted(words) if None in numbers else sorted(float(number) for number in numbers if number is not None)


def _need_own_model(path: Path | None, learner: Any, target: str) -> None:
    """A model file is written anew, and must be that of such a stream: a stream does not go on from a model."""
    if path is None or not path.exists():
        return
    from separatrix.persistence import load

    found = load(path)
    about = getattr(found, "about", {})
    found_learner = getattr(found, "learner", found)
    if about.get("streamed") and type(found_learner) is type(learner) and (found.target or "") == target:
        return
    of = f", of the target {found.target!r}," if getattr(found, "target", None) else ""
    raise ParameterError(
        f"--model is {path}, a {type(found_learner).__name__}{of} that this stream would replace and does not continue "
        "from: choose another file, or remove it."
    )


def _save(run: Any, model: Path | None) -> None:
    if model is None:
        return
    if not run.arrivals.classes and not run.card.labelled:
        run.notes.append(f"no row had a label: {model} was not written")
        return
    from separatrix.persistence import save

    with naming(model):
        save(run.model(), model)


def _full(error: OSError, run: Any) -> str:
    """The sentence of a disk that is full."""
    what = error.strerror or "no space left"
    where = error.filename or "the output"
    with contextlib.suppress(OSError):  # the checkpoint that is being written counts if it fits
        run.saver.finish()
    kept = run.saver.kept
    after = (
        f"the last checkpoint holds the first {kept:,} rows: make room and run the same command with --resume"
        if run.plan.checkpoint is not None and kept
        else "there is no checkpoint to go on from"
    )
    return f"{where}: {what} after {run.card.rows:,} rows; {after}."


def _report(run: Any, stopped: int | None, options: dict[str, Any]) -> None:
    """The account of the stream: on standard output, or on standard error where predictions went there."""
    from separatrix.cli.stream_report import account, report_lines

    report = account(run, None if stopped is None else signal.Signals(stopped).name, options["model"])
    if options["json_"]:
        output.say_json(report)
    elif not options["quiet"]:
        for line in report_lines(report):
            output.complain(line) if options["out"] is None else output.say([line])

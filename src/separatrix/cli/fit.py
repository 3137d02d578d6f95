"""``separatrix fit``: a table in, a model file out."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from separatrix.cli import output, table_options
from separatrix.cli.completion import LEARNER, SOURCE
from separatrix.cli.disk_fit import fit_from_disk, memory_for
from separatrix.cli.fit_report import account, report_lines
from separatrix.cli.learner_command import LearnerCommand
from separatrix.cli.messages import in_flags, with_names
from separatrix.cli.output import Progress
from separatrix.cli.table_options import SIZE
from separatrix.errors import DataError, ParameterError
from separatrix.printable import printable_values

if TYPE_CHECKING:
    from separatrix.evaluation.holdout import Holdout
    from separatrix.features.table_model import TableModel

MOST_NAMES = 100_000  # features that are known by name


@click.command(cls=LearnerCommand, context_settings={"allow_extra_args": True})
@click.argument("source", type=SOURCE)
@click.option(
    "--learner",
    "-l",
    type=LEARNER,
    help="Learner; by default ridge logistic regression, or ridge for numbers, on standardised columns.",
)
@click.option(
    "--recipe", metavar="NAME", help="A named perceptron: rosenblatt, batch, restart, normalised, online, repeated."
)
@click.option(
    "--trace", is_flag=True, help="Print each step of a learner of the perceptron family: row, score, w and b."
)
@click.option("--out", "-o", type=click.Path(dir_okay=False, path_type=Path), default=None, help="Model file (.sepx).")
@table_options.reading_options
@table_options.task_option
@table_options.column_options
@table_options.seed_option
@click.option("--cv", type=click.IntRange(2), help="Also cross-validate, with this number of folds.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of rows held out for one test at the end.",
)
@click.option("--ledger", type=click.Path(path_type=Path), help="File that records which test rows were used.")
@click.option(
    "--certificate",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Certificate about the data, whose digest the model file keeps.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Fit on a Ray cluster: auto, HOST:PORT, local (processes of this machine), or here (this process).",
)
@click.option("--workers", type=click.IntRange(1), help="Workers on the cluster; all its processors if not given.")
@click.option(
    "--memory",
    type=SIZE,
    metavar="SIZE",
    help="Memory for reading, such as 256MB; the rows are then kept on disk (default: a quarter of the memory, "
    "for files larger than half of it).",
)
@table_options.cache_option
@click.option("--keep-cache", is_flag=True, help="Keep the rows on disk, and reuse them while the files are unchanged.")
@output.output_options
@click.pass_context
def command(context: click.Context, /, source: str, **options: Any) -> None:
    """Learn from SOURCE (a file, a glob, -, example:NAME, or SQL over files) and write a model file.

    Options of the learner are flags: --learner perceptron --max-iter 50 --no-fit-intercept (fit --learner
    perceptron --help lists them). With --holdout the model is fitted on the other rows and evaluated on the held-out
    test rows, which is recorded in a ledger; --cv then makes its folds of the other rows.
    """
    from separatrix.data.frame import Frame

    started = time.perf_counter()
    out = options["out"] or Path("model.sepx")
    output.need_place(out, source, options["certificate"])
    if options["target"] in options["drop"]:
        raise ParameterError(f"--drop names the target {options['target']!r}: it cannot be learned and left out.")
    if options["recipe"] is not None and options["learner"] not in (None, "perceptron"):
        raise ParameterError(f"--recipe names a kind of perceptron: leave --learner {options['learner']} out.")
    if options["recipe"] is not None or (options["trace"] and options["learner"] is None):
        options["learner"] = "perceptron"
    if options["trace"] and options["json_"]:
        raise ParameterError("--trace prints a table for people: leave --json out.")
    if options["cluster"] is not None:
        from separatrix.cli.on_cluster import fit_on_cluster

        fit_on_cluster(context, source, options, out)
        return
    memory = memory_for(source, options)
    if memory is not None:
        fit_from_disk(context, source, options, out, memory)
        return
    quiet, choices = options["quiet"] or options["json_"], table_options.choices_of(options)
    with Progress(f"reading {source[:40]}", quiet) as progress:
        progress.start()
        opened = table_options.open_table(source, options)
        learner, task = learner_and_task(opened, context, options)
    unscaled = context.get_parameter_source("scale") is ParameterSource.DEFAULT
    if options["learner"] is None and unscaled and isinstance(task.table, Frame):
        choices = replace(choices, scale="standard")
        task.guesses[-1] += ", standardised columns"
    read = time.perf_counter()
    held = None if options["holdout"] is None else hold_out(task, options)
    own = task if held is None else table_options.rows_of(task, held.train_rows)
    with Progress(f"learning from {len(own.y):,} rows", quiet) as progress:
        progress.start()
        model, notes, said = fit_task(own, learner, choices)
    fitted = time.perf_counter()
    if options["trace"]:
        print_steps(model, own)
    report = account(model, own, notes, said)
    report["model"] = str(out)
    if options["cv"] is not None:
        report["cross_validation"] = validated(own, learner, choices, options, quiet)
    if held is not None:
        report["holdout"] = test_report(held, task, model, choices, report["warnings"])
    from separatrix.persistence import save

    save(model, out, certificate=options["certificate"])  # last: a command that refuses has written no model
    report["seconds"] = {"read": read - started, "fit": fitted - read}
    if options["json_"]:
        from separatrix.cli.json_reports import FitReport

        output.say_json(FitReport(**report))
    elif not options["quiet"]:
        output.say(report_lines(printable_values(report), own, out))


def learner_and_task(opened: Any, context: click.Context, options: dict[str, Any]) -> tuple[Any, table_options.Task]:
    """The learner that was named; else a ridge on standardised columns that suits the target."""
    from separatrix.data.tasks import task_of

    target, positive, extra = options["target"], options["positive"], list(context.args)
    if options["learner"] is not None:
        learner = table_options.learner_of(options["learner"], extra, options["seed"], options["recipe"])
        return learner, task_of(opened, target, positive, table_options.regression_of(options, [learner]))
    task = task_of(opened, target, positive, table_options.regression_of(options, []))
    name, penalty = ("least-squares", "--alpha") if task.regression else ("logistic-regression", "--C")
    if penalty not in extra:
        extra += [penalty, "1"]
    task.guesses.append(f"learner = {name} {' '.join(extra)}")
    return table_options.learner_of(name, extra, options["seed"]), task


def fit_task(task: table_options.Task, learner: Any, choices: Any) -> tuple[TableModel, list[str], list[str]]:
    """Encode and learn; notes of the encoder, and what was warned of."""
    from separatrix.data.row_files import Matrix
    from separatrix.features.encoder import Encoder, summary
    from separatrix.features.table_model import TableModel, fingerprint

    notes: list[str] = []
    encoder = None
    if isinstance(task.table, Matrix):
        if any((*choices.named, choices.map)) or choices.scale != "none":
            raise DataError(f"{task.source.name} has no columns to choose from: its rows are numbers already.")
        X = task.table.X
    else:
        encoder = Encoder.fitted(task.table, choices, None if task.regression else task.y, task.target)
        X, noted = encoder.encode(task.table)
        notes = summary(encoder, noted)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        weights = task.table.weights if isinstance(task.table, Matrix) else None
        learner.fit(X, task.y, **({} if weights is None else {"sample_weight": weights}))
    about = {"source": task.source.name, "rows": int(X.shape[0]), "fingerprint": fingerprint(X, task.y)}
    model = TableModel(learner, encoder, task.target, task.positive, {**about, **task.read_by})
    names = [] if encoder is None or encoder.width > MOST_NAMES else encoder.feature_names()
    return model, notes, [in_flags(with_names(str(w.message), names)) for w in caught]


def print_steps(model: TableModel, task: table_options.Task) -> None:
    """The steps of the fit once more, one by one, with the features by name."""
    from separatrix.data.row_files import Matrix
    from separatrix.models.perceptron.step_tables import step_trace

    X, _ = model.rows(task.table)
    weights = task.table.weights if isinstance(task.table, Matrix) else None
    steps = step_trace(model.learner, X, task.y, positive=task.positive, sample_weight=weights)
    names = [f"x{j}" for j in range(X.shape[1])] if model.encoder is None else model.encoder.feature_names()
    output.say([f"w = ({', '.join(names[:8])}{', …' if len(names) > 8 else ''}); rows count from 0"])
    output.say(steps.lines(), fold=False)
    if not steps.complete:
        output.say([f"… the first {len(steps):,} of {steps.visits:,} rows that were looked at"])


def hold_out(task: table_options.Task, options: dict[str, Any]) -> Holdout:
    """Rows to learn from, and test rows that are used once; rows are known by the values of all their columns."""
    import numpy as np

    from separatrix.data.row_files import Matrix
    from separatrix.evaluation.holdout import holdout

    if isinstance(task.table, Matrix):
        X, ids = task.table.X, None
    else:
        columns = [column.values for column in task.table.columns]
        X, ids = np.arange(task.table.n).reshape(-1, 1), np.column_stack(columns)
    seed = options["seed"] or 0
    return holdout(
        X, task.y, test=options["holdout"], validation=0, ids=ids, random_state=seed, ledger=options["ledger"]
    )


def test_report(
    held: Holdout, task: table_options.Task, model: TableModel, choices: Any, said: list[str]
) -> dict[str, Any]:
    """The evaluation of the finished model on the test rows, on record before it is seen."""
    from separatrix.data.row_files import Matrix
    from separatrix.features.table_model import EncodedLearner, SharedTable

    judged = model.learner
    if not isinstance(task.table, Matrix):
        judged = EncodedLearner.fitted(SharedTable(task.table, choices), model.encoder, model.learner)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = held.open_test(judged, positive=task.positive, note=repr(model.learner))
    said += [in_flags(str(w.message)) for w in caught]
    return {"rows": held.sizes["test"], "how": held.how, "random_state": held.random_state, **found.to_dict()}


def validated(
    task: table_options.Task, learner: Any, choices: Any, options: dict[str, Any], quiet: bool = True
) -> dict[str, Any]:
    """How such a model does on rows that it has not seen, by folds."""
    from separatrix.evaluation.cross_validation import cross_validate

    entrant, X = table_options.in_folds(task, learner, choices)
    seed = options["seed"] or 0
    with warnings.catch_warnings(), Progress("folds", quiet) as progress:
        warnings.simplefilter("ignore")
        found = cross_validate(
            entrant,
            X,
            task.y,
            folds=options["cv"],
            positive=task.positive,
            random_state=seed,
            progress=lambda done, total: progress.at(lambda: done / total, f"fold {done} of {total}"),
        )
    return found.to_dict()

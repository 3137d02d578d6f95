"""``--cluster`` of fit, predict and evaluate: files in partitions, read where the workers are."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.fit_report import account_of, outcome
from separatrix.cli.messages import in_flags, learner_in_flags
from separatrix.cli.output import Progress
from separatrix.errors import ParameterError
from separatrix.printable import printable, printable_values

if TYPE_CHECKING:
    from separatrix.cluster.predictions import WrittenPart
    from separatrix.features.table_model import TableModel


def fit_on_cluster(context: click.Context, source: str, options: dict[str, Any], out: Path) -> None:
    """Fit, write the model file, and report."""
    from separatrix import cluster
    from separatrix.persistence import save

    if options["learner"] is None:
        raise ParameterError("--cluster needs --learner: name one that has a distributed form.")
    for flag in ("cv", "holdout", "trace", "recipe", "skip_missing_target"):
        if options[flag]:
            raise ParameterError(f"--{flag.replace('_', '-')} needs all rows in one place: leave it or --cluster out.")
    learner = table_options.learner_of(options["learner"], list(context.args), options["seed"])
    table_options.regression_of(options, [learner])
    started, quiet = time.perf_counter(), options["quiet"] or options["json_"]
    address = None if options["cluster"] == "local" else options["cluster"]
    with Progress(f"fitting {source[:40]}", quiet) as bar, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bar.start()
        model = cluster.fit(
            learner,
            source,
            target=options["target"],
            address=address,
            workers=options["workers"],
            positive=options["positive"],
            choices=table_options.choices_of(options),
            reading=table_options.reading_of(options, cluster.Reading()),
            progress=lambda what, count, rows: bar.at(lambda: None, f"round {count}: {what}, {rows:,} rows"),
        )
    save(model, out, certificate=options["certificate"])
    said = [in_flags(str(w.message)) for w in caught if "separatrix" in type(w.message).__module__]
    notes = [] if model.encoder is None else list(model.encoder.notes)
    say_fit(model, source, notes, said, {"read": 0.0, "fit": time.perf_counter() - started}, options, out)


def say_fit(
    model: Any,
    source: str,
    notes: list[str],
    said: list[str],
    seconds: dict[str, float],
    options: dict[str, Any],
    out: Path,
) -> None:
    """Report a fit whose rows are not in memory."""
    columns = None if model.encoder is None else len(model.encoder.columns) + len(model.encoder.dropped) + 1
    report = account_of(model, source, columns, notes, said)
    report |= {"model": str(out), "seconds": seconds}
    if options["json_"]:
        from separatrix.cli.json_reports import FitReport

        output.say_json(FitReport(**report))
    elif not options["quiet"]:
        output.say(_lines(printable_values(report), model.about, out))


def _lines(report: dict[str, Any], about: dict[str, Any], out: Path) -> list[str]:
    parts = f" in {about['partitions']:,} partition{'s' * (about['partitions'] != 1)}" if "partitions" in about else ""
    lines = [f"{report['source']}   {report['rows']:,} rows{parts} → {report['features']:,} features"]
    if report["guesses"]:
        lines.append("guessed: " + " · ".join(report["guesses"]))
    lines += [f"warning: {text}" for text in report["warnings"]]
    told = f"{learner_in_flags(report['learner'])}   {in_flags(outcome(report))}   {report['seconds']['fit']:.2f} s"
    lines.append(told)
    if "mixing" in about:
        lines.append(f"guarantee of mixing: {about['mixing']['guarantee']}")
    return [*lines, f"{printable(out)}   {output.size(out.stat().st_size)}"]


def place(cluster: str, workers: int | None, bar: Progress) -> dict[str, Any]:
    """Where rounds are to run, as functions of a cluster take it."""

    def show(what: str, count: int, rows: int) -> None:
        bar.at(lambda: None, f"round {count}: {what}, {rows:,} rows")

    return {"address": None if cluster == "local" else cluster, "workers": workers, "progress": show}


def predict_on_cluster(
    model: TableModel, source: str, out: Path | None, strict: bool, quiet: bool, options: dict[str, Any]
) -> list[WrittenPart]:
    """One CSV file of predictions a partition, in a folder."""
    from separatrix.cluster.predictions import predict_parts

    if out is None:
        raise ParameterError("--cluster needs --out: a folder that every worker sees, for one file a partition.")
    if out.is_file():
        raise ParameterError(f"--out is {out}, a file: with --cluster it is a folder, for one file a partition.")
    reading = table_options.reading_of(options, model.reading)
    with Progress(f"predicting {source[:40]}", quiet) as bar:
        bar.start()
        where = place(options["cluster"], options["workers"], bar)
        return predict_parts(model, source, out, reading=reading, strict=strict, **where)


def evaluate_on_cluster(model: TableModel, path: str, source: str, options: dict[str, Any]) -> None:
    """Counts and sums of all partitions, and what follows from them."""
    from separatrix import cluster

    for flag in ("skip_missing_target", "positive"):
        if options[flag]:
            raise ParameterError(f"--{flag.replace('_', '-')} needs all rows in one place: leave it or --cluster out.")
    with Progress(f"evaluating {source[:40]}", options["quiet"] or options["json_"]) as bar:
        bar.start()
        where = place(options["cluster"], options["workers"], bar)
        reading = table_options.reading_of(options, model.reading)
        found = cluster.evaluate(
            model, source, target=options["target"], reading=reading, level=options["level"], **where
        )
    if options["json_"]:
        from separatrix.cli.json_reports import EvaluatedSource

        low, high = found.interval or (None, None)
        same = ("classes", "accuracy", "log_loss", "rmse", "mae", "r2")
        report = {name: getattr(found, name) for name in same} | {"n": found.rows, "low": low, "high": high}
        confusion = None if found.confusion is None else found.confusion.tolist()
        about = {"source": source, "model": path, "warnings": [], "level": options["level"]}
        output.say_json(EvaluatedSource(**about, **report, confusion=confusion))
        return
    head = printable(f"{path} on {source}   {found.rows:,} rows")
    output.say([head] * (not options["quiet"]) + [str(found)])

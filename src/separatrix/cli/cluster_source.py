"""``separatrix predict --cluster`` and ``evaluate --cluster``: files in partitions, where the workers are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.cli import output, table_options
from separatrix.cli.output import Progress
from separatrix.errors import ParameterError
from separatrix.printable import printable

if TYPE_CHECKING:
    from separatrix.cluster.predictions import WrittenPart
    from separatrix.features.table_model import TableModel


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
        output.say_json(
            EvaluatedSource(
                source=source,
                model=path,
                warnings=[],
                n=found.rows,
                level=options["level"],
                classes=found.classes,
                confusion=None if found.confusion is None else found.confusion.tolist(),
                accuracy=found.accuracy,
                low=low,
                high=high,
                log_loss=found.log_loss,
                rmse=found.rmse,
                mae=found.mae,
                r2=found.r2,
            )
        )
        return
    head = printable(f"{path} on {source}   {found.rows:,} rows")
    output.say([head] * (not options["quiet"]) + [str(found)])

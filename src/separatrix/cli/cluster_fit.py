"""``separatrix fit --cluster``: files in partitions, fitted where the workers are."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.fit_report import account_of, outcome
from separatrix.cli.messages import in_flags, learner_in_flags
from separatrix.cli.output import Progress
from separatrix.errors import ParameterError
from separatrix.printable import printable, printable_values


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

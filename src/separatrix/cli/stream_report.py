"""The summary of a stream at its end, as text and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from separatrix.statistics.distributions import wilson
from separatrix.stream.outputs import percent, rate


@dataclass(frozen=True, kw_only=True)
class ShareReport:
    """A share of rows with its 95% interval; null where there were none."""

    rows: int
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class StreamReport:
    """What a stream did; rows count from the first, also where it went on from a checkpoint."""

    source: str
    format: Literal["csv", "jsonl", "svmlight", "vw"] | None
    ended: str
    learner: str
    rows: int
    labelled: int
    resumed: int
    mistakes: int | None
    accuracy: ShareReport | None
    window: ShareReport | None
    mean_squared_error: float | None
    drift: str | None
    drift_warnings: list[int]
    rejected: int
    other_labels: int
    new_categories: int
    features: int
    classes: list[str | float]
    checkpoints: int
    checkpoint_seconds: float
    model: str | None
    notes: list[str]
    seconds: float
    rows_per_second: float


def share(right: int, n: int) -> ShareReport:
    if not n:
        return ShareReport(rows=0, value=None, low=None, high=None)
    low, high = wilson(right, n)
    return ShareReport(rows=n, value=right / n, low=float(low), high=float(high))


def account(run: Any, stopped: str | None, model: Path | None) -> StreamReport:
    """The facts."""
    card, new = run.card, run.card.rows - run.resumed
    regression = card.regression
    notes = list(run.notes)
    if run.encoder is not None:
        if run.encoder.unnamed:
            notes.append(
                f"{run.encoder.unnamed:,} cells of new columns or categories were left out: there are "
                f"{run.encoder.most:,} features already; raise --features"
            )
        notes += run.encoder.named
    recent = int(len(card.recent) - card.recent.sum()) if not regression else 0
    return StreamReport(
        source=run.plan.source,
        format=run.format_name,
        ended="the source ended" if stopped is None else f"stopped by {stopped}",
        learner=run.identity["learner"],
        rows=card.rows,
        labelled=card.labelled,
        resumed=run.resumed,
        mistakes=None if regression else card.mistakes,
        accuracy=None if regression else share(card.judged - card.mistakes, card.judged),
        window=None if regression else share(recent, len(card.recent)),
        mean_squared_error=card.squares / card.judged if regression and card.judged else None,
        drift=None if regression else card.drift.sentence,
        drift_warnings=card.drift.warnings,
        rejected=run.rejected,
        other_labels=run.foreign,
        new_categories=0 if run.encoder is None else len(run.encoder.levels),
        features=run.arrivals.features,
        classes=list(run.arrivals.classes),
        checkpoints=run.saver.count,
        checkpoint_seconds=run.saver.waited,
        model=None if model is None else str(model),
        notes=notes,
        seconds=run.seconds,
        rows_per_second=new / run.seconds if run.seconds > 0 else 0.0,
    )


def report_lines(report: StreamReport) -> list[str]:
    """The account in words."""
    went_on = f", {report.resumed:,} of them before the checkpoint" if report.resumed else ""
    lines = [
        f"{report.source}: {report.rows:,} rows{went_on} ({report.labelled:,} with a label), {report.ended}; "
        f"{rate(report.rows_per_second)}"
    ]
    if report.accuracy is not None and report.accuracy.value is not None:
        lines.append(f"predicted before learning: {_words(report.accuracy)}, {report.mistakes:,} mistakes")
        if report.window is not None and report.window.value is not None:
            lines.append(f"last {report.window.rows:,} rows: {_words(report.window)}")
    if report.mean_squared_error is not None:
        lines.append(f"predicted before learning: mean squared error {report.mean_squared_error:.6g}")
    if report.drift_warnings:
        lines.append(f"drift warnings: {len(report.drift_warnings)} ({report.drift})")
    if report.rejected:
        lines.append(f"rejected: {report.rejected:,} lines that cannot be read")
    if report.other_labels:
        lines.append(f"predicted only: {report.other_labels:,} rows whose label is not in --classes")
    lines += [f"note: {note}" for note in report.notes[:20]]
    if len(report.notes) > 20:
        lines.append(f"note: and {len(report.notes) - 20:,} more")
    if report.model is not None:
        lines.append(f"model: {report.model}")
    return lines


def _words(found: ShareReport) -> str:
    low, high = found.low or 0.0, found.high or 0.0
    return f"{percent(found.value or 0.0)} correct (95% interval {100 * low:.1f} to {100 * high:.1f})"

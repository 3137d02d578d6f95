"""What fit reports: the values for --json, and the lines for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.cli import output, table_options
from separatrix.cli.messages import in_flags, learner_in_flags, learner_text
from separatrix.printable import printable

if TYPE_CHECKING:
    from separatrix.features.table_model import TableModel

SHOWN = ("accuracy", "roc_auc", "r2", "rmse")


def account(model: TableModel, task: table_options.Task, notes: list[str], said: list[str]) -> dict[str, Any]:
    """What there is to say, as plain values."""
    columns = len(task.source.columns) or None
    return account_of(model, task.source.name, columns, [*task.guesses, *notes], said) | {"positive": task.positive}


def account_of(
    model: TableModel, source: str, columns: int | None, guesses: list[str], said: list[str]
) -> dict[str, Any]:
    """The same of a source whose rows may be elsewhere."""
    learner = model.learner
    report: dict[str, Any] = {
        "source": source,
        "rows": model.about["rows"],
        "columns": columns,
        "features": learner.n_features_in_,
        "target": model.target,
        "classes": model.classes,
        "positive": model.positive,
        "guesses": guesses,
        "leaks": [] if model.encoder is None else [leak.to_dict() for leak in model.encoder.leaks],
        "learner": learner_text(learner),
        "warnings": said,
    }
    report |= {key: getattr(learner, f"{key}_", None) for key in ("n_iter", "mistakes", "errors", "rank", "rss")}
    status = getattr(learner, "status_", None)
    report |= {"status": getattr(status, "name", None), "status_text": getattr(status, "value", None)}
    return report | {"cross_validation": None, "holdout": None}


def report_lines(report: dict[str, Any], task: table_options.Task, out: Path) -> list[str]:
    """The account for people."""
    from separatrix.data.tasks import counts_of

    columns = f" · {output.plural(report['columns'], 'column')}" if report["columns"] else ""
    seconds = report["seconds"]
    lines = [
        f"{report['source']}   {output.plural(report['rows'], 'row')}{columns} "
        f"→ {output.plural(report['features'], 'feature')} · "
        f"{printable(counts_of(task))}     read in {seconds['read']:.2f} s"
    ]
    if report["guesses"]:
        lines.append("guessed: " + " · ".join(report["guesses"]))
    lines += [f"suspected leak: {leak['column']!r}: {leak['evidence']}; --drop it?" for leak in report["leaks"]]
    lines += [f"warning: {text}" for text in report["warnings"]]
    lines += [f"{learner_in_flags(report['learner'])}   {in_flags(outcome(report))}   {seconds['fit']:.2f} s"]
    if report["cross_validation"] is not None:
        found = report["cross_validation"]
        lines.append(f"{found['folds']}-fold cross-validation: {_estimates(found['estimates'])}")
    if report["holdout"] is not None:
        found = report["holdout"]
        count = found["openings"]["number"]
        used = "used once" if count == 1 else f"used {count} times: this estimate may be optimistic"
        lines.append(f"{found['rows']:,} held-out test rows, {used}: {_estimates(found['metrics'])}")
    lines += [printable(out) + f"   {output.size(out.stat().st_size)}"]
    return lines


def _estimates(found: dict[str, Any]) -> str:
    shown = []
    for name in SHOWN:
        e = found.get(name)
        if e is not None and e["value"] is not None:
            interval = "" if e["low"] is None else f" [{e['low']:.4g}, {e['high']:.4g}]"
            shown.append(f"{name.replace('_', ' ')} {e['value']:.4g}{interval}")
    return ", ".join(shown)


def outcome(report: dict[str, Any]) -> str:
    """How the fit ended, in a few words."""
    if report["mistakes"] is not None:
        passes = f"{report['n_iter']:,} pass{'es' * (report['n_iter'] != 1)}"
        wrong = (
            f"; {report['errors']:,} of {report['rows']:,} rows misclassified" if report["errors"] is not None else ""
        )
        return f"{report['mistakes']:,} mistakes in {passes} ({report['status_text']}){wrong}"
    if report["rss"] is not None:
        return f"rank {report['rank']}, residual sum of squares {report['rss']:.6g}"
    return str(report["status_text"] or "fitted")

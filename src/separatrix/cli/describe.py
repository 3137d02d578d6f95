"""``separatrix describe``: what a model file or a source holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.messages import in_flags, learner_in_flags, learner_text
from separatrix.errors import DataError
from separatrix.printable import printable_values

if TYPE_CHECKING:
    from separatrix.cli.json_reports import CoefficientsReport, ColumnReport, ModelReport, SourceReport
    from separatrix.data.frame import Column
    from separatrix.features.table_model import TableModel

SHOWN = 20
FEW = 10  # classes
LONGEST = 40  # letters of a cell


@click.command()
@click.argument("thing", metavar="MODEL|SOURCE")
@table_options.file_options
@output.output_options
def command(thing: str, json_: bool, quiet: bool, **options: Any) -> None:
    """Describe a model file, or the columns of a source."""
    from separatrix.persistence.json_values import plain

    found = model_report(thing) if thing.lower().endswith(".sepx") else source_report(thing, options)
    if json_:
        output.say_json(found)
        return
    report = printable_values(plain(found))
    output.say(model_lines(report) if report["kind"] == "model" else source_lines(report))


def model_report(path: str) -> ModelReport:
    """What a model file holds."""
    from pathlib import Path

    from separatrix.cli.json_reports import ModelReport
    from separatrix.features.table_model import TableModel
    from separatrix.persistence import load

    if not Path(path).exists():
        raise DataError(f"{path} does not exist.")
    model = load(path)
    table = model if isinstance(model, TableModel) else TableModel(model)
    learner, encoder = table.learner, table.encoder
    return ModelReport(
        kind="model",
        file=path,
        learner=learner_text(learner),
        target=table.target,
        positive=table.positive,
        classes=table.classes,
        features=learner.n_features_in_,
        about=table.about,
        status=learner.status_.value if hasattr(learner, "status_") else None,
        certificate=getattr(learner, "certificate_digest_", None),
        columns=[] if encoder is None else [{"kind": c.KIND, **c.to_dict()} for c in encoder.columns],
        dropped={} if encoder is None else encoder.dropped,
        leaks=[] if encoder is None else encoder.leaks,
        coefficients=_coefficients(table) if hasattr(learner, "coef_") else [],
    )


def _coefficients(model: TableModel) -> list[CoefficientsReport]:
    """The largest coefficients of each score, with the intercept."""
    import numpy as np

    from separatrix.cli.json_reports import CoefficientsReport

    coef = np.atleast_2d(model.learner.coef_)
    intercept = np.atleast_1d(model.learner.intercept_)
    names = None if model.encoder is None else model.encoder.feature_names()
    classes = model.classes
    labels = [classes[1]] if classes is not None and len(coef) == 1 and len(classes) > 1 else classes
    out = []
    for k, row in enumerate(coef):
        top = np.argsort(-np.abs(row), kind="stable")[:SHOWN]
        out.append(
            CoefficientsReport(
                label=None if labels is None or k >= len(labels) else labels[k],
                intercept=float(intercept[k]),
                largest=[(names[j] if names else f"feature {j}", float(row[j])) for j in top.tolist() if row[j]],
                nonzero=int(np.count_nonzero(row)),
            )
        )
    return out


def model_lines(report: dict[str, Any]) -> list[str]:
    about = report["about"]
    learned = f", from {about['rows']:,} rows of {about['source']}" if "rows" in about else ""
    lines = [f"{report['file']}   {learner_in_flags(report['learner'])}{learned}"]
    if report["target"] is not None:
        listed = report["classes"] or []
        more = f", … ({len(listed)} classes)" if len(listed) > FEW else ""
        classes = f": {', '.join(map(str, listed[:FEW]))}{more}" if listed else ""
        positive = "" if report["positive"] is None else f" (positive: {report['positive']})"
        lines.append(f"target   {report['target']}{classes}{positive}")
    if report["status"]:
        lines.append(f"status   {in_flags(report['status'])}")
    if report["certificate"]:
        lines.append(f"proof    certificate with SHA-256 {report['certificate']}")
    kinds = [f"{c['name']} ({_kind(c)})" for c in report["columns"]]
    if kinds:
        more = f", … ({len(kinds)})" if len(kinds) > SHOWN else ""
        lines.append(f"columns  {', '.join(kinds[:SHOWN])}{more} → {output.plural(report['features'], 'feature')}")
    lines += [f"dropped  {name!r}: it {why}" for name, why in report["dropped"].items() if why != "as asked"]
    lines += [f"suspected leak   {leak['column']!r}: {leak['evidence']}" for leak in report["leaks"]]
    for vector in report["coefficients"]:
        name = "" if vector["label"] is None else f" for {vector['label']}"
        lines += ["", f"score{name}: {vector['nonzero']:,} non-zero coefficients; the largest"]
        width = max((len(feature) for feature, _ in vector["largest"]), default=9)
        lines += [f"  {feature:<{width}}  {value:>+14.6g}" for feature, value in vector["largest"]]
        lines += ["  …"] * (vector["nonzero"] > len(vector["largest"]))
        lines += [f"  {'intercept':<{width}}  {vector['intercept']:>+14.6g}"]
    return lines


def _kind(column: dict[str, Any]) -> str:
    """What the cells of a column are, in a word."""
    if column.get("source") == "date":
        return "date"
    return str({"vocabulary": "text"}.get(column["kind"], column["kind"]))


def source_report(thing: str, options: dict[str, Any]) -> SourceReport:
    """What a source holds."""
    import numpy as np

    from separatrix.cli.json_reports import SourceReport
    from separatrix.data.row_files import Matrix

    source = table_options.open_table(thing, options)
    table = source.read()
    if not isinstance(table, Matrix):
        columns = [column_report(column) for column in table.columns]
        return SourceReport(kind="source", name=source.name, rows=table.n, columns=columns, guesses=source.notes)
    labels, counts = ([], []) if table.y is None else (v.tolist() for v in np.unique(table.y, return_counts=True))
    return SourceReport(
        kind="source",
        name=source.name,
        rows=table.n,
        columns=[],
        features=table.X.shape[1],
        entries=int(getattr(table.X, "nnz", np.size(table.X))),
        sparse=not isinstance(table.X, np.ndarray),
        labels=None if table.y is None else len(labels),
        label_counts=None if table.y is None else list(zip(labels[:10], counts[:10], strict=True)),
    )


def column_report(column: Column) -> ColumnReport:
    """One column: its range, or how many different texts it has and one of them."""
    import numpy as np

    from separatrix.cli.json_reports import ColumnReport

    missing = column.missing
    present = column.values[~missing]
    about: dict[str, Any] = {"name": column.name, "kind": column.kind, "missing": int(missing.sum())}
    if column.kind == "text":
        about |= {"different": len(set(present.tolist())), "such_as": _cut(present[0]) if len(present) else None}
    elif len(present):
        about["different"] = len(np.unique(present))
        known = present[np.isfinite(present)]
        about["infinite"] = len(present) - len(known)
        if len(known):
            about |= {"least": float(known.min()), "mean": float(known.mean()), "greatest": float(known.max())}
    return ColumnReport(**about)


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _moment(seconds: float) -> str:
    """A date, with its time where it has one."""
    from datetime import datetime, timedelta

    try:
        found = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    except OverflowError:
        return f"{seconds:g} s since 1970"
    return found.isoformat(" ", "seconds").removesuffix(" 00:00:00")


def source_lines(report: dict[str, Any]) -> list[str]:
    if not report["columns"]:
        kind = f"sparse, {report['entries']:,} entries" if report["sparse"] else "dense"
        lines = [f"{report['name']}   {report['rows']:,} rows · {report['features']:,} features ({kind})"]
        if report["labels"] is not None:
            counts = ", ".join(f"{label:g}: {count:,}" for label, count in report["label_counts"])
            lines.append(f"labels   {counts}" + (" …" if report["labels"] > 10 else ""))
        return lines
    lines = [
        f"{report['name']}   {output.plural(report['rows'], 'row')} · {output.plural(len(report['columns']), 'column')}"
    ]
    if report["guesses"]:
        lines.append("guessed: " + " · ".join(report["guesses"]))
    width = max(len(column["name"]) for column in report["columns"])
    for column in report["columns"]:
        missing = f"   {column['infinite']:,} infinite" if column["infinite"] else ""
        missing += f"   {column['missing']:,} missing" if column["missing"] else ""
        if column["kind"] == "text":
            values = f"{column['different']:,} different, such as {column['such_as']!r}"
            values = values if column["different"] else "no values"
        elif column["least"] is not None and column["kind"] == "date":
            span = f"{_moment(column['least'])} … {_moment(column['greatest'])}"
            values = f"{span}, {column['different']:,} different"
        elif column["least"] is not None:
            span = f"{column['least']:g} … {column['greatest']:g}, mean {column['mean']:g}"
            values = f"{span}, {column['different']:,} different"
        else:
            values = "no values"
        lines.append(f"  {column['name']:<{width}}  {column['kind']:<8} {values}{missing}")
    return lines

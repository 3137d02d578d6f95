"""``separatrix describe``: what a model file or a source holds."""

from __future__ import annotations

from typing import Any

import click

from separatrix.cli import output, tables
from separatrix.errors import DataError
from separatrix.printable import printable_values

SHOWN = 20
ROWS = 100_000


@click.command()
@click.argument("thing", metavar="MODEL|SOURCE")
@click.option("--na", multiple=True, help="A word that means a missing value; may be repeated.")
@output.output_options
def command(thing: str, na: tuple[str, ...], json_: bool, quiet: bool) -> None:
    """Say what a model file learned, or what the columns of a source are."""
    report = model_report(thing) if thing.lower().endswith(".sepx") else source_report(thing, na)
    if json_:
        output.say_json(report)
        return
    report = printable_values(report)
    output.say(model_lines(report) if report["kind"] == "model" else source_lines(report))


def model_report(path: str) -> dict[str, Any]:
    from pathlib import Path

    from separatrix.features.table_model import TableModel
    from separatrix.persistence import load

    if not Path(path).exists():
        raise DataError(f"{path} does not exist.")
    model = load(path)
    table = model if isinstance(model, TableModel) else TableModel(model)
    learner = table.learner
    report: dict[str, Any] = {
        "kind": "model",
        "file": path,
        "learner": repr(learner),
        "target": table.target,
        "positive": table.positive,
        "classes": table.classes,
        "features": learner.n_features_in_,
        "about": table.about,
        "status": learner.status_.value if hasattr(learner, "status_") else None,
        "certificate": getattr(learner, "certificate_digest_", None),
        "columns": [],
        "dropped": {},
        "leaks": [],
    }
    if table.encoder is not None:
        report["columns"] = [{"kind": c.KIND, **c.to_dict()} for c in table.encoder.columns]
        report["dropped"] = table.encoder.dropped
        report["leaks"] = [leak.to_dict() for leak in table.encoder.leaks]
    report["coefficients"] = _coefficients(table) if hasattr(learner, "coef_") else []
    return report


def _coefficients(model: Any) -> list[dict[str, Any]]:
    """The largest coefficients of each vector, with the intercept."""
    import numpy as np

    coef = np.atleast_2d(model.learner.coef_)
    intercept = np.atleast_1d(model.learner.intercept_)
    wide = model.encoder is None or model.encoder.width > 100_000
    names = None if wide else model.encoder.feature_names()
    classes = model.classes
    speaks = [classes[1]] if classes is not None and len(coef) == 1 and len(classes) > 1 else classes
    out = []
    for k, row in enumerate(coef):
        top = np.argsort(-np.abs(row), kind="stable")[:SHOWN]
        out.append(
            {
                "for": None if speaks is None or k >= len(speaks) else speaks[k],
                "intercept": float(intercept[k]),
                "largest": [[names[j] if names else f"feature {j}", float(row[j])] for j in top.tolist() if row[j]],
                "nonzero": int(np.count_nonzero(row)),
            }
        )
    return out


def model_lines(report: dict[str, Any]) -> list[str]:
    about = report["about"]
    learned = f", from {about['rows']:,} rows of {about['source']}" if "rows" in about else ""
    lines = [f"{report['file']}   {report['learner']}{learned}"]
    if report["target"] is not None:
        classes = "" if report["classes"] is None else f": {', '.join(map(str, report['classes'][:10]))}"
        positive = "" if report["positive"] is None else f" (positive: {report['positive']})"
        lines.append(f"target   {report['target']}{classes}{positive}")
    if report["status"]:
        lines.append(f"ended    {report['status']}")
    if report["certificate"]:
        lines.append(f"proof    made with the certificate of SHA-256 {report['certificate']}")
    kinds = [f"{c['name']} ({c['kind']})" for c in report["columns"]]
    if kinds:
        more = f", … ({len(kinds)})" if len(kinds) > SHOWN else ""
        lines.append(f"columns  {', '.join(kinds[:SHOWN])}{more} → {report['features']:,} features")
    lines += [f"dropped  {name!r}: it {why}" for name, why in report["dropped"].items() if why != "as asked"]
    lines += [f"suspected leak   {leak['column']!r}: {leak['evidence']}" for leak in report["leaks"]]
    for vector in report["coefficients"]:
        name = "" if vector["for"] is None else f" for {vector['for']}"
        lines += ["", f"score{name}: {vector['nonzero']:,} coefficients that are not zero; the largest"]
        width = max((len(feature) for feature, _ in vector["largest"]), default=9)
        lines += [f"  {feature:<{width}}  {value:>+14.6g}" for feature, value in vector["largest"]]
        lines += [f"  {'intercept':<{width}}  {vector['intercept']:>+14.6g}"]
    return lines


def source_report(thing: str, na: tuple[str, ...]) -> dict[str, Any]:
    import numpy as np

    from separatrix.data.rows import Matrix

    source = tables.open_table(thing, na, None)
    table = source.read()
    report: dict[str, Any] = {"kind": "source", "name": source.name, "rows": table.n, "columns": []}
    if isinstance(table, Matrix):
        entries = int(getattr(table.X, "nnz", np.size(table.X)))
        report.update({"features": table.X.shape[1], "entries": entries, "sparse": not isinstance(table.X, np.ndarray)})
        if table.y is not None:
            labels, counts = np.unique(table.y, return_counts=True)
            report["labels"] = len(labels)
            report["label_counts"] = [[a, b] for a, b in zip(labels.tolist()[:10], counts.tolist()[:10], strict=True)]
        return report
    for column in table.columns:
        missing = column.missing
        present = column.values[~missing]
        entry: dict[str, Any] = {"name": column.name, "kind": column.kind, "missing": int(missing.sum())}
        if column.kind == "text":
            entry["different"] = len(set(present.tolist()))
            entry["such_as"] = present[0][:40] if len(present) else None
        elif len(present):
            entry.update(
                {"least": float(present.min()), "mean": float(present.mean()), "greatest": float(present.max())}
            )
            entry["different"] = len(np.unique(present))
        report["columns"].append(entry)
    return report


def source_lines(report: dict[str, Any]) -> list[str]:
    if not report["columns"]:
        kind = f"sparse, {report['entries']:,} entries" if report["sparse"] else "dense"
        lines = [f"{report['name']}   {report['rows']:,} rows · {report['features']:,} features ({kind})"]
        if "labels" in report:
            counts = ", ".join(f"{label:g}: {count:,}" for label, count in report["label_counts"])
            lines.append(f"labels   {counts}" + (" …" if report["labels"] > 10 else ""))
        return lines
    lines = [f"{report['name']}   {report['rows']:,} rows · {len(report['columns'])} columns"]
    width = max(len(column["name"]) for column in report["columns"])
    for column in report["columns"]:
        missing = f"   {column['missing']:,} missing" if column["missing"] else ""
        if column["kind"] == "text":
            values = f"{column['different']:,} different, such as {column['such_as']!r}"
        elif "least" in column:
            span = f"{column['least']:g} … {column['greatest']:g}, mean {column['mean']:g}"
            values = f"{span}, {column['different']:,} different"
        else:
            values = "no values"
        lines.append(f"  {column['name']:<{width}}  {column['kind']:<8} {values}{missing}")
    return lines

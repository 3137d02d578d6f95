"""``separatrix evaluate``: the predictions of a model file against the true targets."""

from __future__ import annotations

import warnings
from typing import Any

import click

from separatrix.cli import output, table_options
from separatrix.cli.completion import SOURCE
from separatrix.cli.messages import in_flags
from separatrix.cli.on_cluster import evaluate_on_cluster
from separatrix.errors import DataError
from separatrix.printable import printable

SAME_ROWS = (
    "the model was fitted on these very rows, so that these numbers are too good: fit --cv or --holdout estimates how "
    "well it predicts new rows."
)


@click.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("source", type=SOURCE)
@table_options.reading_options
@table_options.level_option
@table_options.cluster_options
@output.output_options
def command(model: str, source: str, **options: Any) -> None:
    """Compare the predictions of MODEL with the target column of SOURCE: every metric with its interval."""
    from separatrix.evaluation.evaluation import evaluate
    from separatrix.evaluation.evaluation_text import rows
    from separatrix.features.table_model import TableModel, fingerprint
    from separatrix.persistence import load

    loaded = load(model)
    loaded = loaded if isinstance(loaded, TableModel) else TableModel(loaded)
    if options["cluster"] is not None:
        evaluate_on_cluster(loaded, model, source, options)
        return
    X, y, name = rows_and_truth(loaded, source, options)
    if options["positive"] is not None:
        if loaded.classes is None:
            raise DataError(f"--positive is {options['positive']!r}, and the model predicts numbers: leave it out.")
        loaded.positive = next((c for c in loaded.classes if str(c) == options["positive"]), None)
        if loaded.positive is None:
            raise DataError(f"--positive is {options['positive']!r}, which is not a class of the model.")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        predicted, unseen = without_unseen(said_of(loaded, X), y)
        found = evaluate(y, level=options["level"], **predicted)
    said = [*unseen, *(in_flags(str(warning.message)) for warning in caught)]
    if loaded.about.get("fingerprint") == fingerprint(X, y):
        said.insert(0, SAME_ROWS)
    if options["json_"]:
        from separatrix.cli.json_reports import EvaluatedClasses, EvaluatedNumbers

        kind = EvaluatedNumbers if loaded.classes is None else EvaluatedClasses
        output.say_json(kind(**found.to_dict(), source=name, model=model, warnings=said))
        return
    head = printable(f"{model} on {name}   {rows(len(y))}")
    output.say([head] * (not options["quiet"]) + [str(found)])
    for text in said[: 0 if options["quiet"] else None]:
        output.complain(f"warning: {text}")


def said_of(model: Any, X: Any) -> dict[str, Any]:
    """The predictions as ``evaluate`` takes them: labels, scores and probabilities."""
    import numpy as np

    from separatrix.evaluation.predictions import leads, learns_leads

    said = model.predict(X)
    if model.classes is None:
        return {"y_pred": said["prediction"], "task": "regression"}
    out: dict[str, Any] = {"y_pred": said["prediction"], "task": "classification", "labels": model.classes}
    if len(model.classes) == 2:
        out["positive"] = model.classes[1] if model.positive is None else model.positive
        out["scores"] = said["score"]
        out["probabilities"] = said.get(f"probability_{out['positive']}")
        return out
    for name, prefix in (("scores", "score_"), ("probabilities", "probability_")):
        if f"{prefix}{model.classes[0]}" in said:
            out[name] = np.column_stack([said[f"{prefix}{label}"] for label in model.classes])
    if "scores" in out and learns_leads(model.learner):
        out["scores"] = leads(out["scores"])
    return out


def without_unseen(said: dict[str, Any], truth: Any) -> tuple[dict[str, Any], list[str]]:
    """Rows of classes that the model does not know: only labels are compared, and a note says so.

    Where no row has a class of the model, the labels are spelled in another way, or are of something else.
    """
    known = set(said.get("labels", ()))
    strange = [label for label in truth.tolist() if label not in known] if known else []
    if not strange:
        return said, []
    names = ", ".join(map(repr, sorted(set(strange), key=str)[:5]))
    if len(strange) == len(truth):
        own = ", ".join(map(repr, said["labels"][:5]))
        raise DataError(f"no row has a class of the model ({own}): the labels are {names}. Choose another --target.")
    told = f"{len(strange)} rows are of classes unseen in training ({names}): misclassified, and without scores."
    return {"y_pred": said["y_pred"], "task": "classification"}, [told]


def rows_and_truth(model: Any, source: str, options: dict[str, Any]) -> tuple[Any, Any, str]:
    """Encoded rows, their true labels in the type of the model's classes, and the name of the source."""
    from separatrix.data.row_files import Matrix
    from separatrix.data.tasks import label_values, need_whole

    opened = table_options.open_table(source, options, model)
    table = opened.read()
    if isinstance(table, Matrix):
        if table.y is None:
            raise DataError(f"{opened.name} has rows without labels: there is nothing to compare with.")
        truth = label_values(table.y)
    else:
        target = options["target"] or model.target
        if target is None:
            raise DataError("the model file does not name its target column: pass --target.")
        if model.encoder is not None and target in model.encoder.inputs:
            raise DataError(f"--target is {target!r}, which the model learned from: its target is {model.target!r}.")
        column = table[target]
        if options["skip_missing_target"] and not column.missing.all():
            table = table.take(~column.missing)
            column = table[target]
        need_whole(column, opened.name)
        truth = column.values if model.classes is None else column.labels()
        table = table.without([target])
    if model.classes is not None:
        truth = model.as_classes(truth, opened.name)
    X, _ = model.rows(table)
    return X, truth, opened.name

"""Predictions and evaluations of a source in partitions: each partition where it is, nothing but counts comes back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.arrays import Floats
from separatrix.atomic_write import write_whole
from separatrix.cluster.cluster_fit import AnySource, rounds_on
from separatrix.cluster.encoded_source import need_target
from separatrix.cluster.partition_reading import SourceSchema, loaded, matrix_rows
from separatrix.cluster.partitions import PARTITION_BYTES, partitions_of
from separatrix.cluster.rounds import HeldPart, Rounds
from separatrix.data.duckdb_reader import Written
from separatrix.data.frame import csv_lines
from separatrix.data.reading_plan import Reading
from separatrix.data.row_files import Matrix
from separatrix.errors import DataError
from separatrix.features.column_encoders import Noted
from separatrix.features.table_model import TableModel


class WrittenPart(NamedTuple):
    """A file of predictions: where it is, its rows, and what happened to cells on the way."""

    path: str
    rows: int
    noted: dict[str, Noted]


def predicted(part: HeldPart, model: TableModel, strict: bool = False) -> tuple[Any, dict[str, Noted]]:
    """The columns that a prediction adds, of one partition, and what happened to its cells."""
    table = part.table if part.X is None else Matrix(part.X, part.y, part.partition.name)
    X, noted = model.rows(table, strict)
    return model.predict(X), noted


def write_predictions(part: HeldPart, model: TableModel, folder: str, strict: bool) -> WrittenPart:
    """Predictions of a partition as a CSV file of their own."""
    path = Path(folder) / f"part-{part.partition.index:05d}.csv"
    columns, noted = ({}, {}) if part.table is None else predicted(part, model, strict)
    names = ",".join(columns) if columns else "prediction"
    texts: Written = [[str(v) for v in values.tolist()] for values in columns.values()]
    lines = csv_lines(texts) if texts else []
    write_whole(path, "".join(f"{line}\n" for line in [names, *(line or "" for line in lines)]).encode())
    return WrittenPart(str(path), len(lines), noted)


def judge(part: HeldPart, model: TableModel, target: str | None) -> Any:
    """Counts of a partition: the confusion of classes with the log-loss, or the sums of a regression."""
    if part.X is None:
        need_target(part, str(target))
    columns, _ = predicted(part, model)
    if model.classes is None:
        truth = part.table[target].values if part.X is None else part.y
        error = columns["prediction"] - truth
        return np.array([len(error), np.square(error).sum(), np.abs(error).sum(), truth.sum(), np.square(truth).sum()])
    truth = part.table[target].labels() if part.X is None else part.y
    place = {str(label): k for k, label in enumerate(model.classes)}
    codes = np.array([place.get(str(v), -1) for v in truth.tolist()])
    if (codes < 0).any():
        value = truth[int(np.argmin(codes))]
        raise DataError(f"{part.partition.name} has the class {value!s}, which did not occur in training.")
    said = np.array([place[str(v)] for v in columns["prediction"].tolist()])
    K = len(model.classes)
    confusion = np.bincount(codes * K + said, minlength=K * K).astype(np.float64)
    chances = [columns.get(f"probability_{label}") for label in model.classes]
    loss = np.nan
    if all(own is not None for own in chances):
        own = np.column_stack(chances)[np.arange(len(codes)), codes]
        loss = float(-np.log(np.maximum(own, np.finfo(float).tiny)).sum())
    return np.append(confusion, loss)


@dataclass(frozen=True)
class SourceEvaluation:
    """How a model does on a source in partitions.

    Attributes
    ----------
    rows : int
    classes : list or None
    confusion : array of shape (K, K) or None
        True classes by rows, predicted ones by columns.
    accuracy : float or None
        Share of correct rows, with its interval (Wilson 1927) in ``interval``, at ``level``.
    log_loss : float or None
        Mean, where the model has probabilities.
    rmse, mae, r2 : float or None
        Of a regression.
    """

    rows: int
    classes: list[Any] | None = None
    confusion: Floats | None = None
    accuracy: float | None = None
    interval: tuple[float, float] | None = None
    log_loss: float | None = None
    rmse: float | None = None
    mae: float | None = None
    r2: float | None = None
    level: float = 0.95

    def __str__(self) -> str:
        if self.accuracy is not None and self.interval is not None:
            low, high = self.interval
            return (
                f"{self.accuracy:.2%} correct ({self.level:.0%} interval {low:.2%} to {high:.2%}), {self.rows:,} rows"
            )
        return f"RMSE {self.rmse:.6g}, R² {self.r2:.4f}, {self.rows:,} rows"


@contextmanager
def _loaded(
    model: TableModel, source: AnySource, partition_bytes: int, reading: Reading | None = None, **where: Any
) -> Iterator[tuple[Rounds, SourceSchema]]:
    """The partitions of a source, read as the training table was."""
    reading = reading or model.reading
    with rounds_on(partitions_of(source, reading, partition_bytes), **where) as rounds:
        schema = loaded(rounds, reading, str(source))
        if schema.names is None:
            rounds.prepare("rows", matrix_rows, max(schema.features, model.learner.n_features_in_), schema.zero_based)
        yield rounds, schema


def predict(
    model: TableModel,
    source: AnySource,
    out: str | Path,
    *,
    address: str | None = None,
    workers: int | None = None,
    partition_bytes: int = PARTITION_BYTES,
    progress: Any = None,
) -> list[str]:
    """Predict the rows of files in partitions, into one CSV file a partition, in the order of the source.

    Parameters
    ----------
    model : TableModel
        As :func:`fit` or :func:`separatrix.load` returns it.
    source : str, path or list of paths
        As in :func:`fit`.
    out : path
        A folder that every worker sees; it is made if it is not there.
    address, workers, partition_bytes, progress
        As in :func:`fit`.

    Returns
    -------
    list of str
        The files.
    """
    return [
        part.path
        for part in predict_parts(
            model, source, out, address=address, workers=workers, partition_bytes=partition_bytes, progress=progress
        )
    ]


def predict_parts(
    model: TableModel,
    source: AnySource,
    out: str | Path,
    *,
    reading: Reading | None = None,
    strict: bool = False,
    partition_bytes: int = PARTITION_BYTES,
    **where: Any,
) -> list[WrittenPart]:
    """As :func:`predict`, with what happened in each partition; ``strict`` refuses levels unseen in training."""
    folder = Path(out).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    with _loaded(model, source, partition_bytes, reading, **where) as (rounds, _):
        parts: list[WrittenPart] = rounds.map("predictions", write_predictions, model, str(folder), strict)
        return parts


def evaluate(
    model: TableModel,
    source: AnySource,
    *,
    target: str | None = None,
    address: str | None = None,
    workers: int | None = None,
    reading: Reading | None = None,
    level: float = 0.95,
    partition_bytes: int = PARTITION_BYTES,
    progress: Any = None,
) -> SourceEvaluation:
    """Judge a model on the rows of files in partitions; sums come back, and no rows.

    Parameters
    ----------
    model : TableModel
        As :func:`fit` or :func:`separatrix.load` returns it.
    source : str, path or list of paths
        As in :func:`fit`.
    target : str or None
        The column to compare with; None: that of the fit.
    reading : Reading or None
        How the files are written; None: as the training table was.
    level : float
        The level of the interval.
    address, workers, partition_bytes, progress
        As in :func:`fit`.

    Returns
    -------
    SourceEvaluation
    """
    where = {"address": address, "workers": workers, "progress": progress}
    with _loaded(model, source, partition_bytes, reading, **where) as (rounds, schema):
        wanted = target or model.target
        if schema.names is not None and wanted not in schema.names:
            raise DataError(f"{source} has no column {wanted!r} to compare with: name the target.")
        sums = rounds.reduce("evaluation", judge, model, wanted, join=add)
    if model.classes is None:
        n, squares, sizes, total, total2 = sums.tolist()
        spread = total2 - total * total / n
        return SourceEvaluation(
            int(n),
            rmse=(squares / n) ** 0.5,
            mae=sizes / n,
            r2=1 - squares / spread if spread > 0 else None,
            level=level,
        )
    from separatrix.statistics.distributions import wilson

    K, n = len(model.classes), int(sums[:-1].sum())
    confusion = sums[:-1].reshape(K, K)
    right = int(np.trace(confusion))
    loss = None if np.isnan(sums[-1]) else float(sums[-1]) / n
    low, high = wilson(right, n, level)
    return SourceEvaluation(n, model.classes, confusion, right / n, (float(low), float(high)), loss, level=level)

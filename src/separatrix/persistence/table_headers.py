"""The headers of models of tables: target, encoder and columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.data.date_writing import check_format
from separatrix.data.number_writing import Writing
from separatrix.errors import ModelFileError, ParameterError
from separatrix.features.column_encoders import CategoryColumn, NumberColumn, TextColumn, VocabularyColumn
from separatrix.features.dates import DateColumn
from separatrix.features.encoder import WORDY_COLUMNS, AnyColumn, Encoder
from separatrix.features.formula_columns import need_text
from separatrix.features.leaks import Leak
from separatrix.features.table_map import TableMap
from separatrix.features.table_model import TableModel
from separatrix.persistence.json_values import pack, unpack

TABLE_KEYS = {"target", "positive", "about", "encoder"}


def table_header(model: TableModel, tensors: dict[str, Any]) -> dict[str, Any]:
    return {
        "target": model.target,
        "positive": pack(model.positive, "positive", tensors),
        "about": pack(model.about, "about", tensors),
        "encoder": None if model.encoder is None else encoder_header(model.encoder, tensors),
    }


def encoder_header(encoder: Encoder, tensors: dict[str, Any]) -> dict[str, Any]:
    """An encoder as JSON; arrays go to ``tensors``."""
    columns = []
    for j, column in enumerate(encoder.columns):
        columns.append({"kind": column.KIND, **column.to_dict()})
        if isinstance(column, WORDY_COLUMNS):
            tensors[f"idf.{j}"] = np.ascontiguousarray(column.idf)
    return {
        "columns": columns,
        "dropped": encoder.dropped,
        "notes": encoder.notes,
        "leaks": [leak.to_dict() for leak in encoder.leaks],
        "map": None if encoder.map is None else encoder.map.to_dict(),
    }


def table_model(node: Any, learner: Any, tensors: dict[str, Any], used: set[str]) -> TableModel:
    if not isinstance(node, dict) or set(node) != TABLE_KEYS:
        raise ModelFileError("what it says about its table has other keys than a model file")
    about = unpack(node["about"], tensors, used)
    if not isinstance(about, dict) or not (node["target"] is None or isinstance(node["target"], str)):
        raise ModelFileError("what it says about its table is of the wrong kind")
    encoder = None if node["encoder"] is None else encoder_from(node["encoder"], tensors, used)
    if encoder is not None and encoder.width != learner.n_features_in_:
        raise ModelFileError(
            f"its encoder makes {encoder.width} features and its learner takes {learner.n_features_in_}"
        )
    return TableModel(learner, encoder, node["target"], unpack(node["positive"], tensors, used), about)


def encoder_from(node: Any, tensors: dict[str, Any], used: set[str]) -> Encoder:
    """The encoder of such a header."""
    try:
        if set(node) | {"map"} != {"columns", "dropped", "notes", "leaks", "map"}:
            raise TypeError("other keys")
        columns = [_column(entry, j, tensors, used) for j, entry in enumerate(node["columns"])]
        dropped = {need_text(k): need_text(v) for k, v in node["dropped"].items()}
        leaks = [Leak(need_text(leak["column"]), need_text(leak["evidence"])) for leak in node["leaks"]]
        applied = None if node.get("map") is None else TableMap.from_dict(node["map"])
        encoder = Encoder(columns, dropped, [need_text(note) for note in node["notes"]], leaks, applied)
    except (TypeError, KeyError, ValueError, AttributeError, ParameterError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its encoder is damaged ({str(error)[:80]})") from error
    if len(set(encoder.inputs)) != len(encoder.inputs):
        raise ModelFileError("its encoder has a column twice")
    if encoder.map is not None and encoder.map.inputs != encoder.encoded_width:
        raise ModelFileError("its feature map takes another number of columns than its encoder makes")
    return encoder


def _column(entry: dict[str, Any], j: int, tensors: dict[str, Any], used: set[str]) -> AnyColumn:
    kind, fields = entry["kind"], {key: value for key, value in entry.items() if key != "kind"}
    if kind == "number":
        return _number_column(fields)
    if kind == "date":
        months, weekdays, clock = (fields.pop(key) for key in ("months", "weekdays", "clock"))
        if not _ascending(months, 12) or not _ascending(weekdays, 7) or not isinstance(clock, bool):
            raise TypeError("a column of dates")
        return DateColumn(_number_column(fields), tuple(months), tuple(weekdays), clock)
    if kind == "category":
        fields["levels"] = tuple(need_text(level) for level in fields["levels"])
        fields["rare"] = tuple(need_text(level) for level in fields["rare"])
        for key in ("name", "source", "baseline"):
            need_text(fields[key])
        return CategoryColumn(**fields)
    if kind not in ("text", "vocabulary"):
        raise TypeError("a column of an unknown kind")
    used.add(f"idf.{j}")
    idf = tensors[f"idf.{j}"]
    if idf.ndim != 1 or idf.dtype != np.float64 or not np.isfinite(idf).all():
        raise TypeError("a column of text")
    if kind == "text":
        if set(fields) != {"name"}:
            raise TypeError("a column of text")
        return TextColumn(need_text(fields["name"]), idf)
    terms = tuple(need_text(term) for term in fields["terms"])
    if set(fields) != {"name", "terms"} or len(set(terms)) != len(terms) or len(terms) != len(idf):
        raise TypeError("a column of text")
    return VocabularyColumn(need_text(fields["name"]), terms, idf)


def _number_column(fields: dict[str, Any]) -> NumberColumn:
    if "writing" in fields:
        fields["writing"] = Writing.from_dict(fields["writing"])
    column = NumberColumn(**fields)
    if column.format is not None:
        check_format(column.format)
    numbers = (column.fill, column.shift, column.scale)
    if not all(isinstance(v, (int, float)) and np.isfinite(v) for v in numbers) or column.scale == 0:
        raise TypeError("a column of numbers")
    if not isinstance(column.indicator, bool) or not (isinstance(column.name, str) and isinstance(column.source, str)):
        raise TypeError("a column of numbers")
    return column


def _ascending(parts: Any, below: int) -> bool:
    whole = isinstance(parts, list) and all(type(v) is int and 0 <= v < below for v in parts)
    return whole and parts == sorted(set(parts))

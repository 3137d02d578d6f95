"""The model of a stream as ``separatrix predict`` takes it: a learner with the encoder of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.features.columns import MISSING, CategoryColumn, NumberColumn
from separatrix.features.encode import AnyColumn, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.perceptron.arrivals import Arrivals
from separatrix.stream.block_learning import BlockArrivals
from separatrix.stream.growing_encoder import GrowingEncoder


def table_model(
    arrivals: Arrivals | BlockArrivals, encoder: GrowingEncoder | None, first: int, target: str | None, about: Any
) -> TableModel:
    """The learner on its features in the order of an encoder; ``first`` is the first feature number of svmlight."""
    if encoder is None:
        if isinstance(arrivals, Arrivals):
            return TableModel(arrivals.model(range(first, arrivals.features)), None, None, None, about)
        return TableModel(arrivals.model(), None, None, None, about)
    columns, order = _columns(encoder)
    learner = arrivals.model(order) if isinstance(arrivals, Arrivals) else arrivals.model()
    if hasattr(learner, "classes_") and learner.classes_.dtype.kind == "f" and _whole(learner.classes_):
        learner.classes_ = learner.classes_.astype(np.int64)
    return TableModel(learner, Encoder(columns), target, None, about)


def _columns(encoder: GrowingEncoder) -> tuple[list[AnyColumn], list[int]]:
    """The columns in the order of their first feature, and the features in the order of the columns."""
    shift, scale = encoder.shift_and_scale()
    names = list(dict.fromkeys(column for column, _ in encoder.features))
    numbers = {name: j for j, name in enumerate(encoder.columns)}
    levels: dict[str, list[str]] = {}
    for column, level in encoder.features:
        if level is not None:
            levels.setdefault(column, []).append(level)
    columns: list[AnyColumn] = []
    order: list[int] = []
    for name in names:
        if name in numbers:
            j = numbers[name]
            fill = float(encoder.moments.mean[j])
            columns.append(NumberColumn(name, "number", fill, False, float(shift[j]), float(scale[j])))
            order.append(encoder.place[j])
        else:
            own = sorted(levels[name])
            columns.append(CategoryColumn(name, "text", MISSING, tuple(own), ()))
            order += [encoder.levels[name, level] for level in own]
    return columns, order


def _whole(classes: Any) -> bool:
    return bool((classes == np.floor(classes)).all())

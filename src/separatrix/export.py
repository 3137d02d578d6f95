"""A fitted linear model as something else: a Python function, a SQL expression, an ONNX graph.

All three are made of one description: for each score, a bias and a weight for every feature, where a feature
is a number (imputed, shifted, scaled), a missing-value flag, or a level of a category. Free text has no
such form and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.errors import ParameterError
from separatrix.features.columns import MISSING, RARE, CategoryColumn, NumberColumn
from separatrix.features.table_model import TableModel


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a linear model: weights (K, d) and biases (K,); its columns; how classes are chosen."""

    coef: Any
    intercept: Any
    columns: tuple[NumberColumn | CategoryColumn, ...]
    classes: list[Any] | None
    boundary: str

    def blocks(self) -> list[tuple[NumberColumn | CategoryColumn, Any]]:
        """Each column with its part of the weights."""
        out, at = [], 0
        for column in self.columns:
            width = len(column.names())
            out.append((column, self.coef[:, at : at + width]))
            at += width
        return out


def scores_of(model: Any) -> Scores:
    """What an export is made of; a model that is not linear, or reads free text, is refused."""
    table = model if isinstance(model, TableModel) else TableModel(model)
    learner = table.learner
    if not hasattr(learner, "coef_"):
        raise ParameterError(f"{type(learner).__name__} has no coefficients to export: it is no linear model.")
    coef = np.atleast_2d(np.asarray(learner.coef_, dtype=np.float64))
    intercept = np.atleast_1d(np.asarray(learner.intercept_, dtype=np.float64))
    classes = table.classes
    pairs = classes is not None and len(classes) > 2 and hasattr(learner, "pairs_")
    if pairs or (classes is not None and len(coef) != (1 if len(classes) <= 2 else len(classes))):
        raise ParameterError(f"{type(learner).__name__} compares classes in pairs: export needs one score a class.")
    if getattr(learner, "boundary", "positive") == "undefined":
        raise ParameterError("boundary='undefined' leaves rows without a class, which an export cannot say.")
    columns: list[NumberColumn | CategoryColumn] = []
    if table.encoder is None:
        names = getattr(learner, "feature_names_in_", None)
        named = [f"x{j}" for j in range(coef.shape[1])] if names is None else names.tolist()
        columns += [NumberColumn(name, "number", 0.0, False) for name in named]
    else:
        for column in table.encoder.columns:
            if not isinstance(column, (NumberColumn, CategoryColumn)):
                raise ParameterError(f"{column.name!r} is free text, which exports cannot encode: --drop it.")
            if column.source == "date":
                raise ParameterError(f"{column.name!r} is a date, which exports cannot encode: --drop it.")
            columns.append(column)
    return Scores(coef, intercept, tuple(columns), classes, getattr(learner, "boundary", "positive"))


def to_python(model: Any, name: str = "predict") -> str:
    """Source of a function of one row (a dict of cells; None is missing) that needs nothing but Python."""
    s = scores_of(model)
    lines = [f"def {name}(row):", '    """The prediction of a linear model and its scores, from a dict of cells."""']
    for k, bias in enumerate(s.intercept.tolist()):
        lines.append(f"    s{k} = {bias!r}")
    for column, weights in s.blocks():
        lines.append(f"    v = row.get({column.name!r})")
        lines += (
            _python_number(column, weights) if isinstance(column, NumberColumn) else _python_levels(column, weights)
        )
    lines.append("    scores = [" + ", ".join(f"s{k}" for k in range(len(s.intercept))) + "]")
    if s.classes is None:
        lines.append("    return s0, scores")
    elif len(s.intercept) == 1:
        sign = ">" if s.boundary == "negative" else ">="
        lines.append(f"    return ({s.classes[-1]!r} if s0 {sign} 0 else {s.classes[0]!r}), scores")
    else:
        lines.append(f"    return {s.classes!r}[scores.index(max(scores))], scores")
    return "\n".join(lines) + "\n"


def _python_number(column: NumberColumn, weights: Any) -> list[str]:
    lines = ["    gone = v is None or v != v", f"    x = {column.fill!r} if gone else float(v)"]
    if column.shift or column.scale != 1.0:
        lines.append(f"    x = (x - {column.shift!r}) / {column.scale!r}")
    lines += [f"    s{k} += {w!r} * x" for k, w in enumerate(weights[:, 0].tolist())]
    if column.indicator:
        lines.append("    if gone:")
        lines += [f"        s{k} += {w!r}" for k, w in enumerate(weights[:, 1].tolist())]
    return lines


def levels_of(column: CategoryColumn) -> tuple[dict[str, int], int | None, int | None]:
    """The feature of each named level; those of a missing cell and of any other (None: the baseline)."""
    place = {level: j for j, level in enumerate(column.levels) if level not in (MISSING, RARE)}
    other = column.levels.index(RARE) if RARE in column.levels else None
    missing = column.levels.index(MISSING) if MISSING in column.levels else None
    if MISSING not in (column.baseline, *column.levels):
        missing = other
    return place, missing, other if column.baseline != RARE else None


def _python_levels(column: CategoryColumn, weights: Any) -> list[str]:
    place, missing, other = levels_of(column)
    named = dict(place)
    if column.baseline not in (MISSING, RARE):
        named[column.baseline] = -1
    show = "str(v)" if column.source == "text" else "'%.17g' % v"
    if column.source == "boolean":
        show = "('true' if v else 'false')"
    lines = [
        f"    j = {-1 if missing is None else missing} if v is None or v != v else "
        f"{named!r}.get({show}, {-1 if other is None else other})",
        "    if j >= 0:",
    ]
    return lines + [f"        s{k} += {row!r}[j]" for k, row in enumerate(weights.tolist())]


def to_sql(model: Any) -> str:
    """Expressions for a SELECT: one for each score, and the prediction; sums run in the order of the features."""
    s = scores_of(model)
    scores = []
    for k, bias in enumerate(s.intercept.tolist()):
        parts = [_literal(bias)]
        for column, weights in s.blocks():
            parts += _sql_terms(column, weights[k].tolist())
        scores.append("(" + "\n + ".join(parts) + ")")
    if s.classes is None:
        return f"{scores[0]} AS prediction"
    if len(scores) == 1:
        sign = ">" if s.boundary == "negative" else ">="
        chosen = f"CASE WHEN {scores[0]} {sign} 0 THEN {_value(s.classes[-1])} ELSE {_value(s.classes[0])} END"
        return f"{scores[0]} AS score,\n{chosen} AS prediction"
    best = "greatest(" + ", ".join(scores) + ")"
    whens = " ".join(f"WHEN {score} = {best} THEN {_value(c)}" for score, c in zip(scores, s.classes, strict=True))
    named = [f"{score} AS {_name(f'score_{c}')}" for score, c in zip(scores, s.classes, strict=True)]
    return ",\n".join([*named, f"CASE {whens} END AS prediction"])


def _sql_terms(column: NumberColumn | CategoryColumn, weights: list[float]) -> list[str]:
    name = _name(column.name)
    if isinstance(column, CategoryColumn):
        place, missing, other = levels_of(column)
        if column.source == "boolean":
            name = f"(CASE WHEN {name} THEN 'true' WHEN NOT {name} THEN 'false' END)"
        whens = [f"WHEN {name} IS NULL THEN {_literal(0.0 if missing is None else weights[missing])}"]
        whens += [f"WHEN {name} = {_value(level)} THEN {_literal(weights[j])}" for level, j in place.items()]
        if column.baseline not in (MISSING, RARE):
            whens.append(f"WHEN {name} = {_value(column.baseline)} THEN {_literal(0.0)}")
        return [f"CASE {' '.join(whens)} ELSE {_literal(0.0 if other is None else weights[other])} END"]
    if column.source == "boolean":
        name = f"(CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END)"
    cell = f"coalesce(CAST({name} AS DOUBLE PRECISION), {_literal(column.fill)})"
    if column.shift or column.scale != 1.0:
        cell = f"(({cell} - {_literal(column.shift)}) / {_literal(column.scale)})"
    terms = [f"{_literal(weights[0])} * {cell}"]
    if column.indicator:
        terms.append(f"CASE WHEN {name} IS NULL THEN {_literal(weights[1])} ELSE {_literal(0.0)} END")
    return terms


def _literal(x: float) -> str:
    """A float64 in SQL: with an exponent it is never taken for a decimal of few digits."""
    text = repr(x)
    return text if "e" in text else f"{text}e0"


def _value(label: Any) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    return str(label) if isinstance(label, (int, float)) else "'" + str(label).replace("'", "''") + "'"


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def to_onnx(model: Any) -> bytes:
    """An ONNX graph in float64: one input a column (numbers as double, categories as string, both (n, 1))."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as missing:
        raise ParameterError("the export to ONNX needs the package onnx: pip install onnx.") from missing
    s = scores_of(model)
    graph = _Graph(helper, numpy_helper)
    inputs, total = [], graph.constant(np.asarray(s.intercept).reshape(1, -1))
    for j, (column, weights) in enumerate(s.blocks()):
        text = isinstance(column, CategoryColumn)
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        inputs.append(helper.make_tensor_value_info(column.name, kind, ["n", 1]))
        encoded = graph.levels(column, j) if isinstance(column, CategoryColumn) else graph.number(column)
        matrix = weights.T.copy()
        if isinstance(column, NumberColumn):
            matrix[0] /= column.scale  # onnxruntime would fuse a division with the product, in float32
        product = graph.node("MatMul", [encoded, graph.constant(np.ascontiguousarray(matrix))])
        total = graph.node("Add", [total, product])
    graph.node("Identity", [total], "scores")
    outputs = [helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["n", len(s.intercept)])]
    if s.classes is not None:
        graph.choose(total, s)
        strings = isinstance(s.classes[0], str)
        outputs.append(
            helper.make_tensor_value_info("label", TensorProto.STRING if strings else TensorProto.INT64, ["n"])
        )
    made = helper.make_graph(graph.nodes, "separatrix", inputs, outputs, graph.initializers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return bytes(helper.make_model(made, opset_imports=opsets, ir_version=9).SerializeToString())


class _Graph:
    """Nodes and constants with names of their own."""

    def __init__(self, helper: Any, numpy_helper: Any) -> None:
        self.helper, self.numpy_helper = helper, numpy_helper
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def constant(self, value: Any) -> str:
        name = f"constant_{len(self.initializers)}"
        self.initializers.append(self.numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        name = output or f"value_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, inputs, [name], **attributes))
        return name

    def number(self, column: NumberColumn) -> str:
        gone = self.node("IsNaN", [column.name])
        x = self.node("Where", [gone, self.constant(np.float64(column.fill)), column.name])
        if column.shift:
            x = self.node("Sub", [x, self.constant(np.float64(column.shift))])
        if not column.indicator:
            return x
        flag = self.node("Cast", [gone], to=11)
        return self.node("Concat", [x, flag], axis=1)

    def levels(self, column: CategoryColumn, j: int) -> str:
        """A level's number by a table, then one column a level; the empty string is a missing cell."""
        place, missing, other = levels_of(column)
        width = len(column.levels)
        numbers = {**place, "": width if missing is None else missing}
        if column.baseline not in (MISSING, RARE):
            numbers[column.baseline] = width
        code = self.node(
            "LabelEncoder",
            [column.name],
            keys_strings=list(numbers),
            values_int64s=list(numbers.values()),
            default_int64=width if other is None else other,
            domain="ai.onnx.ml",
        )
        table = np.vstack([np.eye(width), np.zeros((1, width))])
        flat = self.node("Reshape", [code, self.constant(np.array([-1], dtype=np.int64))])
        return self.node("Gather", [self.constant(table), flat], axis=0)

    def choose(self, total: str, s: Scores) -> None:
        assert s.classes is not None
        if len(s.intercept) == 1:
            sign = "Greater" if s.boundary == "negative" else "GreaterOrEqual"
            positive = self.node(sign, [total, self.constant(np.float64(0.0))])
            flat = self.node("Reshape", [positive, self.constant(np.array([-1], dtype=np.int64))])
            code = self.node("Cast", [flat], to=7)
        else:
            code = self.node("ArgMax", [total], axis=1, keepdims=0)
        if isinstance(s.classes[0], str):
            self.node(
                "LabelEncoder",
                [code],
                "label",
                keys_int64s=list(range(len(s.classes))),
                values_strings=s.classes,
                domain="ai.onnx.ml",
            )
        else:
            self.node("Gather", [self.constant(np.array(s.classes, dtype=np.int64)), code], "label")

"""A linear model as an ONNX graph in float64.

Inputs are named as the columns are. Every other name in the graph begins with a prefix that no column begins
with, so that nothing can collide; the outputs are ``scores`` and ``label``, with underscores after them where a
column has that name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.data.frame import fresh_name
from separatrix.errors import ParameterError
from separatrix.export.score_terms import BASELINE, Scores, levels_of, need_plain_text, scores_of
from separatrix.extras import need
from separatrix.features.column_encoders import MISSING, CategoryColumn, NumberColumn

LABEL_KINDS = {"str": "STRING", "bool": "BOOL", "int": "INT64", "float": "DOUBLE"}


def to_onnx(model: Any) -> bytes:
    """An ONNX graph with one input a column: numbers as double, categories as string, both of shape (n, 1)."""
    need("onnx")
    from onnx import TensorProto, helper

    s = scores_of(model)
    names = [column.name for column in s.columns]
    _need_names(s, names)
    graph = GraphBuilder(names)
    inputs, total = [], graph.constant(np.asarray(s.intercept).reshape(1, -1))
    for column, weights in s.blocks():
        text = isinstance(column, CategoryColumn)
        kind = TensorProto.STRING if text else TensorProto.DOUBLE
        inputs.append(helper.make_tensor_value_info(column.name, kind, [graph.rows, 1]))
        encoded = graph.levels(column) if isinstance(column, CategoryColumn) else graph.number(column)
        matrix = weights.T.copy()
        if isinstance(column, NumberColumn):
            matrix[0] /= column.scale  # onnxruntime would fuse a division with the product, in float32
        product = graph.node("MatMul", [encoded, graph.constant(np.ascontiguousarray(matrix))])
        total = graph.node("Add", [total, product])
    scores = graph.node("Identity", [total], fresh_name("scores", names))
    outputs = [helper.make_tensor_value_info(scores, TensorProto.DOUBLE, [graph.rows, len(s.intercept)])]
    if s.classes is not None:
        label = graph.choose(total, s, fresh_name("label", names))
        kind = getattr(TensorProto, LABEL_KINDS[type(s.classes[0]).__name__])
        outputs.append(helper.make_tensor_value_info(label, kind, [graph.rows]))
    made = helper.make_graph(graph.nodes, "separatrix", inputs, outputs, graph.initializers)
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ai.onnx.ml", 3)]
    return bytes(helper.make_model(made, opset_imports=opsets, ir_version=9).SerializeToString())


def _need_names(s: Scores, names: list[str]) -> None:
    for texts in (names, s.classes or [], *(levels_of(c)[0] for c in s.columns if isinstance(c, CategoryColumn))):
        need_plain_text(list(texts), "ONNX")
    if "" in names:
        raise ParameterError("a column has an empty name, which ONNX cannot refer to: rename it.")


class GraphBuilder:
    """Nodes and constants of a graph, under names that no input has."""

    def __init__(self, inputs: list[str]) -> None:
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.prefix = "separatrix/"
        while any(name.startswith(self.prefix) for name in inputs):
            self.prefix += "/"
        self.rows = f"{self.prefix}rows"

    def constant(self, value: Any) -> str:
        from onnx import numpy_helper

        name = f"{self.prefix}constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{self.prefix}value_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def flat(self, value: str) -> str:
        """A column as a vector."""
        return self.node("Reshape", [value, self.constant(np.array([-1], dtype=np.int64))])

    def number(self, column: NumberColumn) -> str:
        """A column of numbers, imputed and shifted, with its missing-value flag."""
        gone = self.node("IsNaN", [column.name])
        x = self.node("Where", [gone, self.constant(np.float64(column.fill)), column.name])
        if column.shift:
            x = self.node("Sub", [x, self.constant(np.float64(column.shift))])
        if not column.indicator:
            return x
        flag = self.node("Cast", [gone], to=11)
        return self.node("Concat", [x, flag], axis=1)

    def levels(self, column: CategoryColumn) -> str:
        """A level's number from a table, then one 0/1 column a level; the empty string is a missing cell."""
        place, missing, other = levels_of(column)
        if "" in place and MISSING in (column.baseline, *column.levels):
            raise ParameterError(
                f"column {column.name!r} has empty text and missing cells, which ONNX cannot tell apart: fill one in."
            )
        place.setdefault("", missing)
        width = len(column.levels)
        code = self.node(
            "LabelEncoder",
            [column.name],
            keys_strings=list(place),
            values_int64s=[width if j == BASELINE else j for j in place.values()],
            default_int64=width if other == BASELINE else other,
            domain="ai.onnx.ml",
        )
        table = np.vstack([np.eye(width), np.zeros((1, width))])
        return self.node("Gather", [self.constant(table), self.flat(code)], axis=0)

    def choose(self, total: str, s: Scores, output: str) -> str:
        """The class of each row, from its scores."""
        assert s.classes is not None
        if len(s.intercept) == 1:
            sign = "Greater" if s.boundary == "negative" else "GreaterOrEqual"
            code = self.node("Cast", [self.flat(self.node(sign, [total, self.constant(np.float64(0.0))]))], to=7)
        else:
            code = self.node("ArgMax", [total], axis=1, keepdims=0)
        if not isinstance(s.classes[0], str):
            return self.node("Gather", [self.constant(np.array(s.classes)), code], output)
        numbers = {"keys_int64s": list(range(len(s.classes))), "values_strings": s.classes}
        return self.node("LabelEncoder", [code], output, domain="ai.onnx.ml", **numbers)

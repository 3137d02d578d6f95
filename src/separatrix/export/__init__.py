"""Fitted linear models as code that needs nothing of this package: Python, SQL, ONNX."""

from __future__ import annotations

from separatrix.export.onnx_graph import to_onnx as to_onnx
from separatrix.export.python_source import to_python as to_python
from separatrix.export.sql_expression import to_sql as to_sql

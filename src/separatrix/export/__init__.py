"""Fitted linear models as code that needs nothing of this package: Python, SQL, ONNX."""

from separatrix.export.onnx_graph import to_onnx
from separatrix.export.python_source import to_python
from separatrix.export.sql_expression import to_sql

__all__ = ["to_onnx", "to_python", "to_sql"]

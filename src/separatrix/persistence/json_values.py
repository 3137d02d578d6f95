"""Python values as JSON and tensors, and back: only what is listed here, nothing that runs code.

Plain values are themselves; the rest is an object with one key that says what it is: ``$tensor`` (its
name), ``$strings``, ``$float`` (inf, nan), ``$status``, ``$tuple``, ``$dict`` (pairs). Schemas of dataclasses, for what
commands print with ``--json``, require every field and allow nothing else.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from typing import Any

import numpy as np

from separatrix.errors import ModelFileError
from separatrix.numerics.status import Status

DEPTH = 32
MOST_LETTERS = 1 << 26  # of an array of text: numpy gives each text the room of the longest, 4 bytes a letter
NUMBERS = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32", "int8": "I8", "bool": "BOOL"}


class Unkept(Exception):
    """A value that a model file cannot carry."""


def pack(value: Any, name: str, tensors: dict[str, Any]) -> Any:
    """A value as JSON; arrays of numbers go to ``tensors`` under ``name``."""
    if isinstance(value, Status):
        return {"$status": value.name}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, np.ndarray):
        return _pack_array(value, name, tensors)
    if isinstance(value, list):
        return [pack(v, f"{name}.{i}", tensors) for i, v in enumerate(value)]
    if type(value) is tuple:
        return {"$tuple": [pack(v, f"{name}.{i}", tensors) for i, v in enumerate(value)]}
    if type(value) is dict:
        pairs = enumerate(value.items())
        return {"$dict": [[pack(k, f"{name}.{i}k", tensors), pack(v, f"{name}.{i}", tensors)] for i, (k, v) in pairs]}
    raise Unkept(f"a {type(value).__name__}")


def _pack_array(array: Any, name: str, tensors: dict[str, Any]) -> Any:
    if array.dtype.kind in "UO":
        flat = array.tolist()
        if array.ndim != 1 or not all(v is None or isinstance(v, str) for v in flat):
            raise Unkept(f"an array of {array.dtype} objects")
        return {"$strings": flat, "object": array.dtype.kind == "O"}
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    if native.dtype.name not in NUMBERS:
        raise Unkept(f"an array of {array.dtype}")
    tensors[name] = np.ascontiguousarray(native)  # safetensors 0.8.0 mixes up the entries of any other layout
    return {"$tensor": name}


def unpack(node: Any, tensors: dict[str, Any], used: set[str], depth: int = 0) -> Any:
    """The value that JSON and tensors describe; names of tensors go to ``used``."""
    if depth > DEPTH:
        raise ModelFileError("its header is nested too deeply")
    if node is None or isinstance(node, (bool, int, float, str)):
        return node
    if isinstance(node, list):
        return [unpack(v, tensors, used, depth + 1) for v in node]
    if not isinstance(node, dict):
        raise ModelFileError(f"its header holds a {type(node).__name__}")
    keys = set(node)
    if keys == {"$tensor"} and isinstance(node["$tensor"], str):
        name = node["$tensor"]
        if name not in tensors or name in used:
            raise ModelFileError(f"its header names the tensor {name!r}, which is not there (or was used already)")
        used.add(name)
        return tensors[name]
    if keys == {"$strings", "object"}:
        flat = node["$strings"]
        if not isinstance(flat, list) or not all(v is None or isinstance(v, str) for v in flat):
            raise ModelFileError("a list of strings in its header holds something else")
        if node["object"] or None in flat:
            return np.array(flat, dtype=object)
        longest = max(map(len, flat), default=0)
        if len(flat) * longest > MOST_LETTERS:
            raise ModelFileError(f"an array of {len(flat):,} texts of up to {longest:,} letters is too large")
        return np.array(flat, dtype=str)
    if keys == {"$float"} and node["$float"] in ("inf", "-inf", "nan"):
        return float(node["$float"])
    if keys == {"$status"} and isinstance(node["$status"], str) and node["$status"] in Status.__members__:
        return Status[node["$status"]]
    if keys == {"$tuple"} and isinstance(node["$tuple"], list):
        return tuple(unpack(v, tensors, used, depth + 1) for v in node["$tuple"])
    if keys == {"$dict"} and isinstance(node["$dict"], list):
        pairs = [unpack(pair, tensors, used, depth + 1) for pair in node["$dict"]]
        if not all(isinstance(p, list) and len(p) == 2 and isinstance(p[0], (str, int, float)) for p in pairs):
            raise ModelFileError("a table in its header is not made of pairs")
        return dict(pairs)
    raise ModelFileError(f"its header holds an unknown kind of value ({', '.join(sorted(map(str, keys)))[:60]})")


def plain(value: Any) -> Any:
    """Values as JSON has them: numpy's as Python's, dataclasses as objects, numbers that are not finite as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(own) for own in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


DIALECT = "https://json-schema.org/draft/2020-12/schema"
NAMES: dict[Any, str] = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}


def schema_of(kind: Any, title: str, version: int, description: str, extra: dict[str, Any] | None = None) -> Any:
    """The schema of a type as a document; ``extra`` are further properties of a dataclass, all required."""
    definitions: dict[str, Any] = {}
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        body = _object(kind, definitions)
        own = {name: _value(of, definitions) for name, of in (extra or {}).items()}
        body["properties"] = {**own, **body["properties"]}
        body["required"] = list(body["properties"])
    else:
        body = _value(kind, definitions)
    head = {"$schema": DIALECT, "$id": f"urn:separatrix:schema:{title.split()[1]}:{version}", "title": title}
    return {**head, **body, "description": description, "$defs": dict(sorted(definitions.items()))}


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(kind, include_extras=True)
    fields = [field.name for field in dataclasses.fields(kind)]
    return {
        "type": "object",
        "description": " ".join((kind.__doc__ or "").split()),
        "required": fields,
        "additionalProperties": False,
        "properties": {name: _value(hints[name], definitions) for name in fields},
    }


def _value(hint: Any, definitions: dict[str, Any]) -> Any:
    """The schema of a type; floats may be null, since JSON has no infinities."""
    if isinstance(hint, dict):
        return hint
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if hint.__name__ not in definitions:
            definitions[hint.__name__] = {}
            definitions[hint.__name__] = _object(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    if hint is Any:
        return {}
    if hint is float:
        return {"type": ["number", "null"]}
    if hint in NAMES:
        return {"type": NAMES[hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _limited(_value(arguments[0], definitions), arguments[1])
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_value(own, definitions) for own in arguments]}
    if origin is list or (origin is tuple and arguments[-1] is Ellipsis):
        return {"type": "array", "items": _value(arguments[0], definitions)}
    if origin is tuple:
        items = [_value(own, definitions) for own in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _value(arguments[1], definitions)}
    raise TypeError(f"no JSON schema for {hint!r}")


def _limited(schema: dict[str, Any], limits: Any) -> dict[str, Any]:
    """The schema of a number, or of a list, with its least and greatest value or length."""
    least, most = ("minItems", "maxItems") if schema["type"] == "array" else ("minimum", "maximum")
    return {**schema, least: limits.minimum, most: limits.maximum}

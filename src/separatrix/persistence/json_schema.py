"""JSON schemas of dataclasses, for what commands print with ``--json``: every field required, nothing else allowed."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

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

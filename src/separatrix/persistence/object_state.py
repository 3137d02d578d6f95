"""The state of a learner as plain data and arrays, and back: what checkpoints and model files keep of it.

Numbers, text, lists, dicts, arrays and objects of this package's models and numerics. An object is its class's name
and its attributes; reading it makes an empty object and sets them: no code of the file is run, and no constructor.
"""

from __future__ import annotations

import importlib
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.errors import CheckpointError

Arrays = dict[str, NDArray[Any]]
HOMES = ("separatrix.models.", "separatrix.numerics.", "separatrix.features.", "separatrix.stream.")
KINDS = "biufSU"
DEEPEST = 40


def pack(value: Any, arrays: Arrays, depth: int = 0) -> Any:
    """A value as JSON; arrays go into ``arrays`` under numbers."""
    if depth > DEEPEST:
        raise CheckpointError("the state of the learner is nested too deeply for a file.")
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if type(value) is float:
        return {"float": value.hex()}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [pack(v, arrays, depth + 1) for v in value]}
    if isinstance(value, dict):
        pairs = [[pack(k, arrays, depth + 1), pack(v, arrays, depth + 1)] for k, v in value.items()]
        return {"dict": pairs}
    if isinstance(value, np.generic) and value.dtype.kind in KINDS:
        return {"scalar": pack(np.asarray(value), arrays, depth + 1)}
    if isinstance(value, np.ndarray):
        return _pack_array(value, arrays, depth)
    return _pack_object(value, arrays, depth)


def _pack_array(value: NDArray[Any], arrays: Arrays, depth: int) -> Any:
    if value.dtype.kind == "O":
        return {"objects": [pack(v, arrays, depth + 1) for v in value.ravel().tolist()], "shape": list(value.shape)}
    if value.dtype.kind not in KINDS:
        raise CheckpointError(f"the state of the learner has an array of {value.dtype}, which a file cannot keep.")
    name = str(len(arrays))
    arrays[name] = value if value.flags.c_contiguous else value.copy(order="C")
    return {"array": name}


def _pack_object(value: Any, arrays: Arrays, depth: int) -> Any:
    kind = type(value)
    if not kind.__module__.startswith(HOMES):
        raise CheckpointError(f"the state of the learner has a {kind.__name__}, which a file cannot keep.")
    name = f"{kind.__module__}:{kind.__qualname__}"
    if isinstance(value, Enum):
        return {"enum": name, "name": value.name}
    fields = {key: pack(own, arrays, depth + 1) for key, own in _attributes(value).items()}
    return {"object": name, "fields": fields}


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes of slots and of the instance."""
    slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
    own = {name: getattr(value, name) for name in slots if not name.startswith("__") and hasattr(value, name)}
    return {**own, **getattr(value, "__dict__", {})}


def unpack(packed: Any, arrays: Arrays) -> Any:
    """The value that ``pack`` was given."""
    if not isinstance(packed, dict):
        return packed
    if "float" in packed:
        return float.fromhex(packed["float"])
    if "list" in packed:
        return [unpack(v, arrays) for v in packed["list"]]
    if "tuple" in packed:
        return tuple(unpack(v, arrays) for v in packed["tuple"])
    if "dict" in packed:
        return {unpack(k, arrays): unpack(v, arrays) for k, v in packed["dict"]}
    if "scalar" in packed:
        return unpack(packed["scalar"], arrays)[()]
    if "array" in packed:
        return arrays[packed["array"]].copy()
    if "objects" in packed:
        out = np.empty(len(packed["objects"]), dtype=object)
        out[:] = [unpack(v, arrays) for v in packed["objects"]]
        return out.reshape(packed["shape"])
    kind = _class_of(packed.get("object", packed.get("enum")))
    if "enum" in packed:
        return kind[packed["name"]]
    made = object.__new__(kind)
    for key, own in packed["fields"].items():
        object.__setattr__(made, key, unpack(own, arrays))
    return made


def _class_of(name: Any) -> Any:
    """A class of this package, by the name that ``pack`` gave it."""
    module, _, qualified = str(name).partition(":")
    if not module.startswith(HOMES) or not qualified.isidentifier():
        raise CheckpointError(f"it names {str(name)[:80]!r}, which is not part of a learner's state")
    try:
        kind = getattr(importlib.import_module(module), qualified, None)
    except ImportError:  # a module of another version
        kind = None
    if not isinstance(kind, type) or kind.__module__ != module:
        raise CheckpointError(f"it names {str(name)[:80]!r}, which this version does not have")
    return kind

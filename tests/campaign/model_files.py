"""Model files with changed headers and tensors, under a checksum of their own: a learner, or ModelFileError.

The container (8 bytes of length, JSON, tensors) and the checksum are written here by their specification, so that
shapes and types can be forged that the writer would refuse.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import warnings
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from mutants import at, changed, places

import separatrix
from separatrix.data.frame import Column, Frame
from separatrix.errors import ModelFileError, SeparatrixError
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_model import TableModel

TYPES = {"F64": "float64", "F32": "float32", "I64": "int64", "I32": "int32", "I8": "int8", "BOOL": "bool"}
KEY = "separatrix"
EACH = 20  # mutants of one case
HOSTILE = [2**31 - 1, 2**40, -1, 0, 1e308, "nan", {"$float": "nan"}, {"$status": "no such name"}, {"$tensor": "x"}]
HOSTILE += [{"$tuple": []}, {"$dict": [[None, None]]}, {"$strings": [None]}, [[[[[[[]]]]]]], "\x1b[2J", None]


@cache
def originals():
    """The bytes of a saved model of each learner, for two classes, three, numbers, and one with its encoder."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 3))
    two, three = (X[:, 0] > 0).astype(int), np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    models = []
    for name in separatrix.__all__:
        kind = getattr(separatrix, name)
        if not (isinstance(kind, type) and hasattr(kind, "fit") and hasattr(kind, "predict")):
            continue
        for y in (two, three, X @ [1.0, 2.0, 3.0]):
            try:
                with warnings.catch_warnings(action="ignore"):
                    models.append(kind().fit(X, y))
            except (SeparatrixError, TypeError):
                continue  # of two classes only, a regression, or a wrapper around another learner
    table = Frame(
        (
            Column("x", "number", X[:, 0]),
            Column("ward", "text", np.array(["A", "B", None] * 8, dtype=object)),
            Column("note", "text", np.array(["good day", "bad day", "a night"] * 8, dtype=object)),
        ),
        24,
        "t",
    )
    encoder = Encoder.fitted(table, Choices(text=("note",)), two, "y")
    learner = separatrix.Perceptron(max_iter=3).fit(encoder.encode(table)[0], two)
    models.append(TableModel(learner, encoder, "y", 1, {"rows": 24}))
    with tempfile.TemporaryDirectory() as folder:
        return [separatrix.save(model, Path(folder) / "m.sepx").read_bytes() for model in models]


def taken_apart(content):
    """The header of a file, and its tensors as [name, type, shape, bytes]."""
    size = int.from_bytes(content[:8], "little")
    outer, body = json.loads(content[8 : 8 + size]), content[8 + size :]
    header = json.loads(outer.pop("__metadata__")[KEY].partition(" ")[2])
    return header, [
        [name, entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])]] for name, entry in outer.items()
    ]


def put_together(header, tensors):
    """A file with a right checksum, whatever it says."""
    text = json.dumps(header, sort_keys=True, separators=(",", ":"))
    digest, outer, body = hashlib.sha256(text.encode()), {}, b""
    for name, kind, shape, raw in sorted(tensors, key=lambda tensor: tensor[0]):
        told = tuple(shape) if isinstance(shape, list) else shape
        digest.update(f"\n{name} {TYPES.get(kind, kind)} {told}\n".encode())
        digest.update(raw)
        outer[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    outer["__metadata__"] = {KEY: f"{digest.hexdigest()} {text}"}
    front = json.dumps(outer).encode()
    front += b" " * (-len(front) % 8)
    return len(front).to_bytes(8, "little") + front + body


def changed_header(header, rng):
    paths = [path for path in places(header) if path and path[0] != "versions"]
    path = rng.choice(paths)
    holder, key = at(header, path[:-1]), path[-1]
    kind = rng.random()
    if kind < 0.3:
        holder[key] = json.loads(json.dumps(rng.choice(HOSTILE)))
    elif kind < 0.5:
        holder[key] = json.loads(json.dumps(at(header, rng.choice(paths))))
    elif kind < 0.6 and isinstance(holder, dict):
        holder[f"{key}_"] = holder.pop(key)
    else:
        holder[key] = changed(holder[key], rng)


def changed_tensor(tensors, rng):
    tensor = rng.choice(tensors)
    name, kind, shape, raw = tensor
    count = int(np.prod(shape)) if shape else 1
    way = rng.randrange(7)
    if way == 0:
        tensor[0] = rng.choice([name + "_", rng.choice(tensors)[0], ""])
    elif way == 1:
        tensor[1] = rng.choice([*TYPES, "F16", "U8", "XX"])
    elif way == 2:
        tensor[2] = rng.choice([[count], [1] * rng.choice([2, 40, 101]) + [count], [count, 1], [0], [], [2**40, 2**40]])
    elif way == 3 and kind == "F64":
        tensor[3] = np.full(count, rng.choice([np.nan, np.inf, -np.inf, 1e308, -0.0, 5e-324])).tobytes()
    elif way == 4 and kind in ("I64", "I32", "I8"):
        limits = np.iinfo(TYPES[kind])
        tensor[3] = np.full(count, rng.choice([limits.min, limits.max, -1, 0]), dtype=TYPES[kind]).tobytes()
    elif way == 5:
        tensors.remove(tensor)
    elif raw:
        cut = bytearray(raw)
        cut[rng.randrange(len(cut))] ^= 1 << rng.randrange(8)
        tensor[3] = bytes(cut)


def forged(seed, step):
    """Changed content, always of the same originals for the same numbers."""
    rng = Random(f"{seed} {step}")
    content = originals()[rng.randrange(len(originals()))]
    header, tensors = taken_apart(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if tensors and rng.random() < 0.3:
            changed_tensor(tensors, rng)
        elif isinstance(header, dict) and header:
            changed_header(header, rng)
    content = put_together(header, tensors)
    if rng.random() < 0.1:
        raw = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        content = bytes(raw[: rng.randrange(len(raw))] if rng.random() < 0.3 else raw)
    return content


def check_model_files(seed, tally):
    """Each forged file gives a learner that can predict and describe itself, or ModelFileError."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        path = Path(folder) / "m.sepx"
        for step in range(EACH):
            path.write_bytes(forged(seed, step))
            tally["model files"] += 1
            try:
                model = separatrix.load(path)
            except ModelFileError:
                tally["refused"] += 1
                continue
            tally["read"] += 1
            assert repr(model)
            learner = getattr(model, "learner", model)
            width = learner.n_features_in_
            if width <= 1000 and getattr(learner, "feature_names_in_", None) is None:
                said = learner.predict(np.zeros((2, width)))
                assert len(said) == 2
                if hasattr(learner, "classes_") and said.ndim == 1:
                    assert set(said.tolist()) <= set(learner.classes_.tolist())


def show_model(seed):
    return f"{EACH} forged files of case {seed}"

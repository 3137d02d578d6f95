"""Models to save, and files with a changed header and a right checksum."""

from __future__ import annotations

import json
import warnings

import numpy as np
from safetensors.numpy import save as to_safetensors

from separatrix import Perceptron
from separatrix.data.frame import Column, Frame
from separatrix.features.encoder import Choices, Encoder
from separatrix.features.table_model import TableModel
from separatrix.models.registry import learner_class
from separatrix.persistence.model_files import checksum

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 4))
Y2 = (X[:, 0] + 0.3 * RNG.normal(size=60) > 0).astype(int)
Y3 = np.array(["a", "b", "c"], dtype=object)[np.argmax(X[:, :3], axis=1)]


def fitted(name, y):
    learner = learner_class(name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return learner.fit(X, X[:, 0] if learner._estimator_type == "regressor" else y)


def tampered(path, change):
    """A file with a changed header and a right checksum."""
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + size])
    header = json.loads(outer["__metadata__"]["separatrix"].partition(" ")[2])
    tensors = {}
    for name, entry in outer.items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}
            data = content[8 + size + begin : 8 + size + end]
            tensors[name] = np.frombuffer(data, dtype=kinds[entry["dtype"]]).reshape(entry["shape"])
    change(header, tensors)
    text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    path.write_bytes(to_safetensors(tensors, {"separatrix": f"{checksum(text, tensors)} {text}"}))


def table_model():
    frame = Frame(
        (
            Column("age", "number", np.array([31.0, np.nan, 40.0, 22.0, 35.0, 50.0])),
            Column("ward", "text", np.array(["A", "B", None, "A", "A", "B"], dtype=object)),
            Column("seen", "date", 86400.0 * np.array([1, 40, 80, 3, 5, 7])),
            Column("says", "text", np.array(["a b", "a c", "b c", "a", None, "c"], dtype=object)),
        ),
        6,
        "t.csv",
    )
    y = np.array(["no", "yes", "yes", "no", "no", "yes"], dtype=object)
    encoder = Encoder.fitted(frame, Choices(text=("says",), words="tfidf", dates="parts"))
    return TableModel(Perceptron(max_iter=50).fit(encoder.encode(frame)[0], y), encoder, "ok", "yes"), frame


def saved_header(path):
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["separatrix"].partition(" ")[2])

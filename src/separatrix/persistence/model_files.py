"""``save`` and ``load``: bytes on disk, written atomically, with a checksum over all of them."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.atomic_write import is_special, write_whole
from separatrix.errors import ModelFileError
from separatrix.persistence.model_headers import FORMAT, header_of, model_of

KEY = "separatrix"
LIMIT = 1 << 32  # bytes of a model file
HEADER_LIMIT = 1 << 26
DIMENSIONS = 3  # of a tensor, at most
DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I8": "|i1", "BOOL": "|b1"}


def save(model: Any, path: str | os.PathLike[str], *, certificate: Any = None) -> Path:
    """Write a fitted learner (or a learner with its encoder) to a model file.

    ``certificate`` is a Certificate about the data, or a file with one; the header keeps the SHA-256 of its
    text, as it does by itself for learners that carry a certificate.

    The file is written atomically: it is written beside its place, read back, compared, and moved
    there. What a file cannot carry (the trace, the state that ``partial_fit`` goes on from) is left out and
    named in the header.

    Parameters
    ----------
    model : estimator
        Fitted.
    path : str or Path
        The file, by habit ``.sepx``.
    certificate : Certificate, path or None
        A certificate about the data.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import Perceptron, load, save
    >>> model = Perceptron().fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(save(model, Path(folder) / "model.sepx"))
    ...
    >>> again.predict([[2.0]])
    array([1])
    """
    target = Path(path)
    if is_special(target):
        raise ModelFileError(f"{target} is not a regular file: choose another path.")
    header, tensors = header_of(model, certificate)
    header["versions"] = {"separatrix": _version(), "numpy": np.__version__, "python": platform.python_version()}
    content = _to_bytes(header, tensors)
    same = _parse(content)
    if same[0] != json.loads(json.dumps(header)) or not all(_equal(same[1][k], v) for k, v in tensors.items()):
        raise ModelFileError("the model file did not read back as it was written: nothing was saved.")
    _need_same_predictions(model, model_of(*same))
    write_whole(target, content)
    return target


def load(path: str | os.PathLike[str], *, limit: int = LIMIT) -> Any:
    """The learner of a model file, ready to predict. Nothing in the file is run; what is unexpected is refused.

    Parameters
    ----------
    path : str or Path
        A model file.
    limit : int
        Bytes that a file may have.

    Returns
    -------
    estimator
        Ready to predict.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from separatrix import Perceptron, load, save
    >>> model = Perceptron().fit([[0.0], [1.0]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(save(model, Path(folder) / "model.sepx"))
    ...
    >>> again
    Perceptron()
    """
    source = Path(path)
    if source.is_dir():
        raise ModelFileError(f"{source} is a folder: name a model file.")
    if source.stat().st_size > limit:
        raise ModelFileError(f"{source.name} has {source.stat().st_size:,} bytes, above limit={limit:,}.")
    content = source.read_bytes()
    try:
        return model_of(*_parse(content))
    except ModelFileError as error:
        raise ModelFileError(f"{source.name} is refused: {str(error).rstrip('.')}.") from error
    except Exception as error:  # no content of a file is an error of this program
        raise ModelFileError(f"{source.name} is refused: it is damaged ({str(error)[:80]}).") from error


def _to_bytes(header: dict[str, Any], tensors: dict[str, Any]) -> bytes:
    from safetensors.numpy import save as to_safetensors

    text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError as half:
        raise ModelFileError(
            f"a label or a name has {half.object[half.start]!r}, half of a character: a model file cannot carry it."
        ) from half
    sealed = f"{checksum(text, tensors)} {text}"  # one entry: safetensors writes several in any order
    return bytes(to_safetensors(dict(sorted(tensors.items())), metadata={KEY: sealed}))


def checksum(text: str, tensors: dict[str, Any]) -> str:
    """SHA-256 over the header and, in the order of their names, each tensor with its name, type and shape."""
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype.name} {tensor.shape}\n".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()


def _parse(content: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The checked header and tensors of a file."""
    _need_ours(content)
    from safetensors import SafetensorError, deserialize

    size = int.from_bytes(content[:8], "little")
    if size > min(HEADER_LIMIT, len(content) - 8):
        raise ModelFileError("it is cut off, or is not a model file: its header is longer than the file")
    try:
        outer = json.loads(content[8 : 8 + size].decode(), object_pairs_hook=_no_twins)
        metadata = outer.get("__metadata__")
        if not isinstance(metadata, dict) or set(metadata) != {KEY}:
            raise ModelFileError("it is a safetensors file, but not a model file of Separatrix")
        digest, _, text = metadata[KEY].partition(" ")
        header = json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant)
        # safetensors ships no types for it
        entries: list[tuple[str, dict[str, Any]]] = deserialize(content)  # type: ignore[no-untyped-call]
    except (ValueError, RecursionError, SafetensorError, TypeError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"it is damaged ({str(error).splitlines()[0][:120]})") from error
    tensors = {}
    for name, entry in entries:
        if entry["dtype"] not in DTYPES:
            raise ModelFileError(f"its tensor {name!r} has the type {entry['dtype']}, which no model has")
        if len(entry["shape"]) > DIMENSIONS:
            raise ModelFileError(f"its tensor {name!r} has {len(entry['shape'])} dimensions, more than any model's")
        tensors[name] = np.frombuffer(entry["data"], dtype=DTYPES[entry["dtype"]]).reshape(entry["shape"]).copy()
    if not isinstance(header, dict) or checksum(text, tensors) != digest:
        raise ModelFileError("its checksum does not match: it was damaged or changed")
    if (found := header.get("format")) != FORMAT or isinstance(found, bool):
        later = isinstance(found, int) and found > FORMAT
        advice = "update separatrix" if later else "fit the model again"
        raise ModelFileError(f"it has format {found!r}, and this version reads {FORMAT}: {advice}")
    return header, tensors


def _need_ours(content: bytes) -> None:
    if content[8:9] == b"{":
        return
    if _is_pickle(content):
        raise ModelFileError("it is a pickle, and loading a pickle can run any code; model files are made by save")
    if content[:4] == b"PK\x03\x04":
        raise ModelFileError("it is a zip archive, as some pickles come in; model files are made by save")
    if len(content) < 16:
        raise ModelFileError("it is too short for a model file")


def _is_pickle(content: bytes) -> bool:
    """Whether the bytes are a pickle of any protocol; old ones have no mark, and are read over without being run."""
    if content[:1] == b"\x80" and content[1:2] in b"\x00\x01\x02\x03\x04\x05":
        return True
    if not content.endswith(b"."):
        return False
    from pickletools import genops

    try:
        for _ in genops(content):
            pass
    except Exception:
        return False
    return True


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ModelFileError("its header has a key twice")
    return out


def _no_constant(word: str) -> Any:
    raise ModelFileError(f"its header holds {word}, which is not JSON")


def _equal(a: Any, b: Any) -> bool:
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def _need_same_predictions(model: Any, twin: Any) -> None:
    """The model that comes back must score a few rows as the one that was saved, to the bit."""
    one, two = getattr(model, "learner", model), getattr(twin, "learner", twin)
    score = "decision_function" if hasattr(one, "decision_function") else "predict"
    rng = np.random.default_rng(0)
    d = one.n_features_in_
    X: Any = rng.normal(size=(4, d)) if d <= 100_000 else _few_entries(rng, d)
    names = getattr(one, "feature_names_in_", None)
    if names is not None:
        one, two = _nameless(one), _nameless(two)
    try:
        same = np.array_equal(getattr(one, score)(X), getattr(two, score)(X), equal_nan=True)
    except (AttributeError, TypeError, KeyError):
        same = False
    if not same:
        raise ModelFileError(
            f"{type(one).__name__} predicts from state that a model file cannot carry: nothing was saved."
        )


def _nameless(model: Any) -> Any:
    from copy import copy

    twin = copy(model)
    del twin.feature_names_in_
    twin.__dict__.pop("offset_", None)  # an array has no column of an offset
    return twin


def _few_entries(rng: np.random.Generator, d: int) -> Any:
    from scipy.sparse import csr_array

    columns = np.sort(rng.choice(d, size=(4, 64), replace=True), axis=1).ravel()
    X = csr_array((rng.normal(size=256), columns, np.arange(0, 257, 64)), shape=(4, d))
    X.sum_duplicates()
    return X


def _version() -> str:
    from importlib.metadata import version

    return version("separatrix")

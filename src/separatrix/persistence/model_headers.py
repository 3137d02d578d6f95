"""What a header says, and the checks that a header must pass before a learner is made of it.

A model file says by a digest which proof about its data it was made with, and carries none.
"""

from __future__ import annotations

import hashlib
import os
import re
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.errors import ModelFileError, SeparatrixError, raise_not_fitted
from separatrix.features.table_model import TableModel
from separatrix.models.registry import is_learner, learner_class
from separatrix.parameters import defaults
from separatrix.persistence.fitted_attributes import FITTED, need_fitted
from separatrix.persistence.json_values import Unkept, pack, unpack
from separatrix.persistence.learning_state import go_on_from, stream_state
from separatrix.persistence.table_headers import table_header, table_model
from separatrix.protocol import ChunkLearner, Estimator

FORMAT = 4
KEYS = {"format", "learner", "parameters", "attributes", "state", "left_out", "table", "certificate", "versions"}
WIDE, MOST_FEATURES = 100_000, 2**31
NOT_ALWAYS = {"feature_names_in_", "coef_", "intercept_"}  # declared by learners that lack them in some fits
DIGEST = re.compile(r"[0-9a-f]{64}\Z")


def header_of(model: Any, certificate: Any = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the tensors of a fitted learner, or of one with its encoder."""
    learner = model.learner if isinstance(model, TableModel) else model
    name = type(learner).__name__
    if not isinstance(learner, Estimator) or not is_learner(name):
        raise ModelFileError(f"a {name} is not a learner of Separatrix: only those can be saved.")
    if not learner.__sklearn_is_fitted__():
        raise_not_fitted(learner)
    if isinstance(learner, ChunkLearner):
        learner = copy(learner)  # whose attributes may be computed for the file
    tensors: dict[str, Any] = {}
    parameters = {}
    for key, value in learner.get_params().items():
        try:
            parameters[key] = pack(value, f"parameter.{key}", tensors)
        except Unkept as unkept:
            raise ModelFileError(f"{key} is {unkept}, which a model file cannot carry: use a plain value.") from unkept
    kept = learner._kept()  # first: it may compute attributes that nobody asked for yet
    attributes, left_out = {}, []
    for key, value in vars(learner).items():
        if not key.endswith("_") or key.startswith("_") or key in parameters or key == "certificate_digest_":
            continue
        try:
            if key not in FITTED:
                raise Unkept("an attribute that files do not carry")
            attributes[key] = pack(value, f"attribute.{key}", tensors)
        except Unkept:
            left_out.append(key)
    if (stream := stream_state(learner)) is not None:
        kept = {**kept, "stream": stream}
    header = {
        "format": FORMAT,
        "learner": name,
        "parameters": parameters,
        "attributes": attributes,
        "state": {key: pack(value, f"state.{key}", tensors) for key, value in kept.items()},
        "left_out": sorted(left_out),
        "table": table_header(model, tensors) if isinstance(model, TableModel) else None,
        "certificate": digest_of(learner) if certificate is None else digest_of_certificate(certificate),
    }
    return header, tensors


def model_of(header: dict[str, Any], tensors: dict[str, Any]) -> Any:
    """The learner that a header describes, after every check."""
    if set(header) | {"versions"} != KEYS:
        odd = sorted(set(header) ^ KEYS)
        raise ModelFileError(f"its header has other keys than a model file ({', '.join(map(str, odd))[:80]})")
    used: set[str] = set()
    learner = _learner(header, tensors, used)
    digest = header.get("certificate")
    if digest is not None:
        if not isinstance(digest, str) or not DIGEST.match(digest):
            raise ModelFileError("the digest of its certificate is not a SHA-256")
        learner.certificate_digest_ = digest  # type: ignore[attr-defined]  # any learner may carry one
    model = learner if header["table"] is None else table_model(header["table"], learner, tensors, used)
    left = set(tensors) - used
    if left:
        raise ModelFileError(f"it holds tensors that nothing names ({', '.join(sorted(left))[:80]})")
    return model


def _learner(header: dict[str, Any], tensors: dict[str, Any], used: set[str]) -> Estimator:
    name = header["learner"]
    if not isinstance(name, str) or not is_learner(name):
        raise ModelFileError(f"its learner {str(name)[:60]!r} is not a learner of Separatrix")
    cls = learner_class(name)
    if not isinstance(header["parameters"], dict) or not isinstance(header["attributes"], dict):
        raise ModelFileError("its parameters or attributes are not a table")
    known = defaults(cls)
    parameters = {key: unpack(value, tensors, used) for key, value in header["parameters"].items()}
    if set(parameters) - set(known):
        raise ModelFileError(f"{name} has no parameter {sorted(set(parameters) - set(known))[0]!r}")
    learner = cls(**parameters)
    check = getattr(learner, "_check_parameters", None)
    try:
        if check is not None:
            check()
    except SeparatrixError as error:
        raise ModelFileError(str(error)) from error
    except Exception as error:  # checks compare values that may be of any type here
        raise ModelFileError(f"its parameters are not those of a {name} ({str(error)[:80]})") from error
    for key, value in header["attributes"].items():
        attribute = unpack(value, tensors, used)
        need_fitted(name, key, attribute)
        if not isinstance(getattr(cls, key, None), cached_property | None):
            raise ModelFileError(f"{name} computes {key}: a file cannot set it")
        setattr(learner, key, attribute)
    _forget_state(learner)
    _check_width(learner, header["state"], tensors)
    _check_shapes(learner)
    try:
        state = {key: unpack(value, tensors, used) for key, value in header["state"].items()}
        stream = state.pop("stream", None)
        learner._restore(state)
        go_on_from(learner, stream)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"its state is not that of a {name} ({str(error)[:80]})") from error
    _need_declared(learner)
    _need_predictions(learner)
    return learner


def _need_declared(learner: Estimator) -> None:
    """What a learner's class declares of its fit, and its other methods read, although predictions need none of it.

    Results that may be None are left out of files; predictions show whether coefficients are needed; a learner after
    ``partial_fit`` alone has no results of a fit.
    """
    if hasattr(learner, "partial_fit"):
        return
    declared = {name for cls in type(learner).__mro__ for name in getattr(cls, "__annotations__", {})}
    for name in sorted((declared & FITTED.keys()) - NOT_ALWAYS):
        if not FITTED[name].allows(None) and not hasattr(learner, name):
            raise ModelFileError(f"its attributes do not describe a fitted model: {name} is missing")


def _need_predictions(learner: Estimator) -> None:
    """What is loaded must predict a row of zeros: attributes that are missing show here."""
    d = learner.n_features_in_
    X: Any = np.zeros((1, d))
    if d > WIDE:
        from scipy.sparse import csr_array

        X = csr_array((1, d))
    nameless: Any = copy(learner)
    for name in ("feature_names_in_", "offset_"):  # which rows without columns' names do not have
        vars(nameless).pop(name, None)
    try:
        with np.errstate(all="ignore"):
            nameless.predict(X)
    except Exception as error:
        raise ModelFileError(f"it cannot predict ({str(error)[:80]})") from error


def _forget_state(learner: Estimator) -> None:
    """State that files do not carry is declared absent where the class allows for that."""
    for cls in type(learner).__mro__:
        for key, kind in getattr(cls, "__annotations__", {}).items():
            if key.startswith("_") and str(kind).endswith("| None") and not hasattr(learner, key):
                setattr(learner, key, None)


def _check_width(learner: Estimator, state: Any, tensors: dict[str, Any]) -> None:
    """A number of features that the content of the file bears out, before an array of that width is made."""
    d = getattr(learner, "n_features_in_", None)
    if type(d) is not int or not 1 <= d < MOST_FEATURES:
        raise ModelFileError("its number of features is missing or is not a number")
    sparse = isinstance(state, dict) and "indptr" in state  # rows of any width in a few entries
    if d > WIDE and not sparse and d > sum(tensor.size for tensor in tensors.values()):
        raise ModelFileError(f"it has {d:,} features, more than it has numbers")


def _check_shapes(learner: Estimator) -> None:
    """Dimensions and numbers of a learner that came from a file agree with each other."""
    d = learner.n_features_in_
    names = getattr(learner, "feature_names_in_", None)
    if names is not None and not (isinstance(names, np.ndarray) and names.dtype == object and names.shape == (d,)):
        raise ModelFileError(f"it does not have {d} feature names")
    classes = getattr(learner, "classes_", None)
    if learner._estimator_type == "classifier":
        if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
            raise ModelFileError("its classes are missing")
        if classes.dtype.kind == "O" and not all(isinstance(label, str) for label in classes.tolist()):
            raise ModelFileError("its classes are not all text")
        if len(np.unique(classes)) != len(classes):
            raise ModelFileError("its classes are not different from each other")
    if not hasattr(learner, "coef_"):
        return
    coef, intercept = learner.coef_, getattr(learner, "intercept_", None)
    if not isinstance(coef, np.ndarray) or coef.dtype != np.float64 or not np.isfinite(coef).all():
        raise ModelFileError("its coefficients are not finite numbers")
    if classes is None and coef.ndim == 2:
        each = np.asarray(intercept)
        fits = coef.shape[1] == d and each.dtype == np.float64 and each.shape == coef.shape[:1]
        fits = bool(fits and np.isfinite(each).all())
    elif classes is None:
        fits = coef.shape == (d,) and isinstance(intercept, (int, float)) and bool(np.isfinite(intercept))
    else:
        vectors = 1 if len(classes) <= 2 else len(classes)
        fits = coef.shape in ((vectors, d), (len(classes) * (len(classes) - 1) // 2, d))
        fits &= isinstance(intercept, np.ndarray) and intercept.dtype == np.float64
        fits = bool(fits and np.asarray(intercept).shape == coef.shape[:1] and np.isfinite(np.asarray(intercept)).all())
    if not fits:
        raise ModelFileError("the shapes of its coefficients, intercepts, classes and features do not agree")


def digest_of_certificate(certificate: Any) -> str:
    """SHA-256 of the text of a certificate, as its file has it."""
    from separatrix.proofs.certificate.certificate import Certificate

    if isinstance(certificate, (str, os.PathLike)):
        Certificate.load(Path(certificate))
        return hashlib.sha256(Path(certificate).read_bytes()).hexdigest()
    if not isinstance(certificate, Certificate):
        raise ModelFileError(f"certificate is a {type(certificate).__name__}: pass a Certificate, or a file with one.")
    return hashlib.sha256(f"{certificate.text}\n".encode()).hexdigest()


def digest_of(learner: Any) -> str | None:
    """That of the certificate a learner carries (``certificate_``, ``separation_``), or that its file told of."""
    for name in ("certificate_", "separation_"):
        carried = getattr(learner, name, None)
        if carried is None:
            continue
        from separatrix.proofs.certificate.certificate import (
            Certificate,  # the proofs take longer to load than a model to save
        )

        proofs = list(carried.values()) if isinstance(carried, dict) else [carried]
        proofs = [proof for proof in proofs if getattr(proof, "provable", True)]
        found = [proof if isinstance(proof, Certificate) else getattr(proof, "certificate", None) for proof in proofs]
        whole = [own for own in found if isinstance(own, Certificate)]
        if whole:
            return digest_of_certificate(whole[0] if len(whole) == 1 else Certificate.bundle(whole))
    told: str | None = getattr(learner, "certificate_digest_", None)
    return told

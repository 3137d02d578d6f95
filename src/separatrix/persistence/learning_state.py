"""The state that ``partial_fit`` goes on from, as part of a model file."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import numpy as np

from separatrix.errors import CheckpointError, ModelFileError
from separatrix.persistence.object_state import pack, unpack
from separatrix.protocol import ChunkLearner, Estimator


def stream_state(learner: Estimator) -> dict[str, Any] | None:
    """What ``partial_fit`` has left, as text and arrays; None for a learner that was not fitted by it."""
    if not isinstance(learner, ChunkLearner) or "_streamed" not in learner.__dict__:
        return None
    arrays: dict[str, Any] = {}
    state = {name: learner.__dict__[name] for name in learner._stream_state if name in learner.__dict__}
    try:
        return {"text": json.dumps(pack(state, arrays)), "arrays": arrays}
    except CheckpointError as unkept:
        raise ModelFileError(f"{str(unkept).rstrip('.')}: fit the model by fit to save it without.") from unkept


def go_on_from(learner: Estimator, stream: Any) -> None:
    """Put that back, and learn one row by a copy; without it a learner that needs it refuses to go on."""
    if not isinstance(learner, ChunkLearner):
        if stream is not None:
            raise ValueError("a state of a learner that has none")
        return
    if stream is None:
        learner._stopped = True  # type: ignore[attr-defined]  # popped by the next fit
        return
    state = unpack(json.loads(stream["text"]), stream["arrays"])
    if not isinstance(state, dict) or not set(state) <= set(learner._stream_state):
        raise ValueError("other names than those of its state")
    learner.__dict__.update(state, _streamed=True)
    if not learner._state_agrees():
        raise ValueError("a state of other weights")
    trial: Any = deepcopy(learner)
    trial.__dict__.pop("feature_names_in_", None)
    classifies = learner._estimator_type == "classifier"
    several = 0 if classifies or np.ndim(trial.coef_) == 1 else len(trial.coef_)
    y = trial.classes_[:1] if classifies else np.zeros((1, several) if several else 1)
    try:
        if "_names" in state:  # of dicts of features
            trial.learn_one({}, y.tolist()[0])
        else:
            trial.partial_fit(np.zeros((1, trial.n_features_in_)), y)
    except Exception as error:
        raise ValueError(str(error)) from error

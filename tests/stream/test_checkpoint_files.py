"""Checkpoint files: what goes in comes out, nothing else is let in, and there is always a whole one."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from separatrix import AROW, LeastSquares, LinearDescent, Perceptron
from separatrix.errors import CheckpointError
from separatrix.models.perceptron.arrivals import Arrivals
from separatrix.stream import checkpoint
from separatrix.stream.block_learning import BlockArrivals
from separatrix.stream.scorecard import Scorecard


def resealed(header):
    """A file with a right checksum around any header."""
    text = json.dumps(header).encode()
    body = len(text).to_bytes(8, "little") + text
    return checkpoint.MARK + hashlib.sha256(body).digest() + body


def test_values_come_back_as_they_were():
    card = Scorecard(10)
    card.add(25, np.arange(25) % 3 == 0)
    state = {
        "numbers": [1, -(2**70), 0.1, float("inf"), float("-0.0"), np.float64(0.3), np.int8(3), True, None],
        "text": ("ä", ""),
        "arrays": [np.arange(6).reshape(2, 3), np.zeros(0), np.array(["a", "b"]), np.array(["x", None], dtype=object)],
        "by pairs": {("ward", "A"): 3, 1.5: "x"},
        "card": card,
    }
    found = checkpoint.from_bytes(b"".join(map(bytes, checkpoint.to_bytes(state))))
    assert repr(found["numbers"]) == repr(state["numbers"])
    assert (found["text"], found["by pairs"]) == (state["text"], state["by pairs"])
    for own, other in zip(found["arrays"], state["arrays"], strict=True):
        assert own.dtype == other.dtype
        assert np.array_equal(own, other)
    assert (found["card"].mistakes, found["card"].curve, found["card"].drift) == (card.mistakes, card.curve, card.drift)
    with pytest.raises(CheckpointError, match="cannot keep"):
        checkpoint.to_bytes({"code": open})
    with pytest.raises(CheckpointError, match="cannot keep"):
        checkpoint.to_bytes({"dates": np.array(["2020"], dtype="datetime64[D]")})


@pytest.mark.parametrize("learner", [Perceptron, AROW, LinearDescent, LeastSquares])
def test_learners_go_on_from_a_checkpoint_to_the_same_bits(learner):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 4))
    y = (X[:, 0] > 0).astype(float)
    kind = Arrivals if learner in (Perceptron, AROW) else BlockArrivals
    whole, first, second = kind(learner()), kind(learner()), kind(learner())
    whole.take(X, y)
    first.take(X[:301], y[:301])
    second.restore(checkpoint.from_bytes(b"".join(map(bytes, checkpoint.to_bytes(first.state())))))
    second.take(X[301:], y[301:])
    assert np.array_equal(whole.model().coef_, second.model().coef_)


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "separatrix.cli.main:main",
        "separatrix.models.registry:candidates",
        "separatrix.stream.of_another_version:State",
        "x",
        3,
    ],
)
def test_a_file_cannot_name_anything_but_state(name):
    content = resealed({"state": {"dict": [["a", {"object": name, "fields": {}}]]}, "arrays": {}})
    with pytest.raises(CheckpointError):
        checkpoint.from_bytes(content)


def test_an_object_of_ours_is_made_without_running_its_code(monkeypatch):
    called = []
    monkeypatch.setattr(Scorecard, "__post_init__", lambda self: called.append(self))
    made = {"object": "separatrix.stream.scorecard:Scorecard", "fields": {}}
    content = resealed({"state": {"dict": [["a", made]]}, "arrays": {}})
    checkpoint.from_bytes(content)
    assert not called


def test_the_last_three_are_kept_and_the_newest_whole_one_is_read(tmp_path):
    path = tmp_path / "state"
    assert checkpoint.read(path) is None
    for k in range(5):
        checkpoint.write(path, {"k": k})
    assert sorted(own.name for own in tmp_path.iterdir()) == ["state", "state.1", "state.2"]
    assert [checkpoint.from_bytes(own.read_bytes())["k"] for own in checkpoint.generations(path)] == [4, 3, 2]
    content = path.read_bytes()
    for size in range(0, len(content), 7):
        path.write_bytes(content[:size])
        found = checkpoint.read(path)
        assert found.state == {"k": 3}
        assert found.refused
    path.unlink()
    assert checkpoint.read(path).state == {"k": 3}
    for at in range(0, len(content), 5):
        changed = bytearray(content)
        changed[at] ^= 16
        path.write_bytes(changed)
        assert checkpoint.read(path).state == {"k": 3}


DYING = """
import itertools, os, pathlib, sys
from separatrix.stream import checkpoint

path, calls, last = pathlib.Path(sys.argv[1]), int(sys.argv[2]), None

def dies_at(place):
    left = itertools.count()
    for name in ("replace", "link"):
        true = getattr(os, name)
        def counted(*a, true=true, **k):
            if next(left) == place:
                os._exit(9)
            true(*a, **k)
        setattr(os, name, counted)

for k, place in enumerate(itertools.product(range(calls), repeat=3)):
    for part, own in enumerate(place):
        child = os.fork()
        if child == 0:
            dies_at(own)
            checkpoint.write(path, {"k": [k, part]})
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status in (0, 9), (place, status)
        found = checkpoint.read(path)
        if status == 0:
            assert found.state == {"k": [k, part]}, (place, found)
        elif last is not None:
            assert found.state in (last, {"k": [k, part]}), (place, found)
        assert found is None or not found.refused
        last = found and found.state
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_process_that_dies_between_any_two_renames_leaves_a_checkpoint_to_go_on_from(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", DYING, str(tmp_path / "state"), "6"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert {own.name for own in tmp_path.iterdir() if not own.name.startswith(".")} == {"state", "state.1", "state.2"}

"""Readers that meet strangers' bytes: whatever comes, they give rows or one error of ours, and do not crash.

A small mutator of our own turns good files into bad ones; ``SEPARATRIX_FUZZ`` says how many inputs a
reader gets (``make test-all`` asks for a million in all).
"""

from __future__ import annotations

import os

import numpy as np

from separatrix import Perceptron, kernels, save
from separatrix.errors import ModelFileError
from separatrix.persist.files import _parse
from separatrix.persist.headers import model_of

COUNT = int(os.environ.get("SEPARATRIX_FUZZ", "2000"))
SVMLIGHT = b"+1 1:0.5 7:-2e-3 9:1 # note\n-1 qid:3 2:12345678.5\n\n1 4:1e308\n"
DELIMITED = b"1,2.5,\r\n-3,4e5,0.25\n,,\n9,8,7"
PIECES = [b"\n", b"\r", b" ", b":", b",", b"#", b"e", b"-", b".", b"0", b"9" * 30, b"\x00", b"\xff"]
PIECES += [b"qid:", b"1:1", b"inf"]


def mutants(seeds, count, seed):
    """Changed copies of seeds: bytes flipped, cut out, doubled, and pieces of the format put in."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        text = bytearray(seeds[int(rng.integers(len(seeds)))])
        for _ in range(int(rng.integers(1, 6))):
            at = int(rng.integers(len(text) + 1))
            kind = int(rng.integers(4))
            if kind == 0 and at < len(text):
                text[at] = int(rng.integers(256))
            elif kind == 1:
                del text[at : at + int(rng.integers(1, 9))]
            elif kind == 2:
                text[at:at] = text[at : at + int(rng.integers(1, 30))]
            else:
                text[at:at] = PIECES[int(rng.integers(len(PIECES)))]
        yield bytes(text)


def test_text_kernels():
    for text in mutants([SVMLIGHT, DELIMITED, SVMLIGHT * 3], COUNT, 1):
        raw = np.frombuffer(text, dtype=np.uint8)
        lines, pairs = text.count(b"\n") + 2, text.count(b":")
        ends, labels = np.empty(lines, dtype=np.int32), np.empty(lines)
        values, indices = np.empty(pairs), np.empty(pairs, dtype=np.int32)
        got = kernels.svmlight_chunk(raw, 1, ends, indices, values, labels)
        if not got[5] and got[0]:
            assert ends[got[0] - 1] == got[1] <= pairs
            assert np.isfinite(values[: got[1]]).all()
        room = np.empty(lines * 3)
        got = kernels.delimited_chunk(raw, ord(","), 3, 1, room, labels)
        assert got[0] <= lines
        if got[5]:
            assert 0 <= got[4] <= len(text)


def test_model_files(tmp_path):
    X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    path = save(Perceptron(max_epochs=3).fit(X, y), tmp_path / "m.sepx")
    content = path.read_bytes()
    refused = 0
    for text in mutants([content], COUNT // 4, 5):
        try:
            model = model_of(*_parse(text))
        except ModelFileError:
            refused += 1
        else:
            assert text == content or np.array_equal(model.predict(X), Perceptron(max_epochs=3).fit(X, y).predict(X))
    assert refused > COUNT // 5

"""Readers that meet strangers' bytes: whatever comes, they give rows or one error of ours, soon and in little memory.

A small mutator turns good files into bad ones. What a reader accepts is held against a second reader that
shares no code with it, so that a wrong number is found as a crash would be. ``SEPARATRIX_FUZZ`` is the number
of inputs of all readers together (``make test-all`` asks for a million).
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
from collections import Counter
from contextlib import contextmanager
from io import BytesIO
from zlib import crc32

import numpy as np
import pytest

import reference
from separatrix import Perceptron, kernels, save
from separatrix.data.delimited_table import read_rows
from separatrix.data.reading_plan import PLAIN, TablePlan
from separatrix.data.sparse_text import libsvm_chunks, parse_line, read_libsvm, read_vw
from separatrix.errors import DataError, IterationWarning, ModelFileError
from separatrix.persistence.model_files import _parse, checksum
from separatrix.persistence.model_headers import model_of

READERS = 5
COUNT = max(100, int(os.environ.get("SEPARATRIX_FUZZ", "8000")) // READERS)
SECONDS = 20  # for one input
MEMORY = 300_000  # kilobytes that a reader may grow by over all inputs
SVMLIGHT = [
    b"+1 1:0.5 7:-2e-3 9:1 # note\n-1 qid:3 2:12345678.5\n\n1 4:1e308\n",
    b"0 3:.5 4:5. 10:0.30000000000000004 2147483647:1\r\n-1.5e1\t1:12345678901234567890 2:1e-400\n",
]
DELIMITED = [
    b"1,2.5,\r\n-3,4e5,0.25\n,,\n9,8,7",
    b"0.1,123456789.123456789,1e22\n-0,1e-7,12345678901234567890123\n+5,.5,5.\n",
]
VW = [
    "1 2 0.5 'tag|f good:2 bad |g:0.5 x:1.5 y\n-1 |f bad\n",
    "0.5 |space a b:2 a:1|other c:-1e3 \n\n1 'only|  x  y:3\n",
]
PIECES = [b"\n", b"\r", b" ", b":", b",", b"#", b"e", b"-", b".", b"0", b"9" * 30, b"\x00", b"\xff", b"|", b"'"]
PIECES += [b"qid:", b"1:1", b"inf", b"nan", b"1e400", b"0x1", b"_", b"\t", b"+", b"1e-400", b"\xc3\xa9", b"4:", b"1"]


def mutants(seeds, count, seed):
    """Changed copies of seeds: bytes flipped, cut out, doubled, moved, and pieces of the formats put in."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        text = bytearray(seeds[int(rng.integers(len(seeds)))])
        for _ in range(int(rng.integers(0, 6))):
            at = int(rng.integers(len(text) + 1))
            kind = int(rng.integers(5))
            if kind == 0 and at < len(text):
                text[at] = int(rng.integers(256))
            elif kind == 1:
                del text[at : at + int(rng.integers(1, 9))]
            elif kind == 2:
                text[at:at] = text[at : at + int(rng.integers(1, 30))]
            elif kind == 3:
                other = int(rng.integers(len(text) + 1))
                text[at:at] = text[other : other + 8]
            else:
                text[at:at] = PIECES[int(rng.integers(len(PIECES)))]
        yield bytes(text)


@contextmanager
def bounded():
    """No input may hang, and all of them together may not blow memory up."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def late(*_):
        raise TimeoutError("an input took too long")

    old = signal.signal(signal.SIGALRM, late)
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, SECONDS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY


def svmlight(text, backend):
    raw = np.frombuffer(text, dtype=np.uint8)
    ends, labels = np.empty(len(text) // 2 + 1, dtype=np.int32), np.empty(len(text) // 2 + 1)
    indices, values = np.empty(len(text) // 4 + 1, dtype=np.int32), np.empty(len(text) // 4 + 1)
    got = backend.svmlight_chunk(raw, 1, ends, indices, values, labels)
    rows, entries = got[:2]
    return got, ends[:rows].tobytes(), indices[:entries].tobytes(), values[:entries].tobytes(), labels[:rows].tobytes()


def test_svmlight(tmp_path):
    from sklearn.datasets import load_svmlight_file

    seen, path = Counter(), tmp_path / "t.svm"
    with bounded() as start:
        for k, text in enumerate(mutants(SVMLIGHT, COUNT, 1)):
            start()
            one, two = svmlight(text, kernels), svmlight(text, reference)
            assert one[0][5] == two[0][5], text
            seen[one[0][5]] += 1
            if one[0][5]:
                assert 0 <= one[0][4] <= len(text), text
                continue
            assert one == two, text
            if k % 10 == 0 and one[0][0]:
                path.write_bytes(text)
                X, y = read_libsvm(path)
                chunks = list(libsvm_chunks(path, features=X.shape[1], zero_based=None, size=16, threads=2))
                assert np.array_equal(np.concatenate([own for _, own in chunks]), y), text
                assert np.concatenate([part.data for part, _ in chunks]).tobytes() == X.data.tobytes(), text
                try:
                    theirs, labels = load_svmlight_file(BytesIO(text), zero_based="auto")
                except ValueError:
                    continue  # it refuses some of what is read here, such as huge indices
                if theirs.shape[0] == len(y):
                    seen["peer"] += 1
                    assert np.array_equal(labels, y), text
                    assert theirs.data.tobytes() == X.data.tobytes(), text
    assert seen[0] > COUNT // 10
    assert seen["peer"] > COUNT // 400
    assert len(seen) >= 5  # most ways to be wrong were met


def test_delimited():
    """Any text of three columns is the rows that Python's float reads, or one that breaks the plan."""
    seen = Counter()
    number = re.compile(r"[ \t]*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)?[ \t]*", re.ASCII)
    plan = TablePlan(("a", "b", "c"), (PLAIN,) * 3, missing=())
    reader = plan.reader()
    with bounded() as start:
        for text in mutants(DELIMITED, COUNT, 2):
            start()
            raw = np.frombuffer(text, dtype=np.uint8)
            got = read_rows(plan, reader, plan.names, raw)
            why = {own.why for own in got.faults}
            seen[min(why, default=0)] += 1
            if why or b'"' in text or not text.isascii():
                assert all(0 <= own.byte < len(text) for own in got.faults), text
                continue
            lines = [line.removesuffix("\r") for line in text.decode().split("\n")]
            rows = [line.split(",") for line in lines if line.strip(" \t\r\v\f")]
            if all(number.fullmatch(cell) for row in rows for cell in row):
                expected = np.array([[float(c) if c.strip() else np.nan for c in row] for row in rows]).reshape(-1, 3)
                seen["numbers"] += 1
                assert got.numbers.tobytes() == expected.tobytes() or np.isinf(expected).any(), text
    assert min(seen[0], seen[1], seen[5], seen["numbers"]) > COUNT // 20


SPACE = re.compile(r"\|(?P<named>[^\s|]*)(?P<rest>[^|]*)")


def by_words(line, bits):
    """A second reader of a line in Vowpal Wabbit's format."""
    head, bar, _ = line.partition("|")
    words = head.partition("'")[0].split()
    assert bar
    row = Counter()
    for space in SPACE.finditer(line[len(head) :]):
        prefix, _, scale = space["named"].partition(":")
        for word in space["rest"].split():
            name, value = re.fullmatch(r"(?:(.*):([^:]*)|([^:]*))", word, re.DOTALL).group(1, 2)
            name, value = (word, "1") if name is None else (name, value)
            row[crc32(f"{prefix}^{name}".encode()) % (1 << bits)] += float(value) * float(scale or 1)
    return float(words[0]), float(words[1]) if len(words) > 1 else 1.0, dict(row)


def test_vowpal_wabbit(tmp_path):
    seen, path = Counter(), tmp_path / "t.vw"
    with bounded() as start:
        for k, text in enumerate(mutants([seed.encode() for seed in VW], COUNT, 3)):
            start()
            for raw in text.split(b"\n"):
                line = raw.decode("utf-8", "replace").strip()
                if not line:
                    continue
                try:
                    label, weight, row = parse_line(line, 18)
                except ValueError:
                    seen["refused"] += 1
                    continue
                seen["read"] += 1
                assert (label, weight, dict(row)) == by_words(line, 18), raw
                assert np.isfinite([label, weight, *row.values()]).all()
            if k % 10 == 0:
                path.write_bytes(text)
                try:
                    X, y, weights = read_vw(path)
                except DataError:
                    seen["file refused"] += 1
                else:
                    assert X.shape == (len(y), 2**18)
                    assert len(weights) == len(y)
    assert min(seen.values()) > COUNT // 20


X, Y = np.arange(8.0).reshape(4, 2), np.array(["no", "yes", "no", "yes"])


def three_passes():
    """A small model; that its passes end at their limit does not matter here."""
    with pytest.warns(IterationWarning):
        return Perceptron(max_iter=3).fit(X, Y)


@pytest.fixture
def saved(tmp_path):
    return save(three_passes(), tmp_path / "m.sepx").read_bytes()


def test_model_files(saved):
    scores = three_passes().decision_function(X)
    refused = 0
    with bounded() as start:
        for text in mutants([saved], COUNT, 5):
            start()
            try:
                model = model_of(*_parse(text))
            except ModelFileError:
                refused += 1
            else:
                assert np.array_equal(model.decision_function(X), scores)
    assert refused > COUNT // 2


def test_model_files_with_a_right_checksum(saved):
    """Changed headers and tensors under a checksum of their own: what is accepted predicts, and predicts classes."""
    from safetensors.numpy import save as to_safetensors

    header, tensors = _parse(saved)
    text = json.dumps(header).encode()
    seen = Counter()
    rng = np.random.default_rng(6)
    with bounded() as start:
        for changed in mutants([text], COUNT, 6):
            start()
            own = {name: tensor.copy() for name, tensor in tensors.items()}
            if rng.random() < 0.3:
                name = sorted(own)[int(rng.integers(len(own)))]
                kind = int(rng.integers(4))
                if kind == 0:
                    own[name] = own[name].ravel()
                elif kind == 1:
                    own[name] = own[name].astype(np.float32)
                elif kind == 2:
                    own[name] = np.full(own[name].shape, np.inf)
                else:
                    own[f"{name}_"] = own.pop(name)
            words = changed.decode("utf-8", "replace")
            content = to_safetensors(own, {"separatrix": f"{checksum(words, own)} {words}"})
            try:
                model = model_of(*_parse(content))
            except ModelFileError:
                seen["refused"] += 1
                continue
            seen["read"] += 1
            if model.n_features_in_ == 2:
                assert set(model.predict(X).tolist()) <= set(model.classes_.tolist())
                assert np.isfinite(model.decision_function(X)).all()
    assert min(seen["refused"], seen["read"]) > COUNT // 50

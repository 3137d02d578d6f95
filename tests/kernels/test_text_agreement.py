"""The native readers of text against Python's float, the readable kernels and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from separatrix import kernels
from separatrix.data.sparse_text import libsvm_chunks, read_libsvm
from separatrix.errors import DataError

finite = st.floats(allow_nan=False, allow_infinity=False)
spellings = st.one_of(
    finite.map(repr),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,20}", fullmatch=True),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
)


def delimited(text, columns, target=-1, backend=kernels):
    raw = np.frombuffer(text, dtype=np.uint8)
    values, labels = np.empty(text.count(b"\n") * columns + 2 * columns), np.empty(text.count(b"\n") + 2)
    got = backend.delimited_chunk(raw, ord(","), columns, target, values, labels)
    width = columns - (target >= 0)
    return got, values[: got[0] * width].reshape(-1, width) if width else None, labels[: got[0]]


@given(st.lists(st.tuples(spellings, spellings), min_size=1, max_size=8))
def test_numbers_are_those_of_python_to_the_bit(pairs):
    text = "".join(f"{a},{b}\n" for a, b in pairs).encode()
    got, values, _ = delimited(text, 2)
    expected = np.array([[float(a), float(b)] for a, b in pairs])
    if not np.isfinite(expected).all():
        assert got[5] == 1
        return
    assert got[0] == len(pairs)
    assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "word", ["nan", "inf", "1e", "--1", "1.2.3", "0x10", "1_0", " 1", "1 ", "e5", ".", "+", "a", '"1"']
)
def test_what_is_no_plain_number_is_a_fault(word):
    for backend in (kernels, reference):
        got, _, _ = delimited(f"1,2\n{word},2\n".encode(), 2, backend=backend)
        assert got[5] in (1, 4), word


cells = st.sampled_from(["1", "-2.5", "", "1e3", "x", "3,4", "\r", "\n", "7"])


@given(st.lists(cells, max_size=30), st.integers(1, 4), st.integers(-1, 0))
def test_native_and_readable_delimited_readers_agree(parts, columns, target):
    text = ",".join(parts).encode() + b"\n"
    one, values, labels = delimited(text, columns, target)
    two, also, own = delimited(text, columns, target, reference)
    assert (one[5] == 0) == (two[5] == 0)
    if one[5] == 0:
        assert one[0] == two[0]
        assert values is None or np.array_equal(values, also, equal_nan=True)
        assert target < 0 or np.array_equal(labels, own, equal_nan=True)


def svmlight(text, backend=kernels, room=None):
    raw = np.frombuffer(text, dtype=np.uint8)
    lines, pairs = room or (len(text) // 2 + 1, len(text) // 4 + 1)
    ends, labels = np.zeros(lines, dtype=np.int32), np.zeros(lines)
    indices, values = np.zeros(pairs, dtype=np.int32), np.zeros(pairs)
    got = backend.svmlight_chunk(raw, 1, ends, indices, values, labels)
    return got, ends[: got[0]], indices[: got[1]], values[: got[1]], labels[: got[0]]


words = st.sampled_from(
    [
        "1",
        "-1",
        "+1",
        "2:0.5",
        "3:1",
        "1:1e-3",
        "qid:4",
        "# c 4:4",
        "\n",
        "\n1",
        " ",
        "5:x",
        ":",
        "0:0",
        "9:",
        "12:-3.25",
        "\r\n-1",
    ]
)


@given(st.lists(words, max_size=25), st.sampled_from([None, (2, 3)]))
def test_native_and_readable_svmlight_readers_agree(parts, room):
    text = " ".join(parts).encode()
    if not text:
        return
    one, two = svmlight(text, kernels, room), svmlight(text, reference, room)
    assert one[0][5] == two[0][5]
    if one[0][5] == 0:
        assert one[0] == two[0]
        for a, b in zip(one[1:], two[1:], strict=True):
            assert np.array_equal(a, b)


@pytest.mark.parametrize("text", [b"1 qid:", b"1 qid: 2:3", b"1 qid:\n1 2:3", b"1 2:3 qid:x"])
def test_a_query_without_a_number_is_refused(text):
    codes = {svmlight(text, backend)[0][5] for backend in (kernels, reference)}
    assert len(codes) == 1
    assert codes != {0}


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(text):
    if text:
        for read in (svmlight, lambda text, **options: delimited(text, 3, 1, **options)):
            one, two = read(text), read(text, backend=reference)
            (*counts, at, code), (*others, there, why) = one[0], two[0]
            assert (counts, code == 0) == (others, why == 0)  # which of two reasons comes first may differ
            assert text.count(b"\n", 0, at) == text.count(b"\n", 0, there)  # the same line is refused
            assert all(np.array_equal(a, b) for a, b in zip(one[1:], two[1:], strict=True))


@pytest.fixture(scope="module")
def sparse_files(tmp_path_factory):
    """Rows of 123 columns of zeros and ones, and wide rows of numbers, as scikit-learn writes them."""
    from scipy.sparse import random_array
    from sklearn.datasets import dump_svmlight_file

    rng, folder = np.random.default_rng(0), tmp_path_factory.mktemp("sparse")
    made = []
    for name, shape, share in (("binary.svm", (12_000, 123), 0.11), ("wide.svm", (800, 40_000), 0.002)):
        X = random_array(shape, density=share, format="csr", rng=rng)
        if name == "binary.svm":
            X.data[:] = 1
        dump_svmlight_file(X, np.where(rng.random(shape[0]) < 0.3, 1, -1), str(folder / name), zero_based=False)
        made.append(folder / name)
    return made


def test_files_agree_with_scikit_learn(sparse_files):
    from sklearn.datasets import load_svmlight_file

    for path in sparse_files:
        X, y = read_libsvm(path, threads=3)
        theirs, labels = load_svmlight_file(str(path))
        assert np.array_equal(X.data, theirs.data)
        assert np.array_equal(X.indices, theirs.indices)
        assert np.array_equal(X.indptr, theirs.indptr)
        assert np.array_equal(y, labels)


def test_chunks_are_the_file(sparse_files):
    X, y = read_libsvm(sparse_files[0])
    parts = [
        (part.toarray(), labels.copy()) for part, labels in libsvm_chunks(sparse_files[0], features=123, size=100_000)
    ]
    assert len(parts) > 5
    assert np.array_equal(np.concatenate([p for p, _ in parts]), X.toarray())
    assert np.array_equal(np.concatenate([labels for _, labels in parts]), y)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1 2:a", "line 3: the value of a feature"),
        ("1 2", "line 3: a feature is not written index:value"),
        ("1 3:1 2:1", "line 3: the indices of features do not ascend"),
        ("yes 1:1", "line 3: the line does not begin with a number"),
        ("1 99999999999:1", "line 3: a feature is not written"),
        ("1 1:inf", "line 3: the value of a feature"),
    ],
)
def test_a_malformed_line_is_named_by_its_number(line, says, tmp_path):
    path = tmp_path / "t.svm"
    path.write_text(f"# begins\n1 1:1 # fine\n{line}\n-1 1:2\n")
    with pytest.raises(DataError, match=says):
        read_libsvm(path)


def test_zero_or_one_based_and_gzip(tmp_path):
    import gzip

    path = tmp_path / "t.svm.gz"
    path.write_bytes(gzip.compress(b"1 qid:3 1:2 4:1\n-1 2:5\n"))
    X, y = read_libsvm(path)
    assert X.toarray().tolist() == [[2, 0, 0, 1], [0, 5, 0, 0]]
    assert y.tolist() == [1, -1]
    assert read_libsvm(path, zero_based=True)[0].shape == (2, 5)
    (tmp_path / "z.svm").write_text("1 0:2\n-1\n")
    assert read_libsvm(tmp_path / "z.svm")[0].toarray().tolist() == [[2], [0]]
    with pytest.raises(DataError, match="counted from 0"):
        read_libsvm(tmp_path / "z.svm", zero_based=False)

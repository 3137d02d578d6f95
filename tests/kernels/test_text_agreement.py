"""The native readers of text against Python's float, the readable kernels and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from separatrix import kernels
from separatrix.data.date_writing import FORMATS
from separatrix.data.sparse_text import libsvm_chunks, read_libsvm
from separatrix.errors import DataError

finite = st.floats(allow_nan=False, allow_infinity=False)
spellings = st.one_of(
    finite.map(repr),
    st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,20}", fullmatch=True),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
)


PLAN = [(1, ".", "", "", "", [b"NA"]), (2, ".", "", "", "", [b"NA"]), (3, ".", "", "", "%Y-%m-%d", [])]
EURO = [(1, ",", ".", "€", "", []), (0, ".", "", "", "", [])]


def rows(backend, text, columns, delimiter=",", missing=False, last=True):
    reader = backend.TableText(delimiter, True, missing, columns, [-9.0])
    values, codes, levels, begins, ends, faults, broken, consumed = reader.read(text, 0, last)
    told = [(*fault[:3], fault[3] if fault[2] in (1, 5) else 0) for fault in faults]
    texts = [[None if code < 0 else own[code] for code in column] for own, column in zip(levels, codes.T, strict=True)]
    return values.tobytes(), texts, begins.tolist(), ends.tolist(), told, list(broken), consumed


@given(st.lists(st.tuples(spellings, spellings), min_size=1, max_size=8))
def test_numbers_are_those_of_python_to_the_bit(pairs):
    raw = np.frombuffer("".join(f"{a},{b}\n" for a, b in pairs).encode(), dtype=np.uint8)
    values, *_, faults, _, _ = kernels.TableText(",", True, False, PLAN[:1] * 2, []).read(raw, 0, True)
    expected = np.array([[float(a), float(b)] for a, b in pairs])
    if np.isfinite(expected).all():
        assert not faults
        assert values.tobytes() == expected.tobytes()


pieces = st.sampled_from([*'1x,,\r\n\n" ;é\0', "-2.5", "", "1e3", '""', "NA", "2020-05-14", "1.234,50 €", "-9"])


PLANS = st.sampled_from([PLAN, EURO, PLAN[:1], PLAN[1:2]])


@given(st.lists(pieces, max_size=40), PLANS, st.sampled_from([",", ";", ""]), st.booleans(), st.booleans())
def test_native_and_readable_readers_agree(parts, columns, delimiter, missing, last):
    raw = np.frombuffer("".join(parts).encode(), dtype=np.uint8)
    if not last:
        raw = raw[: raw.tobytes().rfind(b"\n") + 1]
    own, other = (rows(backend, raw, columns, delimiter, missing, last) for backend in (kernels, reference))
    assert own == other
    readers = [backend.TableText(delimiter, True, missing, columns, []) for backend in (kernels, reference)]
    assert readers[0].complete(raw, 0) == readers[1].complete(raw, 0)
    assert readers[0].cells(raw) == readers[1].cells(raw)


CELLS = st.text(st.sampled_from("0123456789.,' +-eE%$€\u00a0\u2212aZ"), max_size=12)
DATES = st.text(st.sampled_from("0123456789-./: TZ+AMPMaySeptThu,"), max_size=24)


@given(CELLS, st.sampled_from(["", "%", "€"]))
def test_native_and_readable_numbers_agree(cell, unit):
    raw = cell.encode()
    own, other = (backend.cell_forms([raw])[0] for backend in (kernels, reference))
    assert own == other or own[0] == other[0] == 0
    for form in reference.number_forms():
        assert kernels.cell_number(raw, *form, unit) == reference.cell_number(raw, *form, unit)
    assert kernels.number_forms() == reference.number_forms()


@given(DATES | st.datetimes().map(str), st.sampled_from(FORMATS))
def test_native_and_readable_dates_agree(cell, form):
    own, other = kernels.cell_dates([cell.encode()], form), reference.cell_dates([cell.encode()], form)
    assert np.array_equal(own, other, equal_nan=True)


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
        for read in (svmlight,):
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

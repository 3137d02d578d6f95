"""Our reader of plain numbers against DuckDB, to the bit, on files that it takes and on files that it leaves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.data.dialect import Reading
from separatrix.data.plain_numbers import plain_frame, read_plain
from separatrix.data.sources import open_source
from separatrix.errors import DataError

REAL = ["spambase.csv", "breast_cancer.csv", "banknote.csv", "endometrial.csv", "spector.csv", "wine.csv"]
REAL += ["digits.csv", "titanic_numeric.csv", "diabetes.csv", "nist_longley.csv", "nist_norris.csv"]


def by_duckdb(path):
    return open_source(str(path), Reading(header=True)).read()


def test_real_files_are_those_of_duckdb_to_the_bit(real_files):
    for name, path in real_files(REAL).items():
        ours, theirs = plain_frame(path, name), by_duckdb(path)
        assert ours.names == theirs.names
        for one, two in zip(ours.columns, theirs.columns, strict=True):
            assert one.values.tobytes() == two.values.tobytes(), (name, one.name)


def test_other_files_are_left_to_duckdb(real_files):
    for name, path in real_files(["titanic.csv", "iris.csv", "sms_spam.txt"]).items():
        assert plain_frame(path, name) is None, name


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(["", "0.1", "-0", "1e5", "12345678.87654321", "0.30000000000000004"]),
)


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_generated_files_are_those_of_duckdb(rows, delimiter):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        lines = [delimiter.join(row) for row in rows]
        path.write_text(delimiter.join(["alpha", "beta", "gamma"]) + "\n" + "\n".join(lines) + "\n")
        ours = plain_frame(path, "t")
        if ours is None:
            return
        expected = np.array([[float(v) if v else np.nan for v in row] for row in rows])
        got = np.column_stack([column.values for column in ours.columns])
        assert np.array_equal(got, expected, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,x\n",
        'a,b\n1,"2"\n',
        "a,a\n1,2\n",
        "a,\n1,2\n",
        "1,2\n3,4\n",
        "a,b\n1\n",
        "a,b\n1,2,3\n",
        "a,b\n1,2\n\n3,4\n",
        "a,b\n1,nan\n",
        "a;b\n1,5;2,5\n",
        "a b\n1 2\n",
        "a\n1\n",
        "a,b\n",
        "a,b",
    ],
)
def test_what_is_not_plain_is_left_alone(text, tmp_path):
    (tmp_path / "t.csv").write_text(text)
    assert plain_frame(tmp_path / "t.csv", "t") is None


def test_a_word_far_down_is_found_and_the_file_left_to_duckdb(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "1,2\n" * 100_000 + "1,word\n")
    assert read_plain(path) is None
    assert open_source(str(path)).read()["b"].values[-1] == "word"


def test_the_target_apart_crlf_and_threads(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,y,b\r\n" + b"".join(b"%d,%d,%d.5\r\n" % (i, i % 2, i) for i in range(5000)))
    for threads in (1, 2, 5):
        X, y, names = read_plain(path, "y", threads=threads)
        assert names == ["a", "b"]
        assert np.array_equal(X[:, 0], np.arange(5000))
        assert np.array_equal(X[:, 1], np.arange(5000) + 0.5)
        assert np.array_equal(y, np.arange(5000) % 2)
    with pytest.raises(DataError, match="has no column 'z'"):
        read_plain(path, "z")

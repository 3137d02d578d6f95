"""Delimited text read by a plan: the same cells as Python's csv and float, wherever the text is cut."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.data.delimited_table import DelimitedTable, read_rows, whole_rows
from separatrix.data.reading_plan import PLAIN, TEXT, Reading, TablePlan
from separatrix.data.sources import open_source
from separatrix.errors import DataError

REAL = ["spambase.csv", "breast_cancer.csv", "banknote.csv", "endometrial.csv", "spector.csv", "wine.csv"]
REAL += ["digits.csv", "titanic_numeric.csv", "diabetes.csv", "nist_longley.csv", "nist_norris.csv", "titanic.csv"]


def cell(text):
    try:
        return float(text)
    except ValueError:
        return text or None


def test_real_files_are_those_of_csv_and_float(real_files):
    for name, path in real_files(REAL).items():
        header, *rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
        frame = open_source(str(path)).read()
        assert frame.names == header, name
        for j, column in enumerate(frame.columns):
            expected = [cell(row[j]) for row in rows]
            if column.kind == "text":
                assert column.values.tolist() == [row[j] or None for row in rows], (name, column.name)
            else:
                values = np.array([np.nan if v is None else v for v in expected])
                assert column.values.tobytes() == values.tobytes(), (name, column.name)


numbers = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(["", "0.1", "-0", "1e5", "12345678.87654321", "0.30000000000000004"]),
)


@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=6), st.sampled_from(",;\t|"))
def test_generated_numbers_are_those_of_python(rows, delimiter):
    plan = TablePlan(("a", "b", "c"), (PLAIN,) * 3, delimiter)
    text = "".join(delimiter.join(row) + "\n" for row in rows if any(row)).encode()
    if not text:
        return
    got = read_rows(plan, plan.reader(), plan.names, np.frombuffer(text, dtype=np.uint8))
    expected = np.array([[float(v) if v else np.nan for v in row] for row in rows if any(row)])
    assert np.array_equal(got.numbers, expected, equal_nan=True)
    assert not got.faults


words = st.text(st.sampled_from('ab1 ,"\n\r;é'), max_size=6)


@given(st.lists(st.tuples(words, words), min_size=1, max_size=8))
def test_text_is_that_of_csv_wherever_it_is_cut(tmp_path_factory, rows):
    """Pieces that end behind rows give the rows of the whole."""
    rows = [row for row in rows if any(own.strip() for own in row)]
    if not rows:
        return
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    raw = np.frombuffer(text.getvalue().encode(), dtype=np.uint8)
    plan = TablePlan(("a", "b"), (TEXT, TEXT), missing=(), tidy=False)
    reader = plan.reader()
    whole = read_rows(plan, reader, plan.names, raw)
    assert not whole.faults
    expected = [[own if own.strip() else None for own in row] for row in rows]
    assert [list(row) for row in zip(*(whole.texts(j, {}).tolist() for j in range(2)), strict=True)] == expected
    path = tmp_path_factory.mktemp("cut") / "t.csv"
    path.write_bytes(raw.tobytes())
    for size in (1, 7, 50):
        parts = [read_rows(plan, reader, plan.names, piece) for piece in whole_rows(path, 0, reader, size)]
        got = [row for part in parts for row in zip(*(part.texts(j, {}).tolist() for j in range(2)), strict=True)]
        assert [list(row) for row in got] == expected


@given(st.binary(max_size=200), st.sampled_from([",", "\t", ""]), st.booleans())
def test_any_bytes_are_rows_or_faults(text, delimiter, missing):
    plan = TablePlan(("a", "b"), (PLAIN, TEXT), delimiter, broken="missing" if missing else "refuse")
    got = read_rows(plan, plan.reader(), plan.names, np.frombuffer(text, dtype=np.uint8))
    assert got.n == len(got.numbers) == len(got.codes) == len(got.ends)
    assert (got.ends > got.begins).all()
    assert all(0 <= own.byte < max(1, len(text)) and own.rows_before <= got.n for own in got.faults)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, and the first line has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, and the first line has 2"),
        ('a,b\n1,x\n2,"y\n3,z\n', "line 3: a quote is opened and never closed"),
        ("a,b\n" + "1,2\n" * 12 + "x,2\n", "line 14 has"),
        ("a,b\n" + "".join(f"{k},2\n" for k in range(12)) + "x,2\n", "line 14: 'a' is 'x', not a number"),
        (b"a,b\n1,2\n3,\xff\x81\n", "not in UTF-8"),
    ],
)
def test_a_row_that_breaks_the_plan_is_named(tmp_path, text, says):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    if says == "line 14 has":  # two values are categories
        assert open_source(str(path)).read()["a"].kind == "text"
        return
    with pytest.raises(DataError, match=says):
        open_source(str(path)).read()


def test_a_header_of_another_line_end_and_rows_with_empty_lines(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n1,x\r\n\r\n2,y\r\n \n3,z")
    frame = open_source(str(path)).read()
    assert frame["a"].values.tolist() == [1, 2, 3]
    assert frame["b"].values.tolist() == ["x", "y", "z"]


def test_the_first_rows_decide_once_for_all_files(tmp_path):
    (tmp_path / "a.csv").write_text("v;w\n1,5;x\n2,5;y\n")
    (tmp_path / "b.csv").write_text("v;w\n1.234;x\n")
    table = DelimitedTable([tmp_path / "a.csv", tmp_path / "b.csv"], "two", Reading())
    with pytest.raises(
        DataError, match=r"b.csv line 2: 'v' is '1.234', not a number like those above it \(decimal comma"
    ):
        table.read()

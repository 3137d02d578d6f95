"""Vowpal Wabbit's text: labels, weights, name spaces; malformed lines by number."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.data.sparse_text import parse_line, read_vw
from separatrix.errors import DataError


def column(name):
    return crc32(name.encode()) % 2**18


def test_a_file(tmp_path):
    path = tmp_path / "t.vw"
    path.write_text("1 2.5 'first|user age:0.5 vip |item:2 price:3 a:b:4\n\n-1 | plain twice twice\n1|f x\n")
    X, y, weights = read_vw(path)
    assert X.shape == (3, 2**18)
    assert y.tolist() == [1, -1, 1]
    assert weights.tolist() == [2.5, 1, 1]
    assert X[0, column("user^age")] == 0.5
    assert X[0, column("user^vip")] == 1
    assert X[0, column("item^price")] == 6
    assert X[0, column("item^a:b")] == 8
    assert X[1, column("^twice")] == 2
    assert X[2, column("f^x")] == 1
    assert X.nnz == 4 + 2 + 1
    assert read_vw(path, bits=5)[0].shape == (3, 32)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("1 2 3", r"line 2: there is no \|"),
        ("| a b", "line 2: there is no label"),
        ("x | a", "line 2: the label is 'x'"),
        ("1 | a:b:nan", "line 2: the value of a feature is 'nan'"),
        ("1 -2 | a", "line 2: the importance -2 is negative"),
        ("1 |n:z a", "line 2: the scale of a name space is 'z'"),
    ],
)
def test_malformed_lines(line, says, tmp_path):
    path = tmp_path / "t.vw"
    path.write_text(f"1 | a\n{line}\n")
    with pytest.raises(DataError, match=says):
        read_vw(path)


def test_an_empty_file(tmp_path):
    (tmp_path / "t.vw").write_text("\n\n")
    with pytest.raises(DataError, match="has no rows"):
        read_vw(tmp_path / "t.vw")


@given(st.text(alphabet="|:' 10ab.-\t", max_size=60))
def test_any_line_is_read_or_refused_with_a_reason(line):
    try:
        label, weight, row = parse_line(line, 8)
    except ValueError:
        return
    assert np.isfinite([label, weight, *row.values()]).all()
    assert all(0 <= column < 256 for column in row)
